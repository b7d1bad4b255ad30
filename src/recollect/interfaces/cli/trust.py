"""`recollect trust`: how sure a memory must be before an agent is told of it unasked."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime

from recollect.agent.settle import choose_level, record
from recollect.agent.trust import LEVELS, THRESHOLDS, level_of, offered
from recollect.core.text import counted
from recollect.interfaces.cli.console import FINE, Console, open_from


def arguments_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("level", nargs="?", choices=LEVELS, help="choose this one; the record starts anew with it")


def run_trust(args: argparse.Namespace, console: Console) -> int:
    now = datetime.now(UTC)
    with open_from(args, create=False) as memory:
        if args.level:
            choose_level(memory.store, args.level, now)
        level, seen = level_of(memory.store), record(memory.store, now)
    careful = offered(level, seen)
    if console.json:
        counts = {name: getattr(seen, name) for name in seen.__slots__}
        console.value({"level": level, "threshold": THRESHOLDS[level], "offered": careful, "record": counts})
        return FINE
    console.line(f"{level}: agents are told unasked what is at least {THRESHOLDS[level]:.2f} sure{_also(level)}.")
    console.line(
        f"Since it was chosen: {counted(seen.sessions, 'session')}, {seen.confirmed} of {seen.reviewed} reviewed"
        f" memories confirmed, {seen.corrected} of {seen.used} told ones corrected."
    )
    if careful:
        console.line(f"{seen.flagged} were flagged in the last session: `recollect trust {careful}` tells agents less.")
    return FINE


def _also(level: str) -> str:
    return ", and confirmed or taught by a person" if level == LEVELS[0] else ""
