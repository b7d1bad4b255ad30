"""The state of a store as plain JSON: health, checks, erasures, projects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.interfaces.payloads.base import Json, iso_time
from recollect.interfaces.payloads.people import _seen_figures, turn_json

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.recall.trend import Trend
    from recollect.remember.subject import Subject
    from recollect.tend.erasure_report import ErasureReport
    from recollect.tend.growth import Growth
    from recollect.tend.maintenance import CheckReport
    from recollect.tend.overview import Activity, DayCount, Facets, Health
    from recollect.tend.projects import ProjectSummary
    from recollect.tend.put_back import Restored


def health_json(health: Health) -> Json:
    return {
        "score": health.score,
        "reasons": [
            {"code": one.code, "points": one.points, "text": one.text, "action": one.action, "count": one.count}
            for one in health.reasons
        ],
        "total": health.total,
        "active": health.active,
        "to_review": health.to_review,
        "growth": growth_json(health.growth),
        "at": iso_time(health.at),
    }


def growth_json(growth: Sequence[Growth]) -> list[Json]:
    """How near the store is to what one file is good for, with what to do about a limit that is passed."""
    return [
        {
            "name": one.name,
            "value": one.value,
            "limit": one.limit,
            "passed": one.is_passed,
            "text": one.describe(),
            "advice": one.advice,
        }
        for one in growth
    ]


def facets_json(found: Facets) -> Json:
    return {
        "total": found.total,
        "facets": {
            name: [{"value": value, "count": count} for value, count in values] for name, values in found.counts.items()
        },
    }


def trend_json(trend: Trend) -> Json:
    """How often something was seen per period."""
    periods = [{"start": iso_time(period.start), "count": period.count} for period in trend.periods]
    return {"by": trend.by, "total": trend.total, "direction": trend.direction, "periods": periods}


def activity_json(activity: Activity) -> Json:
    def days(counts: Sequence[DayCount]) -> list[Json]:
        return [{"day": f"{one.day:%Y-%m-%d}", "name": one.name, "count": one.times} for one in counts]

    return {
        "since": f"{activity.since:%Y-%m-%d}",
        "kinds": days(activity.kinds),
        "sources": days(activity.sources),
        "acts": days(activity.acts),
        "told": days(activity.told),
    }


def subject_json(subject: Subject) -> Json:
    """Who is meant, and who is only like them."""
    near = [{"name": miss.name, "why": miss.why, "mentions": miss.mentions} for miss in subject.near]
    return {"given": subject.given, "names": list(subject.names), "near": near}


def erasure_json(report: ErasureReport) -> Json:
    """What was erased, what was searched and what is left. Only a dry run names memories."""
    return {
        "dry_run": report.dry_run,
        "complete": report.is_complete,
        "memories": [memory.id for memory in report.memories],
        "erased": [
            {"sort": one.sort, "where": one.where, "action": one.action, "count": one.count} for one in report.erased
        ],
        "searched": [{"where": one.where, "size": one.size, "found": one.found} for one in report.searched],
        "remaining": [
            {"sort": one.sort, "where": one.where, "why": one.why, "way": one.way} for one in report.remaining
        ],
        "notes": list(report.notes),
    }


def project_json(project: ProjectSummary) -> Json:
    return {
        "project": project.name,
        "path": project.path,
        "memories": project.memories,
        "changed_at": iso_time(project.changed_at),
        "personal": project.personal,
        "trouble": project.trouble,
    }


def check_json(report: CheckReport) -> Json:
    findings = [
        {"area": finding.area, "problem": finding.problem, "projection": finding.projection}
        for finding in report.findings
    ]
    return {"ok": report.ok, "memories": report.memories, "findings": findings}


def restored_json(restored: Restored) -> Json:
    again = restored.reapplied
    return {
        "restored": str(restored.backup),
        "set_aside": None if restored.set_aside is None else str(restored.set_aside),
        "again": {
            "forgotten": again.forgotten,
            "rejected": again.rejected,
            "redacted": again.redacted,
            "tombstones": again.tombstones,
            "erased": again.erased,
        },
        "newer": restored.newer,
        "read_whole": restored.read_whole,
    }


def status_json(memory: Recollect, *, limit: int) -> Json:
    """How things stand: memories, sessions, entities, turns, what language models cost, jobs."""
    from recollect.config import load_settings

    status = memory.maintenance.status(limit=limit)
    settings = load_settings(None if memory.path is None else memory.path.parent).settings
    return {
        "project": memory.project,
        "foreign": memory.is_foreign,
        "notices": list(memory.notices),
        "memories": dict(status.memories),
        "sessions": dict(status.sessions),
        "entities": dict(status.entities),
        "turns": {
            "states": dict(status.turn_states),
            "providers": dict(status.turn_providers),
            "latest": [turn_json(turn) for turn in status.turns[::-1]],
        },
        "observer": _seen_figures(memory.observer.statistics()),
        "review": {"waiting": memory.review.count(), "questions": memory.review.questions()},
        "growth": growth_json([one for one in memory.overview.growth() if one.is_passed]),
        "latest": [
            {"id": one.id, "state": one.state, "episodes": one.episodes, "last_at": iso_time(one.last_at)}
            for one in memory.sessions.list(limit=limit)
        ],
        "spend": {
            "model": settings.model,
            "today": status.tokens_today,
            "per_day": settings.tokens_per_day,
            "per_session": settings.tokens_per_session,
            "features": [
                {"feature": cost.feature, "calls": cost.calls, "tokens": cost.tokens, "failures": cost.failures}
                for cost in status.costs
            ],
        },
        "jobs": [
            {
                "name": job.name,
                "outcome": job.outcome,
                "note": job.note,
                "failures": job.failures,
                "ran_at": iso_time(job.ran_at),
                "held_by": job.holder,
            }
            for job in status.jobs
        ],
    }
