"""Names that stand out by their capitals and by what stands around them. A baseline that needs no model.

A capital inside a sentence is a sign; at its start it is one only for a known name or place, or before another capital.
What stands around a name says what it is: a title, "my friend", "works at", "in", "Inc". Where all words are capital,
capitals say nothing, and only known names count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from recollect.core.entities import EntityType, Mention
from recollect.core.lazy import Lazy

_PERSON, _ORGANIZATION = EntityType.PERSON, EntityType.ORGANIZATION
_LOCATION, _PROJECT, _OTHER = EntityType.LOCATION, EntityType.PROJECT, EntityType.OTHER

# How sure a rule is. Shape alone is weak; a known name or a telling neighbour is strong.
_KNOWN, _TOLD, _SHAPE = 0.75, 0.7, 0.5

_TOKEN = Lazy(r"[^\W\d_](?:[\w'’&-]{0,60}\w)?|\d[\w.,]{0,30}|[.!?…]+|\n+|[^\w\s]", 0)
_ENDS = frozenset(".!?…\n")
_JOINERS = frozenset("of the and de la le van von der den del da di du al bin ibn for".split())

_NOT_NAMES = frozenset(
    "user assistant yesterday today tomorrow tonight last next while after before since although because however "
    "maybe perhaps once later meanwhile still even only some many most every each another both during until like "
    "check look did does dont let lets please more much very its really never always first second finally i i'm "
    "i've i'd i'll i’m i’ve i’d i’ll monday tuesday wednesday thursday friday saturday sunday january february "
    "march april may june july august september october november december jan feb mar apr jun jul aug sep sept "
    "oct nov dec mon tue tues wed thu thur thurs fri sat sun ok okay yes no oh hi hey hello thanks thank sorry "
    "wow lol omg haha rt dm ps fyi btw imo tbh idk smh asap aka tv pm am est pst gmt utc dr mr mrs ms prof sir "
    "the a an and but so if it he she we they you this that these those what when where who why how god christmas "
    "easter halloween thanksgiving english french german spanish italian chinese japanese american british indian "
    "european my your our his her their at in on to for of by is are was were be been do has have had not all "
    "just now new good great happy well also then there here with from as or can could will would should".split()
)
_TITLES = frozenset("mr mrs ms miss dr prof professor sir lady lord captain president senator uncle aunt coach".split())
_ABBREVIATIONS = (["mr"], ["mrs"], ["ms"], ["dr"], ["prof"])
_KIN = frozenset(
    "friend wife husband partner brother sister mom mum mother dad father son daughter cousin boss colleague coworker "
    "neighbor neighbour boyfriend girlfriend fiance fiancee roommate teacher mentor manager teammate niece nephew "
    "grandma grandpa grandmother grandfather buddy named called".split()
)
_SPEAKS = frozenset(
    "said says told asked thinks wants likes loves called emailed texted replied agreed suggested".split()
)
_WORKS = frozenset("at for with joined join joining".split())
_PLACED = frozenset("in near to from visit visited visiting outside across toward towards around".split())
_GREETS = frozenset("hey hi hello thanks dear bye congrats congratulations yo".split())
_FIRMS = frozenset(
    "inc inc. corp corp. ltd llc gmbh co company university college institute school hospital bank group foundation "
    "association committee council department ministry agency club team labs studio studios records church fc".split()
)
_SPOTS = frozenset(
    "street st avenue ave road rd boulevard blvd square park beach lake river mountain mountains island bridge airport "
    "station city county valley bay canyon forest museum stadium plaza hotel tower centre center hall hills".split()
)
_EFFORTS = frozenset("project repo repository app codebase library package framework initiative".split())


@cache
def _first_names() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("first_names.txt").read_text(encoding="utf-8").split())


@cache
def _places() -> frozenset[str]:
    return frozenset(Path(__file__).with_name("places.txt").read_text(encoding="utf-8").split())


def find_names(text: str) -> Iterator[Mention]:
    """Every run of capitalised words that is likely a name, with what it likely names."""
    for sentence in _sentences(text):
        plain = [token for token in sentence if token.group()[0].isalpha()]
        capitals = sum(_is_capital(token.group()) for token in plain)
        shouting = len(plain) > 3 and capitals > 0.6 * len(plain)
        yield from _in_sentence(text, sentence, shouting=shouting)


def _sentences(text: str) -> Iterator[list[re.Match[str]]]:
    sentence: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        if token.group()[0] in _ENDS and not _abbreviates(text, token):
            if sentence:
                yield sentence
            sentence = []
        else:
            sentence.append(token)
    if sentence:
        yield sentence


_ABBREVIATED = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|No))$")


def _abbreviates(text: str, token: re.Match[str]) -> bool:
    return token.group() == "." and _ABBREVIATED.search(text[max(0, token.start() - 5) : token.start()]) is not None


def _in_sentence(text: str, sentence: list[re.Match[str]], *, shouting: bool) -> Iterator[Mention]:
    place = 0
    while place < len(sentence):
        if not _may_begin(sentence[place].group()):
            place += 1
            continue
        end = _run_end(text, sentence, place)
        yield from _judged(text, sentence, place, end, shouting=shouting)
        place = end


def _run_end(text: str, sentence: list[re.Match[str]], start: int) -> int:
    """Where the run of capitals that begins at `start` ends. A joiner counts only between two capitals."""
    end = start + 1
    while end < len(sentence):
        if text[sentence[end - 1].end() : sentence[end].start()] not in (" ", ""):
            break
        word = sentence[end].group()
        if word.lower() in _JOINERS and not word[0].isupper():
            after = sentence[end + 1].group() if end + 1 < len(sentence) else ""
            if word.lower() in ("and", "the", "for", "la", "le") or not _may_begin(after):
                break
            end += 2
        elif _may_begin(word) or (word[0].isdigit() and word.isalnum() and len(word) < 5):
            end += 1
        else:
            break
    return end


def _judged(text: str, sentence: list[re.Match[str]], start: int, end: int, *, shouting: bool) -> Iterator[Mention]:
    words = [token.group() for token in sentence[start:end]]
    before = [token.group().lower() for token in sentence[max(0, start - 3) : start]]
    titled = bool(before) and (before[-1] in _TITLES or (before[-1] == "." and before[-2:-1] in _ABBREVIATIONS))
    if len(words) > 1 and _bare(words[0]) in _TITLES:
        start, words, titled = start + 1, words[1:], True
    after = sentence[end].group().lower() if end < len(sentence) else ""
    type, confidence = _typed(words, before, after, titled=titled)
    if confidence <= _SHAPE and (shouting or (start == 0 and len(words) == 1)):
        return
    if confidence <= _SHAPE and len(words) == 1 and _is_shorthand(words[0]):
        return
    first, last = sentence[start], sentence[end - 1]
    span = text[first.start() : last.end()]
    name = span.removesuffix("'s").removesuffix("’s")
    yield Mention(name, type, first.start(), first.start() + len(name), confidence, "rules")


def _typed(words: list[str], before: list[str], after: str, *, titled: bool) -> tuple[EntityType, float]:
    first, last = _bare(words[0]), _bare(words[-1])
    previous = before[-1] if before else ""
    if titled:
        return _PERSON, _KNOWN
    if len(words) > 1 and last in _FIRMS:
        return _ORGANIZATION, _KNOWN
    if len(words) > 1 and last in _SPOTS:
        return _LOCATION, _KNOWN
    if (len(words) > 1 and last in _EFFORTS) or after in _EFFORTS or previous in _EFFORTS:
        return _PROJECT, _TOLD
    if all(_bare(word) in _places() for word in words) or (last in _places() and previous in ("in", "to", "from")):
        return _LOCATION, _KNOWN
    if first in _first_names() and len(words) <= 3:
        return _PERSON, _KNOWN
    if previous in _KIN or previous in _GREETS or after in _SPEAKS or (previous == "," and set(before) & _KIN):
        return _PERSON, _TOLD
    if previous in _WORKS and set(before) & {"work", "works", "worked", "working", "job", "joined", "intern"}:
        return _ORGANIZATION, _TOLD
    if previous in _PLACED and set(before) & {
        "live",
        "lives",
        "lived",
        "moved",
        "move",
        "trip",
        "went",
        "flew",
        "back",
    }:
        return _LOCATION, _TOLD
    if previous in ("in", "near"):
        return _LOCATION, _SHAPE + 0.05
    if len(words) in (2, 3) and all(word[0].isupper() and word[1:].islower() for word in words if len(word) > 1):
        return _PERSON, _SHAPE + 0.02
    return _OTHER, _SHAPE


def _bare(word: str) -> str:
    return word.lower().removesuffix("'s").removesuffix("’s")


def _is_capital(word: str) -> bool:
    return word[0].isupper()


def _may_begin(word: str) -> bool:
    return bool(word) and word[0].isupper() and word[0].isalpha() and _bare(word) not in _NOT_NAMES and len(word) > 1


def _is_shorthand(word: str) -> bool:
    """Two or three capitals are more often an abbreviation than a name."""
    return word.isupper() and len(word) <= 3
