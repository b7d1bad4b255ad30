"""The command that erases: shows who or what is meant and what would go, asks, and tells what was searched after it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField
from recollect.core.query import ANY_USER
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import (
    FINE,
    FOUND,
    Console,
    filter_arguments,
    filter_from,
    is_agreed,
    is_narrowed,
    open_from,
    require_person,
)
from recollect.interfaces.payloads.store import erasure_json, subject_json

if TYPE_CHECKING:
    from recollect.remember.subject import Subject
    from recollect.tend.erasure_report import ErasureReport

_SHOWN = 10  # memories listed before asking


def arguments_erase(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--subject", metavar="NAME", help="whatever is about them: a name, an e-mail address or ent_…")
    parser.add_argument(
        "--also", action="append", default=[], metavar="NAME", help="another name of the subject, such as a near miss"
    )
    parser.add_argument(
        "--not", action="append", default=[], metavar="NAME", dest="except_names", help="leave this name alone"
    )
    parser.add_argument("--project", action="store_true", help="all that is remembered of this project")
    parser.add_argument("--everything", action="store_true", help="all that the store holds, of every project")
    parser.add_argument("--filter", action="store_true", help="what the filters below let through")
    parser.add_argument("--resume", action="store_true", help="finish what an interrupted erasure left to do")
    parser.add_argument("--dry-run", action="store_true", help="tell what would go; change nothing")
    parser.add_argument(
        "--backups",
        nargs="?",
        const="rewrite",
        default="list",
        choices=["rewrite", "delete"],
        help="rewrite backups and quarantined copies without it, or delete them (default: list those that hold it)",
    )
    parser.add_argument("--exports", action="store_true", help="delete the exports that were written")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    filter_arguments(parser)


def run_erase(args: argparse.Namespace, console: Console) -> int:
    require_person(args, "erase")
    scope = {} if args.resume else _scope(args)
    with open_from(args) as memory:
        if args.resume:
            return _show(memory.erase(), None, console)
        subject = memory.find_subject(args.subject) if args.subject is not None else None
        given: dict[str, Any] = {**scope, "backups": args.backups, "exports": args.exports}
        plan = memory.erase(**given, dry_run=True)
        if args.dry_run:
            return _show(plan, subject, console)
        if not args.yes:
            if sys.stdin.isatty():
                _show_plan(plan, subject, console)
            if not is_agreed("Erase this for good? It cannot be undone.", "erase"):
                console.note("Nothing was erased.")
                return FINE
        done = memory.erase(**given, progress=lambda step: console.note(f"  {step} …") if sys.stderr.isatty() else None)
    return _show(done, subject, console)


def _scope(args: argparse.Namespace) -> dict[str, Any]:
    """What was asked for, as `Recollect.erase` takes it. `--session` and `--user` alone are that session or user."""
    if args.filter:
        if not is_narrowed(args):
            raise InvalidField("filter", "it lets everything through", hint="Add --kind, --tag …, or use --project.")
        given: dict[str, Any] = {"filter": filter_from(args, everyone=ANY_USER)}
    else:
        if is_narrowed(argparse.Namespace(**{**vars(args), "session": [], "user": None})):
            raise InvalidField("erase", "filters need --filter", hint="`recollect erase --filter --tag old`.")
        if len(args.session) > 1:
            raise InvalidField("session", "one at a time", hint="Or `--filter --session A --session B`.")
        given = {"session": args.session[0]} if args.session else {}
        given |= {"user": args.user} if args.user is not None else {}
    given |= {"subject": args.subject} if args.subject is not None else {}
    given |= {name: True for name in ("project", "everything") if getattr(args, name)}
    if len(given) != 1:
        hint = "One of --subject NAME, --session ID, --user ID, --filter …, --project, --everything."
        raise InvalidField("erase", "name exactly one thing to erase", hint=hint)
    return {
        **given,
        **({"also": args.also, "except_names": args.except_names} if args.also or args.except_names else {}),
    }


def _show(report: ErasureReport, subject: Subject | None, console: Console) -> int:
    if console.json:
        told = erasure_json(report)
        console.value({**told, "subject": subject_json(subject)} if subject is not None else told)
    elif report.dry_run:
        _show_plan(report, subject, console)
    else:
        _show_done(report, console)
    return FOUND if report.remaining and not report.dry_run else FINE


def _show_plan(plan: ErasureReport, subject: Subject | None, console: Console) -> None:
    if subject is not None:
        console.line(f"{subject.given} is known as: {', '.join(subject.names)}")
        for miss in subject.near:
            console.line(f"  not included: {miss.name} ({miss.why}; {counted(miss.mentions, 'mention')})")
        if subject.near:
            console.line("  Include one with --also NAME.")
    for memory in plan.memories[:_SHOWN]:
        console.line(f"- {memory.id}  [{memory.kind}] {excerpt(memory.content, 90)}")
    if len(plan.memories) > _SHOWN:
        console.line(f"  … and {len(plan.memories) - _SHOWN:,} more memories")
    _show_places(plan, "would be", console)
    _show_remaining(plan, console)


def _show_done(report: ErasureReport, console: Console) -> None:
    _show_places(report, "", console)
    found = sum(one.found for one in report.searched)
    size = sum(one.size for one in report.searched)
    console.line(
        f"Searched afterwards: {counted(len(report.searched), 'place')}, {size:,} bytes and texts,"
        f" found {found:,} times."
    )
    for note in report.notes:
        console.note(f"  ! {note}")
    _show_remaining(report, console)
    if report.is_complete:
        console.line("Nothing of it is left in any file of this store.")


def _show_places(report: ErasureReport, would: str, console: Console) -> None:
    if not report.erased:
        console.line("Nothing of it is known here.")
    rows: dict[tuple[str, str], int] = {}
    for one in report.erased:
        if one.action in ("rewritten", "deleted"):
            console.line(f"{one.sort} {one.where}: {would} {one.action}".replace("  ", " "))
        else:
            rows[one.sort, one.action] = rows.get((one.sort, one.action), 0) + one.count
    for (sort, action), count in rows.items():
        console.line(f"{sort.replace('_', ' ')}: {count:,} {would} {action}".replace("  ", " "))


def _show_remaining(report: ErasureReport, console: Console) -> None:
    for one in report.remaining:
        console.note(f"  ! {one.sort} {one.where}: {one.why}. {one.way}")
