"""Cutting a parsed document into passages. Pure.

A passage is at most 900 characters and stays within one section. The spans of all passages, one after the other, are
the whole document: nothing is left out, nothing is said twice. A section that is too long is cut between blocks, then
between list items and table rows, then between lines, and inside a line only when the line alone is too long.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from recollect.core.text import excerpt
from recollect.documents.parse import Heading, Parsed

LONGEST = 900  # characters of a passage, not counting the white space around it
_SOLID = re.compile(r"\S")
_LONGEST_HEADING = 120  # characters of one heading in the path


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage: which characters, bytes and lines of the document it is, and under which headings."""

    text: str
    start: int  # byte of the encoded document
    end: int
    first_line: int  # counted from 1
    last_line: int
    path: tuple[str, ...]

    @property
    def words(self) -> str:
        return self.text.strip()


def chunk(parsed: Parsed, *, longest: int = LONGEST) -> list[Chunk]:
    """The passages of a document in order. A document of white space has none."""
    if not parsed.text.strip():
        return []
    cutter = _Cutter(parsed, longest)
    spans: list[tuple[int, int, tuple[str, ...]]] = []
    for start, end, path in _sections(parsed):
        spans += [(one, two, path) for one, two in cutter.pieces(start, end)]
    return list(_measured(parsed, _joined(parsed.text, spans)))


def _sections(parsed: Parsed) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Each section as first line, line after the last, heading path. A heading without words of its own goes with what
    follows it when that stands below it."""
    count = len(parsed.lines) - 1
    start, path = 0, ()  # type: int, tuple[Heading, ...]
    for heading in parsed.headings:
        if heading.line > start and not _bare(parsed, start, heading, path):
            yield start, heading.line, _names(path)
            start = heading.line
        path = (*(above for above in path if above.level < heading.level), heading)
    yield start, count, _names(path)


def _bare(parsed: Parsed, start: int, following: Heading, path: tuple[Heading, ...]) -> bool:
    """Is there nothing but white space and a heading between `start` and the next heading, which stands below it?"""
    if not path:
        return not parsed.text[parsed.lines[start] : parsed.lines[following.line]].strip()
    if following.level <= path[-1].level:
        return False
    last = bisect_left(parsed.blocks, path[-1].line, key=lambda block: block.start)
    return last + 1 < len(parsed.blocks) and parsed.blocks[last + 1].start == following.line


def _names(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(excerpt(heading.text, _LONGEST_HEADING) for heading in path if heading.text)


class _Cutter:
    """Finds where a section may be cut, from the best places to the worst."""

    def __init__(self, parsed: Parsed, longest: int) -> None:
        self._parsed = parsed
        self._longest = longest

    @cached_property
    def _between(self) -> tuple[Sequence[int], ...]:
        """Lines one may cut before, by how much one would like to."""
        parsed = self._parsed
        blocks = [block.start for block in parsed.blocks]
        sealed: set[int] = set()
        for block in parsed.blocks:
            if block.whole:
                sealed.update(range(block.start + 1, block.end))
        every = range(len(parsed.lines) - 1)
        return blocks, parsed.inner, [line for line in every if line not in sealed], every

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """The lines from `start` to `end` as character spans that fit."""
        return self._packed(list(self._split(start, end, 0)))

    def _split(self, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
        lines = self._parsed.lines
        low, high = lines[start], lines[end]
        if self._fits(low, high):
            yield low, high
        elif level == len(self._between):
            yield from self._within(low, high)
        else:
            places = self._between[level]
            inside = places[bisect_right(places, start) : bisect_left(places, end)]
            bounds = [start, *inside, end]
            for one, two in pairwise(bounds):
                yield from self._split(one, two, level + 1)

    def _within(self, low: int, high: int) -> Iterator[tuple[int, int]]:
        """A single long line, cut at spaces where there are any."""
        text = self._parsed.text
        solid = low + len(text[low:high].rstrip())
        while (first := _SOLID.search(text, low, solid)) and solid - first.start() > self._longest:
            edge = first.start() + self._longest
            space = max(text.rfind(" ", first.start(), edge), text.rfind("\t", first.start(), edge))
            cut = space + 1 if space > edge - self._longest // 2 else edge
            yield low, cut
            low = cut
        yield low, high

    def _packed(self, pieces: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Neighbouring pieces joined as long as they fit."""
        packed: list[tuple[int, int]] = []
        for low, high in pieces:
            if packed and self._fits(packed[-1][0], high):
                packed[-1] = (packed[-1][0], high)
            else:
                packed.append((low, high))
        return packed

    def _fits(self, low: int, high: int) -> bool:
        return high - low <= self._longest or len(self._parsed.text[low:high].strip()) <= self._longest


def _joined(text: str, spans: Sequence[tuple[int, int, tuple[str, ...]]]) -> list[tuple[int, int, tuple[str, ...]]]:
    """Spans of white space go to the passage before them, or to the first one."""
    joined: list[tuple[int, int, tuple[str, ...]]] = []
    low: int | None = None
    for start, end, path in spans:
        if not text[start:end].strip():
            if joined:
                joined[-1] = (joined[-1][0], end, joined[-1][2])
            elif low is None:
                low = start
            continue
        joined.append((start if low is None else low, end, path))
        low = None
    return joined


def _measured(parsed: Parsed, spans: Sequence[tuple[int, int, tuple[str, ...]]]) -> Iterator[Chunk]:
    ascii_only = parsed.text.isascii()
    byte = 0
    for low, high, path in spans:
        text = parsed.text[low:high]
        size = len(text) if ascii_only else len(text.encode())
        first = bisect_right(parsed.lines, low)
        yield Chunk(text, byte, byte + size, first, max(first, bisect_left(parsed.lines, high)), path)
        byte += size
