"""What people and agents said was wrong: corrections, refusals with their reason, dead ends.

A person's word is the strongest signal there is. An agent's own turn is told only when the sentence stands on its own:
it names something and says what it really is.
"""

from __future__ import annotations

from collections.abc import Iterator

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution, SignalSeen
from recollect.observer.hunch import Hunch, Sighting
from recollect.observer.past import Past
from recollect.observer.readings.troubles import passes
from recollect.observer.signals.self_correction import FAILED
from recollect.observer.tool_calls import command_name, is_shell
from recollect.observer.wording import at, code, plain_command, quote

_NAME = "self_correction"
_SPOKEN_WORDS, _OWN_WORDS = 6, 10  # words a sentence needs to stand on its own
_NAMES_SOMETHING = Lazy(
    r"`[^`\n]{2,80}`|\b[a-z]{2,40}[A-Z]\w{1,60}|\b\w{1,40}_\w{1,40}|\b\w{1,60}\(\)"
    r"|\b[\w-]{1,60}\.(?:py|go|ts|tsx|js|rs|java|rb|md|json|toml|ya?ml)\b",
    flags=0,  # upper case matters
)
_ADMITS = Lazy(
    r"\bI was (?:wrong|mistaken)|\bmistake\b|\b(?:initially|originally|first|wrongly) (?:thought|assumed)|\bturns out\b"
    r"|\bcorrection\b|\bwait\b|\bwon't work|\bdoesn't work|\bassumption"
)
_SAYS_WHAT = Lazy(r"\b(?:not|instead|rather than|needs? to|must|only|already|because|won't|doesn't|isn't|is wrong)\b")
_PASSING = Lazy(
    r"\blet me\b|\bI(?:'ll| will| need to| should)\b|\bjust (?:let me know|tell me|checking)|\bthis is fine\b"
    r"|\bthanks?\b|\bwrite the plan\b|\bgo ahead\b|\bcontinue\b|\bsays:|^implement the following|^\[|^<"
    r"|\bnever mind\b|\blet's (?:talk|pause|see|test this)|^just to be sure|\bstuff it\b|\bplease wait\b|^wait please"
)
_ASKS = Lazy(
    r"^\W{0,3}(?:(?:hmm|ok|ugh|and|but|so)\W{1,3})?(?:how|what|when|who|where|which|did|do|does|is|are|was|were|any|has|have"
    r"|should (?:we|I|all)|would|could)\b"
)
_WISHES = Lazy(
    r"\bshould\b|\bmust\b|\bnever\b|\balways\b|\bdon't\b|\bdo not\b|\blet's\b|\binstead\b|\bwant\b|\bwrong\b|\bavoid\b"
    r"|\bnot (?:correct|right|as|what|the|needed|necessary)|^\W{0,3}(?:no|nope|stop|use|keep|remove|add|drop|revert)\b"
    r"|\bprefer\b|\brather\b|\bonly\b|\bneeds? to\b|\bon purpose\b|\bno need\b|\bthere is already\b"
    r"|\bwhy (?:not|don't)\b|\bcan (?:you|we|'t we) (?:use|not|just|change|make|add|remove|move|call|drop)\b"
)
_PUTS_RIGHT = Lazy(
    r"^\W{0,3}(?:no|nope|stop|wrong)\b|\bwrong\b|\bnot (?:correct|right|what I)|\bincorrect|\bforgot|\bmissed\b"
    r"|\bbroke\b|\bshould(?:n't)? have|\bmisunderst|\bI (?:said|told|meant|asked)|\bon purpose|\bnever\b|\balways\b"
    r"|\brevert\b|\bundo\b"
)
_REFUSED = "refused: "
_SHORT = 60  # characters of a command that are quoted whole


