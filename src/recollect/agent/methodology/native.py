"""The native methodology: a spec is planned, split into subtasks, coded, reviewed and fixed."""

from __future__ import annotations

from recollect.agent.methodology import Methodology, Relay
from recollect.core.scope import Phase


def native() -> Methodology:
    return Methodology(
        name="native",
        title="Specs and subtasks",
        phases={
            "planning": Phase.DEFINE,
            "spec": Phase.DEFINE,
            "coding": Phase.IMPLEMENT,
            "qa_review": Phase.VALIDATE,
            "qa_fix": Phase.REFINE,
            "debugging": Phase.REFINE,
            "insights": Phase.EXPLORE,
        },
        levels=("spec", "subtask"),
        relays=(
            Relay("planner", "coder"),
            Relay("coder", "qa_reviewer"),
            Relay("qa_reviewer", "qa_fixer", frozenset({"error_pattern", "requirement"})),
        ),
    )
