"""What we want a host's files to hold, and which bytes that would change.

A desired edit is a whole file of ours, members and items in somebody's JSON, tables in somebody's TOML, or a block in
somebody's Markdown: each puts its part into a text and takes it out again. The changes follow from the edits, what is
there, and what was installed before. Pure: files are read through a function that is handed in; nothing is written."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from recollect.agent.hosts import jsonc, toml
from recollect.agent.hosts.jsonc import BrokenJson
from recollect.agent.hosts.target import HOOK_PROGRAM
from recollect.agent.hosts.toml import BrokenToml
from recollect.core.errors import InvalidInput

Keys: TypeAlias = tuple[str, ...]


class HostConfigBroken(InvalidInput):
    """A settings file that its own host could not read either, or that has another shape than the host's."""

    code = "host-config-broken"

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(
            f"{path}: {problem}.", hint="Nothing was changed. Fix that file, then run the same command again."
        )


class DesiredEdit(Protocol):
    """One file and our part in it. `before` is what the file held before us, where that is known."""

    @property
    def path(self) -> Path: ...
    def is_in(self, text: str) -> bool: ...
    def put(self, text: str) -> str: ...
    def take(self, text: str, before: str | None) -> str: ...


@dataclass(frozen=True, slots=True)
class WholeFile:
    """A file that is ours alone."""

    path: Path
    text: str

    def is_in(self, text: str) -> bool:
        return text == self.text

    def put(self, text: str) -> str:
        return self.text

    def take(self, text: str, before: str | None) -> str:
        return before or ""


@dataclass(frozen=True, slots=True)
class JsonEntries:
    """Members of a JSON object, each under its keys, and items of arrays, known as ours by the hook they start.

    `needs` is what a file must have beside them to be one of the host's. In a file that began with us it stays if
    others are left; in a file from before us it goes, if it was not there.
    """

    path: Path
    members: tuple[tuple[Keys, Any], ...] = ()
    items: tuple[tuple[Keys, Any], ...] = ()
    needs: tuple[tuple[str, Any], ...] = ()

    def is_in(self, text: str) -> bool:
        root = jsonc.parse(text)
        for keys, value in self.members:
            found = jsonc.find(root, keys)
            if found is None or found.value != value:
                return False
        if any(root.at(name) is None for name, _ in self.needs):
            return False
        wanted: dict[Keys, list[Any]] = {}
        for keys, value in self.items:
            wanted.setdefault(keys, []).append(value)
        return all(_ours_in(root, keys) == values for keys, values in wanted.items())

    def put(self, text: str) -> str:
        for keys in dict.fromkeys(keys for keys, _ in self.items):
            text = jsonc.take_items(text, keys, is_ours)
        for name, value in self.needs:
            text = text if jsonc.find(jsonc.parse(text), (name,)) else jsonc.put_member(text, (name,), value)
        for keys, value in self.members:
            text = jsonc.put_member(text, keys, value)
        for keys, value in self.items:
            text = jsonc.put_item(text, keys, value)
        return text

    def take(self, text: str, before: str | None) -> str:
        old = jsonc.parse(before or "")
        for keys, _ in self.members:
            kept = jsonc.find(old, keys)
            if kept is None:
                text = _without_husks(text, jsonc.take_member(text, keys), keys[:-1], old)
            elif (now := jsonc.find(jsonc.parse(text), keys)) is not None and now.value != kept.value:
                text = jsonc.put_member(text, keys, kept.value)  # somebody's own entry of that name comes back
        for keys in dict.fromkeys(keys for keys, _ in self.items):
            text = _without_husks(text, jsonc.take_items(text, keys, is_ours), keys, old)
        for name, value in self.needs:
            now = jsonc.find(jsonc.parse(text), (name,))
            if old.value and old.at(name) is None and now is not None and now.value == value:
                text = jsonc.take_member(text, (name,))
        left = jsonc.parse(text).value
        if left and isinstance(left, dict) and left == dict(self.needs) and not old.value:
            text = "{}\n"
        return text


