"""What an agent may do with the memory, as plain functions with JSON schemas: six tools of an assistant, and six of
a consolidator, which are kept apart and never handed to the assistant.

Every text that was remembered comes back inside a fence, so that a transcript of these calls teaches us nothing twice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.core.drafts import Draft
from recollect.core.errors import InvalidField, MemoryNotFound, SessionNotFound
from recollect.core.kinds import Kind
from recollect.core.query import Filter, Hit, Query
from recollect.core.records import Memory
from recollect.core.scope import SHOWN, Source
from recollect.dialogue import facts as saving
from recollect.dialogue.context import FACTS_A_PAGE, LOST, PAGE, DialogueContext
from recollect.dialogue.extract import Extracted
from recollect.dialogue.people import read_profile
from recollect.models.schema import find_misfit
from recollect.privacy.fence import fence
from recollect.recall.pack import as_hit
from recollect.recall.reader import recall
from recollect.remember import acts
from recollect.remember.remember import correction, remember

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A function an agent may call: its name, what it is for, what it takes, and the function."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[[Arguments], Mapping[str, Any]]

    def __call__(self, **arguments: Any) -> Mapping[str, Any]:
        """Call it with checked arguments; what does not fit is an error that says why."""
        unknown = sorted(set(arguments) - set(self.parameters["properties"]))
        trouble = f"there is no {unknown[0]}" if unknown else find_misfit(arguments, self.parameters, "arguments")
        if trouble:
            raise InvalidField(self.name, trouble)
        return self.function(arguments)


def _schema(required: Sequence[str] = (), **properties: Mapping[str, Any]) -> dict[str, Any]:
    shape = {"type": "object", "properties": dict(properties), "required": list(required)}
    return {**shape, "additionalProperties": False}


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}


def agent_tools(room: Callable[[], DialogueContext]) -> tuple[Tool, ...]:
    """The tools of an assistant. The room is asked for when one is called, not before."""
    hands = _AgentHands(room)
    return (
        Tool(
            "search_memory",
            "Find what is remembered about something. Use it before you say that you do not know.",
            _schema(["query"], query=_TEXT, limit=_NUMBER, kind=_TEXT),
            hands.search_memory,
        ),
        Tool(
            "remember_fact",
            "Remember one fact about the user or the work, in one self-contained sentence.",
            _schema(["content"], content=_TEXT, tags={"type": "array", "items": _TEXT}),
            hands.remember_fact,
        ),
        Tool(
            "correct_fact",
            "Replace a remembered fact that is wrong or outdated. The old one is kept as history only.",
            _schema(["id", "content"], id=_TEXT, content=_TEXT, why=_TEXT),
            hands.correct_fact,
        ),
        Tool(
            "confirm_fact",
            "Note that the user confirmed a fact. It is then certain and does not fade.",
            _schema(["id"], id=_TEXT),
            hands.confirm_fact,
        ),
        Tool("memory_stats", "How much is remembered, by kind, and since when.", _schema(), hands.memory_stats),
        Tool(
            "get_entity_info",
            "Everything remembered about a person, project, organization or place.",
            _schema(["name"], name=_TEXT, type=_TEXT),
            hands.get_entity_info,
        ),
    )


class _AgentHands:
    def __init__(self, room: Callable[[], DialogueContext]) -> None:
        self._enter = room

    @property
    def _room(self) -> DialogueContext:
        return self._enter()

    def search_memory(self, given: Arguments) -> Mapping[str, Any]:
        kinds = frozenset({given["kind"]}) if given.get("kind") else frozenset[str]()
        for kind in kinds:
            self._room.store.kinds.rule(kind)
        limit = min(max(1, given.get("limit", 5)), 50)
        query = Query(given["query"], k=limit, filter=Filter(kinds=kinds))
        found = recall(query, self._room.senses, now=self._room.clock())
        return {"memory": _fenced(found.hits), "ids": [hit.id for hit in found.hits], "notes": list(found.notes)}

    def remember_fact(self, given: Arguments) -> Mapping[str, Any]:
        draft = Draft(given["content"], kind=Kind.FACT, source=Source.AGENT_EXPLICIT, tags=given.get("tags", ()))
        receipt = self._remember(draft)
        return {"id": receipt.id, "verdict": receipt.verdict, "notes": list(receipt.notes)}

    def correct_fact(self, given: Arguments) -> Mapping[str, Any]:
        old = self._room.store.memories.get(self._room.store.memories.resolve(given["id"]))
        receipt = self._remember(correction(old, given["content"], why=given.get("why", "")))
        return {"id": receipt.id, "superseded": old.id}

    def confirm_fact(self, given: Arguments) -> Mapping[str, Any]:
        memory = acts.confirm(self._room.store, given["id"], self._room.hand("confirmed through a tool"))
        return {"id": memory.id, "confidence": memory.confidence}

    def memory_stats(self, given: Arguments) -> Mapping[str, Any]:
        store = self._room.store
        counts = {str(rule.name): self._count(str(rule.name)) for rule in store.kinds}
        newest = next(iter(store.memories.page(Filter(), limit=1).memories), None)
        return {
            "kinds": {kind: count for kind, count in counts.items() if count},
            "sessions": store.sessions.tally(),
            "entities": store.entities.tally(),
            "newest": None if newest is None else newest.created_at.isoformat(),
        }

    def get_entity_info(self, given: Arguments) -> Mapping[str, Any]:
        known = read_profile(given["name"], self._room, type=given.get("type"))
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

    def _remember(self, draft: Draft) -> Any:
        room = self._room
        return remember([draft], room.store, now=room.now(), identity=room.identity, actor=room.actor)[0]

    def _count(self, kind: str) -> int:
        return self._room.store.memories.count(Filter(kinds=frozenset({kind}), statuses=SHOWN))


# --- the consolidator's --------------------------------------------------------------------------------------------

_FACT = {
    "type": "object",
    "properties": {"content": _TEXT, "sort": _TEXT, "episodes": {"type": "array", "items": _TEXT}},
    "required": ["content", "episodes"],
}


def consolidator_tools(room: DialogueContext) -> tuple[Tool, ...]:
    """The tools of an agent that consolidates sessions. Not for the assistant."""
    hands = _ConsolidatorHands(room)
    session = _schema(["session"], session=_TEXT)
    return (
        Tool(
            "is_session_consolidated", "Was this session consolidated already?", session, hands.is_session_consolidated
        ),
        Tool(
            "get_episodes_for_consolidation",
            f"The next {PAGE} messages of a session after `after`; start with 0, go on with `next` until it is null.",
            _schema(["session"], session=_TEXT, after=_NUMBER),
            hands.get_episodes,
        ),
        Tool(
            "save_facts_batch",
            "Save facts drawn from a session, each citing the ids of its messages. Repeated ones are recognised.",
            _schema(["session", "facts"], session=_TEXT, facts={"type": "array", "items": _FACT}),
            hands.save_facts_batch,
        ),
        Tool(
            "detect_conflicts",
            "Stored facts that may contradict a fact.",
            _schema(["id"], id=_TEXT),
            hands.detect_conflicts,
        ),
        Tool(
            "resolve_conflict",
            "Let one fact take the place of another. The old one is kept as evidence.",
            _schema(["old", "new"], old=_TEXT, new=_TEXT),
            hands.resolve_conflict,
        ),
        Tool("mark_session_consolidated", "Note that a session is done.", session, hands.mark_session_consolidated),
    )


class _ConsolidatorHands:
    def __init__(self, room: DialogueContext) -> None:
        self._room = room

    def is_session_consolidated(self, given: Arguments) -> Mapping[str, Any]:
        return {"consolidated": self._session(given).consolidated_at is not None}

    def get_episodes(self, given: Arguments) -> Mapping[str, Any]:
        session, store = self._session(given), self._room.store
        page = store.sessions.episodes(session.id, after=max(0, given.get("after", 0)), limit=PAGE)
        episodes = [as_hit(memory, memory.confidence) for _, memory in page]
        return {
            "messages": _fenced(episodes),
            "ids": [hit.id for hit in episodes],
            "next": page[-1][0] if len(page) == PAGE else None,
        }

    def save_facts_batch(self, given: Arguments) -> Mapping[str, Any]:
        session = self._session(given)
        if len(given["facts"]) > FACTS_A_PAGE:
            raise InvalidField("facts", f"{len(given['facts'])} of them; at most {FACTS_A_PAGE} are taken at once")
        told = [self._told(fact, session.id) for fact in given["facts"]]
        with self._room.store.engine.write():
            saved = saving.save_facts(
                told, self._room, session=session.id, replaces={fact.content: [] for fact in told}
            )
        return {"added": saved.added, "known": saved.known, "refused": saved.refused}

    def detect_conflicts(self, given: Arguments) -> Mapping[str, Any]:
        fact = self._fact(given["id"])
        near = [
            one for one in saving.find_candidates(fact.content, self._room) if one.id != fact.id and one.status in SHOWN
        ]
        return {
            "memory": _fenced([as_hit(one, one.confidence) for one in near[:PAGE]]),
            "ids": [one.id for one in near[:PAGE]],
        }

    def resolve_conflict(self, given: Arguments) -> Mapping[str, Any]:
        old, new = self._fact(given["old"]), self._fact(given["new"])
        hand = self._room.hand("a consolidator judged so", actor=saving.ACTOR)
        closed = acts.supersede(self._room.store, old.id, hand, by=new, until=new.happened_at, confidence=LOST)
        return {"superseded": closed.id, "by": new.id, "confidence": closed.confidence}

    def mark_session_consolidated(self, given: Arguments) -> Mapping[str, Any]:
        session, store = self._session(given), self._room.store
        with store.engine.write():
            last = store.sessions.last_position(session.id)
            store.sessions.advance(session, to=last)
            done = store.sessions.finish(session.id, at=self._room.now())
        return {"consolidated": done or session.consolidated_at is not None}

    def _session(self, given: Arguments) -> Any:
        found = self._room.store.sessions.get(given["session"])
        if found is None:
            raise SessionNotFound(given["session"])
        return found

    def _fact(self, id: str) -> Memory:
        memory = self._room.store.memories.get(self._room.store.memories.resolve(id))
        if memory.kind != Kind.FACT:
            raise MemoryNotFound(id)
        return memory

    def _told(self, fact: Mapping[str, Any], session: str) -> Extracted:
        """A told fact, if the messages it cites are of that session."""
        page = self._room.store.memories.get_many(fact["episodes"]).memories
        cited = [one for one in page if one.kind == Kind.EPISODE and one.session == session]
        if not cited:
            raise InvalidField("episodes", "a fact cites at least one message of its session")
        latest = max(cited, key=lambda one: one.happened_at)
        return Extracted(
            fact["content"], fact.get("sort", "state"), tuple(one.id for one in cited), latest.event_at, 0.8
        )


def _fenced(hits: Sequence[Hit]) -> str:
    return fence(hits, nonce=os.urandom(8).hex())
