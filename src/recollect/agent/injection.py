"""What an agent is told unasked: the moments at which memory speaks, which memories are chosen, how they are rendered.

Shared by the library's session and the hook process, so it is light to load and never writes. A memory is told at most
once a session, only when it is settled, untainted and sure enough for the project's level of trust, and never in the
words of a tool or an agent before a person confirmed them.
"""

from __future__ import annotations

import time
from itertools import chain

from recollect.agent.trust import THRESHOLDS
from recollect.core.aptness import APT, MAX_CHARS
from recollect.core.digest import short_digest
from recollect.core.ranking import SHOWN_STATUSES
from recollect.core.text import excerpt, names
from recollect.privacy.fence import block, citation, defuse, item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from typing import Protocol

    from recollect.core.summary import MemorySummary
    from recollect.observer.events import ToolCall
    from recollect.store.hook_reader import HookReader

    class Search(Protocol):
        """Finds memories of some kinds, best first, each with its relevance."""

        def search(self, text: str, kinds: Iterable[str], *, limit: int) -> Sequence[MemorySummary]:
            """By the share of a short text that they speak of."""

        def find_apt(self, text: str, kinds: Iterable[str], *, limit: int) -> Sequence[MemorySummary]:
            """By how much they speak of what a sentence of a request does."""

# --- which sessions are told anything at all --------------------------------------------------------------------------

# A stable draw, so that the benefit of memory can be measured: five in a hundred sessions are told nothing and ten only
# at their beginning; all are watched alike.
CONTROL, PASSIVE, FULL = ARMS = ("control", "passive", "full")
_CONTROL, _PASSIVE = 5, 15  # of a hundred: below the first nothing, below the second only at the beginning
ARM_META = "arm"  # where the store keeps the one that holds for all sessions, if somebody chose


def arm_of(session: str, project: str) -> str:
    """The arm of a session: the same on every machine and every run."""
    drawn = int(short_digest(f"{session}:{project}"), 16) % 100
    if drawn < _CONTROL:
        return CONTROL
    return PASSIVE if drawn < _PASSIVE else FULL


def choose_arm(chosen: str | None, session: str, project: str) -> str:
    """The arm somebody chose, or the one that was drawn."""
    return chosen if chosen in ARMS else arm_of(session, project)


# --- the moments ------------------------------------------------------------------------------------------------------

DEADLINE = 3.0  # seconds after which the agent goes on without memory, whatever the moment


class Moment:
    """One kind of occasion: its budget in seconds, how many memories, how many characters, who is interrupted."""

    __slots__ = ("budget", "interrupts", "item_chars", "limit", "max_chars", "name")

    def __init__(
        self, name: str, *, budget: float, limit: int, max_chars: int, item_chars: int, interrupts: bool = False
    ) -> None:
        self.name = name
        self.budget = budget
        self.limit = limit
        self.max_chars = max_chars  # of all items together
        self.item_chars = item_chars
        self.interrupts = interrupts

    @property
    def timeout(self) -> float:
        """Seconds a host waits at most: late is better than never only up to a point."""
        return min(DEADLINE, 4 * self.budget)

    def speaks(self, arm: str) -> bool:
        """Is anything told at this moment in a session of this arm? The passive arm is never interrupted."""
        return arm == FULL or (arm != CONTROL and not self.interrupts)


SYSTEM_PROMPT = Moment("system_prompt", budget=0.5, limit=10, max_chars=8_000, item_chars=1_500)
FIRST_MESSAGE = Moment("first_message", budget=2.0, limit=8, max_chars=8_000, item_chars=1_500)
PROMPT = Moment("prompt", budget=0.5, limit=5, max_chars=6_000, item_chars=1_500)
TOOL_RESULT = Moment("tool_result", budget=0.1, limit=3, max_chars=2_400, item_chars=800, interrupts=True)
STEP = Moment("step", budget=0.05, limit=2, max_chars=1_800, item_chars=800, interrupts=True)
BEFORE = Moment("before", budget=0.05, limit=1, max_chars=700, item_chars=500, interrupts=True)
MOMENTS = (SYSTEM_PROMPT, FIRST_MESSAGE, PROMPT, TOOL_RESULT, STEP, BEFORE)

