"""The moments at which memory speaks, how long and how much it may, and who may be told what. Pure; light to load.

A memory is told at most once a session, only when it is settled, untainted and sure enough for the project's level of
trust. Moments that interrupt an agent at work ask for more: confirmed, or seen in two sessions.
"""

from __future__ import annotations

import time

from recollect.agent.experiment import CONTROL, FULL
from recollect.agent.trust import CAUTIOUS, THRESHOLDS
from recollect.core.text import excerpt
from recollect.privacy.fence import block, citation, defuse, item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from recollect.core.summary import MemorySummary

DEADLINE = 3.0  # seconds after which the agent goes on without memory, whatever the moment
SURE = 0.65  # confidence below which nothing interrupts an agent, at any level
SEEN = 2  # sessions that taught something before it interrupts unconfirmed
FIRST_STEP = 5  # before it an agent is still taking in what it was given
RELEVANT = 0.34  # share of what was asked that a memory must speak of before it is told unasked
CERTAIN = 0.95  # relevance by the whole of recall from which meaning alone is reason enough (results/widening.md)
ANSWERS = 0.6  # … before it counts as the answer to a search

# What may be told unasked. Raw evidence (episodes, passages) is for those who ask; figures are for the builders.
TOLD = frozenset(
    "gotcha decision preference pattern requirement error_pattern module_insight causal_dependency e2e_observation "
    "dead_end work_unit_outcome workflow_recipe fact reflection".split()
)
STANDING = frozenset("preference decision requirement gotcha pattern workflow_recipe module_insight".split())
WARNINGS = frozenset({"gotcha", "error_pattern", "dead_end"})


class Moment:
    """One kind of occasion: its budget in seconds, how many memories, how many letters, who is interrupted."""

    __slots__ = ("budget", "interrupts", "letters", "most", "name", "text")

    def __init__(
        self, name: str, *, budget: float, most: int, letters: int, text: int, interrupts: bool = False
    ) -> None:
        self.name = name
        self.budget = budget
        self.most = most
        self.letters = letters  # of all items together
        self.text = text  # letters of one item
        self.interrupts = interrupts

    @property
    def patience(self) -> float:
        """Seconds a host waits at most: late is better than never only up to a point."""
        return min(DEADLINE, 4 * self.budget)


SYSTEM_PROMPT = Moment("system_prompt", budget=0.5, most=10, letters=8_000, text=1_500)
FIRST_MESSAGE = Moment("first_message", budget=2.0, most=8, letters=8_000, text=1_500)
PROMPT = Moment("prompt", budget=0.5, most=5, letters=6_000, text=1_500)
TOOL_RESULT = Moment("tool_result", budget=0.1, most=3, letters=2_400, text=800, interrupts=True)
STEP = Moment("step", budget=0.05, most=2, letters=1_800, text=800, interrupts=True)
BEFORE = Moment("before", budget=0.05, most=1, letters=700, text=500, interrupts=True)


def speaks(moment: Moment, arm: str) -> bool:
    """Is anything told at this moment in a session of this arm? The passive arm is never interrupted."""
    return arm == FULL or (arm != CONTROL and not moment.interrupts)


def barred(known: MemorySummary, moment: Moment, *, level: str, given: Container[str]) -> str:
    """Why a memory is not told now; nothing when it may be."""
    if known.id in given:
        return "told before"
    if known.status not in ("active", "disputed"):
        return "not settled"
    confirmed = known.verified or known.source == "user_taught"
    if known.tainted and not known.verified:
        return "came from outside and nobody confirmed it"
    if level == CAUTIOUS and not confirmed:
        return "nobody confirmed it"
    if not confirmed and commands(known.content):
        return "reads like orders and nobody confirmed it"
    if known.confidence < (max(SURE, THRESHOLDS[level]) if moment.interrupts else THRESHOLDS[level]):
        return "not sure enough"
    if moment.interrupts and not confirmed and known.seen < SEEN:
        return "seen once"
    return ""


def commands(text: str) -> bool:
    """Does it read like orders to a model?"""
    from recollect.privacy.quarantine import gives_orders  # what people taught themselves is not asked

    return gives_orders(text)


def told(found: Iterable[MemorySummary], moment: Moment, *, level: str, given: Container[str]) -> list[MemorySummary]:
    """Those of what was found, best first, that are told at a moment: as many as it has room for, each once."""
    chosen: list[MemorySummary] = []
    room = moment.letters
    for known in found:
        cost = min(len(known.content), moment.text) + 160
        if len(chosen) >= moment.most or any(known.id == other.id for other in chosen):
            continue
        if cost <= room and not barred(known, moment, level=level, given=given):
            chosen.append(known)
            room -= cost
    return chosen


def shown(known: MemorySummary, number: int, *, letters: int) -> str:
    """One memory as an item of a block."""
    about = f" about {', '.join(defuse(file) for file in known.files[:3])}" if known.files else ""
    when = time.strftime("%Y-%m-%d", time.gmtime(known.at / 1000))
    doubt = ", disputed" if known.status == "disputed" else ""
    head = f"{known.kind}{about} ({when}, {known.source}{doubt}, confidence {known.confidence:.2f})"
    mark = citation(known.id, known.citation or excerpt(known.content, 40))
    return item(number, head, known.content, mark=mark, limit=letters)


def rendered(chosen: Sequence[MemorySummary], moment: Moment, *, nonce: str) -> str:
    """The block an agent is given; nothing when nothing was chosen."""
    return block([shown(known, number, letters=moment.text) for number, known in enumerate(chosen, 1)], nonce=nonce)
