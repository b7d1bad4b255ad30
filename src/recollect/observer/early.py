"""What is worth noting before a session ends. Pure: from the signals so far to those that cannot wait.

A correction counts at once, a pattern searched three times, two different errors, a setting changed along with two or
more other files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.observed import SignalSeen
from recollect.observer import gate

_ERRORS = 2  # different errors of one session that are worth a note
_CHANGED = 3  # files, the configuration included, that make a change of settings worth one


@dataclass(frozen=True, slots=True)
class Acute:
    """A signal that should not wait for the end of the session."""

    signal: SignalSeen
    priority: float


def acute(signals: Sequence[SignalSeen]) -> list[Acute]:
    """The signals that are worth noting now, the most urgent first."""
    errors = sum(one.name == "error_retry" for one in signals)
    found = [
        Acute(one, gate.EARLY[one.name]) for one in signals if one.name in gate.EARLY and _is_acute(one, errors=errors)
    ]
    return sorted(found, key=lambda one: (-one.priority, one.signal.name, one.signal.subject))


def _is_acute(one: SignalSeen, *, errors: int) -> bool:
    if one.name == "error_retry":
        return errors >= _ERRORS
    return one.name != "config_touch" or len(one.paths) >= _CHANGED
