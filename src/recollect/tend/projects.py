"""The projects of a person on this machine: how much each remembers, and when something last changed there."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollect.core.errors import RecollectError
from recollect.core.kinds import Kinds
from recollect.files.known_stores import known_stores
from recollect.files.project import user_store_path
from recollect.store.open import open_store
from recollect.store.store import Store, projects_of


@dataclass(frozen=True, slots=True)
class ProjectSummary:
    """One project: its name, the store it is kept in, how many memories are open, when the store last changed."""

    name: str
    path: str
    memories: int
    changed_at: datetime
    personal: bool = False  # the person's own memories, which every project recalls
    trouble: str = ""  # why it could not be read


def list_projects(also: Sequence[str] = ()) -> list[ProjectSummary]:
    """Every project whose store was used here, the one that changed last leading; `also` names further stores."""
    own = str(user_store_path())
    paths = dict.fromkeys([*known_stores(), *(path for path in also if os.path.isfile(path))])
    if os.path.isfile(own):
        paths[own] = None
    found = [one for path in paths for one in _summaries(path, personal=path == own)]
    return sorted(found, key=lambda one: (-one.changed_at.timestamp(), one.path, one.name))


def _summaries(path: str, *, personal: bool) -> list[ProjectSummary]:
    log = f"{path}-wal"
    changed = max(os.path.getmtime(one) for one in (path, log) if os.path.exists(one))
    at = datetime.fromtimestamp(changed, UTC)
    try:
        store = open_store(Path(path), Kinds(), create=False, read_only=True)
    except RecollectError as error:
        return [ProjectSummary("", path, 0, at, personal, str(error))]
    try:
        names = dict.fromkeys([store.file_project, *projects_of(store.engine)])
        return [ProjectSummary(name, path, _open_in(store, name), at, personal) for name in names if name]
    except RecollectError as error:
        return [ProjectSummary("", path, 0, at, personal, str(error))]
    finally:
        store.close()


def _open_in(store: Store, project: str) -> int:
    tally = Store(store.engine, store.kinds, project=project).memories.tally()
    return sum(count for status, count in tally.items() if status in ("active", "disputed"))
