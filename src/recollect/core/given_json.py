"""JSON that somebody hands in: one way to read it, with a clear error for what is no JSON or nested without end."""

from __future__ import annotations

import json
from typing import Any

from recollect.core.errors import InvalidField

DEEPEST = 100  # levels: no record of anything is nested deeper, and everything that walks a value may recurse


def parse_given_json(text: str, field: str) -> Any:
    """The value, or an error that names the field."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidField(field, f"it is not JSON ({error})") from None
    except RecursionError:
        raise InvalidField(field, _TOO_DEEP) from None
    if text.count("[") + text.count("{") > DEEPEST:
        _require_shallow(value, field)
    return value


_TOO_DEEP = f"it is nested deeper than {DEEPEST} levels"


def _require_shallow(value: Any, field: str) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise InvalidField(field, _TOO_DEEP)
