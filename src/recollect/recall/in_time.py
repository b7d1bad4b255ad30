"""Asking a stranger's code for something while somebody waits: an answer, or in words why there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Result = TypeVar("Result")


class Asked(Generic[Result]):
    """What came of it. `trouble` is empty exactly when there is an `answer`."""

    def __init__(self, answer: Result | None, trouble: str = "") -> None:
        self.answer, self.trouble = answer, trouble


def tried(act: Callable[[], Result]) -> Asked[Result]:
    try:
        return Asked(act())
    except Exception as error:  # a stranger's code: whatever it raises, recall goes on without
        return Asked(None, str(error) or type(error).__name__)


def in_time(act: Callable[[], Result], *, deadline: float, name: str) -> Asked[Result]:
    """The result of `act` within `deadline` seconds. A late one goes on in the background and is ignored,
    so it must not touch the store, which may be closed by then."""
    answers: list[Asked[Result]] = []
    thread = threading.Thread(target=lambda: answers.append(tried(act)), name=name, daemon=True)
    thread.start()
    thread.join(deadline)
    return answers[0] if answers else Asked(None, f"too late after {deadline:g} s, ignored")
