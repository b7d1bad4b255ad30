"""What a person says in a prompt, sentence by sentence: a standing rule, a correction of a fact, or a word for today.

A table of cues with whole-number weights is summed for each sentence; no model is asked and every pattern is linear.
Rules and corrections are kept in the person's own words, whole: the sentence with its remedy and its reason. The cues
are English; of other languages nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.observer.cues import CUES, Cue
from recollect.observer.cues.doubts import IRONY
from recollect.observer.cues.pasted import part_pasted, restore_quotations
from recollect.observer.cues.sorts import ASKS_FOR, COMPLAINS, PRAISES, REVIEW, STATES, TAKES_BACK

MAX_PROMPT_CHARS = 8_000  # of a prompt that are looked at
MAX_PROMPT_WORDS = 250  # what is longer is a document: a specification, a plan, a paste
MAX_SENTENCES = 24  # of a prompt that are looked at
MAX_SENTENCE_CHARS = 600  # of a sentence that are looked at
MAX_KEPT_CHARS = 400  # of what is kept
_BRIEF = 9  # sentences above which a prompt is the brief of one task, and what it forbids are its bounds
_TELLING = 2  # weight of a cue that can carry a sentence; weaker ones only add to it
_PLAIN = 4  # score from which a sentence of a brief is kept
_INTERJECTION = 4  # words of a sentence that only says how the next one is meant
KEPT, SURE = 3, 5  # score from which a sentence is kept, and from which nobody need look at it first
_TELLING_CUES = tuple(cue for cue in CUES if max(cue.rule, cue.correction) >= _TELLING)
_OTHER_CUES = tuple(cue for cue in CUES if max(cue.rule, cue.correction) < _TELLING)


class SaidSort(StrEnum):
    """What a sentence is."""

    RULE = "standing rule"
    CORRECTION = "correction"
    INSTRUCTION = "instruction"
    QUESTION = "question"
    COMPLAINT = "complaint"
    PRAISE = "praise"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Judged:
    """One sentence of a prompt: what it is, and how surely it is a rule or a correction."""

    text: str
    sort: SaidSort
    score: int
    cues: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptSaid:
    """A rule or a correction in the person's own words or in words they pasted, with its remedy and its reason."""

    text: str
    sort: SaidSort
    kind: Kind
    score: int
    pasted: bool = False

    @property
    def is_sure(self) -> bool:
        return self.score >= SURE


# --- sentences -------------------------------------------------------------------------------------------------------

_FENCE = Lazy(r"^\s{0,8}(?:```|~~~)")
_PASTED = Lazy(
    r"^\s{0,12}(?:[❯›⏺⎿│├└╭╰┃┌●◆✗✓✔✖►▶⚠❌>|]|\$ |\+{3} |-{3} |@@ |diff --git|at \S{1,200}[:(]\S{0,200}\d|File \""
    r"|Traceback "
    r"|\S{1,80}[@:]\S{0,80}[$%#] |\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:|time=|\[?\d\d:\d\d:\d\d|\[[\w:. -]{2,40}\] "
    r"|[-=_*#]{4,}"
    r"|(?:WARN|INFO|DEBUG|ERROR|FATAL|error|warning|fatal|FAIL|PASS|ok)\b[: \t\[(])",
    flags=0,  # upper case matters
)
_ITEM = Lazy(r"^\s{0,12}(?:[-*+•]|\d{1,2}[.)]|#{1,6})\s+")
_END = Lazy(r"[.!?]{1,3}[\"')\]]{0,2}(?=\s)|\.\.(?=\w)|;(?=\s)")
_SHORTENED = ("e.g.", "i.e.", "vs.", "etc.", "cf.", "eg.", "ie.", "resp.", "approx.")
_WRAPPED = 60  # characters of a line that its end may have broken


def split_sentences(text: str) -> list[str]:
    """The sentences of a prompt in order, without code, quotes and what looks like printed output."""
    found: list[str] = []
    block: list[str] = []
    fenced = False
    for line in text[:MAX_PROMPT_CHARS].replace("’", "'").splitlines():
        is_fence = _FENCE.match(line) is not None
        fenced ^= is_fence
        pasted = is_fence or fenced or not line.strip() or _PASTED.match(line) is not None
        item = _ITEM.match(line)
        goes_on = block and len(block[-1]) >= _WRAPPED and line.strip()[:1].islower()
        if block and (pasted or item or not goes_on):
            found.extend(_cut(" ".join(block)))
            block = []
        if not pasted:
            block.append(line[item.end() if item else 0 :].strip())
    found.extend(_cut(" ".join(block)))
    return found[:MAX_SENTENCES]


