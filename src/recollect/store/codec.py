"""Between values and columns: a Memory as a row of plain values and back.

The checksum of a row covers every column, so a bit that flips inside a value is noticed even where the database's own
structure checks pass.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from json import JSONEncoder, loads
from typing import TYPE_CHECKING, Any

from recollect.core.decay import parse_decay
from recollect.core.fields import FIELDS, Field
from recollect.core.kinds import Kinds
from recollect.core.records import Memory, Span, WorkUnit
from recollect.core.scope import Scope, Source, Status, Visibility
from recollect.store.port import Row, Value

if TYPE_CHECKING:
    from recollect.core.payloads import Payload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def to_ms(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


def from_ms(stamp: int) -> datetime:
    return _EPOCH + timedelta(0, 0, 0, stamp)  # by position: hundreds are read for every question


_encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


# A look-up instead of a call: an enum's own costs a quarter of a microsecond, four times a row.
_CHOICES = {type.__name__: {str(member): member for member in type} for type in (Source, Scope, Visibility, Status)}
_to_decay = lru_cache(maxsize=256)(parse_decay)


def _tuple(text: str) -> tuple[str, ...]:
    return tuple(loads(text))


def _work_unit(unit: WorkUnit) -> str:
    return _encode([unit.methodology, list(unit.hierarchy), unit.label])


def _to_work_unit(text: str) -> WorkUnit:
    methodology, hierarchy, label = loads(text)
    return WorkUnit(methodology, tuple(hierarchy), label)


def _span(span: Span) -> str:
    return _encode([span.type, span.start, span.end, span.context, span.document])


def _to_span(text: str) -> Span:
    return Span(*loads(text))


def _payload(payload: Payload) -> str:
    from recollect.core.payloads import payload_json  # few memories carry one, so few processes load it

    return _encode(payload_json(payload))


def _to_payload(text: str, kind: str, kinds: Kinds) -> Payload | None:
    shape = kinds.rule(kind).payload
    if shape is None:
        return None
    from recollect.core.payloads import parse_payload

    return parse_payload(shape, loads(text))


# --- the two functions, written from the table of fields ------------------------------------------------------------

# How a value `v` is read from its column and written from its field, by form. Rows are read by the hundred for every
# question, so the conversions stand inline in one function instead of in a loop over converters.
_READ = {
    "text": "{v}",
    "name": "{v}",
    "real": "{v}",
    "count": "{v}",
    "flag": "{v} == 1",
    "choice": "_{choices}[{v}]",
    "moment": "_EPOCH + timedelta(0, 0, 0, {v})",
    "labels": "_tuple({v}) if {v} else ()",
    "decay": "_to_decay({v})",
    "work_unit": "_to_work_unit({v})",
    "span": "_to_span({v})",
    "payload": "_to_payload({v}, kind, kinds)",
    "object": "dict(loads({v})) if {v} else {{}}",
}
_WRITE = {
    "text": "{v}",
    "name": "{v}",
    "real": "{v}",
    "count": "{v}",
    "flag": "int({v})",
    "choice": "str({v})",
    "moment": "to_ms({v})",
    "labels": "_encode(list({v})) if {v} else None",
    "decay": "str({v})",
    "work_unit": "_work_unit({v})",
    "span": "_span({v})",
    "payload": "_payload({v})",
    "object": "_encode({v}) if {v} else None",
}
_PLAIN = frozenset({"{v}"})


def _converted(template: str, field: Field, value: str) -> str:
    code = template.format(v=value, choices=field.choices)
    return f"None if {value} is None else {code}" if field.optional and template not in _PLAIN else code


def _written() -> tuple[Callable[[Memory], tuple[Value, ...]], Callable[[Row, Kinds], Memory]]:
    names = [field.name for field in FIELDS]
    values = [_converted(_WRITE[field.form], field, f"memory.{field.name}") for field in FIELDS]
    fields = [_converted(_READ[field.form], field, field.name) for field in FIELDS]
    source = (
        f"def to_row(memory):\n return ({', '.join(values)},)\n"
        f"def from_row(row, kinds):\n ({', '.join(names)}) = row\n return Memory({', '.join(fields)})\n"
    )
    scope: dict[str, Any] = {**globals(), **{f"_{name}": members for name, members in _CHOICES.items()}}
    exec(compile(source, f"<{__name__} from core.fields>", "exec"), scope)
    return scope["to_row"], scope["from_row"]


# `to_row`: a memory as column values in the order of COLUMNS. `from_row`: the memory that it wrote.
to_row, from_row = _written()
