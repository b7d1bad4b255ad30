"""The values of the review queue: what waits for a person, the question it asks, its evidence and its groups.

Values only. Which memories wait is said once, by `WAITING`; everything that counts or lists them uses that filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from recollect.core.doors import COMPOSED, SPOKEN, TAINTED
from recollect.core.errors import UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.log import Entry
from recollect.core.query import ANY_USER, Filter
from recollect.core.records import Memory

WAITING = Filter(needs_review=True, user=ANY_USER)  # open memories whose flag is set, whoever's they are

GROUPINGS = ("question", "subject", "file", "module", "kind")
DECISIONS = ("confirm", "reject", "edit", "dispute", "keep_both")


class ReviewQuestion(StrEnum):
    """What a person is asked about a memory, the most pressing first: this is the order of the queue."""

    CONTRADICTION = "contradiction"  # it and another open memory cannot both be right
    DISPUTE = "dispute"  # somebody doubts it
    STALE = "stale"  # its time has passed, or what it is about has gone
    CANDIDATE = "candidate"  # it was inferred or proposed, and nobody has confirmed it
    TAINTED = "tainted"  # part of it came from outside the project


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A memory that waits for a person. `saves` is about how many tokens each further time would cost without it."""

    memory: Memory
    question: ReviewQuestion
    rivals: tuple[Memory, ...] = ()  # the open memories it contradicts: the other side of the question
    sessions: tuple[str, ...] = ()  # in which it was seen
    steps: int = 0  # of those sessions that show it
    saves: int = 0

    @property
    def id(self) -> MemoryId:
        return self.memory.id

    @property
    def tainted(self) -> bool:
        """Did words of it come from outside?"""
        return bool(self.memory.attributes.get(TAINTED))

    @property
    def spoken(self) -> bool:
        """Did a person say it?"""
        return was_spoken(self.memory)

    @property
    def in_others_words(self) -> bool:
        """Are its words a tool's, an agent's or from outside?"""
        return self.tainted or not (self.memory.attributes.get(COMPOSED) or self.spoken)

    def may_confirm_with_others(self, *, others_words: bool = False) -> bool:
        """May it be confirmed together with others, without a look of its own? A contradiction, a dispute and a stale
        memory never; one in others' words only where that was asked for."""
        if self.question not in (ReviewQuestion.CANDIDATE, ReviewQuestion.TAINTED):
            return False
        return others_words or not self.in_others_words

    @property
    def subject(self) -> str:
        """What it is about: its first file, else its module, else its kind."""
        return group_of(self.memory, self.question, "subject")

    @property
    def revisions(self) -> dict[MemoryId, int]:
        """What a person who sees this item has seen: hand it back with a decision, so that it holds for these words."""
        return {one.id: one.revision for one in (self.memory, *self.rivals)}


@dataclass(frozen=True, slots=True)
class ReviewPage:
    """Some items, best first. `cursor` asks for the next page; it is None on the last one."""

    items: tuple[ReviewItem, ...]
    total: int  # of all pages
    cursor: str | None = None
    damaged: tuple[str, ...] = ()  # ids of rows that belong here and could not be read


@dataclass(frozen=True, slots=True)
class ReviewGroup:
    """Items that belong together: those that ask the same question, or are about the same thing."""

    by: str
    name: str  # empty for those about nothing in particular
    count: int


@dataclass(frozen=True, slots=True)
class SeenIn:
    """One session in which a memory was seen."""

    session: str
    host: str = ""
    at: datetime | None = None
    steps: tuple[int, ...] = ()  # of the session, where that was noted
    prompt: str = ""  # what the session was asked first; of a sentence from a later prompt, nothing
    taint: str = ""  # where it reached outside the project


@dataclass(frozen=True, slots=True)
class ReviewEvidence:
    """All that speaks for or against an item: where it was seen, both sides of a contradiction, what happened to it."""

    item: ReviewItem
    sightings: tuple[SeenIn, ...]  # the latest last
    sources: tuple[Memory, ...]  # what it was drawn from
    history: tuple[Entry, ...]  # of the memory, oldest first
    rival_histories: dict[MemoryId, tuple[Entry, ...]]

    @property
    def times(self) -> int:
        """How often it was seen."""
        return sum(max(1, len(one.steps)) for one in self.sightings)


@dataclass(frozen=True, slots=True)
class Decided:
    """What a decision did: the memory as it is now, and the other memories that it settled. `undo(act=…)` takes back
    exactly this decision."""

    decision: str
    memory: Memory
    settled: tuple[Memory, ...] = ()
    waiting: int = 0  # what is left to review
    act: str = ""  # its id in the log; empty when nothing changed


def was_spoken(memory: Memory) -> bool:
    """Did a person say it? Memories written before this was noted tell it by their signal and kind."""
    spoken = memory.attributes.get(SPOKEN)
    if spoken is not None:
        return bool(spoken)
    return memory.attributes.get("signal") == "self_correction" and memory.kind == Kind.GOTCHA


def was_said(memory: Memory) -> bool:
    """Is it a sentence of a talk, whether or not a person is known to have said it?"""
    return was_spoken(memory) or memory.attributes.get("signal") == "said"


def group_of(memory: Memory, question: ReviewQuestion, by: str) -> str:
    """The name of the group a memory is in; every memory is in exactly one of each grouping."""
    file = memory.files[0] if memory.files else ""
    module = memory.modules[0] if memory.modules else file.rpartition("/")[0]
    groups = {
        "question": str(question),
        "subject": file or module or memory.kind,
        "file": file,
        "module": module,
        "kind": memory.kind,
    }
    if by not in groups:
        raise UnknownChoice("by", by, GROUPINGS)
    return groups[by]
