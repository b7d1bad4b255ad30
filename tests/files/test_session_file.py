"""The file of a session: small, safe among processes, and never wrong without saying so."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from recollect.files import session_file
from recollect.files.session_file import SessionFile, SessionMemory, session_files


@pytest.fixture
def file(tmp_path: Path) -> SessionFile:
    return SessionFile.of(str(tmp_path), "s", host="claude-code")


def again(file: SessionFile) -> SessionFile:
    """The same file as another process meets it."""
    return SessionFile(file.path, "s")


# --- events ---------------------------------------------------------------------------------------------------------


def test_a_named_event_is_taken_once_and_a_nameless_one_once_in_a_while(file: SessionFile) -> None:
    assert file.take_event("k", "after", 1_000, named=True)
    assert not again(file).take_event("k", "after", 999_000, named=True)
    assert file.take_event("n", "start", 1_000, named=False)
    assert not again(file).take_event("n", "start", 2_000, named=False)
    assert again(file).take_event("n", "start", 9_000, named=False)
    assert (again(file).count("after"), again(file).count("start"), again(file).count("end")) == (1, 2, 0)


def test_events_are_handed_back_as_they_were_kept_and_only_to_their_owner(file: SessionFile) -> None:
    file.append_event("gemini", {"prompt": "fix the bug"}, 1_000)
    file.claim(["a"], "step", 2_000)
    file.append_event("gemini", {"prompt": "naïve"}, 3_000, disk="missing")
    kept = [json.loads(line) for line in again(file).events()]
    assert kept == [
        {"v": 1, "host": "gemini", "at": 1.0, "payload": {"prompt": "fix the bug"}},
        {"v": 1, "host": "gemini", "at": 3.0, "payload": {"prompt": "naïve"}, "disk": "missing"},
    ]
    assert stat.S_IMODE(os.stat(file.path).st_mode) == 0o600
    (found,) = session_files(str(Path(file.path).parents[1]))
    assert (found.session, found.host) == ("s", "claude-code")


def test_a_session_without_end_stops_being_kept(file: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_file, "_MAX_BYTES", 500_000)
    for number in range(27):
        file.append_event("x", {"text": "y" * 4_000}, number)
    with pytest.raises(OSError, match="full"):
        file.append_event("x", {"text": "more"}, 28)
    assert file.claim(["a"], "step", 1) == ["a"]
    assert os.stat(file.path).st_size < 600_000


# --- what was told --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", ["file", "memory"])
def test_a_memory_is_claimed_once_and_a_pattern_warned_of_once(tmp_path: Path, record: str) -> None:
    kept = SessionFile.of(str(tmp_path), "s") if record == "file" else SessionMemory()
    assert kept.claim(["a", "b", "a"], "step", 1) == ["a", "b"]
    assert kept.claim(["b", "c"], "prompt", 2) == ["c"]
    assert [id in kept for id in "abcd"] == [True, True, True, False]
    assert kept.told() == [("a", "step", 1), ("b", "step", 1), ("c", "prompt", 2)]
    assert kept.warn("p", ["f1", "f2"], 3)
    assert not kept.warn("p", ["f9"], 4)
    assert not kept.warn("q", ["f1", "f2"], 4)
    assert kept.warn("q", ["f1", "f3"], 4)
    kept.seed(["d"], 5)
    assert "d" in kept
    assert kept.is_seeded


def test_what_was_told_may_be_told_again_after_the_context_was_emptied_but_warnings_not(file: SessionFile) -> None:
    file.claim(["a", "b"], "step", 1)
    file.warn("p", ["f"], 1)
    file.empty_context(3)
    assert "a" not in file
    assert again(file).claim(["a"], "step", 4) == ["a"]
    assert not again(file).warn("p", ["f"], 4)
    assert [memory for memory, _, _ in again(file).told()] == ["a", "b", "a"]


def test_what_was_brought_in_is_not_brought_in_again(file: SessionFile) -> None:
    file.claim(["a"], "step", 1)
    used_at = os.stat(file.path).st_mtime_ns
    reader = again(file)
    assert [memory for memory, _, _ in reader.told()] == ["a"]
    reader.mark_ingested()
    assert reader.is_ingested
    assert os.stat(file.path).st_mtime_ns == used_at
    file.claim(["b"], "step", 2)
    assert [memory for memory, _, _ in again(file).told()] == ["b"]


def _claims(folder: str, found: list[int]) -> None:
    file = SessionFile.of(folder, "s")
    found.append(sum(len(file.claim([f"m{n}"], "step", 1)) for n in range(40)))


def test_processes_at_once_never_claim_the_same_memory(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as shared:
        found = shared.list()
        runs = [context.Process(target=_claims, args=(str(tmp_path), found)) for _ in range(3)]
        for run in runs:
            run.start()
        for run in runs:
            run.join(60)
        assert sum(found) == 40
    assert len(SessionFile.of(str(tmp_path), "s").told()) == 40


# --- what the session did -------------------------------------------------------------------------------------------


def test_what_one_process_notes_the_next_one_finds(file: SessionFile) -> None:
    file.take_event("k", "before", 1, named=True)
    with file.follow() as notes:
        notes.put("read", "src/db.py", 3)
        notes.put("read", "src/db.py", 7)
        notes.put("edited", "src/db.py", 0)
    other = again(file)
    other.take_event("l", "before", 2, named=True)
    assert (other.get("read", "src/db.py"), other.get("edited", "src/db.py")) == (7, 0)
    assert other.get("seen", "src/db.py") == -1
    assert other.is_followed


def test_a_session_that_missed_an_event_or_ended_is_not_followed(file: SessionFile) -> None:
    file.take_event("k", "before", 1, named=True)
    file.take_event("l", "before", 2, named=True)
    assert not file.is_followed
    with file.follow(), file.follow(last=True):
        pass
    file.take_event("m", "before", 3, named=True)
    assert not file.is_followed


def test_ten_thousand_paths_are_all_found_and_the_file_stays_small(file: SessionFile) -> None:
    with file.follow() as notes:
        for number in range(10_000):
            notes.put("seen", f"src/part{number}.py", number)
        assert all(notes.get("seen", f"src/part{number}.py") == number for number in range(10_000))
        assert notes.get("seen", "src/part10000.py") == -1
    assert Path(file.path).stat().st_size < 400_000


def test_a_full_table_notes_nothing_new_tells_nothing_new_and_still_renews_what_it_has(
    file: SessionFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_file, "_MAX_USED", 2)
    with file.follow() as notes:
        assert [notes.put("ran", name, 1) for name in ("a", "b", "c")] == [True, True, False]
        notes.put("ran", "a", 5)
        assert [notes.get("ran", name) for name in ("a", "b", "c")] == [5, 1, -1]
    assert file.claim(["m"], "step", 1) == []
    assert not file.warn("p", ["f"], 1)


def test_hooks_at_once_lose_no_note(file: SessionFile) -> None:
    def note(number: int) -> None:
        with again(file).follow() as notes:
            notes.put("count", "calls", max(0, notes.get("count", "calls")) + 1)
            notes.put("seen", f"p{number}", 0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(note, range(40)))
    found = again(file)
    assert found.count("none") == 0
    assert found.get("count", "calls") == 40
    assert all(found.get("seen", f"p{number}") == 0 for number in range(40))


# --- damage ---------------------------------------------------------------------------------------------------------


def test_a_line_that_was_cut_off_swallows_nothing(file: SessionFile) -> None:
    file.claim(["a"], "step", 1)
    with open(file.path, "ab") as raw:
        raw.write(b'{"told":["b')
    assert again(file).claim(["c"], "step", 2) == ["c"]
    assert [memory for memory, _, _ in again(file).told()] == ["a", "c"]


@pytest.mark.parametrize("rubbish", [b"rubbish" * 10, b"RCL", b"x" * 1_000_000])
def test_a_file_of_rubbish_is_begun_anew_and_trusted_with_nothing(file: SessionFile, rubbish: bytes) -> None:
    os.makedirs(os.path.dirname(file.path))
    Path(file.path).write_bytes(rubbish)
    assert again(file).told() == []
    assert list(again(file).events()) == []
    assert file.take_event("k", "before", 1, named=True)
    assert not file.is_followed
    assert file.claim(["a"], "step", 1) == ["a"]


def test_a_file_of_another_release_is_left_alone(file: SessionFile) -> None:
    os.makedirs(os.path.dirname(file.path))
    Path(file.path).write_bytes(b"RCLsess9" + bytes(500_000))
    with pytest.raises(OSError, match="another release"):
        file.take_event("k", "before", 1, named=True)
    assert Path(file.path).read_bytes().startswith(b"RCLsess9")
    assert again(file).session == ""


def test_a_file_that_somebody_removed_is_made_again(file: SessionFile) -> None:
    file.claim(["a"], "step", 1)
    os.unlink(file.path)
    assert file.claim(["a"], "step", 2) == ["a"]
    assert os.path.exists(file.path)


# --- afterwards -----------------------------------------------------------------------------------------------------


def test_dropping_the_events_keeps_what_was_told_and_is_refused_before_that_was_brought_in(file: SessionFile) -> None:
    file.take_event("k", "before", 1, named=True)
    file.append_event("x", {"text": "y" * 5_000}, 1)
    file.claim(["a"], "step", 1)
    file.append_event("x", {"text": "y" * 5_000}, 1)
    end = file.events_end
    file.mark_learnt(end)
    assert not file.has_news
    file.drop_events()
    assert len(list(file.events())) == 2
    file.mark_ingested()
    file.drop_events()
    late = again(file)
    assert list(late.events()) == []
    assert (late.session, late.told(), "a" in late, late.has_news) == ("s", [], True, False)
    late.claim(["b"], "step", 2)
    late.append_event("x", {"text": "z"}, 3)
    assert [memory for memory, _, _ in again(file).told()] == ["b"]
    assert again(file).has_news
    late.take_event("l", "before", 4, named=True)
    assert not late.is_followed


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_elsewhere_is_never_written_through_a_link(tmp_path: Path, link: Callable[[str, str], None]) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("precious\n")
    spool = tmp_path / session_file.FOLDER
    spool.mkdir()
    file = SessionFile.of(str(tmp_path), "s")
    link(str(victim), file.path)
    with pytest.raises(OSError, match=r"plain file|symbolic links"):
        file.append_event("claude-code", {}, 1)
    for found in session_files(str(tmp_path)):
        with contextlib.suppress(OSError):
            found.drop_events()
    assert victim.read_text() == "precious\n"


def test_a_strangers_file_with_our_ending_is_moved_aside_and_kept(tmp_path: Path) -> None:
    file = SessionFile.of(str(tmp_path), "s")
    os.makedirs(os.path.dirname(file.path))
    Path(file.path).write_text("somebody's notes\n")
    file.append_event("claude-code", {}, 1)
    assert file.has_news
    assert Path(f"{file.path}.damaged").read_text() == "somebody's notes\n"
