"""Shapes of the state of a store: health, facets, activity, checks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN, WholeMemory


@with_config(OPEN)
class StatusShape(TypedDict):
    project: str
    memories: dict[str, int]
    sessions: dict[str, int]
    entities: dict[str, int]
    review: dict[str, Any]
    observer: dict[str, Any]
    growth: list[GrowthShape]
    latest: list[dict[str, Any]]
    spend: dict[str, Any]
    jobs: list[dict[str, Any]]


class CheckShape(TypedDict):
    ok: bool
    memories: int
    findings: list[dict[str, Any]]


@with_config(OPEN)
class ErasureShape(TypedDict):
    """What was or would be erased, what was searched afterwards and what is left. Only a dry run names memories."""

    dry_run: bool
    complete: bool
    memories: list[str]
    shown: list[WholeMemory]
    erased: list[dict[str, Any]]
    searched: list[dict[str, Any]]
    remaining: list[dict[str, Any]]
    notes: list[str]
    digest: str


class BackupShape(TypedDict):
    path: str | None


class FacetValue(TypedDict):
    value: str
    count: int


class FacetsShape(TypedDict):
    """How many memories of a filter carry each value, the most frequent first."""

    total: int
    facets: dict[str, list[FacetValue]]


class ReasonShape(TypedDict):
    """Why points are missing, and the command that helps."""

    code: str
    points: int
    text: str
    action: str
    count: int


class GrowthShape(TypedDict):
    name: str
    value: float
    limit: float
    passed: bool
    text: str
    advice: str


@with_config(OPEN)
class HealthShape(TypedDict):
    """How healthy the store is, from 0 to 100, with the reason for every missing point."""

    score: int
    reasons: list[ReasonShape]
    total: int
    active: int
    to_review: int
    growth: list[GrowthShape]
    at: datetime


class DayShape(TypedDict):
    day: str
    name: str
    count: int


class ActivityShape(TypedDict):
    """What happened each day, in UTC: memories by kind and by source, acts, and what agents were told by moment."""

    since: str
    kinds: list[DayShape]
    sources: list[DayShape]
    acts: list[DayShape]
    told: list[DayShape]
