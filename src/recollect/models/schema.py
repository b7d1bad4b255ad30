"""The small part of JSON Schema that the house uses: parameters as a schema, and does a value fit? Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
}


def parse_json(text: str) -> Any:
    """The JSON in an answer: the whole of it, a fenced block, or what stands between the first and the last brace."""
    tries = [text, _fenced(text), text[text.find("{") : text.rfind("}") + 1]]
    for one in tries:
        try:
            return json.loads(one)
        except (ValueError, RecursionError):
            continue
    raise ValueError(f"it is not JSON: {text[:80]!r}")


def _fenced(text: str) -> str:
    """What stands between the first line that opens a block of code and the end of that block."""
    _, _, opened = text.partition("```")
    inside, closing, _ = opened.removeprefix("json").partition("```")
    return inside if closing else ""


def find_misfit(value: Any, schema: Mapping[str, Any], where: str = "the answer") -> str:
    """What about a value does not fit a schema, in words; nothing when it fits."""
    kind = schema.get("type")
    if kind is not None and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return f"{where} is no {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, dict):
        return _misfit_object(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        troubles = (find_misfit(item, schema["items"], f"{where}[{n}]") for n, item in enumerate(value))
        return next((trouble for trouble in troubles if trouble), "")
    return ""


def _misfit_object(value: dict[str, Any], schema: Mapping[str, Any], where: str) -> str:
    for name in schema.get("required", ()):
        if name not in value:
            return f"{where} lacks {name}"
    for name, part in schema.get("properties", {}).items():
        if name in value and (trouble := find_misfit(value[name], part, f"{where}.{name}")):
            return trouble
    return ""


_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    """What a function takes by name, as the schema of an object: from its annotations and defaults, so that there is no
    second list of them. What has a default is not required."""
    hints = get_type_hints(function)
    taken = signature(function).parameters
    return {
        "type": "object",
        "properties": {name: _schema_of(hints[name]) for name in taken},
        "required": [name for name, one in taken.items() if one.default is Parameter.empty],
        "additionalProperties": False,
    }


def _schema_of(annotation: Any) -> dict[str, Any]:
    if annotation in _NAMES:
        return {"type": _NAMES[annotation]}
    if get_origin(annotation) is Literal:
        return {"type": "string", "enum": list(get_args(annotation))}
    if is_typeddict(annotation):
        hints, marked = get_type_hints(annotation), get_type_hints(annotation, include_extras=True)
        return {
            "type": "object",
            "properties": {name: _schema_of(hint) for name, hint in hints.items()},
            "required": [name for name, hint in marked.items() if get_origin(hint) is not NotRequired],
        }
    inner = [one for one in get_args(annotation) if one is not NoneType]
    if get_origin(annotation) is UnionType and len(inner) == 1:
        return _schema_of(inner[0])
    if get_origin(annotation) in (list, Sequence) and len(inner) == 1:
        return {"type": "array", "items": _schema_of(inner[0])}
    raise TypeError(f"no schema for {annotation!r}")
