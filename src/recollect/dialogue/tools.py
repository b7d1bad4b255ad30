"""What an agent may do with the memory, as plain functions whose schemas follow from their
parameters: six tools of an assistant, and six of
a consolidator, which are kept apart and never handed to the assistant.

Every text that was remembered comes back inside a fence, so that a transcript of these calls teaches us nothing twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NotRequired, TypedDict

from recollect.core.conversations import Session
from recollect.core.doors import CHAT
from recollect.core.drafts import Draft
from recollect.core.errors import InvalidField, MemoryNotFound, PersonOnly, SessionNotFound
from recollect.core.kinds import Kind
from recollect.core.query import Filter, Hit, Query, read_user
from recollect.core.records import Memory
from recollect.core.scope import SHOWN, Source
from recollect.dialogue.context import FACTS_A_PAGE, LOST, PAGE, DialogueContext
from recollect.dialogue.extract import Extracted
from recollect.dialogue.facts import ACTOR, find_candidates, save_facts
from recollect.dialogue.people import read_profile
from recollect.models.schema import find_misfit, parameters_of
from recollect.privacy.fence import fence
from recollect.recall.pack import as_hit

_MAX_FOUND = 50  # memories of one search
_TOLD_CONFIDENCE = 0.8  # of a fact that a consolidating agent drew


@dataclass(frozen=True)
class Tool:
    """A function an agent may call: its name, what it is for, and the function. What it takes follows from that."""

    name: str
    description: str
    function: Callable[..., Mapping[str, Any]]

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The JSON schema of its arguments."""
        return parameters_of(self.function)

    def __call__(self, /, **arguments: Any) -> Mapping[str, Any]:
        """Call it with checked arguments; what does not fit is an error that says why."""
        unknown = sorted(set(arguments) - set(self.parameters["properties"]))
        trouble = f"there is no {unknown[0]}" if unknown else find_misfit(arguments, self.parameters, "arguments")
        if trouble:
            raise InvalidField(self.name, trouble)
        return self.function(**arguments)


def agent_tools(room: Callable[[], DialogueContext], *, user: str | None = None) -> tuple[Tool, ...]:
    """The tools of an assistant, for one of its users. The room is asked for when one is called, not before."""
    tools = _AgentTools(room, read_user(user))
    return (
        Tool(
            "search_memory",
            "Find what is remembered about something. Use it before you say that you do not know.",
            tools.search_memory,
        ),
        Tool(
            "remember_fact",
            "Remember one fact about the user or the work, in one self-contained sentence.",
            tools.remember_fact,
        ),
        Tool(
            "correct_fact",
            "Replace a remembered fact that is wrong or outdated; the old one is kept as history. What the user taught"
            " or confirmed stays until they confirm the new one.",
            tools.correct_fact,
        ),
        Tool(
            "confirm_fact",
            "The user says that a fact is right. Only they can confirm it: this tells you how.",
            tools.confirm_fact,
        ),
        Tool("memory_stats", "How much is remembered, by kind, and since when.", tools.memory_stats),
        Tool(
            "get_entity_info",
            "Everything remembered about a person, project, organization or place.",
            tools.get_entity_info,
        ),
    )


def as_agents(room: DialogueContext) -> DialogueContext:
    """The room for what a model does in it: whoever opened it, a tool's hand is an agent's."""
    return replace(room, writer=room.writer.through(CHAT)) if room.writer.door.is_persons else room


