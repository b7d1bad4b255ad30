"""What the callables of a module take if nobody says otherwise, as a table that can be approved."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from types import ModuleType
from typing import Any


def defaults_in(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """For each module the public callables written in it, with the defaults of those that have any."""
    return {
        name: table
        for name in sorted(names)
        if (
            table := {
                one: taken
                for one, what in _callables(importlib.import_module(name), name)
                if (taken := _defaults(what))
            }
        )
    }


def _callables(owner: ModuleType | type, module: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Functions and methods written in the module, whatever decorators stand around them."""
    for name, member in sorted(vars(owner).items()):
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        member = inspect.unwrap(member) if callable(member) else member
        if getattr(member, "__module__", None) != module or (name.startswith("_") and name != "__init__"):
            continue
        if isinstance(member, type) and not issubclass(member, Enum):
            yield from ((f"{name}.{inner}", found) for inner, found in _callables(member, module))
        elif inspect.isfunction(member):
            yield name, member


def _defaults(function: Callable[..., Any]) -> str:
    return ", ".join(
        f"{parameter.name}={_told(parameter.default)}"
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is not parameter.empty
    )


def _told(value: object) -> str:
    """Plain values as they are written; of others the type, for they look different on each machine."""
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_told, value)))}}}"
    plain = value is None or isinstance(value, bool | int | float | str | bytes | tuple)
    return repr(value) if plain and value != sys.executable else type(value).__name__
