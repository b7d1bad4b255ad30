"""Reflection: once a week, what the week's facts amount to. Kept as a memory that never fades, cited, cached.

With a language model it is written; without one it is composed from what the facts say of themselves: whom they were
about, what was decided, what changed. Nothing is made up either way: both only see the facts and episodes of the week,
and none that belong to one user of an assistant: everybody is shown it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.decay import NEVER
from recollect.core.drafts import Draft
from recollect.core.errors import ModelWrong
from recollect.core.kinds import Kind
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import SHOWN, Source, Status
from recollect.core.text import clean, excerpt
from recollect.dialogue.context import (
    REFLECT_EVERY,
    REFLECT_LEAST,
    REFLECT_MOST,
    REFLECT_OVER,
    REFLECT_TOKENS,
    DialogueContext,
)
from recollect.models.port import LanguageModel
from recollect.privacy.fence import defuse

_PROMPT = Path(__file__).with_name("prompts") / "reflect.txt"
_CITED = 50  # items a reflection cites
_NAMED = 5  # of anything listed in a composed one
_SHORT = 120  # characters of a fact quoted in a composed one


def latest_reflection(room: DialogueContext) -> Memory | None:
    """The last reflection that stands, if there is one."""
    found = room.reader.list(Filter(kinds=frozenset({Kind.REFLECTION})), limit=1)
    return next(iter(found.memories), None)


@dataclass(frozen=True, slots=True)
class ReflectChore:
    """Reflects when its hour has come, not more than once in six days, and only on enough facts."""

    room: DialogueContext
    name: str = "reflect"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        if not due:
            return Plan(self.name)
        last = latest_reflection(self.room)
        if last is not None and last.created_at <= now < last.created_at + REFLECT_EVERY:
            return Plan(self.name, note=f"the last one is of {last.created_at.date().isoformat()}")
        facts = self._facts(now)
        if len(facts) < REFLECT_LEAST:
            return Plan(self.name, note=f"only {len(facts)} fact(s) in {REFLECT_OVER.days} days")
        return Plan(self.name, (Step("reflection", f"{len(facts)} facts in {REFLECT_OVER.days} days"),), 1)

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        now = self.room.writer.now()
        facts = self._facts(now)
        if len(facts) < REFLECT_LEAST:
            return Done(self.name, notes=(f"only {len(facts)} fact(s) are left",))
        others = self._recent(now, Kind.EPISODE, REFLECT_MOST - len(facts))
        text, notes = self._written(facts, others)
        draft = Draft(
            text,
            kind=Kind.REFLECTION,
            source=Source.EXTRACTED,
            tags=("weekly",),
            event_at=now,
            decay=NEVER,
            derived_from=[fact.id for fact in facts[:_CITED]],
            skip_conflict_check=True,
        )
        with self.room.writer.transaction():
            if len(self.room.reader.get_many([fact.id for fact in facts]).memories) < len(facts):
                return Done(self.name, 0, 1, ("A fact was forgotten meanwhile; the next run tries again.",))
            receipt = self.room.writer.remember([draft], actor="reflection")[0]
        budget.take()
        return Done(self.name, 1, 0, notes, {"reflection": receipt.id, "facts": len(facts)})

    def _written(self, facts: Sequence[Memory], others: Sequence[Memory]) -> tuple[str, tuple[str, ...]]:
        if self.room.model is None:
            return compose(facts, self.room), ()
        try:
            return write_with_model(facts, others, self.room.model("reflection", None)), ()
        except ModelWrong as error:
            return compose(facts, self.room), (f"{error} Composed by rule instead.",)

    def _facts(self, now: datetime) -> list[Memory]:
        return self._recent(now, Kind.FACT, REFLECT_MOST)

    def _recent(self, now: datetime, kind: str, limit: int) -> list[Memory]:
        """What was written down in the last days, newest first."""
        if limit <= 0:
            return []
        found = self.room.reader.list(Filter(kinds=frozenset({kind}), statuses=SHOWN), limit=limit)
        return [memory for memory in found.memories if memory.created_at > now - REFLECT_OVER]


def write_with_model(facts: Sequence[Memory], others: Sequence[Memory], model: LanguageModel) -> str:
    """What a language model makes of the week."""
    lines = [f"{n}. {defuse(excerpt(one.content, 400))}" for n, one in enumerate((*facts, *others), start=1)]
    text = clean(
        model.text("\n".join(lines), system=_PROMPT.read_text(encoding="utf-8"), max_tokens=REFLECT_TOKENS).text
    )[0]
    if not text:
        raise ModelWrong(model.model, "its reflection is empty")
    return text


def compose(facts: Sequence[Memory], room: DialogueContext) -> str:
    """The week from what the facts say of themselves. The same facts always give the same words."""
    ids = Counter(entity for fact in facts for entity in fact.entities)
    named = [
        entity
        for entity in room.entities.group(sorted(ids))
        if entity.type in ("person", "project", "organization", "location")
    ]
    about = sorted(named, key=lambda entity: (-ids[entity.id], entity.name))[:_NAMED]
    first, last = min(f.created_at for f in facts), max(f.created_at for f in facts)
    parts = [f"From {first.date().isoformat()} to {last.date().isoformat()}, {len(facts)} facts were learnt."]
    if about:
        parts.append("They were mostly about " + ", ".join(entity.name for entity in about) + ".")
    for sort, opening in (
        ("explicit", "To be remembered"),
        ("instruction", "Standing wishes"),
        ("decision", "Decided"),
        ("preference", "Preferred"),
        ("commitment", "Coming up"),
        ("identity", "About the people"),
        ("state", "How things stand"),
        ("event", "Happened"),
    ):
        said = [excerpt(fact.content, _SHORT) for fact in facts if sort in fact.tags][:_NAMED]
        if said:
            parts.append(f"{opening}: {' / '.join(said)}")
    closed = room.reader.list(
        Filter(kinds=frozenset({Kind.FACT}), statuses=frozenset({Status.SUPERSEDED}), since=first),
        limit=_NAMED,
    ).memories
    if closed:
        parts.append("No longer true: " + " / ".join(excerpt(one.content, _SHORT) for one in closed))
    return "\n".join(parts)
