"""Shapes of what a server tells copies of its memories."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NotRequired

from pydantic import with_config
from typing_extensions import TypedDict

from recollect.interfaces.shapes.base import OPEN


@with_config(OPEN)
class GreetingShape(TypedDict):
    """What a server is: the versions it speaks, the name of its copy, its project, its time and its limits."""

    versions: list[int]
    server: str
    project: str
    time: datetime
    memories: int
    max_bytes: int
    max_records: int


class ChangesShape(TypedDict):
    """Some changes, and the position after them."""

    records: list[dict[str, Any]]
    after: int
    anchor: str
    more: bool
    reset: bool


class RecordResultShape(TypedDict):
    """What became of one record."""

    key: str
    verdict: Literal["applied", "stale", "known", "buried", "refused"]
    version: NotRequired[int]
    why: NotRequired[str]


class ResultsShape(TypedDict):
    results: list[RecordResultShape]


class SyncBatchShape(TypedDict):
    """The version that each thing of a batch got."""

    applied: dict[str, int]
