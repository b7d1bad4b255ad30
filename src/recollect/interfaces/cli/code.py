"""`recollect code …`: index the source, ask what breaks, what is needed, where data goes; the map; search; watch."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from recollect.app import Recollect
from recollect.interfaces.cli.console import FINE, Console, open_from
from recollect.interfaces.payloads.rooms import code_hit_json, impact_json, map_json

if TYPE_CHECKING:
    from recollect.code.index import Indexed

_SHOWN = 30  # lines of one list for people
_SKIPPED = 5


def arguments_code(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    index = actions.add_parser("index", help="read the source tree; only what changed, unless --full")
    watch = actions.add_parser("watch", help="index, then again whenever files change")
    for one in (index, watch):
        one.add_argument("root", nargs="?", metavar="DIR", help="the directory (default: the project)")
    index.add_argument("--full", action="store_true", help="read every file again")
    index.add_argument("--no-passages", action="store_true", help="only the graph, nothing to search in")
    index.add_argument("--semantic", action="store_true", help="then let the configured language model add relations")
    index.add_argument("--scip", metavar="FILE", help="then let this SCIP index confirm and complete the edges")
    for name, line in (
        ("impact", "what breaks if this changes"),
        ("deps", "what this needs"),
        ("trace", "where data goes from here: calls and flows"),
    ):
        one = actions.add_parser(name, help=line)
        one.add_argument("target", metavar="FILE[:SYMBOL]", help="the end of a path suffices")
        one.add_argument("--depth", type=int, default=3, metavar="N", help="how many edges far (default: 3)")
        one.add_argument("--most", type=int, default=200, metavar="N", help="at most this many nodes (default: 200)")
        one.add_argument("--least", type=float, default=0.0, metavar="0-1", help="leave out edges less sure than this")
    actions.add_parser("map", help="folders, what they need, their layers, where programs begin")
    search = actions.add_parser("search", help="passages of source code for a question")
    search.add_argument("text", nargs="+", help="the question")
    search.add_argument("-k", type=int, default=8, metavar="N", help="how many (default: 8)")


def run_code(args: argparse.Namespace, console: Console) -> int:
    with open_from(args, create=args.action in ("index", "watch")) as memory:
        match args.action:
            case "index":
                return _index(args, memory, console)
            case "watch":
                return _watch(args, memory, console)
            case "map":
                return _map(memory, console)
            case "search":
                return _search(args, memory, console)
            case _:
                return _reach(args, memory, console)


def _index(args: argparse.Namespace, memory: Recollect, console: Console) -> int:
    done = memory.code.index(
        args.root,
        full=args.full,
        passages=not args.no_passages,
        progress=lambda stage, count, total: console.progress(f"files {stage}", count, total),
    )
    console.progress_done()
    scip = memory.code.import_scip(args.scip) if args.scip else None
    told = memory.code.analyse() if args.semantic else None
    files, nodes, edges = memory.code.counts()
    if console.json:
        value = {**_indexed_json(done), "files": files, "nodes": nodes, "edges": edges}
        if scip is not None:
            value["scip"] = {"confirmed": scip.confirmed, "added": scip.added, "dropped": scip.dropped}
        if told is not None:
            value["semantic"] = {
                "modules": told.modules,
                "edges": told.edges,
                "refused": told.refused,
                "left": told.left,
            }
        console.value(value)
        return FINE
    _tell(done, console)
    console.line(f"{files} files, {nodes} nodes, {edges} edges.")
    if scip is not None:
        console.line(f"SCIP: {scip.confirmed} edges confirmed, {scip.added} added, {scip.dropped} guesses dropped.")
    if told is not None:
        console.line(
            f"Model: {told.edges} relations in {told.modules} modules, {told.refused} refused, {told.left} left."
        )
    return FINE


def _tell(done: Indexed, console: Console) -> None:
    console.line(
        f"{len(done.added)} added, {len(done.updated)} updated, {len(done.removed)} removed, "
        f"{done.unchanged} unchanged; {done.passages} new passages."
    )
    for before, after in done.renamed[:_SHOWN]:
        console.line(f"  renamed: {before} → {after}")
    for file, why in done.skipped[:_SKIPPED]:
        console.note(f"  left out: {file}: {why}")
    if len(done.skipped) > _SKIPPED:
        console.note(f"  … and {len(done.skipped) - _SKIPPED} more (--json lists all)")


def _watch(args: argparse.Namespace, memory: Recollect, console: Console) -> int:
    for done in memory.code.watch(args.root):
        if console.json:
            console.value(_indexed_json(done))
        else:
            _tell(done, console)
    return FINE


def _reach(args: argparse.Namespace, memory: Recollect, console: Console) -> int:
    ask = {"impact": memory.code.impact, "deps": memory.code.deps, "trace": memory.code.trace}[args.action]
    found = ask(args.target, depth=args.depth, limit=args.most, minimum=args.least)
    if console.json:
        console.value(impact_json(found))
        return FINE
    what = {"dependents": "depend on", "dependencies": "are needed by", "flow": "are reached from"}[found.direction]
    console.line(
        f"{len(found.nodes)} nodes in {len(found.files)} files {what} {found.target} (score {found.score:.2f})"
    )
    for one in found.nodes[:_SHOWN]:
        line = f":{one.line}" if one.line else ""
        way = " ← ".join(f"{type} {node}" for node, type in one.path[:-1]) if len(one.path) > 1 else ""
        console.line(f"  {one.depth}  {one.strength:.2f}  {one.path[-1][1]:<10} {one.node}{line}  {way}".rstrip())
    if len(found.nodes) > _SHOWN:
        console.line(f"  … and {len(found.nodes) - _SHOWN} more (--json lists all)")
    if found.tests:
        console.line(f"tests: {', '.join(found.tests[:_SHOWN])}")
    if found.together:
        console.line("changed together: " + ", ".join(f"{file} ({times}×)" for file, _, times in found.together[:5]))
    for memory_ in found.memories:
        console.line(f"  [{memory_.kind}] {memory_.content.splitlines()[0][:100]}  ({memory_.id})")
    for note in found.notes:
        console.note(f"  → {note}")
    return FINE


def _map(memory: Recollect, console: Console) -> int:
    found = memory.code.map()
    if console.json:
        console.value(map_json(found))
        return FINE
    console.line(", ".join(f"{count} {language}" for language, count in found.languages))
    for module in found.modules:
        needs = ", ".join(name for name, _ in module.needs[:4])
        role = f" [{module.role}]" if module.role else ""
        console.line(f"{module.layer:>3}  {module.path}{role}  {module.files} files  → {needs or 'nothing'}")
        for entry in module.entries[:3]:
            console.line(f"       begins: {entry}")
    return FINE


def _search(args: argparse.Namespace, memory: Recollect, console: Console) -> int:
    hits = memory.code.search(" ".join(args.text), k=args.k)
    if console.json:
        console.value([code_hit_json(hit) for hit in hits])
        return FINE
    for hit in hits:
        span = hit.memory.span
        lines = f":{span.start}-{span.end}" if span else ""
        console.line(f"{hit.score:.3f}  {hit.memory.node}{lines}")
        first = next((line.strip() for line in hit.memory.content.splitlines() if line.strip()), "")
        console.line(f"       {first[:100]}")
    if not hits:
        console.line("Nothing found.")
    return FINE


def _indexed_json(done: Indexed) -> dict[str, Any]:
    return {
        "added": list(done.added),
        "updated": list(done.updated),
        "removed": list(done.removed),
        "renamed": [{"from": before, "to": after} for before, after in done.renamed],
        "unchanged": done.unchanged,
        "resolved": done.resolved,
        "passages": done.passages,
        "skipped": [{"file": file, "why": why} for file, why in done.skipped],
    }
