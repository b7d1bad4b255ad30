"""Facts without a model: sentences in which a person says something lasting about themselves. Pure.

A sentence is quoted, never reworded, with its speaker in front: what is stored is what was said. Questions, requests,
suppositions and quotations are passed over, and so are code and whatever an assistant or a tool says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.ids import MemoryId
from recollect.core.lazy import Lazy
from recollect.core.records import Memory
from recollect.dialogue.policy import FACT_LIMIT
from recollect.dialogue.statements import LEAST_WORDS, any_of, statements
from recollect.recall.when import when

MACHINES = frozenset("assistant system tool function developer ai bot model chatgpt claude".split())
_USER = frozenset({"user", "human", "me"})
_MOST_WORDS = 80  # of a sentence; a longer one is a list or a pasted text


@dataclass(frozen=True, slots=True)
class Extracted:
    """A fact on its way in: its words, what sort it is, the episodes it was drawn from, and what it fills."""

    content: str
    sort: str
    episodes: tuple[MemoryId, ...]
    event_at: datetime | None
    confidence: float
    slot: str = ""  # what it fills, such as where somebody lives: a newer fact with the same one replaces it


def extract(episodes: Sequence[Memory]) -> list[Extracted]:
    """The facts in some episodes, in the order they were said."""
    return [fact for episode in episodes for fact in _of(episode)]


def is_person(role: str | None) -> bool:
    return (role or "user").strip().lower() not in MACHINES


def speaker(role: str | None) -> str:
    name = (role or "user").strip()
    return "User" if name.lower() in _USER else name


def _of(episode: Memory) -> Iterator[Extracted]:
    if not is_person(episode.source_role):
        return
    at, who = episode.happened_at, speaker(episode.source_role)
    for said in (one for sentence in sentences(episode.content) for one in statements(sentence)):
        content = f"{who} said: {_whole(said.words)}{_dated(said.words, at)}"
        if len(content) <= FACT_LIMIT:
            slot = f"{who.lower()}|{said.fills}" if said.fills else ""
            yield Extracted(content, said.sort, (episode.id,), episode.event_at, said.confidence, slot)


# --- sentences -----------------------------------------------------------------------------------------------------

_CODE = Lazy(r"```.{0,200000}?(?:```|\Z)", re.DOTALL)
_SPLIT = Lazy(r"(?<=[.!?…])[\"'”’)]{0,2}\s+(?=[\"'“‘(]?[A-Z0-9])|\n+|(?<=[.!?])\s+(?=i\b)", 0)
_SHORTENED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|No|e\.g|i\.e|U\.S|[A-Z])\.$")
_ASIDE = Lazy(
    any_of(
        "yeah yes yep no nope oh ah wow hey hi hello thanks thank_you ok okay sure well so and but also actually "
        "honestly btw by_the_way anyway plus haha hmm right great cool awesome aw aww totally exactly definitely "
        "to_be_honest you_know i_mean as_for_me personally lately recently currently in_fact oh,?_and fyi "
        "just_so_you_know for_the_record in_addition additionally speaking_of_which"
    )
    + r"(?:[,!.;:—-]+\s*|\s+(?=i\b|i'|my\b|we\b))"
)


def sentences(text: str) -> Iterator[str]:
    """The plain sentences of a message: no code, no quotation, no list of data."""
    prose = _CODE.pattern.sub("\n", text)
    for piece in _rejoined(_SPLIT.pattern.split(prose)):
        sentence = piece.strip(" \t*-•–")
        if not sentence or sentence[0] in '>|#"“`{[<':
            continue
        while (aside := _ASIDE.match(sentence)) is not None:
            sentence = sentence[aside.end() :].lstrip(" ,")
        if LEAST_WORDS <= len(sentence.split()) <= _MOST_WORDS:
            yield sentence


def _rejoined(pieces: Sequence[str]) -> Iterator[str]:
    """Pieces that were cut behind an abbreviation belong together."""
    held = ""
    for piece in pieces:
        held = f"{held} {piece}" if held else piece
        if not _SHORTENED.search(held):
            yield held
            held = ""
    if held:
        yield held


def _whole(text: str) -> str:
    """A sentence as a sentence: a capital in front, a stop behind."""
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1] in '.!?…' else '.'}"


# --- time ----------------------------------------------------------------------------------------------------------

_RELATIVE = Lazy(
    r"\b(?:yesterday|today|tonight|tomorrow|last (?:night|week(?:end)?|month|year)|this (?:week|weekend|month|morning"
    r"|evening)|next (?:week|month|year)|(?:a|an|one|two|three|four|five|six|seven|\d{1,3}) (?:day|week|month|year)s?"
    r" ago)\b",
)


def _dated(text: str, at: datetime) -> str:
    """The day or month that "yesterday" or "last month" stood for when it was said; nothing when it says neither."""
    if _RELATIVE.search(text) is None:
        return ""
    window = when(text, at)
    if window is None or window.side != "in" or window.start is None or window.end is None:
        return ""
    days = (window.end - window.start).days
    if days <= 1:
        return f" ({window.start.date().isoformat()})"
    return f" ({window.start:%Y-%m})" if days <= 31 and window.start.month == window.end.month else ""
