from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from recollect.app import Recollect
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.ports import Standing
from recollect.core.query import Candidate, Filter
from recollect.core.records import Memory
from recollect.recall.staleness import lower_stale


class Moved:
    """Every symbol moved."""

    def standing(self, memories: Sequence[Memory]) -> Mapping[MemoryId, Standing]:
        return {memory.id: Standing("stale", "its symbol is gone", 0.25) for memory in memories}


def test_a_memory_marked_stale_stays_but_falls_behind_and_says_so(memory: Recollect, clock: HandClock) -> None:
    old = memory.remember("The cache lives in redis.", kind="decision", stale_at=clock.now - timedelta(days=1))
    new = memory.remember("The cache lives in memory.", kind="decision")
    hits = memory.recall("where does the cache live")
    assert [hit.id for hit in hits] == [new.id, old.id]
    assert hits.hits[1].doubts == ("marked stale on 2026-02-28",)
    assert hits.hits[1].factors["standing"] == 0.5


def test_a_memory_unused_past_its_half_life_says_so(memory: Recollect, clock: HandClock) -> None:
    memory.remember("Port 8080 is taken by the proxy.", kind="gotcha")
    clock.pass_(days=61)
    (hit,) = memory.recall("port 8080")
    assert hit.doubts == ("unused for longer than its half-life",)


