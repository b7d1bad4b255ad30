"""`recollect foresee`: the files a task will touch by what was observed, and the calls that tend to fail."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField
from recollect.interfaces.cli.console import FINE, Console, open_from

if TYPE_CHECKING:
    from recollect.observer.foresee import Pattern


def arguments_foresee(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="*", metavar="WORDS", help="what the session is asked for")
    parser.add_argument("-k", type=int, default=10, metavar="N", help="how many at most (default 10)")
    parser.add_argument("--branch", default="", metavar="NAME", help="the branch the work is on")
    parser.add_argument("--failures", action="store_true", help="what tends to fail here, instead of files")


def run_foresee(args: argparse.Namespace, console: Console) -> int:
    prompt = " ".join(args.prompt)
    if bool(prompt) == args.failures:
        raise InvalidField(
            "WORDS", "say what the task is, or --failures", hint="For example `recollect foresee fix the parser`."
        )
    if args.k < 1:
        raise InvalidField("-k", "at least 1")
    with open_from(args, create=False) as memory:
        if args.failures:
            return _failures(memory.observer.patterns()[: args.k], console)
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


def _failures(patterns: list[Pattern], console: Console) -> int:
    from recollect.observer.foresee import Match, warning

    likely = [(one, one.most) for one in patterns]
    if console.json:
        told = [
            {"tool": one.tool, "sort": one.sort, "what": one.what, "likelihood": round(most, 3),
             "states": {state: round(odds, 3) for state, odds in sorted(one.odds.items())},
             "sessions": one.sessions, "text": warning(Match(one, most)),
             "memories": [trouble.memory for trouble in one.troubles if trouble.memory]}
            for one, most in likely
        ]  # fmt: skip
        console.value({"patterns": told})
        return FINE
    for one, most in likely:
        console.line(f"{most:4.0%}  {warning(Match(one, most))}")
    if not patterns:
        console.line("Nothing is known to fail twice.")
    return FINE
