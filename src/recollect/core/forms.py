"""A Memory's fields in JSON and back: the spelling of every door and of the log. Times are ISO 8601 in UTC.

One function per form of `core.fields`; what is written reads back as the same value. Knows nothing of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from recollect.core.decay import parse_decay
from recollect.core.fields import BY_NAME, FIELDS, Field
from recollect.core.ids import MemoryId
from recollect.core.records import Memory, Span, WorkUnit
from recollect.core.scope import Relation, Scope, Source, Status, Visibility

if TYPE_CHECKING:
    from recollect.core.entities import Entity
    from recollect.core.kinds import Kinds
    from recollect.core.links import Link

Json = dict[str, Any]

CHOICES = {choices.__name__: choices for choices in (Source, Scope, Visibility, Status)}


def iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _work_unit(unit: WorkUnit) -> Json:
    return {"methodology": unit.methodology, "hierarchy": list(unit.hierarchy), "label": unit.label}


def _span(span: Span) -> Json:
    return {
        "type": span.type,
        "start": span.start,
        "end": span.end,
        "context": span.context,
        "document": span.document,
    }


def _payload(payload: Any) -> Json:
    from recollect.core.payloads import payload_json  # few memories carry one

    return payload_json(payload)


_SPELL: Mapping[str, Callable[[Any], Any]] = {
    "choice": str,
    "labels": list,
    "moment": iso,
    "decay": str,
    "work_unit": _work_unit,
    "span": _span,
    "payload": _payload,
    "object": dict,
}


def spell(field: Field, value: Any) -> Any:
    """A field's value as JSON."""
    change = _SPELL.get(field.form)
    return value if change is None or value is None else change(value)


def whole(memory: Memory) -> Json:
    """Every field of a memory that is not as it is by default, and does not follow from another."""
    told = {
        name: value if change is None or value is None else change(value)
        for value, (name, default, change) in zip(_values(memory), _SPELT, strict=True)
        if value != default
    }
    for name in ("updated_at", "accessed_at"):  # most memories are told as they come
        if told[name] == told["created_at"]:
            del told[name]
    return told


def link_json(link: Link) -> Json:
    """A link without its source, which is what an entry about it is about."""
    return {
        "relation": str(link.relation),
        "file" if link.target is None else "target": link.file if link.target is None else link.target,
        "confidence": link.confidence,
        "automatic": link.automatic,
        "created_at": iso(link.created_at),
    }


def parse_link(source: str, values: Mapping[str, Any]) -> Link:
    """The link that `link_json` wrote down."""
    from recollect.core.links import Link

    target = values.get("target")
    return Link(
        source=MemoryId(source),
        relation=Relation(values["relation"]),
        target=None if target is None else MemoryId(target),
        file=values.get("file"),
        confidence=values["confidence"],
        automatic=values["automatic"],
        created_at=moment(values["created_at"]),
    )


def entity_json(entity: Entity) -> Json:
    """An entity without its id and project, which the entry about it has."""
    return {
        "name": entity.name,
        "type": str(entity.type),
        "aliases": list(entity.aliases),
        "summary": entity.summary,
        "merged_into": entity.merged_into,
        "created_at": iso(entity.created_at),
    }


def parse_entity(id: str, project: str, values: Mapping[str, Any]) -> Entity:
    """The entity that `entity_json` wrote down."""
    from recollect.core.entities import Entity, EntityId, EntityType

    merged = values["merged_into"]
    return Entity(
        id=EntityId(id),
        project=project,
        name=values["name"],
        type=EntityType(values["type"]),
        created_at=moment(values["created_at"]),
        aliases=tuple(values["aliases"]),
        summary=values["summary"],
        merged_into=None if merged is None else EntityId(merged),
    )


_UNSET = object()
_DEFAULTS: dict[str, Any] = {
    name: {} if name == "attributes" else field.default for name, field in Memory.__dataclass_fields__.items()
}
# For every memory that is remembered: its fields at one stroke, each with its default and its spelling.
_values = attrgetter(*(field.name for field in FIELDS))
_SPELT = tuple((field.name, _DEFAULTS.get(field.name, _UNSET), _SPELL.get(field.form)) for field in FIELDS)


def changed(before: Memory, after: Memory) -> tuple[Json, Json]:
    """The fields two states of a memory differ in, as they were and as they became."""
    was: Json = {}
    now: Json = {}
    for field in FIELDS:
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old != new:
            was[field.name], now[field.name] = spell(field, old), spell(field, new)
    return was, now


def with_fields(memory: Memory, values: Mapping[str, Any], kinds: Kinds) -> Memory:
    """The memory with some fields set to what JSON says."""
    kind = str(values.get("kind", memory.kind))
    return memory.having(**{name: parse(BY_NAME[name], value, kind, kinds) for name, value in values.items()})


def from_whole(values: Mapping[str, Any], kinds: Kinds) -> Memory:
    """The memory that `whole` wrote down."""
    kind, created = str(values["kind"]), values["created_at"]
    values = {"updated_at": created, "accessed_at": created, **values}
    return Memory(**{name: parse(BY_NAME[name], value, kind, kinds) for name, value in values.items()})


def parse(field: Field, value: Any, kind: str, kinds: Kinds) -> Any:
    """The value that `spell` wrote as JSON."""
    if field.form == "labels":
        return tuple(value or ())
    if field.form == "object":
        return dict(value or {})
    if value is None:
        return None
    if field.form == "payload":
        from recollect.core.payloads import parse_payload

        shape = kinds.rule(kind).payload
        return None if shape is None else parse_payload(shape, value)
    return parse_form(field, value)


def parse_form(field: Field, value: Any) -> Any:
    """The same for a value that depends on nothing else."""
    match field.form:
        case "choice":
            return CHOICES[field.choices](value)
        case "moment":
            return moment(value)
        case "decay":
            return parse_decay(value)
        case "work_unit":
            return WorkUnit(value["methodology"], tuple(value["hierarchy"]), value["label"])
        case "span":
            return Span(**value)
        case "text" if field.name in ("id", "superseded_by"):
            return MemoryId(value)
    return value
