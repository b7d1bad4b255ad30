"""Shapes of jobs, models, settings, hosts and stores."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN
from recollect.interfaces.shapes.people import ToldShape


@with_config(OPEN)
class JobShape(TypedDict):
    name: str
    outcome: str | None
    note: str
    failures: int
    ran_at: datetime | None
    failed_at: datetime | None
    held_by: str | None
    next_at: datetime
    always: bool


class JobsShape(TypedDict):
    jobs: list[JobShape]


class JobReportShape(TypedDict):
    job: str
    done: int
    waiting: int
    failed: bool
    notes: list[str]


class JobPlanShape(TypedDict):
    job: str
    total: int
    note: str
    steps: list[dict[str, str]]


class TendedShape(TypedDict):
    """What a run did, or with `dry_run` what it would do."""

    reports: list[JobReportShape]
    plans: list[JobPlanShape]
    skipped: list[str]


@with_config(OPEN)
class PackShape(TypedDict):
    name: str
    state: str
    model: str
    dims: int
    bytes: int
    licence: str
    path: str


@with_config(OPEN)
class ModelsShape(TypedDict):
    """Which models answer here, and the packs there are."""

    embedder: str
    vectors: str | None
    waiting: int
    reranker: str
    model: str
    tokens_today: int
    tokens_per_day: int
    packs: list[PackShape]


@with_config(OPEN)
class TrustLevelShape(TypedDict):
    """One level: how many memories it may tell now (`told`), how many of the latest tellings it would have let through
    (`lately`), and those it would have withheld."""

    level: Literal["cautious", "standard", "confident", "autonomous"]
    threshold: float
    told: int
    lately: int
    withheld: int
    examples: list[ToldShape]


@with_config(OPEN)
class TrustLevelsShape(TypedDict):
    """What agents were told in the last days and how many memories there are, and what each level makes of both."""

    days: int
    memories: int
    lately: int
    levels: list[TrustLevelShape]


@with_config(OPEN)
class ProjectShape(TypedDict):
    project: str
    path: str
    memories: int
    changed_at: str
    personal: bool
    trouble: str


@with_config(OPEN)
class ProjectsShape(TypedDict):
    """The projects of this person on this machine."""

    projects: list[ProjectShape]


@with_config(OPEN)
class HostShape(TypedDict):
    name: str
    state: Literal["absent", "current", "outdated", "broken"]


class HostsShape(TypedDict):
    hosts: list[HostShape]


@with_config(OPEN)
class SavedShape(TypedDict):
    """About how many tokens agents saved by what they were told."""

    days: int
    told: int
    tokens: int


@with_config(OPEN)
class TrustShape(TypedDict):
    """How much agents are told unasked, and what people did with what they were shown since."""

    level: Literal["cautious", "standard", "confident", "autonomous"]
    threshold: float
    offered: str | None
    sessions: int
    reviewed: int
    confirmed: int
    used: int
    corrected: int
    flagged: int


class SettingShape(TypedDict):
    name: str
    value: Any
    default: Any


class SettingsShape(TypedDict):
    """The settings that hold, and what was ignored."""

    settings: list[SettingShape]
    notice: str
    trust: TrustShape


@with_config(OPEN)
class StoreShape(TypedDict):
    name: Literal["project", "personal"]
    project: NotRequired[str]
    path: str | None
    exists: bool
    foreign: NotRequired[bool]
    read_only: NotRequired[bool]
    memories: NotRequired[dict[str, int]]
    bytes: NotRequired[int]
    notices: NotRequired[list[str]]
    backups: NotRequired[list[dict[str, Any]]]


class StoresShape(TypedDict):
    stores: list[StoreShape]


class StateShape(TypedDict):
    """What a store is and holds now, in a few letters: adopting names it, so that nothing else is adopted."""

    state: str
    foreign: bool


class AdoptedShape(TypedDict):
    adopted: bool
