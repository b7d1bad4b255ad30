"""Findings of checks and observations of user interfaces become memories as the source deserves."""

from __future__ import annotations

import pytest

import recollect
from observer_session import Session
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.query import Filter
from recollect.core.scope import Source, Status
from recollect.observer import findings
from recollect.observer.tool_calls import read_tool_call
from recollect.testing.fakes import WordEmbedder


def test_critical_and_high_findings_are_error_patterns_at_once_and_the_rest_is_left() -> None:
    report = {
        "findings": [
            {"severity": "critical", "title": "SQL built from input.", "file": "api/db.py:12", "fix": "bind it"},
            {"severity": "Blocker", "message": "Race in the cache", "files": ["core/cache.py"]},
            {"severity": "low", "title": "A typo"},
        ]
    }
    with recollect.open(":memory:") as memory:
        first, second = (receipt.memory for receipt in memory.observer.qa(report, session="s1"))
    assert (first.content, first.files) == ("SQL built from input. What mends it: bind it", ("api/db.py",))
    assert (first.kind, first.confidence, first.source) == ("error_pattern", 0.8, Source.QA_AUTO)
    assert (second.status, second.needs_review, second.session) == (Status.ACTIVE, False, "s1")


def test_a_finding_gets_its_vector_at_once_like_anything_else_that_is_remembered() -> None:
    embedder = WordEmbedder()
    with recollect.open(":memory:", embedder=embedder) as memory:
        for number in range(20):
            memory.remember(f"Mineral{number} is found in quarry{number}.", kind="decision")
        memory.tend()
        embedder.at_hand = True
        memory.observer.findings([findings.Finding("Deploying freezes on Fridays.")])
        assert memory.recall("depl frid", track=False).hits[0].factors["dense"] > 0


def test_the_same_report_twice_is_remembered_once() -> None:
    report = [{"severity": "high", "title": "Race in the cache"}]
    with recollect.open(":memory:") as memory:
        (first,), (again,) = memory.observer.qa(report), memory.observer.qa(report)
        assert first.id == again.id


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("text", "findings"),
        ({"nothing": 1}, "findings"),
        ([1], "findings[0]"),
        ([{"severity": "awful", "title": "x"}], "findings[0].severity"),
        ([{"severity": "high"}], "findings[0]"),
    ],
)
def test_a_report_that_cannot_be_read_names_the_finding(given: object, field: str) -> None:
    with pytest.raises(InvalidField) as error:
        findings.read_report(given)
    assert error.value.field == field


def test_a_grave_finding_behind_many_small_ones_is_kept_and_too_many_grave_ones_are_refused_not_cut() -> None:
    small = [{"severity": "note", "title": f"Typo {number}"} for number in range(300)]
    with recollect.open(":memory:") as memory:
        (kept,) = memory.observer.qa([*small, {"severity": "critical", "title": "Passwords are logged."}])
        assert kept.memory.content == "Passwords are logged."
        with pytest.raises(InvalidField, match="201 grave ones"):
            memory.observer.qa([{"severity": "high", "title": f"Broken {number}"} for number in range(201)])
        assert memory.count() == 1


def test_a_path_outside_the_project_is_not_a_file_of_the_finding() -> None:
    (finding,) = findings.read_report([{"severity": "high", "title": "x", "file": "../../etc/passwd"}])
    assert finding.files == ()


def ui_session(first: str, *between: str) -> list[findings.Observation]:
    session = Session().call("mcp__browser__browser_click", first, error=True, query="Save")
    for tool in between:
        session.call(f"mcp__browser__{tool}", query="the page")
    return findings.watched(session.call("mcp__browser__browser_click", query="Save").events)


@pytest.mark.parametrize(
    ("trouble", "between", "sort"),
    [
        ("Timeout: element is not visible", (), "timing"),
        ("Element is not visible", ("browser_wait_for",), "timing"),
        ("No element matches 'Save'", ("browser_navigate",), "precondition"),
        ("Not connected to a page", (), "mcp_gotcha"),
        ("It did not move", ("browser_hover", "browser_fill"), "test_sequence"),
        ("It did not move", (), "ui_behavior"),
    ],
)
def test_what_lay_between_a_failure_and_success_tells_what_kind_it_is(
    trouble: str, between: tuple[str, ...], sort: str
) -> None:
    (found,) = ui_session(trouble, *between)
    assert found.sort == sort
    (draft,) = findings.draft_observations([found])
    assert (draft.kind, draft.confidence, draft.needs_review) == ("e2e_observation", 0.75, True)


def test_a_failure_that_never_worked_and_other_tools_teach_nothing_of_the_interface() -> None:
    assert findings.watched(Session().call("mcp__b__browser_click", "Timeout", error=True, query="Save").events) == []
    assert findings.watched(Session().run("make", "timeout", error=True).run("make").events) == []


def test_told_observations_are_checked() -> None:
    assert findings.read_observations([{"type": "timing", "text": "The list loads late"}])[0].sort == "timing"
    with pytest.raises(UnknownChoice):
        findings.read_observations([{"type": "colour", "text": "x"}])
    with pytest.raises(InvalidField):
        findings.read_observations([{"type": "timing", "text": " "}])
    with pytest.raises(InvalidField):
        findings.read_observations("x")


def test_told_observations_wait_for_a_review() -> None:
    with recollect.open(":memory:") as memory:
        (receipt,) = memory.observer.ui([{"type": "timing", "text": "The list loads late"}])
        kept = receipt.memory
        assert (kept.kind, kept.confidence, kept.status) == ("e2e_observation", 0.75, Status.CANDIDATE)
        assert kept.needs_review


def test_what_a_watched_session_saw_of_an_interface_is_kept_when_it_ends() -> None:
    session = Session("s1").call("mcp__browser__browser_click", "Timeout: not visible", error=True, query="Save")
    session.call("mcp__browser__browser_click", query="Save")
    with recollect.open(":memory:") as memory:
        watch = memory.observer.watch("s1")
        for event in session.events:
            watch.feed(event)
        assert memory.store.memories.count(Filter(statuses=frozenset(Status))) == 0
        memory.observer.finish(watch)
        kept = memory.store.memories.page(Filter(statuses=frozenset(Status))).memories
    assert [(one.kind, one.attributes["observation"]) for one in kept] == [("e2e_observation", "timing")]


def test_a_finding_is_written_down_in_the_observers_name() -> None:
    with recollect.open(":memory:", actor="somebody") as memory:
        (receipt,) = memory.observer.findings([findings.Finding("Deploying freezes on Fridays.")])
        assert [entry.actor for entry in memory.history(receipt.memory.id)] == [findings.ACTOR]
        assert findings.ACTOR != "somebody"


def test_calls_of_a_user_interface_that_are_never_answered_are_not_kept_for_ever() -> None:
    watcher = findings.UiWatcher()
    for number in range(500):
        watcher.see(
            read_tool_call(
                "mcp__playwright__browser_click",
                {"element": f"button {number}"},
                "/p",
                call_id=str(number),
                id=str(number),
                session="s",
                step=number,
                at=float(number),
            )
        )
    assert 0 < len(watcher._asked) <= 64
