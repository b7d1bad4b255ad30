"""What parsing one file tells: its symbols, imports, calls, bases and the types that syntax gives away. Values only.

An outline travels between processes and rests in the store as JSON, so it is made of plain tuples of plain values.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# Symbols that only give the ones inside them a name; they are no nodes of the graph.
SCOPES_ONLY = frozenset({"impl", "space"})


class Symbol(NamedTuple):
    """Something with a name. Lines are counted from 1 and both ends belong to it."""

    name: str  # qualified within its file: Class.method
    type: str  # function, method, class, interface, type, module; impl and space only give names
    start: int
    end: int
    first_byte: int
    last_byte: int
    parent: int  # place of the enclosing symbol in the outline, -1 for the file
    digest: str  # of its text without its own name and without layout
    returns: str = ""  # the type its signature names


class Import(NamedTuple):
    """One name that a file takes from elsewhere."""

    type: str  # module, name, all, space, default, side, mod, use, system or package
    module: str  # as the source writes it
    name: str = ""  # what is taken from it; empty: the whole
    local: str = ""  # what it is called here
    public: bool = False  # others may take it from here
    scope: int = -1  # the symbol it stands in


class Call(NamedTuple):
    scope: int  # the symbol it stands in, -1 for the file
    callee: str  # as the source writes it; "?.name" when the receiver is an expression


class Use(NamedTuple):
    scope: int
    name: str  # handed on or named as a type, not called


class Base(NamedTuple):
    symbol: int
    name: str
    relation: str  # extends or implements


class Variable(NamedTuple):
    """A name whose type the syntax tells."""

    scope: int
    name: str
    type: str  # "=x" when it is that of another name
    made: bool  # the type is what calling `type` gives, rather than `type` itself
    field: bool = False


@dataclass(slots=True)
class Outline:
    """One file, parsed."""

    language: str
    symbols: list[Symbol] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    bases: list[Base] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    exports: list[tuple[str, str]] = field(default_factory=list)  # (name here, name outside)
    package: str = ""
    main: bool = False  # it can be run
    broken: bool = False  # the grammar could not read all of it

    def to_json(self) -> str:
        return json.dumps(
            [
                self.language, self.symbols, self.imports, self.calls, self.bases, self.variables, self.uses,
                self.exports, self.package, self.main, self.broken,
            ],
            separators=(",", ":"),
            ensure_ascii=False,
        )  # fmt: skip


def from_json(text: str | bytes) -> Outline:
    return from_plain(json.loads(text))


def from_plain(value: list[Any]) -> Outline:
    language, symbols, imports, calls, bases, variables, uses, exports, package, main, broken = value
    return Outline(
        language,
        [Symbol._make(one) for one in symbols],
        [Import._make(one) for one in imports],
        [Call._make(one) for one in calls],
        [Base._make(one) for one in bases],
        [Variable._make(one) for one in variables],
        [Use._make(one) for one in uses],
        [(here, outside) for here, outside in exports],
        package,
        main,
        broken,
    )
