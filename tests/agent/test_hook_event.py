"""An event of any host in our words: its session, its calls, how they were answered, whichever way it is spelt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from recollect.agent.hook_event import HookEvent


def event(name: str, root: Path, **payload: Any) -> HookEvent:
    return HookEvent(
        "claude-code", name, {"session_id": "s", "tool_name": "Bash", "tool_input": {}, **payload}, str(root)
    )


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ("plain words", "plain words"),
        ({"stdout": "fine", "stderr": ""}, "fine"),
        ({"stderr": "bad", "stdout": "fine"}, "bad\nfine"),
        (
            {"content": [{"type": "text", "text": "one"}, {"type": "image"}, "odd", {"text": 3}, {"text": "two"}]},
            "one\ntwo",
        ),
        ([{"type": "text", "text": "a block"}], "a block"),
        ({"file": {"content": "the file"}}, "the file"),
        ('{"stdout": "packed"}', "packed"),
        ("{not json", "{not json"),
        (7, ""),
        (None, ""),
    ],
)
def test_the_text_of_an_answer_is_read_from_every_shape(tmp_path: Path, response: Any, text: str) -> None:
    assert event("after", tmp_path, tool_response=response).answers == ((text, False),)


@pytest.mark.parametrize(
    ("name", "payload", "failed"),
    [
        ("after", {"tool_response": "ok"}, False),
        ("failed", {"tool_response": "ok"}, True),
        ("after", {"tool_response": {"is_error": True, "stdout": "x"}}, True),
        ("after", {"tool_response": {"isError": True}}, True),
        ("after", {"tool_response": {"error": "no such file"}}, True),
        ("after", {"error": "no such file"}, True),
        ("after", {"tool_response": "x", "is_error": True}, True),
        ("after", {"tool_response": "…\nexit code: 2"}, True),
        ("after", {"tool_response": "process exited with code 1"}, True),
        ("after", {"tool_response": "exit code: 0"}, False),
        ("after", {"tool_response": "exit code 2 " + "." * 900 + " end"}, True),
        ("after", {"tool_response": "." * 900 + " exit code 2 " + "." * 900}, False),
    ],
)
def test_a_failure_is_seen_in_a_flag_an_error_or_an_exit_code_at_either_end(
    tmp_path: Path, name: str, payload: dict[str, Any], failed: bool
) -> None:
    assert [answer[1] for answer in event(name, tmp_path, **payload).answers] == [failed]


def test_of_a_long_answer_both_ends_are_kept(tmp_path: Path) -> None:
    ((text, _),) = event("after", tmp_path, tool_response="a" * 30_000 + "z" * 30_000).answers
    assert len(text) == 20_000
    assert (text[0], text[-1], text.count("a")) == ("a", "z", 10_000)


@pytest.mark.parametrize("key", ["session_id", "sessionId", "conversation_id", "trajectory_id"])
def test_every_hosts_name_for_a_session_is_known(tmp_path: Path, key: str) -> None:
    assert HookEvent("x", "prompt", {key: "abc", "prompt": "hi"}, str(tmp_path)).session == "abc"


def test_a_path_is_told_as_the_project_spells_it_and_one_outside_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    inner = tmp_path / "pkg"
    inner.mkdir()

    def paths(given: str) -> tuple[str, ...]:
        return event("before", inner, tool_name="Read", tool_input={"file_path": given}).calls[0].paths

    assert paths(str(tmp_path / "pkg" / "a.py")) in (("pkg/a.py",), ("a.py",))
    assert paths(str(tmp_path / "b.py")) == ("b.py",)
    assert paths("/somewhere/else.py") == ()
    assert paths("pkg/a.py") == ("pkg/a.py",)


def test_an_event_told_twice_has_one_key_and_another_event_has_another(tmp_path: Path) -> None:
    first = event("after", tmp_path, tool_use_id="t1", tool_response="x")
    assert first.key == event("after", tmp_path, tool_use_id="t1", tool_response="told again").key
    assert first.is_named
    others = [
        event("after", tmp_path, tool_use_id="t2", tool_response="x"),
        event("before", tmp_path, tool_use_id="t1"),
        event("after", tmp_path, tool_input={"command": "ls"}),
    ]
    assert len({first.key, *(one.key for one in others)}) == 4
    assert not others[2].is_named