@dataclass(frozen=True, slots=True)
class HostTrace:
    """A member that a host writes about us by itself, or lines in a list of it that name our hook. Nothing to put;
    taken out when we go."""

    path: Path
    keys: Keys
    lines: bool = False

    def is_in(self, text: str) -> bool:
        return True

    def put(self, text: str) -> str:
        return text

    def take(self, text: str, before: str | None) -> str:
        if not self.lines:
            return jsonc.take_member(text, self.keys)
        bare = jsonc.take_items(text, self.keys, lambda line: isinstance(line, str) and HOOK_PROGRAM in line)
        return _without_husks(text, bare, self.keys, jsonc.parse(""))


@dataclass(frozen=True, slots=True)
class TomlTables:
    """Tables at the end of a TOML file. `families` name ours and what stands below them; a last word may end in `*`."""

    path: Path
    text: str
    families: tuple[Keys, ...]
    note: str

    def is_in(self, text: str) -> bool:
        there, wanted = toml.load(text), toml.load(self.text)
        return all(_at(there, family) == _at(wanted, family) for family in self.families if _at(wanted, family))

    def put(self, text: str) -> str:
        return toml.put_tables(self.take(text, None), f"{self.note}\n{self.text}")

    def take(self, text: str, before: str | None) -> str:
        return text if text == before else toml.take_tables(text, self._ours, note=self.note)

    def _ours(self, name: toml.Name) -> bool:
        return any(_is_below(name, family) for family in self.families)


@dataclass(frozen=True, slots=True)
class MarkedBlock:
    """Lines between two marks in a text file that others write in too."""

    path: Path
    text: str
    opening: str = "<!-- recollect: begin -->"
    closing: str = "<!-- recollect: end -->"

    def is_in(self, text: str) -> bool:
        return self._whole() in text

    def put(self, text: str) -> str:
        bare = self.take(text, None)
        gap = "" if not bare or bare.endswith("\n\n") else "\n" if bare.endswith("\n") else "\n\n"
        return f"{bare}{gap}{self._whole()}"

    def take(self, text: str, before: str | None) -> str:
        start = text.find(self.opening)
        end = text.find(self.closing, start)
        if start < 0 or end < 0:
            return text
        head, tail = text[:start], text[end + len(self.closing) :].removeprefix("\n")
        return head.removesuffix("\n") + tail if head.endswith("\n\n") else head + tail

    def _whole(self) -> str:
        return f"{self.opening}\n{self.text.rstrip()}\n{self.closing}\n"


def is_ours(item: Any) -> bool:
    """Does this entry of a list of hooks start our program, and nothing else?"""
    if not isinstance(item, dict):
        return False
    hooks = item.get("hooks", [item])
    if not isinstance(hooks, list) or not hooks:
        return False
    return all(isinstance(hook, dict) and HOOK_PROGRAM in json.dumps(hook.get("command", "")) for hook in hooks)


def _ours_in(root: jsonc.Node, keys: Sequence[str]) -> list[Any]:
    found = jsonc.find(root, keys)
    return [] if found is None or not isinstance(found.value, list) else [item for item in found.value if is_ours(item)]


def _without_husks(before: str, text: str, keys: Keys, old: jsonc.Node) -> str:
    """Without the containers on the way that taking something out has emptied and that were not there before us."""
    while keys and text != before:
        found = jsonc.find(jsonc.parse(text), keys)
        if found is None or found.value or jsonc.find(old, keys) is not None:
            return text
        text = jsonc.take_member(text, keys)
        keys = keys[:-1]
    return text


def _at(tables: Any, name: Keys) -> Any:
    for word in name:
        tables = tables.get(word) if isinstance(tables, dict) else None
    return tables


def _is_below(name: Keys, family: Keys) -> bool:
    *path, last = family
    if len(name) < len(family) or list(name[: len(path)]) != path:
        return False
    word = name[len(path)]
    return word.startswith(last[:-1]) if last.endswith("*") else word == last


# --- changes ---------------------------------------------------------------------------------------------------------

Read: TypeAlias = Callable[[Path], bytes | None]


