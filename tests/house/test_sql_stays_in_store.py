"""SQL and the driver stay under `store/`."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import recollect

ROOT = Path(recollect.__file__).parent
OUTSIDE = sorted(path for path in ROOT.rglob("*.py") if "store" not in path.relative_to(ROOT).parts)
SQL = re.compile(
    r"\s*(select\s.+\sfrom\s|insert\s+into\s|update\s+\w+\s+set\s|delete\s+from\s|create\s+(table|index|view)\s|pragma\s)",
    re.IGNORECASE | re.DOTALL,
)


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_outside_the_store_holds_no_sql_and_no_driver(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not SQL.match(node.value), f"line {node.lineno}: {node.value[:60]}"
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {name.partition(".")[0] for name in names} & {"apsw", "sqlite3", "psycopg"}, f"line {node}"


@pytest.mark.parametrize("path", sorted((ROOT / "store").glob("*.py")), ids=lambda path: path.name)
def test_repositories_import_nothing_of_sqlite(path: Path) -> None:
    if path.name == "open.py":
        pytest.skip("the place where an engine is chosen")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]
    assert [name for name in found if name.startswith("recollect.store.sqlite")] == []
