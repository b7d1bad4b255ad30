"""The module map: which folders hold what, what each needs, how they lie above one another, where programs begin.

Derived from the graph alone; a language model may add to it. Layers are by depth of dependence: what nothing needs is
on top; a circle is one layer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from recollect.code.impact import is_test
from recollect.code.resolve.edges import SEMANTIC, WEIGHTS
from recollect.core.tokens import estimate_tokens
from recollect.remember.writer import Writer
from recollect.store.graph import EdgeRow, Graph, Node

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel

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
    changes: int = 0  # commits that touched its files, as far back as the history was read


@dataclass(frozen=True, slots=True)
class ModuleMap:
    modules: tuple[Module, ...]
    languages: tuple[tuple[str, int], ...]
    files: int
    nodes: int
    edges: int


def module_map(graph: Graph) -> ModuleMap:
    """The map of what was indexed, top layer first."""
    rows = {path: row for path, row in graph.files().items() if not row.reason}
    needs: dict[str, dict[str, float]] = {}
    for source, target, _, weight in graph.between_files():
        a, b = module_path(source), module_path(target)
        if a != b:
            needs.setdefault(a, {})[b] = needs.setdefault(a, {}).get(b, 0.0) + weight
    sizes: dict[str, int] = {}
    for path in rows:
        sizes[module_path(path)] = sizes.get(module_path(path), 0) + 1
    folders = sorted(sizes)
    layers = assign_layers({folder: sorted(needs.get(folder, ())) for folder in folders})
    symbols: dict[str, int] = {}
    for node in _symbols(graph, list(rows)):
        symbols[module_path(node.file)] = symbols.get(module_path(node.file), 0) + 1
    entries = _entries(graph, folders)
    changes: Counter[str] = Counter()
    for path, (commits, _) in graph.churn(list(rows)).items():
        changes[module_path(path)] += commits
    needed_by: dict[str, list[str]] = {}
    for one, others in sorted(needs.items()):
        for other in others:
            needed_by.setdefault(other, []).append(one)
    modules = [
        Module(
            path=folder,
            files=sizes[folder],
            symbols=symbols.get(folder, 0),
            needs=tuple(
                sorted(((m, round(w, 2)) for m, w in needs.get(folder, {}).items()), key=lambda p: (-p[1], p[0]))
            ),
            needed_by=tuple(needed_by.get(folder, ())),
            layer=layers[folder],
            role=role_of(folder),
            entries=entries.get(folder, ()),
            changes=changes[folder],
        )
        for folder in folders
    ]
    languages: dict[str, int] = {}
    for row in rows.values():
        languages[row.language] = languages.get(row.language, 0) + 1
    files, nodes, edges, _ = graph.counts()
    ranked = sorted(languages.items(), key=lambda item: (-item[1], item[0]))
    return ModuleMap(tuple(sorted(modules, key=lambda m: (-m.layer, m.path))), tuple(ranked), files, nodes, edges)


def module_path(path: str) -> str:
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


def assign_layers(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """For each name its height above those that need nothing; names in a circle share one. No recursion."""
    groups = _cycles(needs)
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


def _cycles(needs: Mapping[str, Sequence[str]]) -> list[list[str]]:
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


def _symbols(graph: Graph, files: Sequence[str]) -> list[Node]:
    return [node for node in graph.in_files(files).values() if node.type != "file"]


def _entries(graph: Graph, folders: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The files that begin something in each folder, by the semantic layer."""
    ids = {id: key for key, id in graph.by_key(folders).items()}
    found: dict[str, list[str]] = {}
    touching = [(near, far) for near, far, type, _ in graph.into(list(ids)) if type == "is_entrypoint_for"]
    nodes = graph.nodes(far for _, far in touching)
    for near, far in touching:
        found.setdefault(ids[near], []).append(nodes[far].key)
    return {name: tuple(sorted(set(keys))) for name, keys in found.items()}


# --- the semantic layer by a language model -------------------------------------------------------------------------

MOST_NODES = 120  # of one module shown to the model
MOST_USES = 200
ANSWER = 1_500  # tokens of one answer
SUREST = 0.8  # a model is never as sure as a parser


@dataclass(frozen=True, slots=True)
class Analysed:
    """What a run over the modules gave."""

    modules: int
    edges: int
    refused: int  # answers about nodes or types that do not exist
    tokens: int  # spent, estimated
    left: int  # modules the budget did not reach


def analyse_modules(graph: Graph, writer: Writer, model: LanguageModel, *, budget: int) -> Analysed:
    """Ask the model about each module, the most depended on first, until the budget (tokens) is spent.

    Without a model the layer holds only what custom tells (see `resolve/edges`). What a model says about nodes that do
    not exist is dropped and counted.
    """
    prompt = (files("recollect.code") / "prompts" / "semantic.txt").read_text("utf-8")
    todo = _rank_modules(module_map(graph))
    edges = refused = spent = done = 0
    for path in todo:
        asked = _build_prompt(graph, path, prompt)
        cost = estimate_tokens(asked) + ANSWER
        if spent + cost > budget:
            break
        answer = model.text(asked, max_tokens=ANSWER).text
        spent += estimate_tokens(asked) + estimate_tokens(answer)
        kept, dropped = _write_relations(graph, writer, answer)
        edges, refused, done = edges + kept, refused + dropped, done + 1
    return Analysed(done, edges, refused, spent, len(todo) - done)


def _rank_modules(map: ModuleMap) -> list[str]:
    fitting = [module for module in map.modules if module.role not in ("tests", "docs")]
    return [one.path for one in sorted(fitting, key=lambda one: (-len(one.needed_by), one.path))]


def _build_prompt(graph: Graph, path: str, prompt: str) -> str:
    paths = [file for file, row in graph.files().items() if module_path(file) == path and not row.reason]
    nodes = dict(list(graph.in_files(paths).items())[:MOST_NODES])
    uses = [one for one in graph.out_of(sorted(nodes)) if one[1] in nodes][:MOST_USES]
    listed = "\n".join(f"{node.key} ({node.type})" for node in nodes.values())
    used = "\n".join(f"{nodes[near].key} {type} {nodes[far].key}" for near, far, type, _ in uses)
    return prompt.replace("{module}", path).replace("{nodes}", listed).replace("{uses}", used)


def _write_relations(graph: Graph, writer: Writer, answer: str) -> tuple[int, int]:
    """Write the relations that name real nodes; how many were, and how many were refused."""
    said = list(_read_relations(answer))
    numbers = graph.by_key({key for source, _, target, _ in said for key in (source, target)})
    good = [
        EdgeRow(source, target, type, WEIGHTS[type], min(SUREST, confidence), "semantic", "llm")
        for source, type, target, confidence in said
        if type in SEMANTIC and source in numbers and target in numbers and source != target
    ]
    owner = graph.by_key([one.source.partition(":")[0] for one in good])
    with writer.transaction():
        graph.put_edges(good, [owner.get(one.source.partition(":")[0], 0) for one in good], numbers)
    return len(good), len(said) - len(good)


def _read_relations(answer: str) -> Iterator[tuple[str, str, str, float]]:
    for line in answer.splitlines()[:50]:
        try:
            value = json.loads(line)
            confidence = float(value.get("confidence", 0.5))
            yield str(value["source"]), str(value["type"]), str(value["target"]), max(0.0, min(1.0, confidence))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            continue
