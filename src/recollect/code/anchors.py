"""Memories anchored to symbols follow them through an index: a symbol that was renamed, moved or edited on the way.

What anchored symbols read is noted before the index, because afterwards it is gone. Whether a symbol's text still is
what it was, the digest in the anchor tells (`recall.CodeAnchors`); here only the place is followed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.code.index import Indexed, document_name
from recollect.core.likeness import jaccard
from recollect.core.text import words
from recollect.recall.reader import Reader
from recollect.remember.follow import may_be_kept
from recollect.remember.writer import FRESHNESS, Writer
from recollect.store.graph import Graph, Node

_ALIKE = 0.5  # shared words of two texts from which on one may be the other, edited
_MAX_FILES = 200  # files with anchors whose texts are noted, and new files that are compared


class SymbolFollower:
    """The anchors of one index: made before it, asked after it."""

    def __init__(self, graph: Graph, reader: Reader) -> None:
        self._graph, self._reader = graph, reader
        files = dict.fromkeys(_file_of(memory.node) for memory in reader.tied() if _is_symbol(memory.node))
        self._texts = {file: self._read(file) for file in list(files)[:_MAX_FILES]}

    def follow(self, writer: Writer, done: Indexed) -> int:
        """Store the new anchor of every memory whose symbol is elsewhere now; how many there are."""
        moved = 0
        renamed = dict(done.renamed)
        added = [path for path in done.added if path not in renamed.values()][:_MAX_FILES]
        before = {renamed.get(file, file): texts for file, texts in self._texts.items()}
        for memory in self._reader.tied():
            if memory.node is None or not _is_symbol(memory.node):
                continue
            key, _, digest = memory.node.partition("@")
            found = self._find(key, digest, before, added)
            if found is None or not may_be_kept(found.key):
                continue
            file = _file_of(key)
            files = tuple(dict.fromkeys(found.file if name == file else name for name in memory.files))
            why = f"{key} is {found.key} now"
            writer.annotate(memory.id, actor=FRESHNESS, why=why, node=f"{found.key}@{digest}", files=files)
            moved += 1
        return moved

    def _find(
        self, key: str, digest: str, before: Mapping[str, Mapping[str, str]], added: Sequence[str]
    ) -> Node | None:
        """The symbol that a missing one became: the only one with its text, else the one that reads most like it."""
        if self._graph.node(key) is not None:
            return None
        same = self._graph.hashed([digest]) if digest else []
        if same:
            return same[0] if len(same) == 1 else None
        file = _file_of(key)
        texts = before.get(file, {})
        was = texts.get(key.partition(":")[2])
        if was is None:
            return None
        name = key.rpartition(":")[2].rpartition(".")[2]
        candidates = {f"{file}:{symbol}": text for symbol, text in self._read(file).items() if symbol not in texts} | {
            f"{other}:{symbol}": text
            for other in added
            for symbol, text in self._read(other).items()
            if symbol.rpartition(".")[2] == name
        }
        alike = {one: _likeness(was, text) for one, text in candidates.items()}
        best = min(alike, key=lambda one: (-alike[one], one), default=None)
        return self._graph.node(best) if best is not None and alike[best] >= _ALIKE else None

    def _read(self, file: str) -> dict[str, str]:
        """What each symbol of a file reads, by its name, as its passages say."""
        texts: dict[str, str] = {}
        for passage in self._reader.passages(document_name(file)):
            symbol = (passage.node or "").partition(":")[2]
            if symbol:
                texts[symbol] = f"{texts.get(symbol, '')}\n{passage.content}"
        return texts


def _likeness(one: str, other: str) -> float:
    return jaccard(frozenset(words(one)), frozenset(words(other)))


def _is_symbol(node: str | None) -> bool:
    return node is not None and ":" in node


def _file_of(node: str | None) -> str:
    return (node or "").partition("@")[0].partition(":")[0]
