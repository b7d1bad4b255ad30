"""A Memory's fields are declared once, in `core/fields.py`: everything else follows from it or is held to it here."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, fields
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.decay import HalfLife
from recollect.core.digest import checksum, row_checksum
from recollect.core.drafts import Draft
from recollect.core.fields import BY_NAME, DRAFTED, FIELDS, Field
from recollect.core.forms import from_whole, whole
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kinds
from recollect.core.payloads import parse_payload
from recollect.core.records import Memory, Span, WorkUnit
from recollect.core.scope import Scope, Source, Status, Visibility
from recollect.store.codec import from_row, to_row

SOURCE = Path(recollect.__file__).parent

# What a field's form is for the type checker, in a Memory and in a Draft.
MEMORY = {
    "text": "str", "name": "str", "real": "float", "count": "int", "flag": "bool", "moment": "datetime",
    "labels": "tuple[str, ...]", "decay": "Decay", "work_unit": "WorkUnit", "span": "Span", "payload": "Payload",
    "object": "Mapping[str, Any]",
}  # fmt: skip
DRAFT = {**MEMORY, "labels": "Sequence[str]", "payload": "Mapping[str, Any] | Payload", "choice": "str"}
IDS = {"id": "MemoryId", "superseded_by": "MemoryId"}
WORKED_OUT = {"confidence", "status", "created_at"}  # None in a Draft: decided while shaping


def _memory_type(field: Field) -> str:
    plain = IDS.get(field.name) or field.choices or MEMORY[field.form]
    return f"{plain} | None" if field.optional else plain


def _draft_type(field: Field) -> str:
    plain = "Source" if field.name == "source" else DRAFT[field.form]
    return f"{plain} | None" if field.optional or field.name in WORKED_OUT else plain


def _default(field: Field) -> object:
    if field.optional:
        return None
    return {"labels": (), "flag": False, "object": {}, "count": 1 if field.name == "revision" else 0}.get(field.form)


def test_a_memory_has_the_fields_of_the_table_in_its_order_with_its_types_and_defaults() -> None:
    assert [(field.name, field.type) for field in fields(Memory)] == [(f.name, _memory_type(f)) for f in FIELDS]
    for field in fields(Memory):
        if field.default is not MISSING or field.default_factory is not MISSING:
            given = field.default_factory() if field.default_factory is not MISSING else field.default
            assert given == _default(BY_NAME[field.name]), field.name


def test_a_draft_takes_what_the_table_lets_it_set() -> None:
    assert {field.name: field.type for field in fields(Draft)} == {f.name: _draft_type(f) for f in DRAFTED}
    unset = {"kind": "fact", "source": Source.USER_TAUGHT, "scope": "global", "visibility": "project", "why": ""}
    for field in fields(Draft):
        if field.name == "content":
            continue
        given = field.default_factory() if field.default_factory is not MISSING else field.default
        wanted = None if field.name in WORKED_OUT else unset.get(field.name, _default(_drafted(field.name)))
        assert given == wanted, field.name


def _drafted(name: str) -> Field:
    return next(field for field in DRAFTED if field.name == name)


def test_what_the_public_verbs_take_is_what_the_table_says() -> None:
    told = {field.name: _draft_type(field) for field in DRAFTED}
    told |= {"attributes": "Mapping[str, Any] | None", "source": "Source | None", "again": told["override_tombstone"]}
    asked = {name: annotation for name, annotation in _parameters(Recollect.remember).items() if name != "content"}
    assert asked == {name: told[name] for name in asked}
    edited = _parameters(Recollect.edit)
    assert set(edited) - {"id", "why", "if_revision"} <= {field.name for field in FIELDS if field.edit}
    for name in set(edited) & set(BY_NAME) - {"id"}:
        words = {word.strip() for word in edited[name].split("|")} - {"Unset"}
        assert words == {word.strip() for word in _edit_type(BY_NAME[name]).split("|")}, name


def _parameters(verb: Any) -> dict[str, str]:
    return {name: one.annotation for name, one in signature(verb).parameters.items() if name != "self"}


def _edit_type(field: Field) -> str:
    plain = DRAFT[field.form]
    return f"{plain} | None" if field.optional else plain


def test_the_columns_of_a_store_are_those_of_the_table(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", project="t") as memory:
        rows = memory.store.engine.rows("select name from pragma_table_info('memories')")
    assert {row[0] for row in rows} == {"seq", "ordinal", "checksum", *(field.column for field in FIELDS)}


AT = datetime(2026, 3, 4, 5, 6, 7, 89_000, tzinfo=UTC)
FULL = Memory(
    MemoryId("mem_x"), "p", "dead_end", "Grün, “quoted”\nand two lines", 0.30000000000000004, AT, AT, AT,
    Source.QA_AUTO, Scope.MODULE, Visibility.TEAM, Status.SUPERSEDED, "f" * 32, ("a", "b"), ("x.py",), ("m",), AT, 3, 2,
    "s", "c0ffee", WorkUnit("kanban", ("epic", "story"), "12"), "user", ("s", "t"), "x.py:f", ("y.py",), ("ent_1",),
    "cited", True, True, True, True, AT, AT, MemoryId("mem_y"), HalfLife(2.5), Span("prose", 1, 9, "Heading", "doc_1"),
    "model", parse_payload("dead_end", {"tried": "a", "why_it_failed": "b"}), {"k": [1, {"n": None}]}, 7, "anna", "red",
)  # fmt: skip
BARE = Memory(
    MemoryId("mem_x"), "p", "fact", "x", 1.0, AT, AT, AT, Source.USER_TAUGHT, Scope.GLOBAL, Visibility.PROJECT,
    Status.ACTIVE, "f" * 32,
)  # fmt: skip


@pytest.mark.parametrize("memory", [FULL, BARE])
def test_a_memory_reads_back_from_its_row_and_from_its_json(memory: Memory) -> None:
    assert from_row(to_row(memory), Kinds()) == memory
    assert from_whole(whole(memory), Kinds()) == memory


def test_every_field_of_the_full_example_is_set() -> None:
    unset = [f.name for f in fields(Memory) if f.default is not MISSING and getattr(FULL, f.name) == f.default]
    assert unset == []


def test_a_row_from_before_a_field_was_added_keeps_its_checksum() -> None:
    first = [value for value, field in zip(to_row(BARE), FIELDS, strict=True) if field.since == 1]
    assert row_checksum(to_row(BARE)) == checksum(first)
    assert row_checksum(to_row(BARE.having(user="anna"))) != checksum(first)


def test_the_table_loads_next_to_nothing() -> None:
    heavy = "dataclasses enum typing datetime inspect re json"
    code = f"import sys; import recollect.core.fields; print([m for m in '{heavy}'.split() if m in sys.modules])"
    bare = f"import sys; print([m for m in '{heavy}'.split() if m in sys.modules])"
    loaded, before = (
        subprocess.run(
            [sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, cwd=SOURCE.parent
        )
        for program in (code, bare)
    )
    assert loaded.stdout == before.stdout


# Modules that may name many fields at once, and why.
ALLOWED = {
    "core/fields.py": "the table",
    "core/summary.py": "the summary of a memory that hooks make, with fields of its own",
    "store/migrations/m0014_lists_and_replies.py": "the columns of an index over all that filters look at",
    "portable/foreign/table.py": "what other programs call the columns of their tables",
}
TYPED = {
    "Draft",
    "having",
    "replace",
    "MemorySummary",
}  # calls the type checker knows the names of
MANY = 8


def test_no_other_module_lists_the_fields_of_a_memory() -> None:
    known = {name for field in (*FIELDS, *DRAFTED) for name in (field.name, field.column) if name}
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        module = path.relative_to(SOURCE).as_posix()
        if module in ALLOWED:
            continue
        for line, names in _lists(ast.parse(path.read_text(encoding="utf-8"))):
            if len(named := known & set(names)) >= MANY:
                found.append(f"{module}:{line} names {len(named)}: {', '.join(sorted(named))}")
    assert found == []


def _lists(tree: ast.AST) -> Iterator[tuple[int, list[str]]]:
    """Every tuple, list, set, dictionary, call and comma-separated text, with the names in it."""
    for node in ast.walk(tree):
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                yield node.lineno, [text for part in parts if (text := _text(part))]
            case ast.Dict(keys=keys):
                yield node.lineno, [text for key in keys if key is not None and (text := _text(key))]
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in TYPED:
                pass
            case ast.Call(keywords=keywords):
                yield node.lineno, [keyword.arg for keyword in keywords if keyword.arg]
            case ast.Constant(value=str(text)) if text.count(",") >= MANY - 1:
                yield node.lineno, [word.strip().removeprefix("m.") for word in text.split(",")]
            case _:
                pass


def _text(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return name
    return None
