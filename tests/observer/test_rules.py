"""Every signal that can become a memory does, in a sentence that says what happens, where, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from observer_session import Learn, Session
from recollect.app import Recollect
from recollect.core.kinds import Kind
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Status
from recollect.observer.rules.work import _from_the_start

ANY = Filter(statuses=frozenset(Status))


def of(memory: Recollect, signal: str) -> list[Memory]:
    found = memory.list(Filter(tags=frozenset({f"observed:{signal}"}), statuses=frozenset(Status)), limit=100).memories
    return sorted(found, key=lambda one: one.content)


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


def setting(name: str) -> Session:
    return Session(name).edit("pyproject.toml").edit("src/limits.py")


def wrong_place(name: str) -> Session:
    return Session(name).read("src/handlers.py").grep("total").read("src/cart.py").edit("src/cart.py")


def redone(name: str) -> Session:
    session = Session(name).edit("src/cart.py").run("make check", "assertion failed", error=True)
    return session.edit("src/cart.py").run("make check")


def unread(name: str) -> Session:
    return Session(name).edit("src/cart.py").read("src/tax.py").edit("src/cart.py")


def contested(name: str) -> Session:
    return Session(name).edit("src/a.py", "File has been modified since read, either by the user", error=True)


def overrun(name: str) -> Session:
    session = Session(name).call("TodoWrite", todos=[{"content": "one"}, {"content": "two"}])
    for number in range(60):
        session.run(f"step {number}")
    return session


def fruitless(name: str) -> Session:
    listed = "\n".join(f"node_modules/{n}/CHANGELOG.md" for n in range(8))
    return Session(name).call("Glob", listed, pattern="**/CHANGELOG*").edit("src/a.py")


def hard(name: str) -> Session:
    return Session(name).read("src/engine.py").read("src/engine.py").read("src/engine.py").read("src/engine.py")


def refused(name: str) -> Session:
    no = "The user doesn't want to proceed with this tool use."
    return Session(name).user("go").call("Bash", no, error=True, rejected=True, command="git push")


@pytest.mark.parametrize(
    ("lived", "sessions", "signal", "kind", "told"),
    [
        (round_of_commands, 3, "tool_sequence", Kind.WORKFLOW_RECIPE,
         "The usual round here: edit, then `make fmt`, then `make lint`, then `make check`."),
        (looked_up, 3, "external_reference", Kind.MODULE_INSIGHT,
         "`https://docs.example/api` is looked up again and again for work on `src/client.py`."),
        (imports, 4, "import_chase", Kind.CAUSAL_DEPENDENCY,
         "To follow `src/app.py` you need `src/store.py` and `src/codec.py`: it leads there through its imports."),
        (setting, 2, "config_touch", Kind.CAUSAL_DEPENDENCY,
         "`pyproject.toml` and `src/limits.py` are changed together: check one when you change the other."),
        (wrong_place, 3, "read_abandon", Kind.GOTCHA,
         "`src/handlers.py` looks like the place to start and usually is not: the work was in `src/cart.py`."),
        (redone, 3, "backtrack", Kind.GOTCHA,
         "First changes of `src/cart.py` usually fail and are redone: change little and check after each change."),
        (unread, 2, "backtrack", Kind.GOTCHA,
         "Read `src/tax.py` before changing `src/cart.py`: changes made without it were redone."),
        (contested, 1, "parallel_conflict", Kind.GOTCHA,
         "`src/a.py` changes under the agent's hands (a formatter, a hook or a person changes it meanwhile): "
         "read it again right before every change."),
        (overrun, 3, "step_overrun", Kind.TASK_CALIBRATION,
         "A planned item takes about 30 steps here: expect that, or plan smaller ones."),
        (fruitless, 2, "glob_ignore", Kind.GOTCHA,
         "Listing `**/CHANGELOG*` leads nowhere: it finds mostly files of other people's packages. "
         "Search for a name instead."),
        (hard, 3, "file_access", Kind.MODULE_INSIGHT,
         "`src/engine.py` takes several readings: agents come back to it again and again without changing it. "
         "Search it for the name you need."),
        (refused, 2, "self_correction", Kind.GOTCHA,
         "People refuse `git push` when an agent tries it: ask before running it."),
    ],
)  # fmt: skip
def test_a_signal_becomes_this_sentence_once_enough_sessions_had_it_and_not_before(
    memory: Recollect,
    learn: Learn,
    lived: Callable[[str], Session],
    sessions: int,
    signal: str,
    kind: Kind,
    told: str,
) -> None:
    for number in range(sessions - 1):
        learn(lived(f"s{number}"))
        assert told not in [one.content for one in of(memory, signal)]
    learn(lived("last"))
    found = [one for one in of(memory, signal) if one.content == told]
    assert [one.kind for one in found] == [kind], [one.content for one in of(memory, signal)]
    assert found[0].attributes["evidence"][-1]["session"] == "last"


def test_what_was_looked_up_outside_is_always_tainted(memory: Recollect, learn: Learn) -> None:
    for number in range(4):
        learn(looked_up(f"s{number}"))
    assert [one.attributes["tainted"] for one in of(memory, "external_reference")] == [True]


def test_two_agents_on_one_file_are_told_as_that(memory: Recollect, learn: Learn) -> None:
    learn(Session("s").edit("src/a.py", agent="one").edit("src/a.py", agent="two"))
    (found,) = of(memory, "parallel_conflict")
    assert "several agents change it at once" in found.content


def test_a_round_of_reading_and_editing_is_no_recipe(memory: Recollect, learn: Learn) -> None:
    for number in range(4):
        session = Session(f"s{number}")
        for _ in range(4):
            session.grep("x").read("a.py").edit("a.py").read("b.py")
        learn(session)
    assert of(memory, "tool_sequence") == []


def test_a_recipe_and_a_calibration_carry_their_payloads(memory: Recollect, learn: Learn) -> None:
    for number in range(3):
        learn(round_of_commands(f"r{number}"))
        learn(overrun(f"o{number}"))
    (recipe,) = of(memory, "tool_sequence")
    assert recipe.payload is not None
    (plan,) = of(memory, "step_overrun")
    assert plan.payload is not None
    assert plan.payload.samples == 3  # type: ignore[union-attr]


@pytest.mark.parametrize("turned", range(4))
def test_a_round_is_told_from_its_first_action_by_hand_wherever_one_begins_to_look(turned: int) -> None:
    told = ["search", "read", "edit", "run make test"]
    assert _from_the_start([*told[turned:], *told[:turned]]) == told
    commands = ["run a", "run b", "run c", "edit"]
    assert _from_the_start([*commands[turned:], *commands[:turned]]) == ["edit", "run a", "run b", "run c"]
    by_hand = ["a", "c", "b", "d"]
    assert _from_the_start([*by_hand[turned:], *by_hand[:turned]]) == by_hand
