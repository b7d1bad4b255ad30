"""Redacting whole values: texts inside lists and mappings, and names that must stay apart. Light to load.

In a mapping a text is looked at together with its name, because only the name gives some secrets away.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect.core.digest import short_digest
from recollect.privacy.scan import redact, scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_NAME_MOST = 80  # characters of a name that are looked at with its value


def redact_value(value: Any) -> Any:
    """The same value without secrets; the very same object where there was none."""
    return _redacted(value, "")


def rules_in(value: Any) -> tuple[str, ...]:
    """The rules that fire on a value, each once."""
    found: dict[str, None] = {}
    _collect(value, "", found)
    return tuple(found)


def redact_name(name: str) -> str:
    """An id or a name without secrets. What was hidden leaves a digest, so that different names stay different."""
    hidden = redact(name)
    return name if not hidden.findings else f"{hidden.text} {short_digest(name)}"


def _redacted(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, Mapping):
        changed = {_redacted(key, ""): _redacted(item, str(key)) for key, item in value.items()}
        return value if changed == value else changed
    if isinstance(value, list | tuple):
        several = [_redacted(item, name) for item in value]
        if all(one is other for one, other in zip(several, value, strict=True)):
            return value
        return several if isinstance(value, list) else tuple(several)
    return value


def _text(text: str, name: str) -> str:
    hidden = redact(text)
    if hidden.findings or not name or "\n" in text:
        return hidden.text if hidden.findings else text
    head = _named(name)
    findings = [finding for finding in scan(f'{head}{text}"') if finding.end > len(head)]
    return text if not findings else f"[secret:{findings[0].rule}]"


def _named(name: str) -> str:
    return f'"{name[:_NAME_MOST]}": "'


def _collect(value: Any, name: str, found: dict[str, None]) -> None:
    if isinstance(value, str):
        head = _named(name) if name else ""
        found.update((finding.rule, None) for finding in scan(value))
        if head and not found:
            found.update((finding.rule, None) for finding in scan(f'{head}{value}"') if finding.end > len(head))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _collect(key, "", found)
            _collect(item, str(key), found)
    elif isinstance(value, list | tuple):
        for item in value:
            _collect(item, name, found)
