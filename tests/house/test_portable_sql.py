"""Every statement outside the engines is one that PostgreSQL's own grammar accepts."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import recollect.store
from recollect.core.query import Filter
from recollect.core.scope import Scope, Source, Visibility
from recollect.store.filters import where
from recollect.store.schema import KEPT, REMADE, split_script

pglast = pytest.importorskip("pglast")

ROOT = Path(recollect.store.__file__).parent
SQL = re.compile(r"\s*(select|insert into|update|delete from|create|alter table|drop table|with)\s", re.IGNORECASE)
AT = datetime(2026, 3, 1, tzinfo=UTC)
EVERYTHING = Filter(
    kinds=frozenset({"fact"}), sources=frozenset(Source), scopes=frozenset(Scope), visibilities=frozenset(Visibility),
    files=frozenset({"a"}), modules=frozenset({"a"}), tags=frozenset({"a"}), documents=frozenset({"a"}),
    labels=frozenset({"a"}), types=frozenset({"a"}), entities=frozenset({"a"}), sessions=frozenset({"a"}),
    except_sessions=frozenset({"b"}), since=AT, until=AT, min_confidence=0.5, min_trust=0.5, needs_review=True,
    pinned=True, as_of=AT,
)  # fmt: skip
# What stands in the places a statement leaves open.
OPEN = {
    "where": where(EVERYTHING, "p")[0], "order": "created_at desc, id", "of": "and session = :session",
    "by": "state", "names": "id", "which": "1 = 1", "quiet": "'tend'", "mentions": "0", "seen": "", "table": "turns",
    "queued": "and s.queued_at is not null", "columns": "id", "marks": "?", "set": "id = :new", "key": "id = :old",
}  # fmt: skip


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages([str(ROOT)], "recollect.store."):
        if ".sqlite" not in found.name and ".postgres" not in found.name:
            yield importlib.import_module(found.name)


def texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from texts(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from texts(part)
    elif type(value).__name__ == "Table":
        yield from texts(vars(value))


def constants() -> dict[str, str]:
    """Every statement constant of a module or class, by where it stands."""
    found: dict[str, str] = {}
    for module in modules():
        holders = [module, *(one for _, one in inspect.getmembers(module, inspect.isclass))]
        for holder in holders:
            if getattr(holder, "__module__", module.__name__) != module.__name__:
                continue
            for name, value in vars(holder).items():
                for number, text in enumerate(texts(value)):
                    if SQL.match(text) and not name.startswith("__"):
                        found[f"{module.__name__}.{getattr(holder, '__qualname__', '')}.{name}.{number}"] = text
    return found


STATEMENTS = constants()


def portable(text: str) -> str:
    """The statement as PostgreSQL reads it: parameters numbered, open places filled."""
    text = re.sub(r"\{(\w+)(?::\w)?\}", lambda place: OPEN[place[1]], text).replace("{{", "{").replace("}}", "}")
    return re.sub(r"(?<![:\w]):[a-z_]\w*|\?", "$1", text)


@pytest.mark.parametrize("place", sorted(STATEMENTS))
def test_postgresql_reads_the_statement(place: str) -> None:
    for statement in split_script(portable(STATEMENTS[place])):
        assert pglast.parse_sql(statement)


@pytest.mark.parametrize("script", [KEPT, REMADE], ids=["kept", "remade"])
def test_postgresql_reads_the_schema(script: str) -> None:
    for statement in split_script(script):
        assert pglast.parse_sql(statement)


def test_there_are_statements_to_look_at() -> None:
    assert len(STATEMENTS) > 250


def test_no_statement_is_put_together_inside_a_function() -> None:
    """What is built there would be seen by nobody; a constant with an open place is."""
    built = []
    for path in sorted(ROOT.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
            for node in ast.walk(function):
                if isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
                    if SQL.match(str(node.values[0].value)):
                        built.append(f"{path.name}:{node.lineno}")
                elif isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value):
                    built.append(f"{path.name}:{node.lineno}")
    assert built == []
