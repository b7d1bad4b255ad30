"""Moving a project from one store to another, between files and engines: ids, history, tombstones and vectors included.

The source is only read. Both sides are counted and compared at the end, and a move that was killed goes on when it is
started again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField, MoveFailed
from recollect.portable.export import EVERYTHING, ExportStream
from recollect.portable.records import Record, memory_record
from recollect.portable.take_in import Filling, ImportReport, as_told, take_records
from recollect.remember.act import ActContext
from recollect.store.contents import Contents, Kept

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.core.query import Filter
    from recollect.store.store import Store

# What both sides must have the same number of, when the target held nothing before.
_COMPARED = ("memories", "links", "tombstones", "entities")


@dataclass(frozen=True, slots=True)
class MoveReport:
    """What came over, and how many of each sort both sides hold now."""

    source: str
    target: str
    project: str
    imported: ImportReport
    census: Mapping[str, tuple[int, int]]
    verified: bool  # both sides hold the same, row by row; False where the target held something before


def move_project(
    source: Store,
    target: Store,
    act: Callable[[], ActContext],
    *,
    now: datetime,
    filter: Filter | None,
    personal: bool,
    trusted: bool,
    dry_run: bool,
    progress: Callable[[int, int], None],
) -> MoveReport:
    """Bring the memories of one project into another store, or into a project of another name."""
    if source.engine.location == target.engine.location and source.project == target.project:
        raise InvalidField("target", "it is the source", hint="Name another file, or another project.")
    stream = ExportStream(source, filter=filter, personal=personal, rooms=True)
    head = stream.preview(now)
    told = as_told(head.header, head.counts, head.digest, whole=head.whole)
    fresh = Filling(target, told, at=now, trusted=trusted, dry_run=True).fresh
    report = take_records(_placed(stream, now), told, target, act, trusted=trusted, dry_run=dry_run, progress=progress)
    if stream.counted.personal:
        stayed = {**report.left_out, "personal memories: they stay where they are": stream.counted.personal}
        report = replace(report, left_out=stayed)
    census = _census(source, target)
    exact = fresh and trusted and filter is None and personal and not report.redacted
    if exact and not dry_run:
        _compare(source, target, census)
    return MoveReport(source.engine.location, target.engine.location, target.project, report, census, exact)


def _placed(stream: ExportStream, now: datetime) -> Iterator[tuple[str, Record]]:
    for record in stream.records(now):
        if record["record"] != "header":
            yield "", record


def _census(source: Store, target: Store) -> dict[str, tuple[int, int]]:
    here, there = Contents(source).census(), Contents(target).census()
    return {name: (here[name], there[name]) for name in here if here[name] or there[name]}


def _compare(source: Store, target: Store, census: Mapping[str, tuple[int, int]]) -> None:
    """Refuse to call it done when anything is missing or different."""
    for name in _COMPARED:
        here, there = census.get(name, (0, 0))
        if here != there:
            problem = f"{here:,} {name} were sent and {there:,} are there"
            raise MoveFailed(source.engine.location, target.engine.location, problem)
    if _digest(source) != _digest(target):
        raise MoveFailed(source.engine.location, target.engine.location, "their memories differ")


def _digest(store: Store) -> str:
    """What all memories of a project say, in their order, but for how often they were read."""
    total = sha256()
    for page in Contents(store).memories(EVERYTHING):
        for kept in page:
            told = memory_record(Kept(kept.memory, kept.ordinal))
            for name in ("accessed_at", "access_count", "streak", "embedding_model"):
                told.pop(name, None)
            total.update(json.dumps(told, sort_keys=True).encode())
    return total.hexdigest()
