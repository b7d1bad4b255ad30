"""A server in the background: the note it leaves of itself in the person's state folder, starting and stopping it."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path

from recollect.core.errors import ServerNotReady
from recollect.files.plain import make_own_folder, open_in_own_folder, read_plain_file
from recollect.files.project import state_folder
from recollect.wiring import name_store

_FOLDER = "servers"
_MAX_BYTES = 10_000
_START_SECONDS = 20.0
_STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.05


def store_key(store: str | None) -> str:
    """A short name for a store: servers and browsers' sessions are told apart by it."""
    where = name_store(store)
    return blake2b(where.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()


@dataclass(frozen=True, slots=True)
class ServerNote:
    """What a server says of itself. Without a process it has ended, and tells only which port it had."""

    key: str
    url: str
    port: int
    pid: int | None
    began: str = ""  # tells the process from another that got its number

    @classmethod
    def read(cls, key: str) -> ServerNote | None:
        """The note of a store's server; nothing when there is none that can be read."""
        data = read_plain_file(_path(key), max_bytes=_MAX_BYTES)
        try:
            told = json.loads(data or b"")
            return cls(key, str(told["url"]), int(told["port"]), told["pid"], str(told["began"]))
        except (ValueError, KeyError, TypeError, RecursionError):
            return None

    @classmethod
    def write(cls, key: str, *, url: str, port: int) -> ServerNote:
        """Leave a note of this process."""
        note = cls(key, url, port, os.getpid(), _began(os.getpid()))
        note._put()
        return note

    def end(self) -> None:
        """The server has ended; its port is kept for the next one, so that browsers find it again."""
        found = ServerNote.read(self.key)
        if found is not None and found.pid == self.pid:  # another may have taken its place
            ServerNote(self.key, self.url, self.port, None)._put()

    @property
    def is_up(self) -> bool:
        """Does the process still run that wrote it?"""
        return self.pid is not None and _is_alive(self.pid) and _began(self.pid) == self.began

    def _put(self) -> None:
        _make_folders()
        path = _path(self.key)
        fresh = f"{path}.{secrets.token_hex(6)}"
        handle = open_in_own_folder(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            os.write(handle, json.dumps(asdict(self)).encode())
        finally:
            os.close(handle)
        os.replace(fresh, path)


def start(words: Sequence[str], key: str) -> ServerNote:
    """Start `recollect serve` in a process of its own and wait until it answers."""
    log = _path(key).removesuffix(".json") + ".log"
    _make_folders()
    output = open_in_own_folder(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "recollect", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=output,
            start_new_session=True,
        )
    finally:
        os.close(output)
    ends = time.monotonic() + _START_SECONDS
    while time.monotonic() < ends:
        note = ServerNote.read(key)
        if note is not None and note.pid == process.pid:
            return note
        if process.poll() is not None:
            raise ServerNotReady(_last_line(log) or f"it ended with {process.returncode}", log)
        time.sleep(_LOOK_SECONDS)
    process.terminate()
    raise ServerNotReady(f"it did not answer within {_START_SECONDS:.0f} s", log)


def stop(note: ServerNote) -> bool:
    """Tell a server to end and wait for it. False when none runs."""
    if not note.is_up or note.pid is None:
        return False
    os.kill(note.pid, signal.SIGTERM)
    ends = time.monotonic() + _STOP_SECONDS
    while note.is_up and time.monotonic() < ends:
        time.sleep(_LOOK_SECONDS)
    return True


def _make_folders() -> None:
    state = state_folder()
    os.makedirs(os.path.dirname(state), mode=0o700, exist_ok=True)
    make_own_folder(state)
    make_own_folder(os.path.join(state, _FOLDER))


def _path(key: str) -> str:
    return os.path.join(state_folder(), _FOLDER, f"{key}.json")


def _last_line(log: str) -> str:
    data = read_plain_file(log, max_bytes=1_000_000) or b""
    lines = [line for line in data.decode("utf-8", "replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _began(pid: int) -> str:
    """When a process began, where the system tells: numbers of processes are used again."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
    state, *rest = told.rpartition(")")[2].split()
    return "" if state == "Z" else rest[18]  # one that has ended and was not fetched yet runs no more
