"""The structured kinds' payloads: what a recipe, a dead end, a prefetch pattern … must carry, checked on the way in.

A payload is a frozen value; `parse_payload` turns plain JSON into one and names the field that is wrong.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeAlias

from recollect.core.errors import InvalidField

Json: TypeAlias = Any  # what json.loads returns; every use is checked below before it is trusted


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a recipe, with the file and line that show it best."""

    description: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a kind of task is done here, step by step, as it worked before."""

    name: ClassVar[str] = "recipe"
    task_pattern: str
    steps: tuple[Step, ...]
    success_count: int = 0
    last_validated: str | None = None


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """An approach that was tried and abandoned, and what was done instead."""

    name: ClassVar[str] = "dead_end"
    tried: str
    why_it_failed: str
    alternative: str = ""
    task_context: str = ""


@dataclass(frozen=True, slots=True)
class Prefetch:
    """Files read in more than 80 % (always) or 50 % (frequently) of a module's sessions."""

    name: ClassVar[str] = "prefetch"
    module_trigger: str
    always: tuple[str, ...] = ()
    frequently: tuple[str, ...] = ()
    session_count: int = 0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How many steps tasks in a module really take against what was planned."""

    name: ClassVar[str] = "calibration"
    module: str
    average_actual_steps: float
    average_planned_steps: float
    ratio: float
    samples: int
    methodology: str = "native"


@dataclass(frozen=True, slots=True)
class WorkState:
    """Where work stopped: what is done, what is under way with its next step, what was decided."""

    name: ClassVar[str] = "work_state"
    completed: tuple[str, ...] = ()
    in_progress: str = ""
    next_step: str = ""
    key_decisions: tuple[str, ...] = ()


Payload: TypeAlias = Recipe | DeadEnd | Prefetch | Calibration | WorkState
PayloadType: TypeAlias = type[Recipe] | type[DeadEnd] | type[Prefetch] | type[Calibration] | type[WorkState]

_SHAPES: dict[str, PayloadType] = {shape.name: shape for shape in (Recipe, DeadEnd, Prefetch, Calibration, WorkState)}
_REQUIRED: dict[PayloadType, frozenset[str]] = {
    Recipe: frozenset({"task_pattern", "steps"}),
    DeadEnd: frozenset({"tried", "why_it_failed"}),
    Prefetch: frozenset({"module_trigger"}),
    Calibration: frozenset({"module", "average_actual_steps", "average_planned_steps", "ratio", "samples"}),
    WorkState: frozenset(),
}
_WHOLE = frozenset({"success_count", "session_count", "samples", "line"})
_NUMBER = frozenset({"average_actual_steps", "average_planned_steps", "ratio"})
_LISTS = frozenset({"always", "frequently", "completed", "key_decisions"})


def parse_payload(name: str, given: Json) -> Payload:
    """`given` as a payload of the shape called `name`. A missing, unknown or ill-typed field is named in the error."""
    shape = _SHAPES[name]
    if isinstance(given, shape):
        return given
    if not isinstance(given, Mapping):
        raise InvalidField("payload", f"{shape.name} needs an object, not {type(given).__name__}")
    known = {field.name for field in fields(shape)}
    for unknown in sorted(set(given) - known, key=str):
        raise InvalidField(f"payload.{unknown}", f"{shape.name} has no such field; it has {', '.join(sorted(known))}")
    for missing in sorted(_REQUIRED[shape] - set(given)):
        raise InvalidField(f"payload.{missing}", f"{shape.name} needs it")
    values = {name: _value(f"payload.{name}", name, value) for name, value in given.items()}
    payload: Payload = shape(**values)
    return _whole(payload)


def payload_json(payload: Payload) -> dict[str, Json]:
    """Plain JSON that `parse_payload` reads back to an equal value; empty fields are left out."""
    plain = {field.name: _plain(getattr(payload, field.name)) for field in fields(payload)}
    required = _REQUIRED[type(payload)]
    return {name: value for name, value in plain.items() if name in required or value not in (None, "", [], 0)}


def _whole(payload: Payload) -> Payload:
    """The checks that need more than one field."""
    if isinstance(payload, Recipe) and not payload.steps:
        raise InvalidField("payload.steps", "a recipe has at least one step")
    if isinstance(payload, Prefetch) and not (payload.always or payload.frequently):
        raise InvalidField("payload.always", "a prefetch pattern names at least one file")
    if isinstance(payload, Calibration) and payload.samples < 1:
        raise InvalidField("payload.samples", "a calibration rests on at least one sample")
    return payload


def _value(path: str, name: str, value: Json) -> Json:
    if name == "steps":
        return _steps(path, value)
    if name in _LISTS:
        return _texts(path, value)
    if name in _WHOLE:
        return _count(path, value)
    if name in _NUMBER:
        return _number(path, value)
    if value is None and name == "last_validated":
        return None
    return _text(path, value)


def _steps(path: str, value: Json) -> tuple[Step, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidField(path, "steps are a list")
    return tuple(_step(f"{path}[{index}]", step) for index, step in enumerate(value))


def _step(path: str, value: Json) -> Step:
    if isinstance(value, Step):
        return value
    if isinstance(value, str):
        return Step(_text(path, value))
    if not isinstance(value, Mapping) or "description" not in value:
        raise InvalidField(path, "a step is a text or an object with a description")
    for unknown in sorted(set(value) - {"description", "file", "line"}, key=str):
        raise InvalidField(f"{path}.{unknown}", "a step has no such field; it has description, file, line")
    file, line = value.get("file"), value.get("line")
    return Step(
        _text(f"{path}.description", value["description"]),
        None if file is None else _text(f"{path}.file", file),
        None if line is None else _count(f"{path}.line", line),
    )


def _texts(path: str, value: Json) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise InvalidField(path, "expected a list of texts")
    return tuple(_text(f"{path}[{index}]", item) for index, item in enumerate(value))


def _text(path: str, value: Json) -> str:
    if not isinstance(value, str):
        raise InvalidField(path, f"expected a text, not {type(value).__name__}")
    if "\0" in value:
        raise InvalidField(path, "the text holds a NUL character")
    return value


def _count(path: str, value: Json) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidField(path, f"expected a whole number of 0 or more, not {value!r}")
    return value


def _number(path: str, value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise InvalidField(path, f"expected a number of 0 or more, not {value!r}")
    return float(value)


def _plain(value: Json) -> Json:
    if isinstance(value, Step):
        whole = {"description": value.description, "file": value.file, "line": value.line}
        return {name: part for name, part in whole.items() if part is not None}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return value
