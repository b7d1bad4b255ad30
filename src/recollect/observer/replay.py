"""Reading transcripts from files and folders, and the files of sessions that hooks leave: watched, then learnt from.

A file that cannot be read is named and left out; the rest is learnt. Events go only once their session is stored.
"""

from __future__ import annotations

import gzip
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path

from recollect.core.errors import NothingToObserve
from recollect.files.session_file import ENDING, SessionFile, session_files, spool_folder
from recollect.observer import policy
from recollect.observer.events import UserText
from recollect.observer.promotion import Learned
from recollect.observer.readers import detect_format, hook, peek, read_events
from recollect.observer.readers.base import ReadingTally
from recollect.observer.watcher import SessionWatcher

ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".traj", ".json.gz", ENDING)
SPOOL = "spool"
SUBAGENTS = "subagents"
EVENTS = "events"  # the folder of a conversation in which OpenHands keeps one file an event
OPEN = 1_000  # sessions of one file that are watched at once
_LINE = 64_000_000  # characters of a line that are read; the rest of it is passed over

Progress = Callable[[int, int], None]
Begin = Callable[[str, str], SessionWatcher]  # how a session of a host begins to be watched


@dataclass(slots=True)
class Replayed:
    """What a reading of files amounted to."""

    files: int = 0
    lines: int = 0
    broken: int = 0
    events: int = 0
    slow: int = 0
    unknown: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)  # file → why
    waiting: int = 0  # spool files whose session is not over
    learned: list[Learned] = field(default_factory=list)

    @property
    def sessions(self) -> int:
        return len(self.learned)


