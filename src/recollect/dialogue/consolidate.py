"""Consolidation: what was said becomes facts, page by page. Idempotent, resumable after a kill at any step.

A page is read, its facts are drawn and judged without a transaction, then saved together with the cursor in one. So a
page is done or it is not, two processes cannot do it twice, and no model is ever called while the store is locked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.conversations import Session
from recollect.core.doors import CONSOLIDATION
from recollect.core.errors import BudgetSpent, ModelDown, ModelWrong, SessionNotFound
from recollect.core.ids import MemoryId
from recollect.core.likeness import containment
from recollect.core.records import Memory
from recollect.core.scope import OPEN
from recollect.core.text import clean
from recollect.dialogue.context import (
    EXTRACT_TOKENS,
    FACT_LIMIT,
    FACTS_A_PAGE,
    GROUNDED,
    JUDGE_TOKENS,
    MODEL_READS,
    PAGE,
    DialogueContext,
)
from recollect.dialogue.extract import Extracted, extract_facts, is_person, speaker
from recollect.dialogue.facts import Saved, find_candidates, likeness, save_facts, telling_words
from recollect.models.port import LanguageModel
from recollect.privacy.fence import defuse


@dataclass(frozen=True, slots=True)
class Drawn:
    """The facts that one user's episodes of a page hold and, where somebody judged, which stored facts each closes."""

    facts: Sequence[Extracted]
    replaces: Mapping[str, Sequence[MemoryId]] | None = None
    notes: tuple[str, ...] = ()


class FactDrawer(Protocol):
    """Draws facts from a page of episodes. Reads the store, writes nothing."""

    def draw(self, episodes: Sequence[Memory], session: str, user: str | None) -> Drawn: ...


class RuleDrawer:
    """Draws facts by rule; conflicts are settled by slot and plain disagreement."""

    def draw(self, episodes: Sequence[Memory], session: str, user: str | None) -> Drawn:
        return Drawn(extract_facts(episodes))


@dataclass(slots=True)
class Consolidated:
    """What became of one session."""

    session: str
    episodes: int = 0
    saved: Saved = field(default_factory=Saved)
    finished: bool = False
    notes: list[str] = field(default_factory=list)


def choose_drawer(room: DialogueContext, session: str) -> FactDrawer:
    """A language model when one is configured, rules otherwise."""
    if room.model is None:
        return RuleDrawer()

    return ModelDrawer(room, room.model("consolidation", session))


def consolidate(id: str, room: DialogueContext, *, budget: WorkBudget | None = None) -> Consolidated:
    """Draw the facts of one session, from where it was left, as far as the budget goes. Whoever asks for it, what is
    drawn is ours."""
    room = replace(room, writer=room.writer.through(CONSOLIDATION))
    session = room.sessions.get(id)
    if session is None:
        raise SessionNotFound(id)
    done, drawer = Consolidated(id), choose_drawer(room, id)
    budget = budget or WorkBudget()
    while not done.finished and budget.allows():
        page = room.sessions.episodes(id, after=session.cursor, limit=PAGE)
        if page:
            drawn = _draw_page([memory for _, memory in page], drawer, id)
            done.notes += [note for part in drawn.values() for note in part.notes]
            if _save_page(session, page, drawn, room, done):
                done.episodes += len(page)
            budget.take(len(page))
        else:
            done.finished = _finish(id, room)
        fresh = room.sessions.get(id)
        if fresh is None or (not page and not done.finished and fresh.consolidated_at is not None):
            done.finished = fresh is not None  # another process came to the end first
            break
        session = fresh
    return done


def _draw_page(episodes: Sequence[Memory], drawer: FactDrawer, session: str) -> dict[str | None, Drawn]:
    """The facts of a page, each user's by themselves. A page that a model cannot make sense of is read by rule, so that
    it never blocks its session."""
    by_user: dict[str | None, list[Memory]] = {}
    for episode in episodes:
        by_user.setdefault(episode.user, []).append(episode)
    drawn: dict[str | None, Drawn] = {}
    for user, said in by_user.items():
        try:
            drawn[user] = drawer.draw(said, session, user)
        except ModelWrong as error:
            drawn[user] = Drawn(extract_facts(said), notes=(f"{session}: {error} Read by rule instead.",))
    return drawn


def _save_page(
    session: Session,
    page: Sequence[tuple[int, Memory]],
    drawn: Mapping[str | None, Drawn],
    room: DialogueContext,
    done: Consolidated,
) -> bool:
    """False when another process was faster, or something on the page was forgotten while it was read."""
    with room.writer.transaction():
        if len(room.reader.get_many([memory.id for _, memory in page]).memories) < len(page):
            return False
        if not room.sessions.advance(session, to=page[-1][0]):
            return False
        for user, part in drawn.items():
            saved = save_facts(part.facts, room, session=session.id, user=user, replaces=part.replaces)
            done.saved = done.saved.plus(saved)
    return True


def _finish(id: str, room: DialogueContext) -> bool:
    with room.writer.transaction():
        return room.sessions.finish(id, at=room.writer.now())


