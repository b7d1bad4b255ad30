from __future__ import annotations

import pytest

from code_programs import PROGRAMS
from recollect.app import Recollect
from recollect.code.resolve.edges import GUESSED


@pytest.fixture(params=sorted(PROGRAMS))
def program(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_rules_of_each_language_give_exactly_its_calls(program: str, indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    known = PROGRAMS[program]
    indexed.code.index(tree(known.files), passages=False)
    edges = indexed.store.graph.edges()
    calls = {(e.source, e.target) for e in edges if e.type == "calls" and e.confidence > GUESSED}
    assert {pair for pair in calls if not pair[1].startswith("external:")} == known.calls


def test_imports_and_bases_lead_to_their_files(program: str, indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    known = PROGRAMS[program]
    indexed.code.index(tree(known.files), passages=False)
    edges = indexed.store.graph.edges()
    files = {
        (e.source.partition(":")[0], e.target.partition(":")[0]) for e in edges if e.type in ("imports", "exports")
    }
    assert known.imports <= files
    bases = {(e.source, e.type, e.target) for e in edges if e.type in ("extends", "implements")}
    assert bases == known.bases
    assert all(0 < e.confidence <= 1 and e.origin == "ast" for e in edges)
