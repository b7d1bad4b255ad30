"""Every regular expression of the package: held by modules, written in calls of `re`, and compiled while it works."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import recollect
from recollect.core.lazy import Lazy
from recollect.privacy.row import Rule

SOURCE = Path(recollect.__file__).parent
_CALLS = frozenset({"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"})
_DEEPEST = 6  # tables in tables

# Expressions put together while the program runs, by module and function, and why no text can make them slow.
MADE_WHILE_RUNNING = {
    ("core/lazy.py", "pattern"): "the pattern is a constant of the module that holds it",
    ("privacy/row.py", "compiled"): "the patterns are constants of the rules",
    ("documents/layout.py", "read_layout"): "made by files/ignore.py, of few and short rules",
    ("files/ignore.py", "_grouped"): "test_ignore_rules_are_linear_whatever_they_say",
    ("files/ignore.py", "_class"): "one character; compiled to see whether it is one",
    ("recall/question.py", "speaker"): "a name, escaped",
}


def shipped() -> dict[str, re.Pattern[Any]]:
    """Every expression by where it is."""
    places: dict[tuple[Any, int], str] = {}
    for name, pattern in [*_held(), *_written()]:
        places.setdefault((pattern.pattern, pattern.flags), name)
    return {f"{name} #{number}": re.compile(*one) for number, (one, name) in enumerate(places.items())}


def _held() -> Iterator[tuple[str, re.Pattern[Any]]]:
    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if module.name.endswith("__main__"):
            continue
        for name, value in list(vars(importlib.import_module(module.name)).items()):
            for number, pattern in enumerate(_inside(value)):
                yield f"{module.name.removeprefix('recollect.')}.{name}.{number}", pattern


def _inside(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """The patterns a value is or holds: tables of rules hold many, some of them as text."""
    if isinstance(value, Lazy):
        yield value.pattern
    elif isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, Rule):
        yield re.compile(value.pattern)
        yield re.compile(value.ahead)
    elif depth > _DEEPEST:
        return
    elif isinstance(value, tuple | list | set | frozenset):
        for part in value:
            yield from _inside(part, depth + 1)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _inside(part, depth + 1)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            part = getattr(value, field.name)
            if field.name == "pattern" and isinstance(part, str):
                with suppress(re.error):  # or it is a pattern of file names
                    yield re.compile(part)
            else:
                yield from _inside(part, depth + 1)


def _written() -> Iterator[tuple[str, re.Pattern[Any]]]:
    for place, _, call in calls():
        written = _constant(call.args[0])
        if written is not None:
            with warnings.catch_warnings(action="ignore"):
                yield place, re.compile(written, _flags(call))


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Each call of `re` that takes a pattern: where it stands, in which function, and the call."""
    for file in sorted(SOURCE.rglob("*.py")):
        yield from _calls_in(ast.parse(file.read_text(encoding="utf-8")), file.relative_to(SOURCE).as_posix(), "")


def _calls_in(node: ast.AST, file: str, function: str) -> Iterator[tuple[str, str, ast.Call]]:
    if isinstance(node, ast.FunctionDef):
        function = node.name
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CALLS and node.args:
        of = node.func.value
        if isinstance(of, ast.Name) and of.id == "re":
            yield f"{file}:{node.lineno}", function, node
    for child in ast.iter_child_nodes(node):
        yield from _calls_in(child, file, function)


def made_while_running() -> set[tuple[str, str]]:
    """The functions that put a pattern together from something that is no constant."""
    return {
        (place.rpartition(":")[0], function)
        for place, function, call in calls()
        if function and _constant(call.args[0]) is None
    }


def _constant(node: ast.expr) -> str | bytes | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) else None


def _flags(call: ast.Call) -> int:
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    is_compiling = isinstance(call.func, ast.Attribute) and call.func.attr == "compile"
    given = named.get("flags", call.args[1] if is_compiling and len(call.args) > 1 else None)
    if given is None:
        return 0
    names = {node.attr for node in ast.walk(given) if isinstance(node, ast.Attribute)}
    return int(sum(getattr(re, name) for name in names))


# --- what is compiled while the program works -----------------------------------------------------------------------


class Recorder:
    """Notes every expression that code of the package has compiled between `start` and `stop`."""

    def __init__(self) -> None:
        self.found: dict[tuple[Any, int], str] = {}
        self._compile = re._compiler.compile  # type: ignore[attr-defined]

    def __enter__(self) -> Recorder:
        re._compiler.compile = self._note  # type: ignore[attr-defined]
        re.purge()
        return self

    def __exit__(self, *gone: object) -> None:
        re._compiler.compile = self._compile  # type: ignore[attr-defined]

    def _note(self, pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        made: re.Pattern[Any] = self._compile(pattern, flags)
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and f"{Path('re')}" in Path(frame.f_code.co_filename).parent.name:
            frame = frame.f_back
        if frame is not None and Path(frame.f_code.co_filename).is_relative_to(SOURCE):
            self.found[made.pattern, made.flags] = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
        return made