# --- what may be told -------------------------------------------------------------------------------------------------

CONFIRMED_CONFIDENCE = 0.65  # from which what a person said or confirmed is told at every level: it fades from .8 or 1
INTERRUPTING_CONFIDENCE = 0.65  # below which nothing interrupts an agent, at any level of trust
UNCONFIRMED_TIMES = 2  # that something was seen or used before it is told unconfirmed
NOT_SURE = "not sure enough"  # the one objection that depends on the level
FIRST_STEP = 5  # before it an agent is still taking in what it was given
CERTAIN_RELEVANCE = 0.95  # by the whole of recall, from which meaning alone is reason enough (results/widening.md)
ANSWER_RELEVANCE = 0.6  # share before it counts as the answer to a search

# What may be told unasked. Raw evidence (episodes, passages) is for those who ask; figures are for the builders.
TELLABLE_KINDS = frozenset(
    "gotcha decision preference pattern requirement error_pattern module_insight causal_dependency e2e_observation "
    "dead_end work_unit_outcome workflow_recipe fact reflection".split()
)
STANDING_KINDS = frozenset("preference decision requirement gotcha pattern workflow_recipe module_insight".split())
WARNING_KINDS = frozenset({"gotcha", "error_pattern", "dead_end"})
FORBIDDING_KINDS = frozenset({"gotcha", "requirement", "preference", "decision"})  # what people say not to do
_ITEM_COST = 160  # characters around the text of an item


def find_objection(memory: MemorySummary, moment: Moment, *, level: str, given: Container[str]) -> str:
    """Why a memory is not told now; nothing when it may be."""
    if memory.id in given:
        return "told before"
    if memory.status not in SHOWN_STATUSES:
        return "not settled"
    confirmed = memory.verified or memory.source == "user_taught"
    if memory.tainted and not memory.verified:
        return "came from outside and nobody confirmed it"
    if not confirmed and (objection := find_foreign_words(memory)):
        return objection
    threshold = min(THRESHOLDS[level], CONFIRMED_CONFIDENCE) if confirmed else THRESHOLDS[level]
    if memory.confidence < (max(INTERRUPTING_CONFIDENCE, threshold) if moment.interrupts else threshold):
        return NOT_SURE
    if not confirmed and memory.status != "active":
        return "disputed"
    if not confirmed and max(memory.seen, memory.accesses) < UNCONFIRMED_TIMES:
        return "seen once"
    return ""


def find_foreign_words(memory: MemorySummary) -> str:
    """Why a memory that nobody confirmed is not ours to tell; nothing when its words are. Only what we composed of
    local facts and what a person said in a conversation are: what a tool printed or an agent worded waits for a
    person."""
    if memory.tainted:
        return "came from outside"
    if not memory.is_composed and not memory.is_spoken:
        return "a tool's or an agent's words, and nobody confirmed them"
    if memory.is_composed and not _holds_plain_names(memory.content):
        return "names in it read like words, and nobody confirmed it"
    if reads_like_orders(memory.content):
        return "reads like orders and nobody confirmed it"
    return ""


def _holds_plain_names(text: str) -> bool:
    from recollect.core.plain import holds_plain_names  # what people taught is not asked

    return holds_plain_names(text)


def reads_like_orders(text: str) -> bool:
    """Does it read like orders to a model?"""
    from recollect.privacy.fence import gives_orders  # what people taught themselves is not asked

    return gives_orders(text)


def select_injections(
    found: Iterable[MemorySummary], moment: Moment, *, level: str, given: Container[str]
) -> list[MemorySummary]:
    """Those of what was found, best first, that are told at a moment: as many as it has room for, each once."""
    chosen: list[MemorySummary] = []
    room = moment.max_chars
    for memory in found:
        cost = min(len(memory.content), moment.item_chars) + _ITEM_COST
        if cost > room or any(memory.id == other.id for other in chosen):
            continue
        if not find_objection(memory, moment, level=level, given=given):
            chosen.append(memory)
            room -= cost
            if len(chosen) >= moment.limit:
                break
    return chosen


