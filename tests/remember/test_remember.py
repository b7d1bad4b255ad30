from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from recollect import Draft, Status
from recollect.app import Recollect
from recollect.core.errors import (
    ContentTooLarge,
    EmptyContent,
    InvalidField,
    InvalidInput,
    InvalidText,
    MemoryNotFound,
    MemoryNotOpen,
    Tombstoned,
    UnknownChoice,
)
from recollect.core.query import Filter
from recollect.core.scope import Relation, Source
from recollect.store.sqlite.engine import SqliteEngine


def test_what_is_remembered_can_be_recalled_the_instant_the_write_returns(memory: Recollect) -> None:
    for number in range(50):
        receipt = memory.remember(f"The quokka{number} service owns billing.", kind="gotcha")
        assert [hit.id for hit in memory.recall(f"quokka{number}")] == [receipt.id]


def test_saying_the_same_twice_keeps_one_memory_and_joins_what_each_adds(memory: Recollect) -> None:
    first = memory.remember("Use tabs.", kind="preference", tags=["style"], session="s1")
    second = memory.remember("use  TABS", kind="preference", tags=["python"], session="s2")
    assert (second.verdict, second.id) == ("same", first.id)
    kept = memory.get(first.id)
    assert kept.tags == ("style", "python")
    assert kept.provenance == ("s1", "s2")
    assert memory.count() == 1


def test_the_same_words_as_another_kind_are_another_memory(memory: Recollect) -> None:
    memory.remember("Use tabs.", kind="preference")
    assert memory.remember("Use tabs.", kind="requirement").verdict == "new"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The API listens on port 8080.", "The API listens on port 9090."),
        ("Caching is enabled in production.", "Caching is disabled in production."),
        ("The worker retries failed jobs.", "The worker does not retry failed jobs."),
        ("Nightly backups start at 03:00.", "Nightly backups start at 05:30."),
    ],
)
def test_a_contradiction_is_kept_linked_and_sent_to_review(memory: Recollect, old: str, new: str) -> None:
    first = memory.remember(old, kind="requirement")
    second = memory.remember(new, kind="requirement")
    assert (second.verdict, second.against) == ("contradicts", (first.id,))
    assert second.memory.needs_review
    assert [link.relation for link in memory.why(second.id).points_at] == [Relation.CONFLICTS_WITH]
    assert memory.get(first.id).status is Status.ACTIVE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The API listens on port 8080.", "The scheduler listens on port 9090."),
        ("Retry failed jobs in the billing queue.", "Never trust the clock of the billing host."),
        ("Chapter 3 covers parsing.", "Chapter 4 covers printing."),
    ],
)
def test_statements_about_different_things_do_not_contradict(memory: Recollect, old: str, new: str) -> None:
    memory.remember(old, kind="requirement")
    assert memory.remember(new, kind="requirement").verdict == "new"


def test_a_statement_of_change_supersedes_what_it_changes(memory: Recollect) -> None:
    old = memory.remember("The API listens on port 8080.")
    new = memory.remember("The API now listens on port 9090.")
    assert (new.verdict, new.against) == ("supersedes", (old.id,))
    closed = memory.get(old.id)
    assert (closed.status, closed.superseded_by) == (Status.SUPERSEDED, new.id)
    assert closed.confidence < 0.9
    assert [hit.id for hit in memory.recall("API port")] == [new.id]


def test_superseding_by_name_closes_exactly_that_memory(memory: Recollect) -> None:
    old = memory.remember("Deploys go through Jenkins.")
    memory.remember("Deploys go through Actions.", supersedes=old.id)
    with pytest.raises(MemoryNotOpen):
        memory.remember("Deploys go through Argo.", supersedes=old.id)
    with pytest.raises(MemoryNotFound):
        memory.remember("Deploys go through Flux.", supersedes="mem_nonexistent")


def test_a_batch_is_remembered_whole_or_not_at_all(memory: Recollect) -> None:
    drafts = [Draft("One fine statement."), Draft("Another."), Draft("Broken.", confidence=2.0)]
    with pytest.raises(InvalidField, match="Number 3 of 3: confidence"):
        memory.remember_all(drafts)
    assert memory.count() == 0


