"""What is asked (Query, Filter) and what comes back (Candidate, Hit, Briefing). Values only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.core.scope import SHOWN, Phase, Scope, Source, Status, Visibility

QueryType: TypeAlias = Literal["identifier", "structural", "semantic"]
Mode: TypeAlias = Literal["hybrid", "keyword", "dense"]
MODES: tuple[Mode, ...] = get_args(Mode)

DEFAULT_K = 8


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories may be answered with. Empty means no restriction, except for status."""

    kinds: frozenset[str] = frozenset()
    sources: frozenset[Source] = frozenset()
    scopes: frozenset[Scope] = frozenset()
    visibilities: frozenset[Visibility] = frozenset()
    statuses: frozenset[Status] = SHOWN
    files: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    documents: frozenset[str] = frozenset()  # ids of the documents a passage may come from
    labels: frozenset[str] = frozenset()  # of the documents a passage may come from
    types: frozenset[str] = frozenset()  # the same: semantic or procedural
    entities: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    except_sessions: frozenset[str] = frozenset()
    since: datetime | None = None
    until: datetime | None = None
    min_confidence: float = 0.0  # of the stored confidence; the faded one is judged when scoring
    min_trust: float = 0.0
    needs_review: bool | None = None
    pinned: bool | None = None
    as_of: datetime | None = None  # what held then: superseded statements too, if they were closed only later


@dataclass(frozen=True, slots=True)
class Query:
    """One question, with where it is asked from."""

    text: str
    k: int = DEFAULT_K
    filter: Filter = Filter()
    phase: Phase | None = None
    files: tuple[str, ...] = ()  # files in play, for the graph and for packing
    recent_calls: tuple[str, ...] = ()  # tools the agent just used
    mode: Mode = "hybrid"
    last_sessions: int | None = None  # only the newest so many
    around: str | None = None  # only the sessions around an event: a memory's id, or words to find it by
    explicit: bool = True  # somebody asked; False when memory is handed over unasked


@dataclass(frozen=True, slots=True)
class Reading:
    """What `read` made of a query."""

    type: QueryType
    words: tuple[str, ...]
    phrases: tuple[str, ...]
    identifiers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory on its way through the pipeline, with every reason that touched it."""

    id: MemoryId
    score: float = 0.0
    reasons: tuple[str, ...] = ()
    memory: Memory | None = None
    factors: Mapping[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()  # why it may no longer hold
    place: int | None = None  # its row in the project's store, where known: what was said beside it is found from there

    def plus(self, share: float, *, because: str) -> Candidate:
        """This candidate with `share` added and the reason kept."""
        return replace(self, score=self.score + share, reasons=(*self.reasons, because))

    def scored(self, score: float, **factors: float) -> Candidate:
        """This candidate with a new score and the named factors that made it."""
        factors = {**self.factors, **factors}
        return Candidate(self.id, score, self.reasons, self.memory, factors, self.doubts, self.place)


class Found(list[Candidate]):
    """What a channel found, best first, with what it has to say about this one search."""

    def __init__(self, candidates: Iterable[Candidate] = (), notes: Iterable[str] = ()) -> None:
        super().__init__(candidates)
        self.notes = tuple(notes)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that came back, with its effective confidence and the path it took."""

    memory: Memory
    score: float
    confidence: float
    citation: str
    factors: Mapping[str, float]
    reasons: tuple[str, ...]
    doubts: tuple[str, ...] = ()  # why it may no longer hold

    @property
    def id(self) -> MemoryId:
        return self.memory.id


@dataclass(frozen=True, slots=True)
class Briefing:
    """What the agent is given: packed, cited, within budget. `notes` says what was skipped and why."""

    hits: tuple[Hit, ...]
    text: str  # the fenced block for a prompt; only a briefing has one, a plain recall leaves it empty
    tokens: int
    notes: tuple[str, ...] = ()
    query_type: QueryType = "semantic"

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
