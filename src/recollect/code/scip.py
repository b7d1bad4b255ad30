"""SCIP indexes: exact references, made by compilers, confirm and complete what syntax told. Reads protobuf itself.

Only the wire format is read, field by field, and every length is checked, so a broken file is told and never harmful.
Field numbers are those of the public schema (scip.proto): Index.documents = 2, Document.relative_path = 1,
occurrences = 2, symbols = 3; Occurrence.range = 1, symbol = 2, symbol_roles = 3; SymbolInformation.symbol = 1,
relationships = 4; Relationship.symbol = 1, is_implementation = 3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.code.resolve.edges import WEIGHTS
from recollect.core.errors import BadScip
from recollect.remember.writer import Writer
from recollect.store.graph import EdgeRow, Graph, Node

_DEFINITION, _IMPORT = 0x1, 0x2  # symbol roles
_MOST_BYTES = 1_000_000_000
_NAME = re.compile(r"`([^`]+)`|([\w$+-]+)")


@dataclass(frozen=True, slots=True)
class Occurrence:
    line: int  # from 1
    symbol: str
    roles: int


@dataclass(frozen=True, slots=True)
class Document:
    path: str
    occurrences: tuple[Occurrence, ...]
    implements: tuple[tuple[str, str], ...]  # (symbol, the symbol it implements)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an index gave."""

    documents: int
    unknown: int  # documents that are not in the graph
    confirmed: int  # edges that syntax had found
    added: int  # edges that only the index knows
    dropped: int  # guesses that the index does not confirm


