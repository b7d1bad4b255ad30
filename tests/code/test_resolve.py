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


def edges_between_files(memory: Recollect) -> set[tuple[str, str]]:
    return {(e.source, e.target) for e in memory.store.graph.edges() if e.type == "imports" and ":" not in e.target}


@pytest.mark.parametrize("importer", ["packages/app/main.ts", "packages/app/src/deep/down/main.ts"])
def test_a_hash_import_is_that_of_the_nearest_package_above_however_deep_the_importer_lies(
    importer: str,
    indexed: Recollect,
    tree,  # type: ignore[no-untyped-def]
) -> None:
    files = {
        "package.json": '{"imports": {"#tool": "./wrong.ts"}}',
        "wrong.ts": "export function tool() {}\n",
        "packages/app/package.json": '{"imports": {"#tool": "./src/tool.ts", "#lib/*": "./src/lib/*.ts"}}',
        "packages/app/src/tool.ts": "export function tool() {}\n",
        "packages/app/src/lib/one.ts": "export function one() {}\n",
        importer: 'import { tool } from "#tool";\nimport { one } from "#lib/one";\ntool();\none();\n',
    }
    indexed.code.index(tree(files), passages=False)
    found = {target for source, target in edges_between_files(indexed) if source == importer}
    assert found == {"packages/app/src/tool.ts", "packages/app/src/lib/one.ts"}


def test_a_hash_import_without_any_package_leads_nowhere(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    files = {
        "src/deep/main.ts": 'import { tool } from "#tool";\ntool();\n',
        "src/tool.ts": "export function tool() {}\n",
    }
    indexed.code.index(tree(files), passages=False)
    assert edges_between_files(indexed) == set()


def test_a_first_index_of_many_files_resolves_all_of_them(indexed: Recollect, tree) -> None:  # type: ignore[no-untyped-def]
    last = 520
    files = {f"m{n}.py": f"import m{n + 1}\n\ndef f{n}():\n    return m{n + 1}.f{n + 1}()\n" for n in range(last)}
    files[f"m{last}.py"] = f"def f{last}():\n    return 1\n"
    indexed.code.index(tree(files), passages=False)
    assert edges_between_files(indexed) == {(f"m{n}.py", f"m{n + 1}.py") for n in range(last)}
    calls = {(e.source, e.target) for e in indexed.store.graph.edges() if e.type == "calls"}
    assert calls == {(f"m{n}.py:f{n}", f"m{n + 1}.py:f{n + 1}") for n in range(last)}
