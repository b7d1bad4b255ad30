"""The consolidator with a language model: it draws the facts and judges the conflicts; everything else is the house's.

The model is trusted with nothing. It sees episodes as data, names them by number, and what it says is a fact only when
its words stand in the episodes it cites. It can neither delete nor invent: a fact without evidence is dropped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recollect.core.ids import MemoryId
from recollect.core.likeness import containment
from recollect.core.records import Memory
from recollect.core.scope import OPEN
from recollect.core.text import clean
from recollect.dialogue.consolidate import Drawn
from recollect.dialogue.extract import Extracted, is_person, speaker
from recollect.dialogue.facts import candidates
from recollect.dialogue.likeness import likeness, telling_words
from recollect.dialogue.policy import (
    EXTRACT_TOKENS,
    FACT_LIMIT,
    FACTS_A_PAGE,
    GROUNDED,
    JUDGE_TOKENS,
    MODEL_READS,
)
from recollect.dialogue.room import Room
from recollect.models.port import LanguageModel
from recollect.privacy.fence import defuse

_PROMPTS = Path(__file__).with_name("prompts")
SORTS = ("identity", "preference", "instruction", "decision", "commitment", "state", "event")
_NEAR = 0.2  # shared share of words from which a stored fact is shown to the judge
_SHOWN = 5  # stored facts shown beside each new one
_BASE, _MARGIN = (
    0.6,
    0.3,
)  # a model's fact is believed from 0.6, when barely grounded, to 0.9, when all its words stand there

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


class ModelReader:
    """Draws facts with a language model and lets it judge which stored facts they replace."""

    def __init__(self, room: Room, model: LanguageModel) -> None:
        self._room = room
        self._model = model

    def draw(self, episodes: Sequence[Memory], session: str) -> Drawn:
        if not any(is_person(one.source_role) for one in episodes):
            return Drawn(())
        answer = self._model.object(
            _transcript(episodes), system=_prompt("extract"), schema=FACTS_SCHEMA, most=EXTRACT_TOKENS
        )
        told = answer.value["facts"][:FACTS_A_PAGE]
        facts = [fact for one in told if (fact := _grounded(one, episodes)) is not None]
        dropped = len(answer.value["facts"]) - len(facts)
        notes = (f"{session}: {dropped} fact(s) of the model had no evidence and were dropped.",) if dropped else ()
        return Drawn(facts, self._judged(facts), notes)

    def _judged(self, facts: Sequence[Extracted]) -> dict[str, list[MemoryId]]:
        """Which open facts each new one replaces, by the model's word, among those it was shown."""
        near = [self._near(fact) for fact in facts]
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
            most=JUDGE_TOKENS,
        )
        verdict: dict[str, list[MemoryId]] = {fact.content: [] for fact in facts}
        for pair in answer.value["replaces"]:
            new, stored = pair["new"], pair["old"]
            if 0 <= new < len(facts) and 0 <= stored < len(old) and old[stored] in near[new]:
                verdict[facts[new].content].append(old[stored].id)
        return verdict

    def _near(self, fact: Extracted) -> list[Memory]:
        found = [one for one in candidates(fact.content, self._room) if one.status in OPEN]
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
