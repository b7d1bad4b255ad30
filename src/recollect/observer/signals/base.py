"""What a detector keeps: notes that stay small however long a session runs, and the signal it makes of them.

Notes and what waits for an answer are bounded, so that an event costs constant time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from recollect.observer.events import Event

MAX_MARKS = 12  # steps, paths and words one note keeps: enough to show, small enough to bound
MAX_KEY_CHARS = 300  # characters of a key or a word that are kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """Something observed in one session: `subject` is what recurs, `hunch` an unproven reading of it."""

    name: str
    session: str
    subject: str
    steps: tuple[int, ...]
    count: int
    paths: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    hunch: str = ""
    measure: float = 0.0
    taint: str = ""

    @property
    def tainted(self) -> bool:
        """Was it seen after the agent had reached outside? `taint` names where."""
        return bool(self.taint)


@dataclass(slots=True)
class Note:
    """One thing seen several times: how often, at which steps, with which files and words."""

    count: int = 0
    steps: list[int] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    measure: float = 0.0
    last: int = -1
    hunch: str = ""

    def mark(self, step: int) -> None:
        """Count one more; the first steps and the newest are kept."""
        self.count += 1
        self.last = step
        _add(self.steps, step)

    def name(self, *paths: str) -> None:
        """Add files the note is about."""
        for path in paths:
            if path not in self.paths and len(self.paths) < MAX_MARKS:
                self.paths.append(path[:MAX_KEY_CHARS])

    def say(self, words: str) -> None:
        """Add a sentence, once."""
        if words and words[:MAX_KEY_CHARS] not in self.words and len(self.words) < MAX_MARKS:
            self.words.append(words[:MAX_KEY_CHARS])


def _add(steps: list[int], step: int) -> None:
    if step in steps:
        return
    if len(steps) >= MAX_MARKS:
        steps.pop()
    steps.append(step)


@dataclass(slots=True)
class Detector:
    """Watches events for one signal: `see` is constant time and never raises, `found` may be asked at any moment.

    Fields are notes by key and plain values, so that a checkpoint is plain JSON; their names are stored in it.
    """

    name: ClassVar[str] = ""
    notes: dict[str, Note] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        """Take one event in."""
        raise NotImplementedError

    def is_signal(self, note: Note) -> bool:
        """Does a note amount to a signal? Every one does unless a detector says otherwise."""
        return True

    def found(self, session: str) -> list[Signal]:
        """The signals so far."""
        return [signal_from(self.name, session, key, note) for key, note in self.notes.items() if self.is_signal(note)]


def note_for(notes: dict[str, Note], key: str) -> Note:
    """The note of a key, made when new."""
    short = key[:MAX_KEY_CHARS]
    kept = notes.get(short)
    if kept is None:
        kept = notes[short] = Note()
    return kept


def signal_from(name: str, session: str, subject: str, kept: Note, *, hunch: str = "") -> Signal:
    """The signal a note amounts to."""
    return Signal(name=name, session=session, subject=subject, steps=tuple(sorted(kept.steps)), count=kept.count,
                  paths=tuple(kept.paths), words=tuple(kept.words), hunch=hunch or kept.hunch,
                  measure=round(kept.measure, 3))  # fmt: skip


def make_room(waiting: dict[Any, Any], limit: int) -> None:
    """Drop the oldest entry of something bounded before one more is put in."""
    if len(waiting) >= limit:
        del waiting[next(iter(waiting))]
