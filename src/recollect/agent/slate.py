"""What a session did so far, for the next hook process to know: numbers by kind and name in one small file.

A table of slots addressed by digest, so that noting and looking up take the same few reads however long the session
is. The file is made whole with a session's first event and counts the events it was told of: who finds it missing, or
behind the session's story, knows that it cannot be relied on. Light to load.
"""

from __future__ import annotations

import os

from recollect.agent.spool import held
from recollect.core.digest import short_digest

_MARK = b"RCLslat1"
_EVENTS = 8  # bytes that count the events, and as many the slots in use, after the mark
_HEAD = len(_MARK) + 2 * _EVENTS
_SLOTS = 16_384
_FULL = 12_288  # slots in use, from which on nothing new is noted
_KEY, _VALUE = 8, 4  # bytes
_SLOT = _KEY + _VALUE
_FREE = bytes(_KEY)
_BINARY = getattr(os, "O_BINARY", 0)  # Windows would mend line ends


class Slate:
    """An open slate, held by one process at a time. Raises OSError; what was noted is lost with the file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1

    def begin(self) -> None:
        """Make it, for a session that begins."""
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | _BINARY, 0o600)
        try:
            os.write(handle, _MARK + bytes(2 * _EVENTS))
        finally:
            os.close(handle)

    def __enter__(self) -> Slate:
        self._handle = os.open(self._path, os.O_RDWR | _BINARY)
        try:
            held(self._handle)
            head = self._read(0, _HEAD)
            if len(head) != _HEAD or not head.startswith(_MARK):
                raise OSError(f"{self._path} is not a slate")
        except BaseException:  # whoever fails to enter leaves nothing open
            os.close(self._handle)
            raise
        self.events = int.from_bytes(head[len(_MARK) : len(_MARK) + _EVENTS], "little")
        self._used = int.from_bytes(head[len(_MARK) + _EVENTS :], "little")
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._handle)  # lets go of the lock

    def heard(self) -> None:
        """One more event was noted, whatever it was."""
        self.events += 1
        self._write(len(_MARK), self.events.to_bytes(_EVENTS, "little"))

    def get(self, kind: str, name: str) -> int:
        """The number that was put, -1 where none was."""
        _, slot = self._find(_key(kind, name))
        return int.from_bytes(slot[_KEY:], "little") if slot else -1

    def put(self, kind: str, name: str, value: int) -> None:
        key = _key(kind, name)
        place, slot = self._find(key)
        if not slot:
            if self._used >= _FULL:
                return
            self._used += 1
            self._write(len(_MARK) + _EVENTS, self._used.to_bytes(_EVENTS, "little"))
        self._write(place, key + min(value, 2**31).to_bytes(_VALUE, "little"))

    def _find(self, key: bytes) -> tuple[int, bytes]:
        """Where a key is, with its slot; or where it belongs, with nothing."""
        first = int.from_bytes(key[:4], "little") % _SLOTS
        for step in range(_SLOTS):
            place = _HEAD + (first + step) % _SLOTS * _SLOT
            slot = self._read(place, _SLOT)
            if slot[:_KEY] == key and len(slot) == _SLOT:
                return place, slot
            if len(slot) < _SLOT or slot[:_KEY] == _FREE:
                return place, b""
        raise OSError(f"{self._path} has no free slot")

    def _write(self, place: int, what: bytes) -> None:
        os.lseek(self._handle, place, os.SEEK_SET)
        os.write(self._handle, what)

    def _read(self, place: int, size: int) -> bytes:
        os.lseek(self._handle, place, os.SEEK_SET)
        return os.read(self._handle, size)


def _key(kind: str, name: str) -> bytes:
    return int(short_digest(f"{kind}\x1f{name}"), 16).to_bytes(_KEY, "little")
