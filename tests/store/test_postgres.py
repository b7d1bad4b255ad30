"""The store on PostgreSQL: whom it lets in, what keeps tenants apart, and what happens when the server goes away."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

import recollect
from house.test_portable_sql import OPEN, STATEMENTS
from postgres_server import database_dsn, in_database
from recollect.core.errors import (
    BadDsn,
    ExtensionMissing,
    FileOnly,
    MigrationFailed,
    NewerSchema,
    OldServer,
    PoolExhausted,
    RecollectError,
    RowSecurityOff,
    StoreBusy,
    StoreForbidden,
    StoreMissing,
    StoreReadOnly,
    StoreUnreachable,
)
from recollect.core.kinds import Kinds
from recollect.core.query import Filter, Query
from recollect.recall.question import read
from recollect.store.migrate import migrate
from recollect.store.migrations.latest import LATEST
from recollect.store.migrations.steps import Migration
from recollect.store.open import open_store
from recollect.store.port import Engine, Space
from recollect.store.store import Store
from recollect.testing.store import AT, WEIGHTS, EngineConformance, make_memory, read_words

psycopg = pytest.importorskip("psycopg")

from recollect.store.postgres.dialect import PARTITIONED, PostgresDialect, definitions  # noqa: E402
from recollect.store.postgres.engine import PostgresEngine  # noqa: E402
from recollect.store.postgres.server import ROLE, parse_address, require_version  # noqa: E402


@contextmanager
def as_admin(database: str = "postgres") -> Iterator[Callable[..., list[tuple[object, ...]]]]:
    """Statements as the administrator of the test server."""
    with psycopg.connect(in_database(database), autocommit=True) as connection:

        def run(statement: str, *values: object) -> list[tuple[object, ...]]:
            cursor = connection.execute(statement, values or None)
            return cursor.fetchall() if cursor.description else []

        yield run


@pytest.fixture
def database() -> Iterator[str]:
    """A database of its own, empty, for tests that change more than rows."""
    name = f"own_{uuid4().hex}"
    with as_admin() as run:
        run(f"create database {name}")
        yield name
        run(f"drop database {name} with (force)")


@pytest.fixture
def role() -> Iterator[Callable[[str], str]]:
    """Makes roles with given rights, and removes them."""
    made: list[str] = []

    def make(rights: str) -> str:
        name = f"role_{uuid4().hex}"
        with as_admin() as run:
            run(f"create role {name} login {rights}")
        made.append(name)
        return name

    yield make
    with as_admin() as run:
        for name in made:
            run(f"drop role if exists {name}")


@contextmanager
def opened(dsn: str, **options: object) -> Iterator[Engine]:
    store = open_store(dsn, Kinds(), project="p", **options)  # type: ignore[arg-type]
    try:
        yield store.engine
    finally:
        store.close()


# --- the language -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def planner() -> Iterator[Callable[[str], None]]:
    dsn = f"{database_dsn()}&tenant=planner"
    open_store(dsn, Kinds(), project="p").close()
    with psycopg.connect(parse_address(dsn).conninfo, autocommit=True) as connection:
        connection.execute("set search_path = recollect, public; set recollect.tenant = 'planner'")

        def plan(statement: str) -> None:
            numbers: dict[str, int] = {}
            text = PostgresDialect.render(statement).replace("%%", "%")
            text = re.sub(
                r"%\((\w+)\)s|%s", lambda m: f"${numbers.setdefault(m[1] or str(len(numbers)), len(numbers) + 1)}", text
            )
            connection.execute(f"prepare one as {text}".encode())
            connection.execute("deallocate one")

        yield plan


# Made for every table of observations, and used for those that have a number.
_UNUSED = re.compile(r"_(PROMOTIONS|SESSIONS|SYNTHESES)\.2$")


def _plannable() -> Iterator[str]:
    """Statements over the tables of today in which only our own filter is left open: what else stands in an open place
    is known to its owner alone."""
    for place, text in STATEMENTS.items():
        has_own_places = "{table}" in text or ("{where}" in text and "memories m" not in text)
        is_of_today = not _UNUSED.search(place) and ".migrations." not in place
        if is_of_today and not has_own_places and not re.match(r"\s*(create|alter|drop)\b", text):
            yield place


@pytest.mark.parametrize("place", sorted(_plannable()))
def test_every_portable_statement_can_be_planned(place: str, planner: Callable[[str], None]) -> None:
    text = STATEMENTS[place]
    planner(re.sub(r"\{(\w+)(?::\w)?\}", lambda part: OPEN[part[1]], text).replace("{{", "{").replace("}}", "}"))


def test_a_table_is_keyed_by_tenant_and_those_that_grow_are_spread() -> None:
    made = definitions("create table memories (id text primary key, other bigint, unique (other))")
    assert "primary key (tenant, id)" in made[0]
    assert "unique (tenant, other)" in made[0]
    assert "partition by hash (tenant)" in made[0]
    assert "partition by" not in definitions("create table jobs (name text primary key)")[0]
    assert definitions("create index i on t (a, b) where a > 1") == ["create index i on t (tenant, a, b) where a > 1"]


# --- addresses and servers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://h/d?tenant=a/b", "postgresql://h/d?tenant=", "postgresql://h/d?pool=many", "postgresql://h/d?pool=0",
        "postgresql://h/d?no_such_option=1", "postgresql://h:port/d", "postgresql://[::1/d",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_read_is_refused_before_anything_is_asked(dsn: str) -> None:
    with pytest.raises(BadDsn):
        recollect.open(dsn)


def test_no_password_is_shown() -> None:
    address = parse_address("postgresql://me:hunter2@db.example:5433/shop?tenant=acme&sslmode=require")
    assert address.location == "postgresql://db.example:5433/shop?tenant=acme"
    with pytest.raises(StoreUnreachable) as raised:
        recollect.open("postgresql://me:hunter2@127.0.0.1:1/shop")
    assert "hunter2" not in f"{raised.value} {raised.value.hint}"


def test_what_an_address_tells_the_server_reaches_it_unchanged(tenant_dsn: str) -> None:
    with opened(f"{tenant_dsn}&options=-c%20work_mem%3D5MB&application_name=a%2Bb%20c") as engine:
        told = "select current_setting('work_mem'), current_setting('application_name')"
        assert engine.rows(told) == [("5MB", "a+b c")]


def test_a_server_that_is_not_there_or_does_not_know_us_is_named(tenant_dsn: str) -> None:
    for dsn in (in_database("no_such_database"), in_database("postgres", user="nobody_known")):
        with pytest.raises(StoreUnreachable, match="does not exist"):
            recollect.open(dsn)


def test_an_old_server_and_an_old_extension_are_refused() -> None:
    require_version(150_000, "0.8.0", "here")
    with pytest.raises(OldServer, match=r"PostgreSQL 14\.9"):
        require_version(140_009, "0.8.0", "here")
    with pytest.raises(OldServer, match=r"pgvector 0\.7\.4"):
        require_version(170_000, "0.7.4", "here")


def test_a_role_that_may_not_create_anything_is_told_what_to_ask_for(database: str, role: Callable[[str], str]) -> None:
    name = role("")
    with pytest.raises(ExtensionMissing):
        recollect.open(in_database(database, user=name))
    with as_admin(database) as run:
        run("create extension vector")
    with pytest.raises(StoreForbidden) as raised:
        recollect.open(in_database(database, user=name))
    assert f"to {name}" in raised.value.hint


def test_a_store_that_must_exist_is_not_made(tenant_dsn: str) -> None:
    for options in ({"create": False}, {"read_only": True}):
        with pytest.raises(StoreMissing):
            recollect.open(tenant_dsn, **options)  # type: ignore[arg-type]
    recollect.open(tenant_dsn).close()
    with recollect.open(tenant_dsn, read_only=True) as memory:
        with pytest.raises(StoreReadOnly):
            memory.remember("Nothing.")
        assert memory.count() == 0


def test_what_is_done_to_files_is_refused(tenant_dsn: str) -> None:
    with recollect.open(tenant_dsn) as memory:
        assert memory.path is None
        with pytest.raises(FileOnly):
            memory.maintenance.backup()


# --- tenants ----------------------------------------------------------------------------------------------------------


def test_a_tenant_sees_nothing_of_another_by_any_statement(tenant_dsn: str) -> None:
    with opened(tenant_dsn) as ours, opened(f"{tenant_dsn}-other") as theirs:
        suite = EngineConformance()
        suite.keep(ours, make_memory(1, "obsidian", tags=("rare",)))
        store = suite.store(theirs)
        assert store.words.matching(read_words("obsidian"), Filter(), weights=WEIGHTS, limit=5) == []
        assert theirs.keywords.with_all(["obsidian"], limit=5) == []
        assert theirs.keywords.frequencies(["obsidian"]) == ({}, 0)
        for table in theirs.tables():
            held = theirs.rows(f"select count(*) from {table} where tenant <> current_setting('recollect.tenant')")
            assert held == [(0,)], table
        with theirs.write():  # the same ids may exist in both
            store.memories.add([make_memory(1, "basalt")])
        assert suite.store(ours).memories.get("mem_p_0001").content == "obsidian"


def test_a_row_cannot_be_written_for_another_tenant(tenant_dsn: str) -> None:
    with opened(tenant_dsn) as engine, pytest.raises(StoreForbidden, match="row-level security"), engine.write():
        engine.execute("insert into meta (tenant, project, name, value, checksum) values ('else', 'p', 'n', 'v', 0)")


def test_we_work_as_a_role_that_owns_nothing_and_sees_one_tenant(tenant_dsn: str) -> None:
    with opened(tenant_dsn) as engine:
        (who,) = engine.rows(
            "select current_user::text, rolsuper, rolbypassrls from pg_roles where rolname = current_user"
        )
        assert who == (ROLE, False, False)
        assert engine.rows("select count(*) from pg_class where pg_get_userbyid(relowner) = current_user::text") == [
            (0,)
        ]
        assert engine.rows("select row_security_active('memories')") == [(True,)]
        for table in (*(f"{name}_0" for name in sorted(PARTITIONED)),):  # past the table that has the policy
            with pytest.raises(StoreForbidden):
                engine.rows(f"select count(*) from {table}")
        assert engine.check_structure() == []


def test_a_wall_that_was_taken_down_is_found(database: str) -> None:
    with opened(in_database(database)) as engine, as_admin(database) as run:
        run("alter table recollect.links disable row level security")
        (fault,) = engine.check_structure()
        assert "links" in fault


def test_a_role_that_sees_everything_is_refused_unless_it_can_become_one_that_does_not(
    database: str, role: Callable[[str], str], tenant_dsn: str
) -> None:
    name = role("bypassrls")
    recollect.open(tenant_dsn).close()  # makes the role that others may become
    with as_admin(database) as run:
        run("create extension vector")
        run(f"grant create on database {database} to {name}")
    with pytest.raises(RowSecurityOff):
        recollect.open(in_database(database, user=name))
    with as_admin() as run:
        run(f"grant {ROLE} to {name}")
    with recollect.open(in_database(database, user=name)) as memory:
        memory.remember("Kept as the working role.")
    with as_admin(database) as run:
        run(f"drop owned by {name} cascade")


def test_a_plain_login_works_once_it_was_granted_the_role(database: str, role: Callable[[str], str]) -> None:
    name = role("")
    recollect.open(in_database(database)).close()
    with pytest.raises(StoreForbidden) as raised:
        recollect.open(in_database(database, user=name))
    assert raised.value.hint == f"Ask its administrator to run `grant {ROLE} to {name}`."
    with as_admin() as run:
        run(f"grant {ROLE} to {name}")
    with recollect.open(f"{in_database(database, user=name)}&tenant=new") as memory:
        memory.remember("The login owns nothing.")
        assert [hit.memory.content for hit in memory.recall("who owns?")] == ["The login owns nothing."]


def test_an_owner_that_can_have_no_other_role_is_walled_in_too(database: str, role: Callable[[str], str]) -> None:
    name = role("")
    with as_admin(database) as run:
        run("create extension vector")
        run(f"grant create on database {database} to {name}")
    dsn = in_database(database, user=name)
    with opened(f"{dsn}&tenant=a") as ours, opened(f"{dsn}&tenant=b") as theirs:
        suite = EngineConformance()
        store, other = suite.keep(ours, make_memory(1, "obsidian")), suite.keep(theirs, make_memory(1, "obsidian too"))
        with theirs.write():
            theirs.keywords.rebuild()
            theirs.keywords.verify()
        for one, content in ((store, "obsidian"), (other, "obsidian too")):
            (match,) = one.words.matching(read_words("obsidian"), Filter(), weights=WEIGHTS, limit=5)
            assert one.memories.get(match.id).content == content
        for table in (*ours.tables(), "keywords", "keyword_counts"):
            assert ours.rows(f"select count(*) from {table} where tenant <> 'a'") == [(0,)], table
        assert "owner of the tables" in ours.version
    with as_admin(database) as run:
        run(f"drop owned by {name} cascade")


# --- migrations -------------------------------------------------------------------------------------------------------


def _add_notes(engine: Engine) -> None:
    engine.execute("create table notes (id text primary key, body text not null)")
    engine.execute("insert into notes (id, body) select id, content from memories")


def test_a_migration_changes_tables_once_and_the_rows_of_every_tenant(database: str) -> None:
    names = ("a", "b")
    for name in names:
        with recollect.open(f"{in_database(database)}&tenant={name}", project="p") as memory:
            memory.remember(f"Of tenant {name}.")
    with opened(f"{in_database(database)}&tenant=a") as engine:
        migrate(engine, [Migration(LATEST + 1, "notes", _add_notes)])
        assert engine.schema() == LATEST + 1
        assert engine.rows("select body from notes") == [("Of tenant a.",)]
    with pytest.raises(NewerSchema):
        recollect.open(f"{in_database(database)}&tenant=b")
    engine = PostgresEngine(f"{in_database(database)}&tenant=b")
    assert engine.rows("select body from notes") == [("Of tenant b.",)]
    engine.close()


def test_a_migration_that_fails_or_is_cut_off_leaves_everything_as_it_was(database: str) -> None:
    with recollect.open(in_database(database), project="p") as memory:
        memory.remember("Kept.")

    def fails(engine: Engine) -> None:
        _add_notes(engine)
        raise ValueError("half way")

    def loses(engine: Engine) -> None:
        engine.execute("delete from memories")

    def dies(engine: Engine) -> None:
        _add_notes(engine)
        with as_admin() as run:
            run(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and state <> 'idle'",
                database,
            )

    for step in (fails, loses, dies):
        engine = PostgresEngine(in_database(database))
        with pytest.raises((MigrationFailed, StoreUnreachable)):
            migrate(engine, [Migration(LATEST + 1, "notes", step)])
        engine.close()
    with opened(in_database(database)) as engine:
        assert engine.schema() == LATEST
        assert "notes" not in engine.tables()
        assert engine.rows("select content from memories") == [("Kept.",)]


def test_many_who_open_a_new_database_at_once_make_one_store(database: str) -> None:
    troubles: list[BaseException] = []

    def write(number: int) -> None:
        try:
            with recollect.open(f"{in_database(database)}&pool=2", project="p") as memory:
                memory.remember(f"Statement {number} of a thread.")
        except BaseException as error:
            troubles.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert troubles == []
    with recollect.open(in_database(database)) as memory:
        assert memory.count() == 4
        assert memory.maintenance.check().findings == []


# --- connections ------------------------------------------------------------------------------------------------------


def _cut(engine: Engine) -> None:
    """End every connection of an engine, as a network or a restart would."""
    (tenant,) = engine.rows("select current_setting('recollect.tenant')")[0]
    name = f"cut-{tenant}"
    with as_admin() as run:
        run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = %s", name)


def _named(dsn: str) -> str:
    return f"{dsn}&application_name=cut-{dsn.rpartition('=')[2]}"


def test_a_connection_that_died_while_idle_is_replaced_unnoticed(tenant_dsn: str) -> None:
    with recollect.open(_named(tenant_dsn)) as memory:
        memory.remember("Before the restart.")
        _cut(memory.store.engine)
        assert memory.count() == 1
        _cut(memory.store.engine)
        memory.remember("After the restart.")
        assert memory.count() == 2


def _write_and_cut(engine: Engine, numbers: tuple[int, ...], *, further: tuple[int, ...] = ()) -> None:
    store = EngineConformance().store(engine)
    with engine.write():
        store.memories.add([make_memory(number) for number in numbers])
        _cut(engine)
        store.memories.add([make_memory(number) for number in further])


def _read_and_cut(engine: Engine) -> None:
    store = EngineConformance().store(engine)
    with engine.read():
        store.memories.count(Filter())
        _cut(engine)
        store.memories.count(Filter())


def test_a_connection_cut_in_the_middle_of_a_write_takes_all_of_it_back(tenant_dsn: str) -> None:
    with opened(_named(tenant_dsn)) as engine:
        suite = EngineConformance()
        store = suite.keep(engine, make_memory(1))
        with pytest.raises(StoreUnreachable):
            _write_and_cut(engine, (2,), further=(3,))
        assert [memory.id for memory in store.memories.page(Filter()).memories] == ["mem_p_0001"]
        with pytest.raises(StoreUnreachable) as raised:
            _write_and_cut(engine, (4,))
        assert "look whether" in raised.value.hint  # a commit whose answer never came
        assert store.memories.count(Filter()) == 1
        with pytest.raises(StoreUnreachable):
            _read_and_cut(engine)
        suite.keep(engine, make_memory(5))
        assert store.memories.count(Filter()) == 2


def test_a_pool_with_no_connection_left_says_so(tenant_dsn: str) -> None:
    with opened(f"{tenant_dsn}&pool=1", timeout=0.3) as engine, engine.read():
        troubles: list[BaseException] = []

        def ask() -> None:
            try:
                engine.rows("select 1")
            except RecollectError as error:
                troubles.append(error)

        other = threading.Thread(target=ask)
        other.start()
        other.join(20)
        assert [type(trouble) for trouble in troubles] == [PoolExhausted]


def test_a_writer_that_waits_too_long_for_another_process_says_so(tenant_dsn: str) -> None:
    with opened(tenant_dsn) as one, opened(tenant_dsn, timeout=0.2) as other, one.write():
        with pytest.raises(StoreBusy):
            EngineConformance().keep(other, make_memory(1))
        assert other.rows("select count(*) from memories") == [(0,)]  # a read never waits


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_speaks_on_connections_of_its_own(tenant_dsn: str, tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        "import os, sys, recollect\n"
        "memory = recollect.open(sys.argv[1], project='p')\n"
        "memory.remember('Of the parent.')\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    memory.remember('Of the child.')\n"
        "    os._exit(0 if memory.count() == 2 else 1)\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "print(code, memory.count())\n"
        "memory.close()\n"
    )
    command = [sys.executable, "-W", "ignore", script, tenant_dsn]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["0", "2"], done.stderr


# --- the same answers -------------------------------------------------------------------------------------------------

TEXTS = (
    "The cranes were lifting containers in the harbour all night.",
    "retry_budget limits how often the uploader retries a chunk.",
    "Uploads retry with a budget; the budget is reset nightly.",
    "Crane operators lift by night, container ships leave by day.",
    "Die Kräne im Hafen heben Container. Ein Kran hebt nachts.",
    "我们在海港里工作，起重机整夜不停。",
    "night night night night",
    "parseHTTPResponse in src/net/http_client.py swallows timeouts.",
)
QUESTIONS = (
    "cranes lifting at night", "retry budget of uploads", "RetryBudget", "起重机", "Kran", "http client timeouts",
    "parse response", "harbour", "night", "no such word anywhere",
)  # fmt: skip


def test_both_engines_find_the_same_words_with_the_same_scores(tenant_dsn: str, tmp_path: Path) -> None:
    suite, found = EngineConformance(), []
    for place in (tenant_dsn, tmp_path / "memory.db"):
        engine = open_store(place, Kinds(), project="p").engine
        memories = [make_memory(number, text, tags=("port",)) for number, text in enumerate(TEXTS, start=1)]
        store = suite.keep(engine, *memories, *(make_memory(100 + n, f"filler {n} of the lot") for n in range(40)))
        with engine.write():  # changed and deleted ones count no longer
            store.memories.delete([store.memories.get("mem_p_0101")])
            before = store.memories.get("mem_p_0102")
            store.memories.update(before, replace(before, content="something else", revision=2))
        ranked = [
            [
                (match.id, round(match.score, 6))
                for match in store.words.matching(
                    read(Query(question)), Filter(), weights=WEIGHTS, limit=10, prefix=prefix
                )
            ]
            for question in QUESTIONS
            for prefix in (False, True)
        ]
        held = [memory.id for memory in store.memories.sharing(["retry", "budget"], limit=9)]
        said = [one.id for one in store.words.saying_any(["crane"], read(Query("night")), limit=9)]
        found.append((ranked, held, said, engine.keywords.frequencies(["night", "crane", "nowher"])[0]))
        with engine.write(durable=False):
            engine.keywords.verify()
        engine.close()
    for ours, theirs in zip(*found, strict=True):
        assert ours == theirs


def test_both_engines_find_the_same_neighbours_before_and_after_training(tenant_dsn: str, tmp_path: Path) -> None:
    import numpy as np

    chance = np.random.default_rng(7)
    views = chance.normal(size=(120, 2, 32)).astype(np.float32)
    questions = chance.normal(size=(6, 32)).astype(np.float32)
    suite, found = EngineConformance(), []
    for place in (tenant_dsn, tmp_path / "memory.db"):
        engine = open_store(place, Kinds(), project="p").engine
        kinds = ("gotcha", "fact", "decision", "fact")
        store = suite.keep(engine, *(make_memory(n, kind=kinds[n % 4]) for n in range(1, 121)))
        space = store.vectors.activate(store.vectors.begin("model", 32, AT))
        store.vectors.put(space, [(f"mem_p_{n:04d}", views[n - 1], "s") for n in range(1, 121)])

        def ask(store: Store = store, space: Space = space) -> list[list[tuple[str, float]]]:
            return [
                [
                    (near.id, round(near.cosine, 4))
                    for near in store.vectors.nearest(space, question, limit=8, filter=some)
                ]
                for question in questions
                for some in (None, Filter(), Filter(kinds=frozenset({"gotcha"})))
            ]

        before = ask()
        store.vectors.train(space)
        assert ask() == before
        assert store.vectors.verify(space) == []
        order = [f"mem_p_{n:04d}" for n in range(1, 121)]
        store.vectors.put(space, [("mem_p_0050", views[2], "s")])
        rounded = [(one, other, round(near, 3)) for one, other, near in store.vectors.repeats(space, order, least=0.95)]
        found.append((before, rounded, np.round(store.vectors.centre(space, sample=50), 2).shape))
        engine.close()
    assert found[0] == found[1]
    assert found[0][1] == [("mem_p_0050", "mem_p_0003", 1.0)]


def test_a_filter_that_lets_little_through_still_finds_it_in_a_trained_space(tenant_dsn: str) -> None:
    import numpy as np

    with opened(tenant_dsn) as engine:
        rare = (77, 301)
        suite = EngineConformance()
        store = suite.keep(engine, *(make_memory(n, kind="gotcha" if n in rare else "fact") for n in range(1, 401)))
        space = store.vectors.activate(store.vectors.begin("model", 8, AT))
        rows = np.random.default_rng(3).normal(size=(400, 8))
        store.vectors.put(space, [(f"mem_p_{n:04d}", rows[n - 1], "s") for n in range(1, 401)])
        store.vectors.train(space)
        near = store.vectors.search(space, -rows[76] - rows[300], limit=5, filter=Filter(kinds=frozenset({"gotcha"})))
        assert {id for id, _ in near} == {"mem_p_0077", "mem_p_0301"}


# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_by_another_process_is_heard_at_once_and_only_by_its_tenant(tenant_dsn: str) -> None:
    with opened(tenant_dsn) as one, opened(tenant_dsn) as other, opened(f"{tenant_dsn}-else") as stranger:
        assert one.wait_for_change(0) is False
        EngineConformance().keep(stranger, make_memory(1))
        assert one.wait_for_change(0.2) is False
        EngineConformance().keep(other, make_memory(1))
        assert one.wait_for_change(10) is True
        assert one.wait_for_change(0) is False
