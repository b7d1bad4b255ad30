"""Source text → chunks at function and class boundaries (C2). Pure; no body is ever cut, nothing is lost or doubled.

A small class is one chunk; of a larger one each method is a chunk of its own and the rest of the class another. What
belongs to no symbol is cut into module chunks, as is a file without symbols.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollect.code.outline import SCOPES_ONLY, Outline, Symbol

WHOLE_CLASS = 60  # lines up to which a class reads best in one piece
MODULE_LINES = 100  # lines of a chunk that no boundary ends
MOST_BYTES = 60_000  # of one chunk: a longer body is data, and is cut by lines after all


class Chunk(NamedTuple):
    """Some lines of a file, counted from 1, both ends included."""

    type: str  # function, class or module
    name: str  # the symbol, or nothing
    start: int
    end: int
    text: str


def chunk(source: str, outline: Outline) -> list[Chunk]:
    """All lines of a file that hold anything, each in exactly one chunk."""
    lines = source.split("\n")
    owner = _owners(len(lines), outline)
    found: list[Chunk] = []
    for symbol, start, end in _runs(owner):
        name, type = ("", "module") if symbol is None else (symbol.name, _chunk_type(symbol))
        whole = symbol is not None and end - start < len(lines)
        for first, last in _cuts(lines, start, end, whole=whole):
            text = "\n".join(lines[first - 1 : last])
            if text.strip():
                found.append(Chunk(type, name, first, last, text))
    return found


def _owners(count: int, outline: Outline) -> list[Symbol | None]:
    """For each line the symbol whose chunk it goes into."""
    owner: list[Symbol | None] = [None] * (count + 1)
    for symbol in outline.symbols:  # the outer ones come first
        if _is_chunk(symbol, outline.symbols):
            last = min(symbol.end, count)
            owner[symbol.start : last + 1] = [symbol] * max(0, last + 1 - symbol.start)
    return owner[1:]


def _is_chunk(symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    """Whether a symbol gets a chunk of its own: not inside a function, nor inside a small class."""
    above = symbol.parent
    while above >= 0:
        around = symbols[above]
        if around.type in ("function", "method") or not _is_opened(around):
            return False
        above = around.parent
    return (symbol.type not in SCOPES_ONLY and symbol.type != "module") or not _is_opened(symbol)


def _is_opened(symbol: Symbol) -> bool:
    """Whether the inside of a symbol is cut further."""
    return symbol.type in ("space", "module") or symbol.end - symbol.start >= WHOLE_CLASS


def _chunk_type(symbol: Symbol) -> str:
    return "function" if symbol.type in ("function", "method") else "class"


def _runs(owner: Sequence[Symbol | None]) -> Iterator[tuple[Symbol | None, int, int]]:
    """Lines of one owner that follow one another."""
    start = 0
    for place in range(1, len(owner) + 1):
        if place == len(owner) or owner[place] is not owner[start]:
            yield owner[start], start + 1, place
            start = place


def _cuts(lines: Sequence[str], start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Where lines that belong together are cut: bodies nowhere unless they are enormous, other text every so often."""
    limit = 10**9 if whole else MODULE_LINES
    first, size = start, 0
    for number in range(start, end + 1):
        size += len(lines[number - 1]) + 1
        if number - first + 1 >= limit or size > MOST_BYTES:
            yield first, number
            first, size = number + 1, 0
    if first <= end:
        yield first, end
