"""Conversations, observed sessions, entities and what was told, as plain JSON."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recollect.interfaces.payloads.base import Json, iso_time
from recollect.interfaces.payloads.memories import memory_json

if TYPE_CHECKING:
    from recollect.agent.ingest import ToldMemory, Trust
    from recollect.agent.trust_preview import TrustPreview
    from recollect.core.conversations import Session, Turn
    from recollect.core.entities import Entity
    from recollect.core.observed import Contribution, ObservedTally, SessionSeen
    from recollect.observer.api import Observer
    from recollect.observer.replay import Replayed


def turn_json(turn: Turn) -> Json:
    return {
        "turn": turn.id,
        "session": turn.session,
        "thread": turn.thread,
        "provider": turn.provider,
        "model": turn.model,
        "at": iso_time(turn.at),
        "ended_at": iso_time(turn.ended_at),
        "state": turn.state,
        "input": turn.input,
        "output": turn.output,
        "note": turn.note,
        "tokens": {"input": turn.tokens_in, "output": turn.tokens_out},
        "calls": [
            {
                "name": call.name,
                "arguments": call.arguments,
                "result": call.result,
                "failed": call.failed,
                "step": call.step,
                "ms": call.ms,
            }
            for call in turn.calls
        ],
    }


def _seen_figures(seen: ObservedTally) -> Json:
    """How much was observed, and how often watching took too long."""
    return {
        "sessions": seen.sessions,
        "calls": seen.calls,
        "errors": seen.errors,
        "events": seen.events,
        "slow_events": seen.slow,
        "tainted_sessions": seen.tainted,
        "promoted": seen.promotions,
        "last": None if seen.last is None else iso_time(datetime.fromtimestamp(seen.last, UTC)),
    }


def replayed_json(done: Replayed) -> Json:
    """What was learnt from some files, and what was left out and why."""
    return {
        "files": done.files,
        "sessions": done.sessions,
        "events": done.events,
        "slow_events": done.slow,
        "lines": done.lines,
        "broken_lines": done.broken,
        "unknown": dict(done.unknown),
        "skipped": done.skipped,
        "waiting": done.waiting,
        "added": [
            {**memory_json(kept.memory), "why": kept.why, "learnt_in": one.session}
            for one in done.learned
            for kept in one.added
        ],
        "reinforced": [
            {"id": kept.memory.id, "why": kept.why, "status": str(kept.memory.status), "learnt_in": one.session}
            for one in done.learned
            for kept in one.reinforced
        ],
        "left_out": dict(sum((one.left_out for one in done.learned), Counter[str]())),
        "notes": [note for one in done.learned for note in one.notes],
    }


def trust_preview_json(preview: TrustPreview) -> Json:
    """What each level of trust would have told, with some of what it would have kept back."""
    levels = [
        {
            "level": one.level,
            "threshold": one.threshold,
            "told": one.may_tell,
            "lately": one.told,
            "withheld": len(one.withheld),
            "examples": [told_json(told) for told in one.withheld[:_EXAMPLES]],
        }
        for one in preview.levels
    ]
    return {"days": preview.days, "memories": preview.memories, "lately": preview.told, "levels": levels}


_EXAMPLES = 10  # of what a level of trust would have kept back


def told_json(told: ToldMemory) -> Json:
    return {
        "id": told.id,
        "at": iso_time(told.at),
        "moment": told.moment,
        "session": told.session,
        "host": told.host,
        "status": told.status,
        "content": told.content,
    }


def session_json(session: Session) -> Json:
    return {
        "id": session.id,
        "state": session.state,
        "episodes": session.episodes,
        "seen_at": iso_time(session.seen_at),
        "last_at": iso_time(session.last_at),
        "consolidated_at": iso_time(session.consolidated_at),
    }


def seen_session_json(session: SessionSeen) -> Json:
    """An observed session in figures."""
    return {
        "id": session.id,
        "host": session.host,
        "kind": session.kind,
        "outcome": session.outcome,
        "started": None if session.started is None else iso_time(datetime.fromtimestamp(session.started, UTC)),
        "ended": None if session.ended is None else iso_time(datetime.fromtimestamp(session.ended, UTC)),
        "prompt": session.prompt,
        "steps": session.steps,
        "calls": session.calls,
        "errors": session.errors,
        "tokens": session.tokens,
        "taint": session.taint,
        "branch": session.branch,
    }


def session_work_json(seen: Contribution) -> Json:
    """What a session did, step by step as far as that is kept: troubles and how they ended, files, tools."""
    return {
        "errors": [
            {
                "tool": one.tool,
                "words": one.words,
                "example": one.example,
                "steps": list(one.steps),
                "times": one.times,
                "resolution": one.resolution,
            }
            for one in seen.errors
        ],
        "files": [
            {"path": one.path, "reads": one.reads, "edits": one.edits, "first": one.first_step, "last": one.last_step}
            for one in sorted(seen.files, key=lambda file: (-file.edits, -file.reads, file.path))
        ],
        "tools": [
            {"tool": one.tool, "words": one.words, "times": one.times, "errors": one.errors}
            for one in sorted(seen.calls, key=lambda call: (-call.times, call.tool, call.words))
        ],
    }


def known_entity_json(entity: Entity) -> Json:
    return {
        "id": entity.id,
        "name": entity.name,
        "type": str(entity.type),
        "aliases": list(entity.aliases),
        "summary": entity.summary,
        "mentions": entity.mentions,
    }


def trust_json(trust: Trust) -> Json:
    record = trust.record
    return {
        "level": trust.level,
        "threshold": trust.threshold,
        "offered": trust.offered,
        "sessions": record.sessions,
        "reviewed": record.reviewed,
        "confirmed": record.confirmed,
        "used": record.used,
        "corrected": record.corrected,
        "flagged": record.flagged,
    }


def observer_json(observer: Observer, *, limit: int) -> Json:
    """How much was observed, and the latest sessions, newest first."""
    return {
        **_seen_figures(observer.statistics()),
        "latest": [seen_session_json(session) for session in observer.sessions()[::-1][:limit]],
    }
