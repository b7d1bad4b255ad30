"""The Reader: the one door to what is remembered, and the story of recall behind it.

Rooms, adapters and interfaces ask the Reader and nobody else. Every answer goes through the same checks, the same
stages and the same pair of stores, so one question has one answer whoever asks. It never writes: what has to follow a
recall (counting accesses) is handed in. Whatever was skipped is in the briefing's notes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Protocol, TypeAlias

from recollect.core.errors import EmbeddingMismatch, MemoryNotFound, UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind, Kinds
from recollect.core.ports import (
    Anchors,
    Changes,
    Channel,
    Clock,
    CoChange,
    Neighbourhood,
    Reranker,
    Tokenizer,
    Volatility,
)
from recollect.core.query import ANY_USER, MODES, Briefing, Candidate, Filter, Order, Page, Query, QueryType, Reading
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Status
from recollect.core.text import counted, fingerprint
from recollect.core.tokens import ESTIMATE
from recollect.recall.context_window import add_neighbours, read_windows, weigh_terms
from recollect.recall.evidence import weigh
from recollect.recall.expand import AnswerWriter, Expansion, Meaning, expand, is_weak
from recollect.recall.gather import fuse, gather_by_mode, hydrate
from recollect.recall.newest_first import newest_first
from recollect.recall.pack import pack
from recollect.recall.precedence import put_own_first, put_people_first
from recollect.recall.question import read, read_cues
from recollect.recall.recipes import (
    CUES_MAX_CHARS,
    PLAIN_COLUMNS,
    RECIPES,
    SCORED_LIMIT,
    UNBOUNDED,
    WEIGHED_LIMIT,
    Budget,
    Recipe,
    Tier,
)
from recollect.recall.related_files import BOOST_SHOWN, add_co_changed, boost, count_moved
from recollect.recall.rerank import rerank
from recollect.recall.rest import append_below, list_rest
from recollect.recall.score import confidence_now, files_of, score
from recollect.recall.staleness import lower_stale
from recollect.store.pair import StorePair
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.core.links import Account, Link
    from recollect.core.log import Entry
    from recollect.recall.trend import Trend
    from recollect.store.tombstones import Tombstone


class DenseScores(Meaning, Protocol):
    """Measures nearness for candidates that another channel found, and looks by vector."""

    def scores(self, ids: Sequence[MemoryId], text: str) -> Mapping[str, Mapping[str, float]]: ...

    def check_model(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RetrievalContext:
    """What recall works with: its channels and, where configured, a graph, a reranker and a tokenizer."""

    channels: Sequence[Channel]
    kinds: Kinds
    recipe: Recipe
    store: Store  # where evidence is looked up
    neighbourhood: Neighbourhood | None = None
    co_change: CoChange | None = None  # files that go together
    changes: Changes | None = None  # what happened to files since
    anchors: Anchors | None = None  # what became of symbols
    volatility: Volatility | None = None  # how fast files change
    reranker: Reranker | None = None
    writer: AnswerWriter | None = None  # a language model, for a second look
    tokenizer: Tokenizer = ESTIMATE
    dense: DenseScores | None = None  # how near any memory is to a question
    tier: Tier = "none"
    notes: tuple[str, ...] = ()  # what could not be wired, told with every answer

    def channel(self, name: str) -> Channel | None:
        return next((channel for channel in self.channels if channel.name == name), None)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates in order, before any is left out, and what was noticed on the way."""

    candidates: list[Candidate]
    type: QueryType
    notes: tuple[str, ...]


def recall(query: Query, context: RetrievalContext, *, now: datetime, budget: Budget = UNBOUNDED) -> Briefing:
    """The right few memories for a question, cited and packed, with every reason kept on them."""
    ranking = rank(query, context, now=now)
    packed = pack(
        ranking.candidates,
        k=query.k,
        budget=budget,
        tokenizer=ESTIMATE if budget is UNBOUNDED else context.tokenizer,  # nothing is cut: an estimate will do
        per_document=None if Kind.PASSAGE in query.filter.kinds else context.recipe.per_document,
    )
    return Briefing(
        hits=packed.hits,
        text="",
        tokens=packed.tokens,
        notes=(*ranking.notes, *packed.notes),
        query_type=ranking.type,
    )