def test_a_batch_that_repeats_or_contradicts_itself_is_resolved_like_single_writes(memory: Recollect) -> None:
    drafts = [
        Draft("Timeout is 30 seconds.", kind="requirement"),
        Draft("timeout is 30 seconds", kind="requirement"),
        Draft("Timeout is 60 seconds.", kind="requirement"),
    ]
    assert [receipt.verdict for receipt in memory.remember_all(drafts)] == ["new", "same", "contradicts"]


def test_nothing_in_a_batch_is_still_an_answer(memory: Recollect) -> None:
    assert memory.remember_all([]) == []


def test_an_inferred_memory_waits_as_a_candidate(memory: Recollect) -> None:
    receipt = memory.remember("These two files change together.", kind="pattern", source=Source.OBSERVER_INFERRED)
    assert (receipt.memory.status, receipt.memory.needs_review) == (Status.CANDIDATE, True)
    assert len(memory.recall("files change together")) == 0
    seen = memory.recall("files change together", filter=Filter(statuses=frozenset({Status.CANDIDATE})))
    assert [hit.id for hit in seen] == [receipt.id]


def test_stating_what_was_inferred_makes_it_active(memory: Recollect) -> None:
    guess = memory.remember("These two files change together.", kind="pattern", source=Source.OBSERVER_INFERRED)
    said = memory.remember("These two files change together.", kind="pattern")
    assert said.id == guess.id
    assert memory.get(guess.id).status is Status.ACTIVE


def test_secrets_never_reach_the_store(memory: Recollect) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    receipt = memory.remember(
        f"Use {token} for CI.",
        tags=[f"t-{token}"],
        attributes={"note": token, "deep": [{"x": token}]},
        why=f"see {token}",
    )
    assert receipt.redacted
    assert receipt.memory.flagged
    stored = memory.get(receipt.id)
    assert token not in repr(stored)
    assert token not in repr(memory.history())


def test_a_payload_is_screened_too(memory: Recollect) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    receipt = memory.remember("No luck.", kind="dead_end", payload={"tried": f"curl {token}", "why_it_failed": "401"})
    assert token not in repr(memory.get(receipt.id))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"content": ""}, EmptyContent),
        ({"content": " \n\t\u200b"}, EmptyContent),
        ({"content": "a\0b"}, InvalidText),
        ({"content": "\udcff"}, InvalidText),
        ({"content": "x" * 1_000_001}, ContentTooLarge),
        ({"content": "é" * 600_000}, ContentTooLarge),
        ({"content": 42}, InvalidField),
        ({"kind": "nonsense"}, UnknownChoice),
        ({"scope": "universe"}, UnknownChoice),
        ({"visibility": "everyone"}, UnknownChoice),
        ({"source": "rumour"}, UnknownChoice),
        ({"status": "superseded"}, InvalidField),
        ({"confidence": 1.01}, InvalidField),
        ({"confidence": -0.1}, InvalidField),
        ({"confidence": math.nan}, InvalidField),
        ({"confidence": "high"}, InvalidField),
        ({"tags": "one"}, InvalidField),
        ({"tags": [1]}, InvalidField),
        ({"tags": ["x"] * 201}, InvalidField),
        ({"tags": ["x" * 1001]}, InvalidField),
        ({"files": ["a\0b"]}, InvalidText),
        ({"attributes": {"x": object()}}, InvalidField),
        ({"attributes": {"x": math.inf}}, InvalidField),
        ({"attributes": [1]}, InvalidField),
        ({"payload": {"x": 1}}, InvalidField),
        ({"event_at": "yesterday"}, InvalidField),
        ({"color": "red"}, TypeError),
        ({"supersedes": "nope"}, MemoryNotFound),
    ],
)
def test_bad_input_is_refused_with_a_way_out_and_changes_nothing(
    memory: Recollect, fields: dict[str, Any], error: type[Exception]
) -> None:
    given = {"content": "A statement.", **fields}
    with pytest.raises(error) as caught:
        memory.remember(**given)
    assert str(caught.value)
    assert memory.count(Filter(statuses=frozenset(Status))) == 0
    assert memory.history() == ()


