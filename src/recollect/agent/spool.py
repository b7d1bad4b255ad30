"""What processes of one agent's session leave for each other and for later, in two small files beside the store.

`<session>.jsonl` is what hosts told us, one line an event, for the observer to learn from. `<session>.seen` is what
was answered and told, so that an event is answered once and a memory told once, whichever process was asked. Appending
under a lock is all that is ever done to them here; `slate` keeps a third beside them. Light to load.
"""

from __future__ import annotations

import json
import os
import time

from recollect.core.digest import short_digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

FOLDER = "spool"
SLATE = ".slate"  # ends the name of what a session did so far
VERSION = 1
_AGAIN = 3_000  # milliseconds within which the same nameless event is the same event
_PATIENCE = 0.15  # seconds to wait for another hook of the session
_KEPT = 8_000  # characters of one string in a captured event, its two ends
_MOST_ITEMS = 200  # of one list
_MOST_FILE = 64_000_000  # bytes of one session's captured events


class Spool:
    """The files of one session. Every method may raise OSError; nothing is created before the first write."""

    def __init__(self, folder: str, session: str) -> None:
        name = short_digest(session)
        self._folder = os.path.join(folder, FOLDER)
        self.events = os.path.join(self._folder, f"{name}.jsonl")
        self.seen = os.path.join(self._folder, f"{name}.seen")
        self.slate = os.path.join(self._folder, f"{name}{SLATE}")
        self._session = session

    def first(self, key: str, event: str, at: int, *, named: bool, host: str = "") -> Story | None:
        """Note that an event arrived; the session's story with it. Nothing when it arrived before: named ones ever,
        nameless ones just now."""
        with _Locked(self._made(self.seen)) as file:
            lines = list(file.lines())
            for kind, *fields in lines:
                if kind == "e" and fields[0] == key and (named or at - int(fields[1]) < _AGAIN):
                    return None
            if file.empty:
                lines.append(file.add("s", self._session.replace("\n", " ")[:400], str(at), host))
            lines.append(file.add("e", key, str(at), event))
            return Story(lines)

    def claim(self, ids: Sequence[str], moment: str, at: int) -> list[str]:
        """Those of `ids` that were not told yet, noted as told from now on."""
        with _Locked(self._made(self.seen)) as file:
            known = _given(file.lines())
            if file.empty:
                file.add("s", self._session.replace("\n", " ")[:400], str(at), "")
            fresh = [id for id in ids if id not in known]
            for id in fresh:
                file.add("g", id, str(at), moment)
            return fresh

    def warn(self, pattern: str, marks: Iterable[str], at: int) -> bool:
        """Note that the session is warned of a pattern and the fingerprints it tells of; False when it was before."""
        listed = sorted(marks)
        with _Locked(self._made(self.seen)) as file:
            story = Story(file.lines())
            if pattern in story.warned or story.feared.issuperset(listed):
                return False
            if file.empty:
                file.add("s", self._session.replace("\n", " ")[:400], str(at), "")
            file.add("w", pattern, str(at), ",".join(listed))
            return True

    def wipe(self) -> None:
        """Forget what the session did so far; what it was told is still known."""
        if os.path.exists(self.slate):
            os.unlink(self.slate)

    def begin_anew(self, at: int) -> None:
        """The host's context was emptied: what was told before may be told again."""
        with _Locked(self._made(self.seen)) as file:
            file.add("r", "", str(at))

    def story(self) -> Story:
        """What happened in the session so far."""
        return read_story(self.seen)

    def capture(self, host: str, payload: Mapping[str, Any], at: int, *, disk: str = "") -> None:
        """Keep an event for the observer, with what the disk said of it; long texts lose their middle, and what we told
        is left out."""
        if os.path.exists(self.events) and os.path.getsize(self.events) > _MOST_FILE:
            raise OSError(f"{self.events} is full")
        line = {"v": VERSION, "host": host, "at": at / 1000, "payload": clipped(payload)}
        if disk:
            line["disk"] = disk
        whole = json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n"
        with _Locked(self._made(self.events)) as file:
            file.write(whole)

    def _made(self, path: str) -> str:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        return path


def read_story(path: str) -> Story:
    """The story a `seen` file tells; that of a file which is not there is empty."""
    if not os.path.exists(path):
        return Story([])
    with open(path, encoding="utf-8", errors="replace") as file:
        return Story(_fields(file))


