"""Facts without a model: sentences in which a person says something lasting about themselves. Pure.

A sentence is quoted, never reworded, with its speaker in front: what is stored is what was said. Questions, requests,
suppositions and quotations are passed over, and so are code and whatever an assistant or a tool says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.doors import HEARSAY
from recollect.core.ids import MemoryId
from recollect.core.lazy import Lazy
from recollect.core.records import Memory
from recollect.dialogue.context import FACT_LIMIT
from recollect.recall.time_words import when

MACHINES = frozenset("assistant system tool function developer ai bot model chatgpt claude".split())
_USER = frozenset({"user", "human", "me"})
_MAX_SENTENCE_WORDS = 80  # of a sentence; a longer one is a list or a pasted text


def any_of(listed: str) -> str:
    """A pattern for any of some words; an underscore stands for a space."""
    return "(?:" + "|".join(listed.split()).replace("_", " ") + ")"


@dataclass(frozen=True, slots=True)
class Extracted:
    """A fact on its way in: its words, what sort it is, the episodes it was drawn from, and what it fills."""

    content: str
    sort: str
    episodes: tuple[MemoryId, ...]
    event_at: datetime | None
    confidence: float
    slot: str = ""  # what it fills, such as where somebody lives: a newer fact with the same one replaces it
    spoken: bool = False  # in the words of a person, whom the code that heard them knows


def extract_facts(episodes: Sequence[Memory]) -> list[Extracted]:
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
    spoken = HEARSAY not in episode.attributes
    at, who = episode.happened_at, speaker(episode.source_role)
    for said in (statement for sentence in split_sentences(episode.content) for statement in statements(sentence)):
        content = f"{who} said: {_whole(said.words)}{_dated(said.words, at)}"
        if len(content) <= FACT_LIMIT:
            slot = f"{who.lower()}|{said.fills}" if said.fills else ""
            yield Extracted(content, said.sort, (episode.id,), episode.event_at, said.confidence, slot, spoken)


# --- sentences -----------------------------------------------------------------------------------------------------

_CODE = Lazy(r"```.{0,200000}?(?:```|\Z)", re.DOTALL)
_SPLIT = Lazy(r"(?<=[.!?…])[\"'”’)]{0,2}\s+(?=[\"'“‘(]?[A-Z0-9])|\n+|(?<=[.!?])\s+(?=i\b)", 0)
_SHORTENED = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|vs|No|e\.g|i\.e|U\.S|[A-Z])\.$")
_ENDING = 8  # characters that say whether a piece ends in one: more than the longest
_ASIDE = Lazy(
    any_of(
        "yeah yes yep no nope oh ah wow hey hi hello thanks thank_you ok okay sure well so and but also actually "
        "honestly btw by_the_way anyway plus haha hmm right great cool awesome aw aww totally exactly definitely "
        "to_be_honest you_know i_mean as_for_me personally lately recently currently in_fact oh,?_and fyi "
        "just_so_you_know for_the_record in_addition additionally speaking_of_which"
    )
    + r"(?:[,!.;:—-]+\s*|\s+(?=i\b|i'|my\b|we\b))"
)


def split_sentences(text: str) -> Iterator[str]:
    """The plain sentences of a message: no code, no quotation, no list of data."""
    prose = _CODE.pattern.sub("\n", text)
    for piece in _rejoined(_SPLIT.pattern.split(prose)):
        sentence = piece.strip(" \t*-•–")
        if not sentence or sentence[0] in '>|#"“`{[<':
            continue
        sentence = _without_asides(sentence)
        if LEAST_WORDS <= len(sentence.split()) <= _MAX_SENTENCE_WORDS:
            yield sentence


def _without_asides(sentence: str) -> str:
    """A sentence without the "yeah, well, so" it begins with."""
    start = 0
    while (aside := _ASIDE.pattern.match(sentence, start)) is not None:
        start = aside.end()
        while sentence.startswith((" ", ","), start):
            start += 1
    return sentence[start:]


def _rejoined(pieces: Sequence[str]) -> Iterator[str]:
    """Pieces that were cut behind an abbreviation belong together."""
    held: list[str] = []
    for piece in pieces:
        held.append(piece)
        if not _SHORTENED.search(" ".join([part[-_ENDING:] for part in held[-_ENDING:]])[-_ENDING:]):
            yield " ".join(held)
            held = []
    if held:
        yield " ".join(held)


def _whole(text: str) -> str:
    """A sentence as a sentence: a capital in front, a stop behind."""
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1] in '.!?…' else '.'}"


# --- time ----------------------------------------------------------------------------------------------------------

_RELATIVE_TIME = Lazy(
    r"\b(?:yesterday|today|tonight|tomorrow|last (?:night|week(?:end)?|month|year)|this (?:week|weekend|month|morning"
    r"|evening)|next (?:week|month|year)|(?:a|an|one|two|three|four|five|six|seven|\d{1,3}) (?:day|week|month|year)s?"
    r" ago)\b",
)


def _dated(text: str, at: datetime) -> str:
    """The day or month that "yesterday" or "last month" stood for when it was said; nothing when it says neither."""
    if _RELATIVE_TIME.search(text) is None:
        return ""
    window = when(text, at)
    if window is None or window.side != "in" or window.start is None or window.end is None:
        return ""
    days = (window.end - window.start).days
    if days <= 1:
        return f" ({window.start.date().isoformat()})"
    return f" ({window.start:%Y-%m})" if days <= 31 and window.start.month == window.end.month else ""


# --- what a lasting statement sounds like ---------------------------------------------------------------------------

# A table of sorts, each with how sure it is, what it fills, and its pattern. The first that fits decides. Everything
# here is English; other languages pass unjudged, which costs facts and never the evidence.

LASTING = frozenset({"identity", "preference", "instruction", "state"})  # what a later statement replaces
LEAST_WORDS = 3
_MAX_WORDS = 45  # of a statement, once the request behind it is cut off
_LEAST_EVENT = 5  # words: "I had a setback" tells nobody anything
_LONGEST_VALUE = 8  # words behind "my … is" that may still be a value
_CERTAIN = 0.95  # what somebody asks to be remembered


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that says something lasting: its sort, its words, how sure that is, and what it fills, if anything."""

    sort: str
    words: str
    confidence: float
    fills: str = ""


