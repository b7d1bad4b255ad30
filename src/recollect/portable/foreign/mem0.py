"""mem0: what its REST API and `get_all` answer with, and the history database of its open-source edition.

The vector stores of the open-source edition keep pickled objects, which nobody should load from a file: its history
tells the same texts. OpenMemory, its server for several applications, keeps an SQLite database of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.portable.foreign.base import (
    ForeignMemory,
    LeftOut,
    has_table,
    labels_of,
    moment_of,
    object_of,
    peek_json,
    read_json_file,
    text_in,
)
from recollect.store.sqlite.foreign import ForeignDatabase, is_sqlite

_NO_METADATA = "metadata, users and sessions: the history does not tell them; export by the API instead"


class Mem0Reader:
    """The memories of mem0."""

    name = "mem0"
    about = "mem0: JSON of its API or `get_all`, or history.db"

    def recognises(self, path: Path) -> bool:
        if not path.is_file():
            return False
        if is_sqlite(path):
            return has_table(path, "history", "memory_id", "new_memory", "is_deleted")
        first = next(iter(_rows(peek_json(path))), None)
        return isinstance(first, dict) and "memory" in first and "id" in first

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        if is_sqlite(path):
            yield from _read_history(path, left_out)
            return
        for number, row in enumerate(_rows(read_json_file(path)), start=1):
            if not isinstance(row, dict) or not text_in(row.get("memory")):
                left_out["entries without a text"] += 1
                continue
            yield _memory(row, f"{path.name}: memory {number}", left_out)


def _rows(value: Any) -> list[Any]:
    """The memories of an answer: a list, or a page with `results` or `memories`."""
    if isinstance(value, dict):
        value = next((value[name] for name in ("results", "memories") if isinstance(value.get(name), list)), [])
    return value if isinstance(value, list) else []


def _memory(row: Mapping[str, Any], place: str, left_out: LeftOut) -> ForeignMemory:
    metadata = object_of(row.get("metadata"))
    for name in ("agent_id", "app_id"):
        if row.get(name):
            metadata[name] = row[name]
    if row.get("expiration_date"):
        left_out["expiry dates"] += 1
    return ForeignMemory(
        text_in(row["memory"]),
        id=str(row.get("id")),
        place=place,
        created_at=moment_of(row.get("created_at")),
        tags=labels_of(row.get("categories")) or labels_of([metadata["category"]] if "category" in metadata else []),
        user=text_in(row.get("user_id")) or None,
        session=text_in(row.get("run_id")) or None,
        attributes={"metadata": metadata} if metadata else {},
    )


def _read_history(path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
    """The last text of each memory that was not deleted."""
    latest: dict[str, dict[str, Any]] = {}
    columns = ("memory_id", "new_memory", "event", "created_at", "is_deleted")
    with ForeignDatabase(path) as found:
        for row in found.rows("history", columns):
            latest[str(row["memory_id"])] = {**row, "created_at": _first(latest, row)}
    for id, row in latest.items():
        if row["is_deleted"] or not text_in(row["new_memory"]):
            left_out["memories that mem0 deleted"] += 1
            continue
        left_out[_NO_METADATA] += 1
        at = moment_of(row["created_at"])
        yield ForeignMemory(text_in(row["new_memory"]), id=id, place=f"{path.name}: {id}", created_at=at)


def _first(latest: Mapping[str, Mapping[str, Any]], row: Mapping[str, Any]) -> Any:
    known = latest.get(str(row["memory_id"]))
    return known["created_at"] if known and known["created_at"] else row["created_at"]


class OpenMemoryReader:
    """The memories of OpenMemory: mem0's server, or the engine of that name with sectors."""

    name = "openmemory"
    about = "OpenMemory: its SQLite database"

    def recognises(self, path: Path) -> bool:
        return has_table(path, "memories", "id", "user_id", "content", "state") or has_table(
            path, "memories", "id", "content", "primary_sector"
        )

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        with ForeignDatabase(path) as found:
            users = {str(row["id"]): text_in(row.get("user_id")) for row in found.rows("users", ("id", "user_id"))}
            apps = {str(row["id"]): text_in(row.get("name")) for row in found.rows("apps", ("id", "name"))}
            tags = _categories(found)
            for row in found.rows("memories"):
                state = text_in(row.get("state")) or "active"
                if state not in ("active", "paused") or not text_in(row.get("content")):
                    left_out[f"memories that are {state}" if state != "active" else "entries without a text"] += 1
                    continue
                if row.get("mean_vec") or row.get("vector"):
                    left_out["vectors: `recollect tend` makes them again"] += 1
                yield _open_memory(row, path, users, apps, tags)


def _categories(found: ForeignDatabase) -> dict[str, list[str]]:
    names = {str(row["id"]): text_in(row.get("name")) for row in found.rows("categories", ("id", "name"))}
    tags: dict[str, list[str]] = {}
    for row in found.rows("memory_categories", ("memory_id", "category_id")):
        tags.setdefault(str(row["memory_id"]), []).append(names.get(str(row["category_id"]), ""))
    return tags


def _open_memory(
    row: Mapping[str, Any],
    path: Path,
    users: Mapping[str, str],
    apps: Mapping[str, str],
    tags: Mapping[str, list[str]],
) -> ForeignMemory:
    id = str(row["id"])
    user = str(row.get("user_id") or "")
    metadata = object_of(row.get("metadata") or row.get("meta"))
    if app := apps.get(str(row.get("app_id"))):
        metadata["app"] = app
    if sector := text_in(row.get("primary_sector")):
        metadata["sector"] = sector
    return ForeignMemory(
        text_in(row["content"]),
        id=id,
        place=f"{path.name}: {id}",
        created_at=moment_of(row.get("created_at")),
        tags=labels_of(tags.get(id, [])) or labels_of(row.get("tags")),
        user=users.get(user, user) or None,
        attributes={"metadata": metadata} if metadata else {},
    )
