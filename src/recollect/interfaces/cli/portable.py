"""Commands for what goes out and comes in: export, import (exports, other programs, chats, rules files) and migrate."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField
from recollect.core.query import ANY_USER
from recollect.core.scope import Status
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import (
    FINE,
    FOUND,
    Console,
    filter_arguments,
    filter_from,
    note_agent,
    open_from,
    require_files,
    require_person,
    speaks_as_person,
)
from recollect.portable.package import ExportFile, is_encrypted, is_export, require_whole_zip
from recollect.wiring import MEMORY, locate

if TYPE_CHECKING:
    from recollect.core.query import Filter
    from recollect.documents.guidance.teach import Lesson, Taught
    from recollect.portable.export import ExportReport
    from recollect.portable.move import MoveReport
    from recollect.portable.take_in import ImportReport

_PASSPHRASE = "RECOLLECT_PASSPHRASE"
_SUFFIXES = {".zip": "archive", ".jsonl": "jsonl", ".ndjson": "jsonl"}
_CHATS = ("chatgpt", "claude", "chat")
_DETAILS = 20  # lines about single memories that are printed

# --- export -----------------------------------------------------------------------------------------------------------


def arguments_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="a file, or a folder for Markdown (default: jsonl and claude to stdout)"
    )
    parser.add_argument(
        "--format",
        choices=["jsonl", "archive", "markdown", "claude"],
        help="jsonl (default), archive (a zip with history, vectors and checksums), markdown (a folder), claude (a"
        " section for CLAUDE.md or AGENTS.md)",
    )
    parser.add_argument(
        "--with-personal", action="store_true", help="personal memories too, and those a secret was taken out of"
    )
    parser.add_argument("--encrypt", action="store_true", help=f"encrypt the archive; asks, or takes {_PASSPHRASE}")
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="of the claude form (default: 2,000)")
    filter_arguments(parser)


def run_export(args: argparse.Namespace, console: Console) -> int:
    format = args.format or _SUFFIXES.get(Path(args.output or "").suffix, "jsonl")
    if args.output is None and (format in ("archive", "markdown") or console.json):
        raise InvalidField("output", f"{format} needs a place to go", hint="Name it: -o PATH.")
    _require_replaceable(args.output, format)
    passphrase = _read_passphrase(confirm=True) if args.encrypt else None
    with open_from(args) as memory:
        report = memory.export(
            sys.stdout.buffer if args.output is None else args.output,
            format=format,
            filter=_given_filter(args),
            personal=args.with_personal,
            passphrase=passphrase,
            budget=args.budget,
            progress=lambda done, total: console.progress("exporting", done, total),
        )
    console.progress_done()
    if console.json:
        console.value(_export_json(report))
    elif args.output is not None:
        _show_export(report, console)
    return FINE


def _given_filter(args: argparse.Namespace) -> Filter | None:
    """The filter that was asked for; nothing when none was, so that everything goes."""
    if args.kind or args.source or args.scope or args.visibility or args.status or args.file or args.module or args.tag:
        return _everyones(args)
    if args.session or args.document or args.label or args.type or args.since or args.until or args.as_of or args.user:
        return _everyones(args)
    if args.min_confidence or args.min_trust or args.needs_review or args.pinned:
        return _everyones(args)
    return None


def _everyones(args: argparse.Namespace) -> Filter:
    if not args.status:
        args.status = [str(status) for status in Status]
    return filter_from(args, everyone=ANY_USER)


def _require_replaceable(output: str | None, format: str) -> None:
    """Refuse to write over a file that no export made."""
    if output is not None and format in ("jsonl", "archive") and os.path.lexists(output):
        path = Path(output)
        if not path.is_file() or (path.stat().st_size and not is_export(path)):
            raise InvalidField("output", f"{output} exists and is no export", hint="Name a new file.")


def _read_passphrase(*, confirm: bool) -> str:
    import getpass

    if given := os.environ.get(_PASSPHRASE):
        return given
    if not sys.stdin.isatty():
        raise InvalidField("passphrase", "there is nobody to ask for it", hint=f"Set {_PASSPHRASE}.")
    given = getpass.getpass("Passphrase: ")
    if confirm and getpass.getpass("Once more: ") != given:
        raise InvalidField("passphrase", "the two differ")
    return given


def _export_json(report: ExportReport) -> dict[str, Any]:
    return {
        "path": report.path,
        "format": report.format,
        "counts": dict(report.counts),
        "personal": report.personal,
        "redacted": report.redacted,
        "whole": report.whole,
    }


def _show_export(report: ExportReport, console: Console) -> None:
    counts = report.counts
    console.line(f"{_memories(counts.get('memory', 0))} exported to {report.path}.")
    if left := counts.get("left out for the budget"):
        console.line(f"{left:,} more did not fit the budget; --budget makes room.")
    if report.personal:
        console.line(f"{_memories(report.personal)} stayed here as personal; --with-personal takes them along.")
    if report.redacted:
        console.note(f"  ! a secret was taken out of {_memories(report.redacted)} on the way")


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


# --- import -----------------------------------------------------------------------------------------------------------


_RULES = "rules"


def arguments_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="+",
        help="an export of Recollect (jsonl, archive, Markdown folder), what another program remembered, a chat"
        " (conversations.json, the export's zip or folder, lines of JSON); or `rules` and, if you like, files or"
        " folders (else the project's CLAUDE.md, AGENTS.md, .cursorrules and their like)",
    )
    parser.add_argument(
        "--format",
        default="auto",
        metavar="NAME",
        help="recollect, markdown, mem0, openmemory, claude-mem, basic-memory, codex, letta, langgraph,"
        " claude-memories, table; chatgpt, claude or chat for conversations (default: what it looks like)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be done")
    parser.add_argument(
        "--trust",
        action="store_true",
        help="you say that it is yours: origins are kept, and what other programs kept counts as taught by you",
    )
    parser.add_argument("--edited", action="store_true", help="the export was changed on purpose: take it unproven")
    parser.add_argument(
        "--map", action="append", default=[], metavar="FIELD=COLUMN", help="a column of a table, such as content=note"
    )
    parser.add_argument("--user", metavar="ID", help="keep what comes in for this user of an assistant")
    parser.add_argument(
        "--retire", action="store_true", help="of rules: let statements expire that are gone from the files"
    )


def run_import(args: argparse.Namespace, console: Console) -> int:
    if args.path[0] == _RULES:
        return _import_rules(args, console)
    if len(args.path) != 1 or args.retire:
        raise InvalidField(
            "path",
            "files and folders are imported one at a time, and --retire is for rules",
            hint="`recollect import FILE`, or `recollect import rules [PATH …]`; ./rules is a file of that name.",
        )
    require_files(args.path)
    path = Path(args.path[0])
    require_whole_zip(path)
    if args.format in _CHATS or (args.format in ("auto", "jsonl") and not args.map and _is_chat(path)):
        return _import_chats(args, path, console)
    return _import_memories(args, path, console)


def _is_chat(path: Path) -> bool:
    """Is it a conversation, as far as that can be told? Lines of JSON that no reader of memories knows are taken for
    one, as they always were."""
    from recollect.portable.foreign import recognise

    if (path.is_file() and is_export(path)) or recognise(path) is not None:
        return False
    return path.suffix.lower() in ("", ".json", ".jsonl", ".ndjson", ".zip")


def _import_chats(args: argparse.Namespace, path: Path, console: Console) -> int:
    if args.dry_run or args.trust:
        raise InvalidField("path", "a chat takes neither --dry-run nor --trust")
    format = {"chat": "jsonl"}.get(args.format, args.format)
    with open_from(args, create=True) as memory:
        done = memory.sessions.import_chats(
            path, format=format, user=args.user, progress=lambda count, _: console.progress("messages", count)
        )
    console.progress_done()
    if console.json:
        told = {"messages": done.messages, "captured": done.captured, "known": done.known}
        console.value({**told, "left_out": done.left_out, "sessions": done.sessions})
    else:
        console.line(
            f"{done.captured:,} of {done.messages:,} messages captured from {done.sessions:,} sessions"
            f" ({done.known:,} known before, {done.left_out:,} without words)."
        )
    note_agent(args, console)
    return FINE


def _import_memories(args: argparse.Namespace, path: Path, console: Console) -> int:
    from recollect.portable.foreign.table import parse_mapping

    if args.trust:
        require_person(args, "say that a file is yours")
    passphrase = _read_passphrase(confirm=False) if path.is_file() and is_encrypted(path) else None
    _prepare_new_store(args, path, passphrase)
    with open_from(args, create=not args.dry_run or args.store == MEMORY) as memory:
        report = memory.import_memories(
            path,
            format=args.format,
            trust=args.trust,
            edited=args.edited,
            dry_run=args.dry_run,
            passphrase=passphrase,
            mapping=parse_mapping(args.map) or None,
            user=args.user,
            progress=lambda done, total: console.progress("importing", done, total or None),
        )
    console.progress_done()
    if console.json:
        console.value(_import_json(report))
    else:
        _show_import(report, console)
    return FOUND if report.counts.get("invalid") or report.counts.get("conflicting") else FINE


def _prepare_new_store(args: argparse.Namespace, path: Path, passphrase: str | None) -> None:
    """Where there is no store yet: a damaged export makes none, and a dry run looks at an empty one."""
    file = None if "://" in (args.store or "") else locate(args.store)
    if file is None or file.exists():
        return
    if args.dry_run:
        args.store = MEMORY
    elif path.is_file() and is_export(path):
        with ExportFile(path, passphrase=passphrase) as found:
            found.verify(edited=args.edited)


_TOLD = {
    "new": "new",
    "same": "known already",
    "older": "older than what is here",
    "changed": "changed",
    "conflicting": "in conflict with what is here, left alone",
    "refused": "refused: rejected, forgotten or erased here",
    "invalid": "not readable",
}


def _show_import(report: ImportReport, console: Console) -> None:
    for item in report.items[:_DETAILS]:
        console.line(f"{item.verdict}: {item.id}  {item.why}" + (f"  ({item.place})" if item.place else ""))
    if len(report.items) > _DETAILS:
        console.line(f"… and {len(report.items) - _DETAILS} more; --json lists them.")
    would = "would be " if report.dry_run else ""
    told = ", ".join(f"{count:,} {_TOLD[name]}" for name, count in report.counts.items()) or "nothing in it"
    console.line(f"{_memories(report.total)} {would}imported from {report.source}: {told}.")
    beside = {"link": report.links, "tombstone": report.tombstones, "entity": report.entities, "vector": report.vectors}
    if any(beside.values()):
        names = [f"{count:,} {name if count == 1 else _PLURAL[name]}" for name, count in beside.items() if count]
        console.line(f"With them: {', '.join(names)}.")
    for what, count in report.left_out.items():
        console.line(f"Not carried over: {count:,} {what}")
    if report.redacted:
        console.note(f"  ! a secret was taken out of {_memories(report.redacted)}")
    if report.source in ("recollect", "markdown") and not report.trusted:
        console.note("  ! nothing proves that it is yours, so it counts as an agent's word; --trust says it is")
    for note in report.notes:
        console.note(f"  {note}")


_PLURAL = {"link": "links", "tombstone": "tombstones", "entity": "entities", "vector": "vectors"}


def _import_json(report: ImportReport) -> dict[str, Any]:
    return {
        "source": report.source,
        "counts": dict(report.counts),
        "links": report.links,
        "tombstones": report.tombstones,
        "entities": report.entities,
        "vectors": report.vectors,
        "redacted": report.redacted,
        "left_out": dict(report.left_out),
        "trusted": report.trusted,
        "dry_run": report.dry_run,
        "notes": list(report.notes),
        "items": [
            {"verdict": one.verdict, "what": one.what, "id": one.id, "why": one.why, "place": one.place}
            for one in report.items
        ],
    }


# --- migrate ----------------------------------------------------------------------------------------------------------


def arguments_migrate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "from_store", metavar="SOURCE", help="the store to read: a file or a project; it is not changed"
    )
    parser.add_argument("to_store", metavar="TARGET", help="the store to fill, made if it is not there")
    parser.add_argument("--project", metavar="NAME", help="only this project of the source")
    parser.add_argument("--as", metavar="NAME", dest="rename", help="its name in the target")
    parser.add_argument("--without-personal", action="store_true", help="leave personal memories where they are")
    parser.add_argument("--trust", action="store_true", help="you say that a source from elsewhere is yours")
    parser.add_argument("--dry-run", action="store_true", help="only tell what would be done; the target must exist")
    filter_arguments(parser)


def run_migrate(args: argparse.Namespace, console: Console) -> int:
    from recollect.core.doors import CLI, CLI_TERMINAL
    from recollect.wiring import migrate_store

    if args.trust:
        require_person(args, "say that a store is yours")
    reports = migrate_store(
        args.from_store,
        args.to_store,
        project=args.project,
        rename=args.rename,
        filter=_given_filter(args),
        personal=not args.without_personal,
        trust=args.trust,
        dry_run=args.dry_run,
        actor=args.actor,
        door=(CLI_TERMINAL if speaks_as_person(args) else CLI).name,
        progress=lambda done, total: console.progress("moving", done, total),
    )
    console.progress_done()
    if console.json:
        console.value([_move_json(report) for report in reports])
    else:
        for report in reports:
            _show_move(report, console)
    return FINE


def _show_move(report: MoveReport, console: Console) -> None:
    console.line(f"{report.project}: {report.source} → {report.target}")
    _show_import(report.imported, console)
    if report.verified:
        here = ", ".join(
            f"{there:,} {name}" for name, (_, there) in report.census.items() if name in _COUNTED and there
        )
        console.line(f"Verified on both sides: {here}.")


_COUNTED = ("memories", "links", "tombstones", "entities")


def _move_json(report: MoveReport) -> dict[str, Any]:
    return {
        "project": report.project,
        "source": report.source,
        "target": report.target,
        "verified": report.verified,
        "census": {name: {"source": here, "target": there} for name, (here, there) in report.census.items()},
        "imported": _import_json(report.imported),
    }


# --- rules ------------------------------------------------------------------------------------------------------------


def _import_rules(args: argparse.Namespace, console: Console) -> int:
    require_files(args.path[1:])
    with open_from(args, create=not args.dry_run) as memory:
        lesson = memory.docs.import_rules(args.path[1:], retire=args.retire, dry_run=args.dry_run)
    if console.json:
        console.value(_lesson_json(lesson))
    else:
        _show_lesson(lesson, console)
    if not args.dry_run:
        note_agent(args, console)
    return FINE


def _show_lesson(lesson: Lesson, console: Console) -> None:
    for mark, some in (("+", lesson.added), ("~", lesson.changed), ("-", lesson.gone), ("x", lesson.left_out)):
        _list_taught(mark, some, console)
    for one in lesson.skipped:
        console.line(f"! {one.relative}: {one.reason}")
    console.line(
        _lesson_summary(lesson)
        if lesson.files
        else "There is no rules file here. Name one: `recollect import rules PATH`."
    )
    if lesson.gone and not lesson.retired:
        console.line(f"{len(lesson.gone)} are gone from their files and still remembered; --retire lets them expire.")


def _lesson_summary(lesson: Lesson) -> str:
    would = "would be " if lesson.dry_run else ""
    return (
        f"{counted(len(lesson.files), 'file')}: {counted(len(lesson.added), 'statement')} {would}added,"
        f" {len(lesson.changed)} changed,"
        f" {lesson.kept} kept, {len(lesson.left_out)} left out because people rejected or forgot them"
        f"{f', {lesson.redacted} with a secret taken out' if lesson.redacted else ''}."
    )


def _list_taught(mark: str, some: Sequence[Taught], console: Console) -> None:
    for one in some:
        why = f" ({one.why})" if one.why else ""
        console.line(f"{mark} {one.file}:{one.line} [{one.kind or 'rule'}] {excerpt(one.text, 110)}{why}")


def _lesson_json(lesson: Lesson) -> dict[str, object]:
    def told(some: Sequence[Taught]) -> list[dict[str, object]]:
        return [
            {
                "text": one.text,
                "kind": one.kind,
                "file": one.file,
                "line": one.line,
                "id": one.id,
                "was": one.was,
                "why": one.why,
            }
            for one in some
        ]

    return {
        "files": lesson.files,
        "added": told(lesson.added),
        "changed": told(lesson.changed),
        "gone": told(lesson.gone),
        "left_out": told(lesson.left_out),
        "kept": lesson.kept,
        "redacted": lesson.redacted,
        "retired": lesson.retired,
        "dry_run": lesson.dry_run,
        "skipped": [{"what": one.relative, "why": one.reason} for one in lesson.skipped],
    }
