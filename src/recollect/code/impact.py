"""What breaks if this changes, what it needs, where its data goes: walks over the graph, told for people.

Dependents of a node are the nodes that reach it: impact walks edges against their direction, deps and trace along it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from recollect.code.cochange import blend
from recollect.core.errors import AmbiguousNode, NodeNotFound
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.graph.walk import Walk, walk
from recollect.recall.reader import Reader
from recollect.store.graph import Graph, Node, Touching

DEPTH = 3  # edges: beyond, nearly everything depends on nearly everything
MAX_NODES = 200  # nodes of an answer; more is told as a number
MAX_MEMORIES = 20

Direction: TypeAlias = Literal["dependents", "dependencies", "flow"]

_FLOWS = frozenset({"calls", "flows_to"})
_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec|specs|e2e)/|(^|/)(test_[^/]*|conftest)\.py$|_test\.(go|py|rb|cc|cpp)$"
    r"|\.(test|spec)\.[cm]?[jt]sx?$|(^|/)[^/]*Tests?\.(java|cs)$|_spec\.rb$"
)


@dataclass(frozen=True, slots=True)
class Reached:
    """A node of an answer, with the way to it: each node and the type of edge that leads on towards the target."""

    node: str
    type: str
    file: str
    line: int
    depth: int
    strength: float  # what is left of a change after the way, from 0 to 1
    path: tuple[tuple[str, str], ...]  # (node, edge type), from the target's neighbour to this node


@dataclass(frozen=True, slots=True)
class ReachedFile:
    file: str
    depth: int
    strength: float
    test: bool


@dataclass(frozen=True, slots=True)
class Impact:
    """The answer. `left_out` counts what the cap kept out of the last level, so that a cut is always visible."""

    target: str
    direction: Direction
    depth: int
    nodes: tuple[Reached, ...]
    files: tuple[ReachedFile, ...]
    tests: tuple[str, ...]
    score: float  # the sum of the strengths
    left_out: int = 0
    memories: tuple[Memory, ...] = ()
    together: tuple[tuple[str, float, int], ...] = ()  # files that changed with it: (file, weight, commits)
    notes: tuple[str, ...] = field(default=())


def is_test(path: str) -> bool:
    return _TEST.search(path) is not None


def locate_nodes(graph: Graph, given: str) -> dict[int, Node]:
    """The nodes that `FILE` or `FILE:SYMBOL` means: the thing itself first, then all that is inside it."""
    key = given.strip().removeprefix("./").replace("\\", "/")
    found = graph.node(key)
    if found is None:
        found = _find_single(graph, given, key)
    if found.type == "file":
        inside = graph.in_files([found.key])
    elif found.type in ("external", "directory"):
        inside = graph.nodes(graph.by_key([found.key]).values())
    else:
        inside = {
            id: node
            for id, node in graph.in_files([found.file]).items()
            if node.key == found.key or node.key.startswith(f"{found.key}.")
        }
    return dict(sorted(inside.items(), key=lambda item: (item[1].key != found.key, item[0])))


def _find_single(graph: Graph, given: str, key: str) -> Node:
    """The one node whose key ends in what was given, at a boundary."""
    file, colon, symbol = key.rpartition(":") if ":" in key else (key, "", "")
    ending = [node for node in graph.ending_in(key) if _at_boundary(node.key, key)]
    if not ending and colon:  # a method without its class
        ending = [
            node
            for node in graph.named(symbol.rpartition(".")[2])
            if (node.file == file or node.file.endswith(f"/{file}")) and f".{node.key}".endswith(f".{symbol}")
        ]
    exact = [node for node in ending if node.type == "file"] if not colon else []
    chosen = exact if len(exact) == 1 else ending
    if len(chosen) == 1:
        return chosen[0]
    if chosen:
        raise AmbiguousNode(given, [node.key for node in chosen])
    raise NodeNotFound(given, [node.key for node in graph.named(symbol or key)][:3])


def _at_boundary(key: str, tail: str) -> bool:
    return key == tail or key[-len(tail) - 1] in "/:."


def find_reach(
    graph: Graph,
    given: str,
    *,
    direction: Direction = "dependents",
    depth: int = DEPTH,
    limit: int = MAX_NODES,
    minimum: float = 0.0,
    reader: Reader | None = None,
    indexing_since: str | None = None,
) -> Impact:
    """Walk from what `given` means and tell what was reached, nearest and strongest first; with the memories about it
    where a reader is given."""
    seeds = locate_nodes(graph, given)
    target = next(iter(seeds.values()))
    walked = walk(seeds, _links(graph, direction, minimum), depth=max(0, depth), limit=max(0, limit))
    nodes = {**seeds, **graph.nodes(step.node for step in walked.steps)}
    reached = tuple(_describe(walked, nodes))
    own = {node.file for node in seeds.values()}
    files = tuple(_by_file(reached, own))
    return Impact(
        target=target.key,
        direction=direction,
        depth=depth,
        nodes=reached,
        files=files,
        tests=tuple(affected.file for affected in files if affected.test),
        score=round(sum(one.strength for one in reached), 4),
        left_out=walked.left_out,
        memories=() if reader is None else attached_memories(reader, nodes.values(), own),
        together=tuple(graph.cochanged([target.file])[:10]) if direction == "dependents" and target.file else (),
        notes=_notes(graph, walked, indexing_since),
    )


def _links(graph: Graph, direction: Direction, minimum: float) -> Callable[[Sequence[int]], Iterable[Touching]]:
    if direction == "dependents":
        return lambda ids: graph.into(ids, least=minimum)
    if direction == "dependencies":
        return lambda ids: graph.out_of(ids, least=minimum)
    return lambda ids: [one for one in graph.out_of(ids, least=minimum) if one[2] in _FLOWS]


def _describe(walked: Walk[int], nodes: dict[int, Node]) -> Iterable[Reached]:
    ways: dict[int, tuple[tuple[str, str], ...]] = dict.fromkeys(walked.seeds, ())
    for step in walked.steps:
        node = nodes[step.node]
        ways[step.node] = (*ways[step.before], (node.key, step.type))
        yield Reached(node.key, node.type, node.file, node.start, step.depth, round(step.strength, 4), ways[step.node])


def _by_file(reached: Sequence[Reached], own: set[str]) -> list[ReachedFile]:
    best: dict[str, Reached] = {}
    for one in reached:
        known = best.get(one.file)
        if one.file and one.file not in own and (known is None or one.strength > known.strength):
            best[one.file] = one
    found = [ReachedFile(file, one.depth, one.strength, is_test(file)) for file, one in best.items()]
    return sorted(found, key=lambda one: (one.depth, -one.strength, one.file))


def attached_memories(reader: Reader, nodes: Iterable[Node], own: set[str]) -> tuple[Memory, ...]:
    """Memories about these nodes, those of the target's own files first; a memory about another symbol is left out."""
    keys = {node.key for node in nodes}
    files = sorted({node.file for node in nodes if node.file})
    kinds = frozenset(rule.name for rule in reader.kinds if rule.name != "passage")
    found: list[Memory] = []
    for start in range(0, len(files), MAX_NODES):
        some = frozenset(files[start : start + MAX_NODES])
        found += reader.list(Filter(files=some, kinds=kinds), limit=MAX_NODES).memories
    fitting = [one for one in found if one.node is None or one.node.partition("@")[0] in keys or one.node in files]
    fitting.sort(key=lambda one: (not own.intersection(one.files), -one.confidence, one.id))
    return tuple({one.id: one for one in fitting}.values())[:MAX_MEMORIES]


