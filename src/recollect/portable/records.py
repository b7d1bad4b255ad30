"""The records of an export: one JSON object a line, each with what sort it is under `record`. Schema version 1.

    header · memory · entity · link · tombstone · entry (history) · row (of a room) · space · vector · end

They stand in this order. The header names the schema's version and the end tells how many of each there are and the
SHA-256 of all that stands before it, so a file that was cut off, changed or put in another order is noticed before
anything is taken from it. docs/reference/export.md tells every field.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from recollect.core.errors import InvalidExport
from recollect.core.fields import BY_NAME
from recollect.core.forms import entity_json, from_whole, iso, link_json, moment, parse_entity, parse_link, whole
from recollect.core.given_json import parse_given_json
from recollect.core.kinds import Kinds
from recollect.core.log import Action
from recollect.store.contents import ROOM_TABLES, Kept
from recollect.store.log import COLUMNS
from recollect.store.port import Item, Row, Space
from recollect.store.tombstones import Tombstone

if TYPE_CHECKING:
    from recollect.core.entities import Entity
    from recollect.core.links import Link

Record: TypeAlias = dict[str, Any]
FORMAT = "recollect-export"
VERSION = 1
SORTS = ("header", "memory", "entity", "link", "tombstone", "entry", "row", "space", "vector", "end")
RANK = {sort: place for place, sort in enumerate(SORTS)}
LINE_LIMIT = 16 * 2**20  # bytes: a memory holds one million, a document's entry in the log some more
_ENTRY = tuple(name.strip() for name in COLUMNS.split(","))
_ENTRY_TYPES: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(_ENTRY, (str,)),
    **dict.fromkeys(("number", "stamp", "at"), (int,)),
    **dict.fromkeys(("subject", "body", "undoes"), (str, type(None))),
}
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_line(record: Record) -> bytes:
    """A record as a line. What JSON escapes anyway stays escaped, so that no line separator stands inside."""
    return _encode(record).encode("utf-8") + b"\n"


def decode_line(line: bytes, place: str) -> Record:
    """The record of a line; an error that names the place."""
    try:
        value = parse_given_json(line.decode("utf-8"), place)
    except UnicodeDecodeError as error:
        raise InvalidExport(place, f"byte {error.start} is not UTF-8") from None
    if not isinstance(value, dict) or not isinstance(value.get("record"), str):
        raise InvalidExport(place, "it is no record of an export")
    return value


# --- out --------------------------------------------------------------------------------------------------------------


def header_record(project: str, replica: str, at: datetime, version: str) -> Record:
    return {
        "record": "header",
        "format": FORMAT,
        "version": VERSION,
        "project": project,
        "replica": replica,
        "exported_at": iso(at),
        "recollect": version,
    }


def memory_record(kept: Kept) -> Record:
    told: Record = {"record": "memory", **whole(kept.memory)}
    del told["project"]  # the header has it; a memory belongs to the project it is imported into
    if kept.ordinal is not None:
        told["ordinal"] = kept.ordinal
    return told


def link_record(link: Link) -> Record:
    return {"record": "link", "source": link.source, **link_json(link)}


def tombstone_record(stone: Tombstone) -> Record:
    return {"record": "tombstone", "fingerprint": stone.fingerprint, "reason": stone.reason, "at": iso(stone.at)}


def entity_record(entity: Entity) -> Record:
    return {"record": "entity", "id": entity.id, **entity_json(entity)}


def entry_record(row: Row) -> Record:
    return {"record": "entry", **{name: value for name, value in zip(_ENTRY, row, strict=True) if value is not None}}


def row_record(table: str, row: Row) -> Record:
    return {"record": "row", "table": table, "values": dict(zip(ROOM_TABLES[table].columns, row, strict=True))}


def space_record(space: Space) -> Record:
    return {
        "record": "space",
        "model": space.model,
        "dims": space.dims,
        "state": space.state,
        "created_at": iso(space.created_at),
    }


def vector_record(space: Space, item: Item) -> Record:
    id, views, stamp = item
    packed = base64.b64encode(views.astype("<f2").tobytes()).decode("ascii")
    return {
        "record": "vector",
        "model": space.model,
        "dims": space.dims,
        "memory": id,
        "stamp": stamp,
        "views": packed,
    }


# --- in ---------------------------------------------------------------------------------------------------------------


def read_kept(record: Record, project: str, kinds: Kinds) -> Kept:
    """The memory of a record, under another project. Its values are typed as fields are, and checked by nobody yet."""
    told = {name: value for name, value in record.items() if name in BY_NAME}
    if unknown := sorted(record.keys() - told.keys() - {"record", "ordinal"}):
        raise ValueError(f"a memory has no field {unknown[0]!r}")
    for name, value in told.items():
        expected = {"labels": list, "object": dict}.get(BY_NAME[name].form)
        if expected is not None and not isinstance(value, expected):
            raise ValueError(f"{name} is of the wrong type")
    if "payload" in told and kinds.rule(str(told.get("kind"))).payload is None:
        raise ValueError(f"a {told.get('kind')} carries no payload")
    ordinal = record.get("ordinal")
    if ordinal is not None and (type(ordinal) is not int or ordinal < 1):
        raise ValueError("ordinal is no place in a session")
    return Kept(from_whole({**told, "project": project}, kinds), ordinal)


def read_link_record(record: Record) -> Link:
    if ("target" in record) == ("file" in record):
        raise ValueError("a link has one target")
    return parse_link(_text(record, "source"), record)


def read_tombstone(record: Record) -> Tombstone:
    return Tombstone(_text(record, "fingerprint"), _text(record, "reason"), moment(_text(record, "at")))


def read_entity_record(record: Record, project: str) -> Entity:
    return parse_entity(_text(record, "id"), project, record)


def read_entry(record: Record) -> Row:
    row = tuple(record.get(name) for name in _ENTRY)
    for name, value in zip(_ENTRY, row, strict=True):
        if type(value) not in _ENTRY_TYPES[name]:
            raise ValueError(f"an entry's {name} is of the wrong type")
    return row


def read_room_row(record: Record) -> tuple[str, Row]:
    table = _text(record, "table")
    values = record.get("values")
    if table not in ROOM_TABLES or not isinstance(values, dict):
        raise ValueError(f"there is no table {table!r} to import")
    columns = ROOM_TABLES[table].columns
    if values.keys() != set(columns) or not all(
        value is None or type(value) in (str, int, float) for value in values.values()
    ):
        raise ValueError(f"it is no row of {table}")
    return table, tuple(values[name] for name in columns)


def read_space(record: Record) -> tuple[str, int, str, datetime]:
    dims = record.get("dims")
    if type(dims) is not int or not 0 < dims <= _MOST_DIMS:
        raise ValueError("dims is no number of dimensions")
    return _text(record, "model"), dims, _text(record, "state"), moment(_text(record, "created_at"))


def read_vector(record: Record) -> tuple[tuple[str, int], Item]:
    import numpy as np

    dims = record.get("dims")
    if type(dims) is not int or not 0 < dims <= _MOST_DIMS:
        raise ValueError("dims is no number of dimensions")
    packed = base64.b64decode(_text(record, "views"), validate=True)
    if not packed or len(packed) % (2 * dims):
        raise ValueError("the vector is cut off")
    views = np.frombuffer(packed, "<f2").astype(np.float32).reshape(-1, dims)
    return (_text(record, "model"), dims), (_text(record, "memory"), views, _text(record, "stamp"))


_MOST_DIMS = 16_384
IMPORT: Action = "import"


def _text(record: Record, name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is missing")
    return value


def require_header(record: Record, place: str) -> Record:
    """Refuse what is no export of ours, or one of a later schema."""
    if record.get("record") != "header" or record.get("format") != FORMAT:
        raise InvalidExport(place, "it does not begin like an export of Recollect")
    version = record.get("version")
    if type(version) is not int or version < 1:
        raise InvalidExport(place, "its header names no version")
    if version > VERSION:
        raise InvalidExport(
            place, f"it has version {version}, and this release reads up to {VERSION}", hint="Upgrade Recollect first."
        )
    for name in ("project", "replica"):
        if not isinstance(record.get(name), str):
            raise InvalidExport(place, f"its header has no {name}")
    return record


def counts_match(found: Mapping[str, int], told: object) -> bool:
    return isinstance(told, dict) and {name: count for name, count in found.items() if count} == told
