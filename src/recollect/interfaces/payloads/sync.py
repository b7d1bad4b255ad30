"""A sync and how a project stands to its server, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.core.forms import iso
from recollect.interfaces.payloads.base import without_secret

if TYPE_CHECKING:
    from recollect.sync.api import SyncStatus
    from recollect.sync.run import SyncReport

Json = dict[str, Any]


def sync_report_json(report: SyncReport) -> Json:
    """What a sync did, or would do."""
    return {
        "server": report.server,
        "project": report.project,
        "dry_run": report.dry_run,
        "fetched": report.fetched,
        "sent": report.sent,
        "deleted": report.deleted,
        "conflicts": list(report.conflicts),
        "stayed": dict(sorted(report.stayed.items())),
        "refused": dict(report.refused),
        "waiting": report.waiting,
        "held_deletions": report.held_deletions,
        "notes": list(report.notes),
    }


def sync_status_json(status: SyncStatus) -> Json:
    """How a project stands to its server."""
    return {
        "server": without_secret(status.server),
        "project": status.project,
        "synced_at": None if status.synced_at is None else iso(status.synced_at),
        "mode": status.mode,
        "shared": status.shared,
        "waiting": status.waiting,
        "held_deletions": status.held_deletions,
        "staying": dict(status.staying),
        "trouble": status.trouble,
    }
