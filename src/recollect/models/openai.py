"""Chat completions as OpenAI speaks them, and with it Ollama, vLLM, LM Studio and llama.cpp: plain HTTP, no library.

Servers differ in how they take a schema. It is asked for strictly, then loosely, then in words; whatever comes back is
checked here. An answer that does not fit is shown to the model once with what is wrong about it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from recollect.core.chat import ChatMessage, ToolSpec
from recollect.core.errors import ModelDown, ModelWrong
from recollect.models.port import Heard, Object, Reply, Text, Usage, estimate
from recollect.models.schema import misfit, parse
from recollect.net.http import Caller, Patience

OPENAI = "https://api.openai.com/v1"
THINKING = 300.0  # seconds; a small machine reads a page of episodes slowly, and nobody waits for the answer


def thinking(seconds: float = THINKING) -> Patience:
    """How long one answer may take. A busy server is asked again; after a time-out there is room for half a try."""
    return Patience(tries=3, timeout=seconds, deadline=1.5 * seconds, first_pause=1.0)


_REFUSES_SCHEMA = ("status 400", "status 422")  # what servers say to a way of asking they do not know


class OpenAIModel:
    """One model of one server."""

    def __init__(
        self,
        name: str,
        *,
        url: str = OPENAI,
        key: str = "",
        patience: Patience | None = None,
        caller: Caller | None = None,
    ) -> None:
        at = url.rstrip("/")
        where = "openai" if at == OPENAI else urlsplit(at).netloc.rpartition("@")[2]
        self.model = f"{where}:{name}"
        self._name, self._url, self._patience = name, f"{at}/chat/completions", patience or thinking()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._caller = caller or Caller(self.model, headers, ModelDown, ModelWrong)
        self._limit = "max_tokens"  # newer models of OpenAI know only the other name
        self._streams_usage = True  # until the server refuses to tell the cost of a stream
        self._ways = ["schema", "object", "words"]  # of asking for JSON, until the server refuses one

    def text(self, prompt: str, *, system: str = "", most: int) -> Text:
        return self._ask(_messages(system, prompt), most, {})

    def object(self, prompt: str, *, system: str = "", schema: Mapping[str, Any], most: int) -> Object:
        asked = _messages(f"{system}\n\nAnswer with one JSON object that fits: {json.dumps(schema)}", prompt)
        first = self._structured(asked, schema, most)
        value, trouble = _fitting(first.text, schema)
        if not trouble:
            return Object(value, first.usage)
        again = [
            *asked,
            {"role": "assistant", "content": first.text[:2000]},
            {"role": "user", "content": f"That does not fit: {trouble}. Answer with the JSON object only."},
        ]
        second = self._structured(again, schema, most)
        used = Usage(first.usage.input + second.usage.input, first.usage.output + second.usage.output)
        value, trouble = _fitting(second.text, schema)
        if trouble:
            raise ModelWrong(self.model, trouble)
        return Object(value, used)

    def chat(
        self, messages: Sequence[ChatMessage], *, tools: Sequence[ToolSpec] = (), most: int, heard: Heard | None = None
    ) -> Reply:
        from recollect.models.talk import message_json, reply, streamed, tool_json

        body: dict[str, Any] = {"model": self._name, "messages": [message_json(one) for one in messages]}
        if tools:
            body["tools"] = [tool_json(one) for one in tools]
        while True:
            try:
                asked = {**body, self._limit: most}
                if heard is None:
                    return reply(self._caller.post(self._url, asked, self._patience), messages, self.model)
                asked |= {"stream": True}
                asked |= {"stream_options": {"include_usage": True}} if self._streams_usage else {}
                return streamed(self._caller.stream(self._url, asked, self._patience), messages, self.model, heard)
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

    def _structured(self, messages: list[dict[str, str]], schema: Mapping[str, Any], most: int) -> Text:
        while True:
            try:
                return self._ask(messages, most, _format(self._ways[0], schema))
            except ModelDown as refused:
                if len(self._ways) == 1 or not refused.why.startswith(_REFUSES_SCHEMA):
                    raise
                self._ways.pop(0)

    def _ask(self, messages: list[dict[str, str]], most: int, extra: Mapping[str, Any]) -> Text:
        body = {"model": self._name, "messages": messages, "max_tokens": most, "temperature": 0, **extra}
        answer = self._caller.post(self._url, body, self._patience)
        try:
            said = answer["choices"][0]["message"]["content"]
        except (KeyError, TypeError, IndexError):
            raise ModelWrong(self.model, "its answer has no `choices` with a `message`") from None
        if not isinstance(said, str):
            raise ModelWrong(self.model, "its message has no text")
        return Text(said, _usage(answer, messages, said))


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
        value = parse(text)
    except ValueError as error:
        return {}, str(error)
    trouble = misfit(value, schema)
    return ({}, trouble) if trouble else (value, "")


def _usage(answer: Any, messages: list[dict[str, str]], said: str) -> Usage:
    told: Any = answer.get("usage") if isinstance(answer, dict) else None
    try:
        return Usage(int(told["prompt_tokens"]), int(told["completion_tokens"]))
    except (KeyError, TypeError, ValueError):
        return Usage(sum(estimate(one["content"]) for one in messages), estimate(said), exact=False)
