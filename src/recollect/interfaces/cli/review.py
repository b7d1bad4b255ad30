"""`recollect review`: what was inferred, one after the other: confirm, edit, reject, later. Scriptable by options."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from recollect.core.text import counted
from recollect.interfaces.cli.console import FINE, Console, open_from

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.observer.review import Waiting

_KEYS = "[c]onfirm  [e]dit  [r]eject  [a]ll confirm  [l]ater  [q]uit"
_NONE = "Nothing waits for review. `recollect observe` learns from transcripts."
_SESSIONS = 3  # sessions of the evidence that are named


def arguments_review(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most this many (default 50)")
    parser.add_argument("--list", action="store_true", help="only tell what waits")
    parser.add_argument("--confirm", nargs="+", default=[], metavar="ID", help="confirm these")
    parser.add_argument("--reject", nargs="+", default=[], metavar="ID", help="reject these")
    parser.add_argument("--all-confirm", action="store_true", help="confirm all that nothing from outside has touched")
    parser.add_argument("--tainted", action="store_true", help="with --all-confirm: the others too")
    parser.add_argument("--why", default="", help="the reason, for the ledger")


def run_review(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        if args.confirm or args.reject or args.all_confirm:
            return _decided(memory, args, console)
        queue = memory.observer.waiting(limit=max(0, args.limit))
        if console.json or args.list or not sys.stdin.isatty():
            return _listed(memory, queue, console)
        return _walked(memory, queue, args.why, console)


def _decided(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    confirmed = list(args.confirm)
    if args.all_confirm:
        spared = {memory.get(id).id for id in args.reject}
        queue = memory.observer.waiting(limit=max(0, args.limit))
        confirmed += [
            one.memory.id for one in queue if one.memory.id not in spared and (args.tainted or not one.tainted)
        ]
    confirmed = [memory.confirm(id, why=args.why).id for id in dict.fromkeys(confirmed)]
    rejected = [memory.reject(id, why=args.why).id for id in args.reject]
    waiting = memory.observer.waiting_count()
    if console.json:
        console.value({"confirmed": confirmed, "rejected": rejected, "waiting": waiting})
    else:
        console.line(f"{len(confirmed)} confirmed, {len(rejected)} rejected, {waiting} left to review.")
    return FINE


def _listed(memory: Recollect, queue: list[Waiting], console: Console) -> int:
    if console.json:
        from recollect.interfaces.reports import waiting_json

        console.value({"waiting": [waiting_json(one) for one in queue], "total": memory.observer.waiting_count()})
        return FINE
    for one in queue:
        _show(one, console)
    waiting = memory.observer.waiting_count()
    if waiting:
        console.line(f"{waiting:,} to review: `recollect review --confirm ID`, `--reject ID`, `--all-confirm`.")
    else:
        console.line(_NONE)
    return FINE


def _walked(memory: Recollect, queue: list[Waiting], why: str, console: Console) -> int:
    """One after the other, until the queue ends or the person does."""
    if not queue:
        console.line(_NONE)
        return FINE
    counts = {"confirmed": 0, "edited": 0, "rejected": 0, "left": 0}
    saved = 0
    for number, one in enumerate(queue):
        console.line(f"{number + 1}/{len(queue)}")
        _show(one, console)
        key = _asked(console)
        if key == "q":
            counts["left"] += len(queue) - number
            break
        if key == "a":
            for rest in queue[number:]:
                if not rest.tainted:
                    memory.confirm(rest.memory.id, why=why)
                    counts["confirmed"] += 1
                    saved += rest.saves
                else:
                    counts["left"] += 1
            break
        saved += one.saves if key in ("c", "e") else 0
        _done(memory, one, key, why, counts)
    console.line(
        f"{counts['confirmed']} confirmed, {counts['edited']} edited, {counts['rejected']} rejected, "
        f"{counts['left']} left for later." + (f" That saves about {saved:,} tokens each time." if saved else "")
    )
    return FINE


def _done(memory: Recollect, one: Waiting, key: str, why: str, counts: dict[str, int]) -> None:
    if key == "e":
        better = input("Better words: ").strip()
        if better:
            memory.edit(one.memory.id, content=better, why=why)
            memory.confirm(one.memory.id, why=why)
            counts["edited"] += 1
        else:
            counts["left"] += 1
    elif key == "c":
        memory.confirm(one.memory.id, why=why)
        counts["confirmed"] += 1
    elif key == "r":
        memory.reject(one.memory.id, why=why)
        counts["rejected"] += 1
    else:
        counts["left"] += 1


def _asked(console: Console) -> str:
    while True:
        try:
            answer = input(f"{_KEYS} > ").strip().casefold()[:1]
        except EOFError:
            return "q"
        if answer in set("cerlaq"):
            return answer
        console.line("Please answer with one of the letters in brackets.")


def _show(one: Waiting, console: Console) -> None:
    memory = one.memory
    console.line(f"{memory.kind} · {memory.confidence:.2f} · {memory.id}")
    console.line(f"  {memory.content}")
    named = ", ".join(one.sessions[-_SESSIONS:])
    more = f" and {len(one.sessions) - _SESSIONS} more" if len(one.sessions) > _SESSIONS else ""
    told = f"  seen in {counted(len(one.sessions), 'session')} ({named}{more})"
    console.line(told + (f", about {one.saves:,} tokens each time" if one.saves else ""))
    if one.tainted:
        console.line(f"  careful: learnt after {memory.attributes.get('taint', 'something from outside')}")
