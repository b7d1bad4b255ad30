"""What the code graph gives to recall: candidates by file, neighbours for the boost, co-change, volatility, anchors.

Each class fills a port of `core.ports` and is handed to the Reader by the composition root as soon as code was indexed;
`anchor_draft` is what the Writer ties drafts with. None of them writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from recollect.code.impact import locate_nodes
from recollect.core.drafts import Draft
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.ports import Standing
from recollect.core.query import Candidate, Filter, Order, Page, Query, Reading
from recollect.core.records import Memory
from recollect.recall.recipes import (
    ANCHOR_CHANGED,
    ANCHOR_GONE,
    COCHANGE_NEIGHBOUR,
    MAX_FILES_IN_PLAY,
    MAX_NAMES_LOOKED_UP,
    NEIGHBOUR_STRENGTH,
    RECENT_IN_PLAY,
)
from recollect.store.graph import Graph

_VALID = Standing("valid")


class CodeNeighbourhood:
    """Files one edge away, or that change together."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def neighbours(self, files: Sequence[str]) -> list[str]:
        wanted = list(dict.fromkeys(files))[:MAX_FILES_IN_PLAY]
        together = self._graph.cochanged(wanted)
        near = dict.fromkeys(self._graph.beside(wanted))
        near |= dict.fromkeys(path for path, weight, _ in together if weight >= COCHANGE_NEIGHBOUR)
        return [path for path in near if path not in wanted]


class CodeCoChange:
    """Files that were committed together: what is known of co-access before anyone was watched."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def changing_with(self, files: Sequence[str]) -> dict[str, float]:
        wanted = list(dict.fromkeys(files))[:MAX_FILES_IN_PLAY]
        return {path: weight for path, weight, _ in self._graph.cochanged(wanted) if path not in wanted}


class CodeVolatility:
    """How often files changed lately, by their commits."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def rates(self, files: Sequence[str]) -> dict[str, float]:
        return {path: rate for path, (_, rate) in self._graph.churn(list(dict.fromkeys(files))).items()}


class ListMemories(Protocol):
    """Memories by filter, without a question."""

    def __call__(self, filter: Filter, *, order: Order = "newest", limit: int = 50) -> Page: ...


class GraphChannel:
    """Candidates by where they are: first what is said about the files in play, then about their neighbours.

    In play are the files of the query, those its words name (a path or a symbol), and, for a structural question that
    names none, those of the memories used last. Source code itself is left to the other channels.
    """

    name = "graph"

    def __init__(self, graph: Graph, memories: ListMemories, kinds: Kinds, *, depth: int) -> None:
        self._graph, self._memories, self._kinds = graph, memories, kinds
        self._depth = depth
        self._neighbourhood = CodeNeighbourhood(graph)

    def candidates(self, query: Query, reading: Reading) -> list[Candidate]:
        files = self._in_play(query, reading)
        if not files:
            return []
        found = self._about(files, query.filter, "about a file in play", 1.0)
        if len(found) < self._depth:
            near = self._neighbourhood.neighbours(files)[:MAX_FILES_IN_PLAY]
            known = {candidate.id for candidate in found}
            beside = self._about(near, query.filter, "one edge away", NEIGHBOUR_STRENGTH)
            found += [candidate for candidate in beside if candidate.id not in known]
        return found[: self._depth]

    def _in_play(self, query: Query, reading: Reading) -> list[str]:
        files = list(query.files)
        for name in reading.identifiers[:MAX_NAMES_LOOKED_UP]:
            bare = name.rstrip("()").replace("::", ".")
            files += [node.file for node in self._graph.named(bare.rpartition(".")[2])[:3] if node.file]
            files += [node.file for node in self._graph.ending_in(bare)[:1] if node.type == "file" and "/" in bare]
        if not files and reading.type == "structural":
            page = self._memories(query.filter, order="accessed", limit=RECENT_IN_PLAY)
            files = [file for memory in page.memories for file in memory.files]
        return list(dict.fromkeys(files))[:MAX_FILES_IN_PLAY]

    def _about(self, files: Sequence[str], filter: Filter, why: str, strength: float) -> list[Candidate]:
        kinds = filter.kinds or frozenset(rule.name for rule in self._kinds if rule.name != "passage")
        if not files or kinds == {"passage"} or (filter.files and not filter.files.intersection(files)):
            return []
        chosen = filter.files.intersection(files) or frozenset(files)
        page = self._memories(replace(filter, files=frozenset(chosen), kinds=kinds), limit=4 * self._depth)
        return [
            Candidate(memory.id, memory=memory, reasons=(why,), factors={"graph": strength})
            for memory in _order_by_file(page.memories, files)
        ]


def _order_by_file(memories: Iterable[Memory], files: Sequence[str]) -> list[Memory]:
    rank = {file: number for number, file in enumerate(files)}

    def key(memory: Memory) -> tuple[int, float, str]:
        return min(rank.get(file, len(files)) for file in memory.files), -memory.confidence, memory.id

    return sorted(memories, key=key)


class CodeAnchors:
    """Memories anchored to symbols: does what they speak of still stand? Valid, moved or stale, by the symbol's text.

    An anchor is `FILE:SYMBOL@DIGEST`, where the digest is of the symbol's text without its name and its layout, so that
    renaming, moving and reformatting leave it alone.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def standing(self, memories: Sequence[Memory]) -> dict[MemoryId, Standing]:
        """How each anchored memory stands. A passage is cut again with its file, so it always stands."""
        return {
            memory.id: _VALID if memory.kind == "passage" else self._judge(memory.node)
            for memory in memories
            if memory.node is not None
        }

    def _judge(self, anchor: str) -> Standing:
        key, _, digest = anchor.partition("@")
        node = self._graph.node(key)
        if node is not None and (not digest or node.digest == digest):
            return _VALID
        elsewhere = [other for other in self._graph.hashed([digest]) if other.key != key] if digest else []
        if len(elsewhere) == 1:
            return Standing("moved", f"{key} is {elsewhere[0].key} now")
        if node is not None:
            return Standing("stale", f"{key} was changed since", ANCHOR_CHANGED)
        return Standing("stale", f"{key} is gone", ANCHOR_GONE)


def anchor_draft(draft: Draft, graph: Graph) -> Draft:
    """A draft about a symbol, tied to the symbol's text as it is now. One about something unknown stays as it is."""
    if not draft.node or "@" in draft.node or draft.kind == "passage":
        return draft
    from recollect.core.errors import NotFound

    try:
        node = next(iter(locate_nodes(graph, draft.node).values()))
    except NotFound:
        return draft
    files = draft.files if not node.file or node.file in draft.files else (*draft.files, node.file)
    return replace(draft, node=f"{node.key}@{node.digest}" if node.digest else node.key, files=files)
