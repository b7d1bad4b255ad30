"""Repeated errors are foreseen from what earlier sessions taught: by feature and state, rarely, and once a session."""

from __future__ import annotations

import pytest

from observer_session import Session
from recollect.observer import policy
from recollect.observer.events import Event, ToolCall
from recollect.observer.failure_patterns import (
    Match,
    Pattern,
    Trouble,
    choose_threshold,
    format_warning,
    match_patterns,
)
from recollect.observer.features import FeatureState, split_commands
from recollect.observer.predictor import FailureOdds, SessionPredictor

UNREAD = "File has not been read yet. Read it first before writing to it."


def learnt(*sessions: Session) -> list[Pattern]:
    odds = FailureOdds()
    for session in sessions:
        odds.add(watched(session, lines=odds.lines).features())
    return odds.patterns()


def watched(
    session: Session, patterns: list[Pattern] | None = None, *, lines: set[tuple[str, str]] | None = None
) -> SessionPredictor:
    predictor = SessionPredictor(patterns or [], lines=lines or ())
    for event in session.events:
        predictor.see(event)
    return predictor


def last_call(session: Session) -> tuple[ToolCall, FeatureState]:
    """The last call of a session, and how things stood before it."""
    calls = [number for number, event in enumerate(session.events) if isinstance(event, ToolCall)]
    feature_state = FeatureState()
    for event in session.events[: calls[-1]]:
        feature_state.see(event)
    call = session.events[calls[-1]]
    assert isinstance(call, ToolCall)
    return call, feature_state


def likelihood(session: Session, patterns: list[Pattern]) -> float:
    """How likely the last call of a session is to fail, by the best match."""
    call, feature_state = last_call(session)
    return max(
        (match.likelihood for match in match_patterns(call, patterns, feature_state=feature_state, threshold=0.0)),
        default=0.0,
    )


def unread_edits(name: str) -> Session:
    return Session(name).edit(f"{name}.py", UNREAD, error=True).read(f"{name}.py").edit(f"{name}.py")


def test_an_edit_of_an_unread_file_is_foreseen_to_fail_and_one_of_a_read_file_is_not() -> None:
    patterns = learnt(unread_edits("a"), unread_edits("b"), unread_edits("c"))
    assert likelihood(Session().edit("new.py"), patterns) > 0.6
    assert likelihood(Session().read("new.py").edit("new.py"), patterns) < 0.35


def test_a_trouble_of_one_session_is_not_foreseen() -> None:
    assert learnt(unread_edits("a")) == []
    assert learnt(unread_edits("a"), unread_edits("b")) != []


def test_a_command_that_always_fails_is_foreseen_wherever_it_stands_in_the_line() -> None:
    def failing(name: str) -> Session:
        return Session(name).run("rtk bun run test", "error: unrecognized subcommand 'bun'", error=True)

    patterns = learnt(failing("a"), failing("b"), failing("c"))
    assert likelihood(Session().run("cd web && rtk bun run lint"), patterns) > 0.6
    assert likelihood(Session().run("bun run test"), patterns) == 0.0


def test_a_failure_that_a_pipe_hides_is_not_warned_of() -> None:
    sessions = [
        Session(name)
        .run("make lint", "lint failed", error=True)
        .run("make lint | tail -3", "lint failed")
        .run("make lint | tail -3", "lint failed")
        for name in ("a", "b", "c", "d")
    ]
    patterns = learnt(*sessions)
    assert likelihood(Session().run("make lint"), patterns) > 0.6
    assert likelihood(Session().run("make lint | tail -5"), patterns) < 0.3


def test_a_file_nobody_ever_saw_is_doubted_and_one_that_was_listed_is_not() -> None:
    def guess(name: str) -> Session:
        return (
            Session(name)
            .call("Glob", "src/real.py", pattern="*.py")
            .read("src/real.py")
            .read("src/guessed.py", "File does not exist.", error=True)
        )

    patterns = learnt(guess("a"), guess("b"), guess("c"))
    assert likelihood(Session().read("lib/other.py"), patterns) > 0.25
    assert likelihood(Session().read("src/guessed.py"), patterns) > 0.6
    assert likelihood(Session().call("Glob", "lib/other.py", pattern="*").read("lib/other.py"), patterns) == 0.0


def test_a_command_that_mostly_works_is_left_in_peace() -> None:
    def steady(name: str, *, fails: bool) -> Session:
        session = Session(name)
        for _ in range(9):
            session.run("go test ./...")
        return session.run("go test ./...", "FAIL: TestX", error=True) if fails else session

    patterns = learnt(*(steady(f"s{number}", fails=number in (3, 9)) for number in range(12)))
    assert likelihood(Session().run("go test ./..."), patterns) < 0.25


def test_what_was_mended_fades() -> None:
    bad = [Session(f"b{n}").run("make docs", "sphinx: not found", error=True) for n in range(3)]
    good = [Session(f"g{n}").run("make docs") for n in range(40)]
    before, after = learnt(*bad), learnt(*bad, *good)
    assert likelihood(Session().run("make docs"), before) > 0.6
    assert likelihood(Session().run("make docs"), after) < policy.THRESHOLDS[0]


def maybe(what: str, odds: float, *marks: str) -> Pattern:
    return Pattern("Bash", "command", what, odds, {}, tuple(map(Trouble, marks)), 3)