def test_a_hundred_megabytes_are_refused_at_once(memory: Recollect) -> None:
    with pytest.raises(ContentTooLarge, match="100,000,000"):
        memory.remember("x" * 100_000_000)


def test_control_characters_are_removed_and_the_receipt_says_so(memory: Recollect) -> None:
    receipt = memory.remember("red \x1b[31malert\x1b[0m")
    assert receipt.memory.content == "red [31malert[0m"
    assert receipt.notes == ("removed 2 control or invisible character(s)",)


def test_a_taught_fact_is_protected_from_fading(memory: Recollect, clock: Any) -> None:
    taught = memory.remember("Ada lives in Turin.").memory
    inferred = memory.remember("Ada has a dog.", source=Source.AGENT_EXPLICIT).memory
    clock.pass_(days=30)
    assert memory.confidence(taught) == pytest.approx(0.9)
    assert memory.confidence(inferred) < 0.05


def test_every_error_has_a_stable_code_and_a_message() -> None:
    assert issubclass(Tombstoned, Exception)
    assert Tombstoned.code == "tombstoned"
    assert InvalidInput.code == "invalid-input"


def test_one_statement_is_remembered_with_eight_queries(memory: Recollect, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two look for what it may conflict with or repeat, one for tombstones, one for the log's end; four write."""
    memory.remember("The quay has three cranes.")
    asked: list[str] = []
    for verb in ("rows", "execute", "execute_many"):
        monkeypatch.setattr(SqliteEngine, verb, _noting(asked, getattr(SqliteEngine, verb)))
    memory.remember("Granite blocks come in on Tuesdays.")
    words = [" ".join(sql.replace("/* whole */", "").split()) for sql in asked]
    assert [sql.split(" where ")[0].split(" (")[0].split(" from ")[-1].split(" order ")[0] for sql in words] == [
        "keywords", "memories", "tombstones", "insert into memories", "insert into keywords", "log", "insert into log",
        "insert into meta",
    ]  # fmt: skip


def _noting(asked: list[str], run: Any) -> Any:
    def noting(self: Any, sql: str, values: Any = None) -> Any:
        if values or values is None:
            asked.append(sql)
        return run(self, sql, values)

    return noting


@pytest.mark.parametrize(
    ("field", "value"),
    [("content", 3), ("kind", 3), ("tags", 3), ("files", "a.py"), ("supersedes", 3), ("span", {"start": 1}), ("why", 3),
     ("confidence", "high"), ("payload", True), ("attributes", 3), ("verified", "yes"), ("created_at", "today"),
     ("derived_from", 3), ("work_unit", "x"), ("decay", "never"), ("user", 3)],
)  # fmt: skip
def test_a_field_of_a_wrong_type_is_named_in_the_error(memory: Recollect, field: str, value: object) -> None:
    with pytest.raises(InvalidField, match=field):
        memory.remember_all([Draft(**{"content": "The crane is yellow.", field: value})])
    assert len(memory.list()) == 0


@pytest.mark.parametrize("year", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_outside_the_calendar_is_named_in_the_error(memory: Recollect, year: str) -> None:
    with pytest.raises(InvalidField, match="outside the years"):
        memory.remember("The crane is yellow.", event_at=datetime.fromisoformat(year))
    with pytest.raises(InvalidField, match="outside the years"):
        Filter(since=datetime.fromisoformat(year))


def test_nothing_was_written_in_the_future(memory: Recollect) -> None:
    receipt = memory.remember_all([Draft("The crane is yellow.", created_at=datetime(9999, 1, 1, tzinfo=UTC))])[0]
    assert receipt.memory.created_at == receipt.memory.updated_at


def test_what_was_written_long_ago_elsewhere_comes_in_as_sure_as_it_says(memory: Recollect) -> None:
    draft = Draft("Tea is kept in the blue tin.", created_at=datetime(2019, 5, 1, tzinfo=UTC))
    kept = memory.remember_all([draft])[0].memory
    assert kept.created_at.year == 2019
    assert memory.confidence(kept) == kept.confidence
    assert memory.recall("blue tin").hits[0].confidence == kept.confidence
