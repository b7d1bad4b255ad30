"""One file as a page: its bytes checked, its text parsed and cut, its drafts made. Touches nothing but the file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from recollect.core.drafts import Draft
from recollect.core.kinds import Kind
from recollect.core.records import Span
from recollect.core.scope import Source
from recollect.core.text import clean, excerpt
from recollect.documents.chunk import Chunk, chunk
from recollect.documents.confidence import START
from recollect.documents.parse import Parsed, Reference, parse
from recollect.documents.rules import is_markdown

MOST_BYTES = 5_000_000  # of one document: a book has one or two million
MOST_PASSAGES = 20_000  # of one document
_LONGEST_TITLE = 200  # characters
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
    starting_confidence: float = START

    def drafts(self, path: str, document: str) -> Iterator[Draft]:
        """The passages of a document, ready to be remembered. One that holds only invisible characters is none."""
        for one in self.chunks:
            if not clean(one.text)[0]:
                continue
            yield Draft(
                one.words,
                kind=Kind.PASSAGE,
                source=Source.MCP_AUTO,
                confidence=self.starting_confidence,
                files=(path,),
                span=Span("prose", one.start, one.end, _BETWEEN.join(_named(self.title, one.path)), document),
                attributes={"lines": [one.first_line, one.last_line]},
            )


def _named(title: str, path: tuple[str, ...]) -> tuple[str, ...]:
    return path if path and path[0] == title else (title, *path)


def read_page(file: Path, path: str) -> Page:
    """The page of a file, or why there is none."""
    data = _bytes(file)
    text = _text(data)
    try:
        parsed = parse(text, markdown=is_markdown(path))
    except RecursionError:
        raise Unreadable("nested too deeply", lasting=True) from None
    return page_of(parsed, data, path)


def text_of(file: Path) -> str:
    """The text of a file, or why there is none."""
    return _text(_bytes(file))


def page_of(parsed: Parsed, data: bytes, path: str) -> Page:
    chunks = chunk(parsed)
    if len(chunks) > MOST_PASSAGES:
        raise Unreadable(f"{len(chunks):,} sections; at most {MOST_PASSAGES:,} are taken", lasting=True)
    title = clean(parsed.title)[0] or PurePosixPath(path).stem
    return Page(sha256(data).hexdigest(), len(data), excerpt(title, _LONGEST_TITLE), tuple(chunks), parsed.references)


def digest_of(file: Path) -> str:
    """The digest of a file's bytes; empty when they cannot be read."""
    try:
        with file.open("rb") as opened:
            return sha256(opened.read(MOST_BYTES + 1)).hexdigest()
    except OSError:
        return ""


def _bytes(file: Path) -> bytes:
    try:
        with open(file, "rb", opener=_without_following) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise Unreadable("not a regular file", lasting=False)
            data = opened.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise Unreadable("it vanished during the run", lasting=False) from None
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__, lasting=False) from None
    if len(data) > MOST_BYTES:
        raise Unreadable(f"more than {MOST_BYTES // 1_000_000} MB", lasting=True)
    return data


def _without_following(path: str, flags: int) -> int:
    """Open for reading without waiting for a pipe and, where the system can, without following a link put there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _text(data: bytes) -> str:
    if b"\0" in data:
        raise Unreadable("binary", lasting=True)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable(f"not UTF-8 (byte {error.start})", lasting=True) from None
