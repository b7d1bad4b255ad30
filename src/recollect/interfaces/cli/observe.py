"""What agents do: learn from it (observe), and ask what a task will touch and what fails here (foresee)."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections import Counter
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField
from recollect.core.scope import Status
from recollect.core.text import counted, excerpt
from recollect.files.learning_turn import LEARNING, MAX_SECONDS, LearningTurn
from recollect.interfaces.cli.console import FINE, MARGIN, Console, open_from, read_json
from recollect.interfaces.cli.review_text import describe_taint

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.observer.commands import KnownCommand
    from recollect.observer.failure_patterns import Pattern
    from recollect.observer.replay import Replayed

_SHOWN = 30  # memories that are spelled out
_SKIPPED = 10  # files
_WIDTH = 28  # characters of the progress bar


def arguments_observe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="transcripts: files, folders or patterns")
    parser.add_argument("--spool", action="store_true", help="learn from the finished sessions that hooks recorded")
    parser.add_argument("--qa", metavar="FILE", help="findings of a review or test run as JSON; `-` reads stdin")
    parser.add_argument("--ui", metavar="FILE", help="observations of a user interface as JSON; `-` reads stdin")
    parser.add_argument("--session", metavar="ID", help="the session that findings or observations belong to")
    parser.add_argument(
        "--type", default=None, metavar="TYPE",
        help="what the sessions were: build, insights, roadmap, terminal, changelog, spec, pr_review (default build)",
    )  # fmt: skip
    parser.add_argument("--all", action="store_true", help="show every memory that was learnt")


def run_observe(args: argparse.Namespace, console: Console) -> int:
    if sum(map(bool, (args.paths, args.spool, args.qa, args.ui))) != 1:
        hint = "For example `recollect observe ~/.claude/projects/NAME`."
        raise InvalidField("FILE", "name transcripts, or use one of --spool, --qa, --ui", hint=hint)
    if args.qa or args.ui:
        return _take_reports(args, console)
    from recollect.observer.replay import transcripts

    paths = [] if args.spool else transcripts(args.paths)
    with open_from(args, create=not args.spool) as memory:
        if args.spool:
            done = _drain(memory, args.type)
        else:
            try:
                done = memory.observer.replay(paths, kind=args.type, progress=_show_progress)
            finally:
                console.progress_done()
    if console.json:
        from recollect.interfaces.payloads.people import replayed_json

        console.value(replayed_json(done))
    else:
        _show_replayed(done, console, every=args.all)
    return FINE


def _drain(memory: Recollect, kind: str | None) -> Replayed:
    """Learn from what hooks kept. Started by a hook this is the only process that does, and ends by itself."""
    turn = LearningTurn.handed_over(str(memory.path), os.environ.get(LEARNING))
    if turn is None:
        return memory.observer.drain(kind=kind)
    if hasattr(signal, "alarm"):
        signal.alarm(MAX_SECONDS)
    done = memory.observer.drain(kind=kind)
    while turn.look():
        done = memory.observer.drain(kind=kind)
    turn.end()
    return done


def _take_reports(args: argparse.Namespace, console: Console) -> int:
    given = read_json(args.qa or args.ui)
    with open_from(args, create=True) as memory:
        take = memory.observer.qa if args.qa else memory.observer.ui
        receipts = take(given, session=args.session)
    if console.json:
        from recollect.interfaces.payloads.memories import receipt_json

        console.value({"remembered": [receipt_json(receipt) for receipt in receipts]})
        return FINE
    console.line(f"{len(receipts)} remembered.")
    for receipt in receipts:
        console.lines(f"  {receipt.memory.kind}: {receipt.memory.content}", margin=MARGIN)
        console.line(f"      {receipt.verdict} · {receipt.id}")
    if receipts and args.ui:
        console.line("They need review: `recollect review`.")
    return FINE


def _show_progress(done: int, total: int) -> None:
    """A bar on stderr, only when somebody watches."""
    if sys.stderr.isatty():
        share = done / total if total else 1.0
        filled = round(share * _WIDTH)
        sys.stderr.write(f"\r[{'█' * filled}{'·' * (_WIDTH - filled)}] {share:4.0%} of {total / 1e6:,.1f} MB ")
        sys.stderr.flush()


def _show_replayed(done: Replayed, console: Console, *, every: bool) -> None:
    added = [(kept, one.session) for one in done.learned for kept in one.added]
    seen_again = sum(len(one.reinforced) for one in done.learned)
    console.line(
        f"{counted(done.sessions, 'session')} from {counted(done.files, 'file')}: "
        f"{len(added)} learnt, {seen_again} seen again."
    )
    for kept, _ in added if every else added[:_SHOWN]:
        taint = f" · {describe_taint(kept.memory)}" if kept.memory.attributes.get("tainted") else ""
        console.lines(f"  {kept.memory.kind}: {kept.memory.content}", margin=MARGIN)
        console.line(f"      {kept.why}{taint} · {kept.memory.id}")
    if len(added) > _SHOWN and not every:
        console.line(f"  and {len(added) - _SHOWN} more; `--all` shows them")
    left: Counter[str] = sum((one.left_out for one in done.learned), Counter())
    for reason, times in sorted(left.items(), key=lambda item: (-item[1], item[0])):
        console.line(f"  left out: {times} {reason}")
    known = sum(one.known for one in done.learned)
    if known:
        console.line(f"  already known: {counted(known, 'session')}")
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
    waiting = sum(kept.memory.status == Status.CANDIDATE for kept, _ in added)
    if waiting:
        which = "these" if waiting == len(added) else f"{waiting} of these, the candidates,"
        console.line(f"Agents are not told {which} until you confirm them or they are seen often: `recollect review`.")


# --- foresee: the files a task will touch, and the calls that tend to fail -------------------------------------------


def arguments_foresee(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", metavar="WORDS", help="what the session is asked for")
    parser.add_argument("-k", type=int, default=10, metavar="N", help="how many at most (default 10)")
    parser.add_argument("--branch", default="", metavar="NAME", help="the branch the work is on")
    parser.add_argument("--failures", action="store_true", help="what tends to fail here, instead of files")
    parser.add_argument(
        "--commands", action="store_true", help="what tests, lints, builds and runs the project, instead of files"
    )


def run_foresee(args: argparse.Namespace, console: Console) -> int:
    prompt = " ".join(args.prompt)
    if bool(prompt) + args.failures + args.commands != 1:
        raise InvalidField(
            "WORDS",
            "say what the task is, or --failures, or --commands",
            hint="For example `recollect foresee fix the parser`.",
        )
    if args.k < 1:
        raise InvalidField("-k", "at least 1")
    with open_from(args, create=False) as memory:
        if args.failures:
            return _show_failures(memory.observer.patterns()[: args.k], console)
        if args.commands:
            return _show_commands(memory.observer.commands(k=args.k), console)
        found = memory.observer.foresee(prompt, k=args.k, branch=args.branch)
        sessions = memory.observer.statistics().sessions
    if console.json:
        files = [{"path": one.path, "score": one.score, "because": list(one.because)} for one in found]
        console.value({"files": files, "sessions": sessions})
        return FINE
    for one in found:
        console.line(f"{one.score:5.2f}  {one.path}")
        console.line(f"       {'; '.join(one.because)}")
    if not found:
        console.line(
            "Nothing is known yet; `recollect observe` learns from transcripts."
            if not sessions
            else "Nothing known points to a file."
        )
    return FINE


def _show_commands(known: list[KnownCommand], console: Console) -> int:
    if console.json:
        told = [
            {"purpose": one.purpose, "command": one.command, "folder": one.folder, "sessions": one.sessions,
             "successes": one.successes, "failures": one.failures, "instead_of": list(one.instead_of)}
            for one in known
        ]  # fmt: skip
        console.value({"commands": told})
        return FINE
    for one in known:
        console.line(f"{one.purpose:5}  {one.line}  (went well in {one.sessions} of the observed sessions)")
    if not known:
        console.line("No command is known to work here yet; `recollect observe` learns from transcripts.")
    return FINE


def _show_failures(patterns: list[Pattern], console: Console) -> int:
    from recollect.observer.failure_patterns import Match, format_warning

    likely = [(pattern, pattern.most) for pattern in patterns]
    if console.json:
        told = [
            {"tool": one.tool, "sort": one.sort, "what": one.what, "likelihood": round(most, 3),
             "states": {state: round(odds, 3) for state, odds in sorted(one.odds.items())},
             "sessions": one.sessions, "text": format_warning(Match(one, most)),
             "memories": [trouble.memory for trouble in one.troubles if trouble.memory]}
            for one, most in likely
        ]  # fmt: skip
        console.value({"patterns": told})
        return FINE
    for one, most in likely:
        console.line(f"{most:4.0%}  {format_warning(Match(one, most))}")
    if not patterns:
        console.line("Nothing is known to fail here.")
    return FINE
