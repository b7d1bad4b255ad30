"""Turns as the messages they were: what was said, every tool call with its result, and that an answer is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from recollect.core.chat import ChatMessage, Request
from recollect.core.turns import Call, Turn

_RESULT = 4_000  # characters of a tool's result that are replayed
_CUT = " […]"


def replay(turns: Iterable[Turn]) -> list[ChatMessage]:
    """The messages of some turns, in order. Roles alternate as servers want it, also where an answer is missing."""
    return [message for turn in turns for message in messages(turn)]


def messages(turn: Turn) -> list[ChatMessage]:
    """One turn: the user's message, each step with its calls, the answer."""
    said = [ChatMessage("user", turn.input)]
    for _, step in groupby(turn.calls, key=lambda call: call.step):
        said += _step(list(step))
    if turn.output or turn.state == "done":
        answer = turn.output or "(nothing said)"
        return [*said, ChatMessage("assistant", answer if turn.state == "done" else f"{answer} (broke off here)")]
    return [*said, ChatMessage("assistant", f"(no answer: {turn.note or 'it was interrupted'})")]


def last(found: Sequence[ChatMessage], limit: int) -> list[ChatMessage]:
    """The last messages, from a user's message on: a tool's result without its call means nothing to a server."""
    window = list(found[-limit:]) if limit > 0 else []
    while window and window[0].role != "user":
        window.pop(0)
    return window


def _step(calls: Sequence[Call]) -> list[ChatMessage]:
    requests = tuple(Request(call.id, call.name, call.arguments) for call in calls)
    asked = ChatMessage("assistant", calls[0].said, requests)
    return [asked, *(ChatMessage("tool", clip(call.result), answers=call.id) for call in calls)]


def clip(text: str, limit: int = _RESULT) -> str:
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT
