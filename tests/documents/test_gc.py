from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recollect
from recollect.app import Recollect
from recollect.config import Settings
from recollect.store.check import check
from recollect.store.codes import cluster, encode, units
from recollect.store.repeats import repeating_codes
from recollect.testing.fakes import WordEmbedder


@pytest.fixture
def memory(tmp_path: Path, clock: Any) -> Iterator[Recollect]:
    with recollect.open(tmp_path, project="test", clock=clock, embedder=WordEmbedder(dims=256)) as opened:
        yield opened


def put(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text, encoding="utf-8")


WORDS = "the granite wall stands beside the river where herons fish and storks nest every spring in great numbers"


def test_a_repeated_passage_goes_and_the_newer_document_keeps_it(memory: Recollect, tmp_path: Path, clock: Any) -> None:
    put(tmp_path, "old.md", f"# Page\n\n{WORDS}\n")
    memory.docs.index()
    clock.pass_(days=1)
    put(tmp_path, "new.md", f"# Page\n\n{WORDS}!\n")
    memory.docs.index()
    memory.tend()
    planned = memory.docs.gc(dry_run=True)
    assert [(one.document, one.kept) for one in planned.repeats] == [("old.md", "new.md")]
    assert "repeats a passage of new.md" in planned.repeats[0].reason
    assert memory.count() == 2
    assert memory.docs.gc() == planned
    assert [match.document.path for match in memory.docs.search("granite herons").matches] == ["new.md"]
    assert memory.docs.gc().repeats == ()
    assert memory.docs.index().unchanged == 2
    assert check(memory.store).ok


@pytest.mark.parametrize("other", [WORDS.replace("great", "7 great") + " 8", WORDS + " not"])
def test_another_figure_or_another_denial_is_no_repetition(memory: Recollect, tmp_path: Path, other: str) -> None:
    put(
        tmp_path,
        "a.md",
        f"# Page\n\n{WORDS.replace('great', '7 great')} 9\n" if "8" in other else f"# Page\n\n{WORDS}\n",
    )
    put(tmp_path, "b.md", f"# Page\n\n{other}\n")
    memory.docs.index()
    memory.tend()
    assert memory.docs.gc(dry_run=True).repeats == ()


def test_what_a_person_stands_behind_stays(memory: Recollect, tmp_path: Path, clock: Any) -> None:
    put(tmp_path, "old.md", f"# Page\n\n{WORDS}\n")
    memory.docs.index()
    memory.confirm(memory.list().memories[0].id)
    clock.pass_(days=1)
    put(tmp_path, "new.md", f"# Page\n\n{WORDS}\n")
    memory.docs.index()
    memory.tend()
    assert memory.docs.gc(dry_run=True).repeats == ()


def test_without_vectors_the_plan_says_so(tmp_path: Path, clock: Any) -> None:
    with recollect.open(tmp_path, project="test", clock=clock, settings=Settings(embedder="none")) as memory:
        put(tmp_path, "a.md", "# A\n\nx\n")
        memory.docs.index()
        assert "no vectors" in memory.docs.gc(dry_run=True).notes[0]


def test_a_document_nobody_needs_is_pruned_and_comes_back_when_it_changes(
    memory: Recollect, tmp_path: Path, clock: Any
) -> None:
    put(tmp_path, "stale.md", "# Stale\n\nNobody asks for basalt.\n")
    put(tmp_path, "used.md", "# Used\n\nEverybody asks for granite.\n")
    memory.docs.index()
    memory.docs.search("granite")
    clock.pass_(days=29)
    assert memory.docs.gc(dry_run=True).stale == ()
    clock.pass_(days=2)
    planned = memory.docs.gc()
    assert [one.document.path for one in planned.stale] == ["stale.md"]
    assert "never found, unchanged for 31 days" in planned.stale[0].reason
    assert [one.path for one in memory.docs.list()] == ["used.md"]
    assert memory.docs.search("basalt", track=False).matches == ()
    assert memory.docs.index().unchanged == 2
    assert [one.path for one in memory.docs.list()] == ["used.md"]
    put(tmp_path, "stale.md", "# Stale\n\nSomebody asks for basalt now.\n")
    assert memory.docs.index().updated == 1
    assert len(memory.docs.search("basalt", track=False).matches) == 1
    assert check(memory.store).ok


def test_what_was_pruned_can_be_taken_back(memory: Recollect, tmp_path: Path, clock: Any) -> None:
    put(tmp_path, "stale.md", "# Stale\n\nNobody asks for basalt.\n")
    memory.docs.index()
    clock.pass_(days=40)
    memory.docs.gc()
    assert memory.docs.list() == []
    assert memory.docs.index(pruned=True).updated == 1
    assert len(memory.docs.list()) == 1


def codes(vectors: Any) -> Any:
    return encode(range(len(vectors)), units(vectors.astype(np.float32)))


def test_repeats_are_found_across_cells() -> None:
    chance = np.random.default_rng(5)
    base = units(chance.normal(size=(3_000, 64)).astype(np.float32))
    twins = units(base[:300] + 0.02 * chance.normal(size=(300, 64)).astype(np.float32))
    everyone = np.concatenate([base, twins])
    centres = cluster(everyone, 100, rounds=4, seed=1)
    exact = everyone @ everyone.T
    wanted = {(later, first) for first, later in zip(*np.nonzero(np.triu(exact >= 0.95, k=1)), strict=True)}
    found = set(repeating_codes(codes(everyone), centres, least=0.94))
    assert len(wanted) == 300
    assert len(wanted & found) >= 0.99 * len(wanted)


def test_ten_thousand_copies_have_one_leader() -> None:
    copies = np.tile(np.ones((1, 32), np.float32), (10_000, 1))
    found = repeating_codes(codes(copies), None, least=0.95)
    assert len(found) == 9_999
    assert {leader for _, leader in found} == {0}
