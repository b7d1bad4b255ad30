"""What a detector keeps: notes that stay small however long a session runs, and the signal it makes of them.

A detector is a slotted dataclass whose fields are notes by key and plain values, so that a checkpoint is plain JSON.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from recollect.observer.events import Event

MARKS = 12  # steps, paths and words one note keeps: enough to show, small enough to bound
KEY = 300  # characters of a key or a word that are kept


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
            if path not in self.paths and len(self.paths) < MARKS:
                self.paths.append(path[:KEY])

    def say(self, words: str) -> None:
        """Add a sentence, once."""
        if words and words[:KEY] not in self.words and len(self.words) < MARKS:
            self.words.append(words[:KEY])


def _add(steps: list[int], step: int) -> None:
    if step in steps:
        return
    if len(steps) >= MARKS:
        steps.pop()
    steps.append(step)


class Detector(Protocol):
    """Watches events for one signal. `see` is constant time and never raises; `found` may be asked at any moment."""

    name: ClassVar[str]
    notes: dict[str, Note]

    def see(self, event: Event) -> None: ...

    def found(self, session: str) -> list[Signal]: ...


def note(notes: dict[str, Note], key: str) -> Note:
    """The note of a key, made when new."""
    short = key[:KEY]
    kept = notes.get(short)
    if kept is None:
        kept = notes[short] = Note()
    return kept


def signal(name: str, session: str, subject: str, kept: Note, *, hunch: str = "") -> Signal:
    """The signal a note amounts to."""
    return Signal(name=name, session=session, subject=subject, steps=tuple(sorted(kept.steps)), count=kept.count,
                  paths=tuple(kept.paths), words=tuple(kept.words), hunch=hunch or kept.hunch,
                  measure=round(kept.measure, 3))  # fmt: skip