def _cut(line: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(line):
        if not line[start : end.end()].casefold().endswith(_SHORTENED):
            if sentence := line[start : end.end()].strip():
                yield sentence[:MAX_SENTENCE_CHARS]
            start = end.end()
    if rest := line[start:].strip():
        yield rest[:MAX_SENTENCE_CHARS]


# --- what a sentence is ----------------------------------------------------------------------------------------------


def judge_sentence(sentence: str) -> Judged:
    """What one sentence is."""
    return _judge(sentence, _meet(sentence, _TELLING_CUES))


def _meet(sentence: str, cues: Sequence[Cue]) -> list[Cue]:
    return [cue for cue in cues if cue.pattern.search(sentence)]


def _judge(sentence: str, telling: Sequence[Cue]) -> Judged:
    """What a sentence is whose telling cues are known."""
    met = [*telling, *_meet(sentence, _OTHER_CUES)]
    rule, correction = weigh_cues(met)
    names = tuple(cue.name for cue in met)
    score = max(rule, correction)
    if score >= KEPT:
        return Judged(sentence, SaidSort.RULE if rule >= correction else SaidSort.CORRECTION, score, names)
    return Judged(sentence, _sort(sentence, names), score, names)


def weigh_cues(met: Sequence[Cue]) -> tuple[int, int]:
    """What the cues of a sentence say for a rule and for a correction. Weak ones alone keep nothing, and what is hardly
    meant is never sure."""
    rule, correction = sum(cue.rule for cue in met), sum(cue.correction for cue in met)
    if not any(cue.rule >= _TELLING for cue in met):
        rule = min(rule, KEPT - 1)
    if not any(cue.correction >= _TELLING for cue in met):
        correction = min(correction, KEPT - 1)
    if doubt := sum(cue.doubt for cue in met):
        most = SURE - 1 if doubt == 1 else 0
        rule, correction = min(rule, most), min(correction, most)
    return rule, correction


def _sort(sentence: str, cues: Sequence[str]) -> SaidSort:
    """What a sentence is that is not kept. A request is an instruction also where it is put as a question."""
    if ASKS_FOR.search(sentence):
        return SaidSort.INSTRUCTION
    if "question" in cues or "asks" in cues:
        return SaidSort.QUESTION
    if PRAISES.search(sentence):
        return SaidSort.PRAISE
    if "do this" in cues:
        return SaidSort.INSTRUCTION
    if "what happened" in cues or "that is wrong" in cues or COMPLAINS.search(sentence):
        return SaidSort.COMPLAINT
    if not {"should", "do not", "should not"}.isdisjoint(cues) or not STATES.search(sentence):
        return SaidSort.INSTRUCTION
    return SaidSort.OTHER


def judge_prompt(text: str) -> list[Judged]:
    """What each sentence of a prompt is; nothing of a long one or of a pasted review is a rule."""
    sentences = split_sentences(text)
    if not _can_hold_rules(text, sentences):
        return [_below(judge_sentence(sentence)) for sentence in sentences]
    return _hold_briefs_to_more(_drop_taken_back([judge_sentence(sentence) for sentence in sentences]))


def _drop_taken_back(judged: Sequence[Judged]) -> list[Judged]:
    """The same sentences; what an ironic word leads in, or the next sentence doubts, is not kept."""
    kept = list(judged)
    for place, one in enumerate(judged):
        before = judged[place - 1] if place else None
        led_in = before and IRONY in before.cues and len(before.text.split()) <= _INTERJECTION
        taken_back = place + 1 < len(judged) and TAKES_BACK.match(judged[place + 1].text)
        if one.score >= KEPT and (led_in or taken_back):
            kept[place] = Judged(one.text, _sort(one.text, one.cues), 0, one.cues)
    return kept


def _hold_briefs_to_more(judged: Sequence[Judged]) -> list[Judged]:
    """In the brief of a task only what is plainly meant to last is a rule."""
    least = _PLAIN if len(judged) > _BRIEF else KEPT
    return [one if one.score >= least else _below(one) for one in judged]


def _below(one: Judged) -> Judged:
    """The same sentence, not kept."""
    if one.score < KEPT:
        return one
    return Judged(one.text, _sort(one.text, one.cues), KEPT - 1, one.cues)


def _can_hold_rules(text: str, sentences: Sequence[str]) -> bool:
    return len(text.split()) <= MAX_PROMPT_WORDS and not any(REVIEW.match(sentence) for sentence in sentences)


# --- what is kept ----------------------------------------------------------------------------------------------------

_HOSTS = (
    "<", "[Request interrupted", "[Image", "This session is being continued", "Operation stopped by hook", "Caveat: ",
    "API Error", "Stop hook feedback", "Implement the following plan:", "# Files mentioned by the user",
    "# Context from my IDE",
    "The user wants to clarify", "Complete assignment thoroughly:", "\"# ", "# AGENTS.md",
)  # fmt: skip
_GOES_ON = Lazy(
    r"^\W{0,3}(?:&&|use|run|it'?s|it is|they'?re|because|since|so\b|otherwise|instead|that'?s|that is|this (?:is"
    r"|way)|only|just|you can"
    r"|we (?:use|have|only)|which|in other words|->|unless|except|always|never|the (?:right|correct) )"
)  # a sentence that gives the remedy or the reason of the one before it
_POINTS_BACK = Lazy(r"^\W{0,3}(?:it|that|this|they|those|these|which)\b")
_LEADS_IN = Lazy(r"^\W{0,3}(?:(?:and|but|also|so|plus|well|oh|hmm+|ok|okay|yes|yeah)\b[ ,]{0,2}){1,3}(?=\w)")
_PREFERENCE = Lazy(r"\bi (?:\w+ )?(?:prefer|like|hate|never want|don'?t (?:want|like))\b|\bmy preference\b|\brather\b")


def is_persons_prompt(text: str) -> bool:
    """Did a person write it? What a host puts in a person's place, a plan it hands over included, is nobody's word, nor
    is what a program made: nobody types escaped quotes."""
    return bool(text.strip()) and not text.lstrip().startswith(_HOSTS) and '\\"' not in text


def find_said(text: str) -> list[KeptSaid]:
    """The standing rules and corrections of a prompt, each whole; those in words that the person only pasted are marked
    and never sure."""
    if not is_persons_prompt(text):
        return []
    text = text[:MAX_PROMPT_CHARS].replace("’", "'")
    every = _find(text, split_sentences(text))
    if not every:
        return []
    words, quotations = part_pasted(text)
    if words == text:
        return every
    own = _find(text, split_sentences(words), quotations)
    others = [
        replace(one, pasted=True, score=min(one.score, SURE - 1))
        for one in every
        if not any(each.text in one.text or one.text in each.text for each in own)
    ]
    return own + others


def _find(text: str, sentences: Sequence[str], quotations: Sequence[str] = ()) -> list[KeptSaid]:
    """What is kept of some sentences of a prompt."""
    telling = [_meet(sentence, _TELLING_CUES) for sentence in sentences]
    if not any(telling) or not _can_hold_rules(text, sentences):
        return []
    judged = _drop_taken_back([_judge(*each) for each in zip(sentences, telling, strict=True)])
    judged = _hold_briefs_to_more(judged)
    found: list[KeptSaid] = []
    place = 0
    while place < len(judged):
        if judged[place].score < KEPT:
            place += 1
            continue
        start, end = _span(judged, place)
        kept = judged[start:end]
        best = max(kept, key=lambda one: one.score)
        words = _clip(restore_quotations(" ".join(one.text for one in kept), quotations))
        found.append(KeptSaid(words, best.sort, _kind(best, words), best.score))
        place = end
    return found


def _span(judged: Sequence[Judged], place: int) -> tuple[int, int]:
    """The sentences that belong to the one at `place`: what it points back to, and the remedy and reason after it."""
    start, end = place, place + 1
    if start and _belongs_before(judged[start - 1], judged[start]):
        start -= 1
    while end < len(judged) and (judged[end].score >= KEPT or _is_continued(judged[end])):
        end += 1
    return start, end


def _belongs_before(before: Judged, one: Judged) -> bool:
    """Is it nearly a rule or a correction itself, or what this one speaks of?"""
    if before.score == KEPT - 1:
        return True
    return before.sort in (SaidSort.OTHER, SaidSort.COMPLAINT) and _POINTS_BACK.match(one.text) is not None


def _is_continued(after: Judged) -> bool:
    """Does it give the remedy or the reason of what stands before it?"""
    if after.sort in (SaidSort.QUESTION, SaidSort.PRAISE) or "do this" in after.cues or ASKS_FOR.search(after.text):
        return False
    return _GOES_ON.match(after.text) is not None


def _kind(best: Judged, words: str) -> Kind:
    if best.sort is SaidSort.CORRECTION:
        return Kind.GOTCHA
    return Kind.PREFERENCE if _PREFERENCE.search(words) else Kind.REQUIREMENT


def _clip(text: str) -> str:
    line = _LEADS_IN.pattern.sub("", " ".join(text.split()), count=1)
    if len(line) <= MAX_KEPT_CHARS:
        return line
    return f"{line[: MAX_KEPT_CHARS - 1].rsplit(' ', 1)[0]}…"


# --- the same said again ---------------------------------------------------------------------------------------------

_EMPTY = frozenset(
    "a an the and or but so to of in on at for with from by as is are was were be been it its it's this that these "
    "those there here "
    "i we you they he she me us my our your u pls please just also then ok okay yes no not don't dont do does did "
    "never always should "
    "must need needs have has had will would can could now really very again only any all every".split()
)
_NO = Lazy(r"\b(?:not|no|never|\w{2,8}n'?t|dont|avoid|stop|without|instead of|rather than)\b")
_WORD = Lazy(r"[\w./@+-]{2,40}")


def telling_words(text: str) -> frozenset[str]:
    """The words of a saying that tell what it is about."""
    return frozenset(
        word
        for found in _WORD.finditer(text.casefold().replace("’", "'"))
        if (word := found.group().strip(".-/")) and word not in _EMPTY
    )


def named_things(text: str) -> frozenset[str]:
    """The names in a saying: words with a digit, a path or a sign in them."""
    return frozenset(word for word in telling_words(text) if not word.isalpha())


def forbids(text: str) -> bool:
    """Does a saying forbid or deny something?"""
    return _NO.search(text.replace("’", "'")) is not None
