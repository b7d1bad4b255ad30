"""What is asked (Query, Filter) and what comes back (Candidate, Hit, Briefing, Page). Values only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, get_args, overload

from recollect.core.errors import InvalidField
from recollect.core.ids import MemoryId, in_utc
from recollect.core.records import Memory
from recollect.core.scope import OPEN, SHOWN, Phase, Scope, Source, Status, Visibility, choose, share
from recollect.core.text import clean, require_storable

if TYPE_CHECKING:
    from recollect.core.kinds import Kinds

QueryType: TypeAlias = Literal["identifier", "structural", "semantic"]
Mode: TypeAlias = Literal["hybrid", "keyword", "dense"]
MODES: tuple[Mode, ...] = get_args(Mode)
Order: TypeAlias = Literal["newest", "oldest", "confidence", "accessed"]

DEFAULT_K = 8


Texts: TypeAlias = str | Iterable[str]  # one value, or some
ANY_USER = "*"  # as `Filter.user` only: whoever's they are, for the owner's own overview
_USER_LIMIT = 1_000  # characters of a user's id
_USER_HINT = "Give each user an id of plain visible characters, such as a number or a UUID."
_NONE: frozenset[str] = frozenset()
Word = TypeVar("Word", bound=StrEnum)


def read_user(given: str | None) -> str | None:
    """The id of one user of an assistant, exactly as given; nothing when none is named.

    What cleaning would change is refused, not cleaned: two ids that differ must never become one user.
    """
    if given is None:
        return None
    if not isinstance(given, str):
        raise InvalidField("user", f"expected a text, not {type(given).__name__}")
    if len(given) > _USER_LIMIT:
        raise InvalidField("user", f"{len(given):,} characters; at most {_USER_LIMIT:,} are kept", hint=_USER_HINT)
    name = clean(require_storable(given, "user"))[0]
    if not name:
        raise InvalidField("user", "the name is empty; leave it out for what belongs to nobody in particular")
    if name != given or "\n" in name:
        problem = (
            "it has spaces at its ends, line breaks, invisible characters, or letters that are not in Unicode's NFC"
        )
        raise InvalidField("user", f"{given!a}: {problem}", hint=_USER_HINT)
    if name == ANY_USER:
        raise InvalidField("user", f"{ANY_USER!r} stands for everybody and is no user; only a Filter may ask for it")
    return name


@dataclass(frozen=True, slots=True, init=False)
class Filter:
    """Which memories may be answered with. Empty means no restriction, except for status and user: active and disputed
    memories, and candidates too where `needs_review` asks for what waits.

    Sets may be given as one text, or as any collection of texts. What `user` names sees its own memories and those of
    nobody in particular; without it only the latter are seen, and `ANY_USER` sees all.
    """

    kinds: frozenset[str]
    sources: frozenset[Source]
    scopes: frozenset[Scope]
    visibilities: frozenset[Visibility]
    statuses: frozenset[Status]
    files: frozenset[str]
    modules: frozenset[str]
    tags: frozenset[str]
    documents: frozenset[str]
    labels: frozenset[str]
    types: frozenset[str]
    entities: frozenset[str]
    sessions: frozenset[str]
    except_sessions: frozenset[str]
    since: datetime | None
    until: datetime | None
    min_confidence: float
    min_trust: float
    needs_review: bool | None
    pinned: bool | None
    as_of: datetime | None
    user: str | None

    def __init__(
        self,
        *,
        kinds: Texts = _NONE,
        sources: Texts = _NONE,
        scopes: Texts = _NONE,
        visibilities: Texts = _NONE,
        statuses: Texts | None = None,  # None: those that are shown; of what needs review, candidates too
        files: Texts = _NONE,
        modules: Texts = _NONE,
        tags: Texts = _NONE,
        documents: Texts = _NONE,  # ids of the documents a passage may come from
        labels: Texts = _NONE,  # of the documents a passage may come from
        types: Texts = _NONE,  # the same: semantic or procedural
        entities: Texts = _NONE,
        sessions: Texts = _NONE,
        except_sessions: Texts = _NONE,
        since: datetime | None = None,
        until: datetime | None = None,
        min_confidence: float = 0.0,  # of the stored confidence; the faded one is judged when scoring
        min_trust: float = 0.0,
        needs_review: bool | None = None,
        pinned: bool | None = None,
        as_of: datetime | None = None,  # what held then: superseded statements too, if they were closed only later
        user: str | None = None,
    ) -> None:
        put = partial(object.__setattr__, self)
        put("kinds", _texts(kinds, "kinds"))
        put("sources", _words(Source, sources, "source"))
        put("scopes", _words(Scope, scopes, "scope"))
        put("visibilities", _words(Visibility, visibilities, "visibility"))
        usual = OPEN if needs_review else SHOWN
        put("statuses", usual if statuses is None else _words(Status, statuses, "status"))
        put("files", _texts(files, "files"))
        put("modules", _texts(modules, "modules"))
        put("tags", _texts(tags, "tags"))
        put("documents", _texts(documents, "documents"))
        put("labels", _texts(labels, "labels"))
        put("types", _texts(types, "types"))
        put("entities", _texts(entities, "entities"))
        put("sessions", _texts(sessions, "sessions"))
        put("except_sessions", _texts(except_sessions, "except_sessions"))
        put("since", _moment(since, "since"))
        put("until", _moment(until, "until"))
        put("as_of", _moment(as_of, "as_of"))
        put("min_confidence", share(min_confidence, "min_confidence"))
        put("min_trust", _number(min_trust, "min_trust"))
        put("needs_review", _flag(needs_review, "needs_review"))
        put("pinned", _flag(pinned, "pinned"))
        put("user", user if user == ANY_USER else read_user(user))

    def named(self, kinds: Kinds) -> Filter:
        """This filter with every kind by its own name, aliases resolved. A kind nobody knows is an error."""
        names = frozenset(str(kinds.rule(kind).name) for kind in self.kinds)
        return self if names == self.kinds else replace(self, kinds=names)

    def for_user(self, user: str | None) -> Filter:
        """This filter as one user asks. A filter that names another user is a contradiction, not a choice."""
        name = read_user(user)
        if name is None or name == self.user:
            return self
        if self.user is not None:
            raise InvalidField("user", f"asked for {name!r}, but the filter names {self.user!r}")
        return replace(self, user=name)


def _texts(given: Texts, field: str) -> frozenset[str]:
    if given is _NONE:
        return _NONE
    if isinstance(given, str):
        return frozenset((str(given),))
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        raise InvalidField(field, f"expected a text or some texts, not {type(given).__name__}")
    texts = frozenset(given)
    for text in texts:
        if not isinstance(text, str):
            raise InvalidField(field, f"expected texts, not {type(text).__name__}")
    return texts


def _words(words: type[Word], given: Texts, field: str) -> frozenset[Word]:
    texts = _texts(given, field)
    return frozenset(choose(words, text, field) for text in texts) if texts else frozenset()


def _moment(at: datetime | None, field: str) -> datetime | None:
    """The moment, taken as UTC when it says no zone."""
    if at is None:
        return None
    if not isinstance(at, datetime):
        raise InvalidField(field, f"expected a date and time, not {type(at).__name__}")
    return in_utc(at, field)


def _number(value: float, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise InvalidField(field, f"{value!r} is not a number")
    return float(value)


def _flag(value: bool | None, field: str) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise InvalidField(field, f"expected true, false or nothing, not {type(value).__name__}")
    return value


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

    def plus(self, share: float, *, because: str) -> Candidate:
        """This candidate with `share` added and the reason kept."""
        return replace(self, score=self.score + share, reasons=(*self.reasons, because))

    def scored(self, score: float, **factors: float) -> Candidate:
        """This candidate with a new score and the named factors that made it."""
        factors = {**self.factors, **factors}
        return Candidate(self.id, score, self.reasons, self.memory, factors, self.doubts)


@dataclass(frozen=True, slots=True)
class PageCursor:
    """Where a page ended: the value it is ordered by and the id of its last memory. As text it goes through a URL."""

    order: Order
    value: int | float
    id: str

    def __str__(self) -> str:
        import base64
        import json

        whole = json.dumps([self.order, self.value, self.id], separators=(",", ":"))
        return base64.urlsafe_b64encode(whole.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, order: Order) -> PageCursor:
        """The cursor of a list in this order; any other text is an error."""
        import base64
        import json

        try:
            whole = json.loads(base64.urlsafe_b64decode(text[:_MAX_CURSOR] + "=" * (-len(text) % 4)))
            found, value, id = whole
            if found != order or type(value) not in (int, float) or not -_FURTHEST < value < _FURTHEST:
                raise ValueError(found)
            return cls(order, value, require_storable(id, "cursor"))
        except (ValueError, TypeError, RecursionError, InvalidField):
            raise InvalidField(
                "cursor", "it is not the cursor of a list in this order", hint="Begin again without one."
            ) from None


_MAX_CURSOR = 1_000  # characters
_FURTHEST = 2**62  # milliseconds; what a database can compare


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
class Briefing(Sequence[Hit]):
    """What an agent is given: hits, packed, cited, within budget. `notes` says what was skipped and why."""

    hits: tuple[Hit, ...]
    text: str  # the fenced block for a prompt; only a briefing has one, a plain recall leaves it empty
    tokens: int
    notes: tuple[str, ...] = ()
    query_type: QueryType = "semantic"

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]


@dataclass(frozen=True, slots=True)
class Page(Sequence[Memory]):
    """Some memories, in order. `damaged` has the ids of rows that belong here and could not be read; `cursor`
    leads to the page after this one, and is nothing on the last."""

    memories: tuple[Memory, ...]
    damaged: tuple[str, ...] = ()
    cursor: str | None = None

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    @overload
    def __getitem__(self, index: int) -> Memory: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Memory, ...]: ...
    def __getitem__(self, index: int | slice) -> Memory | tuple[Memory, ...]:
        return self.memories[index]
