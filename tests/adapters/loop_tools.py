"""What the tests of every framework's loop share: a stand-in for an agent's session that speaks at every moment."""

from __future__ import annotations

from typing import Any

FACT = "The staging database resets every night."
QUESTION = "Why is my staging data gone?"


class Watched:
    """Says something at every moment and keeps what it saw."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.ended: list[str] = []
        self.notes: tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        def moment(*given: Any, **_: Any) -> str:
            if name == "observe":
                self.seen.append(given[0])
            if name == "end":
                self.ended.append(str(given[0]))
            return f"<{name}>" if name in ("before", "tool_result", "step") else ""

        return moment

    @property
    def names(self) -> list[str]:
        return [type(one).__name__ for one in self.seen]