def render_item(memory: MemorySummary, number: int, *, max_chars: int) -> str:
    """One memory as an item of a block."""
    about = f" about {', '.join(defuse(file) for file in memory.files[:3])}" if memory.files else ""
    when = time.strftime("%Y-%m-%d", time.gmtime(memory.at / 1000))
    doubt = ", disputed" if memory.status == "disputed" else ""
    head = f"{memory.kind}{about} ({when}, {memory.source}{doubt}, confidence {memory.confidence:.2f})"
    mark = citation(memory.id, memory.citation or excerpt(memory.content, 40))
    return item(number, head, memory.content, mark=mark, limit=max_chars)


def render_block(chosen: Sequence[MemorySummary], moment: Moment, *, nonce: str) -> str:
    """The block an agent is given; nothing when nothing was chosen."""
    items = [render_item(memory, number, max_chars=moment.item_chars) for number, memory in enumerate(chosen, 1)]
    return block(items, nonce=nonce)


# --- choosing ---------------------------------------------------------------------------------------------------------

_RESUMABLE = 0.4  # confidence below which a work state is history: ten days after it was written
_LOOKED_AT = 60  # memories that are looked through for those that hold everywhere
_PATTERNS = 40  # prefetch patterns that are looked through
_CAUSE_CHARS = 300  # at either end of a failing result that its cause is looked for with
_NAMED_PATHS = 8  # files a request names that are looked up
_RULES_NAMING = 12  # rules that name a word of a call that are looked through
_ABOUT_FILES = 24  # memories about the files a call touches that are looked through


