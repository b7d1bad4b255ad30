"""What a question says: its words and kind, and what it asks for beyond them: who, when, where, a request. Pure.

The cues are weak on their own; each becomes one small, named piece of evidence for a candidate that fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.core.lazy import Lazy
from recollect.core.query import Query, QueryType, Reading
from recollect.core.text import split_terms

if TYPE_CHECKING:
    from recollect.recall.time_words import Window

_MOST_TEXT = 20_000  # characters of a question that are read; the rest cannot change the answer
# Tools that ask what depends on what. Hosts put the server's name before a tool's, each in its own way:
# `mcp__recollect__impact`, `mcp_recollect_impact`, `recollect.impact`, `recollect/impact`, `recollect:impact`.
_STRUCTURAL = frozenset(
    "analyzeimpact getdependencies impact deps trace dependencies dependents callers references findreferences "
    "findusages goreferences related map".split()
)
_TOOL_PARTS = re.compile(r"__|[./:\s-]+")
_SERVER = re.compile(r"^(?:(?:mcp|recollect|code|memory|plugin|tool)_){1,4}")
_MOST_CALLS, _MOST_TOOL = 50, 200  # calls that are looked at, the latest, and characters of a name


def read(query: Query) -> Reading:
    """The question taken apart."""
    words, phrases, identifiers = split_terms(query.text, max_chars=_MOST_TEXT)
    return Reading(_type(identifiers, query.recent_calls), words, phrases, identifiers)


def _type(identifiers: tuple[str, ...], recent_calls: tuple[str, ...]) -> QueryType:
    if any(_is_code(name) for name in identifiers):
        return "identifier"
    if any(_is_structural(call) for call in recent_calls[-_MOST_CALLS:]):
        return "structural"
    return "semantic"


def _is_structural(call: str) -> bool:
    """Does a call by this name, with or without its arguments, ask what depends on what?"""
    name = call[:_MOST_TOOL].partition("(")[0].strip()
    last = _SERVER.sub("", (_TOOL_PARTS.split(name) or [""])[-1].lower())
    return last.replace("_", "") in _STRUCTURAL


_CODE = re.compile(r"[a-z][A-Z]|\w_\w|/|\\|\w\.\w|::")


def _is_code(name: str) -> bool:
    return _CODE.search(name) is not None


# Words that say how something is asked, not what about.
GENERIC = frozenset(
    "kind type sort thing many much long often ever name way some any also other different specific mention mentioned "
    "tell said say talk discuss list item order throughout across conversation conversations total current currently "
    "recent recently ago day days week weeks month months year years time times".split()
)
_WHEN = Lazy(
    r"when\b|how long|what (?:date|day|month|year|time)|(?:in )?which (?:month|year|day)"
    r"|how many (?:days|weeks|months|years)",
)
_WHERE = Lazy(r"\bwhere\b|(?:which|what) (?:city|country|place|state|town)")
_REQUEST = Lazy(
    r"^(?:can|could|would|will) you\b|\b(?:recommend|suggest|help me|advice|advise|tips|ideas|walk me through|explain"
    r"|show me|write|give me)\b|^how (?:do|can|should|would|does)\b|^what(?:'s| is| are)? (?:the |some |a )?"
    r"(?:best|good|common|main|steps?|way)|^i(?:'m| am) (?:looking|trying|planning|thinking)"
    r"|^what [^?]{0,200}\bshould i\b|^how to\b",
)
_PAST = Lazy(
    r"\b(?:did|have|had|was|were) (?:i|we)\b|\bour (?:conv|chat|disc)"
    r"|\bi(?:'ve| have| had)? (?:brought|mention|said|told)"
    r"|\byou (?:said|told|mentioned|suggested|recommended)|\bdid you\b",
)
_SUMMARY = Lazy(r"\bsummar|\boverview\b|\brecap\b|\bprogress(?:ed)?\b[^?]{0,200}\b(?:across|throughout|so far)")
_ANSWERED = Lazy(
    r"\byou(?:'d| had| have|'ve)? (?:said|told|mentioned|recommended|suggested|provided|gave|explained|described|listed"
    r"|wrote|shared|advised)|\bdid you (?:say|tell|mention|recommend|suggest|provide|give|explain|describe|list|write"
    r"|share|advise)|\byour (?:suggest|recommend|advice|answer|previous|list|respon|explan)|remind me"
    r"|previous (?:chat|conversation)|our (?:last|previous|earlier)",
)


# How something stands: words of state, or the asker's own affairs in the present. Plain words, so nothing is compiled.
_STATES = frozenset(
    "current currently now latest newest recent recently nowadays still usual usually previous previously initial "
    "initially original originally".split()
)
_STATE_PHRASES = ("these days", "at the moment", "so far", "to date", "by now")
_OWN = frozenset("i my me we our mine".split())
_HOLDING = tuple(
    f" {verb} {whose} " for verb in "do am have has is are does".split() for whose in "i we my our".split()
)
_EVER = ("have i ", "have we ")  # whether something ever happened: one statement suffices, old or new
_BEING = tuple(f"{word} {verb} " for word in ("what", "which", "who") for verb in ("was", "is", "are", "were"))
_AMOUNTS = tuple(f"how {word}" for word in "many much long often old far".split())
_MEASURES = ("what time", "what day", "what amount", "what size", "what record", "what percentage")
# What is worked out of several statements has no newest one: sums, differences, spans and orders.
_WORKED_OUT = frozenset(
    "passed elapsed between total combined altogether average minimum maximum difference older order than".split()
)
_OTHERWISE = (" had i ", "before i ", "before getting", "will i be", "previous chat", "previous conversation")


@dataclass(frozen=True, slots=True)
class Question:
    """The cues of one question."""

    text: str
    asks_when: bool
    asks_where: bool
    is_request: bool  # wants something done now, so standing preferences matter
    is_summary: bool
    is_about_answers: bool  # asks what the assistant said
    asks_state: bool  # how something stands, so the newest statement leads
    asks_amount: bool  # a number, a time, a day of the week
    window: Window | None

    def speaker(self, speakers: Iterable[str]) -> str | None:
        """The one speaker the question names; nothing when it names none or several."""
        named = [name for name in speakers if re.search(rf"\b{re.escape(name)}\b", self.text)]
        return named[0] if len(named) == 1 else None


# Words without which a cue cannot be there: most questions hold few of them, and then no pattern is even compiled.
_ASKING = frozenset("when how what which where in".split())
_WANTING = frozenset(
    "you recommend suggest help advice advise tips ideas walk explain show write give how what what's i'm am".split()
)
_SUMMING = ("summar", "overview", "recap", "progress")
_RECALLING = ("you", "remind me", "previous", "our ")
_TIMES = frozenset(
    "yesterday today tonight tomorrow recently lately just last this next past previous ago back earlier before after "
    "since until during around from prior up on in year quarter q1 q2 q3 q4 january february march april may june july "
    "august september october november december jan feb mar apr jun jul aug sep oct nov dec monday tuesday wednesday "
    "thursday friday saturday sunday".split()
)


def read_cues(text: str, now: datetime) -> Question:
    lowered = text.lower()
    words = set(lowered.replace("?", " ").replace(",", " ").split())
    asks = bool(words & _ASKING)
    summary = any(sign in lowered for sign in _SUMMING) and _SUMMARY.search(text) is not None
    wants = bool(words & _WANTING) and not summary
    return Question(
        text=text,
        asks_when=asks and _WHEN.match(text) is not None,
        asks_where=asks and _WHERE.search(text) is not None,
        is_request=wants and _REQUEST.search(text) is not None and _PAST.search(text) is None,
        is_summary=summary,
        is_about_answers=any(sign in lowered for sign in _RECALLING) and _ANSWERED.search(text) is not None,
        asks_state=_asks_state(lowered, words),
        asks_amount=any(amount in lowered for amount in (*_AMOUNTS, *_MEASURES)),
        window=_window(text, words, now),
    )


def _asks_state(lowered: str, words: set[str]) -> bool:
    if words & _WORKED_OUT or any(phrase in lowered for phrase in _OTHERWISE) or lowered.startswith(_EVER):
        return False
    if words & _STATES or any(phrase in lowered for phrase in _STATE_PHRASES):
        return True
    if not words & _OWN:
        return False
    if lowered.startswith(_BEING) or any(held in f" {lowered}" for held in (*_HOLDING, " is the ", " are the ")):
        return True
    return any(" did " not in lowered[place:] for amount in _AMOUNTS if (place := lowered.find(amount)) >= 0)


def _window(text: str, words: set[str], now: datetime) -> Window | None:
    if not words & _TIMES and not any(letter.isdigit() for letter in text):
        return None
    from recollect.recall.time_words import when

    return when(text, now)


# --- the other side: what a statement offers -----------------------------------------------------------------------

_TIME_WORDS = Lazy(
    r"\b(?:yesterday|today|tonight|tomorrow|(?:last|next|this|past|previous) (?:few |couple of )?(?:days?|weeks?"
    r"|months?|years?|night|weekends?|summer|fall|autumn|winter|spring|morning|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)\w{0,8})"
    r"|(?:a|an|one|two|three|four|five|six|few|couple of|several|\d{1,4}) (?:day|week|month|year|hour)s? ago"
    r"|recently|since|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august"
    r"|september|october|november|december|(?:19|20)\d\d"
    r"|(?:for|in) (?:a|\d{1,4}|one|two|three|four|five|six|seven|few|several) (?:years?|months?|weeks?|days?|hours?)"
    r"|\d{1,2}(?:st|nd|rd|th))\b",
)
_AMOUNT = Lazy(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|once|twice|dozen|half"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)s?\b",
)
_PLACE_WORDS = Lazy(r"\b(?:in|at|to|from|near|visited|around|of) (?:the )?[A-Z][a-z]+", 0)
_STANDING = Lazy(r"(?:^|[.!?\n]\s{0,4})(?:please )?(?:always|never)\b|\bwhen(?:ever)? i ask\b|\bfrom now on\b")
_PREFERENCE = Lazy(
    r"\bi(?:'d| would)? (?:(?:really|generally|usually|always|strongly|also) ){0,3}"
    r"(?:prefer|rather|prioriti[sz]e|favou?r|insist)\b|\bmy preference\b|\bi(?:'m| am) (?:not a fan|more comfortable)",
)


_remembered = lru_cache(maxsize=8_192)  # the same turns are candidates again and again


@_remembered
def tells_time(text: str) -> bool:
    return _TIME_WORDS.search(text) is not None


@_remembered
def tells_amount(text: str) -> bool:
    return _AMOUNT.search(text) is not None


@_remembered
def tells_place(text: str) -> bool:
    return _PLACE_WORDS.search(text) is not None


@_remembered
def is_standing_order(text: str) -> bool:
    return _STANDING.search(text) is not None


@_remembered
def states_preference(text: str) -> bool:
    return _PREFERENCE.search(text) is not None
