"""Writes the pages of docs/reference and the types of the panel's client from the code; `--check` fails when they are
out of date."""

from __future__ import annotations

import argparse
import ast
import inspect
import os
import sys
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any

from reference_http import http, openapi_json, typescript
from reference_mcp import mcp
from reference_python import python

from recollect.config import REPOSITORY_MAY, Settings
from recollect.core import errors, sync_errors
from recollect.core.fields import FIELDS
from recollect.core.fields import Field as MemoryField
from recollect.core.records import Memory
from recollect.interfaces.cli import full_parser
from recollect.portable.records import VERSION
from recollect.store.contents import ROOM_TABLES
from recollect.store.log import COLUMNS as LOG_COLUMNS

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"


def cli() -> str:
    os.environ["COLUMNS"] = "100"
    parser = full_parser()
    subparsers = next(action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    parts = ["# Command line\n", f"```\n{parser.format_help()}```\n"]
    for name, sub in subparsers.choices.items():
        parts.append(f"## recollect {name}\n\n```\n{sub.format_help()}```\n")
        for nested in (action for action in sub._actions if isinstance(action, argparse._SubParsersAction)):
            parts += [
                f"### recollect {name} {one}\n\n```\n{it.format_help()}```\n" for one, it in nested.choices.items()
            ]
    return "\n".join(parts)


def _variable(field: Field[Any]) -> str:
    return "the file only" if field.default is MISSING else f"`RECOLLECT_{field.name.upper()}`"


def _default(field: Field[Any]) -> str:
    return "an empty table" if field.default is MISSING else f"`{field.default!r}`"


def _repository_may(name: str) -> str:
    if name == "documents":
        return "all but detector; roots and specs inside the project"
    limit = REPOSITORY_MAY.get(name)
    return "no" if limit is None else str(limit) if limit.lower or not limit.values else f"only {limit}"


def settings() -> str:
    """Every setting with its default and the comment beside it."""
    comments = _comments(inspect.getsource(Settings))
    rows = [
        f"| `{field.name}` | {_variable(field)} | {_default(field)} | {comments.get(field.name, '')} |"
        f" {_repository_may(field.name)} |"
        for field in fields(Settings)
    ]
    intro = (
        "# Settings\n\nRead once: your own file `~/.config/recollect/config.toml` (`$XDG_CONFIG_HOME`; on Windows\n"
        "`%APPDATA%\\recollect`), then `.recollect/config.toml` beside the store, then the environment, which wins.\n\n"
        "The file beside the store comes with the repository, so it may not choose what sends data elsewhere, runs a\n"
        "program or raises a limit. The last column says what it may. `recollect doctor` lists what was ignored.\n\n"
        "| setting | environment | default | meaning | a repository may choose it |\n|---|---|---|---|---|\n"
    )
    return intro + "\n".join(rows) + "\n"


def _comments(source: str) -> dict[str, str]:
    found = {}
    for line in source.splitlines():
        code, _, comment = line.partition("  # ")
        if ":" in code and comment:
            found[code.split(":")[0].strip()] = comment
    return found


def error_page() -> str:
    """The error codes with the first line of their docstrings."""
    rows = []
    for module in (errors, sync_errors):
        for node in ast.parse(inspect.getsource(module)).body:
            if isinstance(node, ast.ClassDef):
                code = getattr(module, node.name).code
                text = (ast.get_docstring(node) or "").split("\n")[0]
                rows.append(f"| `{code}` | `{node.name}` | {text} |")
    return (
        "# Errors\n\nCodes are stable across releases.\n\n| code | class | |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    )


_FORMS = {
    "labels": "list of texts",
    "real": "number",
    "count": "whole number",
    "flag": "true or false",
    "moment": "time, ISO 8601 in UTC",
    "object": "object",
    "payload": "object, by its kind",
    "work_unit": "object",
    "span": "object",
}


def export_page() -> str:
    """The schema of exports: the records, and every field of a memory."""
    rows = [
        f"| `{field.name}` | {_FORMS.get(field.form, 'text')} | {_presence(field)} |"
        for field in FIELDS
        if field.name != "project"
    ]
    told = (Path(__file__).parent / "export_schema.md").read_text(encoding="utf-8")
    tables = "\n".join(f"| `{name}` | {', '.join(table.columns)} |" for name, table in ROOM_TABLES.items())
    columns = ", ".join(f"`{name.strip()}`" for name in LOG_COLUMNS.split(","))
    return told.format(version=VERSION, fields="\n".join(rows), columns=columns, tables=tables)


def _presence(field: MemoryField) -> str:
    has_default = Memory.__dataclass_fields__[field.name].default is not MISSING
    follows = field.name in ("attributes", "updated_at", "accessed_at")
    return "may be absent" if has_default or follows else "always"


def main() -> int:
    pages = {
        FOLDER / "cli.md": cli(),
        FOLDER / "settings.md": settings(),
        FOLDER / "errors.md": error_page(),
        FOLDER / "export.md": export_page(),
        FOLDER / "http.md": http(),
        FOLDER / "mcp.md": mcp(),
        FOLDER / "openapi.json": openapi_json(),
        FOLDER / "python.md": python(),
        ROOT / "panel" / "src" / "api.ts": typescript(),
    }
    stale = [file for file, text in pages.items() if not _is_current(file, text)]
    if "--check" in sys.argv:
        for file in stale:
            print(f"{file.relative_to(ROOT)} is out of date: run `make docs`", file=sys.stderr)
        return 1 if stale else 0
    for file in stale:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(pages[file], encoding="utf-8")
    return 0


def _is_current(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