def _notes(graph: Graph, walked: Walk[int], indexing_since: str | None) -> tuple[str, ...]:
    notes = []
    if indexing_since:
        notes.append(f"indexing is in progress since {indexing_since}: the answer may be incomplete")
    if walked.left_out:
        notes.append(f"{walked.left_out} more at the last level, and what lies behind them, were left out")
    if stale := graph.stale():
        notes.append(f"{stale} edges are being read again and were left out")
    return tuple(notes)


# --- files that change together -------------------------------------------------------------------------------------

INDIRECT = 0.3  # what is left of a dependent's strength when it is not a direct one


def rank_related(graph: Graph, file: str, *, k: int) -> list[tuple[str, float]]:
    """Files likely to change with one, most likely first: by the past, the graph, and what is being worked on."""
    together = {other: weight for other, weight, _ in graph.cochanged([file])}
    changes, _ = graph.churn([file]).get(file, (0, 0.0))
    both = blend(graph_nearness(graph, file), together, graph.hot(), changes=changes)
    ranked = sorted(both.items(), key=lambda item: (-item[1], item[0]))
    return [(name, round(weight, 4)) for name, weight in ranked if name != file][:k]


def graph_nearness(graph: Graph, file: str) -> dict[str, float]:
    """How near other files are by the graph: those that depend on it, and those it needs."""
    up = find_reach(graph, file, direction="dependents", depth=2, limit=2 * MAX_NODES)
    down = find_reach(graph, file, direction="dependencies", depth=1, limit=2 * MAX_NODES)
    near = {
        affected.file: affected.strength if affected.depth == 1 else INDIRECT * affected.strength
        for affected in up.files
    }
    for one in down.files:
        near[one.file] = near.get(one.file, 0.0) + one.strength
    return near
