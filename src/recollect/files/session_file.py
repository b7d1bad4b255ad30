"""The file of one agent session: what its hook processes leave for each other, and for those who learn from it later.

A table of numbers at the front answers in a few reads however long the session is: which events arrived, what the
agent was told and warned of, what it did so far. JSON lines follow, appended: events as the host told them, and what
was told. Every change is made under a lock. Knows nothing of what events and memories mean; light to load.
"""

from __future__ import annotations

import json
import os
import time

from recollect.core.digest import short_digest
from recollect.core.file_lock import free_lock, take_lock
from recollect.files.mark import make_key, read_key, seal
from recollect.files.plain import make_own_folder, open_in_own_folder, open_plain, require_own_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    class ToldRecord(Protocol):
        """What decides what a session was told: its file, or memory where there is no file."""

        def __contains__(self, id: object) -> bool: ...

        def claim(self, ids: Sequence[str], moment: str, at: int) -> list[str]: ...

        def warn(self, pattern: str, marks: Collection[str], at: int, *, again: bool = False) -> bool: ...

        @property
        def is_seeded(self) -> bool: ...

        def seed(self, ids: Iterable[str], at: int) -> None: ...

        def note_warning(self, text: str, moment: str, at: int) -> None: ...

        def told(self) -> list[Told]: ...


FOLDER = "spool"  # beside the store
ENDING = ".session"
_MAGIC = b"RCLsess1"
_FAMILY = _MAGIC[:-1]  # files of other versions begin with it too
_NUMBERS = ("began", "received", "followed", "used", "generation", "seeded", "told_end", "ingested", "events_end",
            "learnt")  # fmt: skip
_WIDTH = 8  # bytes of a number in the header
_HEADER = len(_MAGIC) + _WIDTH * len(_NUMBERS)
_SLOTS = 32_768
_MAX_USED = 24_576  # slots in use, from which on nothing new is noted
_KEY, _VALUE = 8, 4  # bytes
_SLOT = _KEY + _VALUE
_FREE = bytes(_KEY)
_LINES = _HEADER + _SLOTS * _SLOT  # where the lines begin; the table takes disk only where something was noted
_LOST = 2**62  # `followed` of a session whose doings are not known in full
_MAX_VALUE = 2**31
_REPEATED_MS = 3_000  # within which the same nameless event is the same event
_LOCK_TIMEOUT = 0.15  # seconds to wait for another hook of the session: more would delay the host
_MAX_BYTES = 64_000_000  # of one session's events
_EVENT_VERSION = 1
_FORM = "recollect session 1"  # part of what is sealed

Told = tuple[str, str, int]  # memory, at which moment, when in milliseconds since 1970


