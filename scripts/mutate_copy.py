"""The private copy of the tree in which mutants live, and the map from lines to the tests that run them.

The copy has a virtual environment of its own whose packages are those of the running one, so that child processes
import the copy too. The map is a file in `.mutate/`, built once; test files that changed since are traced again.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MAP = ROOT / ".mutate" / "map.db"
NOT_RUN = (
    "tests/hosts/",  # real clients: `make hosts` starts them
    "tests/house/test_imports.py",  # these three read sources
    "tests/house/test_modules.py",
    "tests/house/test_signatures.py",
)
SLOW_TO_LOAD = ("tests/adapters/", "tests/faults/", "tests/embed/", "tests/models/")
_TRACE_CHILDREN = (
    "import os; exec('if os.environ.get(\"COVERAGE_PROCESS_START\"):\\n import coverage\\n coverage.process_startup()')"
)
_NEEDS_MODELS = "tests/embed/"

_TABLES = """
    create table if not exists tests(
        name text primary key, file text not null, seconds real not null, outcome text not null);
    create table if not exists lines(
        test text not null, source text not null, digest text not null, bitmap blob not null);
    create index if not exists lines_by_source on lines(source);
    create index if not exists lines_by_test on lines(test);
    create table if not exists sources(digest text primary key, text text not null);
    create table if not exists traced(file text primary key, digest text not null);
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pytest process ended: its exit code, the first test that failed, and what each test did."""

    code: int
    timed_out: bool
    tests: dict[str, dict[str, Any]]
    output: str

    @property
    def failed(self) -> str | None:
        return next((name for name, test in self.tests.items() if test["outcome"] == "failed"), None)


class Copy:
    """A tree of its own: what git tracks and what is new, never the checkout itself."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "tree"
        self._scratch = folder
        self._writes = 0
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "-co", "--exclude-standard", "-z"], capture_output=True, check=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        self.python = self._environment()

    def _environment(self) -> Path:
        target = self.root / ".venv"
        venv.create(target, with_pip=False)
        site = next((target / "lib").glob("python*/site-packages"))
        packages = [path for path in sys.path if path.endswith("site-packages")]
        (site / "aaa.pth").write_text(
            "\n".join([str(self.root / "src"), *packages, _TRACE_CHILDREN]) + "\n", encoding="utf-8"
        )
        binaries = Path(sys.executable).parent
        for name in ("recollect", "recollect-hook"):
            if (script := binaries / name).exists():
                _, _, body = script.read_text(encoding="utf-8").partition("\n")
                (target / "bin" / name).write_text(f"#!{target / 'bin' / 'python'}\n{body}", encoding="utf-8")
                (target / "bin" / name).chmod(0o755)
        if (share := binaries.parent / "share").exists():
            (target / "share").symlink_to(share)
        return target / "bin" / "python"

    def write(self, path: str, text: str) -> None:
        """Put `text` at `path`. Compiled files are told apart by their time, so every write has a time of its own."""
        target = self.root / path
        target.write_text(text, encoding="utf-8")
        self._writes += 1
        moment = target.stat().st_mtime + self._writes
        os.utime(target, (moment, moment))

    def run(
        self,
        tests: Sequence[str],
        files: Iterable[str],
        *,
        timeout: float,
        trace: Path | None = None,
        stop: bool = True,
    ) -> Outcome:
        """Run `tests` in this order (all of `files` when empty) until one fails; `timeout` is in seconds of CPU."""
        report, order = self._scratch / "report.json", self._scratch / "tests.txt"
        report.unlink(missing_ok=True)
        names = sorted(set(files))
        home = self._scratch / "home"
        home.mkdir(exist_ok=True)
        environment = {
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("RECOLLECT_", "COV", "MUTATE", "PYTHONDONTWRITE"))
            },
            "HOME": str(home),
            "PYTHONPATH": os.pathsep.join([str(self.root / "src"), str(Path(__file__).parent)]),
            "MUTATE_REPORT": str(report),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # what others brought along takes longer to load than our tests
            "TMPDIR": str(self._scratch),
        }
        if names and names[0].startswith(_NEEDS_MODELS):
            environment["RECOLLECT_MODELS"] = str(self.python.parents[1] / "share" / "models")
        if tests:
            order.write_text("\n".join(tests), encoding="utf-8")
            environment["MUTATE_TESTS"] = str(order)
        if trace:
            environment["MUTATE_TRACE"] = str(trace)
        base = self._scratch / "basetemp"
        command = [str(self.python), "-m", "pytest", "-p", "mutate_pytest", "--tb=line", f"--basetemp={base}", *names]
        process = subprocess.Popen(
            [*command, *(["-x"] if stop else [])],
            cwd=self.root,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (int(timeout), int(timeout) + 5)),
        )
        timed_out = False
        try:
            output, _ = process.communicate(timeout=timeout * 5)  # a busy machine is slow; a hang is slower
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        timed_out = timed_out or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        found = json.loads(report.read_text("utf-8")) if report.exists() else {}
        shutil.rmtree(base, ignore_errors=True)
        return Outcome(process.returncode, timed_out, found, output)


