"""Values as plain JSON, the same at every door. Empty fields are left out; times are ISO 8601 in UTC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core import forms
from recollect.core.errors import RecollectError
from recollect.core.fields import SHOWN
from recollect.core.forms import spell
from recollect.core.query import Briefing, Hit, Query
from recollect.core.records import Memory

if TYPE_CHECKING:
    from recollect.agent.answer import CitedAnswer
    from recollect.agent.ingest import ToldMemory, Trust
    from recollect.app import Recollect
    from recollect.code.impact import Impact
    from recollect.code.modules import ModuleMap
    from recollect.core.conversations import Session, Turn
    from recollect.core.documents import Document
    from recollect.core.drafts import Receipt
    from recollect.core.entities import Entity
    from recollect.core.links import Account, Link
    from recollect.core.log import Entry
    from recollect.core.observed import Contribution, ObservedTally, SessionSeen
    from recollect.core.review import Decided, ReviewEvidence, ReviewGroup, ReviewItem, ReviewPage
    from recollect.documents.check import Checked, Conflict, Side
    from recollect.documents.search import Found
    from recollect.embed.packs import Pack
    from recollect.observer.api import Observer
    from recollect.observer.replay import Replayed
    from recollect.remember.forget import Forgotten
    from recollect.remember.subject import Subject
    from recollect.remember.undo import Undone
    from recollect.tend.erasure_report import ErasureReport
    from recollect.tend.maintenance import CheckReport, ScheduledJob
    from recollect.tend.overview import Activity, DayCount, Facets, Health
    from recollect.tend.projects import ProjectSummary
    from recollect.tend.put_back import Restored
    from recollect.tend.runner import Tended

Json = dict[str, Any]


def memory_json(memory: Memory) -> Json:
    """All of a memory but its fingerprint, which is nobody's business outside."""
    return _filled({field.name: spell(field, getattr(memory, field.name)) for field in SHOWN})


def listed_json(memory: Memory, confidence: float) -> Json:
    """A memory as lists show it: with what its confidence is worth now."""
    return {**memory_json(memory), "confidence_now": round(confidence, 4)}


def receipt_json(receipt: Receipt) -> Json:
    return {
        "id": receipt.id,
        "verdict": receipt.verdict,
        "against": list(receipt.against),
        "redacted": list(receipt.redacted),
        "notes": list(receipt.notes),
        "durable": not receipt.queued,
        "memory": memory_json(receipt.memory),
    }


def hit_json(hit: Hit) -> Json:
    return {
        "id": hit.id,
        "score": hit.score,
        "confidence": hit.confidence,
        "citation": hit.citation,
        "factors": dict(hit.factors),
        "reasons": list(hit.reasons),
        "doubts": list(hit.doubts),
        "memory": memory_json(hit.memory),
    }


def briefing_json(briefing: Briefing) -> Json:
    return {
        "query_type": briefing.query_type,
        "tokens": briefing.tokens,
        "notes": list(briefing.notes),
        "hits": [hit_json(hit) for hit in briefing.hits],
        "text": briefing.text,
    }


def entry_json(entry: Entry) -> Json:
    return _filled(
        {
            "number": entry.number,
            "act": entry.act,
            "at": _iso(entry.at),
            "actor": entry.actor,
            "door": entry.door,
            "action": entry.change.action,
            "memory": entry.change.memory,
            "why": entry.change.why,
            "before": entry.change.before,
            "after": entry.change.after,
            "undoes": entry.undoes,
            "erased": entry.erased,
            "hash": entry.hash,
        }
    )


def _link_json(link: Link) -> Json:
    return _filled(
        {
            "source": link.source,
            "relation": str(link.relation),
            "target": link.target,
            "file": link.file,
            "confidence": link.confidence,
            "automatic": link.automatic,
            "created_at": _iso(link.created_at),
        }
    )


