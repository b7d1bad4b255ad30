"""Chat completions with tools against real servers: whole and in pieces, and the liberties servers take."""

from __future__ import annotations

import json
from typing import Any

import pytest

from embed.embed_tools import Reply as Answer
from embed.embed_tools import serving
from models.model_tools import chat, completion
from recollect.core.conversations import ChatMessage, Request, ToolSpec
from recollect.core.errors import ModelDown, ModelWrong
from recollect.models.openai import OpenAIModel
from recollect.net.http import RetryPolicy
from recollect.testing.chat_server import Calls, chat_server

QUICK = RetryPolicy(tries=2, timeout=0.5, deadline=1.5, first_pause=0.01)
HELLO = [ChatMessage("user", "Hello")]
LOOK = ToolSpec("look", "Look at something.", {"type": "object", "properties": {"at": {"type": "string"}}})


def model(url: str) -> OpenAIModel:
    return OpenAIModel("small", url=f"{url}/v1", retry=QUICK)


def events(*pieces: Any, done: bool = True) -> Answer:
    body = "".join(f"data: {json.dumps(piece) if not isinstance(piece, str) else piece}\r\n\r\n" for piece in pieces)
    return Answer((body + ("data: [DONE]\n\n" if done else "")).encode(), headers={"Content-Type": "text/event-stream"})


def delta(**fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields}]}


def test_messages_tools_and_results_are_sent_as_the_protocol_writes_them() -> None:
    said = [
        ChatMessage("system", "Be brief."),
        ChatMessage("user", "Look."),
        ChatMessage("assistant", "Looking.", (Request("c1", "look", '{"at": "x"}'),)),
        ChatMessage("tool", "seen", answers="c1"),
    ]
    with serving(chat("Fine.")) as there:
        model(there.url).chat(said, tools=[LOOK], max_tokens=7)
    body = there.seen[0][1]
    assert body["max_tokens"] == 7
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "look", "description": "Look at something.", "parameters": dict(LOOK.parameters)},
        }
    ]
    assert body["messages"][2]["tool_calls"][0] == {
        "id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"at": "x"}'},
    }  # fmt: skip
    assert body["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "seen"}


@pytest.mark.parametrize("streaming", [False, True])
def test_an_answer_with_calls_is_the_same_whole_and_in_pieces(streaming: bool) -> None:
    heard: list[str] = []
    script = [Calls([("look", {"at": "the moon"}), ("look", {})], said="Let me look.")]
    with chat_server(script) as server:
        reply = model(server.url).chat(HELLO, tools=[LOOK], max_tokens=9, heard=heard.append if streaming else None)
    assert reply.text == "Let me look."
    assert [(request.name, json.loads(request.arguments)) for request in reply.requests] == [
        ("look", {"at": "the moon"}),
        ("look", {}),
    ]
    assert (reply.usage.exact, reply.usage.total > 0) == (True, True)
    assert "".join(heard) == (reply.text if streaming else "")


def test_a_stream_without_usage_is_estimated_and_indexes_may_be_missing() -> None:
    pieces = (
        delta(role="assistant"),
        ": a comment",
        delta(tool_calls=[{"id": "a", "function": {"name": "look", "arguments": {"at": "x"}}}]),
    )
    body = events(pieces[0], pieces[2])
    with serving(lambda *_: Answer(b": ping\n\n" + body.body)) as there:
        reply = model(there.url).chat(HELLO, max_tokens=9, heard=lambda _: None)
    assert reply.requests == (Request("a", "look", '{"at": "x"}'),)
    assert not reply.usage.exact


def test_a_server_that_does_not_stream_is_heard_at_once() -> None:
    heard: list[str] = []
    with serving(lambda *_: completion("All of it.")) as there:
        reply = model(there.url).chat(HELLO, max_tokens=9, heard=heard.append)
    assert (reply.text, heard) == ("All of it.", ["All of it."])


@pytest.mark.parametrize("name", ["max_completion_tokens", "stream_options"])
def test_a_server_that_refuses_a_field_is_asked_another_way_from_then_on(name: str) -> None:
    def answer(path: str, body: Any, headers: Any) -> Answer:
        old = "max_tokens" in body if name == "max_completion_tokens" else name in body
        said = json.dumps({"error": {"message": f"Unsupported parameter, see {name}"}}).encode()
        return Answer(said, status=400) if old else events(delta(content="Fine."))

    with serving(answer) as there:
        one = model(there.url)
        for _ in range(2):
            assert one.chat(HELLO, max_tokens=5, heard=lambda _: None).text == "Fine."
    assert len(there.seen) == 3
    assert ("stream_options" in there.seen[-1][1]) is (name != "stream_options")


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (events(delta(content="half"), done=False), ModelDown),
        (events("{broken"), ModelWrong),
        (events({"error": {"message": "out of memory"}}), ModelDown),
        (events(delta(role="assistant")), ModelWrong),
        (Answer(b"<html>"), ModelWrong),
        (Answer(b""), ModelDown),
        (Answer(status=503), ModelDown),
        (Answer(pause=2.0), ModelDown),
        (Answer(b"data: " * 400, trickle=0.05), ModelDown),
    ],
)
def test_a_stream_that_cannot_be_used_is_an_error_of_ours(reply: Answer, error: type[Exception]) -> None:
    with serving(lambda *_: reply) as there, pytest.raises(error):
        model(there.url).chat(HELLO, max_tokens=5, heard=lambda _: None)


@pytest.mark.parametrize(
    "message", [None, {}, {"content": None}, {"content": None, "tool_calls": []}, {"tool_calls": [{"function": {}}]}]
)
def test_a_whole_answer_without_words_or_calls_is_wrong(message: Any) -> None:
    body = json.dumps({"choices": [{"message": message}]}).encode()
    with serving(lambda *_: Answer(body)) as there, pytest.raises(ModelWrong):
        model(there.url).chat(HELLO, max_tokens=5)


def test_a_busy_server_is_asked_again_before_the_stream_begins() -> None:
    replies = [Answer(status=503), events(delta(content="Now."))]
    with serving(lambda *_: replies.pop(0)) as there:
        assert model(there.url).chat(HELLO, max_tokens=5, heard=lambda _: None).text == "Now."
    assert len(there.seen) == 2
