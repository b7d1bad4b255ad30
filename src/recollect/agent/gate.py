"""The gate before an action: does something known to fail match what an agent is about to do? Pure; light to load.

One short warning at most. What the observer learnt carries a `trigger`; what people taught is matched by its files and
its words.
"""

from __future__ import annotations

from recollect.core.likeness import containment
from recollect.core.text import split_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from recollect.core.summary import MemorySummary
    from recollect.observer.events import ToolCall

GATED_ACTIONS = frozenset({"edit", "run"})  # reading harms nobody
_MIN_TRIGGER_SHARE = 0.6  # share of a trigger's words that a command must hold
_MIN_RELEVANCE = 0.5  # share of a command's words that a memory without trigger must speak of
_MAX_COMMAND_CHARS = 2_000  # characters of a command


def find_matches(call: ToolCall, candidates: Iterable[MemorySummary]) -> list[tuple[MemorySummary, float]]:
    """Those that match, the firmest first."""
    found = [(known, strength) for known in candidates if (strength := _match_strength(call, known)) > 0]
    return sorted(found, key=lambda pair: (-pair[1], -pair[0].confidence, pair[0].id))


def _match_strength(call: ToolCall, known: MemorySummary) -> float:
    trigger = known.attributes.get("trigger")
    if isinstance(trigger, dict):
        return _trigger_strength(call, trigger)
    touched = bool(set(known.files) & set(call.paths))
    if touched:
        return 0.8 + 0.2 * known.relevance
    return known.relevance if known.relevance >= _MIN_RELEVANCE and call.subject else 0.0


def _trigger_strength(call: ToolCall, trigger: Mapping[str, Any]) -> float:
    """What the observer learnt matches its own tool, and its files or most of its words."""
    tool = trigger.get("tool")
    if isinstance(tool, str) and tool and tool.casefold() != call.tool.casefold():
        return 0.0
    if set(_texts(trigger.get("files"))) & set(call.paths):
        return 1.0
    wanted = {word.lower() for word in _texts(trigger.get("words"))}
    if not wanted or not call.subject:
        return 0.0
    here = set(split_terms(call.subject, max_chars=_MAX_COMMAND_CHARS)[0])
    share = containment(wanted, here)
    return share if share >= _MIN_TRIGGER_SHARE and len(wanted & here) >= min(2, len(wanted)) else 0.0


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []
