from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.core.errors import BadVector, EmbeddingMismatch, SpaceNotFound, StoreDamaged, WrongSpaceState
from recollect.core.kinds import Kinds
from recollect.core.query import Filter
from recollect.core.scope import Source
from recollect.store.migrate import migrate
from recollect.store.open import open_store
from recollect.store.port import Space
from recollect.store.sqlite import ivf
from recollect.store.sqlite.engine import SqliteEngine
from recollect.store.sqlite.vectors import NARROW, SqliteVectors
from recollect.store.store import Store

np = pytest.importorskip("numpy")

AT = datetime(2026, 3, 1, tzinfo=UTC)
DIMS = 16


@dataclass
class Shelf:
    """A store with vectors, and the rows brute force compares it with."""

    engine: SqliteEngine
    vectors: SqliteVectors
    space: Space
    rows: Any

    def fill(self, rows: Any, *, kinds: Sequence[str] = ("fact",), first: int = 1) -> None:
        memories(self.engine, range(first, first + len(rows)), kinds)
        self.vectors.put(self.space, [(f"m{first + n}", row, "stamp") for n, row in enumerate(rows)])
        self.rows = rows

    def near(self, query: Any, limit: int = 5, filter: Filter | None = None) -> list[int]:
        found = self.vectors.search(self.space, query, limit=limit, filter=filter or Filter())
        return [int(id[1:]) for id, _ in found]


_MEMORY = """
    insert into memories (seq, id, project, kind, content, confidence, created_at, updated_at, accessed_at, source,
        scope, visibility, status, fingerprint, access_count, streak, needs_review, verified, pinned, flagged, revision,
        checksum)
    values (?, ?, 'p', ?, 'text', 0.8, 0, 0, 0, 'agent_explicit', 'global', 'project', 'active', '', 0, 0, 0, 0, 0, 0,
        1, 0)
"""


def memories(engine: SqliteEngine, seqs: Sequence[int], kinds: Sequence[str] = ("fact",)) -> None:
    with engine.write(durable=False):
        engine.execute_many(_MEMORY, [(seq, f"m{seq}", kinds[seq % len(kinds)]) for seq in seqs])


