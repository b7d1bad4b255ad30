"""One file as a page: its bytes checked, its text parsed and cut into passages, its drafts made. Touches only the file.

A passage is at most 900 characters and stays within one section. The spans of all passages, one after the other, are
the whole document: nothing is left out, nothing is said twice. A section that is too long is cut between blocks, then
between list items and table rows, then between lines, and inside a line only when the line alone is too long.
"""

from __future__ import annotations

import os
import re
import stat
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath

from recollect.core.drafts import Draft
from recollect.core.kinds import Kind
from recollect.core.records import Span
from recollect.core.scope import Source
from recollect.core.text import clean, excerpt
from recollect.documents.layout import is_markdown
from recollect.documents.parse import Heading, Parsed, Reference, parse
from recollect.files.ignore import open_without_following

MAX_CHARS = 900  # characters of a passage, not counting the white space around it
_LINES = 2  # cuts between blocks and inside of them come first, then those between lines
_MANY_LINES = 20_000  # of one block
_SOLID = re.compile(r"\S")
_MAX_HEADING = 120  # characters of one heading in the path


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


def split_passages(parsed: Parsed, *, longest: int = MAX_CHARS) -> list[Chunk]:
    """The passages of a document in order. A document of white space has none."""
    if not parsed.text.strip():
        return []
    cutter = _Cutter(parsed, longest)
    spans: list[tuple[int, int, tuple[str, ...]]] = []
    for start, end, path in _sections(parsed):
        spans += [(one, two, path) for one, two in cutter.pieces(start, end)]
    return list(_measure(parsed, _attach_blanks(parsed.text, spans)))


def _sections(parsed: Parsed) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Each section as first line, line after the last, heading path. A heading without words of its own goes with what
    follows it when that stands below it."""
    count = len(parsed.lines) - 1
    start, path = 0, ()  # type: int, tuple[Heading, ...]
    for heading in parsed.headings:
        if heading.line > start and not _is_bare(parsed, start, heading, path):
            yield start, heading.line, _heading_names(path)
            start = heading.line
        path = (*(above for above in path if above.level < heading.level), heading)
    yield start, count, _heading_names(path)


def _is_bare(parsed: Parsed, start: int, following: Heading, path: tuple[Heading, ...]) -> bool:
    """Is there nothing but white space and a heading between `start` and the next heading, which stands below it?"""
    if not path:
        return not parsed.text[parsed.lines[start] : parsed.lines[following.line]].strip()
    if following.level <= path[-1].level:
        return False
    last = bisect_left(parsed.blocks, path[-1].line, key=lambda block: block.start)
    return last + 1 < len(parsed.blocks) and parsed.blocks[last + 1].start == following.line


def _heading_names(path: Sequence[Heading]) -> tuple[str, ...]:
    return tuple(excerpt(heading.text, _MAX_HEADING) for heading in path if heading.text)


class _Cutter:
    """Finds where a section may be cut, from the best places to the worst."""

    def __init__(self, parsed: Parsed, longest: int) -> None:
        self._parsed = parsed
        self._longest = longest

    @cached_property
    def _blocks(self) -> Sequence[int]:
        return [block.start for block in self._parsed.blocks]

    @cached_property
    def _sealed(self) -> bytearray:
        """A flag for each line that stands inside a block that should stay whole."""
        flags = bytearray(len(self._parsed.lines))
        for block in self._parsed.blocks:
            if block.whole:
                flags[block.start + 1 : block.end] = b"\1" * max(0, block.end - block.start - 1)
        return flags

    def _places(self, start: int, end: int, level: int) -> Iterable[int]:
        """Lines between two that one may cut before, by how much one would like to: blocks, what stands in them, lines
        that are not inside of something whole, any line."""
        if level < _LINES:
            known = self._parsed.inner if level else self._blocks
            return known[bisect_right(known, start) : bisect_left(known, end)]
        if end - start > _MANY_LINES:
            return self._far_places(start, end)
        sealed = self._sealed if level == _LINES else b""
        return [line for line in range(start + 1, end) if not sealed or not sealed[line]]

    def _far_places(self, start: int, end: int) -> Iterator[int]:
        """Lines as far from each other as fits: of so many not each can be weighed."""
        lines = self._parsed.lines
        line = start
        while (line := max(line + 1, bisect_right(lines, lines[line] + self._longest, line, end) - 1)) < end:
            yield line

    def pieces(self, start: int, end: int) -> list[tuple[int, int]]:
        """The lines from `start` to `end` as character spans that fit."""
        return self._packed(self._split(start, end, 0))

    def _split(self, start: int, end: int, level: int) -> Iterator[tuple[int, int]]:
        lines = self._parsed.lines
        low, high = lines[start], lines[end]
        if self._fits(low, high):
            yield low, high
        elif level > _LINES + 1:
            yield from self._within(low, high)
        else:
            for one, two in pairwise(chain((start,), self._places(start, end, level), (end,))):
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

    def _packed(self, pieces: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Neighbouring pieces joined as long as they fit, white space around them not counted."""
        packed: list[tuple[int, int]] = []
        first: int | None = None  # where the words of the last one begin
        for low, high in pieces:
            solid = _SOLID.search(self._parsed.text, low, high)
            end = low + len(self._parsed.text[low:high].rstrip()) if solid else low
            begins = first if first is not None or solid is None else solid.start()
            if packed and (solid is None or begins is None or end - begins <= self._longest):
                packed[-1] = (packed[-1][0], high)
                first = begins
            else:
                packed.append((low, high))
                first = solid.start() if solid else None
        return packed

    def _fits(self, low: int, high: int) -> bool:
        return high - low <= self._longest or len(self._parsed.text[low:high].strip()) <= self._longest


