"""How fast and how small the store is: every figure a ratio to plain SQLite, or to a peer, inside the same run.

Product and baseline take turns in small blocks, in random order, in one temporary directory. Each shows its min and its
p50, because other work on the machine can only make a block slower. Needs nothing but an installed Recollect; `typer`
and the peers are installed into a throw-away environment, and left out with a word where that fails.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import shake_256
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

HERE = Path(__file__).resolve()
sys.path[0] = str(HERE.parents[1] / "src")  # not this folder: its secrets.py would hide the standard library's
import apsw  # noqa: E402

import recollect  # noqa: E402
from recollect.config import Settings  # noqa: E402
from recollect.core.fields import COLUMNS  # noqa: E402
from recollect.core.query import Query  # noqa: E402
from recollect.recall.question import read  # noqa: E402
from recollect.recall.recipes import RECIPES  # noqa: E402
from recollect.store.sqlite.match import any_of, terms  # noqa: E402

SEED = 20260101
MILLION = 1_000_000
BASE = 10_000  # memories in the store that single writes and one-shot commands meet
FRESH = 5_000_000  # number of the first text that no base store holds
CHUNK = 100_000  # memories of one import when a store is filled
BLOCK = 10  # writes before the next arm has its turn
WARM = 10  # questions asked before the clock counts
DIMENSIONS = 256  # of the stand-in embedding that the peers are given
SETTINGS = Settings(embedder="none")  # the store alone: no model is loaded or timed
SAME, BARE, MATCH = "raw, same tables", "raw, bare table", "raw, MATCH alone"
PRAGMAS = (
    "trusted_schema = off", "cell_size_check = on", "mmap_size = 0", "temp_store = memory", "cache_size = -16384",
    "journal_mode = wal", "synchronous = full", "secure_delete = on", f"journal_size_limit = {16 * 2**20}",
)  # fmt: skip
BASELINES = f"""\
*{SAME}*: apsw on a store that Recollect made, the same pragmas, `begin immediate`, precomputed values of the same
rows into `memories`, `keywords` (FTS5) and `log`, `commit` with `synchronous = full`. Goals are judged against it.
*{BARE}*: the `memories` row alone, into a table with no index but its key; same pragmas, same commit."""


# --- material -----------------------------------------------------------------------------------------------------


class Material:
    """Real sentences where the data is at hand, invented ones otherwise."""

    def __init__(self, data: Path) -> None:
        file = data / "conv/locomo_conversations_0-4.json"
        self.origin = "of LoCoMo dialogues" if file.exists() else "made from an invented vocabulary"
        self.sentences, self.questions = _spoken(file) if file.exists() else _invented()

    def texts(self, n: int, start: int = 0) -> list[str]:
        """Text number `start` and those after it: two sentences each, no two texts alike."""
        size = len(self.sentences)
        pairs = ((i % size, (i % size + i // size + 1) % size) for i in range(start, start + n))
        return [f"{self.sentences[one]} {self.sentences[other]}" for one, other in pairs]


def _spoken(file: Path) -> tuple[list[str], list[str]]:
    talks = json.loads(file.read_text(encoding="utf-8"))
    sessions = (part for talk in talks for part in talk["conversation"].values() if isinstance(part, list))
    sentences = (said for part in sessions for turn in part for said in re.split(r"(?<=[.!?])\s+", turn["text"]))
    questions = [str(asked["question"]) for talk in talks for asked in talk["qa"]]
    return list(dict.fromkeys(said.strip() for said in sentences if len(said.split()) >= 5)), questions


def _invented() -> tuple[list[str], list[str]]:
    chance = random.Random(SEED)
    syllables = [a + b for a in "bdfgklmnprstvw" for b in ("a", "e", "i", "o", "un", "er")]
    words = list({"".join(chance.choices(syllables, k=chance.choice((2, 3, 3, 4)))): None for _ in range(6000)})
    common = [1 / rank for rank in range(1, len(words) + 1)]  # as in any language
    made = [" ".join(chance.choices(words, common, k=chance.randint(6, 14))).capitalize() + "." for _ in range(6000)]
    return made, ["What about " + " ".join(chance.sample(words, 3)) + "?" for _ in range(500)]


# --- measuring ----------------------------------------------------------------------------------------------------


class Taken(NamedTuple):
    wall: float  # seconds
    cpu: float


Times: TypeAlias = dict[str, list[Taken]]


def timed(act: Callable[..., object], *given: object) -> Taken:
    wall, cpu = time.perf_counter(), time.process_time()
    act(*given)
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def alternate(arms: Mapping[str, Callable[[], Taken]], *, rounds: int, block: int = 1) -> Times:
    """Every arm `block` times, in random order, `rounds` times over."""
    chance, times = random.Random(SEED), {name: list[Taken]() for name in arms}
    for _ in range(rounds):
        for name in chance.sample(sorted(arms), len(arms)):
            times[name] += [arms[name]() for _ in range(block)]
    return times


def at(part: float, values: Sequence[float]) -> float:
    """The value that this part of all values stays below."""
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def p50(taken: Sequence[Taken]) -> float:
    return at(0.5, [one.wall for one in taken])


def least(taken: Sequence[Taken]) -> float:
    return min(one.wall for one in taken)


def table(head: str, rows: Sequence[Sequence[object]]) -> str:
    rule = "|" + " --- |" + " ---: |" * head.count(" | ")
    return "\n".join([f"| {head} |", rule, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


def compared(times: Times, baseline: str) -> str:
    """Milliseconds of every arm and its ratios to the baseline."""

    def figures(taken: Sequence[Taken]) -> list[float]:
        wall, cpu = [one.wall for one in taken], [one.cpu for one in taken]
        return [min(wall), at(0.5, wall), at(0.95, wall), min(cpu), at(0.5, cpu)]

    base, rows = figures(times[baseline]), []
    for name, taken in times.items():
        own = figures(taken)
        ratios = [own[i] / max(base[i], 1e-9) for i in (1, 0, 4, 3)]
        rows.append((name, len(taken), *(f"{1e3 * one:,.2f}" for one in own), *(f"{one:.2f}" for one in ratios)))
    head = "n | min ms | p50 ms | p95 ms | CPU min ms | CPU p50 ms | × p50 | × min | × CPU p50 | × CPU min"
    return table(f"arm | {head}", rows)


@dataclass
class Bench:
    """One run: where, with what, how much, and the goals it has judged so far."""

    folder: Path
    material: Material
    rows: list[int]
    quick: bool
    goals: list[tuple[str, str, str, str]] = field(default_factory=list)
    _bases: dict[int, Path] = field(default_factory=dict)
    _names: Iterator[int] = field(default_factory=count)

    def rounds(self, n: int) -> int:
        return max(2, n // 5) if self.quick else n

    def judge(self, goal: str, limit: float, found: float, unit: str = "×") -> None:
        met = "yes" if found <= limit else "**no**"
        self.goals.append((goal, f"≤ {limit:g}{unit}", f"{found:.3g}{unit}", met))

    def judge_times(self, goal: str, limit: float, product: Sequence[Taken], raw: Sequence[Taken]) -> None:
        """By p50 and by min: on a busy disk the sync hides what the product adds, and only the min still shows it."""
        typical, best = p50(product) / p50(raw), least(product) / least(raw)
        met = {(True, True): "yes", (True, False): "**p50 only**", (False, True): "**min only**"}
        verdict = met.get((typical <= limit, best <= limit), "**no**")
        self.goals.append((goal, f"≤ {limit:g}×", f"p50 {typical:.2f}×, min {best:.2f}×", verdict))

    def path(self, suffix: str = ".db") -> Path:
        return self.folder / f"{next(self._names)}{suffix}"

    def base(self, rows: int) -> Path:
        """A settled store of that many memories, made once. Facts up to one import, then episodes: those are not
        weighed against all that came before, which would only make the filling longer."""
        if rows not in self._bases:
            path = self._bases[rows] = self.path()
            with open_memory(path) as memory:
                for start in range(0, rows, CHUNK):
                    texts = self.material.texts(min(CHUNK, rows - start), start)
                    memory.remember_all([recollect.Draft(t, kind="episode" if start else "fact") for t in texts])
                memory.store.engine.checkpoint()
        return self._bases[rows]

    def copy(self, rows: int) -> Path:
        return Path(shutil.copy(self.base(rows), self.path()))

    @cached_property
    def environment(self) -> str:
        """The Python of an environment that goes away with this run."""
        subprocess.run([sys.executable, "-m", "venv", str(self.folder / "env")], check=True)
        return str(self.folder / "env/bin/python")

    def install(self, package: str) -> str:
        """Install into that environment; why it failed, or nothing."""
        command = [self.environment, "-m", "pip", "install", "-q", package]
        done = subprocess.run(command, capture_output=True, text=True)
        return "" if done.returncode == 0 else f"does not install here ({(done.stderr.splitlines() or ['?'])[-1]})"


def open_memory(path: Path | str) -> recollect.Recollect:
    return recollect.open(path, project="bench", actor="bench", settings=SETTINGS)


def remember_all(memory: recollect.Recollect, texts: Sequence[str]) -> None:
    memory.remember_all([recollect.Draft(text) for text in texts])


class Child:
    """Another process that answers each line with a line of JSON."""

    def __init__(self, python: str, *words: str, env: Mapping[str, str] | None = None) -> None:
        self._process = subprocess.Popen(
            [python, str(HERE), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env, text=True
        )

    def ask(self, line: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        return json.loads(self._process.stdout.readline())

    def end(self) -> None:
        self._process.communicate()


# --- plain SQLite -------------------------------------------------------------------------------------------------


class Prepared(NamedTuple):
    """The values of some rows, worked out before any clock starts."""

    memories: list[tuple[Any, ...]]
    keywords: list[tuple[Any, ...]]
    log: list[tuple[Any, ...]]

    def each(self) -> Iterator[Prepared]:
        return (Prepared([one], [two], [three]) for one, two, three in zip(*self, strict=True))


def prepare(texts: Sequence[str], after: int) -> Prepared:
    """The rows Recollect would write for these texts behind `after` others."""
    with open_memory(":memory:") as memory:
        remember_all(memory, texts)
        rows = memory.store.engine.rows
        memories = [(row[0] + after, *row[1:]) for row in rows("select * from memories order by seq")]
        keywords = [(row[0] + after, *row[1:]) for row in rows("select * from keyword_source order by seq")]
        log = [(None, *row[1:]) for row in rows("select * from log where action = 'add' order by number")]
    return Prepared(memories, keywords, log)


def connect(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    for pragma in PRAGMAS:
        connection.execute(f"pragma {pragma}")
    return connection


_COLUMNS = f"seq, {', '.join(COLUMNS)}, checksum"
_MARKS = ", ".join("?" * (len(COLUMNS) + 2))
_MEMORY = f"insert into memories ({_COLUMNS}) values ({_MARKS})"
_KEYWORD = "insert into keywords (rowid, body, names, context) values (?, ?, ?, ?)"
_LOG = f"insert into log values ({', '.join('?' * 15)})"
_BARE = f"insert into bare ({_COLUMNS}) values ({_MARKS})"


def insert_same(connection: apsw.Connection, some: Prepared) -> None:
    connection.execute("begin immediate")
    connection.executemany(_MEMORY, some.memories)
    connection.executemany(_KEYWORD, some.keywords)
    connection.executemany(_LOG, some.log)
    connection.execute("commit")


def insert_bare(connection: apsw.Connection, some: Prepared) -> None:
    connection.execute("begin immediate")
    connection.executemany(_BARE, some.memories)
    connection.execute("commit")


def connect_bare(path: Path) -> apsw.Connection:
    connection = connect(path)
    connection.execute(f"create table bare ({_COLUMNS.replace('seq', 'seq integer primary key', 1)})")
    return connection


# --- writing ------------------------------------------------------------------------------------------------------


def write(bench: Bench) -> str:
    """Single durable writes into a store that is in use."""
    rounds = bench.rounds(40)
    texts = bench.material.texts(rounds * BLOCK, FRESH)
    rows = prepare(texts, BASE)
    said, one, other = iter(texts), rows.each(), rows.each()
    same, bare = connect(bench.copy(BASE)), connect_bare(bench.path())
    with open_memory(bench.copy(BASE)) as memory:
        arms = {
            "recollect, remember": lambda: timed(memory.remember, next(said)),
            SAME: lambda: timed(insert_same, same, next(one)),
            BARE: lambda: timed(insert_bare, bare, next(other)),
        }
        times = alternate(arms, rounds=rounds, block=BLOCK)
    bench.judge_times("one durable remember against raw", 1.5, times["recollect, remember"], times[SAME])
    about = f"Into a store of {BASE:,} memories; blocks of {BLOCK}, {rounds} rounds."
    return f"## One durable write\n\n{about}\n\n{compared(times, SAME)}"


def batch(bench: Bench) -> str:
    """Imports in one transaction, into an empty store and into one that is in use."""
    parts = ["## Batch import\n\nOne transaction, one sync at its end."]
    cases = [(rows, held) for rows in bench.rows if rows < MILLION for held in (0, BASE) if not held or rows <= BASE]
    for rows, held in cases:
        rounds = bench.rounds(5 if rows <= BASE else 3)
        times = _imports(bench, rows, held, rounds)
        what = f"import of {rows:,} into " + (f"a store of {held:,}" if held else "an empty store")
        bench.judge_times(f"{what} against raw", 3, times["recollect, remember_all"], times[SAME])
        parts.append(f"An {what}, {rounds} rounds:\n\n{compared(times, SAME)}")
    return "\n\n".join(parts)


def _imports(bench: Bench, rows: int, held: int, rounds: int) -> Times:
    texts = bench.material.texts(rows, FRESH)
    values = prepare(texts, held)

    def product() -> Taken:
        with open_memory(bench.copy(held)) as memory:
            return _undisturbed(remember_all, memory, texts)

    def same() -> Taken:
        return _undisturbed(insert_same, connect(bench.copy(held)), values)

    def bare() -> Taken:
        return _undisturbed(insert_bare, connect_bare(bench.path()), values)

    return alternate({"recollect, remember_all": product, SAME: same, BARE: bare}, rounds=rounds)


def _undisturbed(act: Callable[..., object], *given: object) -> Taken:
    """What the benchmark itself holds must not slow the collector of the arm that is measured."""
    gc.collect()
    gc.freeze()
    return timed(act, *given)


# --- reading ------------------------------------------------------------------------------------------------------

_RANKED = (
    "select rowid, bm25(keywords, ?, ?, ?) as rank from keywords where keywords match ? order by rank, rowid limit ?"
)
_COUNTED = "select count(*) from keywords where keywords match ?"


def recall(bench: Bench) -> str:
    """Keyword recall at every size against the bare MATCH it is built on."""
    parts = [
        "## Keyword recall\n\n`recall(question, track=False)` with real questions, against the same MATCH expression "
        "sent to FTS5 alone (ranked, limited, no row read). Few distinct sentences make common words: see the share. "
        "The min is that of the cheapest question."
    ]
    for rows in bench.rows:
        n = bench.rounds(200 if rows < MILLION else 100)
        with open_memory(bench.base(rows)) as memory:
            times, matched = _asked(memory, random.Random(SEED).sample(bench.material.questions, n))
        parts.append(
            f"{rows:,} memories; the median question matches {matched / rows:.1%} of them:\n\n{compared(times, MATCH)}"
        )
    return "\n\n".join(parts)


def _asked(memory: recollect.Recollect, questions: Sequence[str]) -> tuple[Times, float]:
    """Each question once by either way, in random order; and how many memories hold a word of the median question."""
    raw, recipe, chance = connect(Path(str(memory.path))), RECIPES[SETTINGS.recipe], random.Random(SEED)
    expressions = [any_of(terms(read(Query(question)))) or '""' for question in questions]
    pairs = list(zip(questions, expressions, strict=True))
    times: Times = {"recollect, recall": [], MATCH: []}
    for question, expression in [*pairs[-WARM:], *pairs]:
        values = (*recipe.columns, expression, 2 * recipe.depth["keyword"])
        arms: dict[str, Callable[[], object]] = {
            "recollect, recall": partial(memory.recall, question, track=False),
            MATCH: partial(_rows, raw, _RANKED, values),
        }
        for name in chance.sample(sorted(arms), 2):
            times[name].append(timed(arms[name]))
    matched = [float(_rows(raw, _COUNTED, (one,))[0][0]) for one in expressions[:30]]
    return {name: taken[WARM:] for name, taken in times.items()}, at(0.5, matched)


def _rows(connection: apsw.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    return connection.execute(sql, values).fetchall()


def size(bench: Bench) -> str:
    """Bytes of the settled file, by what they are spent on."""
    rows = []
    for held in bench.rows:
        path, text = bench.base(held), sum(len(one.encode()) for one in bench.material.texts(held))
        spent: Counter[str] = Counter()
        for name, pages in _rows(connect(path), "select name, sum(pgsize) from dbstat group by name"):
            spent[next((group for start, group in _SPENT.items() if name.startswith(start)), "other")] += pages
        parts = [f"{spent[group] / held:,.0f}" for group in dict.fromkeys([*_SPENT.values(), "other"])]
        whole = path.stat().st_size
        rows.append((f"{held:,}", f"{text / held:,.0f}", f"{whole / held:,.0f}", f"{whole / text:.2f}", *parts))
    head = " | ".join(["memories", "text", "file", "file × text", *dict.fromkeys([*_SPENT.values(), "other"])])
    about = "Bytes per memory after a checkpoint, without vacuum; the reserve and lock files beside it not counted."
    return f"## Size\n\n{about}\n\n{table(head, rows)}"


_SPENT = {
    "keywords": "keywords", "memories_": "row indexes", "sqlite_autoindex_memories": "row indexes", "memories": "rows",
    "log_": "log indexes", "log": "log",
}  # fmt: skip


def lag(bench: Bench) -> str:
    """Is a write readable the moment it returns, here and in another process? Each is asked for in one of them."""
    path, rounds = bench.copy(BASE), bench.rounds(200)
    reader = Child(sys.executable, "--reader", str(path))
    answers: dict[str, list[tuple[bool, float]]] = {"same process": [], "another process": []}
    with open_memory(path) as memory:
        for number, text in enumerate(bench.material.texts(2 * rounds, FRESH)):
            word, where = f"marker{number:05}x", "another process" if number % 2 else "same process"
            id, done = memory.remember(f"{text} ({word})").id, time.monotonic()
            found, when = reader.ask(f"{word} {id}") if number % 2 else _found(memory, word, id)
            answers[where].append((found, 1e3 * (when - done)))
    reader.end()
    rows = []
    for where, given in answers.items():
        missed, waited = sum(not found for found, _ in given), [waited for _, waited in given]
        bench.judge(f"of {len(given)} writes not found by the first recall, {where}", 0, missed, "")
        rows.append((where, len(given), missed, *(f"{at(part, waited):.2f}" for part in (0, 0.5, 0.95))))
    about = (
        "Every write is asked for once, at once, by a word that only it holds. The time runs from the return of "
        "`remember` to the end of that recall, so it holds one recall and, between processes, a pipe."
    )
    return f"## From write to readable\n\n{about}\n\n{table('reader | n | missed | min ms | p50 ms | p95 ms', rows)}"


def _found(memory: recollect.Recollect, word: str, id: str) -> tuple[bool, float]:
    return id in {hit.id for hit in memory.recall(word, track=False)}, time.monotonic()


def serve_reader(path: Path) -> None:
    """The other process: recall each word the instant it is named."""
    with open_memory(path) as memory:
        for line in sys.stdin:
            print(json.dumps(_found(memory, *line.split())), flush=True)


# --- start-up -----------------------------------------------------------------------------------------------------

_STRANGERS = """
import sys
known = set(sys.modules)
{load}
names = {{name.partition('.')[0] for name in set(sys.modules) - known}}
print(*sorted(names - set(sys.stdlib_module_names) - {{'recollect', '__main__', '__mp_main__'}}), file=sys.stderr)
"""
_PASS, _IMPORT, _RECALL = "`python -c pass`", "`python -c 'import recollect'`", "`recollect recall WORD --no-track`"
_TRACKED, _TYPER = "`recollect recall WORD`", "`python -c 'import typer'`"


def start(bench: Bench) -> str:
    """One-shot processes, in CPU seconds of the process itself."""
    word = max(re.findall(r"[a-z]+", bench.material.sentences[0]), key=len)
    asked = ["--store", str(bench.copy(BASE)), "recall", word]
    program = Path(sys.executable).with_name("recollect")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "recollect"]
    commands = {
        _PASS: [sys.executable, "-c", "pass"],
        _IMPORT: [sys.executable, "-c", "import recollect"],
        _RECALL: [*command, *asked, "--no-track"],
        _TRACKED: [*command, *asked],
    }
    if not (trouble := bench.install("typer")):
        commands[_TYPER] = [bench.environment, "-c", "import typer"]
    home = {name: str(bench.folder / "home") for name in ("XDG_DATA_HOME", "APPDATA")}  # nobody's own memories
    own = {"RECOLLECT_EMBEDDER": SETTINGS.embedder, "PYTHONPYCACHEPREFIX": str(bench.folder / "bytecode")}
    env = {**os.environ, **home, **own}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode; the first round writes it
    arms = {name: partial(_child, words, env) for name, words in commands.items()}
    alternate(arms, rounds=1)
    times = alternate(arms, rounds=max(7, bench.rounds(21)))
    main = f"from recollect.interfaces.cli import main; main({[*asked, '--no-track']!r})"
    imported, recalled = _strangers("import recollect", env), _strangers(main, env)
    _judge_start(bench, times, imported, recalled)
    notes = (
        f"The store of the recall holds {BASE:,} memories. Third-party modules after `import recollect`: "
        f"{', '.join(imported) or 'none'}; after `recollect recall`: {', '.join(recalled) or 'none'}."
    )
    notes += f" typer {trouble}, so ratios are to bare Python." if trouble else ""
    return f"## Start-up\n\n{notes}\n\n{compared(times, _PASS if trouble else _TYPER)}"


def _child(words: Sequence[str], env: Mapping[str, str]) -> Taken:
    begun = time.perf_counter()
    process = subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{words} failed with {process.returncode}")
    return Taken(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime)


def _strangers(load: str, env: Mapping[str, str]) -> list[str]:
    """The modules from neither the standard library nor Recollect that `load` brings in."""
    command = [sys.executable, "-c", _STRANGERS.format(load=load)]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stderr.split()


def _judge_start(bench: Bench, times: Times, imported: list[str], recalled: list[str]) -> None:
    cpu = {name: min(one.cpu for one in taken) for name, taken in times.items()}
    bench.judge("`import recollect` over bare Python, CPU min", 60, 1e3 * (cpu[_IMPORT] - cpu[_PASS]), " ms")
    bench.judge("third-party modules after `import recollect`", 0, len(imported), "")
    bench.judge("numpy or pydantic loaded by `recollect recall`", 0, len({"numpy", "pydantic"} & set(recalled)), "")
    for name in (_RECALL, _TRACKED) if _TYPER in cpu else ():
        bench.judge(f"{name} against `import typer`, CPU min", 1.5, cpu[name] / cpu[_TYPER])


# --- peers --------------------------------------------------------------------------------------------------------

Add: TypeAlias = Callable[[list[str]], object]  # remembers some texts with one call
_PEERS = {"chromadb": "chromadb", "mem0": "mem0ai"}  # and the package that brings it
_PEER_NOTES = f"""\
Each in a process of its own, all in one environment, default settings, telemetry off, one call for a batch. Peers
get a stand-in embedding (a hash, {DIMENSIONS} numbers), so no model is loaded or timed; Recollect keeps no vectors
here, so they store more. mem0: `infer=False`, local Qdrant (its default store) and SQLite history, its embedder
replaced after construction because its configuration admits no custom one. Recollect syncs every write to disk; the
peers do as they ship."""


def peers(bench: Bench) -> str:
    """The same texts into other memory stores."""
    if trouble := bench.install(f"apsw=={apsw.apsw_version()}"):
        return f"## Peers\n\napsw {trouble}: not compared."
    missing = {name: trouble for name, package in _PEERS.items() if (trouble := bench.install(package))}
    names = ["recollect", *(name for name in _PEERS if name not in missing)]
    served = {name: _peer(bench, name) for name in names}
    texts = {name: iter(bench.material.texts(30_000, FRESH)) for name in names}
    parts = [f"## Peers\n\n{_PEER_NOTES}", *(f"{name}: {trouble}." for name, trouble in missing.items())]
    for n, rounds, block in ((1, bench.rounds(15), BLOCK), (1000, bench.rounds(5), 1), (BASE, 2, 1)):
        arms = {name: partial(_add, served[name], texts[name], n) for name in names if (name, n) != ("mem0", BASE)}
        parts.append(f"{n:,} a call:\n\n{compared(alternate(arms, rounds=rounds, block=block), 'recollect')}")
    versions = [f"{name} {peer.ask('version')}" for name, peer in served.items()]
    for peer in served.values():
        peer.end()
    return "\n\n".join([*parts, f"Versions: {', '.join(versions)}."])


def _peer(bench: Bench, name: str) -> Child:
    folder = bench.path("")
    folder.mkdir()
    quiet = {"MEM0_TELEMETRY": "False", "ANONYMIZED_TELEMETRY": "False", "OPENAI_API_KEY": "unused"}
    env = {**os.environ, **quiet, "MEM0_DIR": str(folder)}
    return Child(bench.environment, "--serve", name, str(folder), env=env)


def _add(peer: Child, texts: Iterator[str], n: int) -> Taken:
    return Taken(*peer.ask(json.dumps([next(texts) for _ in range(n)])))


def serve_peer(name: str, folder: Path) -> None:
    replies, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no reply
    version, add = _SERVED[name](folder)
    for line in sys.stdin:
        reply = version if line.strip() == "version" else timed(add, json.loads(line))
        print(json.dumps(reply), file=replies, flush=True)


def _serve_recollect(folder: Path) -> tuple[str, Add]:
    return recollect.__version__, partial(remember_all, open_memory(folder / "store.db"))


def _serve_chromadb(folder: Path) -> tuple[str, Add]:
    chromadb = import_module("chromadb")
    client, numbers = chromadb.PersistentClient(str(folder)), count()
    collection, most = client.create_collection("bench", embedding_function=None), client.get_max_batch_size()

    def add(texts: list[str]) -> None:
        for some in (texts[begin : begin + most] for begin in range(0, len(texts), most)):
            ids = [str(next(numbers)) for _ in some]
            collection.add(ids=ids, documents=some, embeddings=[_embedding(text) for text in some])

    return str(chromadb.__version__), add


def _serve_mem0(folder: Path) -> tuple[str, Add]:
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIMENSIONS, "on_disk": True}
    config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(folder / "history.db")}
    mem0 = import_module("mem0")
    memory = mem0.Memory.from_config(config)
    memory.embedding_model = _Embedder()

    def add(texts: list[str]) -> None:
        memory.add([{"role": "user", "content": text} for text in texts], user_id="bench", infer=False)

    return str(mem0.__version__), add


class _Embedder:
    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        return _embedding(text)


def _embedding(text: str) -> list[float]:
    return [byte / 255 for byte in shake_256(text.encode()).digest(DIMENSIONS)]


_SERVED = {"recollect": _serve_recollect, "chromadb": _serve_chromadb, "mem0": _serve_mem0}


# --- the run ------------------------------------------------------------------------------------------------------

SECTIONS: dict[str, Callable[[Bench], str]] = {
    "write": write, "batch": batch, "recall": recall, "size": size, "start": start, "lag": lag, "peers": peers,
}  # fmt: skip


def report(bench: Bench, chosen: Sequence[str]) -> str:
    load, parts = os.getloadavg()[0], []
    for name in chosen:
        print(f"… {name}", file=sys.stderr, flush=True)
        parts.append(SECTIONS[name](bench))
    head = f"""\
