"""A chat server on loopback that speaks OpenAI's protocol, as told."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from embed.embed_tools import Reply

Said = str | Reply | Exception


def chat(*said: Said) -> Callable[[str, Any, Mapping[str, str]], Reply]:
    """Answers each request with the next of some texts, and with the last one for ever after."""
    waiting = list(said)

    def answer(path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        now = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return now if isinstance(now, Reply) else completion(str(now))

    return answer


def completion(text: str, *, usage: bool = True) -> Reply:
    value: dict[str, Any] = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    if usage:
        value["usage"] = {"prompt_tokens": 21, "completion_tokens": 9}
    return Reply(json.dumps(value).encode())
