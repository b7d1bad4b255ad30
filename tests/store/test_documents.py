from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import recollect
from recollect.config import Settings
from recollect.core.errors import StoreDamaged
from recollect.core.kinds import Kinds
from recollect.store.check import check
from recollect.store.rebuild import rebuild
from recollect.store.sqlite.repair import salvage


@pytest.fixture
def path(tmp_path: Path) -> Path:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe granite of {name}. [a](a.md)\n")
    file = tmp_path / "memory.db"
    with recollect.open(file, project="p", settings=Settings(embedder="none")) as memory:
        memory.docs.index([tmp_path])
        memory.docs.search("granite")
    return file


def tamper(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    ("statement", "area"),
    [
        ("update documents set confidence = 0.5 where path = 'a.md'", "documents"),
        ("update document_pairs set count = 99", "documents"),
        ("insert into document_links values ('p', 'doc_ghost', 1, 'x', 'link', 1, null)", "graph"),
        ("update document_links set resolved = 'doc_ghost' where resolved is not null", "graph"),
        ("insert into document_ranks values ('p', 'doc_ghost', 0.5)", "graph"),
    ],
)
def test_every_tampering_with_documents_is_found(path: Path, statement: str, area: str) -> None:
    tamper(path, statement)
    with recollect.open(path) as memory:
        assert area in {finding.area for finding in check(memory.store).findings}


def test_a_damaged_document_is_refused_by_name(path: Path) -> None:
    tamper(path, "update documents set label = 'x' where path = 'a.md'")
    with recollect.open(path) as memory, pytest.raises(StoreDamaged, match=r"a\.md"):
        memory.docs.list()


def test_a_damaged_pair_is_refused(path: Path) -> None:
    tamper(path, "update document_pairs set count = 99")
    with recollect.open(path) as memory, pytest.raises(StoreDamaged, match="pair"):
        memory.docs.related("a.md")


def test_rebuilding_sweeps_strays_of_the_graph(path: Path) -> None:
    tamper(path, "insert into document_ranks values ('p', 'doc_ghost', 0.5)")
    with recollect.open(path) as memory:
        rebuild(memory.store)
        assert check(memory.store).ok


def test_salvage_carries_documents_pairs_links_and_ranks_over(path: Path) -> None:
    with recollect.open(path) as memory:
        before = (memory.docs.list(), memory.docs.related("a.md"), memory.store.documents.edges())
    salvage(path, Kinds())
    with recollect.open(path, settings=Settings(embedder="none")) as memory:
        assert (memory.docs.list(), memory.docs.related("a.md"), memory.store.documents.edges()) == before
        assert memory.docs.search("granite", track=False).matches
        assert check(memory.store).ok