# The store, measured

{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()},
Recollect {recollect.__version__} at {_commit()}; load average {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the
end. `× p50` and `× min` are ratios of wall times, `× CPU` of CPU times.

A memory is a pair of {len(bench.material.sentences):,} sentences {bench.material.origin}, no pair twice. Pairs, not
copies with a running number: Recollect would rightly call those contradictions. No embedder is configured.

{BASELINES}

## Goals

{table("goal | limit | measured | met", bench.goals)}"""
    return "\n\n".join([head, *parts]) + "\n"


def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True).stdout.strip() or "no commit"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=",".join([*SECTIONS][:-1]), help=f"some of {','.join(SECTIONS)}")
    parser.add_argument("--rows", default="10000,100000", help="sizes for batch, recall and size")
    parser.add_argument("--million", action="store_true", help="recall and size at a million, too")
    parser.add_argument("--peers", action="store_true", help="install mem0 and chromadb for this run and compare")
    parser.add_argument("--quick", action="store_true", help="a fifth of the rounds: to see that it runs")
    parser.add_argument("--write", action="store_true", help="store the report in benchmarks/results/store.md")
    parser.add_argument("--data", type=Path, default=HERE.parents[2] / "shared/data")
    parser.add_argument("--reader", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.reader:
        serve_reader(options.reader)
    elif options.serve:
        serve_peer(options.serve[0], Path(options.serve[1]))
    else:
        run(parser, options)


def run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    asked = {*options.only.split(","), *(["peers"] if options.peers else [])}
    if unknown := asked - set(SECTIONS):
        parser.error(f"no such section: {', '.join(sorted(unknown))}")
    rows = sorted({*map(int, options.rows.split(",")), *([MILLION] if options.million else [])})
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", ignore_cleanup_errors=True) as folder:
        bench = Bench(Path(folder), Material(options.data), rows, options.quick)
        text = report(bench, [name for name in SECTIONS if name in asked])
    print(text)
    if options.write:
        (HERE.parent / "results/store.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
