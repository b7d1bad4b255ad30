"""Commands that look after the store: backup, restore, check, repair, scan, and tend, which does what is due."""

from __future__ import annotations

import argparse
import shlex
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.app import Recollect
from recollect.core.errors import FileOnly, InvalidField, StoreError, StoreMissing
from recollect.core.text import counted
from recollect.interfaces.cli.console import FINE, FOUND, Console, open_from
from recollect.interfaces.payloads.store import check_json, restored_json
from recollect.tend.maintenance import newest_backup, restore_backup, salvage_store
from recollect.wiring import doubt_of, is_on_server, keep_mark, kinds_of, locate

if TYPE_CHECKING:
    from recollect.core.chores import Done, Plan
    from recollect.tend.maintenance import RepairReport
    from recollect.tend.runner import Tended

# --- backup and restore --------------------------------------------------------------------------------------------


def arguments_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("to", nargs="?", metavar="FILE", help="where to (default: backups/ beside the store)")


def run_backup(args: argparse.Namespace, console: Console) -> int:
    target = None if args.to is None else Path(args.to)
    if target is not None and target.exists():
        raise InvalidField("backup", f"{target} exists already", hint="Name a new file; backups are never overwritten.")
    with open_from(args) as memory:
        made = memory.maintenance.backup(target)
    if console.json:
        console.value({"path": str(made)})
    else:
        console.line(f"Backed up and verified: {made}")
    return FINE


def arguments_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("backup", nargs="?", metavar="FILE", help="which (default: the newest beside the store)")


def run_restore(args: argparse.Namespace, console: Console) -> int:
    from recollect.config import Settings

    path = _store_file(args, "Restoring")
    backup = newest_backup(path) if args.backup is None else Path(args.backup)
    with keep_mark(path, backup):
        restored = restore_backup(path, backup, kinds=kinds_of(Settings()))
    if console.json:
        console.value(restored_json(restored))
        return FINE
    console.line(f"Restored {restored.backup}.")
    again = restored.reapplied
    done = {
        "erased": again.erased,
        "forgotten": again.forgotten,
        "rejected": again.rejected,
        "redacted": again.redacted,
    }
    for name, count in done.items():
        if count:
            console.line(f"{name.capitalize()} after the backup was made, and {name} again: {_memories(count)}.")
    if again.tombstones:
        console.line(f"{counted(again.tombstones, 'tombstone')} set after the backup was made stand again.")
    if restored.set_aside is not None:
        console.line(f"What was there before is kept at {restored.set_aside}.")
        if restored.newer:
            console.line(f"It holds {_memories(restored.newer)} that the backup lacks.")
    if not restored.read_whole:
        console.note("  ! It could not be read whole: what was forgotten since the backup may be back.")
    if doubt := doubt_of(path):
        console.note(f"  ! The store is foreign now: {doubt}, and nothing proves who wrote this copy.")
        console.note("    Look at it with `recollect list`; `recollect trust adopt` makes it yours.")
    return FINE


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


# --- check and repair ----------------------------------------------------------------------------------------------


def arguments_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="leave out comparing the indexes with the rows")


def run_check(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        report = memory.maintenance.check(quick=args.quick, progress=_checking(console))
    console.progress_done()
    if console.json:
        console.value(check_json(report))
    elif report.ok:
        console.line(f"{report.memories:,} memories, all sound.")
    else:
        for finding in report.findings:
            console.line(f"{finding.area}: {finding.problem}")
        console.note("  → `recollect repair` mends this and deletes nothing.")
    return FINE if report.ok else FOUND


def _checking(console: Console) -> Callable[[str, int], None]:
    """Progress of a check: how many rows were looked at so far."""
    seen = 0

    def progress(area: str, count: int) -> None:
        nonlocal seen
        seen += count
        console.progress(f"checking {area}", seen)

    return progress


def arguments_repair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="rebuild the indexes even if they look sound")


def run_repair(args: argparse.Namespace, console: Console) -> int:
    try:
        with open_from(args) as memory:
            outcome = memory.maintenance.repair(always=args.rebuild, progress=_checking(console))
        console.progress_done()
    except StoreMissing:
        raise
    except StoreError as error:
        if not _is_damage(error) or is_on_server(args.store):
            raise
        from recollect.config import Settings

        console.progress_done()
        path = _store_file(args, "Salvaging")
        with keep_mark(path):
            outcome = salvage_store(path, kinds_of(Settings()))
    _show_repair(outcome, console)
    return FOUND if outcome.lost else FINE


def _is_damage(error: StoreError) -> bool:
    return error.code in ("store-damaged", "store-altered", "not-a-store")


def _show_repair(outcome: RepairReport, console: Console) -> None:
    if console.json:
        console.value(
            {
                "rebuilt": list(outcome.rebuilt),
                "quarantined": None if outcome.quarantined is None else str(outcome.quarantined),
                "salvaged": outcome.salvaged,
                "lost": list(outcome.lost),
                "tombstones": outcome.tombstones,
            }
        )
        return
    if outcome.quarantined is not None:
        console.line(f"The damaged file is kept, untouched, at {outcome.quarantined}.")
        console.line(
            f"{outcome.salvaged:,} memories were carried into a new one; {len(outcome.lost)} could not be read."
        )
        if outcome.tombstones:
            console.line(f"{counted(outcome.tombstones, 'tombstone')} that only the log knew of hold again.")
        console.line("If a backup knows more, `recollect restore` puts it back.")
    elif outcome.rebuilt:
        console.line(f"Rebuilt from the rows: {', '.join(outcome.rebuilt)}.")
    else:
        console.line("Nothing to repair.")