def _attach_blanks(
    text: str, spans: Sequence[tuple[int, int, tuple[str, ...]]]
) -> list[tuple[int, int, tuple[str, ...]]]:
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


def _measure(parsed: Parsed, spans: Sequence[tuple[int, int, tuple[str, ...]]]) -> Iterator[Chunk]:
    ascii_only = parsed.text.isascii()
    byte = 0
    for low, high, path in spans:
        text = parsed.text[low:high]
        size = len(text) if ascii_only else len(text.encode())
        first = bisect_right(parsed.lines, low)
        yield Chunk(text, byte, byte + size, first, max(first, bisect_left(parsed.lines, high)), path)
        byte += size


# --- reading a file -------------------------------------------------------------------------------------------------

MAX_BYTES = 5_000_000  # of one document: a book has one or two million
MAX_PASSAGES = 20_000  # of one document
START_CONFIDENCE = 0.8  # of a document nobody has asked for yet
_MAX_TITLE = 200  # characters
_BETWEEN = " › "


class Unreadable(Exception):
    """This file cannot be a document. `lasting` when that is the fault of its content, not of the moment."""

    def __init__(self, reason: str, *, lasting: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Page:
    """A file as it was when we read it."""

    sha256: str
    size: int
    title: str
    chunks: tuple[Chunk, ...]
    references: tuple[Reference, ...]
    starting_confidence: float = START_CONFIDENCE
    notes: tuple[str, ...] = ()  # what of it was read plainly or left out

    def drafts(self, path: str, document: str) -> Iterator[Draft]:
        """The passages of a document, ready to be remembered. One that holds only invisible characters is none."""
        for chunk in self.chunks:
            if not clean(chunk.text)[0]:
                continue
            yield Draft(
                chunk.words,
                kind=Kind.PASSAGE,
                source=Source.INDEXED,
                confidence=self.starting_confidence,
                files=(path,),
                span=Span(
                    "prose", chunk.start, chunk.end, _BETWEEN.join(_heading_path(self.title, chunk.path)), document
                ),
                attributes={"lines": [chunk.first_line, chunk.last_line]},
            )


def _heading_path(title: str, path: tuple[str, ...]) -> tuple[str, ...]:
    return path if path and path[0] == title else (title, *path)


def read_page(file: Path, path: str) -> Page:
    """The page of a file, or why there is none."""
    data = _read_bytes(file)
    text = _decode(data)
    try:
        parsed = parse(text, markdown=is_markdown(path))
    except RecursionError:
        raise Unreadable("nested too deeply", lasting=True) from None
    return make_page(parsed, data, path)


def read_text(file: Path) -> str:
    """The text of a file, or why there is none."""
    return _decode(_read_bytes(file))


def make_page(parsed: Parsed, data: bytes, path: str) -> Page:
    chunks = split_passages(parsed)
    if len(chunks) > MAX_PASSAGES:
        raise Unreadable(f"more than {MAX_PASSAGES:,} sections", lasting=True)
    title = clean(parsed.title)[0] or PurePosixPath(path).stem
    return Page(
        sha256(data).hexdigest(),
        len(data),
        excerpt(title, _MAX_TITLE),
        tuple(chunks),
        parsed.references,
        notes=parsed.notes,
    )


def file_digest(file: Path) -> str:
    """The digest of a file's bytes; empty when they cannot be read."""
    try:
        with file.open("rb") as opened:
            return sha256(opened.read(MAX_BYTES + 1)).hexdigest()
    except OSError:
        return ""


def _read_bytes(file: Path) -> bytes:
    try:
        with open(file, "rb", opener=open_without_following) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise Unreadable("not a regular file", lasting=False)
            data = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise Unreadable("it vanished during the run", lasting=False) from None
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__, lasting=False) from None
    if len(data) > MAX_BYTES:
        raise Unreadable(f"more than {MAX_BYTES // 1_000_000} MB", lasting=True)
    return data


def _decode(data: bytes) -> str:
    if b"\0" in data:
        raise Unreadable("binary", lasting=True)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 (byte {error.start})", lasting=True) from None