@dataclass(frozen=True, slots=True)
class FiledFile:
    """What is kept of a file we changed: its bytes before us (None: there was no file), and a digest of ours."""

    path: Path
    before: bytes | None
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """One file: what it holds, what it would hold (None: no file), and what it held before us."""

    path: Path
    current: bytes | None
    wanted: bytes | None
    before: bytes | None = None

    @property
    def action(self) -> str:
        if self.current == self.wanted:
            return "keep"
        if self.wanted is None:
            return "remove"
        return "create" if self.current is None else "change"

    def diff(self) -> str:
        old, new = _lines(self.current), _lines(self.wanted)
        return "".join(difflib.unified_diff(old, new, f"{self.path} (now)", f"{self.path} (then)", n=3))


def changes_to_install(edits: Sequence[DesiredEdit], filed: Sequence[FiledFile], read: Read) -> list[Change]:
    """A change for every file wanted, `keep` where it holds our part already; older files of ours go."""
    known = {file.path: file for file in filed}
    changes = [
        _plan_put(edit, known.get(edit.path), read(edit.path)) for edit in edits if not isinstance(edit, HostTrace)
    ]
    wanted = {edit.path for edit in edits}
    for file in filed:
        current = read(file.path)
        if file.path not in wanted and _is_untouched(file, current):
            changes.append(Change(file.path, current, file.before, file.before))
    return changes


def changes_to_undo(
    edits: Sequence[DesiredEdit], filed: Sequence[FiledFile], shared: Collection[Path], read: Read
) -> list[Change]:
    """The way back. A file untouched since gets the bytes it had; from any other only our part is taken.

    `shared` files serve another installation too and stay.
    """
    known = {file.path: file for file in filed}
    desired = {edit.path: edit for edit in edits}
    changes: list[Change] = []
    for path in [*desired, *(path for path in known if path not in desired)]:
        current = read(path)
        if current is None or path in shared:
            continue
        wanted = _plan_take(desired.get(path), known.get(path), path, current)
        if wanted != current:
            changes.append(Change(path, current, wanted))
    return changes


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _plan_put(edit: DesiredEdit, filed: FiledFile | None, current: bytes | None) -> Change:
    text = _decode(edit.path, current)
    try:
        if current is not None and edit.is_in(text):
            before = filed.before if filed else _original(edit, None, text, current)
            return Change(edit.path, current, current, before)
        if filed and _is_untouched(filed, current):
            before = filed.before
        else:  # with no record, an entry of our name that is not what we would write is somebody's own
            before = _original(edit, _decode(edit.path, filed.before) if filed else text, text, current)
        wanted = edit.put(_decode(edit.path, before))
        if not edit.is_in(wanted):
            raise HostConfigBroken(str(edit.path), "our part could not be fitted in")
    except (BrokenJson, BrokenToml) as error:
        raise HostConfigBroken(str(edit.path), str(error)) from None
    return Change(edit.path, current, wanted.encode(), before)


def _original(edit: DesiredEdit, before: str | None, text: str, current: bytes | None) -> bytes | None:
    """What the file would hold without us, where it was edited since or nothing was filed."""
    if current is None:
        return None
    if isinstance(edit, WholeFile):
        return None if before is None else current if before == text else before.encode() or None
    bare = edit.take(text, before)
    return current if bare == text else bare.encode()


def _plan_take(edit: DesiredEdit | None, filed: FiledFile | None, path: Path, current: bytes) -> bytes | None:
    if filed and _is_untouched(filed, current):
        return filed.before
    if edit is None:
        return current  # an older file of ours that somebody has made their own
    if isinstance(edit, WholeFile):
        return filed.before if filed else None
    text = _decode(path, current)
    try:
        bare = edit.take(text, _decode(path, filed.before) if filed else None)
    except (BrokenJson, BrokenToml) as error:
        raise HostConfigBroken(str(path), str(error)) from None
    created = filed is not None and filed.before is None
    return None if created and bare.strip() in ("", "{}") else bare.encode() if bare != text else current


def _is_untouched(filed: FiledFile, current: bytes | None) -> bool:
    return current is not None and digest(current) == filed.after


def _decode(path: Path, content: bytes | None) -> str:
    try:
        return "" if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise HostConfigBroken(str(path), f"byte {error.start} is not UTF-8") from None


def _lines(content: bytes | None) -> list[str]:
    text = "" if content is None else content.decode("utf-8", "replace")
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ no newline at the end\n"
    return lines
