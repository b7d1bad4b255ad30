"""Jobs, models, settings and stores as plain JSON."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.interfaces.payloads.base import Json, iso_time, without_secret
from recollect.interfaces.payloads.people import trust_json

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.embed.packs import Pack
    from recollect.tend.maintenance import ScheduledJob
    from recollect.tend.runner import Tended


def job_json(scheduled: ScheduledJob) -> Json:
    job = scheduled.job
    return {
        "name": job.name,
        "outcome": job.outcome,
        "note": job.note,
        "failures": job.failures,
        "ran_at": iso_time(job.ran_at),
        "failed_at": iso_time(job.failed_at),
        "held_by": job.holder,
        "next_at": iso_time(scheduled.next_at),
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
        "embedder": without_secret(settings.embedder),
        "vectors": facts.model,
        "waiting": facts.unembedded,
        "reranker": without_secret(settings.reranker),
        "model": without_secret(settings.model),
        "tokens_today": memory.maintenance.status(limit=0).tokens_today,
        "tokens_per_day": settings.tokens_per_day,
        "packs": [
            pack_json(pack, folder, "installed" if is_installed(pack, folder) else "missing") for pack in PACKS.values()
        ],
    }


def settings_json(memory: Recollect) -> Json:
    """The settings that hold, without the secrets an address may carry; and the level of trust."""
    from recollect.config import SECRET, Settings, load_settings

    loaded = load_settings(None if memory.path is None else memory.path.parent)
    defaults = Settings()
    return {
        "settings": [
            {
                "name": field.name,
                "value": _shown(getattr(loaded.settings, field.name), is_secret=field.name in SECRET),
                "default": getattr(defaults, field.name),
            }
            for field in fields(Settings)
        ],
        "notice": loaded.notice,
        "trust": trust_json(memory.trust()),
    }


def _shown(value: Any, *, is_secret: bool) -> Any:
    return ("set" if value else "") if is_secret else without_secret(value)


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