_ADVERB = any_of(
    "really also just actually usually always still currently recently finally personally generally typically "
    "strongly absolutely definitely mostly now already only even often both truly especially particularly quite "
    "totally"
)
_I = rf"\bi(?:'ve|’ve| have)?\s{{1,3}}(?:{_ADVERB}\s{{1,3}}){{0,3}}"
_IM = rf"\b(?:i'm|i’m|i am)\s{{1,3}}(?:{_ADVERB}\s{{1,3}}){{0,3}}"
_WE = rf"\b(?:i|we)(?:'ve|’ve| have)?\s{{1,3}}(?:{_ADVERB}\s{{1,3}}){{0,3}}"
_KIN = any_of(
    "wife husband partner son daughter brother sister mother father mom mum dad dog cat boss girlfriend boyfriend "
    "fianc[eé]e? best_friend manager doctor dentist therapist landlord roommate"
)
_DID = any_of(
    "bought got started finished completed visited went moved joined attended met adopted signed_up graduated "
    "quit left switched changed upgraded sold received won ran read watched saw tried made built created wrote "
    "published launched learned learnt took booked ordered lost broke found planted painted cooked baked played "
    "passed applied enrolled registered set_up installed migrated replaced hired deployed updated implemented "
    "integrated reached achieved earned celebrated traveled travelled hiked camped organized organised "
    "volunteered donated discovered opened closed renewed cancelled canceled rescheduled submitted spent saved "
    "grew raised participated presented performed fixed added used been gone come_back picked_up gave had hosted "
    "helped worked studied scored increased reduced improved refactored"
)
_CONDITION = any_of(
    "allergic vegetarian vegan married single divorced engaged pregnant retired left-handed lactose gluten "
    "diabetic self-employed colou?r_?blind"
)
_LIKES = any_of("prefer enjoy love like hate dislike adore favou?r avoid despise loathe")
_REACTION = (  # "I love it!" speaks of the moment
    r"(?! to (?:know|hear|see|get)|,? (?:it|that|this|these|those|your|you|how you|what you|them"
    r"|the (?:idea|sound|look|way you|suggestion))\b)"
)
_DECIDES = any_of(
    "decided chose chosen settled_on opted agreed picked(?!_up) went_with finali[sz]ed committed_to ruled_out"
)
_APPOINTMENT = any_of("appointment meeting interview exam deadline flight trip reservation")
_COUNT = r"(?:a|an|two|three|four|five|six|seven|\d[\d,.]{0,8}|no|my own|about \d[\d,.]{0,8})"
_NO_THING = any_of("question problem issue feeling idea hard lot few bit doubt good chance look great tough")
_NO_MATTER = (
    "question|problem|issue|concern|point|idea|understanding|code|mind|bad|first|next|apolog|thought|guess|plan|error"
    "|current code|request|goal here|main|hope"
)
_NO_GIST = r"(?!\s{0,3}(?:it|that|this|them|you)\b)"
_BEFORE_EVENT = r"(?:^|, |\band |\bbut |\bso |\bwhen |\bthat |\b(?:yesterday|today|recently|last \w+|this \w+|ago),? )"

