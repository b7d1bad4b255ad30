"""Test-driven development: red (say what should hold), green (make it hold), refactor (make it good)."""

from __future__ import annotations

from recollect.agent.methodology import Methodology, Relay
from recollect.core.scope import Phase


def tdd() -> Methodology:
    return Methodology(
        name="tdd",
        title="Test-driven development",
        phases={
            "red": Phase.DEFINE,
            "write_test": Phase.DEFINE,
            "green": Phase.IMPLEMENT,
            "make_pass": Phase.IMPLEMENT,
            "run_tests": Phase.VALIDATE,
            "refactor": Phase.REFINE,
            "spike": Phase.EXPLORE,
            "retro": Phase.REFLECT,
        },
        levels=("feature", "cycle"),
        relays=(
            Relay("red", "green", frozenset({"requirement", "gotcha", "dead_end"})),
            Relay("green", "refactor", frozenset({"pattern", "gotcha", "causal_dependency"})),
            Relay("refactor", "red"),
        ),
    )
