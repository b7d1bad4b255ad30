"""Which bytes would change, worked out from what is there, what is wished for and what was installed before. Pure:
files are read through a function that is handed in, and nothing is written."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

from recollect.agent.hosts.errors import HostConfigBroken
from recollect.agent.hosts.jsonc import BrokenJson
from recollect.agent.hosts.toml import BrokenToml
from recollect.agent.hosts.wishes import Trace, Whole, Wish

Read: TypeAlias = Callable[[Path], bytes | None]


@dataclass(frozen=True, slots=True)
class Filed:
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


def to_install(wishes: Sequence[Wish], filed: Sequence[Filed], read: Read) -> list[Change]:
    """A change for every file wished for, `keep` where it holds our part already; older files of ours go."""
    known = {one.path: one for one in filed}
    changes = [_put(wish, known.get(wish.path), read(wish.path)) for wish in wishes if not isinstance(wish, Trace)]
    wanted = {wish.path for wish in wishes}
    for one in filed:
        current = read(one.path)
        if one.path not in wanted and current is not None and digest(current) == one.after:
            changes.append(Change(one.path, current, one.before, one.before))
    return changes


def to_undo(wishes: Sequence[Wish], filed: Sequence[Filed], shared: Collection[Path], read: Read) -> list[Change]:
    """The way back. A file untouched since gets the bytes it had; from any other only our part is taken.

    `shared` files serve another installation too and stay.
    """
    known = {one.path: one for one in filed}
    wished = {wish.path: wish for wish in wishes}
    changes: list[Change] = []
    for path in [*wished, *(path for path in known if path not in wished)]:
        current = read(path)
        if current is None or path in shared:
            continue
        wanted = _taken(wished.get(path), known.get(path), path, current)
        if wanted != current:
            changes.append(Change(path, current, wanted))
    return changes


def digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _put(wish: Wish, filed: Filed | None, current: bytes | None) -> Change:
    text = _text(wish.path, current)
    try:
        if current is not None and wish.held(text):
            before = filed.before if filed else _original(wish, None, text, current)
            return Change(wish.path, current, current, before)
        if filed and _untouched(filed, current):
            before = filed.before
        else:  # with no record, an entry of our name that is not what we would write is somebody's own
            before = _original(wish, _text(wish.path, filed.before) if filed else text, text, current)
        wanted = wish.put(_text(wish.path, before))
        if not wish.held(wanted):
            raise HostConfigBroken(str(wish.path), "our part could not be fitted in")
    except (BrokenJson, BrokenToml) as error:
        raise HostConfigBroken(str(wish.path), str(error)) from None
    return Change(wish.path, current, wanted.encode(), before)


def _original(wish: Wish, before: str | None, text: str, current: bytes | None) -> bytes | None:
    """What the file would hold without us, where it was edited since or nothing was filed."""
    if current is None:
        return None
    if isinstance(wish, Whole):
        return None if before is None else current if before == text else before.encode() or None
    bare = wish.take(text, before)
    return current if bare == text else bare.encode()


def _taken(wish: Wish | None, filed: Filed | None, path: Path, current: bytes) -> bytes | None:
    if filed and _untouched(filed, current):
        return filed.before
    if wish is None:
        return current  # an older file of ours that somebody has made their own
    if isinstance(wish, Whole):
        return filed.before if filed else None
    text = _text(path, current)
    try:
        bare = wish.take(text, _text(path, filed.before) if filed else None)
    except (BrokenJson, BrokenToml) as error:
        raise HostConfigBroken(str(path), str(error)) from None
    created = filed is not None and filed.before is None
    return None if created and bare.strip() in ("", "{}") else bare.encode() if bare != text else current


def _untouched(filed: Filed, current: bytes | None) -> bool:
    return current is not None and digest(current) == filed.after


def _text(path: Path, content: bytes | None) -> str:
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
