"""Transcripts from files, folders and patterns; the spool of hooks; files that are broken, packed or still growing."""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.errors import NothingToObserve, StoreError
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.files.session_file import SessionFile
from recollect.observer.readers import read_events
from recollect.observer.readers.base import ReadingTally
from recollect.observer.replay import drain
from recollect.observer.watcher import SessionWatcher

ANY = Filter(statuses=frozenset(Status))


def plain(session: str, *, at: float = 1000.0, extra: int = 0) -> list[str]:
    rows: list[dict[str, Any]] = [
        {"k": "user", "s": session, "ts": at, "text": "lint it"},
        {"k": "tool", "s": session, "ts": at + 1, "id": "1", "tool": "Bash", "args": {"command": "rtk bun run lint"},
         "result": "error: unrecognized subcommand 'bun'", "error": True},
        {"k": "tool", "s": session, "ts": at + 2, "id": "2", "tool": "Bash", "args": {"command": "bun run lint"},
         "result": "ok", "error": False},
    ]  # fmt: skip
    rows += [{"k": "tool", "s": session, "ts": at + 3 + n, "id": f"x{n}", "tool": "Read",
              "args": {"file_path": f"{n}.py"}, "result": "ok"} for n in range(extra)]  # fmt: skip
    return [json.dumps(row) for row in rows]


def hooked(session: str, *, end: bool = True, extra: int = 0) -> list[str]:
    def told(event: str, **payload: Any) -> str:
        whole = {"session_id": session, "cwd": "/p", "hook_event_name": event, **payload}
        return json.dumps({"v": 1, "host": "claude-code", "at": 1000.0, "payload": whole})

    bad, good = {"command": "rtk bun run lint"}, {"command": "bun run lint"}
    lines = [
        told("UserPromptSubmit", prompt="lint it"),
        told("PreToolUse", tool_name="Bash", tool_input=bad, tool_use_id="1"),
        told("PostToolUseFailure", tool_name="Bash", tool_input=bad, tool_use_id="1",
             error="error: unrecognized subcommand 'bun'"),
        told("PreToolUse", tool_name="Bash", tool_input=good, tool_use_id="2"),
        told("PostToolUse", tool_name="Bash", tool_input=good, tool_use_id="2", tool_response={"stdout": "ok"}),
    ]  # fmt: skip
    lines += [
        told("PostToolUse", tool_name="Read", tool_input={"file_path": f"/p/{n}.py"}, tool_use_id=f"x{n}",
             tool_response={"stdout": "ok"}) for n in range(extra)
    ]  # fmt: skip
    return [*lines, told("SessionEnd", reason="exit")] if end else lines


