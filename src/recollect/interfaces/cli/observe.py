"""What agents do: learn from it (observe), look through what was inferred (review), ask what a task will touch
(foresee), and choose how much agents are told unasked (trust)."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect.agent.trust import LEVELS
from recollect.core.errors import InvalidField, MemoryNotFound, MemoryNotOpen, NoStoreKey, StaleEdit, StoreChanged
from recollect.core.query import Filter
from recollect.core.scope import Source
from recollect.core.text import counted, excerpt
from recollect.files.learning_turn import LEARNING, MAX_SECONDS, LearningTurn
from recollect.files.mark import KEY
from recollect.files.project import state_folder
from recollect.interfaces.cli.console import (
    FINE,
    FOUND,
    MARGIN,
    Console,
    open_from,
    read_json,
    require_person,
    speaks_as_person,
)

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.records import Memory
    from recollect.observer.commands import KnownCommand
    from recollect.observer.failure_patterns import Pattern
    from recollect.observer.replay import Replayed
    from recollect.observer.review import Waiting

ADOPT = "adopt"
_SAMPLE = 5  # memories that are shown of a store before it is adopted
_TOLD, _TOLD_CHARS = 50, 100  # of what agents were told: memories, and characters of each
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
        from recollect.interfaces.payloads import replayed_json

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
        from recollect.interfaces.payloads import receipt_json

        console.value({"remembered": [receipt_json(receipt) for receipt in receipts]})
        return FINE
    console.line(f"{len(receipts)} remembered.")
    for receipt in receipts:
        console.lines(f"  {receipt.memory.kind}: {receipt.memory.content}", margin=MARGIN)
        console.line(f"      {receipt.verdict} · {receipt.id}")
    if receipts and args.ui:
        console.line("Each waits for a person: `recollect review`.")
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
        f"{len(added)} new, {seen_again} borne out."
    )
    for kept, _ in added if every else added[:_SHOWN]:
        taint = " · after something from outside" if kept.memory.attributes.get("tainted") else ""
        console.lines(f"  {kept.memory.kind}: {kept.memory.content}", margin=MARGIN)
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


# --- review: confirm, edit, reject or leave what was inferred --------------------------------------------------------


_KEYS = "[c]onfirm  [e]dit  [r]eject  [a]ll confirm  [l]ater  [q]uit"
_NONE = "Nothing waits for review. `recollect observe` learns from transcripts."
_EVERY = 10_000  # that wait: among them the one that was changed is looked for
_SESSIONS = 3  # sessions of the evidence that are named


def arguments_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most this many (default 50)")
    parser.add_argument("--list", action="store_true", help="only tell what waits")
    parser.add_argument("--confirm", nargs="+", default=[], metavar="ID", help="confirm these")
    parser.add_argument("--reject", nargs="+", default=[], metavar="ID", help="reject these")
    parser.add_argument(
        "--all-confirm", action="store_true", help="confirm all but what agents worded or came from outside"
    )
    parser.add_argument("--tainted", action="store_true", help="with --all-confirm: the others too")
    parser.add_argument("--why", default="", help="the reason, for the log")


def run_review(args: argparse.Namespace, console: Console) -> int:
    if args.confirm or args.all_confirm:
        require_person(args, "confirm a memory")
    with open_from(args) as memory:
        if args.confirm or args.reject or args.all_confirm:
            return _decide(memory, args, console)
        queue = memory.observer.waiting(limit=max(0, args.limit))
        if console.json or args.list or not (sys.stdin.isatty() and speaks_as_person(args)):
            return _list_waiting(memory, queue, console)
        return _walk(memory, queue, args.why, console)


def _decide(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    chosen: dict[str, int | None] = dict.fromkeys(args.confirm)
    if args.all_confirm:
        spared = {memory.get(id).id for id in args.reject}
        queue = memory.observer.waiting(limit=max(0, args.limit))
        chosen |= {
            one.memory.id: one.memory.revision
            for one in queue
            if one.memory.id not in spared and (args.tainted or not one.is_foreign)
        }
    done = [memory.confirm(id, why=args.why, if_revision=revision) for id, revision in chosen.items()]
    confirmed = [one.id for one in done]
    rejected = [memory.reject(id, why=args.why).id for id in args.reject]
    waiting = memory.observer.waiting_count()
    if console.json:
        console.value({"confirmed": confirmed, "rejected": rejected, "waiting": waiting})
    else:
        for one in done:
            console.lines(f"Confirmed: {one.id}  {one.content}", margin=MARGIN)
        console.line(f"{len(confirmed)} confirmed, {len(rejected)} rejected, {waiting} left to review.")
    return FINE


def _list_waiting(memory: Recollect, queue: list[Waiting], console: Console) -> int:
    if console.json:
        from recollect.interfaces.payloads import waiting_json

        console.value({"waiting": [waiting_json(one) for one in queue], "total": memory.observer.waiting_count()})
        return FINE
    for one in queue:
        _show_waiting(one, console)
    waiting = memory.observer.waiting_count()
    if waiting:
        console.line(f"{waiting:,} to review: `recollect review --confirm ID`, `--reject ID`, `--all-confirm`.")
    else:
        console.line(_NONE)
    return FINE


def _walk(memory: Recollect, queue: list[Waiting], why: str, console: Console) -> int:
    """One after the other, until the queue ends or the person does."""
    if not queue:
        console.line(_NONE)
        return FINE
    counts = {"confirmed": 0, "edited": 0, "rejected": 0, "left": 0}
    saved = 0
    for number, one in enumerate(queue):
        console.line(f"{number + 1}/{len(queue)}")
        key, shown = _decide_shown(memory, one, why, counts, console)
        if key == "q":
            counts["left"] += len(queue) - number
            break
        saved += shown.saves if key in ("a", "c", "e") else 0
        if key == "a":
            for rest in queue[number + 1 :]:
                agreed = not rest.is_foreign and _act(memory, rest, "c", why, counts)
                saved += rest.saves if agreed else 0
                counts["left"] += not agreed
            break
    console.line(
        f"{counts['confirmed']} confirmed, {counts['edited']} edited, {counts['rejected']} rejected, "
        f"{counts['left']} left for later." + (f" That saves about {saved:,} tokens each time." if saved else "")
    )
    return FINE


def _decide_shown(
    memory: Recollect, one: Waiting, why: str, counts: dict[str, int], console: Console
) -> tuple[str, Waiting]:
    """Show one and do what the person answers; what was changed before they answered is shown again."""
    while True:
        _show_waiting(one, console)
        key = _ask(console)
        if key == "q" or _act(memory, one, "c" if key == "a" else key, why, counts):
            return key, one
        again = [other for other in memory.observer.waiting(limit=_EVERY) if other.memory.id == one.memory.id]
        if not again:
            console.line("It was decided elsewhere before you answered.")
            return "l", one
        console.line("It was changed before you answered. Now it says:")
        one = again[0]


def _act(memory: Recollect, one: Waiting, key: str, why: str, counts: dict[str, int]) -> bool:
    """Do what was answered to the very words that were shown. False when there are others by now."""
    id, seen = one.memory.id, one.memory.revision
    better = input("Better words: ").strip() if key == "e" else ""
    try:
        if key == "c":
            memory.confirm(id, why=why, if_revision=seen)
        elif key == "r":
            memory.reject(id, why=why, if_revision=seen)
        elif better:
            edited = memory.edit(id, content=better, why=why, if_revision=seen)
            memory.confirm(id, why=why, if_revision=edited.revision)
    except (MemoryNotFound, MemoryNotOpen, StaleEdit):
        return False
    counts["confirmed" if key == "c" else "rejected" if key == "r" else "edited" if better else "left"] += 1
    return True


def _ask(console: Console) -> str:
    while True:
        try:
            answer = input(f"{_KEYS} > ").strip().casefold()[:1]
        except EOFError:
            return "q"
        if answer in set("cerlaq"):
            return answer
        console.line("Please answer with one of the letters in brackets.")


def _show_waiting(one: Waiting, console: Console) -> None:
    memory = one.memory
    console.line(f"{memory.kind} · {memory.confidence:.2f} · {memory.id}")
    console.lines(f"  {memory.content}", margin=MARGIN)
    named = ", ".join(one.sessions[-_SESSIONS:])
    more = f" and {len(one.sessions) - _SESSIONS} more" if len(one.sessions) > _SESSIONS else ""
    told = f"  seen in {counted(len(one.sessions), 'session')} ({named}{more})"
    console.line(told + (f", about {one.saves:,} tokens each time" if one.saves else ""))
    if one.tainted:
        console.line(f"  careful: words of it came from {memory.attributes.get('taint', 'outside')}")
    elif one.is_foreign:
        console.line("  careful: in the words of a tool or an agent")


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
            else "Nothing points anywhere."
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
        console.line("Nothing is known to fail twice.")
    return FINE


# --- trust: how sure a memory must be before an agent is told of it unasked ------------------------------------------


def arguments_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "level", nargs="?", choices=(*LEVELS, ADOPT), metavar="LEVEL",
        help=f"choose {', '.join(LEVELS)}; the record starts anew with it. `adopt` takes a store that came from "
        "elsewhere as yours, after showing what is in it",
    )  # fmt: skip


def arguments_told(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="only what this session was told")
    which.add_argument("--last", action="store_true", help="only what the last session was told")
    parser.add_argument("--limit", type=int, default=_TOLD, metavar="N", help=f"at most so many (default {_TOLD})")
    parser.add_argument("--reject", nargs="+", metavar="ID", default=[], help="these are wrong and must not come back")
    parser.add_argument("--why", default="", help="the reason, for the log")


def run_told(args: argparse.Namespace, console: Console) -> int:
    if args.limit < 1:
        raise InvalidField("limit", "must be at least 1")
    with open_from(args, create=False) as memory:
        rejected = [memory.reject(id, why=args.why) for id in args.reject]
        told = memory.told(session=args.session, last=args.last, limit=args.limit)
    if console.json:
        console.value(
            {
                "rejected": [str(one.id) for one in rejected],
                "told": [
                    {
                        "id": one.id, "at": one.at.isoformat(), "moment": one.moment, "session": one.session,
                        "host": one.host, "status": one.status, "content": one.content,
                    }
                    for one in told
                ],
            }
        )  # fmt: skip
        return FINE
    for memory_rejected in rejected:
        console.line(f"Rejected, and it will not come back: {excerpt(memory_rejected.content, _TOLD_CHARS)}")
    if not told:
        console.line("Agents were told nothing yet.")
    session = ""
    for one in told:
        if one.session != session:
            session = one.session
            console.line(f"{one.host or 'session'} {session}")
        state = "" if one.status in ("active", "") else f" [{one.status}]"
        text = excerpt(one.content, _TOLD_CHARS) or "(not in this store: forgotten, or from your own)"
        console.line(f"{MARGIN}{one.at.astimezone():%Y-%m-%d %H:%M} {one.moment}{state} {text} [{one.id[-8:]}]")
    if told:
        console.note("`recollect told --reject ID` takes back what is wrong.")
    return FINE


def run_trust(args: argparse.Namespace, console: Console) -> int:
    if args.level == ADOPT:
        return _adopt(args, console)
    with open_from(args, create=False) as memory:
        trust = memory.trust(args.level)
    seen = trust.record
    if console.json:
        counts = {name: getattr(seen, name) for name in seen.__slots__}
        console.value({"level": trust.level, "threshold": trust.threshold, "offered": trust.offered, "record": counts})
        return FINE
    console.line(
        f"{trust.level}: agents are told unasked what is at least {trust.threshold:.2f} sure"
        f"{_describe_level(trust.level)}."
    )
    console.line(
        f"Since it was chosen: {counted(seen.sessions, 'session')}, {seen.confirmed} of {seen.reviewed} reviewed"
        f" memories confirmed, {seen.corrected} of {seen.used} told ones corrected."
    )
    if trust.offered:
        console.line(
            f"{seen.flagged} were flagged in the last session: `recollect trust {trust.offered}` tells agents less."
        )
    return FINE


def _adopt(args: argparse.Namespace, console: Console) -> int:
    """Show what a foreign store holds and would tell, ask, and mark it as this person's."""
    require_person(args, "adopt a store")
    with open_from(args) as memory:
        if not memory.is_foreign:
            if console.json:
                console.value({"adopted": False, "foreign": False})
            else:
                console.line("It is yours already.")
            return FINE
        while True:
            shown = memory.state()
            sources, sample = _sample(memory)
            if not console.json:
                console.line(
                    f"{memory.path} holds {_join(sources) or 'no memories'}. Agents would be told, for example:"
                )
                for known in sample:
                    console.line(f"  {known.kind} ({known.source}): {excerpt(known.content, 160)}")
            asked = not console.json and not args.as_person
            if asked and not _agrees():
                console.line("Nothing was changed.")
                return FOUND
            try:
                kept = memory.adopt(shown=shown)
                break
            except StoreChanged:
                if not asked:
                    raise
                console.line("It was changed before you answered. Now:")
        if not kept:
            raise NoStoreKey(os.path.join(state_folder(), KEY))
    if console.json:
        told = [{"id": known.id, "source": str(known.source), "content": known.content} for known in sample]
        console.value({"adopted": True, "foreign": False, "sources": sources, "sample": told})
    else:
        console.line(f"Adopted. Agents are told at the level {LEVELS[0]}; `recollect trust LEVEL` chooses another.")
    return FINE


def _sample(memory: Recollect) -> tuple[dict[str, int], list[Memory]]:
    """How many memories of each source there are, and some that agents would be told."""
    counts = {str(source): memory.count(Filter(sources=frozenset({source}))) for source in Source}
    leading = [*memory.list(Filter(pinned=True), limit=_SAMPLE).memories, *memory.list(limit=_SAMPLE).memories]
    sample = list({known.id: known for known in leading}.values())[:_SAMPLE]
    return {name: count for name, count in counts.items() if count}, sample


def _agrees() -> bool:
    try:
        return input("Is this yours, and do you trust it? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:  # Ctrl-D is no
        return False


def _join(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())


def _describe_level(level: str) -> str:
    return ", and confirmed or taught by a person" if level == LEVELS[0] else ""
