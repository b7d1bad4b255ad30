"""Parsing in processes of our own: two cores are used, and no file can take the caller down or hold it up.

A worker that dies or falls silent costs one file, which is reported; another worker takes its place.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from queue import Queue
from types import TracebackType

from recollect.code.languages import GrammarMissing
from recollect.code.outline import Chunk, Outline, build_outline, split_chunks
from recollect.code.parse import parse
from recollect.files.plain import open_beneath
from recollect.privacy.scan import redact, scan

ANSWER_TIMEOUT = 20.0  # seconds without an answer on a busy machine; a worker bounds its own processor time far below
ONE_WORKER_BELOW = 24  # files below which a second process costs more than it saves


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
    root: Path
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
        count = self._most if len(files) >= ONE_WORKER_BELOW else 1
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
        watch = threading.Thread(target=_watch_workers, args=(workers, stop), daemon=True)
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


def _watch_workers(workers: Sequence[_Worker], stop: threading.Event) -> None:
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
            process.stdin.write(json.dumps([str(wanted.root), wanted.file, wanted.language, chunks]).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except (BrokenPipeError, OSError):
            answer = b""
        self._asked = None
        if not answer.endswith(b"\n"):
            self.close()
            return Unparsed(wanted.file, "took too much time or memory to parse")
        return _read_answer(wanted.file, answer)

    def end_if_silent(self) -> None:
        asked, process = self._asked, self._process
        if asked is not None and process is not None and time.monotonic() - asked > ANSWER_TIMEOUT:
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
            [sys.executable, "-P", "-m", "recollect.code.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": source if not known else f"{source}{os.pathsep}{known}"},
        )
        return self._process


def _read_answer(file: str, answer: bytes) -> Parsed | Unparsed:
    value = json.loads(answer)
    if value[0] == "skipped":
        return Unparsed(file, value[1])
    _, digest, clean, outline, chunks = value
    return Parsed(file, digest, build_outline(outline), [Chunk._make(chunk) for chunk in chunks], clean)


# --- the process that parses: one JSON line in (path, language, chunks?), one out -----------------------------------
# It bounds itself where the system can: each file may use so much processor time, and the process so much memory.
# Whoever exceeds it ends this process, and the parent goes on with another.

CPU_SECONDS = 1.0  # of processor time for one file; an ordinary file of the largest size takes a fifth
MEMORY_BYTES = 256 * 2**20  # bytes of data of the whole process
MAX_FILE_BYTES = 1_000_000  # of a file that is parsed
MAX_LINE_CHARS = 20_000  # characters: nobody writes such a line by hand
_GENERATED = re.compile(rb"@generated|code generated .{0,80}do not edit|autogenerated file|generated by protoc", re.I)
_HEAD = 2_000  # bytes in which a generated file says so


def main() -> None:
    """Answer until stdin ends."""
    _bound_memory()
    for line in sys.stdin.buffer:
        root, file, language, chunks = json.loads(line)
        _start_clock(CPU_SECONDS)
        answer = examine_file(root, file, language, chunks=chunks)
        _start_clock(0)
        sys.stdout.buffer.write(answer + b"\n")
        sys.stdout.buffer.flush()


def examine_file(root: str, file: str, language: str, *, chunks: bool) -> bytes:
    """One file as a JSON line: ["ok", digest, clean, outline, chunks], or ["skipped", reason]."""
    try:
        with os.fdopen(open_beneath(root, file), "rb") as opened:  # what was no link when it was found may be one now
            source = opened.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        return _skipped(f"cannot be read ({error.strerror or error})")
    if reason := find_unfit_reason(source):
        return _skipped(reason)
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        source = source.decode("utf-16", "replace").encode()
    try:
        outline = parse(source, language)
    except GrammarMissing as missing:
        return _skipped(str(missing))
    kept = redact(outline.to_json())
    if kept.findings and not _is_json(kept.text):
        return _skipped("its names hold a secret")
    found = split_chunks(source.decode("utf-8", "replace"), outline) if chunks else []
    clean = not any(scan(text) for one in found for text in (one.text, one.name)) and not scan(file)
    head = json.dumps(["ok", hash_source(source), clean])[:-1]
    body = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"{head},{kept.text},{body}]".encode("utf-8", "surrogatepass")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def find_unfit_reason(source: bytes) -> str:
    """Why a file is not parsed; nothing when it is."""
    if len(source) > MAX_FILE_BYTES:
        return f"larger than {MAX_FILE_BYTES // 1_000_000} MB"
    if b"\0" in source[:8_000] and not source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "binary"
    if _GENERATED.search(source[:_HEAD]):
        return "generated"
    if len(source) > MAX_LINE_CHARS and max(map(len, source.split(b"\n"))) > MAX_LINE_CHARS:
        return "minified or generated: a line is longer than anybody writes"
    return ""


def hash_source(source: bytes) -> str:
    return blake2b(source, digest_size=16).hexdigest()


def _skipped(reason: str) -> bytes:
    return json.dumps(["skipped", reason]).encode()


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # a system without limits: the parent's patience is the only one
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, hard))


def _start_clock(seconds: float) -> None:
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)


if __name__ == "__main__":
    main()