# --- scan ----------------------------------------------------------------------------------------------------------


def arguments_scan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="files to look through (default: what is stored)")
    parser.add_argument("--fix", action="store_true", help="replace the secrets in what is stored by placeholders")
    parser.add_argument(
        "--backups",
        action="store_true",
        help="with --fix: make a fresh backup and remove the copies that hold a secret",
    )


def run_scan(args: argparse.Namespace, console: Console) -> int:
    findings = _scan_files(args.paths) if args.paths else _scan_store(args, console)
    if console.json:
        console.value({"findings": findings})
    else:
        for finding in findings:
            place = f"{finding['place']} " if finding["place"] else ""
            console.line(f"{place}{finding['where']}: {finding['rule']}" + _outcome(finding))
        for place, number in sorted(Counter(str(finding["place"]) for finding in findings if finding["place"]).items()):
            console.note(f"  {place}: {number}")
        console.note(counted(len(findings), "secret"))
    return FOUND if any(not finding["fixed"] for finding in findings) else FINE


def _outcome(finding: Mapping[str, object]) -> str:
    if finding["fixed"]:
        return " (removed)" if finding["place"] in ("backup", "quarantine") else " (redacted)"
    return f" ({finding['way']})" if finding["way"] else ""


def _scan_store(args: argparse.Namespace, console: Console) -> list[dict[str, object]]:
    with open_from(args) as memory:
        found = memory.maintenance.find_secrets(
            fix=args.fix, backups=args.backups, progress=lambda seen: console.progress("scanning", seen)
        )
    console.progress_done()
    return [
        {"place": one.place, "where": one.where, "rule": one.rule, "fixed": one.fixed, "way": one.way} for one in found
    ]


def _scan_files(paths: list[str]) -> list[dict[str, object]]:
    from recollect.privacy.scan import scan

    findings: list[dict[str, object]] = []
    for name in paths:
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InvalidField(name, error.strerror or "cannot be read") from None
        findings += [
            {
                "place": "",
                "where": f"{name}:{text.count(chr(10), 0, found.start) + 1}",
                "rule": found.rule,
                "fixed": False,
                "way": "",
            }
            for found in scan(text)
        ]
    return findings


def _store_file(args: argparse.Namespace, what: str) -> Path:
    path = locate(args.store)
    if is_on_server(args.store):
        raise FileOnly(what, args.store.rpartition("@")[2], hint="Use `pg_restore` or your server's backups.")
    if path is None:
        raise InvalidField("store", "a memory without a file has nothing to care for")
    return path


# --- tend: do what is due, or install something that does it regularly -----------------------------------------------


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
            return _restore_vectors(memory, console)
        if args.install:
            return _install_schedule(memory, args, console)
        done = memory.tend(
            job=args.job,
            dry_run=args.dry_run,
            most=args.most,
            seconds=args.seconds,
            progress=lambda count, waiting: console.progress("done", count, count + waiting),
        )
    console.progress_done()
    if console.json:
        console.value(_tended_json(done))
    elif args.dry_run:
        _show_plans(done, console)
    else:
        _show_reports(done, console, whole=args.job is not None)
    return FOUND if any(report.failed for report in done.reports) else FINE


def _tended_json(done: Tended) -> dict[str, Any]:
    return {
        "model": done.model,
        "embedded": done.embedded,
        "waiting": done.waiting,
        "reports": [_report_json(report) for report in done.reports],
        "plans": [_plan_json(plan) for plan in done.plans],
        "skipped": list(done.skipped),
    }


def _report_json(done: Done) -> dict[str, Any]:
    return {
        "job": done.chore,
        "done": done.done,
        "waiting": done.waiting,
        "failed": done.failed,
        "notes": list(done.notes),
        "details": dict(done.details),
    }


def _plan_json(plan: Plan) -> dict[str, Any]:
    steps = [{"what": step.what, "why": step.why} for step in plan.steps]
    return {"job": plan.chore, "total": plan.total, "note": plan.note, "steps": steps}


def _show_plans(done: Tended, console: Console) -> None:
    for plan in done.plans:
        console.line(f"{plan.chore}: {plan.total or 'nothing'} to do{f' ({plan.note})' if plan.note else ''}")
        for step in plan.steps:
            console.line(f"  {step.what} — {step.why}")


def _show_reports(done: Tended, console: Console, *, whole: bool) -> None:
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


def _restore_vectors(memory: Recollect, console: Console) -> int:
    model = memory.put_vectors_back()
    if console.json:
        console.value({"model": model})
    else:
        console.line(f"Vectors of {model} answer again.")
    return FINE


def _install_schedule(memory: Recollect, args: argparse.Namespace, console: Console) -> int:
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
        console.lines(text)
    console.line(plan.line or shlex.join(plan.start))
    return FINE