def corrections(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """What a person put right, and what the agent itself found to be otherwise."""
    for one in _turns(seen, "user correction"):
        if _stands(one.subject, least=_SPOKEN_WORDS) and _PUTS_RIGHT.search(one.subject):
            text = f"A person corrected the agent{at(one.paths)}: {quote(one.subject)}"
            yield _hunch(seen, one, Kind.GOTCHA, text, spoken=True)
    for one in _turns(seen, "own correction"):
        if _own_stands(one.subject):
            yield _hunch(seen, one, Kind.MODULE_INSIGHT, f"Found out the hard way{at(one.paths)}: {quote(one.subject)}")


def refusals(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Tool calls a person refused: with the reason at once, without one when it happens again."""
    again = past.signals(_NAME)
    for one in _turns(seen, "refused by a person"):
        tool, _, what = one.subject.removeprefix(_REFUSED).partition(" ")
        reason = next((said for said in one.words if not said.startswith(_REFUSED)), "")
        if _stands(reason, least=_SPOKEN_WORDS) and _WISHES.search(reason) and not _ASKS.search(reason):
            text = f"A person stopped {_stopped(tool, what, one)} and said: {quote(reason)}"
            yield _hunch(seen, one, Kind.GOTCHA, text, spoken=True)
        elif is_shell(tool) and command_name(what):
            sightings = tuple(Sighting(id, past_one.steps, past_one.taint) for id, past_one in again[one.subject])
            text = f"People refuse {code(plain_command(what))} when an agent tries it: ask before running it."
            yield _hunch(seen, one, Kind.GOTCHA, text, spoken=True, sightings=sightings, least=2)


def dead_ends(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Approaches that were given up, where what failed just before is known."""
    for one in _turns(seen, "dead end"):
        failed = next((said.removeprefix(FAILED) for said in one.words if said.startswith(FAILED)), "")
        tried, _, why = failed.partition(": ")
        if len(why.split()) < 3 or passes(why) or not is_shell(tried.split(" ", 1)[0]):
            continue  # a slip of an editing tool is no approach that failed
        tried = tried.partition(" ")[2]
        text = f"{code(tried)} led nowhere{at(one.paths)}: {quote(why)}. Then: {quote(one.subject)}"
        payload = {"tried": tried, "why_it_failed": why, "alternative": one.subject}
        yield _hunch(seen, one, Kind.DEAD_END, text, payload=payload)


def _turns(seen: Contribution, hunch: str) -> list[SignalSeen]:
    return [one for one in seen.signals if one.name == _NAME and one.hunch == hunch]


def _stands(sentence: str, *, least: int) -> bool:
    return len(sentence.split()) >= least and not sentence.endswith(":") and not _PASSING.search(sentence)


def _own_stands(sentence: str) -> bool:
    return (
        _stands(sentence, least=_OWN_WORDS)
        and not sentence.endswith("?")
        and "|" not in sentence
        and bool(_ADMITS.search(sentence) and _NAMES_SOMETHING.search(sentence) and _SAYS_WHAT.search(sentence))
    )


def _stopped(tool: str, what: str, one: SignalSeen) -> str:
    if tool in ("Edit", "Write", "MultiEdit", "NotebookEdit"):
        return f"a change of {code(what)}" if what else "a change"
    if is_shell(tool) and what:
        name = command_name(what.lstrip("\\ "))
        return code(what if len(what) <= _SHORT else name) if name[:1].isalnum() else "a command"
    return f"the plan{at(one.paths)}" if tool == "ExitPlanMode" else f"the agent{at(one.paths)}"


def _hunch(
    seen: Contribution,
    one: SignalSeen,
    kind: Kind,
    text: str,
    *,
    spoken: bool = False,
    sightings: tuple[Sighting, ...] = (),
    least: int | None = None,
    payload: dict[str, str] | None = None,
) -> Hunch:
    here = Sighting(seen.session.id, one.steps, one.taint, one.agents)
    return Hunch(
        signal=_NAME,
        subject=f"{one.hunch}: {one.subject}" if sightings else f"{one.hunch}: {one.subject} {' '.join(one.words)}",
        kind=kind,
        text=text,
        sightings=sightings or (here,),
        files=one.paths,
        spoken=spoken,
        least=least,
        payload=payload,
        trigger={"files": list(one.paths)},
    )