def rank(query: Query, context: RetrievalContext, *, now: datetime) -> Ranking:
    """Every stage of recall but packing, in the order they run.

    narrow: sessions that are named become a filter. read: what the question says. gather: ask every channel. fuse: one
    list by rank. hydrate: read the leading memories. weigh: evidence decides how relevant each is, and the unrelated
    goes. expand: look again when little was found, then fuse, hydrate and weigh once more. boost: neighbours of the
    best files move up. add_co_changed: troubles of files that change together join. drop_ended: what no longer holds
    goes. score: relevance meets what is known of a memory. lower_stale: what the source has moved past sinks. rerank: a
    model reads the best. put_people_first: what people said or confirmed goes before what agents say about the same.
    put_own_first: a person's own newer and surer memory goes before the team's.
    list_rest: whoever wants more than were looked at gets more, below them.
    """
    recipe, store = context.recipe, context.store
    whole, notes = _narrow(query, store)
    query = replace(whole, k=0)  # who is looked at must not depend on how many are wanted
    reading = read(query)
    gathered = gather_by_mode(query, reading, context.channels, deadline=recipe.deadline)
    channels, expansion = gathered.channels, Expansion()
    while True:
        fused = fuse(channels, weights=recipe.channel_weights(reading.type), damping=recipe.damping)
        leading = _leading(fused, query, recipe)
        candidates, damaged = hydrate(leading, store)
        candidates = _weigh(candidates, query, reading, context, now, by_meaning=bool(channels.get("dense")))
        if expansion.channels:
            break
        expansion = _expand(candidates, query, reading, context)
        if not expansion.channels:
            break
        channels = {**channels, **expansion.channels}
    boosted = boost(candidates, context.neighbourhood, top=recipe.boost_from, last=recipe.boost_to, gain=recipe.boost)
    joined = add_co_changed(boosted, query, context.co_change, store)
    valid = drop_ended(joined, as_of=query.filter.as_of, now=now)
    paces = {} if context.volatility is None else context.volatility.rates(files_of(valid[:SCORED_LIMIT]))
    rate = partial(score, recipe=recipe, kinds=context.kinds, phase=query.phase, now=now, paces=paces)
    scored = rate(valid[:SCORED_LIMIT])
    checked = lower_stale(
        scored,
        top=recipe.rerank_top,
        kinds=context.kinds,
        now=now,
        plain=recipe.plain or not recipe.weighs(query.mode),
        changes=context.changes,
        anchors=context.anchors,
    )
    reranked, trouble = rerank(
        checked, context.reranker, question=query.text, top=recipe.rerank_top, deadline=recipe.rerank_deadline
    )
    ordered, repeats = put_people_first(reranked, question=query.text)
    ordered = put_own_first(ordered)
    if whole.k > len(ordered):
        seen = {one.id for one in (*leading, *joined)}
        rest = list_rest(
            whole, reading, context.channels, gathered.channels, seen=seen, deadline=recipe.deadline, store=store
        )
        below = [*valid[SCORED_LIMIT:], *drop_ended(rest, as_of=query.filter.as_of, now=now)]
        ordered = append_below(ordered, below, rate)
    noted = [*context.notes, *notes, *gathered.notes, *damaged, *expansion.notes, *([trouble] if trouble else [])]
    if changed := count_moved(candidates, boosted):
        noted.append(f"neighbouring files changed {counted(changed, 'place')} of the first {BOOST_SHOWN}")
    if repeats:
        noted.append(f"{counted(repeats, 'near repeat')} of what agents say left out")
    return Ranking(ordered, reading.type, tuple(noted))


