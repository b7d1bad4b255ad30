"""How likely do two statements about the same thing exclude each other? A score from 0 to 1, without a language model.

The two are brought sentence against sentence. Of each aligned pair a few plain features are read off — what they share,
who denies, what is obliged, permitted or forbidden, which figures and units differ, which words are opposites — and
weighed. The weights were fitted on half of three public sets (`benchmarks/contradictions.py`). Pure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from recollect.core.likeness import jaccard, overlap

Modality: TypeAlias = Literal["oblige", "forbid", "permit", "advise", "none"]

_MAX_SENTENCES = 12  # of each side that are compared with each other
_MAX_CHARS = 4_000  # characters of each side that are read
_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_SUFFIXES = (
    ("ations", "ate"), ("ation", "ate"), ("ments", ""), ("ment", ""), ("nesses", ""), ("ness", ""), ("ingly", ""),
    ("edly", ""), ("ies", "y"), ("sses", "ss"), ("ing", ""), ("ied", "y"), ("ed", ""), ("ers", "er"), ("ly", ""),
    ("es", ""), ("s", ""),
)  # fmt: skip
_NEGATORS = frozenset(
    "not no never none nobody nothing neither nor without cannot cant wont dont doesnt isnt arent wasnt werent "
    "shouldnt mustnt neednt hasnt havent didnt couldnt wouldnt prohibited prohibit prohibits forbidden forbid forbids "
    "prevent prevents deny denies denied refuse refuses disallow disallowed "
    "avoid lack lacks absence fail fails refrain unless "
    "except unable".split()
)
_IDLE = frozenset(
    "a an the is are was were be been being it its this that these those there of to in on at by for with from as and "
    "or but if when then than so such which who whom whose what where while into onto over under about between through "
    "during do does did done has have had having will would shall should must may might can could not no nor never any "
    "some all each every either both other another one i we you he she they his her their our your my me him them us "
    "also only just very more most much many few less least own same too up out off s t re ve ll d hereby herein "
    "thereof able system application product".split()
)
_EXCLUSIVE = re.compile(
    r"\b(?:only|solely|exclusively|just|nothing (?:but|other)|limited to|no other|restrict(?:ed)?)\b"
)
_OPEN = re.compile(
    r"\b(?:including|includes?|any|all|every|regardless|whether or not|without limitation|not (?:be )?limited to|"
    r"or other|and/or|also|as well as|whatsoever|multiple|several)\b"
)
_NORMATIVE = re.compile(r"\b(?:shall|must|should|will|may|can|cannot|required|ensure|allow|provide)\b")
_MODALS: tuple[tuple[Modality, re.Pattern[str]], ...] = (
    ("forbid", re.compile(
        r"\b(?:(?:shall|must|may|can|should|will|might|would|could|do|does|is|are|to)\s*(?:not|never)\b|cannot|can't|won't|"
        r"mustn't|shouldn't|no \w+ (?:shall|may|can|will)|never|prohibit\w*|forbid\w*|"
        r"not (?:be )?(?:allowed|permitted|able)|agrees? not|not to\b|refrain\w*|neither|prevent\w*|deny|denies|"
        r"disallow\w*|block\w*|restrict\w*)"
    )),
    ("permit", re.compile(
        r"\b(?:may|can|could|might|allowed|allows?|permits?|permitted|able to|optional(?:ly)?|free to|entitled|"
        r"at (?:its|their) (?:sole )?discretion|not (?:be )?required|need not)\b"
    )),
    ("oblige", re.compile(
        r"\b(?:shall|must|require[sd]?|has to|have to|will|needs? to|ensure[sd]?|always|obligat\w+|agrees? to|"
        r"undertakes?)\b"
    )),
    ("advise", re.compile(r"\b(?:should|recommended?|ought)\b")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Sentence:
    """One statement as far as it is compared."""

    text: str
    words: tuple[str, ...]  # every word, lower-cased
    content: frozenset[str]  # the stems that carry meaning
    denials: int
    modality: Modality
    exclusive: bool
    open: bool
    normative: bool
    quantities: tuple[Quantity, ...]


def score_opposition(new: str, old: str) -> tuple[float, tuple[str, ...]]:
    """How likely the two cannot both hold, and why: the score of the sentences that contradict each other most."""
    best, strongest = 0.0, dict[str, float]()
    for mine, theirs in align(read_sentences(new), read_sentences(old)):
        found = features(mine, theirs)
        score = score_features(found)
        if score > best:
            best, strongest = score, found
    return best, _explain(strongest)


def align(mine: Sequence[Sentence], theirs: Sequence[Sentence]) -> list[tuple[Sentence, Sentence]]:
    """Each sentence of either side with the one of the other that shares most with it."""
    if not mine or not theirs:
        return []
    pairs: dict[tuple[int, int], None] = {}
    shared = [[_shared_words(one, other) for other in theirs] for one in mine]
    for row in range(len(mine)):
        pairs[row, max(range(len(theirs)), key=lambda column: (shared[row][column], -column))] = None
    for column in range(len(theirs)):
        pairs[max(range(len(mine)), key=lambda row: (shared[row][column], -row)), column] = None
    return [(mine[row], theirs[column]) for row, column in pairs]


def _shared_words(one: Sentence, other: Sentence) -> float:
    return overlap(one.content, other.content)


_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d\"'`(*_-])|\n\s*\n|\n\s*(?:[-*+]|\d+[.)])\s+")
_MARKS = re.compile(r"[`*_]{1,3}|^[ \t]{0,40}(?:[-*+>]|\d{1,9}[.)]|#{1,6})[ \t]{1,40}", re.MULTILINE)


def split_sentences(text: str) -> list[str]:
    """A text as plain sentences without Markdown's marks, list items being sentences too."""
    pieces = (_MARKS.sub("", piece) for piece in _SENTENCE.split(text))
    plain = (re.sub(r"\s+", " ", piece).strip() for piece in pieces)
    return [piece for piece in plain if re.search(r"\w", piece)]


