"""The command that keeps this project in step with the team's server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from recollect.core.text import counted
from recollect.interfaces.cli.console import FINE, FOUND, Console, open_from, require_person
from recollect.interfaces.payloads.sync import sync_report_json, sync_status_json

if TYPE_CHECKING:
    from recollect.sync.api import SyncStatus
    from recollect.sync.run import SyncReport

_SHOWN = 10  # refusals listed


def arguments_sync(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--now", action="store_true", help="also send how often memories were read (else once a day)")
    parser.add_argument("--status", action="store_true", help="how things stand, without asking the server")
    parser.add_argument("--dry-run", action="store_true", help="tell what would be sent and fetched; change nothing")
    parser.add_argument(
        "--link", action="store_true", help="this project and the server's are one, whatever their names"
    )
    parser.add_argument("--allow-deletions", action="store_true", help="follow a mass deletion, in both directions")


def run_sync(args: argparse.Namespace, console: Console) -> int:
    if args.link or args.allow_deletions:
        require_person(args, "link a project or allow a mass deletion")
    with open_from(args) as memory:
        if args.status:
            return _show_status(memory.sync.status(), console)
        if args.dry_run:
            return _show_report(memory.sync.preview(), console)
        report = memory.sync.run(link=args.link, everything=args.now, allow_deletions=args.allow_deletions)
    return _show_report(report, console)


def _show_report(report: SyncReport, console: Console) -> int:
    if console.json:
        console.value(sync_report_json(report))
        return FOUND if report.conflicts or report.refused else FINE
    if report.dry_run:
        console.line(f"Would fetch {report.fetched:,} and send {report.sent:,} changes.")
    elif not (report.fetched or report.sent or report.deleted):
        console.line(f"Already in step with {report.project}.")
    else:
        deleted = f", deleted {report.deleted:,}" if report.deleted else ""
        console.line(f"In step with {report.project}: fetched {report.fetched:,}, sent {report.sent:,}{deleted}.")
    for why, count in sorted(report.stayed.items()):
        console.line(f"  {count:,} stayed here: {why}")
    for key, why in list(report.refused.items())[:_SHOWN]:
        console.note(f"  ! {key}: {why}")
    if len(report.refused) > _SHOWN:
        console.note(f"  ! … and {len(report.refused) - _SHOWN:,} more")
    for note in report.notes:
        console.note(f"  ! {note}")
    if report.waiting and not report.dry_run:
        console.note(f"  ! {counted(report.waiting, 'change')} wait for the next sync")
    if report.conflicts:
        memories = "memory was" if len(report.conflicts) == 1 else "memories were"
        console.note(f"{len(report.conflicts):,} {memories} changed on both sides: run `recollect review`.")
    return FOUND if report.conflicts or report.refused else FINE


def _show_status(status: SyncStatus, console: Console) -> int:
    if console.json:
        console.value(sync_status_json(status))
        return FINE
    told = sync_status_json(status)
    console.line(f"  server   {told['server'] or 'none: set sync_server and sync_token'}")
    console.line(f"  project  {status.project or 'not linked yet'}")
    console.line(f"  mode     {status.mode}")
    console.line(f"  synced   {told['synced_at'] or 'never'}")
    console.line(f"  shared   {status.shared:,} memories; {status.waiting:,} changes wait")
    for why, count in status.staying.items():
        console.line(f"  {count:,} do not travel: {why}")
    if status.held_deletions:
        console.note(
            f"  ! {status.held_deletions:,} deletions on the server wait for you: `recollect sync --allow-deletions`"
        )
    if status.trouble:
        console.note(f"  ! {status.trouble}")
    return FINE
