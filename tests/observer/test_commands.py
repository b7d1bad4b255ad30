"""The commands that work in a project are learnt from those that went well, and told the surest first."""

from __future__ import annotations

import pytest

import recollect
from recollect import Recollect
from recollect.core.errors import UnknownChoice
from recollect.observer.commands import find_commands
from recollect.observer.events import ToolResult
from recollect.observer.tool_calls import read_tool_call


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("cd web && CI=1 npm run test:unit -- src/a.test.ts 2>&1 | tail -20", [("test", "npm run test:unit", "web")]),
        ("go test -run TestA ./pkg/... && go vet ./...", [("test", "go test", ""), ("lint", "go vet", "")]),
        ("uv run pytest tests/test_a.py::test_b -q", [("test", "uv run pytest", "")]),
        ("npm --prefix web run build", [("build", "npm run build", "web")]),
        ("make -C lib check", [("lint", "make check", "lib")]),
        ("bash scripts/test.sh", [("test", "bash scripts/test.sh", "")]),
        ("npx tsc --noEmit; npm run dev", [("build", "npx tsc", ""), ("run", "npm run dev", "")]),
        ("git commit -m 'test: build'; grep -r test src; cat test.py", []),
        ("echo build && ls tests", []),
    ],
)  # fmt: skip
def test_a_command_is_known_by_what_it_does_and_where_it_runs(line: str, found: list[tuple[str, str, str]]) -> None:
    assert [(one.purpose, one.name, one.folder) for one in find_commands(line)] == found


def work(memory: Recollect, session: str, *commands: tuple[str, bool, str]) -> None:
    watch = memory.observer.watch(session)
    for number, (line, failed, text) in enumerate(commands):
        key = f"c{number}"
        watch.feed(read_tool_call("Bash", {"command": line}, ".", call_id=key, id=f"{session}{key}", session=session,
                                  step=number, at=1_000.0 + number))  # fmt: skip
        watch.feed(ToolResult(call_id=key, error=failed, text=text, id=f"{session}r{number}", session=session,
                              step=number, at=1_000.5 + number))  # fmt: skip
    memory.observer.finish(watch)


def test_what_went_well_is_told_first_with_its_folder_and_what_it_replaces() -> None:
    with recollect.open(":memory:", project="p") as memory:
        assert memory.observer.commands() == []
        for number in range(3):
            work(
                memory,
                f"s{number}",
                ("npm test", True, "npm: command not found"),
                ("cd web && bun test src/a.test.ts", False, "3 pass"),
                ("bun run lint | tail -3", False, "Found 2 errors."),
            )
        (best,) = memory.observer.commands("test")
        assert (best.name, best.folder, best.sessions, best.instead_of) == ("bun test", "web", 3, ("npm test",))
        assert best.line == "cd web && bun test src/a.test.ts"
        assert memory.observer.commands("lint") == []
        with pytest.raises(UnknownChoice):
            memory.observer.commands("deploy")


def test_a_command_that_fails_often_or_long_ago_comes_after_one_that_works_now() -> None:
    with recollect.open(":memory:", project="p") as memory:
        for number in range(4):
            work(memory, f"a{number}", ("make test", True, "boom"), ("make test", False, "ok"))
        for number in range(4):
            work(memory, f"b{number}", ("just test", False, "ok"))
        assert [one.name for one in memory.observer.commands("test")] == ["just test", "make test"]
        assert len(memory.observer.commands(k=1)) == 1


def test_files_that_change_from_session_to_session_are_no_part_of_a_command() -> None:
    with recollect.open(":memory:", project="p") as memory:
        for number in range(3):
            work(memory, f"s{number}", (f"pytest tests/test_{number}.py", False, "1 passed"))
        assert [one.command for one in memory.observer.commands("test")] == ["pytest"]
