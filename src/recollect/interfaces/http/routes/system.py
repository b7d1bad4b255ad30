"""Routes about the store and the machine: health, activity, jobs, models, settings, stores, care for the file."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.agent.hosts.catalog import HOSTS
from recollect.agent.hosts.check import installed_state
from recollect.agent.hosts.target import current_target
from recollect.agent.trust import LEVELS
from recollect.core.errors import PersonOnly
from recollect.files.project import user_store_path
from recollect.interfaces.http import ADMIN, READ
from recollect.interfaces.http.endpoint import Body, Call, Count, Endpoint, Flag, Json, Limit, Params
from recollect.interfaces.payloads.memories import entry_json
from recollect.interfaces.payloads.people import trust_json, trust_preview_json
from recollect.interfaces.payloads.store import activity_json, check_json, health_json, project_json, status_json
from recollect.interfaces.payloads.system import job_json, models_json, settings_json, stores_json, tended_json
from recollect.interfaces.shapes.memories import HistoryShape
from recollect.interfaces.shapes.store import ActivityShape, BackupShape, CheckShape, HealthShape, StatusShape
from recollect.interfaces.shapes.system import (
    AdoptedShape,
    HostsShape,
    JobsShape,
    ModelsShape,
    ProjectsShape,
    SavedShape,
    SettingsShape,
    StateShape,
    StoresShape,
    TendedShape,
    TrustLevelsShape,
    TrustShape,
)
from recollect.tend.projects import list_projects

_TAG = "store"
_MOST_TOLD = 5_000  # memories that are looked at for what was saved
_JOB_SECONDS = 100.0  # that a job may take when a person starts it
_LEVEL: Any = Literal[LEVELS]


class ActivityParams(Params):
    days: Annotated[Count, Field(ge=1, le=366, description="So many days, today included.")] = 30


class LatelyParams(Params):
    days: Annotated[Count, Field(ge=1, le=90, description="So many days back.")] = 7


class RunsParams(Params):
    job: Annotated[str | None, Field(max_length=100)] = None
    limit: Limit = 20


class RunParams(Params):
    dry_run: Annotated[Flag, Field(description="Only say what it would do.")] = False


class CheckStoreParams(Params):
    quick: Annotated[Flag, Field(description="Leave out comparing the indexes with the rows.")] = True


class TrustBody(Body):
    level: _LEVEL


class AdoptBody(Body):
    """What the person was shown."""

    state: Annotated[str, Field(min_length=1, max_length=500)]


def read_health(call: Call) -> Json:
    """How healthy the store is, from 0 to 100, with the reason for every missing point."""
    return health_json(call.memory.overview.health())


def read_activity(call: Call) -> Json:
    """What came, what was done and what agents were told on each of the last days."""
    return activity_json(call.memory.overview.activity(days=call.query.days))


def read_status(call: Call) -> Json:
    """How things stand: memories, sessions, entities, turns, jobs, what language models cost."""
    return status_json(call.memory, limit=5)


def list_jobs(call: Call) -> Json:
    """The jobs there are: how the last run went, and when the next one is."""
    return {"jobs": [job_json(one) for one in call.memory.maintenance.schedule()]}


def list_job_runs(call: Call) -> Json:
    """What jobs did by themselves, newest first."""
    runs = call.memory.maintenance.runs(job=call.query.job, limit=call.query.limit)
    return {"entries": [entry_json(entry) for entry in runs]}


def run_job(call: Call) -> Json:
    """Run one job now, whether it is due or not."""
    done = call.memory.tend(job=call.path["name"], dry_run=call.query.dry_run, seconds=_JOB_SECONDS)
    return tended_json(done)


def read_models(call: Call) -> Json:
    """Which models answer here, what they cost today, and the packs there are."""
    return models_json(call.memory)


def read_settings(call: Call) -> Json:
    """The settings that hold, what was ignored, and how much agents are told."""
    return settings_json(call.memory)


def compare_trust(call: Call) -> Json:
    """What each level of trust would have told of what agents were told lately, and how many memories it may tell."""
    return trust_preview_json(call.memory.compare_trust(days=call.query.days))


def list_own_projects(call: Call) -> Json:
    """Every project whose store this person used on this machine, the one that changed last first."""
    if not call.is_person:
        raise PersonOnly("look at other projects")
    here = call.memory.path
    return {"projects": [project_json(one) for one in list_projects([] if here is None else [str(here)])]}


def list_hosts(call: Call) -> Json:
    """The agents this machine may have, and whether Recollect is installed in them."""
    target = current_target("user")
    return {"hosts": [{"name": host, "state": installed_state(host, target)} for host in HOSTS]}


def read_saved(call: Call) -> Json:
    """About how many tokens agents saved by what they were told lately: what it cost to learn it the first time."""
    since = datetime.now(UTC) - timedelta(days=call.query.days)
    told = [one for one in call.memory.told(limit=_MOST_TOLD) if one.id and one.at >= since]
    return {"days": call.query.days, "told": len(told), "tokens": call.memory.review.saved([one.id for one in told])}


def choose_trust(call: Call) -> Json:
    """Choose how much agents are told unasked. To a bolder level only a person goes."""
    return trust_json(call.memory.trust(call.body.level))


def list_stores(call: Call) -> Json:
    """The project's store and the person's own: where they are, whose, how large, their backups."""
    return stores_json(call.memory, user_store_path())


def read_store_state(call: Call) -> Json:
    """What the store is and holds now, for a person who decides whether to adopt it."""
    return {"state": call.memory.state(), "foreign": call.memory.is_foreign}


def adopt_store(call: Call) -> Json:
    """Take a foreign store as your own, if it still is what you were shown."""
    if not call.is_person:
        raise PersonOnly("adopt a store")
    return {"adopted": call.memory.adopt(shown=call.body.state)}


def check_store(call: Call) -> Json:
    """Is every row sound, does every index match?"""
    return check_json(call.memory.maintenance.check(quick=call.query.quick))


def back_up_store(call: Call) -> Json:
    """Copy the store into `backups/` beside it, verified."""
    made = call.memory.maintenance.backup()
    return {"path": None if made is None else str(made)}


ENDPOINTS = (
    Endpoint("GET", "/health", read_health, READ, HealthShape, _TAG),
    Endpoint("GET", "/activity", read_activity, READ, ActivityShape, _TAG, query=ActivityParams),
    Endpoint("GET", "/status", read_status, READ, StatusShape, _TAG),
    Endpoint("GET", "/jobs", list_jobs, READ, JobsShape, _TAG),
    Endpoint("GET", "/jobs/runs", list_job_runs, READ, HistoryShape, _TAG, query=RunsParams, is_keepers=True),
    Endpoint("POST", "/jobs/{name}/run", run_job, ADMIN, TendedShape, _TAG, query=RunParams,
             seconds=_JOB_SECONDS + 20, is_keepers=True),
    Endpoint("GET", "/models", read_models, READ, ModelsShape, _TAG, is_keepers=True),
    Endpoint("GET", "/settings", read_settings, ADMIN, SettingsShape, _TAG, is_keepers=True),
    Endpoint("GET", "/settings/trust", compare_trust, READ, TrustLevelsShape, _TAG, query=LatelyParams,
             is_keepers=True),
    Endpoint("GET", "/projects", list_own_projects, READ, ProjectsShape, _TAG, is_keepers=True),
    Endpoint("GET", "/hosts", list_hosts, ADMIN, HostsShape, _TAG, is_keepers=True),
    Endpoint("GET", "/saved", read_saved, READ, SavedShape, _TAG, query=ActivityParams),
    Endpoint("PUT", "/settings/trust", choose_trust, ADMIN, TrustShape, _TAG, body=TrustBody, is_keepers=True),
    Endpoint("GET", "/stores", list_stores, READ, StoresShape, _TAG, is_keepers=True),
    Endpoint("GET", "/stores/state", read_store_state, ADMIN, StateShape, _TAG, seconds=120.0, is_keepers=True),
    Endpoint("POST", "/stores/adopt", adopt_store, ADMIN, AdoptedShape, _TAG, body=AdoptBody, seconds=120.0,
             is_keepers=True),
    Endpoint("GET", "/stores/check", check_store, ADMIN, CheckShape, _TAG, query=CheckStoreParams,
             seconds=300.0, is_keepers=True),
    Endpoint("POST", "/stores/backup", back_up_store, ADMIN, BackupShape, _TAG, seconds=300.0, is_keepers=True),
)  # fmt: skip
