"""What the rooms and the care of the file report, as plain JSON, the same at every door."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.interfaces.payloads import Json, document_json, iso, memory_json

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.code.impact import Impact
    from recollect.code.modules import ModuleMap
    from recollect.core.query import Hit
    from recollect.core.turns import Turn
    from recollect.documents.search import Found
    from recollect.observer.replay import Replayed
    from recollect.observer.review import Waiting
    from recollect.remember.forget import Forgotten
    from recollect.store.check import CheckReport


def forgotten_json(gone: Forgotten, store: Path | None) -> Json:
    """What was forgotten, and the backups beside the store that may still hold it."""
    backups = [] if store is None else sorted(str(file) for file in (store.parent / "backups").glob("*.db"))
    return {"forgotten": gone.id, "lingering": gone.lingering, "backups": backups}


def check_json(report: CheckReport) -> Json:
    findings = [{"area": one.area, "problem": one.problem, "projection": one.projection} for one in report.findings]
    return {"ok": report.ok, "memories": report.memories, "findings": findings}


def standing(memory: Recollect, *, limit: int) -> Json:
    """How things stand: memories, sessions, entities, turns, what language models cost, jobs."""
    from recollect.config import load_settings
    from recollect.models.budget import day_of

    store = memory.store
    settings = load_settings(None if memory.path is None else memory.path.parent)
    day = day_of(datetime.now(UTC))
    return {
        "project": memory.project,
        "memories": store.memories.tally(),
        "sessions": store.sessions.tally(),
        "entities": store.entities.tally(),
        "turns": {
            "states": store.turns.by_state(),
            "providers": store.turns.by_provider(),
            "latest": [turn_json(one) for one in store.turns.recent(limit=limit)[::-1]],
        },
        "observer": _observed(memory),
        "latest": [
            {"id": one.id, "state": one.state, "episodes": one.episodes, "last_at": iso(one.last_at)}
            for one in memory.sessions.list(limit=limit)
        ],
        "spend": {
            "model": settings.model,
            "today": store.spend.spent(*day),
            "per_day": settings.tokens_per_day,
            "per_session": settings.tokens_per_session,
            "features": [
                {"feature": one.feature, "calls": one.calls, "tokens": one.tokens, "failures": one.failures}
                for one in store.spend.by_feature(*day)
            ],
        },
        "jobs": [
            {
                "name": job.name,
                "outcome": job.outcome,
                "note": job.note,
                "failures": job.failures,
                "ran_at": iso(job.ran_at),
                "held_by": job.holder,
            }
            for job in store.jobs.every()
        ],
    }


def turn_json(turn: Turn) -> Json:
    return {
        "turn": turn.id,
        "session": turn.session,
        "thread": turn.thread,
        "provider": turn.provider,
        "model": turn.model,
        "at": iso(turn.at),
        "ended_at": iso(turn.ended_at),
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


def _observed(memory: Recollect) -> Json:
    """How much was observed, what waits for a person, and how often watching took too long."""
    seen = memory.observer.statistics()
    return {
        "sessions": seen.sessions,
        "calls": seen.calls,
        "errors": seen.errors,
        "events": seen.events,
        "slow_events": seen.slow,
        "tainted_sessions": seen.tainted,
        "promoted": seen.promotions,
        "waiting": memory.observer.waiting_count(),
        "last": None if seen.last is None else iso(datetime.fromtimestamp(seen.last, UTC)),
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


def waiting_json(one: Waiting) -> Json:
    """A memory that waits for review, with what speaks for it."""
    return {
        "memory": memory_json(one.memory),
        "sessions": list(one.sessions),
        "steps": one.steps,
        "saves_tokens": one.saves,
        "tainted": one.tainted,
    }


def impact_json(found: Impact) -> Json:
    return {
        "target": found.target,
        "direction": found.direction,
        "depth": found.depth,
        "score": found.score,
        "left_out": found.left_out,
        "nodes": [
            {
                "node": one.node,
                "type": one.type,
                "file": one.file,
                "line": one.line,
                "depth": one.depth,
                "strength": one.strength,
                "path": [{"node": node, "edge": type} for node, type in one.path],
            }
            for one in found.nodes
        ],
        "files": [
            {"file": one.file, "depth": one.depth, "strength": one.strength, "test": one.test} for one in found.files
        ],
        "tests": list(found.tests),
        "together": [{"file": file, "weight": weight, "commits": times} for file, weight, times in found.together],
        "memories": [{"id": one.id, "kind": one.kind, "content": one.content} for one in found.memories],
        "notes": list(found.notes),
    }


def map_json(found: ModuleMap) -> Json:
    return {
        "files": found.files,
        "nodes": found.nodes,
        "edges": found.edges,
        "languages": dict(found.languages),
        "modules": [
            {
                "path": one.path,
                "files": one.files,
                "symbols": one.symbols,
                "layer": one.layer,
                "role": one.role,
                "needs": [{"module": name, "weight": weight} for name, weight in one.needs],
                "needed_by": list(one.needed_by),
                "entries": list(one.entries),
            }
            for one in found.modules
        ],
    }


def code_hit_json(hit: Hit) -> Json:
    span = hit.memory.span
    return {
        "id": hit.id,
        "node": hit.memory.node,
        "file": hit.memory.files[0] if hit.memory.files else None,
        "start": span.start if span else None,
        "end": span.end if span else None,
        "score": round(hit.score, 4),
        "content": hit.memory.content,
    }


def matches_json(found: Found) -> Json:
    return {
        "matches": [
            {
                "score": match.score,
                "relevance": match.relevance,
                "confidence": match.confidence,
                "rank": match.rank,
                "reasons": list(match.reasons),
                "document": document_json(match.document),
                "passage": memory_json(match.passage),
            }
            for match in found.matches
        ],
        "notes": list(found.notes),
    }
