"""`memory.review`: everything that waits for a person, as a program meets it. List it, look at the evidence, decide.

Whoever shows or counts what waits uses this class, so that every door tells the same. What a decision does to memories
is the Writer's affair; through an agent's door it confirms and settles nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.observed import SessionSeen
from recollect.core.query import ANY_USER, Filter
from recollect.core.records import Memory
from recollect.core.review import (
    GROUPINGS,
    WAITING,
    Decided,
    ReviewEvidence,
    ReviewGroup,
    ReviewItem,
    ReviewPage,
    ReviewQuestion,
    SeenIn,
    group_of,
    was_said,
)
from recollect.core.scope import OPEN, SHOWN, Relation, choose
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.review.queue import Ranked, cut_page, rank_waiting
from recollect.store.observed import Observed


class Review:
    """The review queue of one project."""

    def __init__(self, reader: Reader, writer: Writer, observed: Observed) -> None:
        self._reader = reader
        self._writer = writer
        self._observed = observed

    # --- what waits -------------------------------------------------------------------------------------------------

    def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        question: str | None = None,
        group: tuple[str, str] | None = None,
        filter: Filter | None = None,
    ) -> ReviewPage:
        """One page of what waits, best first. Hand in the `cursor` of a page to get the next one.

        `question` and `group` (a grouping and a name, as `groups` gives them) show a part of the queue, `filter` only
        what it lets through. The order is the same everywhere.
        """
        wanted = _narrow(filter)
        ranked, damaged = self._rank(wanted)
        chosen = [one for one in ranked if _belongs(one, question, group)]
        page, following = cut_page(chosen, limit=max(0, limit), cursor=cursor)
        return ReviewPage(tuple(self._show(page, wanted.user)), len(chosen), following, damaged)

    def count(self, filter: Filter | None = None) -> int:
        """How many memories wait for a person."""
        return self._reader.count(_narrow(filter))

    def questions(self, filter: Filter | None = None) -> dict[str, int]:
        """How many memories ask each question; all five are named."""
        counts = Counter(one.question for one in self._rank(_narrow(filter))[0])
        return {str(question): counts[question] for question in ReviewQuestion}

    def groups(self, by: str = "question", *, filter: Filter | None = None) -> Sequence[ReviewGroup]:
        """The queue by question, subject, file, module or kind: each item is in one group, the best group first."""
        if by not in GROUPINGS:
            raise UnknownChoice("by", by, GROUPINGS)
        counts: Counter[str] = Counter()  # in the order of the queue
        for one in self._rank(_narrow(filter))[0]:
            counts[group_of(one.memory, one.question, by)] += 1
        return [ReviewGroup(by, name, count) for name, count in counts.items()]

    def get(self, id: str) -> ReviewItem:
        """One item, by the id of its memory or the last letters of it. A memory that does not wait is an error."""
        memory = self._reader.get(id)
        if memory.status not in OPEN or not memory.needs_review:
            raise InvalidField("id", f"{memory.id} does not wait for review")
        rivals = self._reader.rivals_of([memory.id])
        return self._show(rank_waiting([memory], rivals, now=self._writer.now()), ANY_USER)[0]

    def evidence(self, id: str) -> ReviewEvidence:
        """What speaks for and against an item: sessions it was seen in, both sides, sources, history."""
        item = self.get(id)
        account = self._reader.why(item.id)
        drawn = [link.target for link in account.points_at if link.relation is Relation.DERIVED_FROM and link.target]
        return ReviewEvidence(
            item,
            tuple(self._sightings(item.memory)),
            tuple(self._reader.get_many(drawn).memories),
            account.history,
            {rival.id: self._reader.why(rival.id).history for rival in item.rivals},
        )

    def saved(self, told: Sequence[str]) -> int:
        """About how many tokens were saved by telling these memories, one entry for each telling: what it cost to
        learn them the first time."""
        memories = self._reader.get_many(list(dict.fromkeys(told))).memories
        sessions = self._sessions(memories)
        worth = {str(memory.id): _cost_to_learn(memory, sessions) for memory in memories}
        return sum(worth.get(id, 0) for id in told)

    # --- deciding ---------------------------------------------------------------------------------------------------

    def decide(
        self,
        id: str,
        decision: str,
        *,
        content: str | None = None,
        why: str = "",
        seen: Mapping[MemoryId, int] | None = None,
    ) -> Decided:
        """Decide about an item; each decision is one act that `undo` takes back.

        `confirm` closes what the memory contradicts, `reject` ends the question, `edit` confirms it with the better
        words in `content`, `dispute` keeps it in doubt, `keep_both` says that it and its rivals are both right. `seen`
        is the `revisions` of the item that was shown: a memory that says something else by now is not decided about.
        """
        if (decision == "edit") != (content is not None):
            raise InvalidField("content", "`edit` needs the better words, and only `edit` takes them")
        memory, settled, act = self._writer.decide(id, decision, content=content, why=why, seen=seen)
        return Decided(decision, memory, settled, self.count(), act)

    def decide_many(
        self, choices: Sequence[tuple[str, str, Mapping[MemoryId, int] | None]], *, why: str = ""
    ) -> Sequence[Decided]:
        """Decide about several items, each by its id, a decision but `edit`, and what was seen of it: all or none.

        Every id is looked up before anything is decided, and a memory gets one decision only.
        """
        wanted: dict[str, tuple[str, str, Mapping[MemoryId, int] | None]] = {}
        for id, decision, seen in choices:
            found = self._reader.get(id).id
            other = wanted.setdefault(found, (found, decision, seen))[1]
            if other != decision:
                raise InvalidField(
                    "id", f"{found} is to be decided as both {other.replace('_', ' ')} and {decision.replace('_', ' ')}"
                )
        done = self._writer.decide_many(list(wanted.values()), why=why)
        waiting = self.count()
        asked = [decision for _, decision, _ in wanted.values()]
        return [Decided(name, *one[:2], waiting, one[2]) for name, one in zip(asked, done, strict=True)]

    # --- inside -----------------------------------------------------------------------------------------------------

    def _rank(self, filter: Filter) -> tuple[Sequence[Ranked], tuple[str, ...]]:
        page = self._reader.list(filter, limit=self._reader.count(filter))
        ranked = rank_waiting(page.memories, self._reader.waiting_rivals(), now=self._writer.now())
        return ranked, page.damaged

    def _show(self, page: Sequence[Ranked], user: str | None) -> Sequence[ReviewItem]:
        known = {one.id: one for one in self._reader.get_many([id for one in page for id in one.rivals]).memories}
        sessions = self._sessions([one.memory for one in page])
        return [_item(one, known, sessions, user) for one in page]

    def _sessions(self, memories: Sequence[Memory]) -> dict[str, SessionSeen]:
        named = {session for memory in memories for session, _ in _seen_in(memory)}
        found = (self._observed.session(id) for id in sorted(named))
        return {session.id: session for session in found if session is not None}

    def _sightings(self, memory: Memory) -> Sequence[SeenIn]:
        sessions = self._sessions([memory])
        sightings = []
        for id, steps in _seen_in(memory):
            seen = sessions.get(id)
            at = None if seen is None or seen.started is None else datetime.fromtimestamp(seen.started, UTC)
            if seen is None:
                sightings.append(SeenIn(id, steps=steps))
            else:
                sightings.append(SeenIn(id, seen.host, at, steps, _own_prompt(memory, seen.prompt), seen.taint))
        return sightings


def _narrow(filter: Filter | None) -> Filter:
    """Of what a filter lets through, what waits."""
    if filter is None:
        return WAITING
    if filter.as_of is not None:
        raise InvalidField("as_of", "what waits for review waits now")
    everything = not filter.statuses or (filter.needs_review is None and filter.statuses == SHOWN)  # nobody chose
    statuses = OPEN if everything else filter.statuses & OPEN
    if not statuses:
        raise InvalidField("status", f"only {', '.join(sorted(OPEN))} memories wait for review")
    return replace(filter, needs_review=True, statuses=statuses)


def _belongs(one: Ranked, question: str | None, group: tuple[str, str] | None) -> bool:
    if question is not None and one.question is not choose(ReviewQuestion, question, "question"):
        return False
    if group is None:
        return True
    by, name = group
    return group_of(one.memory, one.question, by) == name


def _item(
    one: Ranked, known: Mapping[MemoryId, Memory], sessions: Mapping[str, SessionSeen], user: str | None
) -> ReviewItem:
    seen = _seen_in(one.memory)
    rivals = [known[id] for id in one.rivals if id in known]
    return ReviewItem(
        one.memory,
        one.question,
        tuple(rival for rival in rivals if user == ANY_USER or rival.user in (None, user)),
        tuple(id for id, _ in seen),
        sum(max(1, len(steps)) for _, steps in seen),
        _cost_to_learn(one.memory, sessions),
    )


def _cost_to_learn(memory: Memory, sessions: Mapping[str, SessionSeen]) -> int:
    """About how many tokens a session spent on what the memory tells."""
    seen = _seen_in(memory)
    costs = [
        session.tokens / session.steps * max(1, len(steps))
        for id, steps in seen
        if (session := sessions.get(id)) is not None and session.steps
    ]
    return round(sum(costs) / len(seen)) if seen else 0


def _seen_in(memory: Memory) -> list[tuple[str, tuple[int, ...]]]:
    """The sessions a memory was seen in, with the steps that show it; without evidence, those that taught it."""
    noted = memory.attributes.get("evidence")
    evidence = [one for one in noted if isinstance(one, dict)] if isinstance(noted, list | tuple) else []
    if not evidence:
        return [(session, ()) for session in memory.provenance]
    return [(str(one.get("session", "")), _whole_numbers(one.get("steps"))) for one in evidence]


def _own_prompt(memory: Memory, first: str) -> str:
    """What the session was asked first, as evidence of a memory. What was said in a later prompt has its words in the
    memory and its place in the steps: the first prompt would tell something else."""
    if not was_said(memory) or _plain(memory.content).rstrip(".") in _plain(first):
        return first
    return ""


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _whole_numbers(noted: object) -> tuple[int, ...]:
    """The whole numbers in a list that anybody may have written."""
    return tuple(one for one in noted if type(one) is int) if isinstance(noted, list | tuple) else ()