_NAME = r"\bmy (?:full |first |last )?name(?:'s| is)\s{1,3}\w|\b(?:you can )?call me\s{1,3}[A-Z]"
_AGE = _IM + r"\d{1,3} years old|\bi (?:just )?turned \d{1,3}\b"
_HOME = (
    r"\bi (?:now |currently |still )?live (?:in|near|at)\s"
    rf"|{_IM}(?:living|based) (?:in|near|at|out of)\s"
    rf"|{_I}(?:moved|relocated) (?:back )?to\s(?!the (?:next|other|new version))"
)
_ORIGIN = _IM + r"(?:originally )?from\s{1,3}[A-Z]|\bi (?:grew up|was born) in\s"
_WORK = (
    r"\bi (?:now |currently |still )?work (?:at|for|as)\s"
    rf"|{_IM}working (?:at|for|as)\s{{1,3}}(?:a |an |the )?\w"
    rf"|{_I}(?:started|got|landed|accepted|took) (?:a |my )(?:new )?(?:job|position|role|promotion)\b"
)
_RELATIVE = rf"\bmy (?P<kin>{_KIN})(?:'s name is|’s name is| is (?:called|named)| is a\b| is an\b)"
_IS_A = (
    rf"{_IM}(?:{_CONDITION}|a (?!bit|little|lot|few|huge fan|big fan|fan|moment|complete beginner in)"
    r"|an (?!example|issue|error|idea))"
)
_FAVOURITE = r"\bmy (?:all-time |absolute )?favou?rite (?P<favourite>\w+(?: \w+){0,3}?) (?:is|are|was|has to be)\b"
_PREFERENCE = (
    rf"{_I}{_LIKES}\b{_REACTION}"
    r"|\bi (?:really )?(?:don't|do not|can't|cannot|never) (?:really )?(?:like|enjoy|stand|eat|drink|use|want|trust)\b"
    rf"|{_IM}(?:not )?(?:a (?:big |huge )?fan of|into|fond of|obsessed with|passionate about|more comfortable)\b"
    r"|\bi(?:'d|’d| would) (?:much )?(?:rather|prefer)\b|\bmy preference is\b"
    r"|\bi (?:usually|always|never|generally|typically)\s{1,3}\w"
)
_INSTRUCTION = (
    r"^(?:please )?(?:always|never|from now on|going forward|in (?:the )?future|whenever i ask|when i ask|don't ever"
    r"|do not ever)\b"
)
_DECISION = (
    rf"{_WE}{_DECIDES}\b{_NO_GIST}|\blet's (?:go with|use|stick with|stick to)\s"
    r"|\bwe(?:'ll|’ll| will|'re going to| are going to) (?:use|go with|switch|adopt)\s"
)
_COMMITMENT = (
    rf"{_IM}(?:planning (?:to|on|a|for)|scheduled|going to (?!be honest|need|have|ask|try|guess|go ahead)|supposed to"
    r"|training for|saving (?:up )?for|attending|visiting|meeting (?!my goal))\s?|\bi plan (?:to|on)\s"
    rf"|\bi have an? (?:\w+ ){{0,2}}{_APPOINTMENT}\b|\bmy deadline\b"
    r"|\bi(?:'ll|’ll| will) be (?:in|at|on|away|visiting|travell?ing|attending|starting)\s"
)
_MINE = (
    rf"^my (?P<mine>(?!{_NO_MATTER})\w+(?: (?!is\b|are\b|was\b)[\w'-]+){{0,3}}) (?:is|are|has)\s"
    r"(?!that\b|to\b|how\b|whether\b|not sure)"
)
_OWNS = rf"\bi(?:'ve|’ve| have)? (?:now |already |currently )?(?:have|own|got) {_COUNT} (?!{_NO_THING})\w"
_ENDED = (
    r"\b(?:i|we) (?:no longer|don't|do not)\s{1,3}\w{1,40}.{0,80}\banymore\b|\b(?:i|we) no longer\b"
    r"|\bi used to\s{1,3}\w"
)
_EVENT = rf"{_BEFORE_EVENT}{_WE}{_DID}\b{_NO_GIST}"

