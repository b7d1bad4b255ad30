from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recollect.core.ids import new_id

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def test_ids_of_one_family_sort_by_time() -> None:
    ids = [new_id("mem", NOW + timedelta(milliseconds=step)) for step in range(200)]
    assert ids == sorted(ids)


def test_ids_made_in_the_same_instant_differ() -> None:
    assert len({new_id("mem", NOW) for _ in range(10_000)}) == 10_000


def test_an_id_names_its_family() -> None:
    assert new_id("fact", NOW).startswith("fact_")


def test_a_time_before_1970_still_has_an_id() -> None:
    assert new_id("mem", datetime(1969, 1, 1, tzinfo=UTC)).startswith("mem_0000000000")


def test_an_id_has_one_length_and_sorts_after_those_that_were_stored_before() -> None:
    ids = [new_id("mem", NOW + timedelta(days=day)) for day in range(0, 40_000, 500)]
    assert {len(id) for id in ids} == {len("mem_") + 23}
    assert ids == sorted(ids)
    assert new_id("mem", datetime(2027, 1, 1, tzinfo=UTC)) > "mem_01kt10nw4022s26fq1tz9xm", "made in June 2026"
    assert new_id("mem", datetime(2025, 1, 1, tzinfo=UTC)) < "mem_01kt10nw4022s26fq1tz9xm"
