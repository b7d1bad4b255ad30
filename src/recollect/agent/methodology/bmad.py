"""BMAD: analyst, product manager, architect, scrum master, developer and QA work through epics and stories."""

from __future__ import annotations

from recollect.agent.methodology import Methodology, Relay
from recollect.core.scope import Phase


def bmad() -> Methodology:
    return Methodology(
        name="bmad",
        title="BMAD (epics and stories)",
        phases={
            "analysis": Phase.EXPLORE,
            "brief": Phase.EXPLORE,
            "prd": Phase.DEFINE,
            "architecture": Phase.DEFINE,
            "epic": Phase.DEFINE,
            "story": Phase.DEFINE,
            "development": Phase.IMPLEMENT,
            "dev": Phase.IMPLEMENT,
            "review": Phase.VALIDATE,
            "qa": Phase.VALIDATE,
            "acceptance": Phase.VALIDATE,
            "course_correction": Phase.REFINE,
            "fix": Phase.REFINE,
            "retrospective": Phase.REFLECT,
        },
        levels=("epic", "story", "task"),
        relays=(
            Relay("analyst", "pm"),
            Relay("pm", "architect", frozenset({"requirement", "decision", "preference"})),
            Relay("architect", "sm", frozenset({"decision", "pattern", "requirement"})),
            Relay("sm", "dev"),
            Relay("dev", "qa"),
            Relay("qa", "dev", frozenset({"error_pattern", "requirement", "e2e_observation"})),
        ),
    )
