"""What members see: nothing that is not theirs to see, by any way of asking, on either engine."""

from __future__ import annotations

from random import Random

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.errors import MemoryNotFound
from recollect.core.people import Member, Role
from recollect.store.port import Engine
from recollect.store.sight import READ_WHOLE, SEEN_ROWS, rewrite, sight_of
from team_worlds import PROJECT, World, counting, leaks, make_world, people

STORES, POPULATIONS = 25, 8  # worlds: as many as their product; benchmarks/members_sight.py has 10,000


def test_no_way_of_asking_tells_a_member_of_what_is_not_theirs() -> None:
    for seed in range(STORES):
        random = Random(seed)
        with recollect.open(":memory:", project=PROJECT, actor="keeper") as memory:
            world = make_world(memory, random)
            for _ in range(POPULATIONS):
                world.members = people(random)
                assert list(leaks(world, random.choice(world.members), random, share=0.25)) == [], seed


@pytest.fixture
def shared(tenant_dsn: str) -> Recollect:
    return recollect.open(tenant_dsn, project=PROJECT, actor="keeper")


def test_the_same_on_postgresql_where_the_rows_have_a_wall_of_their_own(shared: Recollect) -> None:
    with shared as memory:
        random = Random(7)
        world = make_world(memory, random)
        for _ in range(6):
            world.members = people(random)
            member = random.choice(world.members)
            assert list(leaks(world, member, random)) == []
            assert told_by_the_database(memory.store.engine, member) & world.foreign(member) == set()


# Without any condition of ours: what a statement that forgot them would read.
FORGETFUL = (
    "select id from memories",
    "select source from links union select target from links where is_file = 0",
    "select subject from log where about in ('memory', 'link')",
    "select memory from injections",
)


def told_by_the_database(engine: Engine, member: Member) -> set[str]:
    with engine.viewing(sight_of(member)):
        return {row[0] for sql in FORGETFUL for row in engine.rows(sql)}


def test_the_database_shows_a_member_the_rows_that_are_theirs(shared: Recollect) -> None:
    with shared as memory:
        mine = memory.remember("Staging is rebuilt at night", visibility="team", team="red").id
        other = memory.remember("The invoice run starts at six", visibility="team", team="blue").id
        red = Member("usr_1", "ann", Role.ADMIN, frozenset({"red"}), frozenset())
        assert told_by_the_database(memory.store.engine, red) == {mine}
        nobody = Member("usr_2", "ben", Role.ADMIN, frozenset(), frozenset())
        assert told_by_the_database(memory.store.engine, nobody) == set()
        assert {row[0] for row in memory.store.engine.rows(FORGETFUL[0])} == {mine, other}


def test_a_member_cannot_write_what_they_could_not_read(shared: Recollect) -> None:
    with shared as memory:
        red = Member("usr_1", "ann", Role.ADMIN, frozenset({"red"}), frozenset())
        other = memory.remember("The invoice run starts at six", visibility="team", team="blue").id
        engine = memory.store.engine
        with engine.viewing(sight_of(red)), engine.write():
            assert engine.execute("update memories set pinned = 1 where id = :id", {"id": other}) == 0
        assert not memory.get(other).pinned


def test_asking_for_anothers_memory_and_for_none_is_the_same_to_the_last_statement(memory: Recollect) -> None:
    other = memory.remember("The invoice run starts at six", visibility="team", team="blue").id
    view = memory.seen_by(Member("usr_1", "ann", Role.MEMBER, frozenset({"red"}), frozenset({"test"})), door="http")
    for ask in (view.get, view.why, view.history, view.team.thread, view.review.evidence):
        sent, told = [], []
        for id in (other, other[:-4] + "0000"):
            with counting(view) as statements, pytest.raises(MemoryNotFound) as refusal:
                ask(id)
            sent.append(statements)
            told.append(str(refusal.value).replace(id, "ID") + str(refusal.value.hint))
        assert sent[0] == sent[1]
        assert told[0] == told[1]


def test_every_table_is_either_limited_or_named_as_read_whole(memory: Recollect) -> None:
    tables = {name for name in memory.store.engine.tables() if not name.startswith(("sqlite_", "keywords_"))}
    assert tables - SEEN_ROWS.keys() - READ_WHOLE == set()


@pytest.mark.parametrize(
    ("statement", "limited"),
    [
        ("select id from memories", "from (select memories_row.* from memories memories_row where"),
        ("select m.id from memories m where m.id = :id", ") m where m.id = :id"),
        ("select 1 from keywords k join memories m on m.seq = k.rowid", "join (select memories_row.*"),
        ("select id from memories m /* not indexed */ where 1 = 1", "memories memories_row /* not indexed */ where"),
        ("select number from log order by number", "from (select log_row.* from log log_row where"),
    ],
)
def test_a_statement_reads_only_what_is_seen(statement: str, limited: str) -> None:
    assert limited in rewrite(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "delete from memories where seq = :seq",
        "update memories set pinned = 1 where id = :id",
        "select value from meta where name = :name",
        "select number from log /* whole */ order by number desc limit 1",
    ],
)
def test_a_statement_that_keeps_the_store_whole_stays_as_it_is(statement: str) -> None:
    assert rewrite(statement) == statement


def test_worlds_hold_something_to_leak(memory: Recollect) -> None:
    world = make_world(memory, Random(3))
    stranger = Member("usr_9", "zoe", Role.ADMIN, frozenset(), frozenset())
    assert world.foreign(stranger)
    naked = World(memory, world.members, world.ids, world.words)
    assert any(one in repr(memory.list(limit=100)) for one in naked.foreign(stranger))
