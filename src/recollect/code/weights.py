"""What an edge of each type passes on when something breaks at its end, from 0 to 1; and which layer it belongs to."""

from __future__ import annotations

from collections.abc import Mapping

WEIGHTS: Mapping[str, float] = {
    "imports": 0.9,
    "calls": 0.8,
    "is_entrypoint_for": 0.8,
    "implements": 0.7,
    "extends": 0.7,
    "exports": 0.6,
    "uses": 0.6,  # hands it on, or names it as a type
    "flows_to": 0.6,
    "depends_logically": 0.5,
    "handles_errors_from": 0.4,
    "applies_pattern": 0.3,
}

STRUCTURAL = frozenset({"imports", "exports", "calls", "uses", "extends", "implements"})
SEMANTIC = frozenset({"is_entrypoint_for", "depends_logically", "handles_errors_from", "applies_pattern", "flows_to"})
