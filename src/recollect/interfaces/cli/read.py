"""Commands that only read (recall and brief count the access unless told not to)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.fields import SHOWN
from recollect.core.query import ANY_USER, DEFAULT_K, MODES, Briefing, Filter, Hit, Page
from recollect.core.records import Memory
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import FINE, MARGIN, Console, filter_arguments, filter_from, given_text, open_from
from recollect.interfaces.payloads.memories import account_json, briefing_json, entry_json, memory_json
from recollect.interfaces.payloads.store import project_json

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.log import Entry

_PHASES = "define, implement, validate, refine, explore or reflect"


def arguments_recall(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="the question; read from stdin when absent or -")
    parser.add_argument("-k", type=int, default=DEFAULT_K, metavar="N", help=f"at most this many (default {DEFAULT_K})")
    parser.add_argument("--phase", help=_PHASES)
    parser.add_argument("--mode", choices=MODES, default="hybrid", help="by words and meaning, or one of them")
    parser.add_argument("--recipe", help="another set of weights: coding, assistant, documents, duplicates, seed, rrf")
    parser.add_argument("--last-sessions", type=int, metavar="N", help="only the newest N sessions")
    parser.add_argument("--around", metavar="EVENT", help="only the sessions around an event: an id, or words")
    parser.add_argument("--in-play", action="append", default=[], metavar="FILE", help="a file being worked on")
    parser.add_argument(
        "--recent-call", action="append", default=[], metavar="TOOL", help="a tool used just before, by any host's name"
    )
    parser.add_argument("--explain", action="store_true", help="show the path and every factor of each result")
    parser.add_argument("--no-track", action="store_true", help="do not count the access")
    filter_arguments(parser)


def run_recall(args: argparse.Namespace, console: Console) -> int:
    question, filter = given_text(args.text, "question"), filter_from(args)
    with open_from(args) as memory:
        briefing = memory.recall(
            question,
            k=args.k,
            phase=args.phase,
            filter=filter,
            files=args.in_play,
            recent_calls=args.recent_call,
            mode=args.mode,
            recipe=args.recipe,
            last_sessions=args.last_sessions,
            around=args.around,
            track=not args.no_track,
        )
        said = memory.notices
    if console.json:
        console.value(briefing_json(briefing))
        return FINE
    for number, hit in enumerate(briefing.hits, start=1):
        _show_hit(console, number, hit, explain=args.explain)
    if not briefing.hits:
        console.line("Nothing remembered about that.")
    _show_notes(console, briefing, said=said)
    return FINE


def arguments_brief(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="*", help="the task; read from stdin when absent or -")
    parser.add_argument("--phase", help=_PHASES)
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="instead of the phase's own")
    parser.add_argument("--no-track", action="store_true", help="do not count the access")
    filter_arguments(parser)


def run_brief(args: argparse.Namespace, console: Console) -> int:
    task, filter = given_text(args.text, "task"), filter_from(args)
    with open_from(args) as memory:
        briefing = memory.brief(
            task, phase=args.phase, files=args.file, budget=args.budget, filter=filter, track=not args.no_track
        )
        said = memory.notices
    if console.json:
        console.value(briefing_json(briefing))
    else:
        console.lines(briefing.text.rstrip("\n") or "Nothing remembered about that.")
        _show_notes(console, briefing, said=said)
    return FINE


def arguments_list(parser: argparse.ArgumentParser) -> None:
    filter_arguments(parser)
    parser.add_argument("--order", choices=["newest", "oldest", "confidence", "accessed"],
                        help="default newest; with --needs-review, as `recollect review` shows them")  # fmt: skip
    parser.add_argument(
        "--limit", type=int, metavar="N", help="at most this many (default: 50; of the forms below, all)"
    )
    parser.add_argument("--skip", type=int, default=0, metavar="N")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="comma-separated, with a header")
    form.add_argument("--jsonl", action="store_true", help="one JSON object a line")
    form.add_argument("--ids", action="store_true", help="only ids, one a line")


def run_list(args: argparse.Namespace, console: Console) -> int:
    filter = filter_from(args, everyone=ANY_USER)
    with open_from(args) as memory:
        if args.csv or args.jsonl or args.ids:
            return _write_rows(memory, filter, args, console)
        limit = _PAGE if args.limit is None else args.limit
        if args.needs_review and args.order is None:
            page, total = _list_waiting(memory, filter, limit=limit, skip=args.skip)
        else:
            page = memory.list(filter, order=args.order or "newest", limit=limit, skip=args.skip)
            total = memory.count(filter)
    if console.json:
        console.value(
            {"total": total, "memories": [memory_json(found) for found in page], "damaged": list(page.damaged)}
        )
        return FINE
    _show_table(page, console)
    _show_damaged(page, console)
    console.note(f"{len(page)} of {total}")
    return FINE


_PAGE = 50  # memories listed unless a limit is given
_CHUNK = 1_000  # memories read at once for a program
_ALL = 2**31
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")  # with which a spreadsheet takes a text for a command


def _show_table(page: Sequence[Memory], console: Console) -> None:
    """One line each in columns, as wide as what stands in them."""
    kinds = max((len(str(found.kind)) for found in page), default=0)
    for found in page:
        when = found.happened_at.date().isoformat()
        text = f"{_marks(found)}{excerpt(found.content, 90)}"
        console.line(f"{found.id}  {found.kind:<{kinds}}  {when}  {found.confidence:.2f}  {text}")


def _show_damaged(page: Page, console: Console) -> None:
    for id in page.damaged:
        console.note(f"  ! {id} is damaged; run `recollect check`")


def _write_rows(memory: Recollect, filter: Filter, args: argparse.Namespace, console: Console) -> int:
    """All memories that a filter lets through for a program: comma-separated, lines of JSON, or ids."""
    import csv
    import sys

    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8")  # whatever the terminal speaks: a program reads this
    table = csv.writer(sys.stdout, lineterminator="\n")
    if args.csv:
        table.writerow([field.name for field in SHOWN])
    for found in _every(memory, filter, args, console):
        if args.ids:
            sys.stdout.write(f"{found.id}\n")
        elif args.jsonl:
            sys.stdout.write(json.dumps(memory_json(found), ensure_ascii=False) + "\n")
        else:
            told = memory_json(found)
            table.writerow([_cell(told.get(field.name)) for field in SHOWN])
    return FINE


def _every(memory: Recollect, filter: Filter, args: argparse.Namespace, console: Console) -> Iterator[Memory]:
    left, skip = _ALL if args.limit is None else args.limit, args.skip
    if args.needs_review and args.order is None:
        page, _ = _list_waiting(memory, filter, limit=left, skip=skip)
        _show_damaged(page, console)
        yield from page
        return
    while left > 0:
        page = memory.list(filter, order=args.order or "newest", limit=min(left, _CHUNK), skip=skip)
        _show_damaged(page, console)
        yield from page
        taken = len(page) + len(page.damaged)
        left, skip = left - taken, skip + taken
        if taken < _CHUNK:
            return


def _cell(value: Any) -> str:
    """A value in one cell. A text that a spreadsheet would run is marked as text."""
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"'{text}" if isinstance(value, str | list) and text.startswith(_FORMULAS) else text


def _list_waiting(memory: Recollect, filter: Filter, *, limit: int, skip: int) -> tuple[Page, int]:
    """What needs review, in the order of the queue."""
    first = max(0, skip)
    queue = memory.review.list(limit=first + max(0, limit), filter=filter)
    return Page(tuple(item.memory for item in queue.items[first:]), queue.damaged), queue.total


def arguments_projects(parser: argparse.ArgumentParser) -> None:
    """Nothing beside the common options."""


def run_projects(args: argparse.Namespace, console: Console) -> int:
    from recollect.tend.projects import list_projects
    from recollect.wiring import locate

    here = locate(args.store)
    found = list_projects([] if here is None else [str(here)])
    if console.json:
        console.value([project_json(one) for one in found])
        return FINE
    names = max((len(one.name) for one in found), default=0)
    for one in found:
        name = one.name + (" (personal)" if one.personal else "")
        told = one.trouble or f"{one.memories:>7,}  {one.changed_at:%Y-%m-%d %H:%M}"
        console.line(f"{name:<{names}}  {told}  {one.path}")
    console.note(f"{counted(len(found), 'project')}; list one with `recollect list --store PATH`")
    return FINE


def arguments_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the memory; its last letters suffice")


def run_show(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        found = memory.get(args.id)
        confidence = memory.confidence(found)
    if console.json:
        console.value({**memory_json(found), "confidence_now": confidence})
        return FINE
    console.lines(found.content, margin=MARGIN)
    console.line()
    for name, value in memory_json(found).items():
        if name != "content":
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            console.line(f"{name:>16}  {shown}")
    console.line(f"{'confidence now':>16}  {confidence:.3f}")
    return FINE


arguments_why = arguments_show


def run_why(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        account = memory.why(args.id)
    if console.json:
        console.value(account_json(account))
        return FINE
    belief = account.memory
    console.line(f"{belief.id}  [{belief.kind}, {belief.status}]  {excerpt(belief.content, 90)}")
    told = f" in session {belief.session}" if belief.session else ""
    console.line(f"  learnt {belief.created_at:%Y-%m-%d %H:%M} from {belief.source}{told}")
    console.line(
        f"  confidence {belief.confidence:.2f}, worth {account.confidence:.2f} today; used {belief.access_count} times"
    )
    for link in account.points_at:
        console.line(f"  {link.relation} {link.target or link.file} ({link.confidence:.2f})")
    for link in account.pointed_at_by:
        console.line(f"  {link.source} {link.relation} this ({link.confidence:.2f})")
    for entry in account.history:
        _show_entry(console, entry)
    return FINE


def arguments_history(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", nargs="?", help="of this memory only")
    parser.add_argument("--limit", type=int, default=50, metavar="N")


def run_history(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        entries = memory.history(args.id, limit=args.limit)
    if console.json:
        console.value([entry_json(entry) for entry in entries])
    else:
        for entry in entries:
            _show_entry(console, entry)
    return FINE


def _show_hit(console: Console, number: int, hit: Hit, *, explain: bool) -> None:
    memory = hit.memory
    console.lines(f"{number}. {_marks(memory)}[{memory.kind}] {memory.content}", margin=MARGIN)
    about = f" · {', '.join(memory.files)}" if memory.files else ""
    when = memory.happened_at.date().isoformat()
    console.line(
        f"   {memory.id} · score {hit.score:.2f} · confidence {hit.confidence:.2f} · {when} · {memory.source}{about}"
    )
    for doubt in hit.doubts:
        console.line(f"   ? {doubt}")
    if explain:
        console.line("   because " + ", ".join(hit.reasons))
        console.line("   " + "  ".join(f"{name} {value:.3f}" for name, value in sorted(hit.factors.items())))


def _show_notes(console: Console, briefing: Briefing, *, said: Sequence[str]) -> None:
    """What went otherwise than it should, but for what was `said` when the store was opened."""
    for note in briefing.notes:
        if note not in said:
            console.note(f"  ! {note}")


def _show_entry(console: Console, entry: Entry) -> None:
    why = f" — {entry.change.why}" if entry.change.why else ""
    erased = " (details erased)" if entry.erased else ""
    console.line(
        f"  #{entry.number} {entry.at:%Y-%m-%d %H:%M} {entry.actor} {entry.change.action}"
        f" {entry.change.memory or ''}{why}{erased}"
    )


def _marks(memory: Memory) -> str:
    marks = [
        mark
        for mark, shown in (
            ("pinned", memory.pinned),
            ("review", memory.needs_review),
            (str(memory.status), memory.status != "active"),
        )
        if shown
    ]
    return f"({', '.join(marks)}) " if marks else ""
