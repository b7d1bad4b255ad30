"""What agents are told unasked: see it and take it back (told), and choose how much that is (trust)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from recollect.agent.trust import LEVELS
from recollect.core.errors import InvalidField, NoStoreKey, StoreChanged
from recollect.core.query import Filter
from recollect.core.scope import Source
from recollect.core.text import counted, excerpt
from recollect.files.mark import KEY
from recollect.files.project import state_folder
from recollect.interfaces.cli.console import FINE, FOUND, MARGIN, Console, open_from, require_person
from recollect.interfaces.payloads.people import told_json

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.records import Memory

ADOPT = "adopt"
_SAMPLE = 5  # memories that are shown of a store before it is adopted
_TOLD, _TOLD_CHARS = 50, 100  # of what agents were told: memories, and characters of each


def arguments_told(parser: argparse.ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--session", metavar="ID", help="only what this session was told")
    which.add_argument("--last", action="store_true", help="only what the last session was told")
    parser.add_argument("--limit", type=int, default=_TOLD, metavar="N", help=f"at most this many (default {_TOLD})")
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
                "told": [told_json(one) for one in told],
            }
        )
        return FINE
    for memory_rejected in rejected:
        console.line(f"Rejected, and it will not come back: {excerpt(memory_rejected.content, _TOLD_CHARS)}")
    if not told:
        console.line("Agents have not been told anything yet.")
    session = ""
    for one in told:
        if one.session != session:
            session = one.session
            console.line(f"{one.host or 'session'} {session}")
        state = "" if one.status in ("active", "") else f" [{one.status}]"
        text = excerpt(one.content, _TOLD_CHARS) or "(not in this store: forgotten, or from your own)"
        mark = f"[{one.id[-8:]}]" if one.id else "(a warning from earlier sessions)"
        console.line(f"{MARGIN}{one.at.astimezone():%Y-%m-%d %H:%M} {one.moment}{state} {text} {mark}")
    if told:
        console.note("Wrong? `recollect told --reject ID` removes it for good; `recollect undo` brings it back.")
    return FINE


# --- trust: how sure a memory must be before an agent is told of it unasked ------------------------------------------


def arguments_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "level", nargs="?", choices=(*LEVELS, ADOPT), metavar="LEVEL",
        help=f"choose {', '.join(LEVELS)}; counting starts over then. `adopt` makes a store that came from elsewhere "
        "yours, after showing what is in it",
    )  # fmt: skip


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
        f"{trust.level}: agents are told unasked what you said or confirmed, and what two sessions showed if it is at "
        f"least {trust.threshold:.2f} sure."
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
