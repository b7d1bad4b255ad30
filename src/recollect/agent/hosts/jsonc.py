"""Changes inside JSON that people write by hand, comments and trailing commas included: text in, text out, and nothing
is reformatted but the piece that was asked for. Knows nothing of hosts or files."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_SPACE = " \t\r\n"
_MAX_DEPTH = 200  # levels; a settings file nested deeper is not one


class BrokenJson(ValueError):
    """Not JSON, even with comments allowed. Says where."""

    def __init__(self, text: str, at: int, problem: str) -> None:
        line = text.count("\n", 0, at) + 1
        super().__init__(f"line {line}, column {at - (text.rfind(chr(10), 0, at) + 1) + 1}: {problem}")


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands. `entries` are the members of an object or the items of an array."""

    start: int
    end: int
    value: Any
    entries: tuple[Entry, ...] = ()

    def at(self, key: str) -> Entry | None:
        """The member that counts under this key: of several, the last."""
        return next((entry for entry in reversed(self.entries) if entry.key == key), None)


@dataclass(frozen=True, slots=True)
class Entry:
    start: int
    node: Node
    comma: int | None  # where the comma behind it stands
    key: str | None = None


def parse(text: str) -> Node:
    """The document; an empty one counts as an empty object that starts where the text ends."""
    at = _skip_blanks(text, 1 if text.startswith("\ufeff") else 0)
    if at == len(text):
        return Node(at, at, {})
    node = _parse_value(text, at, 0)
    rest = _skip_blanks(text, node.end)
    if rest != len(text):
        raise BrokenJson(text, rest, "something follows the end of the document")
    return node


def find(node: Node, keys: Sequence[str]) -> Node | None:
    for key in keys:
        entry = node.at(key) if isinstance(node.value, dict) else None
        if entry is None:
            return None
        node = entry.node
    return node


def put_member(text: str, keys: Sequence[str], value: Any) -> str:
    """`text` with the member set, the objects on the way to it made where they are missing."""
    holder = parse(text)
    if holder.start == holder.end:
        text, holder = _open_empty(text, holder)
    for depth, key in enumerate(keys):
        if not isinstance(holder.value, dict):
            raise BrokenJson(text, holder.start, f"{'.'.join(keys[:depth]) or 'the document'} is not an object")
        entry = holder.at(key)
        rest = keys[depth + 1 :]
        if entry is None:
            for name in reversed(rest):
                value = {name: value}
            return _insert(text, holder, value, key=key)
        if not rest:
            return text[: entry.node.start] + _render_at(text, value, entry.start) + text[entry.node.end :]
        holder = entry.node
    return text


def put_item(text: str, keys: Sequence[str], value: Any) -> str:
    """`text` with the item at the end of the array under `keys`, which is made where it is missing."""
    holder = find(parse(text), keys)
    if holder is None:
        return put_member(text, keys, [value])
    if not isinstance(holder.value, list):
        raise BrokenJson(text, holder.start, f"{'.'.join(keys)} is not an array")
    return _insert(text, holder, value)


def take_member(text: str, keys: Sequence[str]) -> str:
    """`text` without that member; the same text when it is not there."""
    holder = find(parse(text), keys[:-1])
    while holder is not None and isinstance(holder.value, dict) and holder.at(keys[-1]) is not None:
        index = max(number for number, entry in enumerate(holder.entries) if entry.key == keys[-1])
        text = _remove_entry(text, holder, index)
        holder = find(parse(text), keys[:-1])
    return text


def take_items(text: str, keys: Sequence[str], ours: Callable[[Any], bool]) -> str:
    """`text` without the items of that array that `ours` knows."""
    while True:
        holder = find(parse(text), keys)
        if holder is None or not isinstance(holder.value, list):
            return text
        index = next((number for number, entry in enumerate(holder.entries) if ours(entry.node.value)), None)
        if index is None:
            return text
        text = _remove_entry(text, holder, index)


# --- reading ---------------------------------------------------------------------------------------------------------


def _skip_blanks(text: str, at: int) -> int:
    """Past white space and comments."""
    while at < len(text):
        if text[at] in _SPACE:
            at += 1
        elif text.startswith("//", at):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif text.startswith("/*", at):
            end = text.find("*/", at + 2)
            if end < 0:
                raise BrokenJson(text, at, "a comment that does not end")
            at = end + 2
        else:
            return at
    return at


def _parse_value(text: str, at: int, depth: int) -> Node:
    if depth > _MAX_DEPTH:
        raise BrokenJson(text, at, f"more than {_MAX_DEPTH} levels deep")
    if text[at : at + 1] in ("{", "["):
        return _parse_container(text, at, depth)
    try:
        value, end = json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise BrokenJson(text, error.pos, "a value was expected" if error.pos == at else error.msg) from None
    return Node(at, end, value)


