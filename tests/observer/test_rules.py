"""Which signals become memories, and that the others are counted and become none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from observer_session import Learn, Session
from recollect.app import Recollect
from recollect.core.kinds import Kind
from recollect.core.query import Filter
from recollect.core.scope import Status
from recollect.observer.rules.places import goes_without_saying, is_ledger, is_passing_place

ANY = Filter(statuses=frozenset(Status))


def test_a_command_that_people_refuse_in_two_sessions_is_told(memory: Recollect, learn: Learn) -> None:
    def refused(name: str) -> Session:
        no = "The user doesn't want to proceed with this tool use."
        return Session(name).user("go").call("Bash", no, error=True, rejected=True, command="git push")

    learn(refused("s0"))
    assert memory.list(ANY).memories == ()
    learn(refused("s1"))
    (found,) = memory.list(ANY).memories
    assert found.kind == Kind.GOTCHA
    assert found.content == "People refuse `git push` when an agent tries it: ask before running it."
    assert found.attributes["evidence"][-1]["session"] == "s1"


def round_of_commands(name: str) -> Session:
    session = Session(name)
    for _ in range(5):
        session.edit("a.py").run("make fmt").run("make lint").run("make check")
    return session


def looked_up(name: str) -> Session:
    return Session(name).call("WebFetch", "docs", url="https://docs.example/api?x=1").edit("src/client.py")


def imports(name: str) -> Session:
    session = Session(name).read("src/app.py", "from src import store").read("src/store.py", "from src import codec")
    return session.read("src/codec.py", "x = 1")


def wrong_place(name: str) -> Session:
    return Session(name).read("src/handlers.py").grep("total").read("src/cart.py").edit("src/cart.py")


def redone(name: str) -> Session:
    session = Session(name).edit("src/cart.py").run("make check", "assertion failed", error=True)
    return session.edit("src/cart.py").run("make check")


def contested(name: str) -> Session:
    return Session(name).edit("src/a.py", "File has been modified since read, either by the user", error=True)


def overrun(name: str) -> Session:
    session = Session(name).call("TodoWrite", todos=[{"content": "one"}, {"content": "two"}])
    for number in range(60):
        session.run(f"step {number}")
    return session


def searched(name: str) -> Session:
    return Session(name).grep("SessionStore").grep("sessionstore").grep("SessionStore").read("src/store.py")


def large(name: str) -> Session:
    return Session(name).read("a.py").read("b.py").read("big.json", size=60_000)


def in_order(name: str) -> Session:
    return Session(name).run("make test").run("make test-e2e")


@pytest.mark.parametrize(
    ("lived", "signal"),
    [
        (round_of_commands, "tool_sequence"),
        (looked_up, "external_reference"),
        (imports, "import_chase"),
        (wrong_place, "read_abandon"),
        (redone, "backtrack"),
        (contested, "parallel_conflict"),
        (overrun, "step_overrun"),
        (searched, "repeated_grep"),
        (large, "context_token_spike"),
        (in_order, "test_order"),
    ],
)
def test_a_signal_that_tells_a_stranger_nothing_to_do_is_counted_and_becomes_no_memory(
    memory: Recollect, learn: Learn, lived: Callable[[str], Session], signal: str
) -> None:
    for number in range(6):
        learn(lived(f"s{number}"))
    assert memory.list(ANY).memories == ()
    seen = memory.store.observed.get("s5")
    assert seen is not None
    assert signal in {one.name for one in seen.signals}


@pytest.mark.parametrize(
    "path",
    ["/etc/hosts", "~/notes.md", "../other/a.py", "tmp/x.py", "app/logs/a.txt", "a/2026-04-30-x.md", "run.log",
     "docs/ABC-123.md", ".git/index.lock", "x/0123456789abcdef.json", ".planning/STATE.md"],
)  # fmt: skip
def test_a_place_of_one_day_machine_or_task_is_passing(path: str) -> None:
    assert is_passing_place(path)


@pytest.mark.parametrize(
    "path", ["src/plan.py", "src/catalog/a.py", "docs/convert-sha256.md", "cmd/x/main.go", "a.yaml"]
)
def test_a_place_of_the_project_is_not(path: str) -> None:
    assert not is_passing_place(path)


@pytest.mark.parametrize(
    "path",
    ["CHANGELOG.md", "pnpm-lock.yaml", "Cargo.lock", "go.sum", "README.md", "api/x.pb.go", "dist/a.js", "a.snap"],
)
def test_what_every_change_touches_or_makes_is_a_ledger(path: str) -> None:
    assert is_ledger(path)


@pytest.mark.parametrize("path", ["src/state.go", "src/changes.py", "package.json", "src/release.ts", "build.gradle"])
def test_what_is_written_by_hand_is_none(path: str) -> None:
    assert not is_ledger(path)


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("src/cart.py", "tests/test_cart.py", True),
        ("a/x_test.go", "b/y_test.go", True),
        ("ui/Card.tsx", "ui/CardList.tsx", True),
        ("api/schema.py", "web/types.ts", False),
        (".claude-plugin/plugin.json", ".cursor-plugin/plugin.json", False),
        ("cmd/fetch.go", "cmd/push.go", False),
        ("src/remediation/engine.ts", "src/types/remediation.ts", True),
        ("src/api/user.ts", "src/types/user.d.ts", True),
        ("src/remediation/engine.ts", "web/types/report.ts", False),
    ],
)
def test_names_that_say_themselves_that_files_belong_together(one: str, other: str, said: bool) -> None:
    assert goes_without_saying(one, other) is said
