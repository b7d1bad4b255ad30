"""The graph in recall: memories about the files in play and their neighbours, and the neighbourhood for the boost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from recollect.core.query import Candidate, Filter, Query, Reading
from recollect.core.records import Memory
from recollect.store.store import Store

TOGETHER = 0.25  # weight from which on files that change together count as neighbours
_MOST_FILES = 40  # files in play, and neighbours of them, that are looked at
_NEXT = 0.4  # how much a neighbour of a file in play counts beside the file itself
_MOST_NAMES = 5  # names in a question that are looked up in the graph
_RECENT = 5  # memories whose files are in play when a structural question names none


class CodeNeighbourhood:
    """Files one edge away, or that change together."""

    def __init__(self, store: Store) -> None:
        self._graph = store.graph

    def neighbours(self, files: Sequence[str]) -> list[str]:
        wanted = list(dict.fromkeys(files))[:_MOST_FILES]
        near = dict.fromkeys(self._graph.beside(wanted))
        near |= dict.fromkeys(path for path, weight, _ in self._graph.cochanged(wanted) if weight >= TOGETHER)
        return [path for path in near if path not in wanted]


class CodeCompanions:
    """Files that were committed together: what is known of co-access before anyone was watched."""

    def __init__(self, store: Store) -> None:
        self._graph = store.graph

    def companions(self, files: Sequence[str]) -> dict[str, float]:
        wanted = list(dict.fromkeys(files))[:_MOST_FILES]
        return {path: weight for path, weight, _ in self._graph.cochanged(wanted) if path not in wanted}


class CodeVolatility:
    """How often files changed lately, by their commits."""

    def __init__(self, store: Store) -> None:
        self._graph = store.graph

    def rates(self, files: Sequence[str]) -> dict[str, float]:
        return {path: rate for path, (_, rate) in self._graph.churn(list(dict.fromkeys(files))).items()}


class GraphChannel:
    """Candidates by where they are: first what is said about the files in play, then about their neighbours.

    In play are the files of the query, those its words name (a path or a symbol), and, for a structural question that
    names none, those of the memories used last. Source code itself is left to the other channels.
    """

    name = "graph"

    def __init__(self, store: Store, *, depth: int) -> None:
        self._store = store
        self._depth = depth
        self._neighbourhood = CodeNeighbourhood(store)

    def candidates(self, query: Query, reading: Reading) -> list[Candidate]:
        files = self._in_play(query, reading)
        if not files:
            return []
        found = self._about(files, query.filter, "about a file in play", 1.0)
        if len(found) < self._depth:
            near = self._neighbourhood.neighbours(files)[:_MOST_FILES]
            known = {one.id for one in found}
            found += [one for one in self._about(near, query.filter, "one edge away", _NEXT) if one.id not in known]
        return found[: self._depth]

    def _in_play(self, query: Query, reading: Reading) -> list[str]:
        graph = self._store.graph
        files = list(query.files)
        for name in reading.identifiers[:_MOST_NAMES]:
            bare = name.rstrip("()").replace("::", ".")
            files += [node.file for node in graph.named(bare.rpartition(".")[2])[:3] if node.file]
            files += [node.file for node in graph.ending_in(bare)[:1] if node.type == "file" and "/" in bare]
        if not files and reading.type == "structural":
            page = self._store.memories.page(query.filter, order="accessed", limit=_RECENT)
            files = [file for memory in page.memories for file in memory.files]
        return list(dict.fromkeys(files))[:_MOST_FILES]

    def _about(self, files: Sequence[str], filter: Filter, why: str, strength: float) -> list[Candidate]:
        kinds = filter.kinds or frozenset(rule.name for rule in self._store.kinds if rule.name != "passage")
        if not files or kinds == {"passage"} or (filter.files and not filter.files.intersection(files)):
            return []
        chosen = filter.files.intersection(files) or frozenset(files)
        page = self._store.memories.page(replace(filter, files=frozenset(chosen), kinds=kinds), limit=4 * self._depth)
        return [
            Candidate(memory.id, memory=memory, reasons=(why,), factors={"graph": strength})
            for memory in _ordered(page.memories, files)
        ]


def _ordered(memories: Iterable[Memory], files: Sequence[str]) -> list[Memory]:
    place = {file: number for number, file in enumerate(files)}
    return sorted(memories, key=lambda one: (min(place.get(f, len(files)) for f in one.files), -one.confidence, one.id))
