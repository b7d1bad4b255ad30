"""How much of what is known an agent is told unasked: four levels, when to move between them, and which one holds.

Levels rise by themselves when people confirm what they are shown and seldom correct it; that time passes without a
word from anybody raises nothing. Falling back is only offered, and the highest level is never reached but by choice.
Light to load: the hook reads the level too.
"""

from __future__ import annotations

CAUTIOUS, STANDARD, CONFIDENT, AUTONOMOUS = LEVELS = ("cautious", "standard", "confident", "autonomous")
THRESHOLDS = {CAUTIOUS: 0.80, STANDARD: 0.65, CONFIDENT: 0.55, AUTONOMOUS: 0.45}
LEVEL_META = "trust_level"  # where the store keeps it

_FIRST_SESSIONS = 3  # before leaving the first level
_CONFIRMED = 0.5  # share of what was reviewed that people stood behind
_MORE_SESSIONS = 10  # before leaving the second
_MORE_CONFIRMED = 5  # memories that people confirmed at the second
_CORRECTED = 0.05  # share of what was used that people corrected, at most
_FLAGS = 3  # in one session: time to offer going back


class Record:
    """What people did with what they were shown, at the level that holds now."""

    __slots__ = ("confirmed", "corrected", "flagged", "reviewed", "sessions", "used")

    def __init__(
        self,
        *,
        sessions: int = 0,
        reviewed: int = 0,
        confirmed: int = 0,
        used: int = 0,
        corrected: int = 0,
        flagged: int = 0,
    ) -> None:
        self.sessions = sessions
        self.reviewed = reviewed
        self.confirmed = confirmed
        self.used = used
        self.corrected = corrected
        self.flagged = flagged  # in the session that just ended


def known_level(name: str | None) -> str:
    """A level by its name; one nobody knows is the first."""
    return name if name in THRESHOLDS else CAUTIOUS


def next_level(level: str, record: Record) -> str:
    """The level that has been earned. The highest is reached by choice alone."""
    if level == CAUTIOUS and record.sessions >= _FIRST_SESSIONS and record.reviewed:
        return STANDARD if record.confirmed / record.reviewed >= _CONFIRMED else level
    if level == STANDARD and record.sessions >= _MORE_SESSIONS and record.confirmed >= _MORE_CONFIRMED and record.used:
        seldom = record.corrected / record.used < _CORRECTED
        return CONFIDENT if seldom and record.confirmed / record.reviewed >= _CONFIRMED else level
    return level


def offered(level: str, record: Record) -> str | None:
    """The more careful level to offer after a session in which too much was flagged; nothing when there is none."""
    if record.flagged < _FLAGS or level == CAUTIOUS:
        return None
    return LEVELS[LEVELS.index(level) - 1]
