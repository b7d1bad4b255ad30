"""A session written down as short calls: what the tests of the observer are told in."""

from __future__ import annotations

from collections.abc import Callable

from recollect.observer.collector import SignalCollector
from recollect.observer.events import Event, Reasoning, ToolResult, UserText
from recollect.observer.promotion import Learned
from recollect.observer.signals.base import Signal
from recollect.observer.tool_calls import read_tool_call

Learn = Callable[..., Learned]


class Session:
    """Builds events one step after the other, ten seconds apart. `s3` begins on another day than `s2`."""

    def __init__(self, name: str = "s") -> None:
        self.name = name
        self.events: list[Event] = []
        self.step = 0
        self.at = 1_000.0 + 86_400.0 * int("".join(filter(str.isdecimal, name))[:4] or 0)

    def call(
        self,
        tool: str,
        answer: str = "ok",
        *,
        error: bool = False,
        rejected: bool = False,
        size: int | None = None,
        agent: str = "",
        wait: float = 10.0,
        **arguments: object,
    ) -> Session:
        self.step += 1
        self.at += wait
        key = f"c{self.step}"
        self.events.append(
            read_tool_call(
                tool,
                arguments,
                "/p",
                call_id=key,
                id=f"{key}.call",
                session=self.name,
                step=self.step,
                at=self.at,
                agent=agent,
            )
        )
        self.events.append(
            ToolResult(
                id=f"{key}.result",
                session=self.name,
                step=self.step,
                at=self.at,
                call_id=key,
                error=error,
                rejected=rejected,
                text=answer,
                size=len(answer) if size is None else size,
            )
        )
        return self

    def read(self, path: str, answer: str = "ok", **more: object) -> Session:
        return self.call("Read", answer, file_path=path, **more)  # type: ignore[arg-type]

    def edit(self, path: str, answer: str = "ok", **more: object) -> Session:
        return self.call("Edit", answer, file_path=path, **more)  # type: ignore[arg-type]

    def grep(self, pattern: str, *, wait: float = 10.0) -> Session:
        return self.call("Grep", pattern=pattern, wait=wait)

    def run(self, command: str, answer: str = "ok", *, error: bool = False) -> Session:
        return self.call("Bash", answer, error=error, command=command)

    def says(self, text: str) -> Session:
        self.events.append(
            Reasoning(id=f"r{len(self.events)}", session=self.name, step=self.step, at=self.at, text=text)
        )
        return self

    def user(self, text: str) -> Session:
        self.events.append(
            UserText(id=f"u{len(self.events)}", session=self.name, step=self.step, at=self.at, text=text)
        )
        return self

    def collector(self) -> SignalCollector:
        collector = SignalCollector(self.name)
        for event in self.events:
            collector.feed(event)
        assert not collector.counts.troubles
        return collector

    def found(self, name: str) -> list[Signal]:
        return [signal for signal in self.collector().signals() if signal.name == name]