def transcripts(given: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The files meant by some names: files, folders with all below, patterns. The oldest first."""
    found: dict[Path, None] = {}
    for name in given:
        path = Path(name).expanduser()
        matches = [path] if path.exists() else [Path(one) for one in sorted(glob(str(path), recursive=True))]
        if not matches:
            raise NothingToObserve(str(name))
        for match in matches:
            inside = sorted(match.rglob("*")) if match.is_dir() else [match]
            found.update((one, None) for one in inside if match == one or one.name.endswith(ENDINGS))
    files = [path for path in found if path.is_file()]
    if not files:
        raise NothingToObserve(", ".join(str(name) for name in given))
    return sorted(files, key=lambda path: (path.stat().st_mtime, str(path)))


def replay(
    files: Sequence[Path],
    learn: Callable[[SessionWatcher], Learned],
    *,
    begin: Begin,
    hearsay: str = "",
    progress: Progress = lambda done, of: None,
) -> Replayed:
    """Learn from transcripts, session by session, each once its file is read.

    `hearsay` says why what they call a person's words is not known to be a person's.
    """
    done = Replayed()
    units = together(files)
    sizes = [sum(path.stat().st_size for path in unit) for unit in units]
    for number, unit in enumerate(units):
        progress(sum(sizes[:number]), sum(sizes))
        _unit(unit, learn, begin, done, hearsay=hearsay)
    progress(sum(sizes), sum(sizes))
    return done


def together(files: Sequence[Path]) -> list[list[Path]]:
    """The files of each session: its transcript, then those of its subagents, which some hosts keep in a folder. Where
    a host writes one file an event, all of a folder are one session."""
    units: dict[Path, list[Path]] = {}
    for path in files:
        if _is_event(path):
            units.setdefault(path.parent, []).append(path)
            continue
        main = path.parent.parent.with_suffix(path.suffix) if path.parent.name == SUBAGENTS else path
        unit = units.setdefault(main, [main] if main.is_file() else [])
        if path != main:
            unit.append(path)
    return [sorted(unit) if _is_event(unit[0]) else unit for unit in units.values()]


def _is_event(path: Path) -> bool:
    return path.parent.name == EVENTS and path.name.startswith("event-") and path.suffix == ".json"


def drain(
    folder: Path,
    learn: Callable[[SessionWatcher], Learned],
    *,
    now: float,
    begin: Begin,
    idle: float = policy.SESSION_IDLE_SECONDS,
) -> Replayed:
    """Learn from the sessions of hooks that are over. Their events are kept for a day, then dropped."""
    done = Replayed()
    for file in session_files(str(folder)):
        try:
            used_at, end = os.stat(file.path).st_mtime, file.events_end
            if not file.has_news:
                if now - used_at > policy.SPOOL_KEPT_SECONDS:
                    file.drop_events()
            elif now - used_at < idle and not hook.session_ended(file.events()):
                done.waiting += 1
            elif _unit([Path(file.path)], learn, begin, done):
                file.mark_learnt(end)
        except OSError as trouble:  # another process holds it, or removed it
            done.skipped[file.path] = str(trouble)
        finally:
            file.close()
    spool = spool_folder(str(folder))
    if spool is not None:
        _drop_old(Path(spool), now)
    return done


def _drop_old(spool: Path, now: float) -> None:
    """Remove what an earlier release kept of its sessions. Nothing tells such a file from one that came with a clone,
    so nothing is learnt from it."""
    for old in (*spool.glob("*.jsonl"), *(spool / "learnt").glob("*.jsonl")):
        if not old.is_symlink() and now - old.stat().st_mtime > policy.SPOOL_KEPT_SECONDS:
            old.unlink(missing_ok=True)


def _unit(
    paths: Sequence[Path],
    learn: Callable[[SessionWatcher], Learned],
    begin: Begin,
    done: Replayed,
    *,
    hearsay: str = "",
) -> bool:
    """Learn from the files of one session, or of several; False when nothing could be learnt from them."""
    tally = ReadingTally()
    watches: dict[str, SessionWatcher] = {}
    name = str(paths[-1])
    try:
        for watched in _watched(paths, tally, watches, begin, hearsay):
            done.learned.append(learn(watched))
    except (OSError, EOFError, gzip.BadGzipFile) as trouble:
        done.skipped[name] = str(trouble) or type(trouble).__name__
    done.files += len(paths)
    done.lines += tally.lines
    done.broken += tally.broken
    done.unknown.update(tally.unknown)
    if not watches and name not in done.skipped:
        done.skipped[name] = "no session in it that any reader knows"
    for watch in sorted(watches.values(), key=lambda one: (one.started or 0.0, one.session)):
        done.events += watch.events
        done.slow += watch.slow
        done.learned.append(learn(watch))
    return bool(watches)


def _watched(
    paths: Sequence[Path], tally: ReadingTally, watches: dict[str, SessionWatcher], begin: Begin, hearsay: str
) -> Iterator[SessionWatcher]:
    """Feed the events of some files to the watches of their sessions; one too many is given up to be learnt from."""
    for path in paths[:1] if _is_event(paths[0]) else paths:
        with _opened_together(paths) if _is_event(path) else _opened(path) as lines:
            opening, stream = peek(lines)
            host = detect_format(opening) or ""
            for event in read_events(stream, tally=tally):
                watch = watches.get(event.session)
                if watch is None:
                    if len(watches) >= OPEN:
                        yield watches.pop(next(iter(watches)))
                    watch = watches[event.session] = begin(event.session, host.replace("_", "-"))
                if hearsay and isinstance(event, UserText):
                    event.hearsay = hearsay
                watch.feed(event)


@contextmanager
def _opened_together(paths: Sequence[Path]) -> Iterator[Iterable[str]]:
    """The events of many small files as lines; one that is no object on its own is passed on as it is."""

    def read() -> Iterator[str]:
        for path in paths:
            with path.open(encoding="utf-8", errors="replace") as file:
                yield " ".join(file.read(_LINE).split("\n"))

    yield read()


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[str]]:
    """The lines of a file, packed or not; bytes that are no text become marks, and no line is read without bound."""
    if path.name.endswith(ENDING):
        yield SessionFile(str(path)).events()
        return
    packed = path.name.endswith(".gz")
    with (
        gzip.open(path, "rt", encoding="utf-8", errors="replace")
        if packed
        else path.open(encoding="utf-8", errors="replace") as file
    ):
        yield iter(lambda: file.readline(_LINE), "")
