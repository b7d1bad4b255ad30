"""`recollect tend`: do what is waiting between questions."""

from __future__ import annotations

import argparse

from recollect.interfaces.cli.console import FINE, Console, open_from


def arguments_tend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--most", type=int, metavar="N", help="at most this many memories")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="at most this long; the rest waits for the next time"
    )
    parser.add_argument("--back", action="store_true", help="put the vectors of the model before this one back")


def run_tend(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        if args.back:
            model = memory.put_vectors_back()
            if console.json:
                console.value({"model": model})
            else:
                console.line(f"Vectors of {model} answer again.")
            return FINE
        done = memory.tend(
            most=args.most,
            seconds=args.seconds,
            progress=lambda count, waiting: console.progress("embedded", count, count + waiting),
        )
    console.progress_done()
    if console.json:
        console.value(
            None if done is None else {"model": done.model, "embedded": done.embedded, "waiting": done.waiting}
        )
    elif done is None:
        console.line("Nothing to do: no embedding model is at hand. `recollect models install` fetches one.")
    else:
        console.line(f"{done.embedded} memories embedded with {done.model}, {done.waiting} waiting.")
    return FINE
