"""Chat completions with tools, as OpenAI's protocol writes them: messages out, answers whole or in pieces in. Pure.

Servers take liberties: indexes are missing, an answer comes whole where a stream was asked for, arguments come as an
object instead of a text. All of that is understood; an answer without a message is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from recollect.core.chat import ChatMessage, Request, ToolSpec
from recollect.core.errors import ModelDown, ModelWrong
from recollect.models.port import Heard, Reply, Usage, estimate

_MOST_REQUESTS = 32  # tools asked for in one answer; a model that wants more is running wild


def message_json(message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.answers, "content": message.content}
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.requests:
        plain["tool_calls"] = [
            {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": one.arguments}}
            for one in message.requests
        ]
    return plain


def tool_json(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def reply(answer: Any, sent: Sequence[ChatMessage], model: str) -> Reply:
    """The message of a whole answer."""
    try:
        message = answer["choices"][0]["message"]
        text = message.get("content")
        requests = _requests(message.get("tool_calls") or [])
    except (KeyError, TypeError, IndexError, AttributeError):
        raise ModelWrong(model, "its answer has no `choices` with a `message`") from None
    if not isinstance(text, str) and not requests:
        raise ModelWrong(model, "its message has neither text nor tool calls")
    said = text if isinstance(text, str) else ""
    return Reply(said, requests, _usage(answer.get("usage"), sent, said, requests))


@dataclass(slots=True)
class _Piecing:
    """An answer that is put together while it comes."""

    heard: Heard
    text: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    usage: Any = None
    begun: bool = False

    def take(self, piece: Any) -> None:
        if isinstance(piece, dict) and piece.get("usage"):
            self.usage = piece["usage"]
        choices = piece.get("choices") if isinstance(piece, dict) else None
        choice = choices[0] if isinstance(choices, list) and choices else {}
        delta = choice.get("delta") or choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(delta, dict):
            return
        self.begun = True
        if isinstance(said := delta.get("content"), str) and said:
            self.text.append(said)
            self.heard(said)
        for place, call in enumerate(delta.get("tool_calls") or ()):
            self._call(place, call)

    def _call(self, place: int, call: Any) -> None:
        if not isinstance(call, dict):
            return
        index = call.get("index")
        known = self.calls.setdefault(index if isinstance(index, int) else place, {"id": "", "name": "", "text": ""})
        function = call.get("function") if isinstance(call.get("function"), dict) else {}
        known["id"] = known["id"] or str(call.get("id") or "")
        known["name"] = known["name"] or str((function or {}).get("name") or "")
        known["text"] += _arguments((function or {}).get("arguments"))


def streamed(lines: Iterable[str], sent: Sequence[ChatMessage], model: str, heard: Heard) -> Reply:
    """The message of an answer that comes as server-sent events, or whole from a server that does not stream."""
    piecing, plain, ended = _Piecing(heard), [], False
    for line in lines:
        if line.startswith("data:"):
            data = line[5:].strip()
            ended = data == "[DONE]"
            if ended:
                break
            piecing.take(_event(data, model))
        elif line and not line.startswith((":", "event:", "id:", "retry:")):
            plain.append(line)
    if not piecing.begun and plain:
        whole = reply(_event("\n".join(plain), model), sent, model)
        if whole.text:
            heard(whole.text)
        return whole
    if not ended and not piecing.usage:
        raise ModelDown(model, "its answer broke off")
    requests = _requests([piecing.calls[place] for place in sorted(piecing.calls)])
    text = "".join(piecing.text)
    if not text and not requests:
        raise ModelWrong(model, "its message has neither text nor tool calls")
    return Reply(text, requests, _usage(piecing.usage, sent, text, requests))


def _event(data: str, model: str) -> Any:
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise ModelWrong(model, f"a piece of its answer is not JSON: {data[:60]!r}") from None
    if isinstance(value, dict) and value.get("error"):
        trouble = value["error"]
        said = trouble.get("message") if isinstance(trouble, dict) else trouble
        raise ModelDown(model, str(said)[:300])
    return value


def _requests(calls: Sequence[Any]) -> tuple[Request, ...]:
    found = []
    for place, call in enumerate(calls[:_MOST_REQUESTS]):
        function = call.get("function", call)
        arguments = function["arguments"] if "arguments" in function else function.get("text", "")
        if name := str(function.get("name") or ""):
            found.append(Request(str(call.get("id") or f"call_{place}"), name, _arguments(arguments)))
    return tuple(found)


def _arguments(given: Any) -> str:
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _usage(told: Any, sent: Sequence[ChatMessage], said: str, requests: Sequence[Request]) -> Usage:
    try:
        return Usage(int(told["prompt_tokens"]), int(told["completion_tokens"]))
    except (KeyError, TypeError, ValueError):
        asked = sum(estimate(f"{one.content}{one.requests or ''}") for one in sent)
        return Usage(asked, estimate(said + "".join(one.arguments for one in requests)), exact=False)