class SessionFile:
    """One session's file. Methods may raise OSError; nothing is made before the first write.

    A memory is `in` it when the agent was told it since its context was last emptied.
    """

    def __init__(self, path: str, session: str = "", *, host: str = "") -> None:
        self.path = path
        self._session = session
        self._host = host
        self._handle = -1
        self._header: dict[str, int] = dict.fromkeys(_NUMBERS, 0)
        self._number = 0  # of the event that this process took

    @classmethod
    def of(cls, folder: str, session: str, *, host: str = "") -> SessionFile:
        """The file of a session of the store in `folder`."""
        return cls(os.path.join(folder, FOLDER, short_digest(session) + ENDING), session, host=host)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __del__(self) -> None:
        self.close()

    # --- events ---------------------------------------------------------------------------------------------------

    def take_event(self, key: str, event: str, at: int, *, named: bool) -> bool:
        """Note that an event arrived; False when it arrived before: a named one ever, a nameless one just now."""
        with self._locked(at):
            earlier = self.get("event", key)
            if earlier >= 0 and (named or at - self._header["began"] - earlier < _REPEATED_MS):
                return False
            self.put("event", key, max(0, at - self._header["began"]))
            self.put("events", event, max(0, self.get("events", event)) + 1)
            self._number = self._header["received"] + 1
            self._set("received", self._number)
            return True

    def count(self, event: str) -> int:
        """How many events of a sort arrived."""
        return max(0, self.get("events", event)) if self._opened() else 0

    @property
    def began(self) -> int:
        """When the session began, in milliseconds since 1970."""
        return self._header["began"]

    def append_event(self, host: str, payload: Mapping[str, Any], at: int, *, disk: str = "") -> None:
        """Keep an event for those who learn from it, with what the disk said of its call."""
        line: dict[str, Any] = {"v": _EVENT_VERSION, "host": host, "at": at / 1000, "payload": payload}
        if disk:
            line["disk"] = disk
        with self._locked(at):
            if os.fstat(self._handle).st_size > _MAX_BYTES:
                raise OSError(f"{self.path} is full")
            self._set("events_end", self._append(line))

    # --- what was told --------------------------------------------------------------------------------------------

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self._opened() and self.get("told", id) == self._header["generation"]

    def claim(self, ids: Sequence[str], moment: str, at: int) -> list[str]:
        """Those of `ids` that were not told yet, noted as told from now on; what cannot be noted is not told."""
        with self._locked(at):
            fresh = [id for id in dict.fromkeys(ids) if id not in self]
            fresh = [id for id in fresh if self.put("told", id, self._header["generation"])]
            if fresh:
                self._set("told_end", self._append({"told": fresh, "moment": moment, "at": at}))
            return fresh

    def seed(self, ids: Iterable[str], at: int) -> None:
        """Take over what earlier files of the session told, once, for a file that has just begun."""
        with self._locked(at):
            for id in () if self._header["seeded"] else ids:
                self.put("told", id, self._header["generation"])
            self._set("seeded", 1)

    @property
    def is_seeded(self) -> bool:
        return self._opened() and bool(self._header["seeded"])

    def empty_context(self, at: int) -> None:
        """The host's context was emptied: what was told before may be told again. Warnings are not repeated."""
        with self._locked(at):
            self._set("generation", self._header["generation"] + 1)
            self._set("seeded", 1)

    def warn(self, pattern: str, marks: Collection[str], at: int, *, again: bool = False) -> bool:
        """Note that the session is warned of a pattern and the troubles it tells of; False when it was warned of the
        pattern, or of all those troubles, before and is not to be warned `again`."""
        with self._locked(at):
            known = self.get("warned", pattern) >= 0 or all(self.get("feared", mark) >= 0 for mark in marks)
            if known and not again:
                return False
            if not self.put("warned", pattern, 0):
                return False
            for mark in marks:
                self.put("feared", mark, 0)
            return True

    def note_warning(self, text: str, moment: str, at: int) -> None:
        """Keep the words of a warning that tells no memory, for the person."""
        with self._locked(at):
            self._append({"warning": text, "moment": moment, "at": at})

    def warnings(self) -> list[Told]:
        """The warnings that told no memory, in order: their words in place of a memory."""
        lines = self._lines(_LINES) if self._opened() else ()
        found = (_parsed(line) for line in lines if line.startswith('{"warning"'))
        return [(str(one["warning"]), str(one.get("moment")), int(one.get("at") or 0)) for one in found if one]

    # --- what the session did -------------------------------------------------------------------------------------

    @property
    def is_followed(self) -> bool:
        """Is everything before the event that was taken noted in the table?"""
        return self._opened() and self._load() and self._header["followed"] + 1 == self._number

    def follow(self, *, last: bool = False) -> _Locked:
        """For noting what an event did, with `get` and `put`; after the `last` one nothing more is followed."""
        return self._locked(self.began, then="lost" if last else "followed")

    def get(self, kind: str, name: str) -> int:
        """The number that was put, -1 where none was."""
        _, slot = self._find(_key(kind, name))
        return int.from_bytes(slot[_KEY:], "little") if slot else -1

    def put(self, kind: str, name: str, value: int) -> bool:
        """Keep a number; False when the table is full."""
        key = _key(kind, name)
        place, slot = self._find(key)
        if not slot:
            if self._header["used"] >= _MAX_USED:
                return False
            self._set("used", self._header["used"] + 1)
        self._write(place, key + min(value, _MAX_VALUE).to_bytes(_VALUE, "little"))
        return True

    # --- for those who read it later ------------------------------------------------------------------------------

    @property
    def session(self) -> str:
        """The session's name as it says itself; nothing for a file that is none of ours."""
        return spell_name(str(self._opening().get("session") or ""))

    @property
    def host(self) -> str:
        return str(self._opening().get("host") or "")

    @property
    def is_sealed(self) -> bool:
        """Was it made here, by this person's hooks and sessions? One that came with a clone was not, nor a copy."""
        try:
            opening = self._opening()
        except OSError:  # a link, a second name, no right to read it
            return False
        return bool(opening) and opening.get("seal") == self._seal(str(opening.get("session")))

    def _seal(self, session: str, *, make: bool = False) -> str:
        """What only this person can write into this file; nothing where no key can be had."""
        key = read_key() or (make_key() if make else None)
        return "" if key is None else seal(key, _FORM, session, str(os.fstat(self._handle).st_ino))

    @property
    def is_ingested(self) -> bool:
        """Is all that it says of the session in the store?"""
        return self._opened() and 0 < self._header["ingested"] >= self._header["told_end"]

    @property
    def has_told(self) -> bool:
        """Was the agent told something, or did the session end, that nobody has brought in yet?"""
        return self._opened() and self._header["told_end"] > self._header["ingested"]

    def told(self) -> list[Told]:
        """What the agent was told and nobody has brought in yet, in order."""
        if not self.has_told:
            return []
        found: list[Told] = []
        for line in self._lines(self._header["ingested"]):
            if line.startswith('{"told"') and (record := _parsed(line)):
                found += [(str(id), str(record.get("moment")), int(record.get("at") or 0)) for id in record["told"]]
        return found

    def mark_ingested(self) -> None:
        """What `told` handed out is in the store."""
        with self._locked(self.began, then="quiet"):
            self._set("ingested", max(1, self._header["ingested"], self._header["told_end"]))

    @property
    def has_news(self) -> bool:
        """Are there events that nobody learnt from?"""
        return self._opened() and self._header["events_end"] > self._header["learnt"]

    def events(self) -> Iterator[str]:
        """The lines of the events that are kept, in order."""
        return (line for line in self._lines(_LINES) if line.startswith('{"v"'))

    def mark_learnt(self, end: int) -> None:
        """The events up to `end` (what `events_end` was before they were read) were learnt from."""
        with self._locked(self.began, then="quiet"):
            self._set("learnt", end)

    @property
    def events_end(self) -> int:
        return self._header["events_end"] if self._opened() else 0

    def drop_events(self) -> None:
        """Forget the events and what the session did, and keep what it was told and warned of."""
        with self._locked(self.began, then="quiet"):
            if self._header["told_end"] > self._header["ingested"] or not self._header["events_end"]:
                return
            kept = [line for line in self._lines(_LINES) if not line.startswith('{"v"')]
            os.ftruncate(self._handle, _LINES)
            os.lseek(self._handle, 0, os.SEEK_END)
            _write_all(self._handle, "".join(kept).encode())
            size = _LINES + len("".join(kept).encode())
            for name in ("told_end", "ingested"):
                self._set(name, min(self._header[name], size))
            self._set("events_end", 0)
            self._set("learnt", 0)
            self._set("followed", _LOST)

    def every_line(self) -> Iterator[str]:
        """All its lines, whatever they say."""
        return self._lines(_LINES) if self._opened() else iter(())

    def reword(self, change: Callable[[str], str]) -> None:
        """Put every line through a change, such as taking a secret out. The file is rewritten beside and put in its
        place: whoever waits for the old one notices."""
        with self._locked(self.began, then="quiet"):
            old, sealed = list(self._lines(_LINES)), self.is_sealed
            new = list(map(change, old))

            def content(inode: int) -> bytes:
                told = _parsed(new[0]) if sealed and new else {}
                key = read_key() if told else None
                if key is not None:  # the seal names the file it stands in
                    told["seal"] = seal(key, _FORM, str(told.get("session")), str(inode))
                    new[0] = json.dumps(told, ensure_ascii=True, separators=(",", ":")) + "\n"
                return self._moved_table(old, new) + "".join(new).encode()

            replace_file(self.path, content)
        self.close()

    def remove(self) -> None:
        """Delete the file; whoever waits for it notices."""
        with self._locked(self.began):
            os.unlink(self.path)
        self.close()

    def _moved_table(self, old: Sequence[str], new: Sequence[str]) -> bytes:
        """The table for lines that are longer or shorter than they were: some numbers in it are places after lines."""
        before = after = _LINES
        places = {_LINES: _LINES}
        for one, other in zip(old, new, strict=True):
            before, after = before + len(one.encode()), after + len(other.encode())
            places[before] = after
        table = bytearray(self._read(0, _LINES))
        for name in ("told_end", "ingested", "events_end", "learnt"):
            start = len(_MAGIC) + _NUMBERS.index(name) * _WIDTH
            mark = places.get(self._header[name], self._header[name])
            table[start : start + _WIDTH] = mark.to_bytes(_WIDTH, "little")
        return bytes(table)

    # --- inside ---------------------------------------------------------------------------------------------------

    def _locked(self, at: int, *, then: str = "") -> _Locked:
        return _Locked(self, at, then)

    def _opened(self) -> bool:
        """Open it for reading if it is there."""
        if self._handle < 0 and os.path.exists(self.path):
            self._handle = open_in_own_folder(self.path, os.O_RDWR)
            if not self._load():
                self.close()
        return self._handle >= 0

    def _load(self) -> bool:
        """Read the header; False when this is no session file of ours."""
        head = self._read(0, _HEADER)
        if len(head) < _HEADER or not head.startswith(_MAGIC):
            return False
        for number, name in enumerate(_NUMBERS):
            start = len(_MAGIC) + number * _WIDTH
            self._header[name] = int.from_bytes(head[start : start + _WIDTH], "little")
        return True

    def _moved_aside(self) -> bool:
        """Keep a file that is not ours, or damaged past knowing, out of the way."""
        head = self._read(0, len(_FAMILY))
        if not head or head == _FAMILY:
            return False
        os.replace(self.path, f"{self.path}.damaged")
        return True

    def _begin(self, at: int, *, lost: bool) -> None:
        """Make it, or make it again where it is damaged: then what the session did so far is not known."""
        head = self._read(0, len(_MAGIC))
        if head.startswith(_FAMILY) and head != _MAGIC:
            raise OSError(f"{self.path} was written by another release")
        os.ftruncate(self._handle, 0)
        os.ftruncate(self._handle, _LINES)
        self._write(0, _MAGIC)
        for name in _NUMBERS:
            self._set(name, {"began": at, "generation": 1, "followed": _LOST if head or lost else 0}.get(name, 0))
        session = self._session[:400]
        told = {"session": session, "host": self._host, "at": at}
        self._append({**told, "seal": self._seal(session, make=True)})

    def _set(self, name: str, value: int) -> None:
        self._header[name] = value
        self._write(len(_MAGIC) + _NUMBERS.index(name) * _WIDTH, value.to_bytes(_WIDTH, "little"))

    def _find(self, key: bytes) -> tuple[int, bytes]:
        """Where a key is, with its slot; or where it belongs, with nothing."""
        first = int.from_bytes(key[:4], "little") % _SLOTS
        for step in range(_SLOTS):
            place = _HEADER + (first + step) % _SLOTS * _SLOT
            slot = self._read(place, _SLOT)
            if slot[:_KEY] == key and len(slot) == _SLOT:
                return place, slot
            if len(slot) < _SLOT or slot[:_KEY] == _FREE:
                return place, b""
        raise OSError(f"{self.path} has no free slot")

    def _append(self, record: Mapping[str, Any]) -> int:
        """Add a line in one piece; where the file then ends. A line that a full disk cut off swallows no other."""
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        size = os.fstat(self._handle).st_size
        if size > _LINES and self._read(size - 1, 1) != b"\n":
            line = b"\n" + line
        os.lseek(self._handle, 0, os.SEEK_END)
        _write_all(self._handle, line)
        return size + len(line)

    def _lines(self, start: int) -> Iterator[str]:
        with os.fdopen(open_in_own_folder(self.path), "rb") as file:
            file.seek(max(start, _LINES))
            for line in file:
                if line.endswith(b"\n"):
                    yield line.decode("utf-8", "replace")

    def _opening(self) -> dict[str, Any]:
        return _parsed(next(self._lines(_LINES), "")) if self._opened() else {}

    def _write(self, place: int, what: bytes) -> None:
        os.lseek(self._handle, place, os.SEEK_SET)
        os.write(self._handle, what)

    def _read(self, place: int, size: int) -> bytes:
        os.lseek(self._handle, place, os.SEEK_SET)
        return os.read(self._handle, size)


