from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from conftest import HandClock
from recollect import Filter
from recollect.app import Recollect
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.interfaces.cli import main as cli
from recollect.recall.trend import PERIODS, count_periods

pytestmark = pytest.mark.both_engines


def test_what_was_seen_is_counted_by_when_it_happened(memory: Recollect, clock: HandClock) -> None:
    for days, name in ((1, "a"), (2, "b"), (9, "c"), (300, "d"), (-30, "e")):
        memory.remember(f"The proxy hit a timeout in build {name}.", event_at=clock.now - timedelta(days=days))
    memory.remember("The proxy restarted.")
    memory.remember("A timeout of one user.", user="ada")
    trend = memory.trend("timeout", by="day", days=10)
    assert [period.count for period in trend.periods] == [1, 0, 0, 0, 0, 0, 0, 1, 1, 0]
    assert (trend.total, trend.periods[-1].start) == (3, datetime(2026, 3, 1, tzinfo=UTC))
    assert memory.trend("timeout proxy", by="week", days=30).total == 3
    assert memory.trend("timeout", days=30, user="ada").total == 4
    assert memory.trend(days=30).total == 4
    assert memory.trend("timeout", days=30, filter=Filter(kinds="gotcha")).total == 0
    assert memory.trend("nothing like it").total == 0


def test_it_says_whether_something_happens_more_often(memory: Recollect, clock: HandClock) -> None:
    for number in range(12):
        memory.remember(f"Failure {number} of the queue.", event_at=clock.now - timedelta(days=number))
    assert memory.trend("queue", days=80).direction == "rising"
    assert memory.trend("queue", by="day", days=8).direction == "steady"
    clock.pass_(days=60)
    assert memory.trend("queue", days=80).direction == "falling"


@pytest.mark.parametrize("by", PERIODS)
def test_every_moment_of_the_days_asked_for_is_in_exactly_one_period(by: str) -> None:
    now = datetime(2026, 3, 31, 23, 59, tzinfo=UTC)
    for days in (1, 2, 31, 366):
        moments = [now - timedelta(days=day) for day in range(days)]
        trend = count_periods(moments, by=by, days=days, now=now)  # type: ignore[arg-type]
        assert trend.total == days
        starts = [period.start for period in trend.periods]
        assert starts == sorted(set(starts))


def test_an_unknown_period_and_an_endless_span_are_refused(memory: Recollect) -> None:
    with pytest.raises(UnknownChoice):
        memory.trend("x", by="fortnight")
    for days in (0, -1, 10**9):
        with pytest.raises(InvalidField):
            memory.trend("x", days=days)


def test_the_command_line_draws_it_and_tells_it_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = ["--store", str(tmp_path / "m.db")]
    assert cli(["remember", "The queue hit a timeout.", *place]) == 0
    capsys.readouterr()
    assert cli(["trend", "timeout", "--by", "month", "--days", "20", *place]) == 0
    assert "1 time in all" in capsys.readouterr().out
    assert cli(["trend", "timeout", "--json", *place]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["by"], told["total"], told["periods"][-1]["count"]) == ("week", 1, 1)