@lru_cache(maxsize=4_096)
def read_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a statement, as far as they are compared."""
    return tuple(read_sentence(sentence) for sentence in split_sentences(text[:_MAX_CHARS])[:_MAX_SENTENCES])


def read_sentence(text: str) -> Sentence:
    """What can be read off one sentence."""
    plain = text.lower().replace("’", "'")
    words = tuple(_WORD.findall(plain))
    bare = [word.replace("'", "") for word in words]
    return Sentence(
        text=text,
        words=words,
        content=frozenset(
            _stem(word) for word in bare if word not in _IDLE and not word.isdigit() and not is_unit(word)
        ),
        denials=sum(word in _NEGATORS or word.endswith("n't") for word in words),
        modality=next((name for name, pattern in _MODALS if pattern.search(plain)), "none"),
        exclusive=_EXCLUSIVE.search(plain) is not None,
        open=_OPEN.search(plain) is not None,
        normative=_NORMATIVE.search(plain) is not None,
        quantities=tuple(read_quantities(plain)),
    )


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            stem = word[: -len(suffix)] + instead
            if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
                stem = stem[:-1]
            return stem.removesuffix("e") if len(stem) > 3 else stem
    return word.removesuffix("e") if len(word) > 3 else word


@cache
def _opposites() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in Path(__file__).with_name("antonyms.txt").read_text(encoding="utf-8").splitlines():
        one, _, other = line.partition(" ")
        if other:
            found.setdefault(_stem(one), set()).add(_stem(other))
            found.setdefault(_stem(other), set()).add(_stem(one))
    return {word: frozenset(others) for word, others in found.items()}


def features(mine: Sentence, theirs: Sentence) -> dict[str, float]:
    """The facts about a pair, each between 0 and 1."""
    opposed = _opposed_words(mine, theirs)
    left = mine.content - {one for one, _ in opposed}  # opposites are said of the same thing: they part nothing
    right = theirs.content - {other for _, other in opposed}
    cover, same = overlap(left, right), jaccard(left, right)
    denies = (mine.denials > 0) != (theirs.denials > 0)
    measured, counted = find_clash(mine.quantities, theirs.quantities)
    modes = frozenset({mine.modality, theirs.modality})
    choice = modes in ({"oblige", "permit"}, {"advise", "permit"})
    apart = denies or opposed or measured or counted or choice or mine.exclusive != theirs.exclusive
    return {
        "cover": cover,
        "overlap": same,
        "denies": denies * same,
        "opposed": float(bool(opposed)),
        "opposed_same": bool(opposed) * same,
        "measures": measured * same,
        "counts": counted * same,
        "forbids": ("forbid" in modes and bool(modes & {"oblige", "permit", "advise"})) * cover,
        "duty_or_choice": choice * same,
        "exclusive": (mine.exclusive != theirs.exclusive) * cover,
        "exclusive_open": bool((mine.exclusive and theirs.open) or (theirs.exclusive and mine.open)) * cover,
        "normative": float(mine.normative and theirs.normative),
        "identical": float(left == right and not apart),
        "both_deny": float(mine.denials > 0 and theirs.denials > 0),
    }


def _opposed_words(mine: Sentence, theirs: Sentence) -> list[tuple[str, str]]:
    """Opposites of which one side says the one and the other the other."""
    left = {_stem(word) for word in mine.words} - {_stem(word) for word in theirs.words}
    right = {_stem(word) for word in theirs.words} - {_stem(word) for word in mine.words}
    table = _opposites()
    return sorted((one, other) for one in left for other in table.get(one, frozenset()) & right)


# Fitted with fixed signs on the even pairs of SICK, ContractNLI and the requirement conflicts. Those sets hold hardly
# any clash of measures or of duty and choice, so these two, and opposites of the same, were then raised by hand;
# `forbids` adds nothing to `denies` and only tells the reason.
WEIGHTS: Mapping[str, float] = {
    "cover": 0.39, "overlap": 1.0, "denies": 4.08, "opposed": 0.86, "opposed_same": 0.3, "measures": 2.5, "counts": 0.6,
    "duty_or_choice": 0.9, "exclusive": 1.47, "exclusive_open": 1.67, "normative": 0.84, "identical": -1.15,
    "both_deny": -1.39,
}  # fmt: skip
BIAS = -2.19


def score_features(facts: Mapping[str, float]) -> float:
    """The facts as one score from 0 to 1."""
    total = BIAS + sum(WEIGHTS.get(name, 0.0) * value for name, value in facts.items())
    return 1 / (1 + math.exp(-total))


_REASONS = {
    "denies": "one denies what the other says",
    "opposed": "they use opposite words",
    "measures": "their measures exclude each other",
    "counts": "they count differently",
    "forbids": "one forbids what the other demands or permits",
    "duty_or_choice": "a duty in one is a choice in the other",
    "exclusive_open": "one says only, the other any",
}


def _explain(facts: Mapping[str, float]) -> tuple[str, ...]:
    told = [reason for name, reason in _REASONS.items() if facts.get(name, 0.0) > 0.25]
    return (*told, f"{facts.get('cover', 0.0):.0%} of the shorter one's words in common") if facts else ()


# --- figures with their units and bounds ---------------------------------------------------------------------------

_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "sixty": 60, "hundred": 100,
}  # fmt: skip
# unit → (what it measures, how many of the smallest one it is)
_UNITS = {
    "ms": ("time", 0.001), "millisecond": ("time", 0.001), "s": ("time", 1), "sec": ("time", 1), "second": ("time", 1),
    "min": ("time", 60), "minute": ("time", 60), "h": ("time", 3600), "hour": ("time", 3600), "day": ("time", 86400),
    "week": ("time", 604800), "month": ("time", 2592000), "year": ("time", 31536000),
    "b": ("size", 1), "byte": ("size", 1), "kb": ("size", 1e3), "mb": ("size", 1e6), "gb": ("size", 1e9),
    "tb": ("size", 1e12), "kib": ("size", 1024), "mib": ("size", 1048576), "gib": ("size", 1073741824),
    "%": ("share", 1), "percent": ("share", 1), "m": ("length", 1), "meter": ("length", 1), "metre": ("length", 1),
    "km": ("length", 1000), "mile": ("length", 1609.34), "feet": ("length", 0.3048), "foot": ("length", 0.3048),
    "cm": ("length", 0.01), "inch": ("length", 0.0254), "$": ("money", 1), "dollar": ("money", 1), "usd": ("money", 1),
}  # fmt: skip
_MEASURED = frozenset(what for what, _ in _UNITS.values())
_BOUND = (
    (
        "least",
        re.compile(
            r"(?:at least|no (?:less|fewer) than|minimum(?: of)?|more than|over|exceed\w{0,8}|longer than|>=?)\s{0,20}$"
        ),
    ),
    (
        "most",
        re.compile(
            r"(?:at most|up to|no (?:more|longer|later|greater) than|not exceed\w{0,8}|maximum(?: of)?|less than|"
            r"fewer than|under|below|within|<=?|shorter than)\s{0,20}(?:a |the )?$"
        ),
    ),
)
_FIGURE = re.compile(
    r"(?<![\w.])(\$)?(\d+(?:[.,]\d+)*|" + "|".join(_NUMBERS) + r")(?![\d])\s*-?\s*(%|[a-z]+)?", re.IGNORECASE
)
_LOOK_BACK = 28  # characters before a figure in which its bound is looked for


@dataclass(frozen=True, slots=True)
class Quantity:
    """So much of something: a range of values, and what is measured or counted."""

    low: float
    high: float
    what: str
    bound: str = ""  # least, most, or neither


def read_quantities(text: str) -> list[Quantity]:
    """The figures of a lower-cased text."""
    found: list[Quantity] = []
    for match in _FIGURE.finditer(text):
        value = _parse_value(match[2])
        if value is None:
            continue
        unit = match[1] or (match[3] or "")
        what, factor = _parse_unit(unit)
        amount = value * factor
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        bound = next((name for name, pattern in _BOUND if pattern.search(before)), "")
        low = amount if bound != "most" else float("-inf")
        high = amount if bound != "least" else float("inf")
        found.append(Quantity(low, high, what, bound))
    return found


def find_clash(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> tuple[bool, bool]:
    """Whether something that both measure, or that both count, cannot be as both say."""
    measured = counted = False
    for one in mine:
        rivals = [other for other in theirs if other.what == one.what]
        if rivals and not any(_can_both_hold(one, other) for other in rivals):
            known = one.what in _MEASURED
            measured, counted = measured or known, counted or not known
    return measured, counted


def is_unit(word: str) -> bool:
    return word in _UNITS or word.removesuffix("s") in _UNITS


def _can_both_hold(one: Quantity, other: Quantity) -> bool:
    """Whether both can be meant. Two limits of the same sort, set differently, cannot."""
    if one.bound and one.bound == other.bound:
        return (one.low, one.high) == (other.low, other.high)
    return one.low <= other.high and other.low <= one.high


def _parse_value(text: str) -> float | None:
    if text in _NUMBERS:
        return float(_NUMBERS[text])
    plain = text.replace(",", "")
    try:
        return float(plain)
    except ValueError:
        return None  # 1.2.3 is a version or an address, not an amount


def _parse_unit(name: str) -> tuple[str, float]:
    """What a unit measures and its size; any other word is itself what is counted."""
    if name in _UNITS:
        return _UNITS[name]
    single = name.removesuffix("s")
    return _UNITS.get(single, (single, 1.0))
