"""Does a model's answer fit the schema it was asked for? The small part of JSON Schema that the house uses. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
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
    fenced = _FENCED.search(text)
    tries = [text, fenced.group(1) if fenced else "", text[text.find("{") : text.rfind("}") + 1]]
    for one in tries:
        try:
            return json.loads(one)
        except (ValueError, RecursionError):
            continue
    raise ValueError(f"it is not JSON: {text[:80]!r}")


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