class _Locked:
    """A session's file while one process holds it. `then` says what leaving well notes: that an event was followed,
    that none will be from now on (`lost`), or nothing, not even when the file was last used (`quiet`)."""

    def __init__(self, file: SessionFile, at: int, then: str) -> None:
        self._file = file
        self._at = at
        self._then = then

    def __enter__(self) -> SessionFile:
        file, lost = self._file, False
        while True:
            if file._handle < 0:
                make_own_folder(os.path.dirname(file.path))
                file._handle = open_in_own_folder(file.path, os.O_RDWR | os.O_CREAT)
            try:
                _lock(file._handle)
                state = os.fstat(file._handle)
                if state.st_nlink and not file._moved_aside():
                    break
                lost = bool(state.st_nlink)
            except BaseException:  # whoever fails to enter leaves nothing open
                file.close()
                raise
            file.close()  # somebody removed it meanwhile, or it was moved aside
        self._used_at = (state.st_atime_ns, state.st_mtime_ns)
        try:
            if state.st_size < _LINES or not file._load():
                file._begin(self._at, lost=lost)
        except BaseException:
            free_lock(file._handle)
            raise
        return file

    def __exit__(self, *error: object) -> None:
        file = self._file
        try:
            if error[0] is None and self._then == "quiet":
                os.utime(file.path, ns=self._used_at)
            elif error[0] is None and self._then:
                followed = file._header["followed"]
                file._set("followed", _LOST if self._then == "lost" else min(followed + 1, _LOST))
                if self._then == "lost":
                    file._set("told_end", os.fstat(file._handle).st_size)  # its end is news as well
        finally:
            free_lock(file._handle)


