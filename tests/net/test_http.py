"""Asking a server: how often, how long, with which pauses, and in which words it is told that it did not work."""

from __future__ import annotations

import http.client
import io
import json
import urllib.error
from email.message import Message
from typing import Any

import pytest

from recollect.core.errors import ModelDown, ModelWrong
from recollect.net import http as net
from recollect.net.http import Caller, RetryPolicy, _origin, _retry_after

URL = "http://user:pass@example.org:8080/v1/chat?x=1"


class Answer:
    """A response that gives its bytes in pieces, each after some seconds; `length` is what is still owed."""

    def __init__(self, *pieces: bytes, seconds: float = 0.0, length: int = 0) -> None:
        self._pieces, self._seconds, self.length = list(pieces), seconds, length
        self.world: World

    def read1(self, size: int) -> bytes:
        self.world.now += self._seconds
        return self._pieces.pop(0) if self._pieces else b""

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *_: object) -> None:
        self.world.closed += 1


def refused(code: int, said: str = "", **headers: str) -> urllib.error.HTTPError:
    told = Message()
    for name, value in headers.items():
        told[name.replace("_", "-")] = value
    return urllib.error.HTTPError(URL, code, "no", told, io.BytesIO(said.encode()))


class World:
    """A server that answers as told, a clock that only sleeping moves, and a caller who meets both."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *answers: Any) -> None:
        self.now, self.closed = 100.0, 0
        self.slept: list[float] = []
        self.asked: list[tuple[bytes | None, dict[str, str], float]] = []
        self._answers = list(answers)
        monkeypatch.setattr(net, "_opener", lambda url: self)
        self.caller = Caller(
            "tiny",
            {"Authorization": "Bearer s3cret"},
            ModelDown,
            ModelWrong,
            self._sleep,
            lambda: self.now,
            lambda: 1.0,
        )

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def open(self, request: Any, timeout: float) -> Any:
        self.asked.append((request.data, dict(request.header_items()), timeout))
        answer = self._answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        answer.world = self
        return answer


POLICY = RetryPolicy(tries=3, timeout=5.0, deadline=60.0, first_pause=2.0, longest_pause=3.0)


def test_a_question_is_posted_with_the_key_and_its_answer_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, Answer(b'{"a"', b": 1}"))
    assert world.caller.post(URL, {"q": "é"}, POLICY) == {"a": 1}
    ((data, headers, timeout),) = world.asked
    assert json.loads(data or b"") == {"q": "é"}
    assert (headers["Authorization"], headers["User-agent"], headers["Content-type"], timeout) == (
        "Bearer s3cret",
        "recollect",
        "application/json",
        5.0,
    )
    assert world.closed == 1


def test_what_may_pass_is_tried_again_after_growing_pauses_and_then_told(monkeypatch: pytest.MonkeyPatch) -> None:
    policy = RetryPolicy(tries=4, timeout=5.0, deadline=60.0, first_pause=1.0, longest_pause=3.0)
    world = World(monkeypatch, *(refused(503, "busy") for _ in range(4)))
    with pytest.raises(ModelDown) as caught:
        world.caller.get(URL, policy)
    assert world.slept == [1.0, 2.0, 3.0]
    assert "tiny does not answer: status 503, busy (tried 4 ×)" in str(caught.value)
    assert world.asked[0][0] is None


def test_a_server_that_names_its_pause_is_waited_for_unless_the_deadline_comes_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, refused(429, "slow", Retry_After="7"), Answer(b"[]"))
    assert world.caller.get(URL, POLICY) == []
    assert world.slept == [7.0]
    world = World(monkeypatch, refused(429, "slow", Retry_After="60"))
    with pytest.raises(ModelDown, match=r"slow \(tried 1 ×\)"):
        world.caller.get(URL, POLICY)
    assert world.slept == []


def test_when_the_time_is_up_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch)
    with pytest.raises(ModelDown, match="the time was up"):
        world.caller.get(URL, RetryPolicy(tries=1, timeout=5.0, deadline=0.0))
    assert world.asked == []


def test_the_last_try_gets_only_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, TimeoutError("timed out"), Answer(b"{}"))
    world.caller.get(URL, RetryPolicy(tries=2, timeout=5.0, deadline=6.0, first_pause=4.0))
    assert [timeout for *_, timeout in world.asked] == [5.0, 2.0]


@pytest.mark.parametrize(
    ("answers", "said", "hint"),
    [
        ([refused(401, "bad key s3cret here")], "status 401, bad key … here", "key is missing or wrong"),
        ([refused(403)], "status 403.", "may not use this model"),
        ([refused(404)], "status 404.", "name of the model"),
        ([refused(429, "insufficient_quota")], "status 429, insufficient_quota", "no credit left"),
        ([refused(418, "x " * 400)], "status 418, x x x", "dimensions in the setting"),
        ([ConnectionResetError()] * 3, "ConnectionResetError (tried 3 ×)", ""),
        ([http.client.IncompleteRead(b"")] * 3, "IncompleteRead", ""),
        ([urllib.error.URLError(TimeoutError("too long"))] * 3, "too long (tried 3 ×)", ""),
        ([urllib.error.URLError("refused")], "refused.", "Is a server running at http://example.org:8080?"),
        ([OSError("no route")], "no route.", "Check the address http://example.org:8080."),
        ([Answer(b"{}", seconds=61.0)], "the answer came too slowly", ""),
        ([Answer(b"{", length=5)] * 3, "the answer broke off, 5 bytes early (tried 3 ×)", ""),
    ],
)
def test_each_trouble_is_told_with_a_way_out(
    monkeypatch: pytest.MonkeyPatch, answers: list[Any], said: str, hint: str
) -> None:
    with pytest.raises(ModelDown) as caught:
        World(monkeypatch, *answers).caller.get(URL, POLICY)
    assert said in str(caught.value)
    assert len(str(caught.value)) < 420
    assert hint in caught.value.hint
    assert "pass" not in caught.value.hint


def test_an_answer_that_cannot_be_used_is_wrong_and_not_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelWrong, match="not JSON"):
        World(monkeypatch, Answer(b"<html>")).caller.get(URL, POLICY)
    monkeypatch.setattr(net, "_MAX_BYTES", 4)
    assert World(monkeypatch, Answer(b"1234")).caller.get(URL, POLICY) == 1234
    with pytest.raises(ModelWrong, match="larger than"):
        World(monkeypatch, Answer(b"12345")).caller.get(URL, POLICY)


def test_a_stream_is_cut_into_lines_and_never_asked_for_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, refused(503), Answer(b"one\r\ntw", b"o\nthree"))
    assert list(world.caller.stream(URL, {}, POLICY)) == ["one", "two", "three"]
    assert (world.slept, world.closed) == ([2.0], 1)
    world = World(monkeypatch, Answer(b"one\n", length=3))
    lines = world.caller.stream(URL, {}, POLICY)
    assert next(lines) == "one"
    with pytest.raises(ModelDown, match="3 bytes early in the middle of its answer"):
        next(lines)
    assert len(world.asked) == 1


@pytest.mark.parametrize(
    ("value", "seconds"), [(None, None), ("", None), ("3", 3.0), ("-3", 0.0), ("soon", None), ("1.5", 1.5)]
)
def test_the_pause_a_server_asks_for_is_read(value: str | None, seconds: float | None) -> None:
    assert _retry_after(value) == seconds


def test_a_pause_until_a_past_date_is_over_and_an_address_is_told_without_its_password() -> None:
    assert _retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert _origin(URL) == "http://example.org:8080"
    assert _origin("http://[::1") == "given"
