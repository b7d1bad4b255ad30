"""What every payload is made with. Empty fields are left out; times are ISO 8601 in UTC."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.core import forms
from recollect.core.errors import RecollectError

if TYPE_CHECKING:
    pass


Json = dict[str, Any]


def error_json(error: RecollectError) -> Json:
    return {"error": {"code": error.code, "message": str(error), "hint": error.hint}}


def filled(values: Json) -> Json:
    """The values without the empty ones. A number that was measured is not empty, even when it is 0.0."""
    empty: tuple[object, ...] = (None, "", [], {}, False)
    return {name: value for name, value in values.items() if isinstance(value, float) or value not in empty}


def iso_time(at: datetime | None) -> str | None:
    return None if at is None else forms.iso(at)


def without_secret(value: Any) -> Any:
    from recollect.privacy.values import redact_value

    return redact_value(value)
