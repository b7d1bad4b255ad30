"""The files a session will touch are foreseen from its first prompt and the sessions before it."""

from __future__ import annotations

from collections.abc import Sequence
from time import thread_time

import pytest

from observer_session import Session
from recollect.observer import policy
from recollect.observer.file_prediction import PastSession, predict_files, words
from recollect.observer.recorder import Recorder


def paths(prompt: str, past: list[PastSession], **more: object) -> list[str]:
    return [file.path for file in predict_files(prompt, past, **more)]  # type: ignore[arg-type]


ROUTES = PastSession(prompt="the login route answers 500 when the cookie is missing", edited=("api/routes.py",))
COLOURS = PastSession(prompt="make the chart colours readable in dark mode", edited=("web/chart.tsx",))


def test_the_session_that_was_asked_alike_leads() -> None:
    assert paths("login answers 500 again without a cookie", [ROUTES, COLOURS])[0] == "api/routes.py"
    assert paths("the chart is unreadable in dark mode", [ROUTES, COLOURS])[0] == "web/chart.tsx"


def test_a_session_about_nothing_else_is_more_alike_than_a_long_one_that_also_says_the_word() -> None:
    short = PastSession(prompt="rotate cookies", edited=("short.py",))
    long = PastSession(prompt="rotate " + " ".join(f"other{n}" for n in range(10)), edited=("long.py",))
    unlike = PastSession(prompt=" ".join(f"filler{n}" for n in range(90)), edited=("unlike.py",))
    weights = {**dict.fromkeys(policy.FILE_WEIGHTS, 0.0), "alike": 1.0}
    for past in ([short, long, unlike], [long, short, unlike]):
        assert paths("rotate", past, weights=weights)[:2] == ["short.py", "long.py"]


def test_a_file_that_the_prompt_names_leads_even_when_nobody_touched_it() -> None:
    found = predict_files("please tidy core/clock.py", [ROUTES, COLOURS], files=["core/clock.py", "core/other.py"])
    assert found[0].path == "core/clock.py"
    assert found[0].because[0] == "the prompt names it"


@pytest.mark.parametrize("prompt", ["see clock.py", "the clock is late", "look at core/clock.py please"])
def test_a_path_a_file_name_and_a_stem_each_name_a_file(prompt: str) -> None:
    assert paths(prompt, [], files=["core/clock.py", "core/wall.py"])[0] == "core/clock.py"


def test_a_word_inside_another_names_no_file() -> None:
    assert paths("the clockwork orange", [], files=["core/clock.py"]) == []


def test_without_a_hint_the_latest_and_the_most_frequent_lead() -> None:
    past = [PastSession(prompt="x", edited=("old.py",)), PastSession(prompt="y", edited=("new.py",))]
    assert paths("", past) == ["new.py", "old.py"]
    worked = [PastSession(prompt="x", edited=("a.py", "b.py"), edits=(1, 9))]
    assert paths("", worked) == ["b.py", "a.py"]
    often = [PastSession(prompt=str(n), edited=("often.py",)) for n in range(5)] + [
        PastSession(prompt="z", edited=("once.py",))
    ] * 1
    weights = {**policy.FILE_WEIGHTS, "lately": 0.0}
    assert paths("", often, weights=weights)[0] == "often.py"


def test_work_goes_on_where_the_branch_was_left_and_main_is_no_branch() -> None:
    past = [
        PastSession(prompt="a", edited=("mine.py",), branch="feature"),
        *[PastSession(prompt="b", edited=("other.py",))] * 3,
    ]
    assert paths("go on", past, branch="feature")[0] == "mine.py"
    assert paths("go on", past, branch="main")[0] == "other.py"


def test_what_goes_with_a_leader_follows_it() -> None:
    def together(leaders: Sequence[str]) -> dict[str, dict[str, float]]:
        return {leader: {"tests/test_clock.py": 0.9} for leader in leaders if leader == "core/clock.py"}

    assert paths("tidy core/clock.py", [], files=["core/clock.py"], together=together) == [
        "core/clock.py",
        "tests/test_clock.py",
    ]


def test_words_that_every_prompt_of_the_project_holds_name_no_file() -> None:
    template = "You are an agent of the release board. Follow the playbook: "
    past = [PastSession(prompt=f"{template} begin", edited=("docs/release/board.md", "src/core/parser.py"))]
    past += [PastSession(prompt=f"{template} step {n}", edited=(f"steps/{n}.md",)) for n in range(12)]
    assert paths(f"{template} mend the parser", past)[0] == "src/core/parser.py"
    assert paths("the release board", past)[0] == "docs/release/board.md"


def test_naming_a_file_counts_by_what_naming_it_led_to() -> None:
    read_first = [PastSession(prompt="read docs/rules.md first, then go on", edited=("src/a.py",)) for _ in range(6)]
    edited = [PastSession(prompt="extend docs/plan.md please", edited=("docs/plan.md",)) for _ in range(6)]
    asked = "docs/rules.md docs/plan.md"
    found = {file.path: file.score for file in predict_files(asked, [*read_first, *edited], files=["docs/rules.md"])}
    assert found["docs/plan.md"] > 2 * found["docs/rules.md"]


def test_two_hundred_long_sessions_are_weighed_within_a_tenth_of_a_second() -> None:
    past = [
        PastSession(
            prompt=" ".join(f"word{(n * m) % 997}" for m in range(500)),
            edited=tuple(f"src/part{(n * m) % 60}/file{m}.py" for m in range(8)),
            read=tuple(f"docs/page{(n + m) % 200}.md" for m in range(10)),
        )
        for n in range(200)
    ]
    predict_files(past[7].prompt, past)
    began = thread_time()
    predict_files(past[8].prompt, past)
    assert thread_time() - began < 0.1


def test_k_is_an_upper_bound_and_nothing_known_gives_nothing() -> None:
    past = [PastSession(prompt="x", edited=tuple(f"{n}.py" for n in range(30)))]
    assert len(predict_files("x", past, k=7)) == 7
    assert predict_files("anything at all", []) == []


def test_the_same_past_gives_the_same_order() -> None:
    past = [ROUTES, COLOURS] * 5
    assert predict_files("login", past) == predict_files("login", past)


def test_the_first_request_is_kept_and_not_what_a_host_said_before_it() -> None:
    session = Session().user("<local-command-caveat>Caveat</local-command-caveat>").user("fix the login").user("thanks")
    assert session_prompt(session) == "fix the login"
    assert session_prompt(Session().user("[Request interrupted by user]")) == "[Request interrupted by user]"


def session_prompt(session: Session) -> str:
    recorder = Recorder()
    for event in session.events:
        recorder.see(event)
    return recorder.prompt


def test_names_are_taken_apart_and_endings_cut() -> None:
    assert words("parseRequests logged_in") == ("parse", "request", "logg", "in")


def test_a_prompt_of_a_megabyte_is_read_only_at_its_beginning() -> None:
    assert paths("fix the login " + "x" * 1_000_000, [ROUTES])[0] == "api/routes.py"
