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
    ("", "command", ""): 0.058,  # 1323 of 22781
    ("", "command", "hidden edited again"): 0.02,  # 38 of 1881
    ("", "command", "hidden edited failed"): 0.126,  # 7 of 52
    ("", "command", "hidden first"): 0.048,  # 102 of 2132
    ("", "command", "hidden same again"): 0.03,  # 97 of 3255
    ("", "command", "hidden same failed"): 0.129,  # 24 of 183
    ("", "command", "told edited again"): 0.045,  # 188 of 4155
    ("", "command", "told edited failed"): 0.297,  # 92 of 305
    ("", "command", "told first"): 0.098,  # 483 of 4935
    ("", "command", "told same again"): 0.034,  # 187 of 5458
    ("", "command", "told same failed"): 0.245,  # 105 of 425
    ("", "state", "absent"): 0.843,  # 58 of 64
    ("", "state", "known"): 0.006,  # 4 of 739
    ("", "state", "new"): 0.046,  # 33 of 718
    ("", "state", "read"): 0.018,  # 87 of 4977
    ("", "state", "seen"): 0.004,  # 19 of 5410
    ("", "state", "unread"): 0.063,  # 36 of 571
    ("", "state", "unread before"): 0.034,  # 3 of 88
    ("", "subject", ""): 0.06,  # 16 of 266
    ("Edit", "state", "unread"): 0.488,  # 32 of 61
    ("Grep", "state", "new"): 0.133,  # 11 of 79
    ("Grep", "state", "seen"): 0.002,  # 2 of 965
    ("Write", "state", "unread"): 0.009,  # 2 of 228
    ("apply_patch", "state", "read"): 0.001,  # 0 of 428
    ("apply_patch", "state", "unread"): 0.001,  # 0 of 197
    ("grep", "state", "new"): 0.004,  # 0 of 45
    ("grep", "state", "seen"): 0.001,  # 0 of 160
    ("read", "state", "known"): 0.002,  # 0 of 81
    ("read", "state", "new"): 0.009,  # 2 of 248
    ("read", "state", "seen"): 0.001,  # 0 of 362
    ("write", "state", "unread"): 0.003,  # 0 of 53
    # What only a look at the disk tells, so that no transcript counts it: as bad as text that is absent.
    ("", "state", "several"): 0.843,
    ("Edit", "state", "missing"): 0.843,
    ("Read", "state", "missing"): 0.843,
})  # fmt: skip
