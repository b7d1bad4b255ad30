"""The semantic layer by a language model: one module's subgraph in, relations out, each checked against the graph.

Without a model the layer holds only what custom tells (see `resolve/calls`). A model is asked within a budget, and what
it says about nodes that do not exist is dropped and counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from recollect.code.modules import ModuleMap, folder, module_map
from recollect.code.weights import SEMANTIC, WEIGHTS
from recollect.store.graph import EdgeRow
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel

MOST_NODES = 120  # of one module shown to the model
MOST_USES = 200
ANSWER = 1_500  # tokens of one answer
SUREST = 0.8  # a model is never as sure as a parser
_LETTERS = 4  # characters of a token, roughly


@dataclass(frozen=True, slots=True)
class Analysed:
    """What a run over the modules gave."""

    modules: int
    edges: int
    refused: int  # answers about nodes or types that do not exist
    tokens: int  # spent, estimated
    left: int  # modules the budget did not reach


def analyse(store: Store, model: LanguageModel, *, budget: int) -> Analysed:
    """Ask the model about each module, the most depended on first, until the budget (tokens) is spent."""
    prompt = (files("recollect.code") / "prompts" / "semantic.txt").read_text("utf-8")
    todo = _order(module_map(store))
    edges = refused = spent = done = 0
    for path in todo:
        asked = _asked(store, path, prompt)
        cost = len(asked) // _LETTERS + ANSWER
        if spent + cost > budget:
            break
        answer = model.text(asked, most=ANSWER).text
        spent += len(asked) // _LETTERS + len(answer) // _LETTERS
        kept, dropped = _kept(store, path, answer)
        edges, refused, done = edges + kept, refused + dropped, done + 1
    return Analysed(done, edges, refused, spent, len(todo) - done)


def _order(map: ModuleMap) -> list[str]:
    fitting = [one for one in map.modules if one.role not in ("tests", "docs")]
    return [one.path for one in sorted(fitting, key=lambda one: (-len(one.needed_by), one.path))]


def _asked(store: Store, path: str, prompt: str) -> str:
    graph = store.graph
    paths = [file for file, row in graph.files().items() if folder(file) == path and not row.reason]
    nodes = dict(list(graph.in_files(paths).items())[:MOST_NODES])
    uses = [one for one in graph.out_of(sorted(nodes)) if one[1] in nodes][:MOST_USES]
    listed = "\n".join(f"{node.key} ({node.type})" for node in nodes.values())
    used = "\n".join(f"{nodes[near].key} {type} {nodes[far].key}" for near, far, type, _ in uses)
    return prompt.replace("{module}", path).replace("{nodes}", listed).replace("{uses}", used)


def _kept(store: Store, path: str, answer: str) -> tuple[int, int]:
    """Write the relations that name real nodes; how many were, and how many were refused."""
    graph = store.graph
    said = list(_said(answer))
    numbers = graph.by_key({key for source, _, target, _ in said for key in (source, target)})
    good = [
        EdgeRow(source, target, type, WEIGHTS[type], min(SUREST, confidence), "semantic", "llm")
        for source, type, target, confidence in said
        if type in SEMANTIC and source in numbers and target in numbers and source != target
    ]
    owner = graph.by_key([one.source.partition(":")[0] for one in good])
    with store.engine.write():
        graph.put_edges(good, [owner.get(one.source.partition(":")[0], 0) for one in good], numbers)
    return len(good), len(said) - len(good)


def _said(answer: str) -> Iterator[tuple[str, str, str, float]]:
    for line in answer.splitlines()[:50]:
        try:
            value = json.loads(line)
            confidence = float(value.get("confidence", 0.5))
            yield str(value["source"]), str(value["type"]), str(value["target"]), max(0.0, min(1.0, confidence))
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
