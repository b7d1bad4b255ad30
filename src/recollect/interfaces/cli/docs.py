"""`recollect docs`: index, search, related, list, gc and check documents."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from recollect.core.text import excerpt
from recollect.interfaces.cli.console import FINE, FOUND, Console, given_text, open_from

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.documents.check import Checked

_SHOWN = 20  # skipped files that are spelled out


def arguments_docs(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    index = actions.add_parser("index", help="bring documents in step with their files")
    index.add_argument(
        "roots", nargs="*", metavar="ROOT", help="directories (default: as configured, else the project)"
    )
    index.add_argument("--full", action="store_true", help="trust no time stamp, hash every file")
    index.add_argument("--pruned", action="store_true", help="take back what gc had pruned")
    find = actions.add_parser("search", help="the best passages for a question")
    find.add_argument("text", nargs="*", help="the question; read from stdin when absent or -")
    find.add_argument("--mode", default="hybrid", help="hybrid, keyword or vector (default hybrid)")
    find.add_argument("--limit", "-k", type=int, default=10, metavar="N", help="at most this many (default 10)")
    find.add_argument("--label", help="only documents of this label")
    find.add_argument("--type", help="only semantic or procedural documents")
    find.add_argument(
        "--max-chunks-per-doc", type=int, default=1, metavar="N", help="passages of one document (default 1)"
    )
    find.add_argument("--no-dedupe", action="store_true", help="as many passages of a document as match")
    find.add_argument("--no-track", action="store_true", help="do not count the access")
    find.add_argument("--explain", action="store_true", help="show what made each score")
    related = actions.add_parser("related", help="what was found together with a document")
    related.add_argument("path", metavar="PATH", help="the document")
    related.add_argument("--limit", "-k", type=int, default=5, metavar="N", help="at most this many (default 5)")
    listing = actions.add_parser("list", help="the documents that are indexed")
    listing.add_argument("--label", help="only of this label")
    listing.add_argument("--type", help="only of this type")
    gc = actions.add_parser("gc", help="drop repeated passages, prune documents nobody needs")
    gc.add_argument("--dry-run", action="store_true", help="tell what would go, and why")
    check = actions.add_parser("check", help="contradictions and broken links; exit code 1 when something is found")
    check.add_argument("change", nargs="?", metavar="CHANGE", help="a change: its directory or name (default: all)")
    check.add_argument("--between", nargs="+", default=[], metavar="PATH", help="compare these documents instead")
    check.add_argument("--detector", help="opposition, lexical or model (default: as configured)")


def run_docs(args: argparse.Namespace, console: Console) -> int:
    run = {
        "index": _index, "search": _search, "related": _related, "list": _list, "gc": _gc, "check": _check,
    }[args.action]  # fmt: skip
    with open_from(args, create=args.action == "index") as memory:
        return run(memory, args, console)


def _index(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    try:
        summary = memory.docs.index(
            args.roots,
            full=args.full,
            pruned=args.pruned,
            progress=lambda done, total: console.progress("indexed", done, total),
        )
    finally:
        console.progress_done()
    if console.json:
        console.value(
            {
                "added": summary.added,
                "updated": summary.updated,
                "removed": summary.removed,
                "unchanged": summary.unchanged,
                "moved": [{"from": one, "to": other} for one, other in summary.moved],
                "relabelled": summary.relabelled,
                "passages": summary.passages,
                "redacted": summary.redacted,
                "skipped": [{"path": one.relative, "reason": one.reason} for one in summary.skipped],
                "simplified": [{"path": one.relative, "reason": one.reason} for one in summary.simplified],
            }
        )
        return FINE
    console.line(
        f"{summary.added} added, {summary.updated} updated, {summary.removed} removed, {summary.unchanged} unchanged."
    )
    for one, other in summary.moved:
        console.line(f"  moved {one} → {other}")
    for skipped in summary.skipped[:_SHOWN]:
        console.line(f"  skipped {skipped.relative}: {skipped.reason}")
    if len(summary.skipped) > _SHOWN:
        console.line(f"  and {len(summary.skipped) - _SHOWN} more were skipped")
    for one_part in summary.simplified[:_SHOWN]:
        console.line(f"  simplified {one_part.relative}: {one_part.reason}")
    if len(summary.simplified) > _SHOWN:
        console.line(f"  and {len(summary.simplified) - _SHOWN} more parts were simplified")
    if summary.redacted:
        console.line(f"  secrets were taken out of {summary.redacted} documents")
    return FINE


def _search(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    from recollect.interfaces.payloads.rooms import matches_json

    found = memory.docs.search(
        given_text(args.text, "question"),
        mode=args.mode,
        limit=args.limit,
        max_per_document=None if args.no_dedupe else args.max_chunks_per_doc,
        label=args.label,
        type=args.type,
        track=not args.no_track,
    )
    if console.json:
        console.value(matches_json(found))
        return FINE
    for number, match in enumerate(found.matches, start=1):
        first, last = match.passage.attributes.get("lines", (0, 0))
        where = match.passage.span.context if match.passage.span else match.document.title
        console.line(f"{number}. {match.document.path}:{first}-{last}  [{match.document.label}]  {match.score:.3f}")
        console.line(f"   {where}")
        console.line(f"   {excerpt(match.passage.content, 200)}")
        if args.explain:
            console.line(
                f"   relevance {match.relevance:.3f} · confidence {match.confidence:.2f} · rank {match.rank:.2f}"
                f" · {'; '.join(match.reasons)}"
            )
    if not found.matches:
        console.line("No document says anything about that.")
    for note in found.notes:
        console.note(f"  ({note})")
    return FINE


def _related(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    from recollect.interfaces.payloads.rooms import document_json

    related = memory.docs.related(args.path, limit=args.limit)
    if console.json:
        console.value(
            [
                {"count": one.count, "last": one.last.isoformat(), "document": document_json(one.document)}
                for one in related
            ]
        )
        return FINE
    for one in related:
        console.line(f"{one.count:>4} ×  {one.document.path}  (last {one.last:%Y-%m-%d})")
    if not related:
        console.line("Nothing was found together with it yet.")
    return FINE


def _list(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    from recollect.interfaces.payloads.rooms import document_json

    documents = memory.docs.list(label=args.label, type=args.type)
    if console.json:
        console.value([document_json(document) for document in documents])
        return FINE
    for document in documents:
        console.line(
            f"{document.path}  [{document.label}, {document.type}]  {document.passages} passages,"
            f" confidence {document.confidence:.2f}"
        )
    console.line(f"{len(documents)} documents.")
    return FINE


def _gc(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    try:
        planned = memory.docs.gc(
            dry_run=args.dry_run, progress=lambda done, total: console.progress("collected", done, total)
        )
    finally:
        console.progress_done()
    if console.json:
        console.value(
            {
                "dry_run": args.dry_run,
                "repeats": [
                    {"passage": one.passage, "document": one.document, "of": one.of, "reason": one.reason}
                    for one in planned.repeats
                ],
                "stale": [{"path": one.document.path, "reason": one.reason} for one in planned.stale],
                "notes": list(planned.notes),
            }
        )
        return FINE
    if args.dry_run:
        for repeat in planned.repeats:
            console.line(f"would drop {repeat.passage} of {repeat.document}: {repeat.reason}")
        for old in planned.stale:
            console.line(f"would prune {old.document.path}: {old.reason}")
    done = "would go" if args.dry_run else "gone"
    console.line(f"{len(planned.repeats)} repeated passages and {len(planned.stale)} documents {done}.")
    for note in planned.notes:
        console.note(f"  ({note})")
    return FINE


def _check(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    checked = memory.docs.check(args.change, between=args.between, detector=args.detector)
    if console.json:
        from recollect.interfaces.payloads.rooms import checked_json

        console.value(checked_json(checked))
    else:
        _tell(checked, console)
    return FINE if checked.ok else FOUND


def _tell(checked: Checked, console: Console) -> None:
    for conflict in checked.conflicts:
        console.line(
            f"{conflict.judgement.level}  {conflict.claim.path}:{conflict.claim.line}  {conflict.claim.name}".rstrip()
        )
        console.line(f"        {excerpt(conflict.claim.text, 160)}")
        console.line(f"    ↔ {conflict.known.path}:{conflict.known.line}  {conflict.known.name}".rstrip())
        console.line(f"        {excerpt(conflict.known.text, 160)}")
        console.line(f"        {conflict.judgement.score:.2f}: {'; '.join(conflict.judgement.reasons)}")
    for link in checked.broken:
        console.line(f"link  {link.path}:{link.line}  {link.target}: {link.problem}")
    console.line(
        f"{len(checked.conflicts)} contradictions in {checked.pairs:,} pairs, "
        f"{len(checked.broken)} broken of {checked.links:,} links."
    )
    for note in checked.notes:
        console.note(f"  ({note})")
