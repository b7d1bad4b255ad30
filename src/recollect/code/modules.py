"""The module map: which folders hold what, what each needs, how they lie above one another, where programs begin.

Derived from the graph alone. Layers are by depth of dependence: what nothing needs is on top; a circle is one layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.code.impact import is_test
from recollect.store.graph import Node
from recollect.store.store import Store

_ROLES = {
    "interface": ("cli", "api", "routes", "views", "controllers", "handlers", "web", "http", "ui", "cmd", "bin"),
    "domain": ("core", "domain", "models", "entities", "lib", "pkg", "internal"),
    "data": ("db", "store", "storage", "persistence", "repositories", "migrations", "sql", "database"),
    "tests": ("test", "tests", "__tests__", "spec", "e2e", "testing"),
    "docs": ("docs", "doc", "examples", "example"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """One folder with source files directly in it."""

    path: str  # ends in "/", the root is "./"
    files: int
    symbols: int
    needs: tuple[tuple[str, float], ...]  # (module, weight), strongest first
    needed_by: tuple[str, ...]
    layer: int  # 0: needs nothing of the project
    role: str  # by its name; empty when the name tells nothing
    entries: tuple[str, ...]  # files where a program or a request begins


@dataclass(frozen=True, slots=True)
class ModuleMap:
    modules: tuple[Module, ...]
    languages: tuple[tuple[str, int], ...]
    files: int
    nodes: int
    edges: int


def module_map(store: Store) -> ModuleMap:
    """The map of what was indexed, top layer first."""
    graph = store.graph
    rows = {path: row for path, row in graph.files().items() if not row.reason}
    needs: dict[str, dict[str, float]] = {}
    for source, target, _, weight in graph.between_files():
        a, b = folder(source), folder(target)
        if a != b:
            needs.setdefault(a, {})[b] = needs.setdefault(a, {}).get(b, 0.0) + weight
    sizes: dict[str, int] = {}
    for path in rows:
        sizes[folder(path)] = sizes.get(folder(path), 0) + 1
    folders = sorted(sizes)
    layers = layered({one: sorted(needs.get(one, ())) for one in folders})
    symbols: dict[str, int] = {}
    for node in _symbols(store, list(rows)):
        symbols[folder(node.file)] = symbols.get(folder(node.file), 0) + 1
    entries = _entries(store, folders)
    needed_by: dict[str, list[str]] = {}
    for one, others in sorted(needs.items()):
        for other in others:
            needed_by.setdefault(other, []).append(one)
    modules = [
        Module(
            path=one,
            files=sizes[one],
            symbols=symbols.get(one, 0),
            needs=tuple(sorted(((m, round(w, 2)) for m, w in needs.get(one, {}).items()), key=lambda p: (-p[1], p[0]))),
            needed_by=tuple(needed_by.get(one, ())),
            layer=layers[one],
            role=role_of(one),
            entries=entries.get(one, ()),
        )
        for one in folders
    ]
    languages: dict[str, int] = {}
    for row in rows.values():
        languages[row.language] = languages.get(row.language, 0) + 1
    files, nodes, edges, _ = graph.counts()
    ranked = sorted(languages.items(), key=lambda item: (-item[1], item[0]))
    return ModuleMap(tuple(sorted(modules, key=lambda m: (-m.layer, m.path))), tuple(ranked), files, nodes, edges)


def folder(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head + slash or "./"


def role_of(path: str) -> str:
    parts = [part.lower() for part in path.strip("./").split("/")]
    if is_test(path):
        return "tests"
    for part in reversed(parts):
        for role, words in _ROLES.items():
            if part in words:
                return role
    return ""


def layered(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """For each name its height above those that need nothing; names in a circle share one. No recursion."""
    groups = _circles(needs)
    group_of = {name: number for number, group in enumerate(groups) for name in group}
    heights: dict[int, int] = {}
    for number, group in enumerate(groups):  # those that are needed come first
        below = [
            heights[group_of[o]]
            for name in group
            for o in needs.get(name, ())
            if o in group_of and group_of[o] != number
        ]
        heights[number] = 1 + max(below) if below else 0
    return {name: heights[number] for name, number in group_of.items()}


def _circles(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected names, the needed ones first (Tarjan's algorithm, with a stack of its own)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    groups: list[list[str]] = []
    for root in sorted(needs):
        work = [(root, iter(sorted(needs.get(root, ()))))] if root not in order else []
        while work:
            name, others = work[-1]
            if name not in order:
                order[name] = low[name] = len(order)
                stack.append(name)
                on_stack.add(name)
            following = next((o for o in others if o in needs and (o not in order or o in on_stack)), None)
            if following is not None and following not in order:
                work.append((following, iter(sorted(needs.get(following, ())))))
                continue
            if following is not None:
                low[name] = min(low[name], order[following])
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[name])
            if low[name] == order[name]:
                group: list[str] = []
                while not group or group[-1] != name:
                    group.append(stack.pop())
                    on_stack.discard(group[-1])
                groups.append(sorted(group))
    return groups


def _symbols(store: Store, files: Sequence[str]) -> list[Node]:
    return [node for node in store.graph.in_files(files).values() if node.type != "file"]


def _entries(store: Store, folders: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The files that begin something in each folder, by the semantic layer."""
    graph = store.graph
    ids = {id: key for key, id in graph.by_key(folders).items()}
    found: dict[str, list[str]] = {}
    touching = [(near, far) for near, far, type, _ in graph.into(list(ids)) if type == "is_entrypoint_for"]
    nodes = graph.nodes(far for _, far in touching)
    for near, far in touching:
        found.setdefault(ids[near], []).append(nodes[far].key)
    return {name: tuple(sorted(set(keys))) for name, keys in found.items()}