def test_a_memory_whose_files_changed_since_its_commit_is_doubted(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    with recollect.open(root) as memory:
        memory.remember("verify() must run before decode().", kind="gotcha", files=["a.py", "b.py"])
        assert memory.recall("verify decode").hits[0].doubts == ()
        (root / "a.py").write_text("changed")
        _commit(root)
        (hit,) = memory.recall("verify decode")
        assert hit.doubts[0].endswith(": a.py")
        assert hit.factors["standing"] == pytest.approx(0.8)


def test_a_file_much_newer_than_its_memory_asks_for_a_review(tmp_path: Path) -> None:
    root = _repository(tmp_path)
    later = (datetime.now(UTC) + timedelta(days=40)).timestamp()
    with recollect.open(root) as memory:
        memory.remember("a.py is generated.", kind="gotcha", files=["a.py"])
        (root / "a.py").write_text("changed")
        os.utime(root / "a.py", (later, later))
        assert "days newer: review it" in memory.recall("generated").hits[0].doubts[1]


def test_a_symbol_that_is_gone_lowers_the_memory_anchored_to_it(memory: Recollect, clock: HandClock) -> None:
    one = memory.remember("verify_jwt ignores the audience.", kind="gotcha", node="sym_1").memory
    ranking = lower_stale([Candidate(one.id, 0.8, memory=one)], top=20, kinds=Kinds(), now=clock.now, anchors=Moved())
    assert ranking[0].score == pytest.approx(0.2)
    assert ranking[0].doubts == ("stale: its symbol is gone",)


def test_as_of_a_day_the_statement_that_held_then_answers(memory: Recollect, clock: HandClock) -> None:
    old = memory.remember("Ada lives in Paris.", event_at=datetime(2025, 1, 1, tzinfo=UTC))
    memory.remember("Ada lives in Rome.", event_at=datetime(2025, 6, 1, tzinfo=UTC), supersedes=old.id)
    assert _texts(memory, Filter()) == ["Ada lives in Rome."]
    assert _texts(memory, Filter(as_of=datetime(2025, 3, 1, tzinfo=UTC))) == ["Ada lives in Paris."]
    assert _texts(memory, Filter(as_of=datetime(2025, 7, 1, tzinfo=UTC))) == ["Ada lives in Rome."]
    assert _texts(memory, Filter(as_of=datetime(2024, 7, 1, tzinfo=UTC))) == []


def test_a_statement_whose_time_is_over_is_not_answered_with(memory: Recollect, clock: HandClock) -> None:
    memory.remember("Ada is on leave.", valid_until=clock.now + timedelta(days=7))
    assert _texts(memory, Filter()) == ["Ada is on leave."]
    clock.pass_(days=8)
    assert _texts(memory, Filter()) == []


def test_only_the_newest_sessions_answer_when_asked_so(memory: Recollect) -> None:
    _days(memory)
    hits = memory.recall("what did we say about the deploy", last_sessions=2)
    assert sorted(hit.memory.session or "" for hit in hits) == ["day8", "day9"]


def test_the_sessions_around_an_event_answer_when_asked_so(memory: Recollect) -> None:
    _days(memory)
    memory.remember("We ran the great migration.", kind="episode", session="day4", event_at=_day(4))
    hits = memory.recall("deploy", around="the great migration", k=20)
    assert sorted({hit.memory.session or "" for hit in hits}) == [f"day{n}" for n in range(1, 8)]
    assert any(note.startswith("around ") for note in hits.notes)


def test_before_an_event_is_a_time_once_the_event_is_known(memory: Recollect) -> None:
    _days(memory)
    memory.remember("We ran the migration.", kind="episode", session="day4", event_at=_day(4))
    hits = memory.recall("what about the deploy before the migration", k=4)
    assert {hit.memory.session for hit in hits if hit.factors.get("why.date")} <= {"day0", "day1", "day2", "day3"}
    assert any(hit.factors.get("why.date") for hit in hits)


@pytest.mark.parametrize("options", [{"around": "no such thing anywhere"}, {"last_sessions": 0}])
def test_an_unknown_event_or_number_of_sessions_is_an_error_that_names_it(
    memory: Recollect, options: dict[str, object]
) -> None:
    _days(memory)
    with pytest.raises(InvalidField):
        memory.recall("deploy", **options)  # type: ignore[arg-type]


def test_a_question_by_meaning_without_vectors_is_answered_by_words_and_says_so(memory: Recollect) -> None:
    memory.remember("The cache lives in redis.")
    answer = memory.recall("cache", mode="dense")
    assert len(answer) == 1
    assert answer.notes == ("dense: nothing to compare with", "answered by keyword instead")
    with pytest.raises(UnknownChoice):
        memory.recall("cache", mode="psychic")  # type: ignore[arg-type]


def _texts(memory: Recollect, filter: Filter) -> list[str]:
    return [hit.memory.content for hit in memory.recall("Ada", filter=filter)]


def _days(memory: Recollect) -> None:
    for number in range(10):
        memory.remember(
            f"The deploy of day {number} went well.", kind="episode", session=f"day{number}", event_at=_day(number)
        )


def _day(number: int) -> datetime:
    return datetime(2026, 1, 1 + number, tzinfo=UTC)


def _repository(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    subprocess.run(["git", "-C", str(root), "init", "-q"], check=True)
    (root / "a.py").write_text("one")
    (root / "b.py").write_text("two")
    (root / ".gitignore").write_text(".recollect/\n")
    _commit(root)
    return root


def _commit(root: Path) -> None:
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    names = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run(["git", "-C", str(root), *names, "commit", "-qm", "step"], check=True)


def test_after_an_event_is_a_time_too_and_an_unknown_event_restricts_nothing(memory: Recollect) -> None:
    _days(memory)
    memory.remember("We ran the migration.", kind="episode", session="day4", event_at=_day(4))
    hits = memory.recall("what about the deploy since the migration", k=4)
    dated = {hit.memory.session for hit in hits if hit.factors.get("why.date")}
    assert dated
    assert not dated & {"day0", "day1", "day2", "day3"}
    unknown = memory.recall("what about the deploy since the coronation", k=4)
    assert unknown.hits
    assert not any(hit.factors.get("why.date") for hit in unknown)


def test_what_holds_goes_before_what_waits_for_review_and_what_is_still_to_come(
    memory: Recollect, clock: HandClock
) -> None:
    now = clock.now
    holds = memory.remember("The payment timeout is 30 seconds.", event_at=now - timedelta(days=30))
    memory.remember("The payment timeout is 45 seconds.", event_at=now - timedelta(days=90))
    memory.remember("The payment timeout is 60 seconds.", event_at=now + timedelta(days=90))
    for question in ("payment timeout", "what is the payment timeout now?"):
        assert memory.recall(question).hits[0].memory.id == holds.id
    text = memory.brief("payment timeout").text
    assert text.count(", needs review") == 2
    assert text.index("30 seconds") < min(text.index("45 seconds"), text.index("60 seconds"))


def test_what_was_superseded_is_found_by_who_asks_for_it(memory: Recollect) -> None:
    memory.remember("The payment timeout is 30 seconds.")
    memory.remember("The payment timeout is 45 seconds now.")
    found = {}
    for status in ("active", "superseded"):
        hits = memory.recall("payment timeout", filter=Filter(statuses=[status])).hits
        found[status] = [hit.memory.content for hit in hits]
    assert found == {
        "active": ["The payment timeout is 45 seconds now."],
        "superseded": ["The payment timeout is 30 seconds."],
    }
