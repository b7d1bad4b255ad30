"""The runner: what is due runs once, under a lease, within its budget; failures are told and rest."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import HandClock
from recollect.app import Recollect
from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.errors import StoreError, UnknownChoice
from recollect.core.ids import new_id
from recollect.tend.install import install, installation, with_line
from recollect.tend.policy import When, is_due
from recollect.tend.runner import Tended, TendRun, tend


class Counting:
    """A chore that counts its runs, has so much to do, and fails when told so."""

    def __init__(self, name: str = "prune", waiting: int = 1) -> None:
        self.name = name
        self.waiting = waiting
        self.runs: list[int] = []
        self.error: Exception | None = None

    def plan(self, now: datetime, *, due: bool) -> Plan:
        return Plan(self.name, (Step("it", "because"),), self.waiting) if due and self.waiting else Plan(self.name)

    def apply(self, plan: Plan, allowance: WorkBudget) -> Done:
        if self.error is not None:
            raise self.error
        done = 0
        while done < plan.total and allowance.allows():
            done += 1
            allowance.take()
        self.runs.append(done)
        return Done(self.name, done, plan.total - done)


Tend = Callable[..., Tended]


@pytest.fixture
def run(memory: Recollect, clock: HandClock) -> Tend:
    def go(*chores: Counting, **options: object) -> Tended:
        return tend(chores, TendRun(memory.store, clock, new_id, "tester", zone=UTC, **options))  # type: ignore[arg-type]

    return go


def test_a_chore_runs_once_for_each_time_its_hour_strikes(run: Tend, clock: HandClock) -> None:
    chore = Counting()
    for _ in range(24 * 3):
        run(chore)
        clock.pass_(hours=1)
    assert len(chore.runs) == 4  # at once, because it never ran, and on each of three mornings


def test_missed_runs_are_caught_up_once(run: Tend, clock: HandClock) -> None:
    chore = Counting()
    run(chore)
    clock.pass_(days=40)
    run(chore)
    run(chore)
    assert len(chore.runs) == 2


def test_a_named_job_runs_due_or_not_and_an_unknown_one_is_refused(run: Tend) -> None:
    chore = Counting()
    run(chore, job="prune")
    run(chore, job="prune")
    assert len(chore.runs) == 2
    with pytest.raises(UnknownChoice, match="nap"):
        run(chore, job="nap")


def test_a_dry_run_tells_the_plan_and_does_nothing(run: Tend, memory: Recollect) -> None:
    chore = Counting()
    assert run(chore, dry_run=True).plans == (Plan("prune", (Step("it", "because"),), 1),)
    assert chore.runs == []
    assert memory.store.jobs.every() == []
    assert memory.store.log.doing("tend", 10) == []


def test_a_run_that_used_up_its_budget_is_still_due(run: Tend) -> None:
    chore = Counting(waiting=10)
    run(chore, most=4)
    chore.waiting = 6
    run(chore, most=4)
    chore.waiting = 2
    run(chore, most=4)
    run(chore, most=4)
    assert chore.runs == [4, 4, 2]


def test_a_failing_chore_is_told_rests_longer_each_time_and_stops_no_other(
    run: Tend, memory: Recollect, clock: HandClock
) -> None:
    broken, sound = Counting("enrich"), Counting("prune")
    broken.error = ZeroDivisionError("by nought")
    result = run(broken, sound)
    assert [(report.chore, report.failed) for report in result.reports] == [("enrich", True), ("prune", False)]
    assert "ZeroDivisionError: by nought" in memory.store.log.doing("tend", 9)[-1].change.why
    assert "failed 1 ×" in run(broken).skipped[0]
    clock.pass_(minutes=11)
    assert run(broken).reports[0].failed
    clock.pass_(minutes=11)
    assert "failed 2 ×" in run(broken).skipped[0]
    broken.error = None
    clock.pass_(minutes=11)
    assert run(broken).reports[0].done == 1
    assert memory.store.jobs.get("enrich").failures == 0


def test_the_same_failure_is_written_down_once(run: Tend, memory: Recollect, clock: HandClock) -> None:
    broken = Counting()
    broken.error = OSError("no disk")
    for _ in range(20):
        run(broken)
        clock.pass_(hours=7)
    assert memory.store.jobs.get("prune").failures == 20
    assert len(memory.store.log.doing("tend", 100)) == 1


def test_a_chore_held_elsewhere_is_skipped_until_its_lease_runs_out(
    run: Tend, memory: Recollect, clock: HandClock
) -> None:
    chore = Counting()
    assert memory.store.jobs.claim("prune", holder="other", now=clock(), lease=timedelta(minutes=15))
    assert run(chore).skipped == ("prune: another process is at it",)
    clock.pass_(minutes=16)
    run(chore)
    assert len(chore.runs) == 1


def test_a_lease_from_a_clock_that_ran_ahead_holds_nobody(run: Tend, memory: Recollect, clock: HandClock) -> None:
    chore = Counting()
    memory.store.jobs.claim("prune", holder="other", now=clock() + timedelta(days=400), lease=timedelta(minutes=15))
    run(chore)
    assert len(chore.runs) == 1


def test_taking_back_the_last_change_does_not_take_back_maintenance(run: Tend, memory: Recollect) -> None:
    memory.remember("Basalt is dark.")
    run(Counting())
    assert memory.undo().actions == ("add",)


@pytest.mark.parametrize(
    ("when", "now", "struck"),
    [
        (When(hour=3), "2026-03-04T03:00", "2026-03-04T03:00"),
        (When(hour=3), "2026-03-04T02:59", "2026-03-03T03:00"),
        (When(hour=3, weekday=6), "2026-03-04T12:00", "2026-03-01T03:00"),
        (When(hour=3, weekday=6), "2026-03-01T02:00", "2026-02-22T03:00"),
        (When(hour=3, weekday=6), "2026-03-01T03:00", "2026-03-01T03:00"),
    ],
)
def test_an_hour_strikes_when_the_clock_says_so(when: When, now: str, struck: str) -> None:
    assert when.struck(datetime.fromisoformat(now)) == datetime.fromisoformat(struck)


def test_a_last_run_in_the_future_was_timed_wrongly_and_counts_for_nothing() -> None:
    now = datetime(2026, 3, 1, 2, 0, tzinfo=UTC)
    assert is_due(When(hour=3), last=now + timedelta(days=9), now=now, zone=UTC)
    assert not is_due(When(hour=3), last=now - timedelta(hours=1), now=now, zone=UTC)


def test_the_times_of_the_design_are_the_defaults() -> None:
    from recollect.tend.policy import SCHEDULE

    crons = {name: when.cron for name, when in SCHEDULE.items() if when.hour is not None}
    assert crons == {
        "enrich": "0 2 * * *",
        "consolidate": "0 3 * * *",
        "reflect": "0 3 * * 0",
        "synthesise": "0 3 * * *",
        "causes": "0 3 * * 0",
        "prune": "0 4 * * *",
    }


def test_installing_in_a_crontab_twice_leaves_one_line(tmp_path: Path) -> None:
    plan = installation("cron", tmp_path / "it's 100%" / "m.db", home=tmp_path, python="/usr/bin/python3")
    once = with_line("MAILTO=me\n0 0 * * * backup\n", plan.line)
    assert once == with_line(once, plan.line)
    assert once.startswith("MAILTO=me\n0 0 * * * backup\n")
    assert "\\%" in plan.line


@pytest.mark.parametrize("scheduler", ["systemd", "launchd"])
def test_a_unit_names_the_store_it_tends(tmp_path: Path, scheduler: str) -> None:
    plan = installation(scheduler, tmp_path / "a & b" / "m.db", home=tmp_path)  # type: ignore[arg-type]
    assert all(path.is_relative_to(tmp_path) for path, _ in plan.files)
    assert "tend" in plan.files[0][1]
    assert ("a & b" if scheduler == "systemd" else "a &amp; b") in plan.files[0][1]


_CRONTAB = """#!/bin/sh
if [ "$1" = -l ]; then cat {table} 2>/dev/null; else cat > {table}; fi
"""


def test_installing_keeps_the_lines_of_others_and_starts_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, tools = tmp_path / "table", tmp_path / "bin"
    tools.mkdir()
    for name, script in (
        ("crontab", _CRONTAB.format(table=table)),
        ("systemctl", f'#!/bin/sh\necho "$@" > {table}.ran\n'),
    ):
        (tools / name).write_text(script, encoding="utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    table.write_text("0 1 * * * backup\n", encoding="utf-8")
    plan = installation("cron", tmp_path / "m.db", home=tmp_path)
    install(plan)
    install(plan)
    assert table.read_text(encoding="utf-8").splitlines() == ["0 1 * * * backup", plan.line]
    timer = installation("systemd", tmp_path / "m.db", home=tmp_path)
    install(timer)
    assert all(path.read_text(encoding="utf-8") == text for path, text in timer.files)
    assert Path(f"{table}.ran").read_text(encoding="utf-8").split() == list(timer.start[1:])
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(StoreError):
        install(timer)
