"""What was observed is kept per session, replaced as a whole, added up when asked for, and guarded like any memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

import recollect
from recollect.app import Recollect
from recollect.core.kinds import Kinds
from recollect.core.observed import (
    CallsSeen,
    Contribution,
    ErrorSeen,
    FeatureSeen,
    FileSeen,
    PairSeen,
    Promotion,
    SequenceSeen,
    SessionSeen,
    SignalSeen,
    Synthesis,
)
from recollect.store.check import check
from recollect.store.migrate import census
from recollect.store.observed import TABLES, Observed
from recollect.store.sqlite.repair import salvage
from recollect.store.store import Store

pytestmark = pytest.mark.both_engines


def seen(id: str, at: float, *, events: int = 10, remedy: str = "Read <file> → Edit <file>") -> Contribution:
    return Contribution(
        session=SessionSeen(id=id, host="claude-code", started=at, ended=at + 60, prompt="fix it", events=events,
                            calls=4, errors=1, slow=1, planned=3, branch="feature", raised=(2, 1), taint="WebFetch x",
                            outside=3, agents=("", "side")),
        files=(FileSeen(path="src/b.py", module="src/", reads=2, first_step=1, last_step=3),
               FileSeen(path="src/a.py", module="src/", edits=1, first_step=2, last_step=2)),
        pairs=(PairSeen(one="src/a.py", other="src/b.py", forward=1, backward=3, steps=1.5, seconds=12.25),),
        errors=(ErrorSeen(tool="Edit", words="", fingerprint="f1", shape="file has not been read yet",
                          example="File has not been read yet.", files=("src/a.py",), steps=(2,), resolution=remedy),),
        calls=(CallsSeen(tool="Edit", times=3, errors=1),),
        sequences=(SequenceSeen(tools="read → edit", times=2),),
        signals=(SignalSeen(name="co_access", subject="src/a.py → src/b.py", steps=(1, 2), paths=("src/a.py",),
                            measure=0.5, taint="WebFetch x"),),
        features=(FeatureSeen(tool="Edit", sort="state", what="unread", times=2, clean=1, failed=("f1",),
                          followed=("f1",)),),
    )  # fmt: skip


def put(store: Store, *contributions: Contribution) -> list[bool]:
    with store.engine.write():
        return [store.observed.put(contribution) for contribution in contributions]


def counts(store: Store) -> tuple[tuple[str, int], ...]:
    return tuple((name, n) for name, n in census(store.engine).counts if name in TABLES)


def test_a_session_comes_back_as_it_was_put(memory: Recollect) -> None:
    put(memory.store, seen("s1", 1000.5))
    assert memory.store.observed.get("s1") == seen("s1", 1000.5)
    assert memory.store.observed.get("s2") is None
    assert Observed(memory.store.engine, "another project").get("s1") is None


def test_the_same_session_again_changes_nothing_and_a_longer_one_replaces_its_own_rows(memory: Recollect) -> None:
    store = memory.store
    put(store, seen("s1", 1000.0), seen("s2", 2000.0))
    before = counts(store)
    assert put(store, seen("s1", 1000.0)) == [True]
    assert counts(store) == before
    longer = replace(seen("s1", 1000.0, events=20), pairs=())
    assert put(store, longer) == [True]
    assert store.observed.get("s1") == longer
    assert [pair.sessions for pair in store.observed.pairs()] == [1]


def test_a_cut_off_replay_does_not_replace_the_whole_session(memory: Recollect) -> None:
    put(memory.store, seen("s1", 1000.0, events=20))
    assert put(memory.store, replace(seen("s1", 1000.0, events=5), files=())) == [False]
    assert memory.store.observed.get("s1") == seen("s1", 1000.0, events=20)


def test_sessions_come_in_time_order_with_their_files_in_the_order_of_first_use(memory: Recollect) -> None:
    put(memory.store, seen("late", 3000.0), seen("early", 1000.0))
    history = memory.store.observed.histories()
    assert [(session.id, [file.path for file in files]) for session, files in history] == [
        ("early", ["src/b.py", "src/a.py"]),
        ("late", ["src/b.py", "src/a.py"]),
    ]


def test_sums_count_sessions_and_know_direction_remedies_and_base_rates(memory: Recollect) -> None:
    observed = memory.store.observed
    put(
        memory.store,
        seen("s1", 1000.0, remedy="Write <file>"),
        seen("s2", 2000.0),
        seen("s3", 3000.0),
    )
    (pair,) = observed.pairs(touching=["src/a.py"])
    assert (pair.sessions, pair.led, pair.followed, pair.steps, pair.seconds, pair.last) == (3, 0, 3, 1.5, 12.25, 3000)
    assert observed.pairs(touching=["elsewhere.py"]) == []
    (error,) = observed.errors(least=2)
    assert error.resolutions == (("Read <file> → Edit <file>", 2), ("Write <file>", 1))
    assert (error.sessions, error.files) == (3, ("src/a.py",))
    assert [(file.path, file.sessions, file.reads, file.edits, file.edited) for file in observed.files()] == [
        ("src/a.py", 3, 0, 3, 3),
        ("src/b.py", 3, 6, 0, 0),
    ]
    (calls,) = observed.calls()
    assert (calls.tool, calls.times, calls.errors, calls.sessions) == ("Edit", 9, 3, 3)
    assert [(module.module, module.sessions) for module in observed.modules(least=3)] == [("src/", 3)]
    assert [(one.tools, one.sessions, one.times) for one in observed.sequences()] == [("read → edit", 3, 6)]
    assert [session for session, _ in observed.signals("co_access", ["src/a.py → src/b.py"])] == [
        "s1",
        "s2",
        "s3",
    ]


def test_what_was_known_before_a_moment_leaves_out_what_began_then_or_later(memory: Recollect) -> None:
    put(memory.store, seen("s1", 1000.0), seen("s2", 2000.0))
    observed = memory.store.observed
    assert [pair.sessions for pair in observed.pairs(before=2000.0)] == [1]
    assert [error.sessions for error in observed.errors(before=2000.0)] == [1]
    assert observed.files(before=1000.0) == []


def test_what_became_a_memory_or_was_synthesised_is_known_for_ever(memory: Recollect) -> None:
    observed = memory.store.observed
    promotion = Promotion(key="k", memory="mem_1", session="s1", at=5.0)
    synthesis = Synthesis(subject="src/", stage="5", at=6.0, memories=("mem_2",))
    with memory.store.engine.write():
        observed.note_promotions([promotion])
        observed.note_promotions([promotion])
        observed.note_synthesis(synthesis)
    assert observed.promoted(["k", "other"]) == {"k": promotion}
    assert observed.syntheses(subject="src/") == [synthesis]
    assert observed.syntheses(subject="lib/") == []


def test_the_tally_counts_what_was_watched(memory: Recollect) -> None:
    put(memory.store, seen("s1", 1000.0), seen("s2", 2000.0))
    tally = memory.store.observed.tally()
    assert (tally.sessions, tally.calls, tally.errors, tally.events, tally.slow, tally.tainted) == (2, 8, 2, 20, 2, 2)
    assert tally.last == 2000.0
    assert Observed(memory.store.engine, "another").tally().sessions == 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "memory.db"
    with recollect.open(file, project="test") as memory:
        put(memory.store, seen("s1", 1000.0), seen("s2", 2000.0))
        with memory.store.engine.write():
            memory.store.observed.note_promotions([Promotion(key="k", memory="m", session="s1", at=1.0)])
            memory.store.observed.note_synthesis(Synthesis(subject="src/", stage="5", at=1.0))
    return file


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_counted_before_a_migration_and_a_changed_row_is_found(path: Path, table: str) -> None:
    connection = apsw.Connection(str(path))
    column = "note" if table == "observed_syntheses" else "memory" if table == "observed_promotions" else None
    numbers = {"observed_sessions": "steps", "observed_files": "reads", "observed_signals": "count"}
    field = column or numbers.get(table, "forward" if table == "observed_pairs" else "times")
    connection.execute(f"update {table} set {field} = '77' where rowid = 1")
    connection.close()
    with recollect.open(path) as memory:
        assert dict(census(memory.store.engine).counts)[table] > 0
        assert "observed" in {finding.area for finding in check(memory.store).findings}


def test_salvage_carries_what_was_observed_and_leaves_out_what_is_damaged(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("update observed_files set reads = 77 where session = 's1' and path = 'src/a.py'")
    connection.close()
    salvage(path, Kinds())
    with recollect.open(path) as memory:
        assert check(memory.store).ok
        assert len(memory.store.observed.sessions()) == 2
        assert [(file.path, file.sessions) for file in memory.store.observed.files()] == [
            ("src/b.py", 2),
            ("src/a.py", 1),
        ]
        assert memory.store.observed.promoted(["k"])
