"""Third step of remembering: how does this statement stand to what is already known? Pure.

The judgement is deliberately timid. Only the same words are `same`; two statements `contradict` when they speak of the
same thing in nearly the same words and differ in a number, a negation or a word with an opposite; the newer one
`supersedes` the older when it also says that something changed. Everything else is `new`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.core.drafts import Verdict
from recollect.core.ids import MemoryId
from recollect.core.likeness import jaccard
from recollect.core.records import Memory

SAID_SO = "said so"  # the reason of a verdict that somebody stated
CLOSE = 0.75  # shared share of the words that carry the topic, below which two statements are not compared
_LEAST_TOPIC = 2  # words: with fewer, likeness says nothing
_MOST_WORDS = 60  # longer statements hold several claims, and a single difference decides nothing

_WORD = re.compile(r"[^\W_]+(?:[.'’_-][^\W_]+)*")
_NUMBER = re.compile(r"^v?\d[\d.,:_-]*(?:[a-z]{1,3}|%)?$")
_NEGATION = frozenset(
    "not no never none neither nor cannot can't don't doesn't didn't won't isn't aren't wasn't weren't shouldn't "
    "mustn't without disallow forbid forbidden".split()
)
_CHANGE = frozenset(
    "now instead anymore longer changed moved switched replaced migrated renamed upgraded downgraded since "
    "actually currently from".split()
)
_OPPOSITES = (
    "enable disable", "enabled disabled", "on off", "always never", "true false", "allow deny", "allowed denied",
    "allow forbid", "required optional", "must may", "add remove", "include exclude", "public private",
    "sync async", "synchronous asynchronous", "open closed", "start stop", "before after", "increase decrease",
    "up down", "left right", "accept reject", "likes dislikes", "like dislike", "love hate", "loves hates",
    "tabs spaces", "single double", "mutable immutable", "strict lenient", "local remote", "first last",
    "minimum maximum", "min max", "ascending descending", "with without", "use avoid", "prefer avoid",
)  # fmt: skip
_OPPOSITE: dict[str, set[str]] = {}
for _pair in _OPPOSITES:
    _one, _other = _pair.split()
    _OPPOSITE.setdefault(_one, set()).add(_other)
    _OPPOSITE.setdefault(_other, set()).add(_one)
_EMPTY = frozenset(
    "a an the is are was were be been being do does did has have had i we you he she it they my our your his her "
    "its their this that these those of to in on at for with by and or as so then there here will would can could "
    "should shall may might must".split()
)


@dataclass(frozen=True, slots=True)
class Resolution:
    """The verdict, and the memories it is about."""

    verdict: Verdict
    against: tuple[MemoryId, ...] = ()
    because: str = ""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A statement taken apart: what it is about, and what it asserts of it."""

    topic: frozenset[str]
    numbers: frozenset[str]
    negated: bool
    poles: frozenset[str]
    change: bool
    length: int


def topic(text: str) -> list[str]:
    """The words a statement is about, without numbers, negations, opposites and filler: what a rival would share."""
    return sorted(_claim(text).topic)


def resolve(memory: Memory, neighbours: Sequence[Memory]) -> Resolution:
    """Weigh a memory against its neighbours. The first that agrees or conflicts decides, nearest first."""
    same = tuple(near.id for near in neighbours if near.fingerprint == memory.fingerprint)
    if same:
        return Resolution("same", same[:1], "the same words")
    claim = _claim(memory.content)
    for near in neighbours:
        if near.kind != memory.kind or near.scope != memory.scope:
            continue
        if why := _conflict(claim, _claim(near.content)):
            stronger = claim.change and memory.confidence >= near.confidence and memory.happened_at >= near.happened_at
            verdict: Verdict = "supersedes" if stronger else "contradicts"
            return Resolution(verdict, (near.id,), why)
    return Resolution("new")


def conflict(new: str, old: str) -> str:
    """Why two statements cannot both hold, or nothing."""
    return _conflict(_claim(new), _claim(old))


def _conflict(new: _Claim, old: _Claim) -> str:
    """Why two claims cannot both hold, or nothing."""
    if max(new.length, old.length) > _MOST_WORDS or len(new.topic & old.topic) < _LEAST_TOPIC:
        return ""
    if jaccard(new.topic, old.topic) < CLOSE:
        return ""
    if (fresh := new.numbers - old.numbers) and (gone := old.numbers - new.numbers):
        return f"another number ({', '.join(sorted(fresh))} instead of {', '.join(sorted(gone))})"
    for pole in sorted(new.poles):
        if rivals := _OPPOSITE[pole] & old.poles:
            return f"the opposite word ({pole} against {sorted(rivals)[0]})"
    if new.negated != old.negated and new.numbers == old.numbers:
        return "one of the two negates the other"
    return ""


@lru_cache(maxsize=512)  # each statement is looked at up to three times on its way in
def _claim(text: str) -> _Claim:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    numbers = frozenset(word for word in words if _NUMBER.match(word))
    poles = frozenset(word for word in words if word in _OPPOSITE)
    aside = numbers | poles | _NEGATION | _CHANGE | _EMPTY
    return _Claim(
        topic=frozenset(_stem(word) for word in words if word not in aside),
        numbers=numbers,
        negated=any(word in _NEGATION for word in words),
        poles=poles,
        change=any(word in _CHANGE for word in words) or "no longer" in text.lower(),
        length=len(words),
    )


def _stem(word: str) -> str:
    """Singular and plural, first and third person: enough likeness for two short statements."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
