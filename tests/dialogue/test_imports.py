"""Chats from elsewhere: read as they are, imported once however often."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from recollect.app import Recollect
from recollect.core.errors import InvalidField
from recollect.dialogue.episodes import read_chats


def chatgpt(*texts: str) -> dict[str, Any]:
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
    for n, text in enumerate(texts):
        nodes[f"n{n}"] = {
            "id": f"n{n}",
            "parent": f"n{n - 1}" if n else "root",
            "children": [f"n{n + 1}"] if n + 1 < len(texts) else [],
            "message": {
                "id": f"m{n}",
                "author": {"role": "assistant" if n % 2 else "user"},
                "create_time": 1700000000.5 + n,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
    return {"title": "t", "id": "c1", "current_node": f"n{len(texts) - 1}", "mapping": nodes}


def claude(*texts: str) -> dict[str, Any]:
    messages = [
        {
            "uuid": f"u{n}",
            "sender": "assistant" if n % 2 else "human",
            "text": text,
            "created_at": f"2024-01-0{n + 1}T10:00:00Z",
        }
        for n, text in enumerate(texts)
    ]
    return {"uuid": "c9", "name": "n", "chat_messages": messages}


def written(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def test_an_export_of_chatgpt_is_read_along_the_branch_that_was_shown(tmp_path: Path, memory: Recollect) -> None:
    chat = chatgpt("I live in Oslo.", "Nice.", "Bye.")
    chat["mapping"]["side"] = {"id": "side", "parent": "n0", "children": [], "message": {"content": {"parts": ["no"]}}}
    done = memory.sessions.import_chats(written(tmp_path / "conversations.json", [chat]))
    assert (done.messages, done.captured, done.sessions) == (3, 3, 1)
    kept = memory.sessions.episodes("chatgpt:c1")
    assert [(one.source_role, one.content) for one in kept] == [
        ("user", "I live in Oslo."), ("assistant", "Nice."), ("user", "Bye."),
    ]  # fmt: skip
    assert kept[0].event_at is not None
    assert kept[0].event_at.year == 2023


def test_an_export_of_claude_is_read_from_its_zip(tmp_path: Path, memory: Recollect) -> None:
    with zipfile.ZipFile(tmp_path / "e.zip", "w") as archive:
        archive.writestr("data/conversations.json", json.dumps([claude("I prefer tea.", "Noted.")]))
    memory.sessions.import_chats(tmp_path / "e.zip")
    assert [episode.source_role for episode in memory.sessions.episodes("claude:c9")] == ["user", "assistant"]
    memory.tend(job="consolidate")
    assert [fact.content for fact in memory.sessions.facts()] == ["User said: I prefer tea."]


def test_importing_a_newer_export_adds_only_what_is_new(tmp_path: Path, memory: Recollect) -> None:
    file = tmp_path / "conversations.json"
    memory.sessions.import_chats(written(file, [claude("one", "two")]))
    done = memory.sessions.import_chats(written(file, [claude("one", "two", "three")]))
    assert (done.captured, done.known) == (1, 2)
    assert [episode.content for episode in memory.sessions.episodes("claude:c9")] == ["one", "two", "three"]


def test_lines_of_json_may_say_little_or_much(tmp_path: Path, memory: Recollect) -> None:
    lines = [
        {"role": "user", "content": "first", "session": "a", "at": "2024-01-01T10:00:00+02:00", "id": 1},
        {"speaker": "Ann", "text": "second", "session_id": "a", "timestamp": 1704100000},
        {"content": "third"},
    ]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    assert memory.sessions.import_chats(file).captured == 3
    assert [episode.source_role for episode in memory.sessions.episodes("a")] == ["user", "Ann"]
    assert memory.sessions.get("imported").episodes == 1


@pytest.mark.parametrize(
    ("text", "say"),
    [
        ('{"content": "a"}\nnot json', "line 2"),
        ('{"role": "user"}', "line 1"),
        ('{"content": "a", "at": "soon"}', "not a time"),
        ("[1, 2", "not JSON"),
        ('[{"foo": 1}]', "neither"),
        ("[3]", "neither"),
    ],
)
def test_a_file_that_is_no_chat_is_refused_and_adds_nothing(
    tmp_path: Path, memory: Recollect, text: str, say: str
) -> None:
    file = tmp_path / "x"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidField, match=say):
        memory.sessions.import_chats(file)
    assert memory.count() == 0


@pytest.mark.parametrize("damage", [{"mapping": None}, {"mapping": {"a": 5}, "current_node": "a"}, {"current_node": 7}])
def test_a_damaged_chat_yields_what_can_be_read(tmp_path: Path, damage: dict[str, Any]) -> None:
    file = written(tmp_path / "c.json", [{**chatgpt("a", "b"), **damage}, chatgpt("c")])
    assert [one.text for one in read_chats(file, "chatgpt")][-1] == "c"


def test_a_loop_in_the_tree_ends(tmp_path: Path) -> None:
    chat = chatgpt("a", "b")
    chat["mapping"]["n0"]["parent"] = "n1"
    assert len(list(read_chats(written(tmp_path / "c.json", [chat])))) == 2


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidField, match="cannot be read"):
        list(read_chats(tmp_path / "nowhere.json"))


def test_a_message_of_claude_in_blocks_is_read_as_its_text(tmp_path: Path, memory: Recollect) -> None:
    chat = claude("", "Noted.")
    chat["chat_messages"][0]["content"] = [{"type": "text", "text": "I prefer tea."}, {"type": "image"}, "odd"]
    chat["chat_messages"].append("odd")
    memory.sessions.import_chats(written(tmp_path / "blocks.json", [chat]))
    told = [(episode.source_role, episode.content) for episode in memory.sessions.episodes("claude:c9")]
    assert told == [("user", "I prefer tea."), ("assistant", "Noted.")]


def test_lines_without_ids_and_times_are_imported_once(tmp_path: Path, memory: Recollect) -> None:
    file = tmp_path / "chat.jsonl"
    said = ["I like tea.", "yes", "yes", "A text\u2028with a line separator."]
    lines = [json.dumps({"role": "user", "content": text, "id": None}, ensure_ascii=False) for text in said]
    file.write_text("\n".join(lines), encoding="utf-8")
    first = memory.sessions.import_chats(file)
    assert (first.messages, first.captured) == (4, 4)  # what was said twice is kept twice
    again = memory.sessions.import_chats(file)
    assert (again.captured, again.known) == (0, 4)
    file.write_text("\n".join([*lines, json.dumps({"content": "yes"})]), encoding="utf-8")
    assert memory.sessions.import_chats(file).captured == 1
