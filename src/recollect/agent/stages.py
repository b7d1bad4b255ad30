"""The stages of a build: what planner, coder and reviewer are given before they start, how many steps they may take,
what one stage hands to the next, and where work stopped.

Who may be told what is decided as at every other moment. Nothing here knows of sessions' timing, threads or hosts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from recollect.agent.context import AgentContext
from recollect.agent.injection import Moment, select_injections
from recollect.agent.methodology import Methodology
from recollect.core.doors import COMPOSED, OBSERVER, TAINTED
from recollect.core.drafts import Draft, Receipt
from recollect.core.payloads import WorkState
from recollect.core.plain import is_plain_name
from recollect.core.query import Filter
from recollect.core.records import Memory, WorkUnit
from recollect.core.scope import Scope, Source
from recollect.core.summary import MemorySummary
from recollect.core.text import counted, excerpt
from recollect.observer.events import ToolCall
from recollect.observer.tool_calls import command_name
from recollect.privacy.fence import own_words
from recollect.recall.reader import Reader
from recollect.store.hook_reader import HookReader

# --- what a stage is given -------------------------------------------------------------------------------------------

PLANNER_MOMENT = Moment("planner", budget=2.0, limit=30, max_chars=10_000, item_chars=900)
REVIEWER_MOMENT = Moment("qa", budget=2.0, limit=24, max_chars=10_000, item_chars=900)
CODER_MOMENT = Moment("coder", budget=2.0, limit=16, max_chars=8_000, item_chars=900)


@dataclass(frozen=True, slots=True)
class Section:
    """Some kinds, and how many of them. A stage asks for its sections in the order they matter."""

    kinds: frozenset[str]
    limit: int
    newest: bool = False  # by time instead of by how sure they are


PLANNER = (
    Section(frozenset({"task_calibration"}), 5),
    Section(frozenset({"dead_end"}), 8),
    Section(frozenset({"causal_dependency"}), 10),
    Section(frozenset({"work_unit_outcome"}), 5, newest=True),
    Section(frozenset({"workflow_recipe"}), 2),
)
REVIEWER = (
    Section(frozenset({"e2e_observation"}), 8),
    Section(frozenset({"error_pattern"}), 8),
    Section(frozenset({"requirement"}), 8),
)
CODER = (
    Section(frozenset({"gotcha"}), 6),
    Section(frozenset({"error_pattern"}), 4),
    Section(frozenset({"dead_end"}), 4),
    Section(frozenset({"pattern"}), 2),
)


def choose_for_stage(
    reader: HookReader,
    sections: Sequence[Section],
    moment: Moment,
    *,
    task: str,
    modules: Sequence[str],
    files: Sequence[str] = (),
    level: str,
    given: Container[str],
) -> list[MemorySummary]:
    """What a stage is told: section by section, of its modules and files first, then of what the task speaks of."""
    chosen: list[MemorySummary] = []
    for section in sections:
        found = [
            *(reader.about(files, section.kinds, limit=2 * section.limit) if files else []),
            *(reader.about(modules, section.kinds, limit=2 * section.limit, facet="module") if modules else []),
            *(reader.search(task, section.kinds, limit=2 * section.limit) if task else []),
        ]
        if section.newest:
            found.sort(key=lambda known: (-known.at, known.id))
        here = {known.id for known in chosen}
        found = [known for known in found if known.id not in here]
        chosen += select_injections(found, moment, level=level, given=given)[: section.limit]
    return select_injections(chosen, moment, level=level, given=given)


# --- how many steps it may take --------------------------------------------------------------------------------------

MAX_FACTOR = 2.0  # however wrong plans were, a limit at most doubles
MAX_STEPS = 500  # … and never passes this


def scale_step_limit(base: int, ratio: float | None) -> int:
    """A limit of `base` steps, scaled by how many more or fewer were needed than planned."""
    factor = 1.0 if ratio is None or not math.isfinite(ratio) or ratio <= 0 else min(ratio, MAX_FACTOR)
    return max(1, min(math.ceil(base * factor), MAX_STEPS))


def measure_step_ratio(calibrations: Sequence[MemorySummary], methodology: str) -> float | None:
    """Actual over planned steps, weighed by how many tasks each figure rests on; nothing when there is no figure.

    Those of the methodology in use count where there are any."""
    own = [known for known in calibrations if known.payload.get("methodology", "native") == methodology]
    figures = [(_number(known, "ratio"), _number(known, "samples")) for known in own or calibrations]
    sound = [(ratio, samples) for ratio, samples in figures if ratio > 0 and samples > 0]
    total = sum(samples for _, samples in sound)
    return sum(ratio * samples for ratio, samples in sound) / total if total else None


def _number(known: MemorySummary, name: str) -> float:
    value = known.payload.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


# --- what one stage hands to the next: planner to coder, coder to reviewer, reviewer to fixer ------------------------

MAX_RELAYED = 10  # memories of one hand-over
_MAX_EXAMINED = 60
_STATED_SOURCES = frozenset({Source.AGENT_EXPLICIT, Source.USER_TAUGHT, Source.QA_AUTO})  # what was said on purpose


def find_relayed(
    reader: Reader, methodology: Methodology, stage: str, *, sessions: Sequence[str], source: str | None = None
) -> list[Memory]:
    """What earlier sessions wrote down that a stage should know, the newest first, as far as its methodology lets that
    kind pass. Nothing is marked or moved."""
    relays = methodology.relays_to(stage, source)
    if not relays or not sessions:
        return []
    written = Filter(sessions=frozenset(sessions), sources=_STATED_SOURCES)
    page = reader.list(written, order="newest", limit=_MAX_EXAMINED)
    passing = [
        memory
        for memory in page.memories
        if memory.kind not in ("episode", "passage", "work_state")
        and (memory.verified or not memory.attributes.get("tainted"))
        and any(relay.passes(memory) for relay in relays)
    ]
    return passing[:MAX_RELAYED]


# --- where work stopped ----------------------------------------------------------------------------------------------

WORK_STATE_CONFIDENCE = 0.9  # the agent's own account, an hour old at most
_MAX_CHARS = 6_000  # of the last words that are looked at
_MAX_POINT_CHARS = 300
_MAX_POINTS = 12  # points of one sort

_DONE_BOX = re.compile(r"^\s{0,8}(?:[-*•]\s{0,4})?(?:\[[xX]\]|✅|☑|✔️?)\s{0,4}(\S.*)$")
_OPEN_BOX = re.compile(r"^\s{0,8}(?:[-*•]\s{0,4})?(?:\[ \]|⬜|☐|🔲|⏳)\s{0,4}(\S.*)$")
_HEAD = re.compile(
    r"^[\s#*_>-]{0,12}(done|completed|finished|in progress|working on|next(?: steps?)?|todo|to do|remaining|left to do"
    r"|decided|decisions?|key decisions)[*_ ]{0,4}(?::[*_ ]{0,4}(.*))?$",
    re.IGNORECASE,
)
_POINT = re.compile(r"^\s{0,8}(?:[-*•]|\d{1,2}[.)])\s{1,4}(\S.*)$")
_SORTS = {"done": "done", "completed": "done", "finished": "done", "in progress": "doing", "working on": "doing"}


def extract_work_state(last_words: str) -> WorkState | None:
    """The state of work as an agent's last words list it: ticked and open boxes, and the points under Done, In
    progress, Next and Decided. Nothing when they list none of it."""
    found: dict[str, list[str]] = {"done": [], "doing": [], "next": [], "decided": []}
    for sort, point in _points(own_words(last_words)[-_MAX_CHARS:]):
        if len(found[sort]) < _MAX_POINTS:
            found[sort].append(excerpt(point.strip("*_ "), _MAX_POINT_CHARS))
    if not any(found.values()):
        return None
    doing, ahead = found["doing"], found["next"]
    return WorkState(
        completed=tuple(found["done"]),
        in_progress="; ".join(doing) or (ahead[0] if ahead else ""),
        next_step="; ".join(ahead[:3]),
        key_decisions=tuple(found["decided"]),
    )


def _points(text: str) -> Iterator[tuple[str, str]]:
    under = ""
    for line in text.split("\n"):
        if box := _DONE_BOX.match(line):
            yield "done", box.group(1)
        elif box := _OPEN_BOX.match(line):
            yield "next", box.group(1)
        elif head := _HEAD.match(line):
            under = _section_of(head.group(1).lower())
            if head.group(2):
                yield under, head.group(2)
        elif under and (point := _POINT.match(line)):
            yield under, point.group(1)
        elif line.strip() and not line.startswith((" ", "\t")):
            under = ""


def _section_of(head: str) -> str:
    if head in _SORTS:
        return _SORTS[head]
    return "decided" if head.startswith(("decid", "key", "decision")) else "next"


def keep_work_state(
    context: AgentContext,
    state: WorkState,
    *,
    session: str,
    unit: WorkUnit | None = None,
    stated: bool = False,
    tainted: str = "",
) -> Receipt:
    """Remember where a session stopped, in its agent's words: for those who ask, until a person confirms it. What was
    drawn from its last words is marked for review, and tainted where part of it came from outside."""
    text = context.methodology.work_state_text(state)
    return context.writer.through(OBSERVER).remember(
        [
            Draft(
                text,
                kind="work_state",
                confidence=WORK_STATE_CONFIDENCE,
                source=Source.AGENT_EXPLICIT if stated else Source.OBSERVER_INFERRED,
                status="active",
                needs_review=not stated,
                scope=Scope.WORK_UNIT if unit else Scope.SESSION,
                session=session,
                work_unit=unit,
                payload=state,
                attributes={TAINTED: True, "outside": tainted} if tainted else {},
                skip_conflict_check=True,
            )
        ]
    )[0]


OUTCOME_CONFIDENCE = 0.8  # that it ended so is certain; that its host judged rightly is not
_NAMED_FILES = 4  # of a session that stopped


def keep_outcome(
    context: AgentContext, calls: Sequence[ToolCall], outcome: str, *, session: str, unit: WorkUnit, steps: int
) -> Receipt | None:
    """Remember how a work unit ended: how, in how many steps, at which files. All of it is ours to tell."""
    if not is_plain_name(unit.label):
        return None
    edited = dict.fromkeys(path for call in calls if call.action == "edit" for path in call.paths)
    files = [path for path in reversed(edited) if is_plain_name(path)][:_NAMED_FILES]
    where = f", at work on {', '.join(f'`{path}`' for path in files)}" if files else ""
    return context.writer.through(OBSERVER).remember(
        [
            Draft(
                f"Work unit `{unit.label}` ended in {outcome} after {counted(steps, 'step')}{where}.",
                kind="work_unit_outcome",
                confidence=OUTCOME_CONFIDENCE,
                source=Source.OBSERVER_INFERRED,
                status="active",
                scope=Scope.WORK_UNIT,
                files=tuple(files),
                session=session,
                work_unit=unit,
                attributes={COMPOSED: True, "outcome": outcome},
                skip_conflict_check=True,
            )
        ]
    )[0]


def keep_stopping_point(
    context: AgentContext, calls: Sequence[ToolCall], failed: Container[str], *, session: str, unit: WorkUnit | None
) -> Receipt | None:
    """Remember at which files a session stopped and how its last command went, in our words: the next one is told."""
    edited = dict.fromkeys(path for call in calls if call.action == "edit" for path in call.paths)
    files = [path for path in reversed(edited) if is_plain_name(path)][:_NAMED_FILES]
    if not files:
        return None
    ran = next((call for call in reversed(calls) if call.action == "run"), None)
    command = "" if ran is None else command_name(ran.subject)
    named = ", ".join(f"`{path}`" for path in files)
    ending = ""
    if ran is not None and command and is_plain_name(command):
        ending = f" The last command was `{command}`{', and it failed' if ran.call_id in failed else ''}."
    return context.writer.through(OBSERVER).remember(
        [
            Draft(
                f"An earlier session stopped at work on {named}.{ending}",
                kind="work_state",
                confidence=WORK_STATE_CONFIDENCE,
                source=Source.OBSERVER_INFERRED,
                status="active",
                scope=Scope.WORK_UNIT if unit else Scope.SESSION,
                files=tuple(files),
                session=session,
                work_unit=unit,
                attributes={COMPOSED: True},
                skip_conflict_check=True,
            )
        ]
    )[0]