def write(path: Path, lines: list[str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def contents(memory: Recollect) -> list[Memory]:
    return list(memory.list(ANY).memories)


def test_a_folder_is_read_with_all_below_it_and_what_was_learnt_can_be_told(memory: Recollect, tmp_path: Path) -> None:
    write(tmp_path / "t" / "a.jsonl", plain("s1"))
    write(tmp_path / "t" / "deep" / "b.jsonl", plain("s2", at=2000.0))
    (tmp_path / "t" / "notes.txt").write_text("not a transcript")
    with gzip.open(tmp_path / "t" / "c.jsonl.gz", "wt", encoding="utf-8") as packed:
        packed.write("\n".join(plain("s3", at=3000.0)))
    steps: list[tuple[int, int]] = []
    done = memory.observer.replay([tmp_path / "t"], progress=lambda at, of: steps.append((at, of)))
    assert (done.files, done.sessions, done.broken) == (3, 3, 0)
    assert steps[-1][0] == steps[-1][1] > 0
    (found,) = contents(memory)
    assert "`rtk bun` does not exist here" in found.content
    assert found.provenance == ("s1", "s2", "s3")


def test_patterns_name_files_and_nothing_there_is_an_error_with_a_way_out(memory: Recollect, tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", plain("s1"))
    write(tmp_path / "b.jsonl", plain("s2"))
    assert memory.observer.replay([f"{tmp_path}/*.jsonl"]).sessions == 2
    with pytest.raises(NothingToObserve, match="nowhere") as caught:
        memory.observer.replay([tmp_path / "nowhere"])
    assert "claude" in caught.value.hint.lower()


def test_replaying_the_same_files_changes_nothing(memory: Recollect, tmp_path: Path) -> None:
    for number in range(4):
        write(tmp_path / f"{number}.jsonl", plain(f"s{number}", at=1000.0 * number))
    memory.observer.replay([tmp_path])
    before = (contents(memory), memory.history(limit=500))
    again = memory.observer.replay([tmp_path])
    assert all(one.known for one in again.learned)
    assert (contents(memory), memory.history(limit=500)) == before


def test_several_sessions_in_one_file_are_several_sessions(memory: Recollect, tmp_path: Path) -> None:
    mixed = [line for pair in zip(plain("s1"), plain("s2"), strict=True) for line in pair]
    assert memory.observer.replay([write(tmp_path / "a.jsonl", mixed)]).sessions == 2


def test_broken_files_are_named_and_the_rest_is_learnt(memory: Recollect, tmp_path: Path) -> None:
    write(tmp_path / "good.jsonl", plain("s1"))
    cut = "\n".join(plain("s2"))[:-40]
    (tmp_path / "cut.jsonl").write_text(cut)
    (tmp_path / "binary.jsonl").write_bytes(random.Random(1).randbytes(200_000))
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "packed.jsonl.gz").write_bytes(b"\x1f\x8bnot really")
    done = memory.observer.replay([tmp_path])
    assert {Path(name).name for name in done.skipped} == {"binary.jsonl", "empty.jsonl", "packed.jsonl.gz"}
    assert {one.session for one in done.learned} == {"s1", "s2"}
    assert done.broken > 0


def test_an_answer_of_ten_megabytes_in_a_transcript_is_no_trouble(memory: Recollect, tmp_path: Path) -> None:
    huge = {
        "k": "tool",
        "s": "s1",
        "ts": 1,
        "id": "9",
        "tool": "Bash",
        "args": {"command": "yes"},
        "result": "y" * 10**7,
    }
    done = memory.observer.replay([write(tmp_path / "a.jsonl", [*plain("s1"), json.dumps(huge)])])
    assert done.sessions == 1
    seen = memory.store.observed.get("s1")
    assert seen is not None
    assert seen.session.tokens > 2_000_000


def test_the_files_of_subagents_belong_to_the_session_they_stand_beside(memory: Recollect, tmp_path: Path) -> None:
    def told(uuid: str, path: str, **more: Any) -> str:
        call = {"type": "tool_use", "id": uuid, "name": "Read", "input": {"file_path": path}}
        message = {"id": uuid, "content": [call]}
        whole = {"type": "assistant", "sessionId": "s1", "cwd": "/p", "uuid": uuid, "message": message, **more}
        return json.dumps({**whole, "timestamp": "2026-01-01T00:00:00Z"})

    write(tmp_path / "s1.jsonl", [told("a", "/p/main.py")])
    helper = [told(f"b{n}", f"/p/{n}.py", isSidechain=True, agentId="helper") for n in range(5)]
    write(tmp_path / "s1" / "subagents" / "agent-helper.jsonl", helper)
    for given in (tmp_path, tmp_path / "s1" / "subagents" / "agent-helper.jsonl"):
        memory.observer.replay([given])
        (seen,) = memory.observer.sessions()
        assert (seen.calls, seen.agents) == (6, ("", "helper"))


def test_halves_of_characters_control_signs_and_odd_types_are_learnt_around(memory: Recollect, tmp_path: Path) -> None:
    odd = [
        r'{"k": "tool", "s": "s1", "ts": 1.23456789, "id": "a", "tool": "Re\ud800ad", '
        r'"args": {"file_path": "a\udfff.py", "note": "the text \\u0000 is six letters"}}',
        r'{"k": "tool", "s": "s1", "ts": 2, "id": "b", "tool": "Bash", "args": {"command": "x \u0000 \ud83d"}, '
        r'"error": true, "result": "unknown flag: \udc00\u0000"}',
        r'{"k": "user", "s": "s1", "ts": 3, "text": "\u0000\ud800 go on \ud83d\ude00"}',
        '{"k": "tool", "s": "s1", "ts": -5, "id": {}, "tool": null, "args": [[]], "result": 7, "error": "yes"}',
        '{"k": ["tool"], "s": {"a": 1}}',
    ]
    path = write(tmp_path / "odd.jsonl", [*plain("s1"), *odd])
    done = memory.observer.replay([path])
    assert "s1" in {one.session for one in done.learned}
    assert all(one.known for one in memory.observer.replay([path]).learned)
    seen = memory.store.observed.get("s1")
    assert seen is not None
    assert seen.session.calls == 5
    repr(seen).encode()


# --- the spool ------------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / ".recollect" / "memory.db"


def spooled(project: Path, name: str, lines: list[str], *, age: float = 0.0) -> SessionFile:
    """The file of a session as hooks leave it."""
    file = SessionFile.of(str(project.parent), name)
    for line in map(json.loads, lines):
        file.append_event(line["host"], line["payload"], int(1000 * line["at"]))
    if age:
        os.utime(file.path, (os.stat(file.path).st_mtime - age,) * 2)
    return file


def test_a_spooled_session_is_learnt_when_it_ended_or_fell_silent_and_not_before(project: Path) -> None:
    with recollect.open(project, project="test") as memory:
        over = spooled(project, "over", hooked("s1"))
        silent = spooled(project, "silent", hooked("s2", end=False), age=3600.0)
        going = spooled(project, "going", hooked("s3", end=False))
        done = memory.observer.drain()
        assert {one.session for one in done.learned} == {"s1", "s2"}
        assert done.waiting == 1
        assert [SessionFile(file.path).has_news for file in (over, silent, going)] == [False, False, True]
        assert memory.observer.statistics().sessions == 2
        assert len(contents(memory)) == 1


def test_a_session_has_news_until_what_it_showed_is_stored(project: Path) -> None:
    with recollect.open(project, project="test") as memory:
        file = spooled(project, "s", hooked("s1"))

        def fail(watch: SessionWatcher) -> Any:
            raise StoreError("The disk is full.")

        with pytest.raises(StoreError, match="disk is full"):
            drain(project.parent, fail, now=1.0, begin=lambda session, host: SessionWatcher(session, host=host))
        assert SessionFile(file.path).has_news
        assert memory.observer.drain().sessions == 1
        assert memory.observer.drain().sessions == 0


def test_a_session_that_is_resumed_after_it_was_learnt_counts_as_one_whole_session(project: Path) -> None:
    with recollect.open(project, project="test") as memory:
        whole = hooked("s1", extra=4)
        spooled(project, "s", hooked("s1"))
        memory.observer.drain()
        spooled(project, "s", whole[5:])
        memory.observer.drain()
        seen = memory.store.observed.get("s1")
        assert seen is not None
        assert (seen.session.calls, seen.session.errors) == (6, 1)
        assert len(memory.observer.sessions()) == 1


def test_what_was_learnt_from_is_deleted_after_a_day(project: Path) -> None:
    with recollect.open(project, project="test") as memory:
        file = spooled(project, "s", hooked("s1"))
        memory.observer.drain()
        assert len(list(file.events())) == 6
        day = os.stat(file.path).st_mtime - 25 * 3600.0
        os.utime(file.path, (day, day))
        memory.observer.drain()
        assert list(file.events()) == []
        assert memory.observer.statistics().sessions == 1


def test_watching_again_from_the_spool_after_a_kill_ends_like_watching_to_the_end(project: Path) -> None:
    """The spool is the checkpoint: whatever was watched in memory when a process dies is fed again from the file."""
    with recollect.open(project, project="test") as memory:
        lines = hooked("s1", extra=3)
        killed = memory.observer.watch("s1")
        for event in list(read_events(lines, tally=ReadingTally()))[:5]:
            killed.feed(event)
        del killed
        spooled(project, "s", lines)
        memory.observer.drain()
        resumed = memory.store.observed.get("s1")
        whole = memory.observer.watch("s1", host="hook")
        for event in read_events(lines, tally=ReadingTally()):
            whole.feed(event)
        assert resumed is not None
        assert resumed.files == whole.contribution().files
        assert resumed.errors == whole.contribution().errors
        assert resumed.signals == whole.contribution().signals


def test_a_session_observed_by_hooks_and_then_replayed_from_its_transcript_is_one_session(
    project: Path, tmp_path: Path
) -> None:
    with recollect.open(project, project="test") as memory:
        spooled(project, "s", hooked("s1"))
        memory.observer.drain()
        memory.observer.replay([write(tmp_path / "t.jsonl", plain("s1", extra=6))])
        assert [(session.id, session.errors) for session in memory.observer.sessions()] == [("s1", 1)]


def test_a_memory_without_a_file_has_no_spool(memory: Recollect) -> None:
    assert memory.observer.drain().sessions == 0