class _AgentTools:
    def __init__(self, room: Callable[[], DialogueContext], user: str | None) -> None:
        self._enter = room
        self._user = user

    @property
    def _room(self) -> DialogueContext:
        return as_agents(self._enter())

    def search_memory(self, query: str, limit: int = 5, kind: str = "") -> Mapping[str, Any]:
        filter = Filter(kinds=frozenset({kind} if kind else ()), user=self._user)
        found = self._room.reader.recall(Query(query, k=min(max(1, limit), _MAX_FOUND), filter=filter), track=True)
        return {"memory": _fenced(found.hits), "ids": [hit.id for hit in found.hits], "notes": list(found.notes)}

    def remember_fact(self, content: str, tags: Sequence[str] = ()) -> Mapping[str, Any]:
        draft = Draft(content, kind=Kind.FACT, source=Source.AGENT_EXPLICIT, tags=tuple(tags), user=self._user)
        receipt = self._room.writer.remember([draft])[0]
        return {"id": receipt.id, "verdict": receipt.verdict, "notes": list(receipt.notes)}

    def correct_fact(self, id: str, content: str, why: str = "") -> Mapping[str, Any]:
        old = self._own(id)
        receipt = self._room.writer.correct(old.id, content, why=why)
        replaced = receipt.verdict == "supersedes"
        return {"id": receipt.id, "superseded": old.id if replaced else None, "notes": list(receipt.notes)}

    def confirm_fact(self, id: str) -> Mapping[str, Any]:
        memory = self._room.writer.confirm(self._own(id).id, why="confirmed through a tool")
        notes = [] if memory.verified else [str(PersonOnly("confirm a memory"))]
        return {"id": memory.id, "confidence": memory.confidence, "verified": memory.verified, "notes": notes}

    def memory_stats(self) -> Mapping[str, Any]:
        room, reader = self._room, self._room.reader
        counts = {str(rule.name): self._count(str(rule.name)) for rule in reader.kinds}
        newest = next(iter(reader.list(Filter(user=self._user), limit=1).memories), None)
        return {
            "kinds": {kind: count for kind, count in counts.items() if count},
            "sessions": room.sessions.tally(user=self._user),
            "entities": room.entities.tally(user=self._user),
            "newest": None if newest is None else newest.created_at.isoformat(),
        }

    def get_entity_info(self, name: str, type: str | None = None) -> Mapping[str, Any]:
        known = read_profile(name, self._room, type=type, user=self._user)
        hits = [as_hit(memory, memory.confidence) for memory in known.memories]
        return {
            "id": known.entity.id,
            "name": known.entity.name,
            "type": str(known.entity.type),
            "aliases": list(known.entity.aliases),
            "summary": known.entity.summary,
            "mentions": known.entity.mentions,
            "memory": _fenced(hits),
        }

    def _count(self, kind: str) -> int:
        return self._room.reader.count(Filter(kinds=frozenset({kind}), statuses=SHOWN, user=self._user))

    def _own(self, id: str) -> Memory:
        """A memory of this very user, to be changed. Another user's does not exist for them; what belongs to everybody
        is not one user's to change."""
        memory = self._room.reader.get(id, user=self._user)
        if memory.user == self._user:
            return memory
        raise InvalidField(
            "id",
            f"{memory.id} belongs to everybody and cannot be changed for one user; "
            "the owner changes it with `recollect correct` or `recollect confirm`",
        )


# --- the consolidator's --------------------------------------------------------------------------------------------


class _ToldFact(TypedDict):
    content: str
    sort: NotRequired[str]
    episodes: Sequence[str]


def consolidator_tools(room: DialogueContext) -> tuple[Tool, ...]:
    """The tools of an agent that consolidates sessions. Not for the assistant: it sees every user's."""
    tools = _ConsolidatorTools(room)
    return (
        Tool("is_session_consolidated", "Was this session consolidated already?", tools.is_session_consolidated),
        Tool(
            "get_episodes_for_consolidation",
            f"The next {PAGE} messages of a session after `after`; start with 0, go on with `next` until it is null.",
            tools.get_episodes,
        ),
        Tool(
            "save_facts_batch",
            "Save facts drawn from a session, each citing the ids of its messages. Repeated ones are recognised.",
            tools.save_facts_batch,
        ),
        Tool("detect_conflicts", "Stored facts that may contradict a fact.", tools.detect_conflicts),
        Tool(
            "resolve_conflict",
            "Let one fact take the place of another. The old one is kept as evidence.",
            tools.resolve_conflict,
        ),
        Tool("mark_session_consolidated", "Note that a session is done.", tools.mark_session_consolidated),
    )