def test_what_may_fail_is_given_once_and_what_is_sure_to_fail_is_told_again() -> None:
    call, _ = last_call(Session().run("make docs"))
    for odds, again in ((0.4, 0), (0.8, 1)):
        pattern = maybe("make docs", odds, "f", "g")
        assert len(match_patterns(call, [pattern])) == 1
        assert len(match_patterns(call, [pattern], given={pattern.id})) == again
        assert len(match_patterns(call, [pattern], told={"f"})) == 1
        assert len(match_patterns(call, [pattern], told={"f", "g"})) == again


def test_what_is_known_of_a_line_stands_for_what_is_known_of_its_command() -> None:
    line = Pattern("Bash", "line", "make docs", 0.0, {"first": 0.1}, (Trouble("f"),), 2)
    call, _ = last_call(Session().run("make docs 2>&1"))
    assert match_patterns(call, [maybe("make docs", 0.8, "f"), line], threshold=0.3) == []
    other, _ = last_call(Session().run("make docs CHECK=1"))
    assert len(match_patterns(other, [maybe("make docs", 0.8, "f"), line], threshold=0.3)) == 1


def test_a_session_counts_a_warning_for_each_threshold_that_it_passes() -> None:
    predictor = watched(Session().run("make docs").run("make docs"), [maybe("make docs", 0.4, "f")])
    assert predictor.raised == tuple(int(threshold <= 0.4) for threshold in policy.THRESHOLDS)
    sure = watched(Session().run("make docs").run("make docs"), [maybe("make docs", 0.9, "f")])
    assert set(sure.raised) == {2}


def quiet(calls: int, errors: int) -> tuple[int, int, tuple[int, ...]]:
    return calls, errors, tuple(0 for _ in policy.THRESHOLDS)


def test_a_warning_must_be_many_times_as_likely_as_calls_here_usually_fail() -> None:
    assert choose_threshold([]) >= policy.LEAST_LIFT * policy.USUAL_FAILURES
    assert choose_threshold([quiet(5_000, 100)]) < choose_threshold([quiet(5_000, 300)])
    assert choose_threshold([quiet(5_000, 3_000)]) == policy.THRESHOLDS[-1]


def test_the_budget_raises_the_threshold_but_what_is_surest_is_always_told() -> None:
    chatty = (1_000, 40, tuple(50 if threshold < 0.5 else 5 for threshold in policy.THRESHOLDS))
    assert choose_threshold([chatty], budget=1.0) == 0.5
    assert choose_threshold([chatty], budget=9.0) < 0.5
    assert choose_threshold([(1_000, 40, tuple(500 for _ in policy.THRESHOLDS))]) == policy.THRESHOLDS[-1]


def test_a_warning_says_what_failed_and_what_helped() -> None:
    pattern = Pattern("Bash", "command", "rtk bun", 0.9, {}, (Trouble("f", "unrecognized subcommand", "run bun"),), 4)
    (match,) = match_patterns(last_call(Session().run("rtk bun test"))[0], [pattern])
    assert format_warning(match) == (
        "`rtk bun` failed in 4 earlier sessions here: an option it does not know (what helped: run bun)"
    )


@pytest.mark.parametrize(
    ("sort", "what", "state", "said"),
    [
        ("state", "absent", "", "Edit of text that is not in the file (as here) failed in 2 earlier sessions here; "
         "read those lines again and copy them with their spaces and tabs"),
        ("state", "unread", "", "Edit of a file that was not read in this session failed in 2 earlier sessions here; "
         "read it first"),
        ("command", "make docs", "told same failed", "`make docs` failed in 2 earlier sessions here; it failed in this "
         "session and nothing was edited since"),
        ("line", "make docs; do as I say", "first", "A call like this failed in 2 earlier sessions here"),
    ],
)  # fmt: skip
def test_a_warning_says_what_to_do_instead(sort: str, what: str, state: str, said: str) -> None:
    assert format_warning(Match(Pattern("Edit", sort, what, 0.9, {}, (Trouble("f"),), 2), 0.9, state)) == said


def test_an_unread_file_may_be_edited_where_that_went_well_in_the_session() -> None:
    patterns = learnt(unread_edits("a"), unread_edits("b"), unread_edits("c"))
    assert likelihood(Session().edit("one.py").edit("two.py"), patterns) == 0.0


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cd web && npm run lint 2>&1 | tail -5", [("npm run lint", False)]),
        ("mise run fmt && mise run lint", [("mise run fmt", True), ("mise run lint", True)]),
        ("git commit -m 'a; b && c'", [("git commit", True)]),
        ("make test; echo done", [("make test", False), ("echo done", True)]),
        ("", []),
        ("echo 'never closed && make", [("echo", True), ("make", True)]),
    ],
)
def test_commands_of_a_line_are_named_with_whether_their_failure_is_told(
    line: str, found: list[tuple[str, bool]]
) -> None:
    assert list(split_commands(line)) == found


def test_events_out_of_order_and_answers_without_calls_are_survived() -> None:
    predictor = SessionPredictor()
    events: list[Event] = list(reversed(unread_edits("a").events))
    for event in events:
        predictor.see(event)
    assert predictor.calls == 3
    assert all(not feature.failed for feature in predictor.features())


def test_that_a_command_fails_is_a_local_fact_whatever_was_looked_up_before() -> None:
    def outside(name: str) -> Session:
        session = Session(name).call("WebFetch", url="https://example.org")
        return session.run("rtk bun test", "unrecognized subcommand", error=True)

    assert learnt(*(outside(name) for name in "abc")) != []


def test_the_same_sessions_teach_the_same_patterns() -> None:
    sessions = [unread_edits(name) for name in "abc"]
    assert learnt(*sessions) == learnt(*sessions)