class Map:
    """Which tests ran which line, how long each took, and the sources as they were then."""

    def __init__(self, path: Path = MAP) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path)
        self._db.executescript(_TABLES)
        self._moved: dict[tuple[str, str], dict[int, int]] = {}

    def stale(self) -> list[str]:
        """The test files that were never traced, or were traced with another text."""
        known = dict(self._db.execute("select file, digest from traced"))
        return [name for name, digest in _test_files().items() if known.get(name) != digest]

    def trace(self, copy: Copy, files: Sequence[str], *, timeout: float) -> None:
        """Run `files` under coverage, one context per test, and take in what they ran."""
        from coverage import CoverageData

        with tempfile.TemporaryDirectory(dir=copy.root.parent) as folder:
            data, settings = Path(folder, "data"), Path(folder, "settings")
            settings.write_text(
                f"[run]\ndata_file = {data}\nparallel = true\nsource = {copy.root / 'src' / 'recollect'}\n"
                "context = ${MUTATE_CONTEXT-}\ndisable_warnings = no-data-collected,module-not-imported\n",
                encoding="utf-8",
            )
            outcome = copy.run((), files, timeout=timeout, trace=settings, stop=False)
            ran: dict[tuple[str, str], set[int]] = {}
            for part in sorted(Path(folder).glob("data*")):
                measured = CoverageData(str(part))
                try:
                    measured.read()
                except Exception as error:  # a killed child leaves half a file
                    print(f"  left out {part.name}: {error}", file=sys.stderr)
                    continue
                for source in measured.measured_files():
                    name = str(Path(source).relative_to(copy.root))
                    for line, contexts in measured.contexts_by_lineno(source).items():
                        for context in contexts:
                            if context:
                                ran.setdefault((context, name), set()).add(line)
        digests = _test_files()
        with self._db:
            for file in files:
                self._db.execute("delete from lines where test in (select name from tests where file = ?)", (file,))
                self._db.execute("delete from tests where file = ?", (file,))
                self._db.execute("insert or replace into traced values (?, ?)", (file, digests[file]))
            self._db.executemany(
                "insert or replace into tests values (?, ?, ?, ?)",
                [(name, name.split("::")[0], t["seconds"], t["outcome"]) for name, t in outcome.tests.items()],
            )
            texts = {source: (copy.root / source).read_text("utf-8") for _, source in ran}
            self._db.executemany(
                "insert or ignore into sources values (?, ?)", [(_digest(text), text) for text in texts.values()]
            )
            self._db.executemany(
                "insert into lines values (?, ?, ?, ?)",
                [(test, source, _digest(texts[source]), _bitmap(lines)) for (test, source), lines in ran.items()],
            )
        failed = [name for name, test in outcome.tests.items() if test["outcome"] == "failed"]
        print(f"  {len(outcome.tests)} tests, {len(failed)} failed under trace, exit {outcome.code}", flush=True)
        for name in failed:
            print(f"    {name}: {outcome.tests[name].get('why', '')[-160:]!r}", flush=True)

    def tests_of(self, path: str, text: str, lines: Iterable[int]) -> dict[str, float]:
        """The tests that ran any of these lines of `path`, whose text is now `text`, and the seconds each took.
        Lines that are new since ran in no test of the map: then all of the file's tests are meant."""
        wanted: dict[str, set[int]] = {}
        for digest, old in self._db.execute(
            "select digest, text from sources where digest in (select digest from lines where source = ?)", (path,)
        ):
            moved = self._moved.setdefault((digest, path), _moved_lines(old, text))
            known = {moved[line] for line in lines if line in moved}
            wanted[digest] = known or set(range(1, len(old)))
        found = self._db.execute(
            "select test, seconds, digest, bitmap from lines join tests on name = test"
            " where source = ? and outcome != 'skipped'",
            (path,),
        )
        return {
            test: seconds for test, seconds, digest, bitmap in found if not wanted[digest].isdisjoint(_numbers(bitmap))
        }

    def tests_in(self, files: Iterable[str]) -> dict[str, float]:
        """The tests of these files, and the seconds each took."""
        return {
            name: seconds
            for file in files
            for name, seconds in self._db.execute(
                "select name, seconds from tests where file = ? and outcome != 'skipped'", (file,)
            )
        }

    def failed(self) -> list[str]:
        """The tests that failed when they were traced; most of them because they were."""
        return [name for (name,) in self._db.execute("select name from tests where outcome = 'failed'")]


def _moved_lines(old: str, new: str) -> dict[int, int]:
    """For each line of `new` that `old` has too: its number there."""
    matcher = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines(), autojunk=False)
    return {
        block.b + offset + 1: block.a + offset + 1
        for block in matcher.get_matching_blocks()
        for offset in range(block.size)
    }


def _test_files() -> dict[str, str]:
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if not (name := str(path.relative_to(ROOT))).startswith(NOT_RUN)
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _bitmap(lines: Iterable[int]) -> bytes:
    bits = bytearray(max(lines, default=0) // 8 + 1)
    for line in lines:
        bits[line // 8] |= 1 << line % 8
    return bytes(bits)


def _numbers(bitmap: bytes) -> set[int]:
    return {8 * place + bit for place, byte in enumerate(bitmap) for bit in range(8) if byte >> bit & 1}
