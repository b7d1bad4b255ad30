"""Reading the report of a review or a test run: findings by severity, whatever its writer called the fields.

Strict about what matters: a finding without a known severity, or that says nothing, is named in the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.text import clean, excerpt
from recollect.observer.qa import SERIOUS, Finding, Severity
from recollect.observer.tool_calls import relative_path

_SEVERITIES: Mapping[str, Severity] = {
    "critical": "critical", "blocker": "critical", "high": "high", "severe": "high", "major": "high", "error": "high",
    "medium": "medium", "moderate": "medium", "warning": "medium",
    "low": "low", "minor": "low", "info": "low", "note": "low", "trivial": "low",
}  # fmt: skip
LONGEST = 600  # characters of a finding that are kept
MOST = 200  # critical and high findings of one report

_SAID = ("title", "message", "issue", "problem", "summary", "description")
_MORE = ("description", "detail", "details", "message")
_MENDED = ("fix", "suggestion", "recommendation", "remedy", "resolution", "fix_required")
_PLACES = ("files", "paths", "locations")
_PLACE = ("file", "path", "file_path", "filename", "location")


def report(given: object) -> list[Finding]:
    """Read a list of findings, or an object that holds one. A finding that cannot be read is named in the error."""
    found: list[Finding] = []
    for number, item in enumerate(_listed(given)):
        if not isinstance(item, Mapping):
            raise InvalidField(f"findings[{number}]", f"expected an object, not {type(item).__name__}")
        found.append(_finding(item, f"findings[{number}]"))
    grave = sum(one.severity in SERIOUS for one in found)
    if grave > MOST:
        hint = "Nothing was changed. Hand in those that matter, in several reports if need be."
        raise InvalidField("findings", f"{grave} grave ones; at most {MOST} of a report become memories", hint=hint)
    return found


def _listed(given: object) -> Sequence[object]:
    if isinstance(given, Mapping):
        held = next((given[key] for key in ("findings", "issues", "results") if isinstance(given.get(key), list)), None)
        if held is None:
            raise InvalidField("findings", "expected a list of findings, or an object with one under `findings`")
        return list(held)
    if not isinstance(given, list):
        raise InvalidField("findings", f"expected a list of findings, not {type(given).__name__}")
    return given


def _finding(item: Mapping[str, Any], place: str) -> Finding:
    given = str(item.get("severity") or item.get("level") or "").strip().lower()
    if given not in _SEVERITIES:
        raise UnknownChoice(f"{place}.severity", given, _SEVERITIES)
    said = _text(item, _SAID)
    if not said:
        raise InvalidField(place, "says nothing", hint=f"Give it one of: {', '.join(_SAID)}.")
    more = _text(item, _MORE)
    text = said if not more or more in said else f"{said.rstrip('.')}. {more}"
    remedy = _text(item, _MENDED)
    if remedy:
        text = f"{text.rstrip('.')}. What mends it: {remedy}"
    return Finding(excerpt(text, LONGEST), _SEVERITIES[given], _files(item))


def _text(item: Mapping[str, Any], keys: Sequence[str]) -> str:
    found = next((value for key in keys if isinstance(value := item.get(key), str) and value.strip()), "")
    return clean(found)[0]


def _files(item: Mapping[str, Any]) -> tuple[str, ...]:
    named: list[object] = [item.get(key) for key in _PLACE]
    for key in _PLACES:
        held = item.get(key)
        named += held if isinstance(held, list) else []
    plain = [one.get("file") or one.get("path") if isinstance(one, Mapping) else one for one in named]
    texts = [one.partition(":")[0] if one[1:2] != ":" else one for one in plain if isinstance(one, str) and one]
    return tuple(dict.fromkeys(path for one in texts if (path := relative_path(one, None)) is not None))[:20]
