"""The OpenAPI 3.1 document, from the same declarations that requests are checked against."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

from recollect.interfaces.http import API
from recollect.interfaces.http.endpoint import Endpoint, Params
from recollect.interfaces.http.export import MEDIA as EXPORTED
from recollect.interfaces.http.guard import LOGIN
from recollect.interfaces.http.problems import MEDIA
from recollect.interfaces.http.routes.data import ExportParams
from recollect.version import __version__

_REF = "#/components/schemas/{model}"
_TAGS = {
    "memories": "Memories: find, read, add, change, take back.",
    "review": "What waits for a person.",
    "documents": "Documents.",
    "code": "The project's source code.",
    "sessions": "Conversations, and who is spoken of.",
    "agents": "What agents did and what they were told.",
    "store": "The store and the server.",
    "sync": "Copies of these memories on other machines.",
    "events": "What changes, as it changes.",
}


class ProblemShape(TypedDict):
    """An error as RFC 9457 has it. `code` is stable across releases, `hint` says what to do next."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    hint: str


def openapi(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The whole document."""
    schemas: dict[str, Any] = {}
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, schemas)
        paths.setdefault(f"{API}{endpoint.path}", {})[endpoint.method.lower()] = operation
    _schema(ProblemShape, schemas)
    paths |= _own_paths(schemas)
    used = {operation["tags"][0] for path in paths.values() for operation in path.values()}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Recollect",
            "version": __version__,
            "description": "Long-term memory for AI agents: the local HTTP API.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {"cookie": []}],
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items() if name in used],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "`recollect token create NAME`"},
                "cookie": {"type": "apiKey", "in": "cookie", "name": "recollect-PORT", "description": "The panel's."},
            },
        },
    }


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    parameters = [_path_parameter(name) for name in _names_in(endpoint.path)]
    parameters += _query_parameters(endpoint.query or Params, schemas)
    if endpoint.if_match:
        parameters.append(_IF_MATCH | {"required": endpoint.if_match == "required"})
    if endpoint.method != "GET" and endpoint.repeats:
        parameters.append(_IDEMPOTENCY)
    answers = {str(endpoint.status): _answer("Done.", _schema(endpoint.answer, schemas))}
    if endpoint.status != 200:
        answers["200"] = answers[str(endpoint.status)]
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "tags": [endpoint.tag],
        "summary": endpoint.about.partition(". ")[0].rstrip("."),
        "description": f"{endpoint.about} Needs the scope `{endpoint.scope}`.",
        "parameters": parameters,
        "responses": {**answers, "default": {"$ref": "#/components/responses/Problem"}},
        "x-scope": endpoint.scope,
    }
    operation["responses"]["default"] = _PROBLEM
    if endpoint.body is not None:
        required = any(one.is_required() for one in endpoint.body.model_fields.values())
        content = {"application/json": {"schema": _schema(endpoint.body, schemas)}}
        operation["requestBody"] = {"required": required, "content": content}
    return operation


_PROBLEM = {
    "description": "Why not, with a stable code.",
    "content": {MEDIA: {"schema": {"$ref": _REF.format(model="ProblemShape")}}},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag of the memory as it was read; refused with 412 when somebody changed it since.",
    "schema": {"type": "string", "pattern": '^"[0-9]{1,15}"$'},
}
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Sent again with the same key, the request is answered as the first time and not done again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}


def _names_in(path: str) -> list[str]:
    return [part.partition("}")[0].partition(":")[0] for part in path.split("{")[1:]]


def _path_parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _query_parameters(model: type[BaseModel], schemas: dict[str, Any]) -> list[dict[str, Any]]:
    whole = _plain(model.model_json_schema(ref_template=_REF), schemas)
    required = set(whole.get("required", ()))
    found = []
    for name, schema in whole["properties"].items():
        about = schema.pop("description", "")
        described = {"description": about} if about else {}
        schema = _without_null(schema)
        found.append({"name": name, "in": "query", "required": name in required, **described, "schema": schema})
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter is left out, never null."""
    kinds = [one for one in schema.get("anyOf", ()) if one != {"type": "null"}]
    if len(kinds) == 1:
        schema = {**{name: value for name, value in schema.items() if name != "anyOf"}, **kinds[0]}
    if schema.get("default", 0) is None:
        del schema["default"]
    return schema


def _schema(shape: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """A reference to the schema of a shape, which is added to the others."""
    whole = TypeAdapter(shape).json_schema(ref_template=_REF, mode="validation")
    plain = _plain(whole, schemas)
    if "$ref" in plain:
        return plain
    name = getattr(shape, "__name__", "")
    schemas[name] = plain
    return {"$ref": _REF.format(model=name)}


def _plain(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles, its definitions moved to the shared ones."""
    for name, inner in schema.pop("$defs", {}).items():
        schemas[name] = _without_titles(inner)
    cleaned: dict[str, Any] = _without_titles(schema)
    return cleaned


def _without_titles(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_titles(inner)
            for name, inner in value.items()
            if not (name == "title" and isinstance(inner, str))
        }
    return [_without_titles(one) for one in value] if isinstance(value, list) else value


def _answer(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema}}}


def _own_paths(schemas: dict[str, Any]) -> dict[str, Any]:
    """What is not made of JSON in and JSON out."""
    store = _query_parameters(Params, schemas)
    text = {"type": "string"}
    return {
        f"{API}/export": {
            "get": {
                "operationId": "export_memories",
                "tags": ["store"],
                "summary": "Everything you put in, as a stream",
                "description": "What an export holds is in docs/reference/export.md. One that is cut off lacks its last"
                " line or its manifest, and no import takes it. Needs the scope `admin`.",
                "parameters": _query_parameters(ExportParams, schemas),
                "responses": {
                    "200": {
                        "description": "The export.",
                        "content": {media.partition(";")[0]: {"schema": text} for media, _ in EXPORTED.values()},
                    },
                    "default": _PROBLEM,
                },
                "x-scope": "admin",
            }
        },
        LOGIN: {
            "post": {
                "operationId": "begin_session",
                "tags": ["store"],
                "summary": "Open the panel with a one-time code",
                "description": "`Authorization: Code CODE` in, a cookie out. `recollect panel` makes a code.",
                "security": [],
                "responses": {"204": {"description": "The cookie is set."}, "default": _PROBLEM},
            },
            "delete": {
                "operationId": "end_session",
                "tags": ["store"],
                "summary": "Log out",
                "responses": {"204": {"description": "The cookie is worth nothing now."}, "default": _PROBLEM},
            },
        },
        f"{API}/events": {
            "get": {
                "operationId": "stream_events",
                "tags": ["events"],
                "summary": "What changes, as it changes",
                "description": "Server-sent events: `ready`, `memory`, `job`, `told`, `note`, `review`, `reset` (read"
                " all again) and `trouble`. The id of an event is a position; `Last-Event-ID` goes on after it. Needs"
                " the scope `read`.",
                "parameters": [
                    *store,
                    {"name": "Last-Event-ID", "in": "header", "required": False, "schema": text},
                ],
                "responses": {
                    "200": {"description": "A stream.", "content": {"text/event-stream": {"schema": text}}},
                    "default": _PROBLEM,
                },
                "x-scope": "read",
            }
        },
        f"{API}/openapi.json": {
            "get": {
                "operationId": "read_openapi",
                "tags": ["store"],
                "summary": "This document",
                "responses": {
                    "200": _answer("The document.", {"type": "object"}),
                    "default": _PROBLEM,
                },
                "x-scope": "read",
            }
        },
    }