def opened(path: Path | None, dims: int = DIMS) -> Shelf:
    engine = SqliteEngine(path)
    migrate(engine)
    vectors = SqliteVectors(engine, "p")
    return Shelf(engine, vectors, vectors.activate(vectors.begin("one", dims, AT)), None)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    made = opened(None)
    yield made
    made.engine.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def random_rows(n: int, dims: int = DIMS, seed: int = 0) -> Any:
    rows = np.random.default_rng(seed).standard_normal((n, dims)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def clustered_rows(n: int, dims: int, seed: int = 0) -> Any:
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((n // 40, dims))
    rows = centres[chance.integers(0, len(centres), n)] + 0.5 * chance.standard_normal((n, dims))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def brute(rows: Any, query: Any, limit: int = 5, allowed: Any = None) -> list[int]:
    scores = rows @ query if allowed is None else np.where(allowed, rows @ query, -2)
    return [int(row) + 1 for row in np.argsort(-scores, kind="stable")[:limit]]


def recall(shelf: Shelf, queries: Any, limit: int = 30, filter: Filter | None = None, allowed: Any = None) -> float:
    found = sum(
        len(set(shelf.near(query, limit, filter)) & set(brute(shelf.rows, query, limit, allowed))) for query in queries
    )
    return found / (limit * len(queries))


# --- searching ------------------------------------------------------------------------------------------------------


def test_the_nearest_are_those_of_brute_force_with_their_cosines(shelf: Shelf) -> None:
    shelf.fill(random_rows(500))
    for query in random_rows(20, seed=1) * 7:  # the length of a question means nothing
        found = shelf.vectors.search(shelf.space, query, limit=5)
        unit = query / np.linalg.norm(query)
        assert [int(id[1:]) for id, _ in found] == brute(shelf.rows, unit)
        assert [score for _, score in found] == pytest.approx(
            [shelf.rows[int(id[1:]) - 1] @ unit for id, _ in found], abs=1e-3
        )


def test_an_empty_space_and_a_limit_of_none_find_nothing(shelf: Shelf) -> None:
    query = random_rows(1)[0]
    assert shelf.near(query) == []
    shelf.fill(random_rows(3))
    assert shelf.near(query, limit=0) == []
    assert len(shelf.near(query, limit=50)) == 3


def test_a_memory_is_found_by_the_mean_of_its_views_and_shows_each_of_them(shelf: Shelf) -> None:
    one, two, three = np.eye(DIMS, dtype=np.float32)[:3]
    memories(shelf.engine, [1, 2])
    shelf.vectors.put(shelf.space, [("m1", [one, two], "a"), ("m2", one, "b")])
    found = dict(shelf.vectors.search(shelf.space, one + two, limit=2))
    assert found == pytest.approx({"m1": 1.0, "m2": 0.5**0.5}, abs=1e-3)
    assert shelf.vectors.exact(shelf.space, ["m1", "m2", "m9"], one)["m1"] == pytest.approx((1.0, 0.0), abs=1e-3)
    assert set(shelf.vectors.exact(shelf.space, ["m1", "m2", "m9"], three)) == {"m1", "m2"}


def test_views_that_cancel_out_leave_the_text_itself(shelf: Shelf) -> None:
    row = random_rows(1)[0]
    memories(shelf.engine, [1])
    shelf.vectors.put(shelf.space, [("m1", [row, -row], "a")])
    assert shelf.vectors.search(shelf.space, row, limit=1)[0][1] == pytest.approx(1.0, abs=1e-3)
    assert shelf.vectors.verify(shelf.space) == []


@pytest.mark.parametrize("trained", [False, True])
def test_a_filter_lets_through_exactly_its_own_however_few(shelf: Shelf, trained: bool) -> None:
    kinds = ["gotcha"] + ["decision"] * 40 + ["fact"] * 59
    rows = clustered_rows(3_020, DIMS)
    shelf.fill(rows[:3_000], kinds=kinds)
    if trained:
        shelf.vectors.train(shelf.space)
    with shelf.engine.write():
        shelf.engine.execute_many("insert into facets values ('p', 'tag', 'rare', ?)", [(7,), (70,), (700,)])
    of = np.array([kinds[(row + 1) % 100] for row in range(3_000)])
    queries = rows[3_000:]
    for kind in ("gotcha", "decision"):
        filter = Filter(kinds=frozenset({kind}))
        assert recall(shelf, queries, 20, filter, of == kind) >= 0.98, kind
        assert all(of[seq - 1] == kind for seq in shelf.near(queries[0], 30, filter))
    assert sorted(shelf.near(queries[0], 30, Filter(tags=frozenset({"rare"})))) == [7, 70, 700]
    assert shelf.near(queries[0], 30, Filter(sources=frozenset({Source.USER_TAUGHT}))) == []


def test_a_filter_that_lets_thousands_through_leaves_none_of_them_out(shelf: Shelf) -> None:
    rows = random_rows(NARROW + 400)
    shelf.fill(rows)
    with shelf.engine.write():
        shelf.engine.execute_many(
            "insert into facets values ('p', 'tag', 'wide', ?)", [(seq,) for seq in range(1, len(rows) + 1)]
        )
    for place in (0, NARROW - 2, NARROW - 1, NARROW, len(rows) - 1):
        assert shelf.near(rows[place], 1, Filter(tags=frozenset({"wide"}))) == [place + 1]


def test_a_memory_of_another_project_or_status_is_not_found(shelf: Shelf) -> None:
    shelf.fill(random_rows(10))
    with shelf.engine.write():
        shelf.engine.execute("update memories set project = 'q' where seq < 4")
        shelf.engine.execute("update memories set status = 'rejected' where seq = 5")
    assert sorted(shelf.near(random_rows(1, seed=3)[0], 30)) == [4, 6, 7, 8, 9, 10]


# --- writing --------------------------------------------------------------------------------------------------------


def test_what_is_put_removed_or_put_again_shows_at_once_here_and_in_another_connection(path: Path) -> None:
    shelf, other = opened(path), opened(path)
    shelf.fill(random_rows(50))
    query = shelf.rows[9]
    assert shelf.near(query, 1) == other.near(query, 1) == [10]
    shelf.vectors.put(shelf.space, [("m10", -query, "edited"), ("m20", query, "edited")])
    assert shelf.near(query, 1) == other.near(query, 1) == [20]
    other.vectors.remove(["m20"])
    assert 20 not in shelf.near(query, 50) + other.near(query, 50)
    assert shelf.vectors.verify(shelf.space) == []


def test_a_transaction_that_fails_leaves_no_vector_behind_and_no_trace_in_memory(shelf: Shelf) -> None:
    shelf.fill(random_rows(20))
    query = -shelf.rows[2]
    before = shelf.near(query, 20)
    with pytest.raises(ZeroDivisionError), shelf.engine.write():  # noqa: PT012
        shelf.vectors.put(shelf.space, [("m3", query, "x")])
        assert shelf.near(query, 1) == [3]
        raise ZeroDivisionError
    assert shelf.near(query, 20) == before
    shelf.vectors.put(shelf.space, [("m4", query, "x")])
    assert shelf.near(query, 1) == [4]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ([float("nan")] * DIMS, BadVector),
        ([float("inf")] + [0.0] * (DIMS - 1), BadVector),
        ([0.0] * DIMS, BadVector),
        ([], BadVector),
        ([1.0] * (DIMS + 1), EmbeddingMismatch),
        ([[1.0] * DIMS, [0.0] * DIMS], BadVector),
    ],
)
def test_a_bad_vector_is_refused_with_a_way_out_and_nothing_is_changed(
    shelf: Shelf, bad: list[float], error: type[recollect.RecollectError]
) -> None:
    shelf.fill(random_rows(5))
    memories(shelf.engine, [6, 7])
    before = shelf.vectors.spaces()
    with pytest.raises(error) as caught:
        shelf.vectors.put(shelf.space, [("m6", random_rows(1)[0], "fine"), ("m7", bad, "bad")])
    assert caught.value.hint
    assert caught.value.code in ("bad-vector", "embedding-mismatch")
    assert shelf.vectors.spaces() == before
    assert shelf.vectors.missing(shelf.space, 10) == ["m7", "m6"]


def test_a_bad_question_is_refused(shelf: Shelf) -> None:
    shelf.fill(random_rows(5))
    for bad, error in (([1.0] * 3, EmbeddingMismatch), ([float("nan")] * DIMS, BadVector), ([0.0] * DIMS, BadVector)):
        with pytest.raises(error):
            shelf.vectors.search(shelf.space, bad, limit=1)
        with pytest.raises(error):
            shelf.vectors.exact(shelf.space, ["m1"], bad)


def test_vectors_of_any_length_are_taken_for_their_direction(shelf: Shelf) -> None:
    rows = random_rows(3)
    memories(shelf.engine, [1, 2, 3])
    shelf.vectors.put(
        shelf.space, [("m1", rows[0] * 1e30, ""), ("m2", rows[1] * 1e-30, ""), ("m3", rows[2].tolist(), "")]
    )
    assert [shelf.near(row, 1) for row in rows] == [[1], [2], [3]]
    assert shelf.vectors.verify(shelf.space) == []


def test_a_vector_of_a_memory_that_is_gone_is_named_and_not_stored(shelf: Shelf) -> None:
    shelf.fill(random_rows(3))
    assert shelf.vectors.put(shelf.space, [("m2", random_rows(1)[0], ""), ("m99", random_rows(1)[0], "")]) == ["m99"]
    assert shelf.vectors.count(shelf.space) == 3


def test_embedding_goes_on_where_it_was_cut_off_newest_first(path: Path) -> None:
    shelf = opened(path)
    memories(shelf.engine, range(1, 8))
    rows = random_rows(7)
    shelf.vectors.put(shelf.space, [("m7", rows[6], ""), ("m6", rows[5], ""), ("m2", rows[1], "")])
    shelf.engine.close()
    again = opened(path)
    assert again.vectors.missing(again.space, 3) == ["m5", "m4", "m3"]
    assert again.vectors.missing(again.space, 3, before="m3") == ["m1"]
    again.vectors.put(again.space, [(f"m{seq}", rows[seq - 1], "") for seq in (5, 4, 3, 1)])
    assert again.vectors.missing(again.space, 3) == []
    assert again.vectors.verify(again.space) == []


def test_an_edit_makes_a_vector_stale(shelf: Shelf) -> None:
    shelf.fill(random_rows(3))
    stamps = {"m1": "stamp", "m2": "other", "m3": "stamp", "m9": "stamp"}
    assert shelf.vectors.stale(shelf.space, stamps) == ["m2", "m9"]


# --- spaces ---------------------------------------------------------------------------------------------------------


def test_spaces_of_different_models_coexist_and_are_never_compared(shelf: Shelf) -> None:
    shelf.fill(random_rows(30))
    wide = shelf.vectors.begin("two", 24, AT)
    shelf.vectors.put(wide, [(f"m{seq}", row, "") for seq, row in enumerate(random_rows(10, 24), start=1)])
    assert len(shelf.near(random_rows(1)[0], 50)) == 30
    assert len(shelf.vectors.search(wide, random_rows(1, 24)[0], limit=50)) == 10
    with pytest.raises(EmbeddingMismatch):
        shelf.vectors.search(wide, random_rows(1)[0], limit=5)
    with pytest.raises(EmbeddingMismatch):
        shelf.vectors.put(wide, [("m1", random_rows(1)[0], "")])
    shelf.vectors.remove(["m1"])
    assert (shelf.vectors.count(shelf.space), shelf.vectors.count(wide)) == (29, 9)
    assert shelf.vectors.verify(shelf.space) + shelf.vectors.verify(wide) == []


def test_begin_returns_the_space_there_is(shelf: Shelf) -> None:
    building = shelf.vectors.begin("two", DIMS, AT)
    assert shelf.vectors.begin("two", DIMS, AT) == building
    assert shelf.vectors.begin("one", DIMS, AT) == shelf.space
    assert shelf.vectors.begin("two", DIMS * 2, AT).id not in (building.id, shelf.space.id)
    shelf.vectors.activate(building)
    assert shelf.vectors.begin("one", DIMS, AT).state == "building"  # what it holds is still true


def test_another_connection_sees_the_old_space_or_the_new_one_and_nothing_between(path: Path) -> None:
    shelf, other = opened(path), opened(path)
    new = shelf.vectors.begin("two", 24, AT)
    with shelf.engine.write():
        shelf.vectors.activate(new)
        seen = other.vectors.active()
        assert seen is not None
        assert seen.model == "one"
    assert [(space.model, space.state) for space in other.vectors.spaces()] == [("one", "retired"), ("two", "active")]


def test_the_former_space_can_be_put_back(shelf: Shelf) -> None:
    shelf.fill(random_rows(5))
    new = shelf.vectors.activate(shelf.vectors.begin("two", 24, AT))
    with pytest.raises(WrongSpaceState):
        shelf.vectors.put_back(new)
    back = shelf.vectors.put_back(shelf.space)
    assert shelf.vectors.active() == back
    assert [space.state for space in shelf.vectors.spaces()] == ["active", "retired"]
    assert len(shelf.near(random_rows(1)[0])) == 5


def test_a_dropped_space_is_gone_with_its_vectors_but_the_active_one_cannot_be_dropped(shelf: Shelf) -> None:
    shelf.fill(random_rows(5))
    with pytest.raises(WrongSpaceState):
        shelf.vectors.drop(shelf.space)
    new = shelf.vectors.activate(shelf.vectors.begin("two", DIMS, AT))
    shelf.vectors.put(new, [("m1", random_rows(1)[0], "")])
    shelf.vectors.drop(shelf.space)
    assert shelf.engine.rows("select space from vectors") == [(new.id,)]
    assert shelf.engine.row("select count(*) from cells") == (1,)
    assert len(shelf.engine.rows("select id from grids")) == len(shelf.vectors.spaces()) == 1
    with pytest.raises(SpaceNotFound):
        shelf.vectors.search(shelf.space, random_rows(1)[0], limit=1)


# --- training -------------------------------------------------------------------------------------------------------


def test_training_keeps_the_answers_and_looks_at_few_cells() -> None:
    shelf = opened(None, dims=24)
    rows = clustered_rows(30_100, 24)
    shelf.fill(rows[:30_000])
    assert shelf.vectors.due_for_training(shelf.space)
    shelf.vectors.train(shelf.space)
    assert not shelf.vectors.due_for_training(shelf.space)
    (grid,) = ivf.grids(shelf.engine, shelf.space.id)
    assert grid.needed(30) <= 60  # of 346
    assert recall(shelf, rows[30_000:], 30) >= 0.98
    assert shelf.vectors.verify(shelf.space) == []
    shelf.engine.close()


def test_after_training_new_vectors_find_their_cells_and_removed_ones_leave_them(shelf: Shelf) -> None:
    rows = clustered_rows(1_200, DIMS)
    shelf.fill(rows[:1_000])
    shelf.vectors.train(shelf.space)
    shelf.fill(rows[1_000:], first=1_001)
    shelf.vectors.put(shelf.space, [("m1", rows[1_100], "edited")])
    shelf.vectors.remove([f"m{seq}" for seq in range(500, 600)])
    assert shelf.near(rows[1_150], 1) == [1_151]
    assert set(shelf.near(rows[1_100], 2)) == {1, 1_101}
    assert not set(shelf.near(rows[550], 1_200)) & set(range(500, 600))
    assert len(shelf.near(rows[550], 1_200)) == 1_100
    assert shelf.vectors.verify(shelf.space) == []


def test_few_vectors_are_not_divided(shelf: Shelf) -> None:
    shelf.fill(random_rows(50))
    shelf.vectors.train(shelf.space)
    assert not shelf.vectors.due_for_training(shelf.space)
    assert shelf.near(shelf.rows[4], 1) == [5]


def test_training_is_due_again_when_there_are_twice_as_many(shelf: Shelf) -> None:
    shelf.fill(clustered_rows(600, DIMS))
    with shelf.engine.write():
        shelf.engine.execute("update grids set trained_on = 20000")
    assert not shelf.vectors.due_for_training(shelf.space)
    shelf.vectors.train(shelf.space)
    first = shelf.vectors.spaces()[0].grid
    shelf.vectors.train(shelf.space)
    assert shelf.vectors.spaces()[0].grid != first
    assert len(ivf.grids(shelf.engine, shelf.space.id)) == 1
    assert shelf.vectors.verify(shelf.space) == []


class StopError(Exception):
    pass


@pytest.mark.parametrize("at", range(1, 9))
def test_training_cut_off_in_any_transaction_leaves_answers_and_is_finished_later(path: Path, at: int) -> None:
    """What is put, edited and removed in the meantime is in the old cells and in the new ones."""
    shelf = opened(path)
    rows = clustered_rows(4_500, DIMS)
    shelf.fill(rows[:4_400])
    writes = iter(range(1, 100))
    engine = shelf.engine

    class Cut:
        """The engine, until it fails."""

        def __getattr__(self, name: str) -> Any:
            return getattr(engine, name)

        def write(self, *, durable: bool = True) -> Any:
            if next(writes) == at:
                raise StopError
            return engine.write(durable=durable)

    with pytest.raises(StopError):
        SqliteVectors(Cut(), "p").train(shelf.space)
    assert recall(shelf, rows[4_400:], 10) >= 0.98
    shelf.vectors.put(shelf.space, [("m2000", rows[4_450], "edited")])
    shelf.vectors.remove(["m3000"])
    memories(engine, [5_000])
    shelf.vectors.put(shelf.space, [("m5000", rows[4_460], "new")])
    shelf.vectors.train(shelf.space)
    assert shelf.vectors.verify(shelf.space) == []
    assert shelf.near(rows[4_450], 1) == [2_000]
    assert shelf.near(rows[4_460], 1) == [5_000]
    assert shelf.vectors.count(shelf.space) == len(shelf.near(rows[0], 9_999)) == 4_400
    shelf.engine.close()


_TRAINER = """
    import sys
    from pathlib import Path
    from recollect.store.sqlite.engine import SqliteEngine
    from recollect.store.sqlite.vector_upkeep import Training
    from recollect.store.sqlite.vectors import SqliteVectors

    vectors = SqliteVectors(SqliteEngine(Path(sys.argv[1])), "p")
    training = Training(vectors)
    fill = training._fill
    training._fill = lambda *given: (print("filling", flush=True), fill(*given))
    training.run(vectors.spaces()[0])
"""


def test_a_trainer_killed_in_the_middle_leaves_a_usable_index(path: Path) -> None:
    shelf = opened(path, dims=8)
    rows = clustered_rows(20_050, 8)
    shelf.fill(rows[:20_000])
    source = Path(recollect.__file__).parents[1]
    trainer = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(_TRAINER), str(path)],
        env={**os.environ, "PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
    )
    assert trainer.stdout is not None
    assert trainer.stdout.readline() == b"filling\n"
    filled = "select count(*) from cells where key >> 48 = 2"
    while trainer.poll() is None and shelf.engine.row(filled) == (0,):
        pass
    trainer.send_signal(signal.SIGKILL)
    trainer.communicate()
    assert shelf.engine.row("select count(*) from cells where key >> 48 = 2") != (0,)
    assert recall(shelf, rows[20_000:], 10) >= 0.98
    shelf.vectors.train(shelf.space)
    assert shelf.vectors.verify(shelf.space) == []
    assert recall(shelf, rows[20_000:], 30) >= 0.98
    assert not shelf.vectors.due_for_training(shelf.space)
    shelf.engine.close()


