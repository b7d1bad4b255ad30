"""Commands that care for the file: backup, restore, check, repair, doctor, scan."""

from __future__ import annotations

import argparse
from pathlib import Path

from recollect.core.errors import BackupNotFound, InvalidField, StoreDamaged, StoreError, StoreMissing
from recollect.core.text import counted
from recollect.interfaces.cli.console import FINE, FOUND, Console, open_from
from recollect.interfaces.reports import check_json
from recollect.store.backup import list_backups, make_backup, put_back
from recollect.store.check import CheckReport, check
from recollect.store.repair import RepairReport, rebuild, salvage
from recollect.store.store import Store
from recollect.wiring import kinds_of, locate

# --- backup and restore --------------------------------------------------------------------------------------------


def arguments_backup(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("to", nargs="?", metavar="FILE", help="where to (default: backups/ beside the store)")


def run_backup(args: argparse.Namespace, console: Console) -> int:
    target = None if args.to is None else Path(args.to)
    if target is not None and target.exists():
        raise InvalidField("backup", f"{target} exists already", hint="Name a new file; backups are never overwritten.")
    with open_from(args) as memory:
        made = make_backup(memory.store.engine, target=target)
    if console.json:
        console.value({"path": str(made)})
    else:
        console.line(f"Backed up and verified: {made}")
    return FINE


def arguments_restore(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("backup", nargs="?", metavar="FILE", help="which (default: the newest beside the store)")


def run_restore(args: argparse.Namespace, console: Console) -> int:
    store = _file(args)
    if args.backup is None:
        known = list_backups(store.parent)
        if not known:
            raise BackupNotFound(str(store.parent / "backups"))
        backup = known[0].path
    else:
        backup = Path(args.backup)
    aside = put_back(backup, store)
    if console.json:
        console.value({"restored": str(backup), "set_aside": None if aside is None else str(aside)})
    else:
        console.line(f"Restored {backup}.")
        if aside is not None:
            console.line(f"What was there before is kept at {aside}.")
    return FINE


# --- check and repair ----------------------------------------------------------------------------------------------


def arguments_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--quick", action="store_true", help="leave out comparing the indexes with the rows")


def run_check(args: argparse.Namespace, console: Console) -> int:
    with open_from(args) as memory:
        report = _checked(memory.store, console, quick=args.quick)
    if console.json:
        console.value(check_json(report))
    elif report.ok:
        console.line(f"{report.memories:,} memories, all sound.")
    else:
        for finding in report.findings:
            console.line(f"{finding.area}: {finding.problem}")
        console.note("  → `recollect repair` mends this and deletes nothing.")
    return FINE if report.ok else FOUND


def _checked(store: Store, console: Console, *, quick: bool = False) -> CheckReport:
    seen = 0

    def progress(area: str, count: int) -> None:
        nonlocal seen
        seen += count
        console.progress(f"checking {area}", seen)

    report = check(store, quick=quick, progress=progress)
    console.progress_done()
    return report


def arguments_repair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rebuild", action="store_true", help="rebuild the indexes even if they look sound")


def run_repair(args: argparse.Namespace, console: Console) -> int:
    path = _file(args)
    try:
        with open_from(args) as memory:
            report = _checked(memory.store, console)
            if report.ok and not args.rebuild:
                outcome = RepairReport()
            elif report.ok or all(finding.projection for finding in report.findings):
                outcome = rebuild(memory.store)
            else:
                raise StoreDamaged(str(path), report.findings[0].problem)
    except StoreMissing:
        raise
    except StoreError as error:
        if not _is_damage(error):
            raise
        from recollect.config import Settings

        outcome = salvage(path, kinds_of(Settings()))
    _tell_repair(outcome, console)
    return FOUND if outcome.lost else FINE


def _is_damage(error: StoreError) -> bool:
    return error.code in ("store-damaged", "not-a-store")


def _tell_repair(outcome: RepairReport, console: Console) -> None:
    if console.json:
        console.value(
            {
                "rebuilt": list(outcome.rebuilt),
                "quarantined": None if outcome.quarantined is None else str(outcome.quarantined),
                "salvaged": outcome.salvaged,
                "lost": list(outcome.lost),
            }
        )
        return
    if outcome.quarantined is not None:
        console.line(f"The damaged file is kept, untouched, at {outcome.quarantined}.")
        console.line(
            f"{outcome.salvaged:,} memories were carried into a new one; {len(outcome.lost)} could not be read."
        )
        console.line("If a backup knows more, `recollect restore` puts it back.")
    elif outcome.rebuilt:
        console.line(f"Rebuilt from the rows: {', '.join(outcome.rebuilt)}.")
    else:
        console.line("Nothing to repair.")


# --- doctor --------------------------------------------------------------------------------------------------------


def arguments_doctor(parser: argparse.ArgumentParser) -> None:
    pass


def run_doctor(args: argparse.Namespace, console: Console) -> int:
    from recollect.interfaces.cli.doctor import examine

    facts, worries = examine(args)
    if console.json:
        console.value({"ok": not worries, "facts": facts, "worries": worries})
        return FOUND if worries else FINE
    for name, value in facts.items():
        if isinstance(value, list):
            console.line(f"{name:>14}  {len(value)}")
            for item in value[:10]:
                console.line(f"{'':>14}    {item}")
        else:
            console.line(f"{name:>14}  {value}")
    for worry in worries:
        console.line(f"  ! {worry}")
    console.line("All well." if not worries else f"{counted(len(worries), 'thing')} to look at.")
    return FOUND if worries else FINE


# --- scan ----------------------------------------------------------------------------------------------------------


def arguments_scan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="FILE", help="files to look through (default: what is stored)")
    parser.add_argument("--fix", action="store_true", help="replace secrets in memories and turns by placeholders")


def run_scan(args: argparse.Namespace, console: Console) -> int:
    findings = _in_files(args.paths) if args.paths else _in_store(args, console)
    if console.json:
        console.value({"findings": findings})
    else:
        for finding in findings:
            console.line(f"{finding['where']}: {finding['rule']}" + (" (redacted)" if finding["fixed"] else ""))
        console.note(counted(len(findings), "secret"))
    return FOUND if any(not finding["fixed"] for finding in findings) else FINE


def _in_store(args: argparse.Namespace, console: Console) -> list[dict[str, object]]:
    from recollect.remember.rescan import redact_stored, redact_turn, secrets_in_turns, stored_secrets

    findings: list[dict[str, object]] = []
    with open_from(args) as memory:
        for seen, (id, rules) in enumerate(stored_secrets(memory.store), start=1):
            console.progress("scanning", seen)
            if args.fix and rules:
                redact_stored(memory.store, id, memory.hand)
            findings += [{"where": id, "rule": rule, "fixed": args.fix} for rule in rules]
        for turn, rules in secrets_in_turns(memory.store):
            if args.fix:
                redact_turn(memory.store, turn)
            findings += [{"where": turn, "rule": rule, "fixed": args.fix} for rule in rules]
        if args.fix and findings:
            memory.store.engine.settle()
    console.progress_done()
    return findings


def _in_files(paths: list[str]) -> list[dict[str, object]]:
    from recollect.privacy.scan import scan

    findings: list[dict[str, object]] = []
    for name in paths:
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise InvalidField(name, error.strerror or "cannot be read") from None
        findings += [
            {"where": f"{name}:{text.count(chr(10), 0, found.start) + 1}", "rule": found.rule, "fixed": False}
            for found in scan(text)
        ]
    return findings


def _file(args: argparse.Namespace) -> Path:
    path = locate(args.store)
    if path is None:
        raise InvalidField("store", "a memory without a file has nothing to care for")
    return path
