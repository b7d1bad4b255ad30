"""The judge of contradictions: can a new statement and one that holds both be true? Memories and documents ask here.

There is one judge. What differs between those who ask is its criterion — how a pair is scored — and its thresholds:
`WORDING` is timid and decides by itself what becomes of a memory; `opposition` and `lexical` report to a person who
reads a document. Nothing here reads or writes a store.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from recollect.core.errors import NoModel, UnknownChoice
from recollect.core.likeness import jaccard

if TYPE_CHECKING:
    from recollect.models.port import LanguageModel

Level: TypeAlias = Literal["reject", "warn", "allow"]
Criterion: TypeAlias = Callable[[str, str], tuple[float, tuple[str, ...]]]


@dataclass(frozen=True, slots=True)
class Judgement:
    """How far two statements contradict each other, and why the judge thinks so."""

    score: float  # 0 to 1
    level: Level
    reasons: tuple[str, ...] = ()

    @property
    def excludes(self) -> bool:
        """Do the two need somebody's attention?"""
        return self.level != "allow"


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges pairs of statements by a criterion; the first is the new one, the second what holds."""

    name: str
    criterion: Criterion
    warn: float  # score from which on a pair is worth a warning
    reject: float  # score from which on the two cannot both stand

    def judge(self, new: str, old: str) -> Judgement:
        score, reasons = self.criterion(new, old)
        level: Level = "reject" if score >= self.reject else "warn" if score >= self.warn else "allow"
        return Judgement(score, level, reasons)


# --- wording: the criterion of memories ----------------------------------------------------------------------------

CLOSE = 0.75  # shared share of the words that carry the topic, below which two statements are not compared
_MIN_TOPIC = 2  # words: with fewer, likeness says nothing
_MAX_WORDS = 60  # longer statements hold several claims, and a single difference decides nothing

_WORD = re.compile(r"[^\W_]+(?:[.'’_-][^\W_]+)*")
_NUMBER = re.compile(r"^v?\d[\d.,:_-]*(?:[a-z]{1,3}|%)?$")
_NEGATION = frozenset(
    "not no never none neither nor cannot can't don't doesn't didn't won't isn't aren't wasn't weren't shouldn't "
    "mustn't without disallow forbid forbidden".split()
)
_CHANGE = frozenset(
    "now instead anymore longer changed moved switched replaced migrated renamed upgraded downgraded since "
    "actually currently".split()
)
# A number that tells which thing is spoken of, and nothing about it: "boat 7 gets fuel", "Python 3.11 is supported".
_NAME_WORDS = 4  # a name stands among the first words, before anybody does anything
_NO_NAME = frozenset(
    "i we you he she it they is are was were be been has have had do does did will would can could should must may "
    "to at of in on by for with from than about until after before since per every each up down over under only "
    "least most max maximum min minimum up exactly around nearly uses use takes".split()
)
_PAST = frozenset("was were went saw met bought sold won lost began came left had did took gave got made".split())
_YEAR = re.compile(r"^(?:19|20)\d\d$")
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
_FILLER = frozenset(
    "a an the is are was were be been being do does did has have had i we you he she it they my our your his her "
    "its their this that these those of to in on at for with by and or as so then there here will would can could "
    "should shall may might must".split()
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement taken apart: what it is about, and what it asserts of it."""

    topic: frozenset[str]  # without numbers, negations, opposites and filler: what a rival would share
    numbers: frozenset[str]  # without those that are a part of a name
    names: frozenset[str]  # numbers that say which thing is meant, or in which year something was
    negated: bool
    poles: frozenset[str]  # words that have an opposite
    change: bool  # it says that something changed
    length: int


@lru_cache(maxsize=512)  # each statement is looked at up to three times on its way in
def read_claim(text: str) -> Claim:
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    names = frozenset(_names(words))
    numbers = frozenset(word for word in words if _NUMBER.match(word)) - names
    poles = frozenset(word for word in words if word in _OPPOSITE)
    aside = numbers | names | poles | _NEGATION | _CHANGE | _FILLER
    return Claim(
        topic=frozenset(_stem(word) for word in words if word not in aside),
        numbers=numbers,
        names=names,
        negated=any(word in _NEGATION for word in words),
        poles=poles,
        change=any(word in _CHANGE for word in words) or "no longer" in text.lower(),
        length=len(words),
    )


def _names(words: list[str]) -> Iterator[str]:
    """The numbers that belong to the name of what a statement is about, and the years in which something was."""
    for place, word in enumerate(words[:_NAME_WORDS]):
        if word in _NO_NAME:
            break
        follows = place > 0 and not _NUMBER.match(words[place - 1]) and words[place - 1] not in _FILLER
        if _NUMBER.match(word) and follows and place + 2 < len(words):
            yield word
    if any(word in _PAST or word.endswith("ed") for word in words):
        yield from (word for before, word in pairwise(words) if before == "in" and _YEAR.match(word))