class _ConsolidatorTools:
    def __init__(self, room: DialogueContext) -> None:
        self._room = as_agents(room)

    def is_session_consolidated(self, session: str) -> Mapping[str, Any]:
        return {"consolidated": self._session(session).consolidated_at is not None}

    def get_episodes(self, session: str, after: int = 0) -> Mapping[str, Any]:
        page = self._room.sessions.episodes(self._session(session).id, after=max(0, after), limit=PAGE)
        episodes = [as_hit(memory, memory.confidence) for _, memory in page]
        return {
            "messages": _fenced(episodes),
            "ids": [hit.id for hit in episodes],
            "next": page[-1][0] if len(page) == PAGE else None,
        }

    def save_facts_batch(self, session: str, facts: Sequence[_ToldFact]) -> Mapping[str, Any]:
        known = self._session(session)
        if len(facts) > FACTS_A_PAGE:
            raise InvalidField("facts", f"{len(facts)} of them; at most {FACTS_A_PAGE} are taken at once")
        by_user: dict[str | None, list[Extracted]] = {}
        for fact in facts:
            user, drawn = self._drawn(fact, known.id)
            by_user.setdefault(user, []).append(drawn)
        added, again, refused = [], [], 0
        with self._room.writer.transaction():
            for user, told in by_user.items():
                replaces: dict[str, list[Any]] = {fact.content: [] for fact in told}
                saved = save_facts(told, self._room, session=known.id, user=user, replaces=replaces)
                added += saved.added
                again += saved.known
                refused += saved.refused
        return {"added": added, "known": again, "refused": refused}

    def detect_conflicts(self, id: str) -> Mapping[str, Any]:
        fact = self._fact(id)
        near = find_candidates(fact.content, self._room, user=fact.user)
        others = [one for one in near if one.id != fact.id and one.status in SHOWN][:PAGE]
        return {
            "memory": _fenced([as_hit(other, other.confidence) for other in others]),
            "ids": [other.id for other in others],
        }

    def resolve_conflict(self, old: str, new: str) -> Mapping[str, Any]:
        goes, stays = self._fact(old), self._fact(new)
        if goes.user != stays.user:
            raise InvalidField("new", "it belongs to another user")
        because = "a consolidator judged so"
        closed = self._room.writer.supersede(
            goes.id, by=stays, until=stays.happened_at, confidence=LOST, why=because, actor=ACTOR
        )
        return {"superseded": closed.id, "by": stays.id, "confidence": closed.confidence}

    def mark_session_consolidated(self, session: str) -> Mapping[str, Any]:
        known, sessions = self._session(session), self._room.sessions
        with self._room.writer.transaction():
            sessions.advance(known, to=sessions.last_ordinal(known.id))
            done = sessions.finish(known.id, at=self._room.writer.now())
        return {"consolidated": done or known.consolidated_at is not None}

    def _session(self, id: str) -> Session:
        found = self._room.sessions.get(id)
        if found is None:
            raise SessionNotFound(id)
        return found

    def _fact(self, id: str) -> Memory:
        memory = self._room.reader.get(id)
        if memory.kind != Kind.FACT:
            raise MemoryNotFound(id)
        return memory

    def _drawn(self, fact: _ToldFact, session: str) -> tuple[str | None, Extracted]:
        """A told fact and whose it is, if the messages it cites are of that session and of one user."""
        page = self._room.reader.get_many(list(fact["episodes"])).memories
        cited = [one for one in page if one.kind == Kind.EPISODE and one.session == session]
        if not cited:
            raise InvalidField("episodes", "a fact cites at least one message of its session")
        if len({one.user for one in cited}) > 1:
            raise InvalidField("episodes", "a fact cites messages of one user only")
        latest = max(cited, key=lambda one: one.happened_at)
        ids = tuple(one.id for one in cited)
        drawn = Extracted(fact["content"], fact.get("sort", "state"), ids, latest.event_at, _TOLD_CONFIDENCE)
        return latest.user, drawn


def _fenced(hits: Sequence[Hit]) -> str:
    return fence(hits, nonce=os.urandom(8).hex())
