"""mem0's filters over plain dictionaries: scopes, expiry dates, conditions with operators and logic. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Any

SCOPES = frozenset({"user_id", "agent_id", "run_id"})
IDENTITY = SCOPES | {"actor_id"}


def scoped(**given: Any) -> dict[str, str]:
    """The ids that are given, as texts without blanks around them; one that cannot be an id is an error."""
    scope = {}
    for name, value in given.items():
        if value is None:
            continue
        id = str(value).strip()
        if not id:
            raise ValueError(f"Invalid {name}: cannot be empty or whitespace-only. Provide a valid identifier.")
        if any(letter.isspace() for letter in id):
            raise ValueError(f"Invalid {name}: cannot contain whitespace. Provide a valid identifier without spaces.")
        scope[name] = id
    return scope


def when(given: Any) -> str | None:
    """An expiry date as YYYY-MM-DD."""
    if given is None:
        return None
    if isinstance(given, datetime):
        return given.date().isoformat()
    if isinstance(given, date):
        return given.isoformat()
    if isinstance(given, str):
        try:
            return date.fromisoformat(given).isoformat()
        except ValueError as error:
            raise ValueError("expiration_date must be a valid date in YYYY-MM-DD format.") from error
    raise ValueError("expiration_date must be a date string in YYYY-MM-DD format.")


def expired(payload: Mapping[str, Any], *, today: date) -> bool:
    until = payload.get("expiration_date")
    return bool(until) and date.fromisoformat(str(until)) < today


def matches(payload: Mapping[str, Any], asked: Mapping[str, Any]) -> bool:
    """Does a payload meet every condition?"""
    return all(_holds(payload, name, condition) for name, condition in asked.items())


def _holds(payload: Mapping[str, Any], name: str, condition: Any) -> bool:
    if name in ("AND", "OR", "NOT"):
        if not isinstance(condition, list) or (name != "AND" and not condition):
            raise ValueError(f"{name} operator requires a non-empty list of conditions")
        met = [matches(payload, one) for one in condition]
        return all(met) if name == "AND" else any(met) if name == "OR" else not any(met)
    if condition == "*":
        return name in payload
    if isinstance(condition, Mapping):
        return all(_compared(payload.get(name), str(operator), bound) for operator, bound in condition.items())
    return bool(payload.get(name) == condition)


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda have, want: bool(have == want),
    "ne": lambda have, want: bool(have != want),
    "in": lambda have, want: have in want,
    "nin": lambda have, want: have not in want,
    "gt": lambda have, want: bool(have > want),
    "gte": lambda have, want: bool(have >= want),
    "lt": lambda have, want: bool(have < want),
    "lte": lambda have, want: bool(have <= want),
    "contains": lambda have, want: want in have,
    "icontains": lambda have, want: str(want).casefold() in str(have).casefold(),
}


def _compared(have: Any, operator: str, want: Any) -> bool:
    if operator not in _OPERATORS:
        raise ValueError(f"Unsupported metadata filter operator: {operator}")
    if have is None and operator not in ("eq", "ne", "nin"):
        return False
    try:
        return _OPERATORS[operator](have, want)
    except TypeError:  # a number is neither more nor less than a text
        return False