# Sort, how sure, what it fills (a name, or the group that names it), pattern.
_TABLE: tuple[tuple[str, float, str, Lazy], ...] = (
    ("identity", 0.9, "name", Lazy(_NAME)),
    ("identity", 0.85, "age", Lazy(_AGE)),
    ("identity", 0.85, "home", Lazy(_HOME)),
    ("identity", 0.85, "origin", Lazy(_ORIGIN)),
    ("identity", 0.85, "work", Lazy(_WORK)),
    ("identity", 0.85, "group:kin", Lazy(_RELATIVE)),
    ("identity", 0.85, "birthday", Lazy(r"\bmy birthday(?:'s| is)\s")),
    ("identity", 0.8, "", Lazy(_IS_A)),
    ("preference", 0.85, "group:favourite", Lazy(_FAVOURITE)),
    ("preference", 0.8, "", Lazy(_PREFERENCE)),
    ("instruction", 0.85, "", Lazy(_INSTRUCTION)),
    ("decision", 0.8, "", Lazy(_DECISION)),
    ("commitment", 0.7, "", Lazy(_COMMITMENT)),
    ("state", 0.75, "group:mine", Lazy(_MINE)),
    ("state", 0.75, "", Lazy(_OWNS)),
    ("state", 0.75, "", Lazy(_ENDED)),
    ("event", 0.7, "", Lazy(_EVENT)),
)

