"""What people and agents say when something was wrong: corrections of oneself, dead ends, corrections by a user.

Patterns are short, bounded and linear; each finding is the sentence it stands in, because a sentence can be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from recollect.core.lazy import Lazy

READ = 2000  # characters at each end of an agent's text that are looked at
OPENING = 600  # characters of a person's text: who corrects says so at once, what follows is pasted
SENTENCE = 300  # characters of a sentence that are kept


class Turn(StrEnum):
    """What kind of turn a sentence marks."""

    OWN = "own correction"
    DEAD_END = "dead end"
    USER = "user correction"


@dataclass(frozen=True, slots=True)
class Said:
    """A turn, and the sentence that marks it."""

    turn: Turn
    sentence: str


_OWN = (
    Lazy(r"\bI was (?:wrong|mistaken|incorrect)\b"),
    Lazy(r"\bmy (?:mistake|bad|earlier assumption|previous assumption|assumption was)\b"),
    Lazy(r"\b(?:let me|I (?:should|need to|have to)) (?:reconsider|rethink|correct (?:that|this|myself))\b"),
    Lazy(r"\bI (?:initially|originally|first|previously|wrongly) (?:thought|assumed|believed|expected)\b"),
    Lazy(r"(?:^|[.!?\n] {0,3})correction\s{0,3}[:—-]"),
    Lazy(r"(?:^|[.!?\n] {0,3})(?:oh )?wait[,.!—-]{1,3} {0,2}(?:that|this|it|I|the|no|actually|there)\b"),
    Lazy(r"\bactually,? [^.\n]{1,120} (?:not|instead of|rather than) "),
    Lazy(r"\bturns out\b[^.\n]{0,120}\b(?:not|isn't|doesn't|wasn't|already|actually|instead)\b"),
)
_DEAD_END = (
    Lazy(r"\bthis (?:approach|way|method|path|fix) (?:won't|will not|cannot|can't|doesn't|does not) work\b"),
    Lazy(r"\b(?:abandon|give up on|back out of|scrap) (?:this|that|the) (?:approach|idea|change|path|plan)\b"),
    Lazy(r"\b(?:let me|let's|I'll|I need to) (?:try|take|use) (?:a different|another) (?:approach|way|route|method)\b"),
    Lazy(r"\b(?:is|are|it's) (?:not available|unavailable) in (?:this|the|test|ci|production)\b"),
    Lazy(r"\b(?:dead end|going in circles|no way to make this work)\b"),
    Lazy(r"\b(?:that|this) (?:didn't|did not) (?:work|help)\b"),
)
_USER = (
    Lazy(r"^\W{0,3}(?:no|nope|stop|wrong)\b(?! (?:problem|worries|need|rush))[,.! ]"),
    Lazy(r"\b(?:that|this|it)(?:'s| is) (?:wrong|incorrect|not (?:right|what I|correct|how we))"),
    Lazy(r"\bI (?:said|told you|asked you|already said|meant)\b"),
    Lazy(
        r"\b(?:don't|do not|never|please stop) (?:do|use|add|change|touch|commit|push|edit|run|create|remove|delete)\b"
    ),
    Lazy(r"\b(?:you (?:forgot|missed|broke|should have|shouldn't have|misunderstood))\b"),
    Lazy(r"\b(?:revert|undo) (?:that|this|it|your|the last)\b"),
    Lazy(r"\binstead of (?:that|this|what you)\b|\bwhy (?:did|are) you\b"),
)


def agent_turn(text: str) -> Said | None:
    """The first correction or dead end in what an agent said, or None."""
    ends = text if len(text) <= 2 * READ else f"{text[:READ]}\n{text[-READ:]}"
    return _first(ends, _OWN, Turn.OWN) or _first(ends, _DEAD_END, Turn.DEAD_END)


def user_turn(text: str) -> Said | None:
    """The first correction in what a person said, or None."""
    return _first(text[:OPENING], _USER, Turn.USER)


def opening(text: str) -> str:
    """What a person says first, up to two sentences, on one line."""
    line = " ".join(text[:OPENING].split())
    ends = [place + 1 for mark in ".!?" if (place := line.find(f"{mark} ", SENTENCE // 2)) >= 0]
    return line[: min(ends)] if ends else line[:SENTENCE]


def _first(text: str, patterns: tuple[Lazy, ...], turn: Turn) -> Said | None:
    looked = text.replace("’", "'")
    places = [match.start() for pattern in patterns if (match := pattern.search(looked))]
    return Said(turn, _sentence(looked, min(places))) if places else None


def _sentence(text: str, place: int) -> str:
    while place < len(text) - 1 and not text[place].isalnum():
        place += 1
    start = max(text.rfind(mark, 0, place) for mark in (". ", "! ", "? ", "\n", "\0"))
    ends = [found for mark in (". ", "! ", "? ", "\n") if (found := text.find(mark, place)) >= 0]
    end = min(ends) + 1 if ends else len(text)
    return " ".join(text[start + 1 : end].split())[:SENTENCE]


_HOST_SAID = ("<local-command", "<command-", "[Request interrupted", "<task-notification", "<system-reminder", "<bash-")


def is_request(text: str) -> bool:
    """Does a person ask for something? What a host puts in a person's place is no request."""
    return bool(text.strip()) and not text.lstrip().startswith(_HOST_SAID)
