"""The governor: every call of a language model passes here and is counted, or it is not made.

Tokens are set aside before a call and settled after it, in the store, so that the caps hold among processes and a call
that dies halfway is charged what it was allowed. A model that keeps failing is left alone for a growing while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from recollect.core.conversations import ChatMessage, ToolSpec
from recollect.core.errors import BudgetSpent, ModelCannotChat, ModelDown, ModelWrong, RecollectError
from recollect.core.ports import Clock
from recollect.models.port import ChatModel, Heard, LanguageModel, Object, Reply, Text, estimate

PER_DAY = 200_000  # tokens; a night's consolidation of a busy day with a small model
PER_SESSION = 50_000  # tokens drawn on behalf of one session
TRIP_AFTER = 3  # failures in a row that open the breaker
FIRST_REST = timedelta(minutes=1)  # it stays open; doubles with each further failure
LONGEST_REST = timedelta(hours=1)
_LOOK_BACK = 20  # calls

Answer = TypeVar("Answer", Text, Object, Reply)


class SpendBook(Protocol):
    """Where calls are written down; the store has one."""

    def reserve(
        self,
        tokens: int,
        *,
        model: str,
        feature: str,
        session: str | None,
        at: datetime,
        day: tuple[datetime, datetime],
        per_day: int,
        per_session: int,
    ) -> int | None: ...

    def settle(self, number: int, *, used: int, outcome: str, note: str = "") -> None: ...

    def failures(self, model: str, *, limit: int) -> tuple[int, datetime | None]: ...


@dataclass(frozen=True, slots=True)
class Caps:
    per_day: int = PER_DAY
    per_session: int = PER_SESSION


@dataclass(frozen=True, slots=True)
class Governed:
    """A language model on a budget, for one feature and, where there is one, one session."""

    inner: LanguageModel
    book: SpendBook
    caps: Caps
    clock: Clock
    feature: str
    session: str | None = None
    permit: Callable[[], object] = lambda: None  # raises when nothing may leave the store

    @property
    def model(self) -> str:
        return self.inner.model

    def text(self, prompt: str, *, system: str = "", max_tokens: int) -> Text:
        return self._counted(
            prompt + system, max_tokens, lambda: self.inner.text(prompt, system=system, max_tokens=max_tokens)
        )

    def object(self, prompt: str, *, system: str = "", schema: Mapping[str, Any], max_tokens: int) -> Object:
        def ask() -> Object:
            return self.inner.object(prompt, system=system, schema=schema, max_tokens=max_tokens)

        return self._counted(
            f"{prompt}{system}{schema}", max_tokens, ask, rounds=2
        )  # an answer that misfits is asked again

    def chat(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        max_tokens: int,
        heard: Heard | None = None,
    ) -> Reply:
        inner = self.inner
        if not isinstance(inner, ChatModel):
            raise ModelCannotChat(self.model)
        sent = "".join(f"{message.content}{message.requests or ''}" for message in messages) + "".join(map(str, tools))
        return self._counted(
            sent, max_tokens, lambda: inner.chat(messages, tools=tools, max_tokens=max_tokens, heard=heard)
        )

    def _counted(self, sent: str, max_tokens: int, ask: Callable[[], Answer], *, rounds: int = 1) -> Answer:
        self.permit()
        now = self.clock()
        self._rested(now)
        needed = (estimate(sent) + max_tokens) * rounds
        number = self.book.reserve(
            needed,
            model=self.model,
            feature=self.feature,
            session=self.session,
            at=now,
            day=day_of(now),
            per_day=self.caps.per_day,
            per_session=self.caps.per_session,
        )
        if number is None:
            raise BudgetSpent(
                feature=self.feature, tokens=needed, per_day=self.caps.per_day, per_session=self.caps.per_session
            )
        try:
            answer = ask()
        except ModelWrong as error:
            self.book.settle(number, used=needed, outcome="wrong", note=error.code)
            raise
        except RecollectError as error:
            self.book.settle(number, used=estimate(sent), outcome="down", note=error.code)
            raise
        self.book.settle(number, used=answer.usage.total, outcome="ok")
        return answer

    def _rested(self, now: datetime) -> None:
        """Refuse while the breaker is open. One call after the rest decides whether it closes."""
        failed, last = self.book.failures(self.model, limit=_LOOK_BACK)
        if failed < TRIP_AFTER or last is None or last > now:
            return
        rest = min(FIRST_REST * 2 ** (failed - TRIP_AFTER), LONGEST_REST)
        if now - last < rest:
            until = (last + rest).isoformat(timespec="minutes")
            raise ModelDown(self.model, f"it failed {failed} times in a row and is left alone until {until}")


def day_of(at: datetime) -> tuple[datetime, datetime]:
    """The day a moment falls in, by its own clock: caps are renewed at midnight."""
    start = at.replace(hour=0, minute=0, second=0, microsecond=0)
    return start, start + timedelta(days=1)