def read_index(path: Path) -> Iterator[Document]:
    """The documents of an index, one at a time."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise BadScip(str(path), f"larger than {_MOST_BYTES // 10**9} GB")
        data = memoryview(path.read_bytes())
    except OSError as error:
        raise BadScip(str(path), error.strerror or "cannot be read") from None
    try:
        for number, value in _fields(data):
            if number == 2 and isinstance(value, memoryview):
                yield _document(value)
    except (ValueError, IndexError) as error:
        raise BadScip(str(path), str(error)) from None


def _document(data: memoryview) -> Document:
    path, occurrences, implements = "", [], []
    for number, value in _fields(data):
        if not isinstance(value, memoryview):
            continue
        if number == 1:
            path = _text(value)
        elif number == 2:
            occurrences.append(_occurrence(value))
        elif number == 3:
            implements += _relations(value)
    return Document(path.replace("\\", "/"), tuple(occurrences), tuple(implements))


def _occurrence(data: memoryview) -> Occurrence:
    line, symbol, roles = 0, "", 0
    for number, value in _fields(data):
        if number == 1 and line == 0:  # packed, or one number after another; the first is the line
            line = 1 + (_varint(value, 0)[0] if isinstance(value, memoryview) else value)
        elif number == 2 and isinstance(value, memoryview):
            symbol = _text(value)
        elif number == 3 and isinstance(value, int):
            roles = value
    return Occurrence(line, symbol, roles)


def _relations(data: memoryview) -> list[tuple[str, str]]:
    symbol, found = "", []
    for number, value in _fields(data):
        if number == 1 and isinstance(value, memoryview):
            symbol = _text(value)
        elif number == 4 and isinstance(value, memoryview):
            fields = dict(_fields(value))
            target = fields.get(1)
            if fields.get(3) and isinstance(target, memoryview):
                found.append(_text(target))
    return [(symbol, target) for target in found]


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: numbers as they are, everything of a length as bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if number == 0:
            raise ValueError("a field without a number")
        if kind == 0:
            value, at = _varint(data, at)
            yield number, value
        elif kind in (1, 2, 5):
            length, at = (8, at) if kind == 1 else (4, at) if kind == 5 else _varint(data, at)
            if at + length > len(data):
                raise ValueError("it ends in the middle of a field")
            yield number, data[at : at + length]
            at += length
        else:
            raise ValueError(f"an unknown wire type {kind}")


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ValueError("it ends in the middle of a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number that is too long")


def _text(data: memoryview) -> str:
    return bytes(data).decode("utf-8", "replace")


# --- into the graph ------------------------------------------------------------------------------------------------


def import_scip(path: Path, graph: Graph, writer: Writer, *, below: str = "") -> Imported:
    """Let an index confirm, complete and correct the edges of the files it covers. `below`: where its paths begin."""
    documents = [Document(below + one.path, one.occurrences, one.implements) for one in read_index(path)]
    nodes = graph.in_files([document.path for document in documents])
    files = _Files(nodes)
    defined: dict[str, int] = {}
    for document in documents:
        for occurrence in document.occurrences:
            if not occurrence.roles & _DEFINITION or occurrence.symbol.startswith("local "):
                continue
            if (found := files.defined(document.path, occurrence)) is not None:
                defined[occurrence.symbol] = found
    known = [document for document in documents if files.number(document.path) is not None]
    edges: dict[tuple[int, int], tuple[str, int]] = {}
    for document in known:
        edges |= _edges(document, files, defined)
    with writer.transaction():
        return _merge_edges(graph, documents, known, edges, nodes, files)


def _edges(document: Document, files: _Files, defined: dict[str, int]) -> dict[tuple[int, int], tuple[str, int]]:
    owner = files.number(document.path) or 0
    found: dict[tuple[int, int], tuple[str, int]] = {}
    for occurrence in document.occurrences:
        target = defined.get(occurrence.symbol)
        source = files.around(document.path, occurrence.line)
        if target is None or source is None or occurrence.roles & _DEFINITION or source == target:
            continue
        type = "imports" if occurrence.roles & _IMPORT or source == owner else "calls"
        found.setdefault((source, target), (type, owner))
    for symbol, base in document.implements:
        if symbol in defined and base in defined:
            found[defined[symbol], defined[base]] = ("implements", owner)
    return found


def _merge_edges(
    graph: Graph,
    documents: Sequence[Document],
    known: Sequence[Document],
    edges: dict[tuple[int, int], tuple[str, int]],
    nodes: dict[int, Node],
    files: _Files,
) -> Imported:
    owners = [number for one in known if (number := files.number(one.path)) is not None]
    there = {(near, far) for near, far, _, _ in graph.out_of(sorted(nodes))}
    confirmed = [pair for pair in edges if pair in there]
    graph.upgrade(confirmed)
    new = [(pair, how) for pair, how in edges.items() if pair not in there]
    rows = [
        EdgeRow(nodes[source].key, nodes[target].key, type, WEIGHTS[type], 1.0, "structural", "scip")
        for (source, target), (type, _) in new
    ]
    graph.put_edges(rows, [owner for _, (_, owner) in new], {node.key: id for id, node in nodes.items()})
    dropped = graph.drop_guesses(owners)
    return Imported(len(documents), len(documents) - len(known), len(confirmed), len(new), dropped)


class _Files:
    """Which symbol is at a line."""

    def __init__(self, nodes: dict[int, Node]) -> None:
        self._numbers = {node.key: id for id, node in nodes.items() if node.type == "file"}
        self._symbols: dict[str, list[tuple[int, Node]]] = {}
        for id, node in nodes.items():
            if node.type != "file":
                self._symbols.setdefault(node.file, []).append((id, node))

    def number(self, path: str) -> int | None:
        return self._numbers.get(path)

    def around(self, path: str, line: int) -> int | None:
        """The innermost symbol around a line, or the file."""
        fitting = [
            (node.end - node.start, id) for id, node in self._symbols.get(path, ()) if node.start <= line <= node.end
        ]
        return min(fitting)[1] if fitting else self._numbers.get(path)

    def defined(self, path: str, one: Occurrence) -> int | None:
        """The node that an occurrence defines: around its line, and of its name."""
        names = [quoted or plain for quoted, plain in _NAME.findall(one.symbol.rpartition(" ")[2])]
        name = names[-1] if names else ""
        fitting = [
            (node.end - node.start, id)
            for id, node in self._symbols.get(path, ())
            if node.start <= one.line <= node.end and node.name == name
        ]
        if fitting:
            return min(fitting)[1]
        return self._numbers.get(path) if one.line == 1 and one.symbol.endswith(("/", ":")) else None