def _parse_container(text: str, start: int, depth: int) -> Node:
    named = text[start] == "{"
    close = "}" if named else "]"
    entries: list[Entry] = []
    at = _skip_blanks(text, start + 1)
    while text[at : at + 1] != close:
        if entries and entries[-1].comma is None:
            raise BrokenJson(text, at, f"',' or '{close}' was expected")
        begin, key = at, None
        if named:
            key, at = _parse_key(text, at)
        node = _parse_value(text, at, depth + 1)
        at = _skip_blanks(text, node.end)
        comma = at if text[at : at + 1] == "," else None
        entries.append(Entry(begin, node, comma, key))
        at = _skip_blanks(text, at + 1) if comma is not None else at
    values = [entry.node.value for entry in entries]
    whole = {entry.key: entry.node.value for entry in entries} if named else values
    return Node(start, at + 1, whole, tuple(entries))


def _parse_key(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        raise BrokenJson(text, at, "a name in double quotes was expected")
    try:
        key, end = json.JSONDecoder().raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise BrokenJson(text, error.pos, error.msg) from None
    colon = _skip_blanks(text, end)
    if text[colon : colon + 1] != ":":
        raise BrokenJson(text, colon, "':' was expected")
    return key, _skip_blanks(text, colon + 1)


# --- writing ---------------------------------------------------------------------------------------------------------


def _open_empty(text: str, holder: Node) -> tuple[str, Node]:
    """An empty document, made into an empty object."""
    text = text + _keep_apart(text, "{}") + _newline(text)
    return text, parse(text)


def _insert(text: str, holder: Node, value: Any, *, key: str | None = None) -> str:
    name = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not holder.entries:
        outer = _indent_at(text, holder.start)
        body = name + _lay_out(text, value, outer + _indent_unit(text))
        kept = text[holder.start + 1 : holder.end - 1].rstrip()  # comments in an otherwise empty object stay
        newline = _newline(text)
        inside = f"{kept}{newline}{outer}{_indent_unit(text)}{body}{newline}{outer}"
        return text[: holder.start + 1] + inside + text[holder.end - 1 :]
    last = holder.entries[-1]
    if _is_inline(text, holder):
        body = name + json.dumps(value, ensure_ascii=False)
        at, lead, tail = (last.node.end, ", ", "") if last.comma is None else (last.comma + 1, " ", ",")
        return text[:at] + lead + body + tail + text[at:]
    indent = _indent_at(text, last.start)
    body = _newline(text) + indent + name + _lay_out(text, value, indent)
    if last.comma is not None:
        at = _line_end(text, last.comma + 1)
        return text[:at] + body + "," + text[at:]
    at = _line_end(text, last.node.end)
    return text[: last.node.end] + "," + text[last.node.end : at] + body + text[at:]


def _remove_entry(text: str, holder: Node, index: int) -> str:
    """The text without one entry: the inverse of `_insert` where that put it."""
    entry = holder.entries[index]
    start = len(text[: entry.start].rstrip(_SPACE))  # comments in front of it are somebody else's
    if len(holder.entries) == 1:
        end = entry.node.end if entry.comma is None else entry.comma + 1
        left = text[holder.start + 1 : start] + text[end : holder.end - 1]
        return text[: holder.start + 1] + (left if left.strip() else "") + text[holder.end - 1 :]
    before = holder.start if index == 0 else holder.entries[index - 1].comma
    assert before is not None
    between = text[before + 1 : start]
    if entry.comma is not None:
        after = text[entry.comma + 1 :]
        return text[:start] + _keep_apart(
            between, after.lstrip(" ") if index == 0 and _is_inline(text, holder) else after
        )
    return text[:before] + between + _keep_apart(between, text[entry.node.end :])


def _keep_apart(between: str, after: str) -> str:
    """What follows, on a line of its own where a comment to the end of the line would swallow it."""
    open_comment = "//" in between[between.rfind("\n") + 1 :]
    return (_newline(between) if open_comment and after.lstrip(" \t")[:1] not in ("\r", "\n") else "") + after


def _line_end(text: str, at: int) -> int:
    """Where the comments behind `at` end that stand on its line; `at` itself when something else follows."""
    here = at
    while here < len(text):
        if text[here] in " \t":
            here += 1
        elif text.startswith("//", here):
            end = text.find("\n", here)
            here = len(text) if end < 0 else end - (text[end - 1] == "\r")
        elif text.startswith("/*", here):
            end = text.find("*/", here)
            if "\n" in text[here:end]:
                return at
            here = end + 2
        else:
            return here if text[here] in "\r\n" else at
    return here


def _render_at(text: str, value: Any, start: int) -> str:
    return _lay_out(text, value, _indent_at(text, start))


def _lay_out(text: str, value: Any, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_indent_unit(text)).split("\n")
    return (_newline(text) + indent).join(lines)


def _is_inline(text: str, holder: Node) -> bool:
    return "\n" not in text[holder.start : holder.entries[0].start]


def _indent_at(text: str, at: int) -> str:
    """The white space in front of the line that holds `at`."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_unit(text: str) -> str:
    """One step of indentation, as this file does it."""
    for line in text.splitlines():
        bare = line.lstrip(" \t")
        if bare.startswith(('"', "{")) and len(bare) < len(line):
            return line[: len(line) - len(bare)]
    return "  "


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
