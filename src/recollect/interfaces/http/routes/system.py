"""Routes about the store and the server: health, activity, status, stores, sessions of browsers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.interfaces import shapes
from recollect.interfaces.http import READ
from recollect.interfaces.http.endpoint import Call, Count, Endpoint, Json, Params
from recollect.interfaces.payloads import activity_json, health_json, status_json

_TAG = "store"


class ActivityParams(Params):
    days: Annotated[Count, Field(ge=1, le=366, description="So many days, today included.")] = 30


def read_health(call: Call) -> Json:
    """How healthy the store is, from 0 to 100, with the reason for every missing point."""
    return health_json(call.memory.overview.health())


def read_activity(call: Call) -> Json:
    """What came, what was done and what agents were told on each of the last days."""
    return activity_json(call.memory.overview.activity(days=call.query.days))


def read_status(call: Call) -> Json:
    """How things stand: memories, sessions, entities, turns, jobs, what language models cost."""
    return status_json(call.memory, limit=5)


ENDPOINTS = (
    Endpoint("GET", "/health", read_health, READ, shapes.HealthShape, _TAG),
    Endpoint("GET", "/activity", read_activity, READ, shapes.ActivityShape, _TAG, query=ActivityParams),
    Endpoint("GET", "/status", read_status, READ, shapes.StatusShape, _TAG),
)
