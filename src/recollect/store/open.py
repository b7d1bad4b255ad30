"""Opening a store: is it ours, is it sound enough to use, does it need a migration? Nothing is ever recreated here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from recollect.core.errors import NewerSchema, NotAStore, StoreDamaged, StoreError, StoreMissing, StoreReadOnly
from recollect.core.kinds import Kinds
from recollect.core.text import ANALYZER
from recollect.store.meta import FILE, Meta
from recollect.store.migrations.latest import LATEST
from recollect.store.port import Engine
from recollect.store.sqlite.engine import TIMEOUT, SqliteEngine
from recollect.store.sqlite.place import beside, look, look_safely
from recollect.store.store import Store


def open_store(
    place: Path | str | None,
    kinds: Kinds,
    *,
    create: bool = True,
    read_only: bool = False,
    project: str | None = None,
    name: Callable[[], str] = lambda: "default",
    timeout: float = TIMEOUT,
    vfs: str | None = None,
    replica: str = "",
) -> Store:
    """Open the store in `place` (a file; the address of a database; none: in memory), migrating it when it is older
    than this release.

    A newer store opens for reading only when that was asked for; anything that is not a Recollect store is refused.
    `replica` is the address of a copy of that database which may answer reads.
    `name` is asked for the project's name when a store is made, or was half made by someone who died.
    """
    engine: Engine
    if isinstance(place, str):
        from recollect.store.postgres.engine import PostgresEngine  # with its driver: not for those who have a file

        engine = PostgresEngine(place, read_only=read_only, timeout=timeout, replica=replica)
    else:
        _prepare_file(place, create=create, read_only=read_only)
        engine = SqliteEngine(place, read_only=read_only, timeout=timeout, vfs=vfs)
    try:
        if not _bring_up_to_date(engine, place, project, name, create=create):
            raise StoreMissing(engine.location)
        store = Store(engine, kinds, project=project)
        if not read_only:
            _settle_identity(store, project)
        return store
    except BaseException:
        engine.close()
        raise


def names_database(place: str) -> bool:
    """Does this name a database on a server?"""
    return place.startswith(("postgresql://", "postgres://"))


def _prepare_file(path: Path | None, *, create: bool, read_only: bool) -> None:
    if path is not None:
        try:
            _prepare(path, create=create, read_only=read_only)
        except (OSError, ValueError):  # a directory we may not enter, a name no file can have
            raise StoreReadOnly(str(path)) from None


def _prepare(path: Path, *, create: bool, read_only: bool) -> None:
    if "\0" in str(path):
        raise ValueError("a path cannot hold a NUL character")
    if path.is_dir():
        raise NotAStore(str(path), "a directory")
    found = look_safely(path)
    if found is not None:
        if found.st_size == 0 and _had_content(path):
            raise StoreDamaged(str(path), "the file is empty, but its log or backups of it are there")
        return
    if not create or read_only:
        raise StoreMissing(str(path))
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # memories are private by default


def _had_content(path: Path) -> bool:
    """Was an empty file emptied? SQLite would remove its log, which may hold all there is."""
    log = look(beside(path, "-wal"))
    return (log is not None and log.st_size > 0) or any((path.parent / "backups").glob("*.db"))


def _bring_up_to_date(
    engine: Engine, place: Path | str | None, project: str | None, name: Callable[[], str], *, create: bool
) -> bool:
    """Migrate the store, or make it; False when there is none and none may be made."""
    found = 0 if isinstance(place, Path) and not place.exists() else engine.schema()
    if found > LATEST and not engine.read_only:
        raise NewerSchema(found=found, known=LATEST)
    may_make = create and not engine.read_only
    if isinstance(place, str) and not may_make and (found == 0 or Meta(engine, FILE).get("project") is None):
        return False
    if found < LATEST:
        if engine.read_only:
            raise StoreError(
                f"{engine.location} is from an older release (schema {found}; this one reads {LATEST}).",
                hint="Open it once for writing to migrate it; a backup is made first.",
            )
        from recollect.store.migrate import migrate  # with its backup: not for those who are up to date

        facts = {"analyzer": ANALYZER, "project": project or name()} if found == 0 else {}
        migrate(engine, facts=facts)
    if isinstance(place, str) and may_make and Meta(engine, FILE).get("project") is None:
        _join_database(engine, {"analyzer": ANALYZER, "project": project or name()})
    return True


def _join_database(engine: Engine, facts: Mapping[str, str]) -> None:
    """Make a store in a database that holds others already."""
    from recollect.store.log import REPLICA, new_replica

    with engine.write():
        known = Meta(engine, FILE)
        if known.get("project") is None:  # nobody else was faster
            engine.register()
            for fact, value in {**facts, REPLICA: new_replica()}.items():
                known.put(fact, value)


def _settle_identity(store: Store, project: str | None) -> None:
    """Write down, once, whose store this is; rebuild the keyword index when its rules have changed."""
    facts = Meta(store.engine, FILE)
    if project is not None and facts.get("project") is None:
        with store.engine.write():
            facts.put("project", project)
    if facts.get("analyzer") != ANALYZER:
        with store.engine.write():
            store.engine.keywords.rebuild()
            facts.put("analyzer", ANALYZER)