def account_json(account: Account) -> Json:
    return {
        "memory": memory_json(account.memory),
        "confidence_now": account.confidence,
        "points_at": [_link_json(link) for link in account.points_at],
        "pointed_at_by": [_link_json(link) for link in account.pointed_at_by],
        "history": [entry_json(entry) for entry in account.history],
    }


def document_json(document: Document) -> Json:
    return _filled(
        {
            "id": document.id,
            "path": document.path,
            "title": document.title,
            "label": document.label,
            "type": document.type,
            "confidence": document.confidence,
            "created_at": _iso(document.created_at),
            "updated_at": _iso(document.updated_at),
            "accessed_at": _iso(document.accessed_at),
            "access_count": document.access_count,
            "sha256": document.sha256,
            "size": document.size,
            "passages": document.passages,
            "former": list(document.former),
        }
    )


def checked_json(checked: Checked) -> Json:
    return {
        "ok": checked.ok,
        "conflicts": [_conflict(conflict) for conflict in checked.conflicts],
        "broken": [
            {"path": one.path, "line": one.line, "target": one.target, "problem": one.problem} for one in checked.broken
        ],
        "pairs": checked.pairs,
        "links": checked.links,
        "notes": list(checked.notes),
    }


def _conflict(one: Conflict) -> Json:
    return {
        "level": one.judgement.level,
        "score": one.judgement.score,
        "reasons": list(one.judgement.reasons),
        "claim": _side(one.claim),
        "known": _side(one.known),
    }


def _side(side: Side) -> Json:
    return {"path": side.path, "line": side.line, "name": side.name, "text": side.text}


def error_json(error: RecollectError) -> Json:
    return {"error": {"code": error.code, "message": str(error), "hint": error.hint}}


def _filled(values: Json) -> Json:
    """The values without the empty ones. A number that was measured is not empty, even when it is 0.0."""
    empty: tuple[object, ...] = (None, "", [], {}, False)
    return {name: value for name, value in values.items() if isinstance(value, float) or value not in empty}


def _iso(at: datetime | None) -> str | None:
    return None if at is None else forms.iso(at)


def found_json(hit: Hit, question: str) -> Json:
    """A hit with where the words of the question stand in it."""
    from recollect.recall.highlight import find_highlights
    from recollect.recall.question import read

    words = read(Query(question)).words
    return {**hit_json(hit), "highlights": [list(span) for span in find_highlights(words, hit.memory.content)]}


def answer_json(answer: CitedAnswer) -> Json:
    return {
        "question": answer.question,
        "model": answer.model,
        "sentences": [{"text": one.text, "memories": list(one.memories)} for one in answer.sentences],
        "hits": [found_json(hit, answer.question) for hit in answer.hits],
        "notes": list(answer.notes),
    }


def undone_json(undone: Undone) -> Json:
    return {"act": undone.act, "actions": list(undone.actions), "memories": list(undone.memories)}


# --- the store at a glance -------------------------------------------------------------------------------------------


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
        "growth": [
            {"name": one.name, "value": one.value, "limit": one.limit, "passed": one.is_passed} for one in health.growth
        ],
        "at": _iso(health.at),
    }


def facets_json(found: Facets) -> Json:
    return {
        "total": found.total,
        "facets": {
            name: [{"value": value, "count": count} for value, count in values] for name, values in found.counts.items()
        },
    }


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


# --- what the rooms and maintenance report ---------------------------------------------------------------------------


def forgotten_json(gone: Forgotten, store: Path | None) -> Json:
    """What was forgotten, and the backups beside the store that may still hold it."""
    backups = [] if store is None else sorted(str(file) for file in (store.parent / "backups").glob("*.db"))
    return {"forgotten": gone.id, "lingering": gone.lingering, "backups": backups}


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
        "changed_at": _iso(project.changed_at),
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
        "latest": [
            {"id": one.id, "state": one.state, "episodes": one.episodes, "last_at": _iso(one.last_at)}
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
                "ran_at": _iso(job.ran_at),
                "held_by": job.holder,
            }
            for job in status.jobs
        ],
    }


