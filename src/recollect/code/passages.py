"""Chunks of source code as passages: drafts for the one pipeline. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from recollect.code.chunk import Chunk
from recollect.core.drafts import Draft
from recollect.core.records import ChunkType, Span
from recollect.core.scope import Source
from recollect.remember.passages import Cut

CONFIDENCE = 0.8  # where passages begin
_LONGEST = 900  # characters of a name that is kept; longer ones are machine-made


def document_of(path: str) -> str:
    """The name of a source file among the documents."""
    return f"code:{path}"


def cut(path: str, chunks: Sequence[Chunk], *, screened: bool) -> Cut:
    """All passages of one file. Lines are in the span; the context names file and symbol, so that it holds when lines
    move and an unchanged passage keeps its row and its vectors."""
    return Cut(document_of(path), tuple(_draft(path, one) for one in chunks if len(path) < _LONGEST), screened)


def _draft(path: str, one: Chunk) -> Draft:
    name = one.name[:_LONGEST]
    module = path.rpartition("/")[0]
    return Draft(
        one.text.replace("\0", ""),
        kind="passage",
        confidence=CONFIDENCE,
        source=Source.MCP_AUTO,
        files=(path,),
        modules=(module,) if module else (),
        node=f"{path}:{name}"[:_LONGEST] if name else path,
        span=Span(cast(ChunkType, one.type), one.start, one.end, f"{path} | {name}" if name else path),
    )
