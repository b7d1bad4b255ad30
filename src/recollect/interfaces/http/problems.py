"""Errors as answers: `application/problem+json` with our stable code, and the status each kind of error has."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response

from recollect.core.errors import (
    AmbiguousEntity,
    AmbiguousId,
    AmbiguousNode,
    BudgetSpent,
    ExtraMissing,
    HostRefused,
    InvalidInput,
    InvitationRefused,
    KeeperOnly,
    ModelDown,
    ModelWrong,
    NotFound,
    OriginRefused,
    OthersMemory,
    PersonalStaysHere,
    PersonOnly,
    PersonsMemory,
    RecollectError,
    Refused,
    RequestRefused,
    RoleMissing,
    ScopeMissing,
    ServerBusy,
    StaleEdit,
    StoreError,
    StoreForeign,
    StoreReadOnly,
    TokenMissing,
)

MEDIA = "application/problem+json"
RETRY_SECONDS = 2

# The first class that fits; most particular first.
_STATUS: tuple[tuple[type[RecollectError], int], ...] = (
    (TokenMissing, 401),
    (HostRefused, 421),
    (OriginRefused, 403),
    (ScopeMissing, 403),
    (PersonOnly, 403),
    (RoleMissing, 403),
    (KeeperOnly, 403),
    (PersonalStaysHere, 403),
    (InvitationRefused, 403),
    (PersonsMemory, 403),
    (OthersMemory, 403),
    (StoreForeign, 403),
    (StoreReadOnly, 403),
    (StaleEdit, 412),
    (BudgetSpent, 429),
    (ServerBusy, 503),
    (AmbiguousId, 409),
    (AmbiguousNode, 409),
    (AmbiguousEntity, 409),
    (NotFound, 404),
    (Refused, 409),
    (InvalidInput, 422),
    (ModelDown, 502),
    (ModelWrong, 502),
    (ExtraMissing, 501),
    (StoreError, 503),
)


def status_of(error: RecollectError) -> int:
    """The HTTP status of an error."""
    if isinstance(error, RequestRefused):
        return error.status
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def problem_json(error: RecollectError) -> dict[str, object]:
    """An error as RFC 9457 has it, with our code and hint."""
    told: dict[str, object] = {
        "type": f"urn:recollect:error:{error.code}",
        "title": error.code.replace("-", " ").capitalize(),
        "status": status_of(error),
        "detail": str(error),
        "code": error.code,
        "hint": error.hint,
    }
    if field := getattr(error, "field", None):
        told["field"] = field
    return told


def problem(error: RecollectError, headers: Mapping[str, str] | None = None) -> Response:
    """The answer to a request that failed."""
    status = status_of(error)
    more = dict(headers or {})
    if status == 401:
        more["WWW-Authenticate"] = "Bearer"
    if status == 503:
        more["Retry-After"] = str(RETRY_SECONDS)
    body = json.dumps(problem_json(error), ensure_ascii=False).encode("utf-8", "replace")
    return Response(body, status_code=status, media_type=MEDIA, headers=more)
