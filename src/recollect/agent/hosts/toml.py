"""Tables put at the end of a TOML file and taken out again by name, the rest of the text left as it stands. Found by
their headers, not by markers: hosts write tables of their own behind ours and would end up between them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

Name: TypeAlias = tuple[str, ...]
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


class BrokenToml(ValueError):
    """Not TOML. Says where."""


def load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise BrokenToml(str(error)) from None


def put_tables(text: str, tables: str) -> str:
    """`text` with the tables behind everything else, a blank line between."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or text.isspace() else newline if text.endswith("\n") else newline * 2
    together = text + gap + tables.replace("\n", newline)
    load(together)
    return together


def take_tables(text: str, ours: Callable[[Name], bool], *, note: str) -> str:
    """`text` without the tables whose names `ours` knows, and without the comment `note` above them."""
    load(text)
    headers = list(_find_headers(text))
    kept: list[str] = []
    at = 0
    for index, (above, start, name) in enumerate(headers):
        if ours(name):
            kept.append(text[at : _table_start(text, above, start, note)])
            at = headers[index + 1][0] if index + 1 < len(headers) else len(text)
    return "".join(kept) + text[at:]


def _table_start(text: str, above: int, start: int, note: str) -> int:
    """Where a table of ours begins: at our note and the blank line we put above it; other people's comments stay."""
    between = text[above:start]
    if not between.strip():
        return above
    lead, found, _ = between.rpartition(note)
    if not found:
        return start
    lines = _LINE.findall(lead)
    if lines and not lines[-1].strip():
        lines.pop()
    return above + sum(map(len, lines))


def _find_headers(text: str) -> Iterator[tuple[int, int, Name]]:
    """Every table header: where the comments above it start, where it starts itself, its name."""
    depth = 0
    quote = ""
    offset = above = 0
    for line in _LINE.findall(text):
        bare = line.strip()
        if not quote and not depth and bare.startswith("["):
            yield above, offset, _parse_header(bare)
            above = offset + len(line)
        else:
            quote, depth = _scan_line(line, quote, depth)
            if quote or depth or not (bare == "" or bare.startswith("#")):
                above = offset + len(line)
        offset += len(line)


def _parse_header(header: str) -> Name:
    found: Any = tomllib.loads(header)
    names: list[str] = []
    while found:
        (name,) = found
        names.append(name)
        found = found[name][0] if isinstance(found[name], list) else found[name]
    return tuple(names)


def _scan_line(line: str, quote: str, depth: int) -> tuple[str, int]:
    """Which long string and how many brackets are open at the end of the line."""
    at = 0
    while at < len(line):
        if quote:
            if quote[0] == '"' and line[at] == "\\":
                at += 2
            elif line.startswith(quote, at):
                at, quote = at + len(quote), ""
            else:
                at += 1
            continue
        if line[at] == "#":
            break
        if line[at] in "\"'":
            quote = line[at] * 3 if line.startswith(line[at] * 3, at) else line[at]
            at += len(quote)
            continue
        depth += (line[at] in "[{") - (line[at] in "]}")
        at += 1
    return quote if len(quote) == 3 else "", depth