def turn_json(turn: Turn) -> Json:
    return {
        "turn": turn.id,
        "session": turn.session,
        "thread": turn.thread,
        "provider": turn.provider,
        "model": turn.model,
        "at": _iso(turn.at),
        "ended_at": _iso(turn.ended_at),
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
        "last": None if seen.last is None else _iso(datetime.fromtimestamp(seen.last, UTC)),
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


# --- the review queue ------------------------------------------------------------------------------------------------


def review_item_json(item: ReviewItem) -> Json:
    """A memory that waits for a person. `revisions` goes back with a decision, so that it holds for these words."""
    return {
        "id": item.id,
        "question": str(item.question),
        "subject": item.subject,
        "memory": memory_json(item.memory),
        "rivals": [memory_json(rival) for rival in item.rivals],
        "revisions": dict(item.revisions),
        "sessions": list(item.sessions),
        "steps": item.steps,
        "saves_tokens": item.saves,
        "tainted": item.tainted,
        "spoken": item.spoken,
        "in_others_words": item.in_others_words,
    }


def review_page_json(page: ReviewPage) -> Json:
    return {
        "items": [review_item_json(item) for item in page.items],
        "total": page.total,
        "cursor": page.cursor,
        "damaged": list(page.damaged),
    }


def review_groups_json(groups: Sequence[ReviewGroup]) -> Json:
    return {"groups": [{"by": one.by, "name": one.name, "count": one.count} for one in groups]}


def review_evidence_json(evidence: ReviewEvidence) -> Json:
    """What speaks for and against an item, both sides of a contradiction included."""
    return {
        "item": review_item_json(evidence.item),
        "times": evidence.times,
        "sightings": [
            _filled(
                {
                    "session": one.session,
                    "host": one.host,
                    "at": _iso(one.at),
                    "steps": list(one.steps),
                    "prompt": one.prompt,
                    "taint": one.taint,
                }
            )
            for one in evidence.sightings
        ],
        "sources": [memory_json(source) for source in evidence.sources],
        "history": [entry_json(entry) for entry in evidence.history],
        "rival_histories": {
            id: [entry_json(entry) for entry in entries] for id, entries in evidence.rival_histories.items()
        },
    }


def decided_json(done: Decided) -> Json:
    return {
        "decision": done.decision,
        "memory": memory_json(done.memory),
        "settled": [memory_json(one) for one in done.settled],
        "waiting": done.waiting,
        "act": done.act,
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
            {"file": affected.file, "depth": affected.depth, "strength": affected.strength, "test": affected.test}
            for affected in found.files
        ],
        "tests": list(found.tests),
        "together": [{"file": file, "weight": weight, "commits": times} for file, weight, times in found.together],
        "memories": [{"id": memory.id, "kind": memory.kind, "content": memory.content} for memory in found.memories],
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
                "path": module.path,
                "files": module.files,
                "symbols": module.symbols,
                "layer": module.layer,
                "role": module.role,
                "needs": [{"module": name, "weight": weight} for name, weight in module.needs],
                "needed_by": list(module.needed_by),
                "entries": list(module.entries),
                "changes": module.changes,
            }
            for module in found.modules
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


# --- sessions, people, jobs, models ----------------------------------------------------------------------------------


def told_json(told: ToldMemory) -> Json:
    return {
        "id": told.id,
        "at": _iso(told.at),
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
        "seen_at": _iso(session.seen_at),
        "last_at": _iso(session.last_at),
        "consolidated_at": _iso(session.consolidated_at),
    }


