"""The stdlib client against a real server: valid and invalid answers, refusals, timeouts, limits."""

from __future__ import annotations

import json
from typing import Any

import pytest

from embed.embed_tools import Reply, serving
from models.model_tools import chat, completion
from recollect.core.errors import InvalidField, ModelDown, ModelWrong
from recollect.models.choose import choose_model
from recollect.models.openai import OpenAIModel
from recollect.models.schema import find_misfit, parse_json
from recollect.net.http import Caller, RetryPolicy

QUICK = RetryPolicy(tries=2, timeout=0.3, deadline=1.0, first_pause=0.01)
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
}


def model(url: str, **options: Any) -> OpenAIModel:
    return OpenAIModel("small", url=f"{url}/v1", retry=QUICK, **options)


def test_a_text_comes_back_with_what_it_cost() -> None:
    with serving(chat("Hello.")) as there:
        answer = model(there.url, key="k").text("Hi", system="Be brief.", max_tokens=10)
    assert (answer.text, answer.usage.total, answer.usage.exact) == ("Hello.", 30, True)
    path, body, headers = there.seen[0]
    assert (path, headers["Authorization"]) == ("/v1/chat/completions", "Bearer k")
    assert [one["role"] for one in body["messages"]] == ["system", "user"]


def test_usage_that_the_server_does_not_tell_is_estimated() -> None:
    with serving(lambda *_: completion("Hello.", usage=False)) as there:
        answer = model(there.url).text("Hi", max_tokens=10)
    assert answer.usage.total > 0
    assert not answer.usage.exact


def test_an_object_is_asked_for_by_schema_and_checked() -> None:
    with serving(chat('{"facts": ["a"]}')) as there:
        assert model(there.url).object("x", schema=SCHEMA, max_tokens=50).value == {"facts": ["a"]}
    assert there.seen[0][1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("said", ['```json\n{"facts": []}\n```', 'Sure! {"facts": []} Anything else?'])
def test_json_in_wrapping_is_found(said: str) -> None:
    assert parse_json(said) == {"facts": []}


def test_a_misfit_is_told_to_the_model_once_and_then_given_up() -> None:
    with serving(chat("nonsense", '{"facts": ["b"]}')) as there:
        answer = model(there.url).object("x", schema=SCHEMA, max_tokens=50)
    assert answer.value == {"facts": ["b"]}
    assert answer.usage.total == 60
    assert "does not fit" in there.seen[1][1]["messages"][-1]["content"]
    with serving(chat("nonsense")) as there, pytest.raises(ModelWrong, match="not JSON"):
        model(there.url).object("x", schema=SCHEMA, max_tokens=50)
    assert len(there.seen) == 2


def test_a_server_that_knows_no_schema_is_asked_in_simpler_ways() -> None:
    def answer(path: str, body: Any, headers: Any) -> Reply:
        asked = body.get("response_format", {}).get("type")
        return completion('{"facts": []}') if asked is None else Reply(b'{"error": "unsupported"}', status=400)

    with serving(answer) as there:
        one = model(there.url)
        assert one.object("x", schema=SCHEMA, max_tokens=5).value == {"facts": []}
        assert one.object("x", schema=SCHEMA, max_tokens=5).value == {"facts": []}
    ways = [body.get("response_format", {}).get("type") for _, body, _ in there.seen]
    assert ways == ["json_schema", "json_object", None, None]


@pytest.mark.parametrize(
    "body", [b"not json", b"[]", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}']
)
def test_an_answer_without_a_message_is_wrong(body: bytes) -> None:
    with serving(lambda *_: Reply(body)) as there, pytest.raises(ModelWrong):
        model(there.url).text("x", max_tokens=5)


def test_a_server_that_is_too_busy_is_asked_again_after_the_time_it_names() -> None:
    slept: list[float] = []
    with serving(chat(Reply(b"{}", status=429, headers={"Retry-After": "7"}), "Now.")) as there:
        caller = Caller("m", {}, ModelDown, ModelWrong, sleep=slept.append)
        retry = RetryPolicy(tries=3, timeout=5, deadline=60)
        one = OpenAIModel("small", url=f"{there.url}/v1", retry=retry, caller=caller)
        assert one.text("x", max_tokens=5).text == "Now."
    assert slept == [7.0]


@pytest.mark.parametrize("reply", [Reply(status=503), Reply(pause=2.0), Reply(body=b"{}" * 50, trickle=0.2)])
def test_a_server_that_stays_silent_busy_or_slow_is_down(reply: Reply) -> None:
    with serving(lambda *_: reply) as there, pytest.raises(ModelDown):
        model(there.url).text("x", max_tokens=5)


def test_nobody_listening_is_down_with_a_way_out() -> None:
    with pytest.raises(ModelDown) as caught:
        model("http://127.0.0.1:9").text("x", max_tokens=5)
    assert "server running" in caught.value.hint


def test_a_key_never_shows_in_an_error() -> None:
    def answer(path: str, body: Any, headers: Any) -> Reply:
        return Reply(json.dumps({"error": f"bad {headers['Authorization']}"}).encode(), status=401)

    with serving(answer) as there, pytest.raises(ModelDown) as caught:
        model(there.url, key="sk-very-secret").text("x", max_tokens=5)
    assert "very-secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "trouble"),
    [
        ({"facts": "a"}, "facts is no array"),
        ({"facts": [1]}, "facts[0] is no string"),
        ({}, "lacks facts"),
        ([], "is no object"),
    ],
)
def test_what_does_not_fit_is_said_in_words(value: Any, trouble: str) -> None:
    assert trouble in find_misfit(value, SCHEMA)


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("ollama:qwen2.5", "127.0.0.1:11434:qwen2.5"),
        ("http://host:1234/v1#tiny", "host:1234:tiny"),
        ("openai:gpt-5-mini", "openai:gpt-5-mini"),
    ],
)
def test_a_setting_chooses_a_model_without_asking_it(setting: str, name: str) -> None:
    assert choose_model(setting, {}).model == name


@pytest.mark.parametrize("setting", ["", "none", "openai:", "gpt", "http://host/v1", "pydantic-ai:"])
def test_a_setting_that_names_no_model_is_refused(setting: str) -> None:
    with pytest.raises(InvalidField, match="model"):
        choose_model(setting, {})


def test_openais_key_is_not_sent_to_another_server() -> None:
    with serving(chat("Hi.")) as there:
        chosen = choose_model(f"{there.url}/v1#m", {"OPENAI_API_KEY": "sk-secret"})
        chosen.text("x", max_tokens=5)
    assert "Authorization" not in there.seen[0][2]