@dataclass(frozen=True, slots=True)
class ConsolidateChore:
    """Consolidates queued sessions at once and, when its hour has come, every open one."""

    room: DialogueContext
    name: str = "consolidate"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        pending = self.room.sessions.pending(queued=not due)
        steps = tuple(Step(one.id, f"{one.state}, {one.episodes} episodes") for one in pending)
        return Plan(self.name, steps, len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        facts, finished, notes = Saved(), 0, []
        for step in plan.steps:
            if not budget.allows():
                break
            try:
                one = consolidate(step.what, self.room, budget=budget)
            except SessionNotFound:
                continue  # all of it was forgotten since the plan was made
            except (ModelDown, BudgetSpent) as error:
                notes.append(f"{step.what}: {error}")
                return self._report(plan, facts, finished, notes, failed=isinstance(error, ModelDown))
            facts = facts.plus(one.saved)
            finished += one.finished
            notes += one.notes
            budget.progress(finished, len(plan.steps) - finished)
        return self._report(plan, facts, finished, notes)

    def _report(self, plan: Plan, facts: Saved, finished: int, notes: list[str], *, failed: bool = False) -> Done:
        details = {
            "sessions": finished,
            "facts": len(facts.added),
            "said_again": len(facts.known),
            "superseded": len(facts.closed),
            "refused": facts.refused,
        }
        return Done(self.name, finished, plan.total - finished, tuple(notes), details, failed)


# --- with a language model ------------------------------------------------------------------------------------------

_PROMPTS = Path(__file__).with_name("prompts")
SORTS = ("identity", "preference", "instruction", "decision", "commitment", "state", "event")
_NEAR = 0.2  # shared share of words from which a stored fact is shown to the judge
_SHOWN = 5  # stored facts shown beside each new one
# A model's fact is believed from 0.6, when barely grounded, to 0.9, when all its words stand in its episodes.
_BASE, _MARGIN = 0.6, 0.3

FACTS_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string"},
                    "sort": {"type": "string", "enum": list(SORTS)},
                    "episodes": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["content", "sort", "episodes"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}
_VERDICT_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "replaces": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"new": {"type": "integer"}, "old": {"type": "integer"}},
                "required": ["new", "old"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["replaces"],
    "additionalProperties": False,
}


class ModelDrawer:
    """Draws facts with a language model and lets it judge which stored facts they replace.

    The model is trusted with nothing. It sees episodes as data, names them by number, and what it says is a fact only
    when its words stand in the episodes it cites. It can neither delete nor invent: a fact without evidence is dropped.
    """

    def __init__(self, room: DialogueContext, model: LanguageModel) -> None:
        self._room = room
        self._model = model

    def draw(self, episodes: Sequence[Memory], session: str, user: str | None) -> Drawn:
        if not any(is_person(episode.source_role) for episode in episodes):
            return Drawn(())
        answer = self._model.object(
            _transcript(episodes), system=_prompt("extract"), schema=FACTS_SCHEMA, max_tokens=EXTRACT_TOKENS
        )
        told = answer.value["facts"][:FACTS_A_PAGE]
        facts = [fact for one in told if (fact := _grounded(one, episodes)) is not None]
        dropped = len(answer.value["facts"]) - len(facts)
        notes = (f"{session}: {dropped} fact(s) of the model had no evidence and were dropped.",) if dropped else ()
        return Drawn(facts, self._judged(facts, user), notes)

    def _judged(self, facts: Sequence[Extracted], user: str | None) -> dict[str, list[MemoryId]]:
        """Which open facts each new one replaces, by the model's word, among those it was shown."""
        near = [self._near(fact, user) for fact in facts]
        old = list({one.id: one for some in near for one in some}.values())
        if not old:
            return {}
        sheet = {
            "new": [{"number": n, "fact": defuse(fact.content)} for n, fact in enumerate(facts)],
            "stored": [{"number": n, "fact": defuse(one.content)} for n, one in enumerate(old)],
        }
        answer = self._model.object(
            json.dumps(sheet, ensure_ascii=False),
            system=_prompt("judge"),
            schema=_VERDICT_SCHEMA,
            max_tokens=JUDGE_TOKENS,
        )
        verdict: dict[str, list[MemoryId]] = {fact.content: [] for fact in facts}
        for pair in answer.value["replaces"]:
            new, stored = pair["new"], pair["old"]
            if 0 <= new < len(facts) and 0 <= stored < len(old) and old[stored] in near[new]:
                verdict[facts[new].content].append(old[stored].id)
        return verdict

    def _near(self, fact: Extracted, user: str | None) -> list[Memory]:
        found = [
            candidate for candidate in find_candidates(fact.content, self._room, user=user) if candidate.status in OPEN
        ]
        return [one for one in found if _NEAR <= likeness(fact.content, one.content) < 1][:_SHOWN]


def _transcript(episodes: Sequence[Memory]) -> str:
    """The page as numbered lines of data that cannot speak."""
    lines = []
    for number, one in enumerate(episodes):
        at = one.happened_at.date().isoformat()
        text = defuse(one.content[:MODEL_READS]).replace("\n", "\n    ")
        lines.append(f"[{number}] {at} {speaker(one.source_role)}: {text}")
    return "\n".join(lines)


def _grounded(told: Mapping[str, Any], episodes: Sequence[Memory]) -> Extracted | None:
    """A told fact with its evidence, or nothing when its words do not stand in what it cites."""
    content = clean(" ".join(str(told["content"]).split()).replace("\0", ""))[0]
    cited = [episodes[n] for n in dict.fromkeys(told["episodes"]) if 0 <= n < len(episodes)]
    cited = [one for one in cited if is_person(one.source_role)]
    words = telling_words(content)
    if not cited or not words or len(content) > FACT_LIMIT:
        return None
    said = frozenset().union(*(telling_words(f"{one.source_role or ''} {one.content}") for one in cited))
    share = containment(words, said)
    if share < GROUNDED:
        return None
    latest = max(cited, key=lambda one: one.happened_at)
    return Extracted(
        content=content,
        sort=str(told["sort"]),
        episodes=tuple(one.id for one in cited),
        event_at=latest.event_at,
        confidence=_BASE + _MARGIN * (share - GROUNDED) / (1 - GROUNDED),
    )


def _prompt(name: str) -> str:
    return (_PROMPTS / f"{name}.txt").read_text(encoding="utf-8")