class SessionMemory:
    """The same for a session whose store has no folder, or may not be written: forgotten with the process."""

    def __init__(self) -> None:
        self._told: dict[str, Told] = {}
        self._known: set[str] = set()
        self.is_seeded = False
        self._warned: set[str] = set()
        self.warnings: list[Told] = []

    def __contains__(self, id: object) -> bool:
        return id in self._told or id in self._known

    def claim(self, ids: Sequence[str], moment: str, at: int) -> list[str]:
        fresh = [id for id in dict.fromkeys(ids) if id not in self]
        self._told.update((id, (id, moment, at)) for id in fresh)
        return fresh

    def seed(self, ids: Iterable[str], at: int) -> None:
        self._known.update(ids)
        self.is_seeded = True

    def warn(self, pattern: str, marks: Collection[str], at: int, *, again: bool = False) -> bool:
        if not again and (pattern in self._warned or self._warned.issuperset(marks)):
            return False
        self._warned.update((pattern, *marks))
        return True

    def note_warning(self, text: str, moment: str, at: int) -> None:
        self.warnings.append((text, moment, at))

    def told(self) -> list[Told]:
        return list(self._told.values())


def replace_file(path: str, content: Callable[[int], bytes]) -> None:
    """Put new content, which may depend on the number of the new file, in the place of a file at once: a kill leaves
    the old or the new one whole."""
    beside = f"{path}.{os.urandom(6).hex()}.new"
    handle = open_plain(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        _write_all(handle, content(os.fstat(handle).st_ino))
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(beside, path)


def session_files(folder: str) -> list[SessionFile]:
    """The files of all sessions of the store in `folder` that were made here, in the order of their names."""
    spool = spool_folder(folder)
    if spool is None:
        return []
    names = sorted(entry.name for entry in os.scandir(spool) if entry.is_file(follow_symlinks=False))
    files = [SessionFile(os.path.join(spool, name)) for name in names if name.endswith(ENDING)]
    return [file for file in files if file.is_sealed]


def spool_folder(folder: str) -> str | None:
    """Where the files of sessions are; nothing when there is none, or a link in its place."""
    spool = os.path.join(folder, FOLDER)
    try:
        require_own_folder(spool)
    except OSError:
        return None
    return spool


def spell_name(name: str) -> str:
    """A session's name as a text can hold it: halves of characters, which JSON allows, are spelt out and stay apart."""
    return name if name.isascii() else name.encode("utf-8", "backslashreplace").decode()


def _key(kind: str, name: str) -> bytes:
    return bytes.fromhex(short_digest(f"{kind}\x1f{name}"))


def _parsed(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_all(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _lock(handle: int) -> None:
    until = time.monotonic() + _LOCK_TIMEOUT
    while not take_lock(handle, wait=False):
        if time.monotonic() > until:
            raise BlockingIOError(f"another process has held the session's file for {_LOCK_TIMEOUT} s")
        time.sleep(0.002)
