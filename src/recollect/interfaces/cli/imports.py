"""`recollect import`: chats from elsewhere as episodes, rules files as memories."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import FINE, Console, open_from, require_files

if TYPE_CHECKING:
    from recollect.documents.guidance.teach import Lesson, Taught

_RULES = "rules"


def arguments_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="+",
        help="`rules` and, if you like, files or folders (else the project's CLAUDE.md, AGENTS.md, .cursorrules"
        " and their like); or a chat: conversations.json, the export's zip or folder, lines of JSON",
    )
    parser.add_argument("--format", choices=["auto", "chatgpt", "claude", "jsonl"], default="auto", help="of a chat")
    parser.add_argument("--dry-run", action="store_true", help="of rules: only tell what would be done")
    parser.add_argument(
        "--retire", action="store_true", help="of rules: let statements expire that are gone from the files"
    )


def run_import(args: argparse.Namespace, console: Console) -> int:
    if args.path[0] == _RULES:
        return _rules(args, console)
    if len(args.path) != 1 or args.dry_run or args.retire:
        raise InvalidField(
            "path",
            "a chat is imported one at a time, and --dry-run and --retire are for rules",
            hint="`recollect import FILE`, or `recollect import rules [PATH …]`; ./rules is a file of that name.",
        )
    require_files(args.path)
    with open_from(args, create=True) as memory:
        done = memory.sessions.import_chats(
            Path(args.path[0]), format=args.format, progress=lambda count, _: console.progress("messages", count)
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
    return FINE


def _rules(args: argparse.Namespace, console: Console) -> int:
    require_files(args.path[1:])
    with open_from(args, create=not args.dry_run) as memory:
        lesson = memory.docs.import_rules(args.path[1:], retire=args.retire, dry_run=args.dry_run)
    if console.json:
        console.value(_lesson_json(lesson))
    else:
        _show(lesson, console)
    return FINE


def _show(lesson: Lesson, console: Console) -> None:
    for mark, some in (("+", lesson.added), ("~", lesson.changed), ("-", lesson.gone), ("x", lesson.left_out)):
        _list(mark, some, console)
    for one in lesson.skipped:
        console.line(f"! {one.relative}: {one.reason}")
    console.line(
        _sum(lesson) if lesson.files else "There is no rules file here. Name one: `recollect import rules PATH`."
    )
    if lesson.gone and not lesson.retired:
        console.line(f"{len(lesson.gone)} are gone from their files and still remembered; --retire lets them expire.")


def _sum(lesson: Lesson) -> str:
    would = "would be " if lesson.dry_run else ""
    return (
        f"{counted(len(lesson.files), 'file')}: {counted(len(lesson.added), 'statement')} {would}added,"
        f" {len(lesson.changed)} changed,"
        f" {lesson.kept} kept, {len(lesson.left_out)} left out because people sent them away"
        f"{f', {lesson.redacted} with a secret taken out' if lesson.redacted else ''}."
    )


def _list(mark: str, some: Sequence[Taught], console: Console) -> None:
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
