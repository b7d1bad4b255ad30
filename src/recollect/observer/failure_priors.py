"""How often calls fail in any project: shares pooled over twelve of them, by the state a session is in.

What a project's own sessions show is pulled towards these, so that a few calls say something. They decide how likely a
failure is, never that there is one to warn of: that takes a trouble that came back in the project itself.
"""

from __future__ import annotations

from collections.abc import Mapping

Table = Mapping[tuple[str, str, str], float]


class Priors:
    """Shares of failing calls by tool, sort of feature and state; a tool of no name stands for every tool."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._states: dict[str, list[str]] = {}
        for tool, sort, state in table:
            if not tool:
                self._states.setdefault(sort, []).append(state)

    def share(self, tool: str, sort: str, state: str) -> float:
        """Of the calls of a tool in a state; of any tool, or in any state, where that is not known."""
        keys = ((tool, sort, state), ("", sort, state), ("", sort, ""), ("", "", ""))
        return next((self.table[key] for key in keys if key in self.table), 0.0)

    def states(self, sort: str) -> list[str]:
        """The states that a sort of feature is known in."""
        return self._states.get(sort, [])


# Counted by `benchmarks/gate.py --shares`; a tool has a row of its own where it differs by more than a factor of two.
PRIORS = Priors({
    ("", "", ""): 0.038,  # 1409 of 37219
    ("", "command", ""): 0.059,  # 1285 of 21917
    ("", "command", "hidden edited again"): 0.019,  # 35 of 1839
    ("", "command", "hidden edited failed"): 0.161,  # 8 of 46
    ("", "command", "hidden first"): 0.044,  # 82 of 1871
    ("", "command", "hidden same again"): 0.031,  # 82 of 2632
    ("", "command", "hidden same failed"): 0.099,  # 16 of 158
    ("", "command", "told edited again"): 0.046,  # 196 of 4247
    ("", "command", "told edited failed"): 0.296,  # 94 of 313
    ("", "command", "told first"): 0.097,  # 477 of 4930
    ("", "command", "told same again"): 0.035,  # 190 of 5453
    ("", "command", "told same failed"): 0.243,  # 105 of 428
    ("", "state", "absent"): 0.843,  # 58 of 64
    ("", "state", "known"): 0.006,  # 4 of 755
    ("", "state", "new"): 0.061,  # 33 of 535
    ("", "state", "read"): 0.019,  # 97 of 5079
    ("", "state", "seen"): 0.003,  # 19 of 5577
    ("", "state", "unread"): 0.144,  # 36 of 246
    ("", "state", "unread before"): 0.008,  # 3 of 407
    ("", "subject", ""): 0.06,  # 16 of 266
    ("Edit", "state", "unread"): 0.488,  # 32 of 61
    ("Edit", "state", "unread before"): 0.033,  # 2 of 61
    ("Grep", "state", "new"): 0.133,  # 11 of 79
    ("Write", "state", "unread"): 0.021,  # 2 of 97
    ("Write", "state", "unread before"): 0.001,  # 0 of 140
    ("apply_patch", "state", "unread"): 0.02,  # 1 of 54
    ("apply_patch", "state", "unread before"): 0.001,  # 0 of 151
    ("edit", "state", "read"): 0.038,  # 7 of 186
    ("grep", "state", "new"): 0.004,  # 0 of 40
    ("grep", "state", "seen"): 0.001,  # 0 of 167
    ("read", "state", "known"): 0.002,  # 0 of 98
    ("read", "state", "new"): 0.028,  # 2 of 72
    ("read", "state", "seen"): 0.001,  # 0 of 521
    # What only a look at the disk tells, so that no transcript counts it: as bad as text that is absent.
    ("", "state", "several"): 0.843,
    ("Edit", "state", "missing"): 0.843,
    ("Read", "state", "missing"): 0.843,
})  # fmt: skip
