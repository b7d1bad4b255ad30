"""SQLite, in a file and in memory, and PostgreSQL pass the conformance suite of the store port."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.core.kinds import Kinds
from recollect.store.migrate import migrate
from recollect.store.open import open_store
from recollect.store.port import Engine
from recollect.store.sqlite.engine import SqliteEngine
from recollect.testing.store import EngineConformance


class TestSqlite(EngineConformance):
    @pytest.fixture(params=["file", "memory"])
    def engine(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
        engine = SqliteEngine(tmp_path / "memory.db" if request.param == "file" else None)
        migrate(engine, facts={"project": "p"})
        yield engine
        engine.close()


class TestPostgres(EngineConformance):
    @pytest.fixture
    def engine(self, tenant_dsn: str) -> Iterator[Engine]:
        store = open_store(tenant_dsn, Kinds(), project="p")
        yield store.engine
        store.close()
