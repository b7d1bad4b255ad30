"""What we would like a file to hold: a whole file of ours, members and items in somebody's JSON, tables in somebody's
TOML, a block in somebody's Markdown. Each puts its part into a text and takes it out again; none reads or writes a
file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from recollect.agent.hosts import jsonc, toml

Keys: TypeAlias = tuple[str, ...]
HOOK = "recollect-hook"  # the name of the hook's program: an entry that starts it is ours


class Wish(Protocol):
    """One file and our part in it. `before` is what the file held before us, where that is known."""

    @property
    def path(self) -> Path: ...
    def held(self, text: str) -> bool: ...
    def put(self, text: str) -> str: ...
    def take(self, text: str, before: str | None) -> str: ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A file that is ours alone."""

    path: Path
    text: str

    def held(self, text: str) -> bool:
        return text == self.text

    def put(self, text: str) -> str:
        return self.text

    def take(self, text: str, before: str | None) -> str:
        return before or ""


@dataclass(frozen=True, slots=True)
class Members:
    """Members of a JSON object, each under its keys, and items of arrays, known as ours by the hook they start.

    `needs` is what a file must have beside them to be one of the host's. In a file that began with us it stays if
    others are left; in a file from before us it goes, if it was not there.
    """

    path: Path
    members: tuple[tuple[Keys, Any], ...] = ()
    items: tuple[tuple[Keys, Any], ...] = ()
    needs: tuple[tuple[str, Any], ...] = ()

    def held(self, text: str) -> bool:
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
class Trace:
    """A member that a host writes about us by itself, or lines in a list of it that name our hook. Nothing to put;
    taken out when we go."""

    path: Path
    keys: Keys
    lines: bool = False

    def held(self, text: str) -> bool:
        return True

    def put(self, text: str) -> str:
        return text

    def take(self, text: str, before: str | None) -> str:
        if not self.lines:
            return jsonc.take_member(text, self.keys)
        bare = jsonc.take_items(text, self.keys, lambda line: isinstance(line, str) and HOOK in line)
        return _without_husks(text, bare, self.keys, jsonc.parse(""))


@dataclass(frozen=True, slots=True)
class Tables:
    """Tables at the end of a TOML file. `families` name ours and what stands below them; a last word may end in `*`."""

    path: Path
    text: str
    families: tuple[Keys, ...]
    note: str

    def held(self, text: str) -> bool:
        there, wanted = toml.load(text), toml.load(self.text)
        return all(_at(there, family) == _at(wanted, family) for family in self.families if _at(wanted, family))

    def put(self, text: str) -> str:
        return toml.put_tables(self.take(text, None), f"{self.note}\n{self.text}")

    def take(self, text: str, before: str | None) -> str:
        return text if text == before else toml.take_tables(text, self._ours, note=self.note)

    def _ours(self, name: toml.Name) -> bool:
        return any(_is_below(name, family) for family in self.families)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines between two marks in a text file that others write in too."""

    path: Path
    text: str
    opening: str = "<!-- recollect: begin -->"
    closing: str = "<!-- recollect: end -->"

    def held(self, text: str) -> bool:
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
    return all(isinstance(hook, dict) and HOOK in json.dumps(hook.get("command", "")) for hook in hooks)


def _ours_in(root: jsonc.Node, keys: Sequence[str]) -> list[Any]:
    found = jsonc.find(root, keys)
    return [] if found is None or not isinstance(found.value, list) else [one for one in found.value if is_ours(one)]


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