_REMEMBER = Lazy(
    r"^(?P<please>please |pls |can you |could you )?(?:remember|note|keep in mind|don't forget|do not forget"
    r"|bear in mind|make a note|be aware)(?: that| this|,|:)\s{0,3}(?P<said>.{3,})$",
    re.IGNORECASE | re.DOTALL,
)
_DOUBTFUL = Lazy(
    "^"
    + any_of(
        r"if imagine suppose assuming let's_say what_if maybe perhaps would could should can do does did is are "
        r"was were how what why when where who which i_wish i_guess i_wonder i_hope i'm_wondering i'm_not_sure "
        r"i_don't_know i_think i_was_wondering i'm_curious i_believe i_feel_like for_example e\.g\."
    )
    + r"\b"
)
_ABOUT_MACHINE = Lazy(
    r"\b(?:getting|get|got|seeing|having|have|received) (?:an?|this|the|these|some) (?:following )?"
    r"(?:error|issue|problem|exception|warning|traceback)"
)
_ABOUT_US = Lazy(r"\b(?:i|my|we|me|our|i'm|i've|i’m|i’ve|please|always|never|from now on|call|let's)\b")
_ASKS = any_of("can could would will do does did should is are was how what which where when why who any")
_ASKED = any_of(
    "you i it it's there the we they this that my a an should would could are is do does can other some tips kind "
    "steps if best ways?"
)
_UNSURE = any_of(
    "wondering hoping curious not_sure unsure looking_for worried wonder need_(?:some|help|your|advice) "
    "want_(?:your|some|to_know|to_make_sure|to_ensure)"
)
# Where a statement turns into a request: what stands before it may still be a fact.
_REQUEST = Lazy(
    rf"(?:,|;|\s[-–—])\s{{0,3}}(?:(?:and|but|so|or|because)\s{{1,3}})?(?:also\s{{1,3}})?(?:{_ASKS}\s{{1,3}}{_ASKED}\b"
    rf"|(?:i(?:'m|’m| am| was)? (?:still |just |also )?{_UNSURE}|i(?:'d|’d| would) (?:like|love|appreciate)"
    r"|i(?:'m|’m| am) (?:thinking|considering|trying to figure)|please|help me|give me|let me know)\b)"
)
_CLAUSE = Lazy(r",?\s{1,3}(?:and|but)\s{1,3}(?=(?:i|i'm|i’m|i've|i’ve|my)\b)")


def statements(sentence: str) -> list[Statement]:
    """The lasting statements of a sentence; none for most. A name and a home in one sentence are two."""
    return [found for clause in _clauses(sentence) if (found := _judged(clause)) is not None]


def _clauses(sentence: str) -> list[str]:
    """A sentence in its clauses when several of them fill something."""
    clauses = _CLAUSE.pattern.split(sentence)
    filling = [one for clause in clauses if (one := _ruled(clause)) is not None and one.fills]
    return clauses if len(filling) > 1 else [sentence]


def _judged(whole: str) -> Statement | None:
    asks = _REQUEST.search(whole)
    sentence = whole if asks is None else whole[: asks.start()].rstrip(" ,;-–—")
    if not LEAST_WORDS <= len(sentence.split()) <= _MAX_WORDS or sentence.endswith(":"):
        return None
    if (asked := _REMEMBER.match(sentence)) is not None and (asked.group("please") or not sentence.endswith("?")):
        said = asked.group("said").strip().rstrip("?")
        inner = _ruled(said)
        return Statement("explicit", said, _CERTAIN, inner.fills if inner else "")
    if sentence.endswith("?") or _DOUBTFUL.match(sentence) or _ABOUT_US.search(sentence) is None:
        return None
    found = None if _ABOUT_MACHINE.search(sentence) else _ruled(sentence)
    return None if found is None or (found.sort == "event" and _is_vague(sentence)) else found


def _ruled(sentence: str) -> Statement | None:
    for sort, confidence, fills, pattern in _TABLE:
        match = pattern.search(sentence)
        if match is not None:
            return Statement(sort, sentence, confidence, _filled(fills, sentence, match))
    return None


def _filled(fills: str, sentence: str, match: re.Match[str]) -> str:
    """What a statement fills: "home", or "favourite color" where a group of the pattern names it."""
    if not fills.startswith("group:"):
        return fills
    name = fills.removeprefix("group:")
    return f"{name} {match.group(name).lower()}" if name != "mine" or _is_value(sentence, match) else ""


def _is_value(sentence: str, match: re.Match[str]) -> bool:
    """Does "my … is" give a value that another would replace? A number, a name, a word or two; not a description."""
    value = sentence[match.end() :].split()
    telling = any(word[0].isdigit() or word[0].isupper() for word in value if word not in ("I", "I'm"))
    return len(value) <= _LONGEST_VALUE and (telling or len(value) <= 2)


def _is_vague(sentence: str) -> bool:
    return len(sentence.split()) < _LEAST_EVENT and not any(letter.isdigit() for letter in sentence)