def score_wording(new: str, old: str) -> tuple[float, tuple[str, ...]]:
    """1 when the two speak of the same thing in nearly the same words and differ in a number, a negation or a word with
    an opposite; 0 otherwise. Deliberately timid: what it says changes what is remembered, with nobody asked."""
    mine, theirs = read_claim(new), read_claim(old)
    if max(mine.length, theirs.length) > _MAX_WORDS or len(mine.topic & theirs.topic) < _MIN_TOPIC:
        return 0.0, ()
    if jaccard(mine.topic, theirs.topic) < CLOSE:
        return 0.0, ()
    if mine.names != theirs.names:
        return 0.0, ()
    if (fresh := mine.numbers - theirs.numbers) and (gone := theirs.numbers - mine.numbers):
        return 1.0, (f"another number ({', '.join(sorted(fresh))} instead of {', '.join(sorted(gone))})",)
    for pole in sorted(mine.poles):
        if rivals := _OPPOSITE[pole] & theirs.poles:
            return 1.0, (f"the opposite word ({pole} against {sorted(rivals)[0]})",)
    if mine.negated != theirs.negated and mine.numbers == theirs.numbers:
        return 1.0, ("one of the two negates the other",)
    return 0.0, ()


def _stem(word: str) -> str:
    """Singular and plural, first and third person: enough likeness for two short statements."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


WORDING = Judge("wording", score_wording, warn=1.0, reject=1.0)

# --- lexical: plain enough to be foreseen --------------------------------------------------------------------------

_SPLIT_PAIRS = (
    ("must", "never"), ("always", "don't"), ("enable", "disable"), ("allow", "deny"), ("require", "forbid"),
    ("include", "exclude"), ("add", "remove"),
)  # fmt: skip
_ANTONYM_SHARE = 0.6
_OVERLAP_SHARE = 0.4
_PLAIN_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def score_lexical(new: str, old: str) -> tuple[float, tuple[str, ...]]:
    """0.6 when an opposed pair is split between the two, and 0.4 × the share of words they have in common."""
    mine, theirs = (frozenset(_PLAIN_WORD.findall(text.lower().replace("’", "'"))) for text in (new, old))
    split = [
        f"{one} against {two}"
        for one, two in _SPLIT_PAIRS
        if (one in mine and two in theirs) or (two in mine and one in theirs)
    ]
    common = jaccard(mine, theirs)
    score = _ANTONYM_SHARE * bool(split) + _OVERLAP_SHARE * common
    return score, (*split, f"{common:.0%} of the words in common")


def _lexical() -> Judge:
    return Judge("lexical", score_lexical, warn=0.3, reject=0.7)


def _opposition() -> Judge:
    from recollect.remember.opposition import score_opposition

    return Judge("opposition", score_opposition, warn=0.5, reject=0.75)


# --- model: a language model has the last word ---------------------------------------------------------------------

_WORTH_ASKING = 0.2  # score of the opposition from which on the model is asked
_MAX_SHOWN = 2_000  # characters of each statement that are shown to the model
_MAX_ANSWER = 60  # tokens of an answer: a number and a short reason
_ANSWER = re.compile(r"^\s*(\d{1,3})\b[\s.:–-]*(.*)")
_PROMPT = Path(__file__).with_name("prompts") / "contradiction.txt"


def _asking(model: Callable[[], LanguageModel]) -> Criterion:
    """The opposition first; the model is asked about what is not plainly harmless. What it may cost is its owner's
    affair; whatever it raises, there is still a score."""
    plain = _opposition().criterion
    prompt = _PROMPT.read_text(encoding="utf-8")

    def score(new: str, old: str) -> tuple[float, tuple[str, ...]]:
        first, reasons = plain(new, old)
        if first < _WORTH_ASKING:
            return first, reasons
        question = prompt.replace("{claim}", _quote(new)).replace("{known}", _quote(old))
        try:
            answer = model().text(question, max_tokens=_MAX_ANSWER).text
        except Exception as error:  # a stranger's model
            return first, (*reasons, f"the model did not answer: {error}")
        found = _ANSWER.match(answer)
        if found is None or int(found[1]) > 100:
            return first, (*reasons, "the model's answer could not be read")
        return int(found[1]) / 100, (found[2].strip() or "the model says so",)

    return score


def _quote(text: str) -> str:
    """Text that cannot end its own quotation."""
    return text[:_MAX_SHOWN].replace("<<<", "« ").replace(">>>", " »").replace("{known}", "{ known }")


# --- by name -------------------------------------------------------------------------------------------------------

_NAMED: Mapping[str, Callable[[], Judge]] = {"opposition": _opposition, "lexical": _lexical}
_MODEL = "model"  # the opposition, and where it hesitates the configured language model


def find_judge(name: str, model: Callable[[], LanguageModel] | None = None) -> Judge:
    """The judge of documents that the settings name; an error lists those there are, or says that no language model is
    configured."""
    if name == _MODEL:
        if model is None:
            raise NoModel("The detector that asks a language model")
        return Judge(_MODEL, _asking(model), warn=0.5, reject=0.75)
    if name not in _NAMED:
        raise UnknownChoice("detector", name, [*_NAMED, _MODEL])
    return _NAMED[name]()
