"""Chat completions as OpenAI speaks them, and with it Ollama, vLLM, LM Studio and llama.cpp: plain HTTP, no library.

Servers differ in how they take a schema. It is asked for strictly, then loosely, then in words; whatever comes back is
checked here. An answer that does not fit is shown to the model once with what is wrong about it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from recollect.core.conversations import ChatMessage, Request, ToolSpec
from recollect.core.errors import ModelDown, ModelWrong
from recollect.models.port import Heard, Object, Reply, Text, Usage, estimate
from recollect.models.schema import find_misfit, parse_json
from recollect.net.http import Caller, RetryPolicy

OPENAI = "https://api.openai.com/v1"
THINKING = 300.0  # seconds; a small machine reads a page of episodes slowly, and nobody waits for the answer


def answer_times(seconds: float = THINKING) -> RetryPolicy:
    """How long one answer may take. A busy server is asked again; after a time-out there is room for half a try."""
    return RetryPolicy(tries=3, timeout=seconds, deadline=1.5 * seconds, first_pause=1.0)


_REFUSES_SCHEMA = ("status 400", "status 422")  # what servers say to a way of asking they do not know


class OpenAIModel:
    """One model of one server."""

    def __init__(
        self,
        name: str,
        *,
        url: str = OPENAI,
        key: str = "",
        retry: RetryPolicy | None = None,
        caller: Caller | None = None,
    ) -> None:
        at = url.rstrip("/")
        where = "openai" if at == OPENAI else urlsplit(at).netloc.rpartition("@")[2]
        self.model = f"{where}:{name}"
        self._name, self._url, self._retry = name, f"{at}/chat/completions", retry or answer_times()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._caller = caller or Caller(self.model, headers, ModelDown, ModelWrong)
        self._limit = "max_tokens"  # newer models of OpenAI know only the other name
        self._streams_usage = True  # until the server refuses to tell the cost of a stream
        self._ways = ["schema", "object", "words"]  # of asking for JSON, until the server refuses one

    def text(self, prompt: str, *, system: str = "", max_tokens: int) -> Text:
        return self._ask(_messages(system, prompt), max_tokens, {})

    def object(self, prompt: str, *, system: str = "", schema: Mapping[str, Any], max_tokens: int) -> Object:
        asked = _messages(f"{system}\n\nAnswer with one JSON object that fits: {json.dumps(schema)}", prompt)
        first = self._structured(asked, schema, max_tokens)
        value, trouble = _fitting(first.text, schema)
        if not trouble:
            return Object(value, first.usage)
        again = [
            *asked,
            {"role": "assistant", "content": first.text[:2000]},
            {"role": "user", "content": f"That does not fit: {trouble}. Answer with the JSON object only."},
        ]
        second = self._structured(again, schema, max_tokens)
        used = Usage(first.usage.input + second.usage.input, first.usage.output + second.usage.output)
        value, trouble = _fitting(second.text, schema)
        if trouble:
            raise ModelWrong(self.model, trouble)
        return Object(value, used)

    def chat(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        max_tokens: int,
        heard: Heard | None = None,
    ) -> Reply:

        body: dict[str, Any] = {"model": self._name, "messages": [message_json(message) for message in messages]}
        if tools:
            body["tools"] = [tool_json(tool) for tool in tools]
        while True:
            try:
                asked = {**body, self._limit: max_tokens}
                if heard is None:
                    return read_reply(self._caller.post(self._url, asked, self._retry), messages, self.model)
                asked |= {"stream": True}
                asked |= {"stream_options": {"include_usage": True}} if self._streams_usage else {}
                return read_stream(self._caller.stream(self._url, asked, self._retry), messages, self.model, heard)
            except ModelDown as refused:
                if not self._ask_otherwise(refused):
                    raise

    def _ask_otherwise(self, refused: ModelDown) -> bool:
        """Is there another way to ask for the same, after a server refused this one?"""
        if not refused.why.startswith(_REFUSES_SCHEMA):
            return False
        if "max_completion_tokens" in refused.why and self._limit == "max_tokens":
            self._limit = "max_completion_tokens"
            return True
        if "stream_options" in refused.why and self._streams_usage:
            self._streams_usage = False
            return True
        return False

    def _structured(self, messages: list[dict[str, str]], schema: Mapping[str, Any], max_tokens: int) -> Text:
        while True:
            try:
                return self._ask(messages, max_tokens, _format(self._ways[0], schema))
            except ModelDown as refused:
                if len(self._ways) == 1 or not refused.why.startswith(_REFUSES_SCHEMA):
                    raise
                self._ways.pop(0)

    def _ask(self, messages: list[dict[str, str]], max_tokens: int, extra: Mapping[str, Any]) -> Text:
        body = {"model": self._name, "messages": messages, "max_tokens": max_tokens, "temperature": 0, **extra}
        answer = self._caller.post(self._url, body, self._retry)
        try:
            said = answer["choices"][0]["message"]["content"]
        except (KeyError, TypeError, IndexError):
            raise ModelWrong(self.model, "its answer has no `choices` with a `message`") from None
        if not isinstance(said, str):
            raise ModelWrong(self.model, "its message has no text")
        return Text(said, _usage(answer.get("usage"), [message["content"] for message in messages], said))


def _messages(system: str, prompt: str) -> list[dict[str, str]]:
    return [
        *([{"role": "system", "content": system.strip()}] if system.strip() else []),
        {"role": "user", "content": prompt},
    ]


def _format(way: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    if way == "schema":
        strict = {"name": "answer", "strict": True, "schema": dict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": strict}}
    return {"response_format": {"type": "json_object"}} if way == "object" else {}


def _fitting(text: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    try:
        value = parse_json(text)
    except ValueError as error:
        return {}, str(error)
    trouble = find_misfit(value, schema)
    return ({}, trouble) if trouble else (value, "")


# --- chats with tools -----------------------------------------------------------------------------------------------
# Servers take liberties: indexes are missing, an answer comes whole where a stream was asked for, arguments come as an
# object instead of a text. All of that is understood; an answer without a message is not.

_MAX_REQUESTS = 32  # tools asked for in one answer; a model that wants more is running wild


def message_json(message: ChatMessage) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.answers, "content": message.content}
    plain: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.requests:
        plain["tool_calls"] = [
            {"id": request.id, "type": "function", "function": {"name": request.name, "arguments": request.arguments}}
            for request in message.requests
        ]
    return plain


def tool_json(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def read_reply(answer: Any, sent: Sequence[ChatMessage], model: str) -> Reply:
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
    return Reply(said, requests, _usage(answer.get("usage"), _sent(sent), _spoken(said, requests)))


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


def read_stream(lines: Iterable[str], sent: Sequence[ChatMessage], model: str, heard: Heard) -> Reply:
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
        whole = read_reply(_event("\n".join(plain), model), sent, model)
        if whole.text:
            heard(whole.text)
        return whole
    if not ended and not piecing.usage:
        raise ModelDown(model, "its answer broke off")
    requests = _requests([piecing.calls[place] for place in sorted(piecing.calls)])
    text = "".join(piecing.text)
    if not text and not requests:
        raise ModelWrong(model, "its message has neither text nor tool calls")
    return Reply(text, requests, _usage(piecing.usage, _sent(sent), _spoken(text, requests)))


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
    for place, call in enumerate(calls[:_MAX_REQUESTS]):
        function = call.get("function", call)
        arguments = function["arguments"] if "arguments" in function else function.get("text", "")
        if name := str(function.get("name") or ""):
            found.append(Request(str(call.get("id") or f"call_{place}"), name, _arguments(arguments)))
    return tuple(found)


def _arguments(given: Any) -> str:
    if given is None:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


def _usage(told: Any, sent: Iterable[str], said: str) -> Usage:
    """What the server counted, or an estimate of it."""
    try:
        return Usage(int(told["prompt_tokens"]), int(told["completion_tokens"]))
    except (KeyError, TypeError, ValueError):
        return Usage(sum(map(estimate, sent)), estimate(said), exact=False)


def _sent(messages: Sequence[ChatMessage]) -> list[str]:
    return [f"{message.content}{message.requests or ''}" for message in messages]


def _spoken(text: str, requests: Sequence[Request]) -> str:
    return text + "".join(request.arguments for request in requests)
