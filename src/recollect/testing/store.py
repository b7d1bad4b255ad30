"""The conformance suite of the store port: what every engine must do, whoever wrote it.

Subclass `EngineConformance` in a test module and give it an `engine` fixture with a new, empty store:

    class TestMyEngine(EngineConformance):
        @pytest.fixture
        def engine(self) -> Iterator[Engine]:
            engine = MyEngine(...)
            migrate(engine, facts={"project": "p"})
            yield engine
            engine.close()

Every test goes through the port and the repositories; none knows a driver.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from recollect.core.errors import MemoryNotFound
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.links import Link
from recollect.core.log import Change
from recollect.core.query import Filter, Reading
from recollect.core.records import Memory
from recollect.core.scope import Relation, Scope, Source, Status, Visibility
from recollect.store.port import Engine
from recollect.store.store import Store

AT = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WEIGHTS = (1.0, 0.8, 0.3)  # of body, names and context


def make_memory(number: int, content: str = "", *, project: str = "p", **fields: Any) -> Memory:
    """A memory with everything a row needs; later numbers are younger."""
    at = AT + timedelta(seconds=number)
    plain = Memory(
        MemoryId(f"mem_{project}_{number:04d}"), project, "fact", content or f"statement number {number}", 0.8,
        at, at, at, Source.AGENT_EXPLICIT, Scope.GLOBAL, Visibility.PROJECT, Status.ACTIVE, f"print-{project}-{number}",
    )  # fmt: skip
    return replace(plain, **fields)


def read_words(text: str) -> Reading:
    return Reading("semantic", tuple(text.split()), (), ())


class _Refused(Exception):
    """What a test raises to have a transaction taken back."""


class EngineConformance:
    """Transactions, isolation, search, vectors, filters, ordering, log, tombstones, concurrency."""

    def store(self, engine: Engine, project: str = "p") -> Store:
        return Store(engine, Kinds(), project=project)

    def keep(self, engine: Engine, *memories: Memory, project: str = "p") -> Store:
        store = self.store(engine, project)
        with engine.write():
            store.memories.add(memories)
        return store

    # --- transactions -----------------------------------------------------------------------------------------------

    def test_a_write_that_raises_leaves_nothing_in_rows_words_or_facets(self, engine: Engine) -> None:
        store = self.store(engine)
        try:
            with engine.write():
                store.memories.add([make_memory(1, "obsidian", tags=("rare",))])
                raise _Refused
        except _Refused:
            pass
        assert store.memories.count(Filter()) == 0
        assert store.words.matching(read_words("obsidian"), Filter(), weights=WEIGHTS, limit=5) == []
        assert store.memories.carried("tag", ["rare"]) == set()

    def test_a_nested_write_joins_the_outer_one(self, engine: Engine) -> None:
        store = self.store(engine)
        try:
            with engine.write():
                with engine.write():
                    store.memories.add([make_memory(1)])
                raise _Refused
        except _Refused:
            pass
        assert store.memories.count(Filter()) == 0

    def test_a_savepoint_fails_alone(self, engine: Engine) -> None:
        store = self.store(engine)
        with engine.write():
            store.memories.add([make_memory(1)])
            try:
                with engine.savepoint():
                    store.memories.add([make_memory(2)])
                    raise _Refused
            except _Refused:
                pass
            store.memories.add([make_memory(3)])
        ids = [memory.id for memory in store.memories.page(Filter(), order="oldest").memories]
        assert ids == ["mem_p_0001", "mem_p_0003"]

    def test_what_is_written_is_read_inside_the_same_write(self, engine: Engine) -> None:
        store = self.store(engine)
        with engine.write():
            store.memories.add([make_memory(1, "obsidian")])
            assert store.memories.get("mem_p_0001").content == "obsidian"
            assert len(store.words.matching(read_words("obsidian"), Filter(), weights=WEIGHTS, limit=5)) == 1

    def test_a_reader_sees_the_last_committed_state_and_does_not_wait(self, engine: Engine) -> None:
        if engine.folder is None and engine.location == ":memory:":
            return  # one connection: readers wait for the writer
        store, seen = self.keep(engine, make_memory(1)), []
        with engine.write():
            store.memories.add([make_memory(2)])
            reader = threading.Thread(target=lambda: seen.append(store.memories.count(Filter())))
            reader.start()
            reader.join(10)
            assert seen == [1]
        assert store.memories.count(Filter()) == 2

    def test_several_reads_see_one_state(self, engine: Engine) -> None:
        if engine.folder is None and engine.location == ":memory:":
            return
        store = self.keep(engine, make_memory(1))
        with engine.read():
            before = store.memories.count(Filter())
            writer = threading.Thread(target=lambda: self.keep(engine, make_memory(2)))
            writer.start()
            writer.join(10)
            assert store.memories.count(Filter()) == before
        assert store.memories.count(Filter()) == 2

    def test_writers_at_once_all_come_through_and_each_turn_has_its_own_ordinal(self, engine: Engine) -> None:
        def write(first: int) -> None:
            for number in range(first, first + 10):
                self.keep(engine, make_memory(number, kind="episode", session="s"))

        threads = [threading.Thread(target=write, args=(first,)) for first in (100, 200, 300, 400)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        ordinals = [ordinal for ordinal, _ in self.store(engine).sessions.episodes("s", limit=100)]
        assert ordinals == list(range(1, 41))

    # --- values -----------------------------------------------------------------------------------------------------

    def test_numbers_and_bytes_come_back_as_they_were(self, engine: Engine) -> None:
        far = AT.replace(year=2999)
        store = self.keep(engine, make_memory(1, confidence=0.30000000000000004, event_at=far))
        found = store.memories.get("mem_p_0001")
        assert (found.confidence, found.event_at) == (0.30000000000000004, far)
        day = (AT, AT + timedelta(days=1))
        numbers = [
            store.spend.reserve(
                2**40, model="m", feature="f", session=None, at=AT, day=day, per_day=2**50, per_session=0
            )
            for _ in range(2)
        ]
        assert numbers == sorted({int(number or 0) for number in numbers})
        (cost,) = store.spend.by_feature(*day)
        assert (cost.tokens, type(cost.tokens)) == (2**41, int)

    def test_a_set_is_bound_as_one_value_and_may_be_empty_or_large(self, engine: Engine) -> None:
        store = self.keep(engine, *(make_memory(number) for number in range(1, 4)))
        assert store.memories.get_many([]).memories == ()
        asked = [f"mem_p_{number:04d}" for number in range(3_000)]
        assert [memory.id for memory in store.memories.get_many(asked).memories] == asked[1:4]

    def test_text_with_quotes_percent_signs_and_marks_is_only_text(self, engine: Engine) -> None:
        odd = """it's 100 % "quoted" ?, :name and \\ {where} — ü 漢字"""
        store = self.keep(engine, make_memory(1, odd, session=odd))
        assert store.memories.get("mem_p_0001").content == odd
        assert [memory.id for memory in store.memories.page(Filter(sessions=frozenset({odd}))).memories] == [
            "mem_p_0001"
        ]

    # --- projects ---------------------------------------------------------------------------------------------------

    def test_nothing_crosses_from_one_project_to_another(self, engine: Engine) -> None:
        ours = self.keep(engine, make_memory(1, "obsidian", tags=("rare",)))
        theirs = self.keep(engine, make_memory(1, "obsidian too", project="q"), project="q")
        for get in (ours.memories.get, ours.memories.resolve):
            try:
                get("mem_q_0001")
            except MemoryNotFound:
                continue
            raise AssertionError("a memory of another project was found")
        assert [one.id for one in ours.words.matching(read_words("obsidian"), Filter(), weights=WEIGHTS, limit=5)] == [
            "mem_p_0001"
        ]
        assert theirs.memories.carried("tag", ["rare"]) == set()
        assert theirs.memories.count(Filter()) == 1

    # --- finding ----------------------------------------------------------------------------------------------------

    def test_words_find_by_stem_and_forget_what_was_changed(self, engine: Engine) -> None:
        store = self.keep(engine, make_memory(1, "The cranes were lifting"), make_memory(2, "Nothing of the kind"))
        (match,) = store.words.matching(read_words("crane lifts"), Filter(), weights=WEIGHTS, limit=5)
        assert match.id == "mem_p_0001"
        before = store.memories.get("mem_p_0001")
        with engine.write():
            store.memories.update(before, before.having(content="A quiet harbour", revision=before.revision + 1))
        assert store.words.matching(read_words("crane"), Filter(), weights=WEIGHTS, limit=5) == []
        with engine.write():
            store.memories.delete([store.memories.get("mem_p_0001")])
        assert store.words.matching(read_words("harbour"), Filter(), weights=WEIGHTS, limit=5) == []

    def test_nothing_a_person_types_is_syntax(self, engine: Engine) -> None:
        store = self.keep(engine, make_memory(1, "plain words"))
        for text in ('"', "AND OR NOT", "near(", "a* ^b", "'; drop table memories; --", "& | !"):
            store.words.matching(read_words(text), Filter(), weights=WEIGHTS, limit=5)
            store.words.containing(text, Filter(), limit=5)
        assert store.memories.count(Filter()) == 1

    def test_filters_restrict_by_every_kind_of_value(self, engine: Engine) -> None:
        store = self.keep(
            engine,
            make_memory(1, kind="gotcha", tags=("Red",), files=("a.py",), confidence=0.9),
            make_memory(2, status=Status.REJECTED, session="s", pinned=True),
            make_memory(3, modules=("core",), entities=("ent_1",), needs_review=True),
        )

        def found(**fields: Any) -> list[str]:
            return [memory.id[-1] for memory in store.memories.page(Filter(**fields), order="oldest").memories]

        assert found() == ["1", "3"]
        assert found(kinds=frozenset({"gotcha"})) == ["1"]
        assert found(tags=frozenset({"red"})) == ["1"]
        assert found(files=frozenset({"a.py", "b.py"})) == ["1"]
        assert found(modules=frozenset({"core"})) == ["3"]
        assert found(entities=frozenset({"ent_1"})) == ["3"]
        assert found(statuses=frozenset(Status), sessions=frozenset({"s"})) == ["2"]
        assert found(statuses=frozenset(Status), pinned=True) == ["2"]
        assert found(needs_review=True) == ["3"]
        assert found(min_confidence=0.85) == ["1"]
        assert found(since=AT + timedelta(seconds=2)) == ["3"]
        assert found(until=AT + timedelta(seconds=2)) == ["1"]

    def test_pages_follow_one_another_without_gap_or_repetition(self, engine: Engine) -> None:
        same = [make_memory(number, created_at=AT, confidence=0.5) for number in range(1, 8)]
        store = self.keep(engine, *same)
        for order in ("newest", "oldest", "confidence", "accessed"):
            seen = [
                memory.id
                for skip in range(0, 8, 3)
                for memory in store.memories.page(Filter(), order=order, limit=3, skip=skip).memories
            ]
            assert len(seen) == len(set(seen)) == 7, order

    # --- conversations ----------------------------------------------------------------------------------------------

    def test_turns_of_two_sessions_at_once_each_know_the_turn_before_them(self, engine: Engine) -> None:
        turns = [make_memory(number, kind="episode", session="even" if number % 2 else "odd") for number in range(1, 7)]
        drawn = make_memory(9, "a fact drawn from it", session="even")
        store = self.keep(engine, *turns[:3], drawn, *turns[3:])
        near = store.memories.nearby([turn.id for turn in turns], reach=1)
        for place, turn in enumerate(turns):
            before = near.beside(turn.id, -1)
            assert (before and before.id) == (turns[place - 2].id if place >= 2 else None)
        assert drawn.id not in near

    # --- links, tombstones, log -------------------------------------------------------------------------------------

    def test_a_link_is_kept_once_and_goes_with_its_memory(self, engine: Engine) -> None:
        store = self.keep(engine, make_memory(1), make_memory(2))
        link = Link(
            source=MemoryId("mem_p_0001"), relation=Relation.VALIDATES, target=MemoryId("mem_p_0002"), file=None,
            confidence=0.5, automatic=False, created_at=AT,
        )  # fmt: skip
        with engine.write():
            store.links.put([link])
            store.links.put([link])
        assert store.links.from_(link.source) == [link]
        assert self.store(engine, "q").links.from_(link.source) == []
        with engine.write():
            store.links.forget(["mem_p_0002"])
        assert store.links.from_(link.source) == []

    def test_a_tombstone_holds_until_it_is_lifted(self, engine: Engine) -> None:
        store = self.store(engine)
        with engine.write():
            store.tombstones.put(["print"], reason="rejected", at=AT)
        assert store.tombstones.find(["print", "other"])["print"].reason == "rejected"
        assert self.store(engine, "q").tombstones.find(["print"]) == {}
        with engine.write():
            store.tombstones.lift("print")
        assert store.tombstones.find(["print"]) == {}

    def test_the_log_is_whole_in_order_and_of_its_project(self, engine: Engine) -> None:
        store, other = self.store(engine), self.store(engine, "q")
        with engine.write():
            store.log.append([Change("add", "mem_1"), Change("add", "mem_2")], act="act_1", actor="a", at=AT)
            other.log.append([Change("add", "mem_3")], act="act_2", actor="b", at=AT)
            store.log.append([Change("confirm", "mem_1")], act="act_3", actor="a", at=AT)
        assert [entry.change.action for entry in store.log.of("mem_1")] == ["add", "confirm"]
        assert [entry.change.subject for entry in store.log.recent(9)] == ["mem_1", "mem_2", "mem_1"]
        assert store.log.verify() == []

    # --- vectors ----------------------------------------------------------------------------------------------------

    def test_the_nearest_are_found_behind_a_filter_and_in_their_own_project(self, engine: Engine) -> None:
        import numpy as np

        store = self.keep(
            engine, *(make_memory(number, kind="gotcha" if number % 2 else "fact") for number in range(1, 9))
        )
        self.keep(engine, make_memory(1, project="q"), project="q")
        space = store.vectors.activate(store.vectors.begin("model", 8, AT))
        unit = np.eye(8, dtype=np.float32)
        gone = store.vectors.put(
            space,
            [(f"mem_p_{number:04d}", unit[number - 1], "stamp") for number in range(1, 9)] + [("no", unit[0], "")],
        )
        assert gone == ["no"]
        asked = unit[0] + 0.5 * unit[1] + 0.25 * unit[2]
        assert [id[-1] for id, _ in store.vectors.search(space, asked, limit=3)] == ["1", "2", "3"]
        odd = Filter(kinds=frozenset({"gotcha"}))
        assert [id[-1] for id, _ in store.vectors.search(space, asked, limit=2, filter=odd)] == ["1", "3"]
        assert self.store(engine, "q").vectors.active() is None
        assert store.vectors.verify(space) == []

    def test_a_vector_lives_and_dies_with_its_memory_and_its_transaction(self, engine: Engine) -> None:
        store = self.keep(engine, make_memory(1), make_memory(2))
        space = store.vectors.activate(store.vectors.begin("model", 4, AT))
        assert store.vectors.missing(space, 9) == ["mem_p_0002", "mem_p_0001"]
        try:
            with engine.write():
                store.vectors.put(space, [("mem_p_0001", [1, 0, 0, 0], "a")])
                raise _Refused
        except _Refused:
            pass
        assert store.vectors.count(space) == 0
        store.vectors.put(space, [("mem_p_0001", [1, 0, 0, 0], "a"), ("mem_p_0002", [0, 1, 0, 0], "b")])
        with engine.write():
            store.memories.delete([store.memories.get("mem_p_0001")])
        assert [id for id, _ in store.vectors.search(space, [1, 0, 0, 0], limit=5)] == ["mem_p_0002"]
        assert store.vectors.stale(space, {"mem_p_0002": "other"}) == ["mem_p_0002"]

    def test_vectors_are_handed_out_as_they_were_put(self, engine: Engine) -> None:
        store = self.keep(engine, make_memory(1), make_memory(2))
        space = store.vectors.begin("model", 2, AT)
        store.vectors.put(space, [("mem_p_0001", [[1, 0], [0, 1]], "a")])
        ((id, views, stamp),) = store.vectors.items(space, ["mem_p_0002", "mem_p_0001"])
        assert (id, stamp, [[round(float(part), 3) for part in row] for row in views]) == (
            "mem_p_0001",
            "a",
            [[1.0, 0.0], [0.0, 1.0]],
        )

    # --- the file ---------------------------------------------------------------------------------------------------

    def test_a_sound_database_has_no_faults_and_knows_its_schema(self, engine: Engine) -> None:
        self.keep(engine, make_memory(1))
        assert engine.check_structure() == []
        assert engine.schema() > 0
        with engine.write(durable=False):
            engine.keywords.verify()