class InjectionSelector:
    """Chooses for one session at one moment. `given` is what it was told before; nothing is told twice.

    `search` is the reader, which goes by words, or, where a warm process has one, the whole of recall.
    """

    def __init__(
        self, reader: HookReader, *, session: str, level: str, given: Container[str], search: Search | None = None
    ) -> None:
        self._reader = reader
        self._session = session
        self._level = level
        self._given = given
        self._search: Search = search or reader

    def at_start(self, task: str = "") -> list[MemorySummary]:
        """What holds for the whole session: where work stopped, what holds everywhere, what the task is about."""
        standing = self._reader.leading(STANDING_KINDS, limit=_LOOKED_AT)
        about = self._relevant(task, TELLABLE_KINDS, SYSTEM_PROMPT.limit) if task else []
        return [*self.work_state(), *self._select(chain(about, standing), SYSTEM_PROMPT)]

    def for_prompt(self, prompt: str, *, first: bool, files: Sequence[str] = ()) -> list[MemorySummary]:
        """What a request is about and what is known of files it names; the first one, also where work stopped."""
        moment = FIRST_MESSAGE if first else PROMPT
        resumed = self.work_state() if first else []
        paths = {*files, *find_paths(prompt)}
        named = self._reader.about(paths, TELLABLE_KINDS, limit=2 * moment.limit) if paths else []
        found = [*self._relevant(prompt, TELLABLE_KINDS, 2 * moment.limit), *named]
        return [*resumed, *self._select(found, moment)]

    def for_result(self, call: ToolCall, text: str, *, failed: bool) -> list[MemorySummary]:
        """What is known to go wrong with the files a call touched; after a failure, what is known of that failure."""
        found = self._warnings_about(call.paths)
        if failed:
            end = text[-_CAUSE_CHARS:] if len(text) > _CAUSE_CHARS else ""
            found = [*self._relevant(f"{call.subject} {text[:_CAUSE_CHARS]} {end}", WARNING_KINDS, 6), *found]
        return self._select(found, TOOL_RESULT)

    def for_step(self, calls: Sequence[ToolCall], *, step: int, since: int) -> list[MemorySummary]:
        """Between two steps, from the fifth on: traps of files just touched, what was just written down by this
        session or another, the answer to a search. The first of the three that has something."""
        if step < FIRST_STEP:
            return []
        files = {path for call in calls if call.action in ("read", "edit") for path in call.paths}
        if found := self._select(self._warnings_about(files), STEP):
            return found
        if found := self._select(self._reader.fresh(since, limit=8), STEP):
            return found
        for call in list(calls)[-3:]:
            if call.action == "search" and call.subject:
                hits = self._search.search(call.subject, TELLABLE_KINDS, limit=6)
                if found := self._select([hit for hit in hits if hit.relevance >= ANSWER_RELEVANCE], STEP):
                    return found[:1]
        return []

    def for_action(self, call: ToolCall) -> list[MemorySummary]:
        """The one warning before an edit or a command."""
        from recollect.agent.gate import GATED_ACTIONS, find_forbidding, find_matches  # the other moments do without

        if call.action not in GATED_ACTIONS:
            return []
        found = self._warnings_about(call.paths)
        if call.action == "run" and call.subject:
            found += self._search.search(call.subject, WARNING_KINDS, limit=8)
        matching = [memory for memory, _ in find_matches(call, found)]
        return self._select(chain(find_forbidding(call, self._rules_naming(call)), matching), BEFORE)

    def work_state(self) -> list[MemorySummary]:
        """Where an earlier session stopped, if that was lately and told in our words: an agent's own account of it is
        for those who ask."""
        newest = self._reader.of_kind("work_state", limit=4)
        for memory in sorted(newest, key=lambda one: not one.verified):
            if memory.id in self._given:
                return []  # a session is told one
            if memory.session == self._session:
                continue
            if memory.confidence < _RESUMABLE or (not memory.verified and find_foreign_words(memory)):
                continue
            return [memory]
        return []

    def prefetch(self, prompt: str, files: Sequence[str] = ()) -> list[MemorySummary]:
        """The patterns of files that go with what is asked: their module is named by the words or by a file."""
        said = prompt.casefold()
        patterns = self._reader.of_kind("prefetch_pattern", limit=_PATTERNS)
        fitting = [
            pattern
            for pattern in patterns
            if _is_named(pattern, said, files)
            and (pattern.verified or pattern.source == "user_taught" or not find_foreign_words(pattern))
        ]
        fitting.sort(key=lambda one: (-one.confidence, one.id))
        return [one for one in fitting if one.confidence >= _RESUMABLE]

    def _relevant(self, text: str, kinds: Iterable[str], limit: int) -> list[MemorySummary]:
        return [hit for hit in self._search.find_apt(text, kinds, limit=limit) if hit.relevance >= APT]

    def _warnings_about(self, paths: Iterable[str]) -> list[MemorySummary]:
        listed = list(paths)
        return self._reader.about(listed, WARNING_KINDS, limit=_ABOUT_FILES) if listed else []

    def _rules_naming(self, call: ToolCall) -> list[MemorySummary]:
        """Rules that name a word of what a call does: a single one is enough, because the gate reads the sentence."""
        from recollect.agent.gate import list_call_words

        found = (self._search.search(word, FORBIDDING_KINDS, limit=_RULES_NAMING) for word in list_call_words(call))
        return list({rule.id: rule for rules in found for rule in rules}.values())

    def _select(self, found: Iterable[MemorySummary], moment: Moment) -> list[MemorySummary]:
        return select_injections(found, moment, level=self._level, given=self._given)


def find_paths(prompt: str) -> list[str]:
    """The files of folders that a request names; a file at the top, such as a readme, is named for many reasons."""
    if "/" not in prompt:
        return []
    found = (name.split(":", 1)[0] for name in names(prompt[:MAX_CHARS]) if "/" in name and "://" not in name)
    return [path for path in dict.fromkeys(found) if "." in path.rpartition("/")[2]][:_NAMED_PATHS]


def _is_named(pattern: MemorySummary, said: str, files: Sequence[str]) -> bool:
    """Is the pattern's module spoken of? The last part of a path says it, if it is long enough to be a name."""
    module = str(pattern.payload.get("module_trigger") or "").strip("/")
    if not module:
        return False
    if any(file == module or file.startswith(module + "/") for file in files):
        return True
    last = module.rsplit("/", 1)[-1].rsplit(".", 1)[0].casefold()
    return module.casefold() in said or (len(last) >= 4 and last in said)