def seen_session_json(session: SessionSeen) -> Json:
    """An observed session in figures."""
    return {
        "id": session.id,
        "host": session.host,
        "kind": session.kind,
        "outcome": session.outcome,
        "started": None if session.started is None else _iso(datetime.fromtimestamp(session.started, UTC)),
        "ended": None if session.ended is None else _iso(datetime.fromtimestamp(session.ended, UTC)),
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


def job_json(scheduled: ScheduledJob) -> Json:
    job = scheduled.job
    return {
        "name": job.name,
        "outcome": job.outcome,
        "note": job.note,
        "failures": job.failures,
        "ran_at": _iso(job.ran_at),
        "failed_at": _iso(job.failed_at),
        "held_by": job.holder,
        "next_at": _iso(scheduled.next_at),
        "always": scheduled.always,
    }


def pack_json(pack: Pack, folder: Path, state: str) -> Json:
    return {
        "name": pack.name,
        "state": state,
        "model": pack.model,
        "dims": pack.dims,
        "bytes": pack.size,
        "licence": pack.licence,
        "path": str(folder / pack.name),
    }


def observer_json(observer: Observer, *, limit: int) -> Json:
    """How much was observed, and the latest sessions, newest first."""
    return {
        **_seen_figures(observer.statistics()),
        "latest": [seen_session_json(session) for session in observer.sessions()[::-1][:limit]],
    }


def tended_json(done: Tended) -> Json:
    return {
        "reports": [
            {
                "job": one.chore,
                "done": one.done,
                "waiting": one.waiting,
                "failed": one.failed,
                "notes": list(one.notes),
            }
            for one in done.reports
        ],
        "plans": [
            {
                "job": one.chore,
                "total": one.total,
                "note": one.note,
                "steps": [{"what": step.what, "why": step.why} for step in one.steps],
            }
            for one in done.plans
        ],
        "skipped": list(done.skipped),
    }


def models_json(memory: Recollect) -> Json:
    """Which models answer here, and the packs there are."""
    from recollect.config import load_settings
    from recollect.embed.packs import PACKS, is_installed, models_folder
    from recollect.files.project import user_store_path

    settings = load_settings(None if memory.path is None else memory.path.parent).settings
    facts, folder = memory.maintenance.facts(), models_folder(user_store_path().parent)
    return {
        "embedder": _without_secret(settings.embedder),
        "vectors": facts.model,
        "waiting": facts.unembedded,
        "reranker": _without_secret(settings.reranker),
        "model": _without_secret(settings.model),
        "tokens_today": memory.maintenance.status(limit=0).tokens_today,
        "tokens_per_day": settings.tokens_per_day,
        "packs": [
            pack_json(pack, folder, "installed" if is_installed(pack, folder) else "missing") for pack in PACKS.values()
        ],
    }


def settings_json(memory: Recollect) -> Json:
    """The settings that hold, without the secrets an address may carry; and the level of trust."""
    from recollect.config import Settings, load_settings

    loaded = load_settings(None if memory.path is None else memory.path.parent)
    defaults = Settings()
    return {
        "settings": [
            {
                "name": field.name,
                "value": _without_secret(getattr(loaded.settings, field.name)),
                "default": getattr(defaults, field.name),
            }
            for field in fields(Settings)
        ],
        "notice": loaded.notice,
        "trust": trust_json(memory.trust()),
    }


def stores_json(project: Recollect, personal: Path) -> Json:
    """The project's store and the person's own."""
    facts = project.maintenance.facts()
    own = {
        "name": "project",
        "project": project.project,
        "path": None if project.path is None else str(project.path),
        "exists": True,
        "foreign": project.is_foreign,
        "read_only": project.reader.read_only,
        "memories": dict(facts.memories),
        "bytes": facts.bytes,
        "notices": list(project.notices),
        "backups": [{"path": str(one.path), "memories": one.memories} for one in project.maintenance.backups()],
    }
    return {"stores": [own, {"name": "personal", "path": str(personal), "exists": personal.exists()}]}


def _without_secret(value: Any) -> Any:
    from recollect.privacy.values import redact_value

    return redact_value(value)