def _narrow(query: Query, store: Store) -> tuple[Query, tuple[str, ...]]:
    if query.last_sessions is None and query.around is None:
        return query, ()
    from recollect.recall.time_words import narrow_sessions  # few questions name sessions

    return narrow_sessions(query, store)


def _leading(fused: Sequence[Candidate], query: Query, recipe: Recipe) -> Sequence[Candidate]:
    """Those worth reading. Where evidence decides, the channels' order says who is looked at, not who wins."""
    return fused[:WEIGHED_LIMIT] if recipe.weighs(query.mode) else fused


def _weigh(
    candidates: list[Candidate],
    query: Query,
    reading: Reading,
    context: RetrievalContext,
    now: datetime,
    *,
    by_meaning: bool,
) -> list[Candidate]:
    """The candidates and what was said beside them, by evidence instead of by rank, where the recipe has weights.

    `by_meaning`: the dense channel answered, so nearness counts and is measured for all of them.
    """
    recipe, store = context.recipe, context.store
    if not candidates or not recipe.weighs(query.mode):
        return candidates
    asked = read_cues(query.text[:CUES_MAX_CHARS], now)
    if asked.window is not None and asked.window.event:
        from recollect.recall.time_words import resolve_event

        asked = replace(asked, window=resolve_event(asked.window, query.filter, store))
    everyone = [*candidates, *add_neighbours(candidates, query, reading, asked, store)]
    tier: Tier = "none"
    if by_meaning and context.dense is not None and query.mode == "hybrid":
        everyone, tier = _measure(everyone, query, context.dense), context.tier
    terms = weigh_terms(reading, asked, store)
    weights = recipe.evidence[tier]
    windows = read_windows(everyone, terms, store, whole="kernel" in weights)
    weighed = weigh(
        everyone, asked, terms, windows, weights=weights, passages=recipe.passages[tier], middle=recipe.middle
    )
    return newest_first(drop_unrelated(weighed, floor=recipe.floor), asked, terms, windows, now)


def _measure(candidates: Sequence[Candidate], query: Query, dense: DenseScores) -> list[Candidate]:
    """Every candidate with its nearness, whichever channel found it."""
    unknown = [candidate.id for candidate in candidates if "dense" not in candidate.factors]
    found = dense.scores(unknown, query.text) if unknown else {}
    return [
        candidate.scored(candidate.score, **found[candidate.id]) if candidate.id in found else candidate
        for candidate in candidates
    ]


def _expand(candidates: Sequence[Candidate], query: Query, reading: Reading, context: RetrievalContext) -> Expansion:
    """What a second look finds, for a search somebody asked for, when the first found little."""
    how = context.recipe.widening
    if not query.explicit or not (how.feedback or context.writer) or not is_weak(candidates, how):
        return Expansion()
    return expand(
        candidates,
        query,
        reading,
        how,
        store=context.store,
        keyword=None if query.mode == "dense" else context.channel("keyword"),
        dense=None if query.mode == "keyword" else context.dense,
        writer=context.writer,
    )


_BY_MEANING = ("dense #", "hypothesis #")  # how the reasons of those channels begin


def drop_unrelated(weighed: Sequence[Candidate], *, floor: float) -> list[Candidate]:
    """Without what was found by its vector alone and hardly speaks of the question: of any store, something is nearest.

    What shares words with the question stays, and what is tied to it otherwise: a file in play, the time asked for.
    """
    return [
        candidate
        for candidate in weighed
        if candidate.score >= floor or not candidate.reasons or any(_is_tied(reason) for reason in candidate.reasons)
    ]


def _is_tied(reason: str) -> bool:
    return not reason.startswith(_BY_MEANING)


def drop_ended(ranking: Sequence[Candidate], *, as_of: datetime | None, now: datetime) -> list[Candidate]:
    """Without statements whose time was over at the moment that is asked about. Who asks for what was superseded or
    has expired, and for no moment, gets it."""
    at = as_of or now

    def holds(memory: Memory) -> bool:
        return (memory.valid_until or _ALWAYS) > at or (as_of is None and memory.status in _ENDED)

    return [candidate for candidate in ranking if candidate.memory is None or holds(candidate.memory)]


