"""What parsing one file tells: its symbols, imports, calls, bases, types that syntax gives away; and its chunks. Pure.

An outline travels between processes and rests in the store as JSON, so it is made of plain tuples of plain values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
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


def read_outline(text: str | bytes) -> Outline:
    return build_outline(json.loads(text))


def build_outline(value: list[Any]) -> Outline:
    language, symbols, imports, calls, bases, variables, uses, exports, package, main, broken = value
    return Outline(
        language,
        [Symbol._make(symbol) for symbol in symbols],
        [Import._make(one) for one in imports],
        [Call._make(call) for call in calls],
        [Base._make(one) for one in bases],
        [Variable._make(one) for one in variables],
        [Use._make(one) for one in uses],
        [(here, outside) for here, outside in exports],
        package,
        main,
        broken,
    )


# --- chunks ---------------------------------------------------------------------------------------------------------

WHOLE_CLASS = 60  # lines up to which a class reads best in one piece
MODULE_LINES = 100  # lines of a chunk that no boundary ends
MAX_CHUNK_BYTES = 60_000  # of one chunk: a longer body is data, and is cut by lines after all


class Chunk(NamedTuple):
    """Some lines of a file, counted from 1, both ends included."""

    type: str  # function, class or module
    name: str  # the symbol, or nothing
    start: int
    end: int
    text: str


def split_chunks(source: str, outline: Outline) -> list[Chunk]:
    """All lines of a file that hold anything, each in exactly one chunk, cut at function and class boundaries.

    A small class is one chunk; of a larger one each method is a chunk of its own and the rest of the class another.
    What belongs to no symbol is cut into module chunks, as is a file without symbols. No body is ever cut.
    """
    lines = source.split("\n")
    owner = _owners(len(lines), outline)
    found: list[Chunk] = []
    for symbol, start, end in _runs(owner):
        name, type = ("", "module") if symbol is None else (symbol.name, _chunk_type(symbol))
        whole = symbol is not None and end - start < len(lines)
        for first, last in _split_long(lines, start, end, whole=whole):
            text = "\n".join(lines[first - 1 : last])
            if text.strip():
                found.append(Chunk(type, name, first, last, text))
    return found


def _owners(count: int, outline: Outline) -> list[Symbol | None]:
    """For each line the symbol whose chunk it goes into."""
    owner: list[Symbol | None] = [None] * (count + 1)
    for symbol in outline.symbols:  # the outer ones come first
        if _is_chunk(symbol, outline.symbols):
            last = min(symbol.end, count)
            owner[symbol.start : last + 1] = [symbol] * max(0, last + 1 - symbol.start)
    return owner[1:]


def _is_chunk(symbol: Symbol, symbols: Sequence[Symbol]) -> bool:
    """Whether a symbol gets a chunk of its own: not inside a function, nor inside a small class."""
    above = symbol.parent
    while above >= 0:
        around = symbols[above]
        if around.type in ("function", "method") or not _is_opened(around):
            return False
        above = around.parent
    return (symbol.type not in SCOPES_ONLY and symbol.type != "module") or not _is_opened(symbol)


def _is_opened(symbol: Symbol) -> bool:
    """Whether the inside of a symbol is cut further."""
    return symbol.type in ("space", "module") or symbol.end - symbol.start >= WHOLE_CLASS


def _chunk_type(symbol: Symbol) -> str:
    return "function" if symbol.type in ("function", "method") else "class"


def _runs(owner: Sequence[Symbol | None]) -> Iterator[tuple[Symbol | None, int, int]]:
    """Lines of one owner that follow one another."""
    start = 0
    for place in range(1, len(owner) + 1):
        if place == len(owner) or owner[place] is not owner[start]:
            yield owner[start], start + 1, place
            start = place


def _split_long(lines: Sequence[str], start: int, end: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """Where lines that belong together are cut: bodies nowhere unless they are enormous, other text every so often."""
    limit = 10**9 if whole else MODULE_LINES
    first, size = start, 0
    for number in range(start, end + 1):
        size += len(lines[number - 1]) + 1
        if number - first + 1 >= limit or size > MAX_CHUNK_BYTES:
            yield first, number
            first, size = number + 1, 0
    if first <= end:
        yield first, end
