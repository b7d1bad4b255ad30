"""Which sessions are told anything at all: a stable draw, so that the benefit of memory can be measured.

Five in a hundred sessions are told nothing and ten only at their beginning; all are watched alike. Light to load.
"""

from __future__ import annotations

from recollect.core.digest import short_digest

CONTROL, PASSIVE, FULL = ARMS = ("control", "passive", "full")
_CONTROL, _PASSIVE = 5, 15  # of a hundred: below the first nothing, below the second only at the beginning
NAME = "arm"  # where the store keeps the one that holds for all sessions, if somebody chose


def arm_of(session: str, project: str) -> str:
    """The arm of a session: the same on every machine and every run."""
    drawn = int(short_digest(f"{session}:{project}"), 16) % 100
    if drawn < _CONTROL:
        return CONTROL
    return PASSIVE if drawn < _PASSIVE else FULL


def chosen_arm(chosen: str | None, session: str, project: str) -> str:
    """The arm somebody chose, or the one that was drawn."""
    return chosen if chosen in ARMS else arm_of(session, project)
