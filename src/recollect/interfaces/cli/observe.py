"""`recollect observe`: learn from transcripts of agents, from what their hooks have written down, or from reports."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import FINE, Console, open_from, read_json

if TYPE_CHECKING:
    from recollect.observer.replay import Replayed

_SHOWN = 30  # memories that are spelled out
_SKIPPED = 10  # files
_WIDTH = 28  # characters of the progress bar


def arguments_observe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="transcripts: files, folders or patterns")
    parser.add_argument("--spool", action="store_true", help="what hooks have written down, of sessions that are over")
    parser.add_argument("--qa", metavar="FILE", help="findings of a review or test run as JSON; `-` reads stdin")
    parser.add_argument("--ui", metavar="FILE", help="observations of a user interface as JSON; `-` reads stdin")
    parser.add_argument("--session", metavar="ID", help="the session that findings or observations belong to")
    parser.add_argument(
        "--type", default=None, metavar="TYPE",
        help="what the sessions were: build, insights, roadmap, terminal, changelog, spec, pr_review (default build)",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="spell out every memory that was learnt")


def run_observe(args: argparse.Namespace, console: Console) -> int:
    if sum(map(bool, (args.paths, args.spool, args.qa, args.ui))) != 1:
        hint = "For example `recollect observe ~/.claude/projects/NAME`."
        raise InvalidField("FILE", "name transcripts, or say one of --spool, --qa, --ui", hint=hint)
    if args.qa or args.ui:
        return _reported(args, console)
    from recollect.agent.settle import settle
    from recollect.observer.replay import transcripts

    paths = [] if args.spool else transcripts(args.paths)
    with open_from(args, create=not args.spool) as memory:
        if args.spool:
            done = memory.observer.drain(kind=args.type)
            settle(memory.store, memory.hand)
        else:
            try:
                done = memory.observer.replay(paths, kind=args.type, progress=_bar)
            finally:
                console.progress_done()
    if console.json:
        from recollect.interfaces.reports import replayed_json

        console.value(replayed_json(done))
    else:
        _tell(done, console, every=args.all)
    return FINE


def _reported(args: argparse.Namespace, console: Console) -> int:
    given = read_json(args.qa or args.ui)
    with open_from(args, create=True) as memory:
        take = memory.observer.qa if args.qa else memory.observer.ui
        receipts = take(given, session=args.session)
    if console.json:
        from recollect.interfaces.payloads import receipt_json

        console.value({"remembered": [receipt_json(one) for one in receipts]})
        return FINE
    console.line(f"{len(receipts)} remembered.")
    for one in receipts:
        console.line(f"  {one.memory.kind}: {one.memory.content}")
        console.line(f"      {one.verdict} · {one.id}")
    if receipts and args.ui:
        console.line("Each waits for a person: `recollect review`.")
    return FINE


def _bar(done: int, total: int) -> None:
    """A bar on stderr, only when somebody watches."""
    if sys.stderr.isatty():
        share = done / total if total else 1.0
        filled = round(share * _WIDTH)
        sys.stderr.write(f"\r[{'█' * filled}{'·' * (_WIDTH - filled)}] {share:4.0%} of {total / 1e6:,.1f} MB ")
        sys.stderr.flush()


def _tell(done: Replayed, console: Console, *, every: bool) -> None:
    added = [(kept, one.session) for one in done.learned for kept in one.added]
    seen_again = sum(len(one.reinforced) for one in done.learned)
    console.line(
        f"{counted(done.sessions, 'session')} from {counted(done.files, 'file')}: "
        f"{len(added)} new, {seen_again} borne out."
    )
    for kept, _ in added if every else added[:_SHOWN]:
        taint = " · after something from outside" if kept.memory.attributes.get("tainted") else ""
        console.line(f"  {kept.memory.kind}: {kept.memory.content}")
        console.line(f"      {kept.why}{taint} · {kept.memory.id}")
    if len(added) > _SHOWN and not every:
        console.line(f"  and {len(added) - _SHOWN} more; `--all` tells them")
    left: Counter[str] = sum((one.left_out for one in done.learned), Counter())
    for reason, times in sorted(left.items(), key=lambda item: (-item[1], item[0])):
        console.line(f"  left out: {times} {reason}")
    known = sum(one.known for one in done.learned)
    if known:
        console.line(f"  {counted(known, 'session')} known already")
    if done.waiting:
        console.line(f"  still going on: {counted(done.waiting, 'session')}")
    for path, why in list(done.skipped.items())[:_SKIPPED]:
        console.line(f"  skipped {path}: {excerpt(why, 120)}")
    if len(done.skipped) > _SKIPPED:
        console.line(f"  and {len(done.skipped) - _SKIPPED} more files were skipped")
    if done.broken:
        console.line(f"  {done.broken} of {done.lines} lines could not be read")
    if done.slow:
        console.line(f"  {done.slow} of {done.events} events took over 2 ms to watch")
    if added:
        console.line("Nothing of this is used before it is confirmed or seen often: `recollect review`.")
