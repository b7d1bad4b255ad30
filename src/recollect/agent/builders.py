"""What a stage of a build is given before it starts: plans learn from what plans missed, reviews from what broke.

Each builder asks for a few kinds in the order they matter and within a count each; who may be told is decided as at
every other moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.agent.moments import Moment, told
from recollect.core.summary import MemorySummary
from recollect.store.sqlite.hook_reader import HookReader

PLANNING = Moment("planner", budget=2.0, most=30, letters=10_000, text=900)
REVIEWING = Moment("qa", budget=2.0, most=24, letters=10_000, text=900)
CODING = Moment("coder", budget=2.0, most=16, letters=8_000, text=900)


@dataclass(frozen=True, slots=True)
class Section:
    """Some kinds, and how many of them."""

    kinds: frozenset[str]
    most: int
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


def gathered(
    reader: HookReader,
    sections: Sequence[Section],
    moment: Moment,
    *,
    task: str,
    modules: Sequence[str],
    files: Sequence[str] = (),
    level: str,
    given: frozenset[str],
) -> list[MemorySummary]:
    """What a stage is told: section by section, of its modules and files first, then of what the task speaks of."""
    chosen: list[MemorySummary] = []
    for section in sections:
        found = [
            *(reader.about(files, section.kinds, limit=2 * section.most) if files else []),
            *(reader.about(modules, section.kinds, limit=2 * section.most, facet="module") if modules else []),
            *(reader.search(task, section.kinds, limit=2 * section.most) if task else []),
        ]
        if section.newest:
            found.sort(key=lambda known: (-known.at, known.id))
        here = {known.id for known in chosen}
        chosen += told(found, moment, level=level, given=given | here)[: section.most]
    return told(chosen, moment, level=level, given=given)
