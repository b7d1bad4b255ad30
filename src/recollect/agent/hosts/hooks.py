"""The events a host calls us at. Every host has its own names and its own shape around the same line: start our hook,
wait this long at most, go on without it. The hook keeps a much shorter deadline of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SECONDS = 2  # how long a host waits for a hook that hangs; the hook itself gives up well before


def groups(
    events: Sequence[str], hook: dict[str, Any], *, matcher: str | None = None
) -> dict[str, list[dict[str, Any]]]:
    """The form of Claude Code, which Codex and Gemini CLI share: event → groups → hooks."""
    group = {"hooks": [hook]} if matcher is None else {"matcher": matcher, "hooks": [hook]}
    return {event: [group] for event in events}
