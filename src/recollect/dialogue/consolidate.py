"""Consolidation: what was said becomes facts, page by page. Idempotent, resumable after a kill at any step.

A page is read, its facts are drawn and judged without a transaction, then saved together with the cursor in one. So a
page is done or it is not, two processes cannot do it twice, and no model is ever called while the store is locked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import BudgetSpent, ModelDown, ModelWrong, SessionNotFound
from recollect.core.ids import MemoryId
from recollect.core.records import Memory
from recollect.core.sessions import Session
from recollect.dialogue.extract import Extracted, extract
from recollect.dialogue.facts import Saved, save
from recollect.dialogue.policy import PAGE
from recollect.dialogue.room import Room


@dataclass(frozen=True, slots=True)
class Drawn:
    """The facts of one page and, where somebody judged, which stored facts each of them closes."""

    facts: Sequence[Extracted]
    replaces: Mapping[str, Sequence[MemoryId]] | None = None
    notes: tuple[str, ...] = ()


class Reader(Protocol):
    """Draws facts from a page of episodes. Reads the store, writes nothing."""

    def draw(self, episodes: Sequence[Memory], session: str) -> Drawn: ...


class RuleReader:
    """Draws facts by rule; conflicts are settled by slot and plain disagreement."""

    def draw(self, episodes: Sequence[Memory], session: str) -> Drawn:
        return Drawn(extract(episodes))


@dataclass(slots=True)
class Consolidated:
    """What became of one session."""

    session: str
    episodes: int = 0
    saved: Saved = field(default_factory=Saved)
    finished: bool = False
    notes: list[str] = field(default_factory=list)


def reader_of(room: Room, session: str) -> Reader:
    """A language model when one is configured, rules otherwise."""
    if room.model is None:
        return RuleReader()
    from recollect.dialogue.agent import ModelReader

    return ModelReader(room, room.model("consolidation", session))


def consolidate(id: str, room: Room, *, budget: WorkBudget | None = None) -> Consolidated:
    """Draw the facts of one session, from where it was left, as far as the budget goes."""
    session = room.store.sessions.get(id)
    if session is None:
        raise SessionNotFound(id)
    done, reader = Consolidated(id), reader_of(room, id)
    budget = budget or WorkBudget()
    while not done.finished and budget.allows():
        page = room.store.sessions.episodes(id, after=session.cursor, limit=PAGE)
        if page:
            episodes = [memory for _, memory in page]
            drawn = _drawn(reader, episodes, id)
            done.notes += drawn.notes
            if _save_page(session, page[-1][0], drawn, room, done):
                done.episodes += len(page)
            budget.take(len(page))
        else:
            done.finished = _finish(id, room)
        fresh = room.store.sessions.get(id)
        if fresh is None or (not page and not done.finished and fresh.consolidated_at is not None):
            done.finished = fresh is not None  # another process came to the end first
            break
        session = fresh
    return done


def _drawn(reader: Reader, episodes: Sequence[Memory], session: str) -> Drawn:
    """A page that a model cannot make sense of is read by rule, so that it never blocks its session."""
    try:
        return reader.draw(episodes, session)
    except ModelWrong as error:
        return Drawn(extract(episodes), notes=(f"{session}: {error} Read by rule instead.",))


def _save_page(session: Session, last: int, drawn: Drawn, room: Room, done: Consolidated) -> bool:
    with room.store.engine.write():
        if not room.store.sessions.advance(session, to=last):
            return False
        done.saved = done.saved.plus(save(drawn.facts, room, session=session.id, replaces=drawn.replaces))
    return True


def _finish(id: str, room: Room) -> bool:
    with room.store.engine.write():
        return room.store.sessions.finish(id, at=room.now())


@dataclass(frozen=True, slots=True)
class ConsolidateChore:
    """Consolidates queued sessions at once and, when its hour has come, every open one."""

    room: Room
    name: str = "consolidate"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        pending = self.room.store.sessions.pending(queued=not due)
        steps = tuple(Step(one.id, f"{one.state}, {one.episodes} episodes") for one in pending)
        return Plan(self.name, steps, len(steps))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        facts, finished, notes = Saved(), 0, []
        for step in plan.steps:
            if not budget.allows():
                break
            try:
                one = consolidate(step.what, self.room, budget=budget)
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
