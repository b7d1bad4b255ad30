"""`recollect tend`: do what is due between questions, or install something that does it regularly."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.app import Recollect
from recollect.core.errors import StoreMissing
from recollect.interfaces.cli.console import FINE, FOUND, Console, open_from

if TYPE_CHECKING:
    from recollect.core.chores import Done, Plan
    from recollect.tend.run import Tended


def arguments_tend(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--job", metavar="NAME", help="only this one, due or not: vectors, consolidate, enrich, …")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done and why; change nothing")
    parser.add_argument("--most", "--budget", type=int, metavar="N", help="at most this many steps of each job")
    parser.add_argument(
        "--seconds", type=float, metavar="S", help="at most this long; the rest waits for the next time"
    )
    parser.add_argument("--back", action="store_true", help="put the vectors of the model before this one back")
    parser.add_argument(
        "--install",
        choices=["cron", "systemd", "launchd"],
        help="tend regularly from now on; shown only with --dry-run",
    )


def run_tend(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        if args.back:
            return _back(memory, console)
        if args.install:
            return _install(memory, args, console)
        done = memory.tend(
            job=args.job,
            dry_run=args.dry_run,
            most=args.most,
            seconds=args.seconds,
            progress=lambda count, waiting: console.progress("done", count, count + waiting),
        )
    console.progress_done()
    if console.json:
        console.value(_json(done))
    elif args.dry_run:
        _show_plans(done, console)
    else:
        _show(done, console, whole=args.job is not None)
    return FOUND if any(report.failed for report in done.reports) else FINE


def _json(done: Tended) -> dict[str, Any]:
    return {
        "model": done.model,
        "embedded": done.embedded,
        "waiting": done.waiting,
        "reports": [_report(one) for one in done.reports],
        "plans": [_plan(one) for one in done.plans],
        "skipped": list(done.skipped),
    }


def _report(done: Done) -> dict[str, Any]:
    return {
        "job": done.chore,
        "done": done.done,
        "waiting": done.waiting,
        "failed": done.failed,
        "notes": list(done.notes),
        "details": dict(done.details),
    }


def _plan(plan: Plan) -> dict[str, Any]:
    steps = [{"what": step.what, "why": step.why} for step in plan.steps]
    return {"job": plan.chore, "total": plan.total, "note": plan.note, "steps": steps}


def _show_plans(done: Tended, console: Console) -> None:
    for plan in done.plans:
        console.line(f"{plan.chore}: {plan.total or 'nothing'} to do{f' ({plan.note})' if plan.note else ''}")
        for step in plan.steps:
            console.line(f"  {step.what} — {step.why}")


def _show(done: Tended, console: Console, *, whole: bool) -> None:
    """What was done; a chore that found nothing to do is not worth a line, unless it was asked for by name."""
    if done.model is None and not whole:
        console.note("No embedding model is at hand. `recollect models install` fetches one.")
    elif done.model is not None:
        console.line(f"{done.embedded} memories embedded with {done.model}, {done.waiting} waiting.")
    for report in done.reports:
        if not (whole or report.done or report.waiting or report.failed):
            continue
        if report.chore != "vectors" or report.failed:
            told = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in report.details.items())
            state = "failed" if report.failed else f"{report.done} done, {report.waiting} waiting"
            console.line(f"{report.chore}: {state}{f' ({told})' if told else ''}")
        for note in report.notes:
            console.note(f"  ! {note}")
    for skipped in done.skipped:
        console.note(f"  ! {skipped}")


def _back(memory: Recollect, console: Console) -> int:
    model = memory.put_vectors_back()
    if console.json:
        console.value({"model": model})
    else:
        console.line(f"Vectors of {model} answer again.")
    return FINE


def _install(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
    from recollect.tend.install import install, installation

    if memory.path is None:
        raise StoreMissing(":memory:")
    plan = installation(args.install, memory.path.resolve(), home=Path.home())
    if not args.dry_run:
        install(plan)
    if console.json:
        files = {str(path): text for path, text in plan.files}
        console.value({"scheduler": plan.scheduler, "files": files, "line": plan.line, "start": list(plan.start)})
        return FINE
    for path, text in plan.files:
        console.line(f"# {path}")
        console.line(text)
    console.line(plan.line or shlex.join(plan.start))
    return FINE
