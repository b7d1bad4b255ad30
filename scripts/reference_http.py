"""The reference of the HTTP API: the OpenAPI document, a page for people, and the types of the TypeScript client."""

from __future__ import annotations

import json
from typing import Any

from recollect.interfaces.http.app import ENDPOINTS
from recollect.interfaces.http.openapi import openapi

_INTRO = """# HTTP API

`recollect serve` answers at `/v1` on this machine. Send `Authorization: Bearer TOKEN`; `recollect token create NAME`
makes one. [openapi.json](openapi.json) has every parameter and schema, and `GET /v1/openapi.json` answers with it.

Errors are `application/problem+json` with a stable `code` ([errors](errors.md)). A memory's `ETag` is its revision: an
edit names it in `If-Match` and is refused with 412 when somebody was faster. A request that changes something may carry
an `Idempotency-Key`.
"""


def openapi_json() -> str:
    return json.dumps(openapi(ENDPOINTS), indent=1, ensure_ascii=False) + "\n"


def http() -> str:
    """A table of the routes for each tag."""
    document = openapi(ENDPOINTS)
    parts = [_INTRO]
    for tag in document["tags"]:
        rows = [
            f"| `{method.upper()} {path}` | {operation.get('x-scope', '–')} | {operation['summary']} |"
            for path, operations in document["paths"].items()
            for method, operation in operations.items()
            if tag["name"] in operation["tags"]
        ]
        parts.append(f"## {tag['description']}\n\n| route | scope | |\n|---|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


# --- TypeScript ------------------------------------------------------------------------------------------------------

_TS_HEAD = """// Written by scripts/reference.py from the OpenAPI document. Do not edit.

export type Json = Record<string, unknown>;
"""


def typescript() -> str:
    """Types of every schema, and of what each operation takes and answers."""
    document = openapi(ENDPOINTS)
    schemas = document["components"]["schemas"]
    parts = [_TS_HEAD]
    for name, schema in schemas.items():
        about = f"/** {schema['description']} */\n" if schema.get("description") else ""
        parts.append(f"{about}export type {name} = {_type(schema)};\n")
    rows = []
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            rows.append(_operation(path, method, operation))
    parts.append("export interface Operations {\n" + "\n".join(rows) + "\n}\n")
    routes = [
        f'  {operation["operationId"]}: ["{method.upper()}", "{path}"],'
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    parts.append("export const routes: Record<keyof Operations, [string, string]> = {\n" + "\n".join(routes) + "\n};\n")
    return "\n".join(parts)


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    query = _named(operation, "query")
    where = _named(operation, "path")
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    answer = next(iter(operation["responses"].values())).get("content", {}).get("application/json", {}).get("schema")
    return (
        f"  /** {operation['summary']}. */\n"
        f"  {operation['operationId']}: {{\n"
        f"    path: {_object(where)};\n    query: {_object(query)};\n"
        f"    body: {_type(body) if body else 'undefined'};\n"
        f"    answer: {_type(answer) if answer else 'undefined'};\n  }};"
    )


def _named(operation: dict[str, Any], place: str) -> dict[str, tuple[bool, dict[str, Any]]]:
    return {
        one["name"]: (one["required"], one["schema"]) for one in operation.get("parameters", ()) if one["in"] == place
    }


def _object(members: dict[str, tuple[bool, dict[str, Any]]]) -> str:
    if not members:
        return "Record<string, never>"
    told = [f"{_key(name)}{'' if must else '?'}: {_type(schema)}" for name, (must, schema) in members.items()]
    return "{ " + "; ".join(told) + " }"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "enum" in schema:
        return " | ".join(json.dumps(one) for one in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    match schema.get("type"):
        case "string":
            return "string"
        case "integer" | "number":
            return "number"
        case "boolean":
            return "boolean"
        case "null":
            return "null"
        case "array":
            inner = _type(schema.get("items", {}))
            return f"({inner})[]" if "|" in inner else f"{inner}[]"
        case "object" if "properties" in schema:
            required = set(schema.get("required", ()))
            return _object({name: (name in required, inner) for name, inner in schema["properties"].items()})
        case "object":
            more = schema.get("additionalProperties")
            return f"Record<string, {_type(more)}>" if isinstance(more, dict) else "Json"
        case _:
            return "unknown"
