"""Reading rows straight from the leaf pages of a SQLite file, for when the tree above them is damaged.

Knows the file format and nothing of our tables. What it yields is a guess until its checksum has been compared.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from recollect.store.port import Value

PAGE = 4096  # bytes; SQLite's default, which the store never changes
_LEAF, _INTERIOR = 0x0D, 0x05
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_MOST_OVERFLOW = 500  # pages one record may spill into: twice the largest memory


def records(file: bytes, columns: int) -> Iterator[tuple[Value, ...]]:
    """Every record of so many columns that stands in a leaf page, whichever table it belongs to."""
    for number in range(1, len(file) // PAGE + 1):
        for start in _cells(file, number):
            try:
                record = _record(_payload(file, start))
            except (IndexError, ValueError, struct.error):
                continue  # not a row, or not a whole one
            if len(record) == columns:
                yield record


def schema_pages(file: bytes) -> list[int]:
    """The pages that hold the list of tables: the first, and the leaves below it when it has grown."""
    if file[100] != _INTERIOR:
        return [1]
    count = int.from_bytes(file[103:105])
    pointers = (int.from_bytes(file[112 + 2 * i : 114 + 2 * i]) for i in range(count))
    children = [int.from_bytes(file[pointer : pointer + 4]) for pointer in pointers]
    return [1, *children, int.from_bytes(file[108:112])]


def _cells(file: bytes, number: int) -> Iterator[int]:
    """Where the cells of a leaf page start in the file."""
    start = (number - 1) * PAGE
    header = start + (100 if number == 1 else 0)
    if file[header] != _LEAF:
        return
    count = int.from_bytes(file[header + 3 : header + 5])
    if count > PAGE // 4:
        return
    for index in range(count):
        place = header + 8 + 2 * index
        offset = int.from_bytes(file[place : place + 2])
        if 0 < offset < PAGE:
            yield start + offset


def _payload(file: bytes, start: int) -> bytes:
    """A record as it was written, put together from its overflow pages."""
    size, place = _varint(file, start)
    _, place = _varint(file, place)
    if size <= PAGE - 35:
        return file[place : place + size]
    least = (PAGE - 12) * 32 // 255 - 23
    fitting = least + (size - least) % (PAGE - 4)
    local = fitting if fitting <= PAGE - 35 else least
    parts = [file[place : place + local]]
    page = int.from_bytes(file[place + local : place + local + 4])
    while page and len(parts) <= _MOST_OVERFLOW and sum(map(len, parts)) < size:
        body = file[(page - 1) * PAGE : page * PAGE]
        parts.append(body[4:])
        page = int.from_bytes(body[:4])
    whole = b"".join(parts)
    if len(whole) < size:
        raise ValueError("the record is not whole")
    return whole[:size]


def _record(payload: bytes) -> tuple[Value, ...]:
    length, place = _varint(payload, 0)
    values: list[Value] = []
    at = length
    while place < length:
        kind, place = _varint(payload, place)
        value, at = _value(payload, kind, at)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in (8, 9):
        return kind - 8, at
    if kind == 7:
        return struct.unpack(">d", payload[at : at + 8])[0], at + 8
    if kind in _INTEGERS:
        size = _INTEGERS[kind]
        return int.from_bytes(payload[at : at + size], signed=True), at + size
    if kind < 12:
        raise ValueError("no such kind of value")
    size = (kind - 12) // 2
    if at + size > len(payload):
        raise ValueError("the value is not whole")
    body = payload[at : at + size]
    return (body.decode("utf-8") if kind % 2 else body), at + size


def _varint(data: bytes, place: int) -> tuple[int, int]:
    number = 0
    for step in range(8):
        byte = data[place + step]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + step + 1
    return number << 8 | data[place + 8], place + 9
