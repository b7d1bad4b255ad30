"""What breaks if this changes, what it needs, where its data goes: walks over the graph, told for people.

Dependents of a node are the nodes that reach it: impact walks edges against their direction, deps and trace along it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from recollect.core.errors import AmbiguousNode, CodeNotIndexed, NodeNotFound
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.graph.walk import Walk, walk
from recollect.store.graph import Graph, Node, Touching
from recollect.store.store import Store

DEPTH = 3  # edges: beyond, nearly everything depends on nearly everything
MOST = 200  # nodes of an answer; more is told as a number
MOST_MEMORIES = 20

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


def locate(graph: Graph, given: str) -> dict[int, Node]:
    """The nodes that `FILE` or `FILE:SYMBOL` means: the thing itself first, then all that is inside it."""
    key = given.strip().removeprefix("./").replace("\\", "/")
    found = graph.node(key)
    if found is None:
        found = _only(graph, given, key)
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


def _only(graph: Graph, given: str, key: str) -> Node:
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


def reach(
    store: Store,
    given: str,
    *,
    direction: Direction = "dependents",
    depth: int = DEPTH,
    most: int = MOST,
    least: float = 0.0,
    memories: bool = True,
) -> Impact:
    """Walk from what `given` means and tell what was reached, nearest and strongest first."""
    graph = store.graph
    if not store.has_code():
        raise CodeNotIndexed(since=store.meta("code-indexing"))
    seeds = locate(graph, given)
    target = next(iter(seeds.values()))
    walked = walk(seeds, _links(graph, direction, least), depth=max(0, depth), most=max(0, most))
    nodes = {**seeds, **graph.nodes(step.node for step in walked.steps)}
    reached = tuple(_told(walked, nodes))
    own = {node.file for node in seeds.values()}
    files = tuple(_by_file(reached, own))
    return Impact(
        target=target.key,
        direction=direction,
        depth=depth,
        nodes=reached,
        files=files,
        tests=tuple(one.file for one in files if one.test),
        score=round(sum(one.strength for one in reached), 4),
        left_out=walked.left_out,
        memories=attached(store, nodes.values(), own) if memories else (),
        together=tuple(graph.cochanged([target.file])[:10]) if direction == "dependents" and target.file else (),
        notes=_notes(store, walked),
    )


def _links(graph: Graph, direction: Direction, least: float) -> Callable[[Sequence[int]], Iterable[Touching]]:
    if direction == "dependents":
        return lambda ids: graph.into(ids, least=least)
    if direction == "dependencies":
        return lambda ids: graph.out_of(ids, least=least)
    return lambda ids: [one for one in graph.out_of(ids, least=least) if one[2] in _FLOWS]


def _told(walked: Walk[int], nodes: dict[int, Node]) -> Iterable[Reached]:
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


def attached(store: Store, nodes: Iterable[Node], own: set[str]) -> tuple[Memory, ...]:
    """Memories about these nodes, those of the target's own files first; a memory about another symbol is left out."""
    keys = {node.key for node in nodes}
    files = sorted({node.file for node in nodes if node.file})
    kinds = frozenset(rule.name for rule in store.kinds if rule.name != "passage")
    found: list[Memory] = []
    for start in range(0, len(files), MOST):
        some = frozenset(files[start : start + MOST])
        found += store.memories.page(Filter(files=some, kinds=kinds), limit=MOST).memories
    fitting = [one for one in found if one.node is None or one.node.partition("@")[0] in keys or one.node in files]
    fitting.sort(key=lambda one: (not own.intersection(one.files), -one.confidence, one.id))
    return tuple({one.id: one for one in fitting}.values())[:MOST_MEMORIES]


def _notes(store: Store, walked: Walk[int]) -> tuple[str, ...]:
    notes = []
    if since := store.meta("code-indexing"):
        notes.append(f"indexing is in progress since {since}: the answer may be incomplete")
    if walked.left_out:
        notes.append(f"{walked.left_out} more at the last level, and what lies behind them, were left out")
    if stale := store.graph.stale():
        notes.append(f"{stale} edges are being read again and were left out")
    return tuple(notes)