# --- care -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize(
    ("harm", "fault"),
    [
        ("delete from cells where key & 4294967295 = 7", "no code"),
        ("delete from vectors where seq = 7", "no vector"),
        ("update cells set key = key + (3 << 32) where key & 4294967295 = 7", "cell"),
        ("update cells set code = zeroblob(22) where key & 4294967295 = 7", "not that of the vector"),
        ("update cells set code = x'00' where key & 4294967295 = 7", "wrong size"),
        ("update vectors set views = x'007e' || substr(views, 3) where seq = 7", "damaged"),  # not a number
        ("update vectors set views = zeroblob(32) where seq = 7", "damaged"),
        ("update vectors set views = x'00' where seq = 7", "damaged"),
        ("delete from memories where seq = 7", "no such memory"),
    ],
)
def test_every_tampering_is_found_answered_around_and_mended(
    shelf: Shelf, trained: bool, harm: str, fault: str
) -> None:
    shelf.fill(clustered_rows(400, DIMS))
    if trained:
        shelf.vectors.train(shelf.space)
    assert shelf.vectors.verify(shelf.space) == []
    with shelf.engine.write():
        shelf.engine.execute(harm)
        shelf.engine.execute("update spaces set change = random()")
    assert any(fault in found for found in shelf.vectors.verify(shelf.space)), shelf.vectors.verify(shelf.space)
    assert len(shelf.near(shelf.rows[0], 500)) >= 399
    shelf.vectors.rebuild(shelf.space)
    assert shelf.vectors.verify(shelf.space) == []
    here = shelf.vectors.count(shelf.space) + len(shelf.vectors.missing(shelf.space, 9))
    assert here == len(shelf.engine.rows("select 1 from memories"))


