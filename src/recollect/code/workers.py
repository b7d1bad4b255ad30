"""Parsing in processes of our own: two cores are used, and no file can take the caller down or hold it up.

A worker that dies or falls silent costs one file, which is reported; another worker takes its place.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from types import TracebackType

from recollect.code.chunk import Chunk
from recollect.code.outline import Outline, from_plain

PATIENCE = 20.0  # seconds without an answer on a busy machine; a worker bounds its own processor time far below
FEW = 24  # files below which a second process costs more than it saves


@dataclass(frozen=True, slots=True)
class Parsed:
    """One file, read and parsed."""

    file: str
    digest: str
    outline: Outline
    chunks: list[Chunk]
    clean: bool  # every text of the chunks was looked at, and none holds a secret


@dataclass(frozen=True, slots=True)
class Unparsed:
    """One file that was not, and why."""

    file: str
    reason: str


@dataclass(frozen=True, slots=True)
class Wanted:
    file: str  # its name in the project
    path: Path
    language: str


class Workers:
    """Parsing processes, started when needed and kept until closed. One `parse` at a time."""

    def __init__(self, most: int | None = None) -> None:
        self._most = most or max(1, min(4, os.cpu_count() or 1))
        self._idle: list[_Worker] = []

    def parse(self, files: Sequence[Wanted], *, chunks: bool = True) -> Iterator[Parsed | Unparsed]:
        """Every file once, in no particular order, as they get ready; with its chunks, if they are wanted."""
        todo = iter(files)
        lock = threading.Lock()
        done: Queue[Parsed | Unparsed | None] = Queue(maxsize=512)
        count = self._most if len(files) >= FEW else 1
        workers = [self._idle.pop() if self._idle else _Worker() for _ in range(min(count, len(files)))]
        stop = threading.Event()

        def serve(worker: _Worker) -> None:
            while not stop.is_set():
                with lock:
                    wanted = next(todo, None)
                if wanted is None:
                    break
                done.put(worker.ask(wanted, chunks=chunks))
            done.put(None)

        threads = [threading.Thread(target=serve, args=(worker,), daemon=True) for worker in workers]
        watch = threading.Thread(target=_watch, args=(workers, stop), daemon=True)
        for thread in (*threads, watch):
            thread.start()
        try:
            running = len(threads)
            while running:
                one = done.get()
                if one is None:
                    running -= 1
                else:
                    yield one
        finally:
            stop.set()
            while any(thread.is_alive() for thread in threads):  # an abandoned run: let the last answers go
                while not done.empty():
                    done.get()
                time.sleep(0.005)
            self._idle += workers

    def close(self) -> None:
        for worker in self._idle:
            worker.close()
        self._idle = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _watch(workers: Sequence[_Worker], stop: threading.Event) -> None:
    while not stop.wait(0.5):
        for worker in workers:
            worker.end_if_silent()


class _Worker:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: float | None = None

    def ask(self, wanted: Wanted, *, chunks: bool) -> Parsed | Unparsed:
        """Have one file parsed. Never raises for what is in the file."""
        process = self._process or self._start()
        self._asked = time.monotonic()
        answer = b""
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([str(wanted.path), wanted.language, chunks]).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except (BrokenPipeError, OSError):
            answer = b""
        self._asked = None
        if not answer.endswith(b"\n"):
            self.close()
            return Unparsed(wanted.file, "took too much time or memory to parse")
        return _read(wanted.file, answer)

    def end_if_silent(self) -> None:
        asked, process = self._asked, self._process
        if asked is not None and process is not None and time.monotonic() - asked > PATIENCE:
            process.kill()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _start(self) -> subprocess.Popen[bytes]:
        source = str(Path(__file__).resolve().parents[2])
        known = os.environ.get("PYTHONPATH")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "recollect.code.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": source if not known else f"{source}{os.pathsep}{known}"},
        )
        return self._process


def _read(file: str, answer: bytes) -> Parsed | Unparsed:
    value = json.loads(answer)
    if value[0] == "skipped":
        return Unparsed(file, value[1])
    _, digest, clean, outline, chunks = value
    return Parsed(file, digest, from_plain(outline), [Chunk._make(one) for one in chunks], clean)
