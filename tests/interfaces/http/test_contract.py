"""Every route keeps to the OpenAPI document, whatever is sent to it: no 5xx, no answer of another shape."""

from __future__ import annotations

import os
import unittest
from collections import Counter
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import checks
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi import checks as held

from faults.fault_tools import report
from interfaces.http.conftest import Live
from recollect.core.query import Filter
from recollect.interfaces.http.app import ENDPOINTS
from recollect.interfaces.http.openapi import openapi

CASES = int(os.environ.get("RECOLLECT_HTTP_CASES", "5"))  # for each operation; `make soak` takes more
DOCUMENT = openapi(ENDPOINTS)
LONGEST_URL = 60_000  # bytes; uvicorn closes the connection beyond that
APART = ("/v1/events", "/v1/session")  # no JSON in, no JSON out
CHECKS = [
    checks.not_a_server_error,
    held.status_code_conformance,
    held.content_type_conformance,
    held.response_schema_conformance,
]


def fill(live: Live) -> list[str]:
    """Some memories to ask for; their ids."""
    memory = live.memory
    memory.remember("Granite is hard.", tags=["stone"], files=["src/stone.py"])
    memory.remember("The build needs Java 21.", kind="gotcha", confidence=0.4)
    memory.sessions.capture("Anna Smith moved to Berlin.", session="s1")
    return [one.id for one in memory.list(Filter(user="*"))]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["right", "wrong"])
def test_every_answer_is_one_that_the_document_promises(live: Live, mode: GenerationMode) -> None:
    ids, headers = fill(live), live.token("admin", person=True)
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    sent: Counter[str] = Counter()
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path not in APART:
            _send(operation, mode, live, headers, ids, sent)
    report(f"requests made from the OpenAPI document ({mode.value}): {sum(sent.values())} to {len(sent)} operations")
    assert len(sent) > 50


def _send(
    operation: Any, mode: GenerationMode, live: Live, headers: dict[str, str], ids: list[str], sent: Counter[str]
) -> None:
    @settings(
        max_examples=CASES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        if len(str(case.formatted_path)) + len(str(case.query)) * 12 > LONGEST_URL:
            return  # no server takes such a URL
        sent[operation.label] += 1
        if mode is GenerationMode.POSITIVE and sent[operation.label] % 2 and "id" in (case.path_parameters or {}):
            case.path_parameters["id"] = ids[sent[operation.label] % len(ids)]
        case.call_and_validate(base_url=live.url, headers=headers, checks=CHECKS)

    try:
        send()
    except (Unsatisfiable, unittest.SkipTest, pytest.skip.Exception):
        return  # there is nothing about it that could be wrong


def test_the_document_says_which_scope_each_route_needs() -> None:
    for path, operations in DOCUMENT["paths"].items():
        for method, operation in operations.items():
            assert path == "/v1/session" or operation["x-scope"] in ("read", "write", "admin")
            assert operation["summary"]
            if method != "get" and path not in ("/v1/session", "/v1/ask"):
                assert operation["x-scope"] != "read", path


def test_operation_ids_are_unique() -> None:
    ids = [operation["operationId"] for path in DOCUMENT["paths"].values() for operation in path.values()]
    assert len(ids) == len(set(ids))