def test_damaged_centroids_are_found_and_rebuilding_does_without_them(shelf: Shelf) -> None:
    shelf.fill(clustered_rows(400, DIMS))
    shelf.vectors.train(shelf.space)
    with shelf.engine.write():
        shelf.engine.execute("update grids set birth = random(), centroids = x'00'")
    assert shelf.vectors.verify(shelf.space) == ["the centroids are damaged"]
    assert shelf.near(shelf.rows[3], 1) == [4]
    shelf.vectors.rebuild(shelf.space)
    assert shelf.vectors.verify(shelf.space) == []
    assert shelf.near(shelf.rows[3], 1) == [4]


def test_a_lost_index_is_a_named_fault_and_is_made_anew(shelf: Shelf) -> None:
    shelf.fill(clustered_rows(400, DIMS))
    with shelf.engine.write():
        shelf.engine.execute("delete from grids")
    assert any("lost their index" in fault for fault in shelf.vectors.verify(shelf.space))
    with pytest.raises(StoreDamaged):
        shelf.near(shelf.rows[3], 1)
    shelf.vectors.rebuild(shelf.space)
    assert shelf.vectors.verify(shelf.space) == []
    assert shelf.near(shelf.rows[3], 1) == [4]


def test_a_damaged_number_of_probes_costs_time_but_no_answers(shelf: Shelf) -> None:
    shelf.fill(clustered_rows(400, DIMS))
    shelf.vectors.train(shelf.space)
    with shelf.engine.write():
        shelf.engine.execute("update grids set probes = '[[30, '")
    assert recall(shelf, shelf.rows[:10], 10) == 1.0


def test_a_store_of_real_memories_is_migrated_and_keeps_them(path: Path) -> None:
    with recollect.open(path, project="p") as memory:
        kept = memory.remember("Basalt is dark.")
    store: Store = open_store(path, Kinds())
    migrate(store.engine)
    vectors = SqliteVectors(store.engine, store.project)
    space = vectors.begin("one", DIMS, AT)
    assert vectors.missing(space, 5) == [kept.id]
    assert store.memories.get(kept.id).content == "Basalt is dark."
    store.close()


def test_codes_alone_name_the_same_neighbours_in_nearly_the_same_order(shelf: Shelf) -> None:
    shelf.fill(clustered_rows(1_000, DIMS), kinds=("fact", "gotcha"))
    for filter in (Filter(), Filter(kinds=frozenset({"gotcha"}))):
        for query in random_rows(5):
            about = [int(id[1:]) for id in shelf.vectors.about(shelf.space, query, limit=20, filter=filter)]
            exact = shelf.near(query, 20, filter)
            assert len(about) == 20
            assert len(set(about) & set(exact)) >= 18
            assert about[0] in exact[:3]
