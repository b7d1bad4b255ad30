"""Statements of how something stands, and which of two such statements ends the other. Pure.

"I moved to Bergen" ends "I live in Oslo"; "use pnpm now" ends "use yarn". Read are single, plain sentences only: what
hedges, adds, looks back or ahead, or holds for one place only ends nothing. What says that something changed replaces
what it contradicts; what merely differs asks a person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from recollect.core.drafts import Verdict
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.records import Memory
from recollect.core.states import ALTERNATIVES

_MAX_CHARS = 160  # of a statement that is one plain sentence
_STATED = frozenset({Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.GOTCHA, Kind.PATTERN, Kind.REQUIREMENT})
_GROUP_OF = {name: group for group, names in ALTERNATIVES.items() for name in names}
_ONE_AT_A_TIME = frozenset({"home", "name", "theme"})  # a second one needs a person's word, even without a "now"
# What one moves to that is no place, beside the tools of `ALTERNATIVES`.
_NO_PLACES = frozenset(
    "kubernetes docker aws azure gcp terraform ansible python rust go java kotlin typescript javascript react vue "
    "svelte django flask rails node deno redis kafka graphql grpc rest git excel notion android ios".split()
)


@dataclass(frozen=True, slots=True)
class StateClaim:
    """A statement taken apart: whose state, which, its value, and what the sentence says about its reach."""

    subject: str  # user, a name; empty for what holds here
    slot: str  # home, work, name, or what the value is one of; empty when only the value it replaces tells
    value: str
    replaces: str = ""  # the value it says is over
    changes: bool = False  # it says that something changed
    bounds: str = ""  # where or when only it holds
    purpose: str = ""  # what for
    is_order: bool = False  # "use pnpm"

    @property
    def key(self) -> str:
        """Whose state and which, as memories are looked up by it; empty when the slot is not known."""
        return f"{self.subject}|{self.slot}" if self.slot else ""


_NO_CLAIM = re.compile(
    r"\b(?:would|might|may|could|should|if|used to|was|were|will|won't|going to|plan|plans|planning|next|soon|tomorrow"
    r"|want|wants|wish|maybe|perhaps|hope|hopes|thinking|considering|not|never|don't|doesn't|didn't|when|while|during"
    r"|sometimes|weekends?|summers?|winters?|also|too|both|as well|another|second|except|unless|until|before|once)\b"
    r"|[?:;\n]|[.!] ",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"\b(?:now|instead|from now on|these days|no longer|anymore|switch(?:ed)? (?:to|from))\b", re.I)
_END = (
    r"(?:,? (?:now|instead|today|recently|these days|from now on|last (?:week|month)|this (?:week|month|year)"
    r"|since (?:today|yesterday|[A-Z][a-z]{2,9}))){0,2}[.!]?$"
)
_WHO = (
    r"(?P<who>[Ii]|[Ww]e|[Tt]he user|[Uu]ser|[Tt]he team|[A-Z][\w-]{1,30})"
    r"(?:['’](?:ve|s|m|re)| have| has| am| is| are)?"
)
_ADVERBS = r"(?: (?:now|just|recently|currently|finally|still|actually|already)){0,2}"
_NAME = r"[A-Z][\w'’.&-]{0,30}(?: [A-Z][\w'’.&-]{0,30}){0,3}"
_VALUE = r"[A-Za-z][\w.+#/-]{0,30}"
_AS = r"(?: as (?:an?|the|our|my) [\w -]{1,40}?)?"
_REST = r"(?P<rest> (?:for|to|as|in|on|under|inside|within|with) [\w ,./'’-]{1,60}?)?"

_HOME = Lazy(rf"^{_WHO}{_ADVERBS} (?:lives?|living|resides?|based) in (?P<value>{_NAME}){_END}", 0)
_MOVED = Lazy(
    rf"^{_WHO}{_ADVERBS} (?:moved|relocated)(?: from (?P<old>{_NAME}))?(?: back)? to (?P<value>{_NAME}){_END}", 0
)
_WORK = Lazy(rf"^{_WHO}{_ADVERBS} (?:works?|working) (?:at|for) (?P<value>{_NAME}){_AS}{_END}", 0)
_HIRED = Lazy(
    rf"^{_WHO}{_ADVERBS} (?:started|got|took|accepted|landed|began)(?: (?:a|my|the))?(?: new)?"
    rf" (?:job|position|role|working) (?:at|with|for) (?P<value>{_NAME}){_AS}{_END}",
    0,
)
_CALLED = Lazy(
    rf"^(?:[Mm]y name is|[Ii](?: have|['’]ve)? (?P<changed>changed) my name to|[Cc]all me) (?P<value>{_NAME}){_END}", 0
)
_USES = Lazy(
    rf"^(?:please |always |from now on,? )?(?:(?P<who>i|we|the user|user|the team|the project|(?-i:[A-Z])[\w-]{{1,30}})"
    rf"(?:['’]ve| have| has)?{_ADVERBS} )?(?:use|uses|prefer|prefers|drive|drives|run|runs"
    rf"|(?P<switched>switch to|(?:switched|moved|migrated|changed)(?: from (?P<old>{_VALUE}))? to))"
    rf"(?: (?:an?|the))? (?P<value>{_VALUE})(?: mode| now)?"
    rf"(?:,? (?:instead of|rather than|in place of) (?P<instead>{_VALUE}))?{_REST}{_END}"
)
_REPLACED = Lazy(
    rf"^(?:(?P<who>i|we|the user|user|the team){_ADVERBS} )?(?:replaced|replace|sold)(?: (?:my|our|the))?"
    rf" (?P<old>{_VALUE}) (?:with|by|and bought)(?: (?:an?|the))? (?P<value>{_VALUE}){_REST}{_END}"
)
_THING = Lazy(
    rf"^(?:my|our|the) (?P<thing>[a-z][a-z -]{{2,30}}?) (?:is|has changed to|changed to)(?: now)?"
    rf" (?P<value>{_VALUE}){_END}"
)
_OPENING = re.compile(r"^(?:[\w-]{1,30} said: )?(?:(?:no|actually), )?", re.I)
_NOT_THIS = re.compile(rf",? (?:and )?not ({_VALUE})(?=[.!]?$)", re.I)
_BOUNDS = re.compile(r"^(?:in|on|under|inside|within|with|for (?:the|this|these|old|new|some)\b)", re.I)


@lru_cache(maxsize=512)  # each statement is looked at several times on its way in
def read_state(text: str) -> StateClaim | None:
    """What a statement says of a state; nothing for most."""
    if len(text) > _MAX_CHARS:
        return None
    said = _NOT_THIS.sub(r" instead of \1", _OPENING.sub("", text.strip()))
    if _NO_CLAIM.search(said.rstrip(".!")):
        return None
    return _read_person(said) or _read_use(said)


def _read_person(said: str) -> StateClaim | None:
    for slot, pattern, changes in (
        ("home", _HOME, False), ("home", _MOVED, True), ("work", _WORK, False), ("work", _HIRED, True),
    ):  # fmt: skip
        found = pattern.search(said)
        value = "" if found is None else found["value"].rstrip(".").casefold()
        if found is not None and value not in _GROUP_OF and value not in _NO_PLACES:
            old = (found.groupdict().get("old") or "").casefold()
            return StateClaim(
                _subject(found["who"]),
                slot,
                value,
                replaces=old,
                changes=changes or _says_change(said),
            )
    found = _CALLED.search(said)
    if found is None:
        return None
    changes = bool(found["changed"]) or _says_change(said)
    return StateClaim("user", "name", found["value"].rstrip(".").casefold(), changes=changes)


def _read_use(said: str) -> StateClaim | None:
    found = _USES.search(said) or _REPLACED.search(said)
    if found is None:
        return _read_thing(said)
    parts = found.groupdict()
    value = parts["value"].rstrip(".").casefold()
    old = (parts.get("old") or parts.get("instead") or "").casefold()
    rest = (parts.get("rest") or "").strip().casefold()
    bounded = bool(_BOUNDS.match(rest))
    return StateClaim(
        _user_of(parts.get("who")),
        _GROUP_OF.get(value, ""),
        value,
        replaces=old,
        changes=bool(old or parts.get("switched")) or _says_change(said),
        bounds=rest if bounded else "",
        purpose="" if bounded else rest,
        is_order=parts.get("who") is None,
    )


def _read_thing(said: str) -> StateClaim | None:
    found = _THING.search(said)
    if found is None:
        return None
    value = found["value"].rstrip(".").casefold()
    slot = _GROUP_OF.get(value, "")
    if not slot.casefold().endswith(found["thing"].casefold().strip()):
        return None
    return StateClaim("", slot, value, changes=_says_change(said) or "changed to" in found[0].casefold())


def _says_change(said: str) -> bool:
    return _CHANGE.search(said) is not None


def _subject(who: str) -> str:
    name = who.casefold().removeprefix("the ")
    return "user" if name == "i" else "team" if name == "we" else name


def _user_of(who: str | None) -> str:
    """Whose tool it is. What "I", "we" and a plain order say holds for the work here; another's tool is theirs."""
    subject = _subject(who or "")
    return "" if subject in ("user", "team", "project", "") else subject


