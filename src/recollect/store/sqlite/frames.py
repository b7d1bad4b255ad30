"""Reading the write-ahead log of a SQLite file without SQLite, for a file that it refuses to open.

Frames count up to the last commit, and only while their salts and running checksums hold: what SQLite itself would use.
"""

from __future__ import annotations

import struct

_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # by the order of bytes in which it was summed up
_HEADER, _FRAME = 32, 24  # bytes


def apply(file: bytes, log: bytes) -> bytes:
    """The file with the pages that committed frames of its log put into it."""
    order = _MAGIC.get(int.from_bytes(log[:4])) if len(log) >= _HEADER else None
    page = int.from_bytes(log[8:12])
    if order is None or page < 512 or page & (page - 1):
        return file
    sums = _sum(log[:24], (0, 0), order)
    if sums != struct.unpack(">II", log[24:32]):
        return file
    pages: dict[int, bytes] = {}
    committed: dict[int, bytes] = {}
    size = 0
    for start in range(_HEADER, len(log) - _FRAME - page + 1, _FRAME + page):
        head, body = log[start : start + _FRAME], log[start + _FRAME : start + _FRAME + page]
        sums = _sum(head[:8] + body, sums, order)
        if head[8:16] != log[16:24] or sums != struct.unpack(">II", head[16:24]):
            break
        pages[int.from_bytes(head[:4])] = body
        if length := int.from_bytes(head[4:8]):
            committed, size = dict(pages), length
    if not committed:
        return file
    whole = bytearray(file[: size * page].ljust(size * page, b"\0"))
    for number, body in committed.items():
        if number <= size:
            whole[(number - 1) * page : number * page] = body
    return bytes(whole)


def _sum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    one, two = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        one = (one + even + two) & 0xFFFFFFFF
        two = (two + odd + one) & 0xFFFFFFFF
    return one, two