_ALWAYS = datetime.max.replace(tzinfo=UTC)
_ENDED = frozenset({Status.SUPERSEDED, Status.EXPIRED})


FollowUp: TypeAlias = Callable[[Sequence[MemoryId]], Sequence[str]]  # the memories to count, and what went wrong


def no_follow_up(ids: Sequence[MemoryId]) -> Sequence[str]:
    """For a memory that is only read."""
    return ()


_LONGEST_PERIOD = 31  # days by which the first period of a trend may begin before the days asked for
_KEPT_TIMINGS = 1_000  # recalls whose time is remembered


class Reader:
    """Recall, and every other way of reading memories.

    `context` is asked at each recall, so what was indexed or learned a moment ago already takes part.
    """

    def __init__(
        self,
        stores: StorePair,
        context: Callable[[], RetrievalContext],
        *,
        clock: Clock,
        follow_up: FollowUp = no_follow_up,
    ) -> None:
        self._stores = stores
        self.context = context
        self._clock = clock
        self._follow_up = follow_up
        self._timings: deque[float] = deque(maxlen=_KEPT_TIMINGS)

    def followed_by(self, follow_up: FollowUp) -> Reader:
        """The same Reader, with another that counts what is handed out."""
        other = copy(self)
        other._follow_up = follow_up
        return other

    def timings(self) -> tuple[float, ...]:
        """How many seconds the latest recalls of this process took."""
        return tuple(self._timings)

    @property
    def project(self) -> str:
        return self._stores.project.project

    @property
    def kinds(self) -> Kinds:
        return self._stores.project.kinds

    @property
    def read_only(self) -> bool:
        return self._stores.project.engine.read_only

    # --- by question ----------------------------------------------------------------------------------------------

    def recall(
        self, query: Query, *, budget: Budget = UNBOUNDED, recipe: str | None = None, track: bool = False
    ) -> Briefing:
        """The right few memories for a question, best first. `track` counts the access of what is handed out."""
        began = perf_counter()
        found = recall(self._checked(query), self._context_for(recipe), now=self._clock(), budget=budget)
        self._timings.append(perf_counter() - began)
        trouble = self._follow_up([hit.id for hit in found.hits] if track else [])
        return replace(found, notes=(*found.notes, *trouble)) if trouble else found

    def rank(self, query: Query, *, recipe: str | None = None, plain: bool = False) -> Ranking:
        """Every stage of recall but packing, for rooms that order by something of their own before they pack.

        `plain` leaves out the personal store and whether files changed: for material that speaks for itself.
        """
        return rank(self._checked(query), self._context_for(recipe, plain=plain), now=self._clock())

    def nearness(self, text: str, other: str) -> float | None:
        """How near two texts are by meaning, as a cosine; nothing without vectors."""
        dense = self.context().dense
        if dense is None:
            return None
        try:
            return float(dense.said(text) @ dense.said(other))
        except LookupError:  # no vectors were made yet
            return None

    def check_models(self) -> Sequence[str]:
        """What is wrong with the models that recall was given, in words: one that cannot be had, or vectors in the
        store that another one made. Questions are answered all the same, by words."""
        context = self.context()
        found = [note for note in context.notes if note]
        try:
            if context.dense is not None:
                context.dense.check_model()
        except EmbeddingMismatch as error:
            found.append(f"{error} Questions are answered by words meanwhile. {error.hint}")
        return found

    def trend(self, text: str, *, by: str, days: int, filter: Filter) -> Trend:
        """How often memories of the project that hold all words of a text happened in each of the last periods; without
        a text, all that a filter lets through."""
        from recollect.recall.trend import MAX_COUNTED, check_period, count_periods

        period, now, store = check_period(by, days), self._clock(), self._stores.project
        wanted = self.check(replace(filter, since=now - timedelta(days=days + _LONGEST_PERIOD)))
        if text.strip():
            words = read(Query(text)).words or (text,)
            said = store.memories.sharing(words, limit=MAX_COUNTED, user=wanted.user)
            found = store.memories.admitted([one.id for one in said], wanted)
        else:
            found = list(store.memories.page(wanted, limit=MAX_COUNTED).memories)
        return count_periods([one.happened_at for one in found], by=period, days=days, now=now)

    def similar(self, text: str, *, limit: int) -> tuple[Memory, ...]:
        """Open memories of the project that may say the same as a text, the nearest first.

        Found by the recipe for duplicates, without reranking or rewriting: whether they do is for the caller to judge.
        """
        query = Query(text, k=limit, filter=Filter(statuses=OPEN), explicit=False)
        context = replace(self._context_for("duplicates", plain=True), reranker=None, writer=None)
        return tuple(hit.memory for hit in recall(query, context, now=self._clock()).hits)

    def buried(self, texts: Sequence[str]) -> frozenset[str]:
        """Those of some statements that were rejected or forgotten and must not come back."""
        prints = {fingerprint(text): text for text in texts}
        return frozenset(prints[found] for found in self._stores.project.tombstones.find(list(prints)))

    def check(self, filter: Filter) -> Filter:
        """The filter with the kinds that other names stand for; an unknown kind is an error that lists the known."""
        return filter.named(self.kinds)

    def _checked(self, query: Query) -> Query:
        if query.mode not in MODES:
            raise UnknownChoice("mode", query.mode, MODES)
        filter = self.check(query.filter)
        return query if filter is query.filter else replace(query, filter=filter)

    def _context_for(self, recipe: str | None, *, plain: bool = False) -> RetrievalContext:
        context = self.context()
        if recipe is not None:
            if recipe not in RECIPES:
                raise UnknownChoice("recipe", recipe, RECIPES)
            context = replace(context, recipe=RECIPES[recipe])
        if plain:
            own = [channel for channel in context.channels if channel.name != "personal"]
            context = replace(context, channels=own, changes=None, anchors=None, co_change=None)
        return context

    # --- by name --------------------------------------------------------------------------------------------------

    def get(self, id: str, *, user: str | None = ANY_USER) -> Memory:
        """The memory with this id, in the project's store or the person's; its last letters suffice. For a user, or for
        nobody in particular, another user's does not exist."""
        memory = self._stores.get(id, user=user)
        if user != ANY_USER and memory.user not in (None, user):
            raise MemoryNotFound(id)
        return memory

    def get_many(self, ids: Sequence[str]) -> Page:
        """Those of `ids` that exist, in the order given."""
        pages = [store.memories.get_many(held) for store, held in self._stores.split(ids)]
        found = {memory.id: memory for page in pages for memory in page.memories}
        damaged = tuple(id for page in pages for id in page.damaged)
        return Page(tuple(found[MemoryId(id)] for id in ids if id in found), damaged)

    def list(
        self,
        filter: Filter | None = None,
        *,
        order: Order = "newest",
        limit: int = 50,
        skip: int = 0,
        cursor: str | None = None,
    ) -> Page:
        """Memories of the project by filter, without a question; `cursor` is that of the page before."""
        wanted = self.check(filter or Filter())
        memories = self._stores.project.memories
        return memories.page(wanted, order=order, limit=max(0, limit), skip=max(0, skip), cursor=cursor)

    def count(self, filter: Filter | None = None) -> int:
        """How many memories of the project a filter lets through."""
        return self._stores.project.memories.count(self.check(filter or Filter()))

    def tally(self) -> Mapping[str, int]:
        """How many memories of the project there are of each status."""
        return self._stores.project.memories.tally()

    def having(self, facet: str, values: Sequence[str], *, limit: int | None = None) -> tuple[Memory, ...]:
        """Memories of the project that carry one of `values` (an entity, a slot, a rule), whatever became of them and
        whoever's they are: for rooms that keep their own material in step."""
        memories = self._stores.project.memories
        return tuple(memories.having(facet, values) if limit is None else memories.having(facet, values, limit=limit))

    def carried(self, facet: str, values: Sequence[str]) -> set[str]:
        """Which of `values` some memory of the project carries."""
        return self._stores.project.memories.carried(facet, values)

    def sharing_words(self, text: str, filter: Filter, *, limit: int) -> tuple[Memory, ...]:
        """Memories of the project that share the most words with a text, and nothing else weighed."""
        store = self._stores.project
        found = store.words.matching(read(Query(text)), self.check(filter), weights=PLAIN_COLUMNS, limit=limit)
        return store.memories.get_many([hit.id for hit in found]).memories

    def tied(self) -> tuple[Memory, ...]:
        """The open memories of the project about files or symbols, passages aside, whoever's they are."""
        return tuple(self._stores.project.memories.tied())

    def passages(self, document: str) -> tuple[Memory, ...]:
        """The passages of one document."""
        return tuple(self._stores.project.memories.of_document(document))

    def passage_documents(self) -> Mapping[str, str]:
        """The document that each passage of the project was cut from."""
        return self._stores.project.memories.cut_from(Filter(kinds=frozenset({Kind.PASSAGE})))

    def repeats(self, ids: Sequence[str], *, minimum: float) -> Sequence[tuple[str, str, float]] | None:
        """Which of `ids` come nearer than a cosine to one that stands before them; nothing without vectors."""
        vectors = self._stores.project.vectors
        space = vectors.active()
        return None if space is None else vectors.repeats(space, list(ids), least=minimum)

    def tombstones(self, fingerprints: Sequence[str]) -> Mapping[str, Tombstone]:
        """Which statements people sent away for good."""
        return self._stores.project.tombstones.find(list(fingerprints))

    def links_of(self, id: MemoryId) -> tuple[Link, ...]:
        """What a memory of the project points at: its evidence, its successor, its files."""
        return tuple(self._stores.project.links.from_(id))

    def rivals_of(self, ids: Sequence[str]) -> Mapping[MemoryId, tuple[MemoryId, ...]]:
        """The open memories that each of some memories of the project contradicts, whichever side says so."""
        return self._stores.project.links.rivals(ids)

    def waiting_rivals(self) -> Mapping[MemoryId, tuple[MemoryId, ...]]:
        """The same for every memory of the project that waits for review."""
        return self._stores.project.links.rivals()

    # --- the story of a belief ------------------------------------------------------------------------------------

    def why(self, id: str) -> Account:
        """All that is known about how we came to believe something."""
        from recollect.core.links import Account

        store, found = self._stores.find(id)
        memory = store.memories.get(found)
        return Account(
            memory=memory,
            confidence=self.confidence(memory),
            points_at=tuple(store.links.from_(memory.id)),
            pointed_at_by=tuple(store.links.to(memory.id)),
            history=tuple(store.log.of(memory.id)),
        )

    def history(self, id: str | None = None, *, limit: int = 50) -> tuple[Entry, ...]:
        """The latest changes: of one memory, oldest first, or of all, newest first."""
        if id is None:
            return tuple(self._stores.project.log.recent(limit))
        for store in self._stores.all:
            if known := store.log.of(id):  # a forgotten memory still has a history
                return tuple(known[max(0, len(known) - limit) :])
        store, found = self._stores.find(id)
        known = store.log.of(found)
        return tuple(known[max(0, len(known) - limit) :])

    def confidence(self, memory: Memory) -> float:
        """What the stored confidence is worth now."""
        return confidence_now(memory, self.kinds, self._clock())

    def fading(self, memory: Memory, *, days: Iterable[int]) -> Sequence[tuple[int, float]]:
        """What its confidence will be worth in so many days if nobody uses it."""
        now = self._clock()
        return [(day, confidence_now(memory, self.kinds, now + timedelta(days=day))) for day in days]
