"""Third step of remembering: how does this statement stand to what is already known? `resolve` itself is pure.

Deliberately timid: only the same words are `same`; two statements `contradict` when the judge says that they exclude
each other; the newer one `supersedes` the older when it also says that something changed. Everything else is `new`.
How a state changed (a home, a tool) is judged by `state`, whatever words the two share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.drafts import Verdict
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.records import Memory
from recollect.core.scope import OPEN
from recollect.core.states import STATE_OF
from recollect.remember.contradiction import WORDING, read_claim
from recollect.remember.state import judge_state, read_state
from recollect.store.store import Store

SAID_SO = "said so"  # the reason of a verdict that somebody stated


@dataclass(frozen=True, slots=True)
class Resolution:
    """The verdict, and the memories it is about."""

    verdict: Verdict
    against: tuple[MemoryId, ...] = ()
    because: str = ""


def resolve(memory: Memory, neighbours: Sequence[Memory]) -> Resolution:
    """Weigh a memory against its neighbours. The first that agrees or conflicts decides, nearest first."""
    same = tuple(near.id for near in neighbours if near.fingerprint == memory.fingerprint)
    if same:
        return Resolution("same", same[:1], "the same words")
    changes = read_claim(memory.content).change
    for near in neighbours:
        if near.scope != memory.scope:
            continue
        state, because = judge_state(memory, near)
        if state != "new":
            is_later = memory.confidence >= near.confidence and memory.happened_at >= near.happened_at
            ends = state == "supersedes" and is_later and memory.user == near.user
            return Resolution("supersedes" if ends else "contradicts", (near.id,), because)
        if near.kind != memory.kind:
            continue
        judgement = WORDING.judge(memory.content, near.content)
        if judgement.excludes:
            newer = memory.confidence >= near.confidence and memory.happened_at >= near.happened_at
            stronger = changes and newer and memory.user == near.user
            verdict: Verdict = "supersedes" if stronger else "contradicts"
            return Resolution(verdict, (near.id,), judgement.reasons[0])
    return Resolution("new")


_TOPIC_WORDS = 4  # asked for together: the longest say most, and a conflict need share only three quarters of all
_CANDIDATES = 4
_NAMING = 20  # memories looked at that hold the value which a statement says is over
_EVIDENCE = frozenset({Kind.EPISODE, Kind.PASSAGE})  # evidence: kept as it was said, whatever else was said


class ConflictCandidates:
    """The few memories a new statement of a batch could agree or conflict with, found cheaply enough for every write.

    They share its topic words, so the keyword index is asked for all of them together: an intersection of short lists,
    fast at any size. The rest of the batch is compared by its exact topic.
    """

    def __init__(self, store: Store, *, batch: int) -> None:
        self._store = store
        self._is_empty = batch > 1 and store.memories.is_empty()  # asked once, it spares a first batch all its searches
        self._said: dict[tuple[str | None, frozenset[str]], Memory] = {}
        self._states: dict[tuple[str | None, str], Memory] = {}

    def of(self, memory: Memory) -> list[Memory]:
        if memory.kind in _EVIDENCE:
            return []
        topic = read_claim(memory.content).topic
        said = self._said.get((memory.user, topic))
        known = self._known(topic, memory.user) if len(topic) > 1 and not self._is_empty else []
        found = [*self._of_state(memory), *known, *([said] if said else [])]
        return list({one.id: one for one in found}.values())

    def add(self, memory: Memory) -> None:
        if memory.kind not in _EVIDENCE:
            self._said[memory.user, read_claim(memory.content).topic] = memory
            if STATE_OF in memory.attributes:
                self._states[memory.user, memory.attributes[STATE_OF]] = memory

    def _of_state(self, memory: Memory) -> list[Memory]:
        """What is said of the same state, and of the value that a statement says is over; the newest first."""
        claim = read_state(memory.content)
        if claim is None:
            return []
        found: list[Memory] = []
        if claim.key and not self._is_empty:
            found += self._store.memories.having(STATE_OF, [claim.key], limit=_CANDIDATES)
            found += self._store.memories.having("slot", [claim.key], limit=_CANDIDATES)  # drawn from talk
        if claim.replaces and not self._is_empty:
            found += self._store.memories.sharing([claim.replaces], limit=_NAMING, user=memory.user)
        if claim.key and (said := self._states.get((memory.user, claim.key))):
            found.append(said)
        mine = [one for one in found if one.status in OPEN and one.user in (None, memory.user)]
        return sorted(mine, key=lambda one: (one.happened_at, one.id), reverse=True)

    def _known(self, words: frozenset[str], user: str | None) -> list[Memory]:
        longest = sorted(words, key=lambda word: (-len(word), word))[:_TOPIC_WORDS]
        return self._store.memories.sharing(longest, limit=_CANDIDATES, user=user)