def judge_state(new: Memory, old: Memory) -> tuple[Verdict, str]:
    """Does a statement end one that holds (`supersedes`), does a person have to say (`contradicts`), or neither?"""
    mine, theirs = read_state(new.content), read_state(old.content)
    if mine is None or theirs is None or new.kind not in _STATED or old.kind not in _STATED:
        return "new", ""
    if mine.value == theirs.value or mine.subject != theirs.subject or mine.bounds:
        return "new", ""
    if new.files and set(new.files) != set(old.files):
        return "new", ""  # it holds for these files only
    names_it = mine.replaces == theirs.value
    if not names_it and (not mine.slot or mine.slot != theirs.slot or not _serves_the_same(mine, theirs)):
        return "new", ""
    because = f"{mine.value} instead of {theirs.value}"
    bounded = bool(theirs.bounds or (old.files and not new.files) or old.modules != new.modules)
    if mine.changes and not bounded:
        return "supersedes", because
    asks = mine.changes or mine.slot in _ONE_AT_A_TIME or (mine.is_order and theirs.is_order)
    return ("contradicts", because) if asks else ("new", "")


def _serves_the_same(mine: StateClaim, theirs: StateClaim) -> bool:
    """Are both used for the same? What says nothing of it is used for everything."""
    return (
        not mine.purpose or not theirs.purpose or bool(set(mine.purpose.split()[1:]) & set(theirs.purpose.split()[1:]))
    )
