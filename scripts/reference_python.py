"""The page docs/reference/python.md, from the signatures and docstrings of what `recollect` hands out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields
from enum import Enum
from functools import cached_property
from typing import Any

import recollect
from recollect import aio, wiring
from recollect.agent.chat import Chat, Chats
from recollect.agent.session import AgentSession
from recollect.app import Recollect
from recollect.code.api import Code
from recollect.core.drafts import Draft, Receipt
from recollect.core.query import Briefing, Filter, Hit, Page
from recollect.core.records import Memory
from recollect.dialogue.api import Sessions
from recollect.documents.api import Docs
from recollect.observer.api import Observer
from recollect.review.api import Review
from recollect.tend.maintenance import Maintenance
from recollect.tend.overview import Overview

_INTRO = """# Python

What a program may rely on. Parameters after `*` are given by name; a misspelt name is a `TypeError`, and your type
checker finds it first. A closed memory raises `MemoryClosed`; all errors are in [Errors](errors.md).
"""
# the name a program sees them under, what they are, and names that are wiring rather than use
_ROOMS: tuple[tuple[str, type], ...] = (
    ("memory.docs", Docs),
    ("memory.code", Code),
    ("memory.sessions", Sessions),
    ("memory.chats", Chats),
    ("chat", Chat),
    ("memory.observer", Observer),
    ("memory.review", Review),
    ("agent", AgentSession),
    ("memory.maintenance", Maintenance),
    ("memory.overview", Overview),
)
_VALUES: tuple[type, ...] = (Memory, Draft, Receipt, Filter, Hit, Briefing, Page)
_WIDE = 100  # characters of a signature on one line


def python() -> str:
    """The memory, its rooms, the values they take and give, and the twin for asyncio."""
    return "\n".join(
        [
            _INTRO,
            "## Open a memory\n",
            _callable("recollect.open", wiring.open),
            f"## Memory\n\n{_about(Recollect)}\n",
            *_methods("memory", Recollect),
            "## Rooms\n",
            *(part for name, room in _ROOMS for part in _room(name, room)),
            "## Values\n",
            *(part for value in _VALUES for part in _value(value)),
            *_asyncio(),
        ]
    )


def public_methods(owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The methods of a class that programs call, in the order they are written."""
    for name, member in vars(owner).items():
        if not name.startswith("_") and inspect.isfunction(member):
            yield name, member


def public_properties(owner: type) -> Iterator[tuple[str, property | cached_property[Any]]]:
    """The properties of a class, in the order they are written."""
    for name, member in vars(owner).items():
        if not name.startswith("_") and isinstance(member, property | cached_property):
            yield name, member


def _room(name: str, room: type) -> Iterator[str]:
    yield f"### {name}\n\n{_about(room)}\n"
    yield from _methods(name, room, level="####")


def _methods(name: str, owner: type, *, level: str = "###") -> Iterator[str]:
    for method, function in public_methods(owner):
        yield _callable(f"{name}.{method}", function, level=level)
    properties = [f"| `{name}.{attribute}` | {_first_line(member)} |" for attribute, member in public_properties(owner)]
    if properties:
        yield "| property | |\n|---|---|\n" + "\n".join(properties) + "\n"


def _callable(name: str, function: Callable[..., Any], *, level: str = "###") -> str:
    text = inspect.getdoc(function) or ""
    return f"{level} {name}\n\n```python\n{name}{_signature(function)}\n```\n\n{text}\n"


def _signature(function: Callable[..., Any]) -> str:
    signature = inspect.signature(function)
    lines: list[str] = []
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in lines:
            lines.append("*")
        if one.name != "self":
            lines.append(_parameter(one))
    short = f"({', '.join(lines)}) -> {signature.return_annotation}"
    if len(short) <= _WIDE:
        return short
    return "(\n" + "".join(f"    {line},\n" for line in lines) + f") -> {signature.return_annotation}"


def _parameter(one: inspect.Parameter) -> str:
    stars = "**" if one.kind is one.VAR_KEYWORD else ""
    told = f"{stars}{one.name}: {str(one.annotation).replace(' | Unset', '')}"
    return told if one.default is one.empty else f"{told} = {_shown(one.default)}"


def _shown(default: object) -> str:
    """A default as one would write it."""
    if isinstance(default, Enum):
        return default.name if not isinstance(default, str) else f'"{default.value}"'
    if isinstance(default, str):
        return f'"{default}"'
    if isinstance(default, frozenset):
        return "{" + ", ".join(sorted(_shown(one) for one in default)) + "}"
    return getattr(default, "__name__", repr(default))


def _value(value: type) -> Iterator[str]:
    yield f"### {value.__name__}\n\n{_about(value)}\n"
    comments = _comments(inspect.getsource(value))
    yield "| field | type | default | |\n|---|---|---|---|"
    for field in fields(value):
        yield f"| `{field.name}` | `{_cell(field.type)}` | {_default(field)} | {_cell(comments.get(field.name, ''))} |"
    yield ""


def _asyncio() -> Iterator[str]:
    yield "## asyncio\n"
    yield f"{inspect.getdoc(aio)}\n"
    yield (
        "`recollect.aio.open` takes what `recollect.open` takes. Every method above is awaitable on the twin under the"
        " same name and with the same parameters; rooms are properties there too, `memory.code.watch` is for"
        " `async for`, `memory.chats.open` for `async with`, and `await memory.agent(…)` gives an awaitable session.\n"
    )
    yield "Exported by `recollect`: " + ", ".join(f"`{name}`" for name in recollect.__all__) + ".\n"


def _about(owner: type) -> str:
    return inspect.getdoc(owner) or ""


def _first_line(member: property | cached_property[Any]) -> str:
    return _cell((inspect.getdoc(member) or "").split("\n")[0])


def _default(field: Field[Any]) -> str:
    if field.default is not MISSING:
        return f"`{_cell(_shown(field.default))}`"
    return "required" if field.default_factory is MISSING else f"`{_shown(field.default_factory())}`"


def _cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def _comments(source: str) -> dict[str, str]:
    """The comment beside each field."""
    found = {}
    for line in source.splitlines():
        code, _, comment = line.partition("  # ")
        if ":" in code and comment:
            found[code.split(":")[0].strip()] = comment
    return found