class Story:
    """A session as its `seen` file tells it."""

    def __init__(self, lines: Iterable[Sequence[str]]) -> None:
        self.session = ""
        self.host = ""
        self.began = 0
        self.told: list[tuple[str, int, str]] = []  # memory, when, at which moment
        self.counts: dict[str, int] = {}
        self.warned: set[str] = set()  # patterns, and below the fingerprints they tell of: never twice a session
        self.feared: set[str] = set()
        anew = 0
        for kind, *fields in lines:
            if kind == "s" and not self.session:
                self.session, self.began = fields[0], int(fields[1])
                self.host = fields[2] if len(fields) > 2 else ""
            elif kind == "e" and len(fields) > 2:
                self.counts[fields[2]] = self.counts.get(fields[2], 0) + 1
            elif kind == "g" and len(fields) > 2:
                self.told.append((fields[0], int(fields[1]), fields[2]))
            elif kind == "w" and len(fields) > 2:
                self.warned.add(fields[0])
                self.feared.update(filter(None, fields[2].split(",")))
            elif kind == "r":
                anew = len(self.told)
        self.given = {id for id, _, _ in self.told[anew:]}

    @property
    def events(self) -> int:
        """How many there were."""
        return sum(self.counts.values())


class _Locked:
    """A file opened for appending, held by one process at a time; what is written ends up in it as one piece."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._added: list[str] = []

    def __enter__(self) -> _Locked:
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            held(self._handle)
        except BaseException:  # whoever fails to enter leaves nothing open
            os.close(self._handle)
            raise
        self.empty = os.fstat(self._handle).st_size == 0
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self._added and error[0] is None:
                _write(self._handle, self._mend() + "".join(self._added))
        finally:
            os.close(self._handle)  # lets go of the lock

    def lines(self) -> Iterator[list[str]]:
        os.lseek(self._handle, 0, os.SEEK_SET)
        whole = os.read(self._handle, os.fstat(self._handle).st_size)
        return _fields(whole.decode("utf-8", "replace").split("\n"))

    def _mend(self) -> str:
        """A line that a full disk cut off must not swallow the next one."""
        if self.empty:
            return ""
        os.lseek(self._handle, -1, os.SEEK_END)
        return "" if os.read(self._handle, 1) == b"\n" else "\n"

    def add(self, *fields: str) -> list[str]:
        clean = [field.replace("\t", " ") for field in fields]
        self._added.append("\t".join(clean) + "\n")
        return clean

    def write(self, text: str) -> None:
        self._added.append(text)


def _write(handle: int, text: str) -> None:
    left = memoryview(text.encode("utf-8", "replace"))
    while left:
        left = left[os.write(handle, left) :]


def held(handle: int) -> None:
    """Hold a file alone until it is closed; waits a little for another hook, since more would delay the host."""
    try:
        import fcntl
    except ImportError:  # Windows: appends are small enough to be whole, and two at once are rare
        return
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.002)


def _fields(lines: Iterable[str]) -> Iterator[list[str]]:
    """The fields of each line that is whole: kind, what, when, and more."""
    for line in lines:
        fields = line.rstrip("\n").split("\t")
        if len(fields) >= 3 and fields[2].isdecimal():
            yield fields


def _given(lines: Iterator[list[str]]) -> set[str]:
    given: set[str] = set()
    for kind, *fields in lines:
        if kind == "r":
            given.clear()
        elif kind == "g":
            given.add(fields[0])
    return given


def clipped(value: Any, depth: int = 8) -> Any:
    """The same structure with every long text cut to its two ends and everything we told an agent taken out."""
    if isinstance(value, str):
        return _own(value)
    if isinstance(value, dict):
        return {str(key)[:200]: clipped(item, depth - 1) for key, item in value.items()} if depth else {}
    if isinstance(value, list):
        return [clipped(item, depth - 1) for item in value[:_MOST_ITEMS]] if depth else []
    return value


def _own(text: str) -> str:
    from recollect.privacy.fence import own_words

    plain = own_words(text)
    half = _KEPT // 2
    return plain if len(plain) <= _KEPT else f"{plain[:half]}\n…\n{plain[-half:]}"
