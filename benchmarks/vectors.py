"""How fast, how exact and how large the vector store is, each figure beside numpy's brute force in the same run.

Every question is asked of the store and of `matrix @ question` in turn, in random order, because other work on the
machine can only make either slower: trust the ratio of CPU time, then the min, then the p50. The vectors are invented
(see `ORIGIN`), so recall says how the index does on clustered material; how many cells it probes it finds by itself.
"""

from __future__ import annotations

import argparse
import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve()
sys.path[0] = str(HERE.parents[1] / "src")  # not this folder: its secrets.py would hide the standard library's
os.environ["OPENBLAS_NUM_THREADS"] = "1"  # brute force on one core, as every question is
_BEGAN = time.perf_counter()
import numpy as np  # noqa: E402

NUMPY = (time.perf_counter() - _BEGAN) * 1000  # ms that importing it took
from numpy.typing import NDArray  # noqa: E402

from recollect.core.query import Filter  # noqa: E402
from recollect.store.codes import units  # noqa: E402
from recollect.store.filters import where  # noqa: E402
from recollect.store.migrate import migrate  # noqa: E402
from recollect.store.port import Engine, Space  # noqa: E402
from recollect.store.sqlite import ivf  # noqa: E402
from recollect.store.sqlite.engine import SqliteEngine  # noqa: E402
from recollect.store.sqlite.vectors import SMALL, SqliteVectors  # noqa: E402

Matrix = NDArray[np.float32]

SEED = 20260101
K = 30  # results per question: what the dense channel asks for
QUESTIONS = 100
COLD = 5  # fresh processes
TOPICS, SUBTOPICS, LATENT = 60, 4_000, 96
AT = datetime(2026, 1, 1, tzinfo=UTC)
ORIGIN = f"""\
{TOPICS} topics; up to {SUBTOPICS} subtopics around them (at least 25 vectors each), their sizes falling as rank^-0.7;
each vector a subtopic plus noise in a latent space of {LATENT} dimensions with variances falling as rank^-0.6,
projected at random, plus isotropic noise, normalised. Two views each, at a cosine of about 0.6; held-out questions."""


def invent(n: int, dims: int) -> tuple[Matrix, Matrix]:
    """Vectors and questions that were drawn with them."""
    chance = np.random.default_rng(SEED)
    subtopics = min(SUBTOPICS, max(TOPICS, n // 25))
    spectrum = ((1 + np.arange(LATENT)) ** -0.3).astype(np.float32)
    topics = _normal(chance, TOPICS, LATENT)
    centres = topics[chance.integers(0, TOPICS, subtopics)] + 0.8 * _normal(chance, subtopics, LATENT)
    weight = np.arange(1, subtopics + 1) ** -0.7
    which = chance.choice(subtopics, n + QUESTIONS, p=weight / weight.sum())
    projection = _normal(chance, LATENT, dims)
    found = np.empty((n + QUESTIONS, dims), np.float32)
    for start in range(0, len(found), 20_000):
        some = which[start : start + 20_000]
        latent = (centres[some] + 0.75 * _normal(chance, len(some), LATENT)) * spectrum
        found[start : start + 20_000] = _noisy(chance, units(latent @ projection), 0.35)
    return found[:n], found[n:]


def views(chunk: Matrix, seed: int) -> Matrix:
    """Two views of each vector, on either side of it."""
    noise = 0.5 * units(_normal(np.random.default_rng(seed), *chunk.shape))
    return np.stack((units(chunk + noise), units(chunk - noise)), axis=1)


def _normal(chance: np.random.Generator, rows: int, columns: int) -> Matrix:
    return chance.standard_normal((rows, columns), dtype=np.float32)


def _noisy(chance: np.random.Generator, vectors: Matrix, length: float) -> Matrix:
    return units(vectors + length * units(_normal(chance, *vectors.shape)))


# --- the store ------------------------------------------------------------------------------------------------------

_MEMORY = """
    insert into memories (seq, id, project, kind, content, confidence, created_at, updated_at, accessed_at, source,
        scope, visibility, status, fingerprint, access_count, streak, needs_review, verified, pinned, flagged, revision,
        checksum)
    values (?, ?, 'bench', ?, ?, 0.8, ?, 0, 0, 'agent_explicit', 'global', 'project', 'active', ?, 0, 0, 0, 0, 0, 0, 1,
        0)
"""
_TEXT = "A statement of the length that statements have, with a number in it so that no two are alike: {}. " * 2


def fill(engine: Engine, first: int, count: int) -> None:
    """Memories without a keyword entry: 3 % gotchas, 40 % decisions, the rest facts, 3 % tagged."""
    chance = random.Random(first)
    rows, tags = [], []
    for seq in range(first, first + count):
        draw = chance.random()
        kind = "gotcha" if draw < 0.03 else "decision" if draw < 0.43 else "fact"
        rows.append((seq, _id(seq), kind, _TEXT.format(seq, seq), seq, f"{seq:032x}"))
        if chance.random() < 0.03:
            tags.append(("bench", "tag", "rare", seq))
    engine.execute_many(_MEMORY, rows)
    engine.execute_many("insert into facets (project, facet, value, seq) values (?, ?, ?, ?)", tags)


def _id(seq: int) -> str:
    return f"mem_{seq:012d}"


def opened(path: Path) -> tuple[SqliteEngine, SqliteVectors]:
    engine = SqliteEngine(path)
    migrate(engine)
    return engine, SqliteVectors(engine, "bench")


@dataclass(slots=True)
class Build:
    """What it cost to fill the store."""

    put: float = 0.0
    train: float = 0.0
    bytes: float = 0.0
    cells: int = 1
    probes: int = 1


def build(engine: Engine, vectors: SqliteVectors, space: Space, matrix: Matrix, path: Path) -> tuple[Build, Matrix]:
    """Put everything, train when it is due; the figures, and the matrix that brute force searches."""
    made, means = Build(), np.empty_like(matrix)
    step = 2_000
    for start in range(0, len(matrix), step):
        with engine.write(durable=False):
            fill(engine, start + 1, len(matrix[start : start + step]))
    engine.checkpoint()
    bare = path.stat().st_size
    for start in range(0, len(matrix), step):
        both = views(matrix[start : start + step], start)
        means[start : start + step] = units(both.sum(axis=1))
        began = time.perf_counter()
        vectors.put(space, [(_id(start + row + 1), pair, "0" * 32) for row, pair in enumerate(both)])
        made.put += time.perf_counter() - began
    began = time.perf_counter()
    if vectors.due_for_training(space):
        engine.checkpoint()
        made.bytes = (path.stat().st_size - bare) / len(matrix)
        vectors.train(space)
    made.train = time.perf_counter() - began
    engine.checkpoint()
    made.bytes = made.bytes or (path.stat().st_size - bare) / len(matrix)
    serving = ivf.grids(engine, space.id)[0]
    centres = ivf.centroids(engine, serving, space.dims)
    made.cells, made.probes = (1, 1) if centres is None else (len(centres), serving.needed(K))
    return made, means


# --- measuring ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Times:
    """Milliseconds by the clock, and of this thread's own work."""

    wall: list[float] = field(default_factory=list)
    work: list[float] = field(default_factory=list)

    def take(self, act: Callable[[], object]) -> None:
        began, worked = time.perf_counter(), time.thread_time()
        act()
        self.work.append((time.thread_time() - worked) * 1000)
        self.wall.append((time.perf_counter() - began) * 1000)

    def __str__(self) -> str:
        ordered = sorted(self.wall)
        return " / ".join(f"{ordered[int(len(ordered) * part)]:.2f}" for part in (0, 0.5, 0.95))

    @property
    def cpu(self) -> float:
        """The median of the work: what is left of the time when others do not share the core."""
        return sorted(self.work)[len(self.work) // 2]


def brute(matrix: Matrix, question: Matrix, allowed: NDArray[np.bool_] | None = None) -> set[str]:
    scores = matrix @ question
    if allowed is not None:
        scores = np.where(allowed, scores, -2)
    return {_id(int(row) + 1) for row in np.argpartition(-scores, K)[:K]}


@dataclass(frozen=True, slots=True)
class Arm:
    """One way of asking, with what its filter lets through."""

    name: str
    filter: Filter
    allowed: NDArray[np.bool_] | None


def arms(engine: Engine, n: int) -> Iterator[Arm]:
    for name, filter in (
        ("no filter", Filter()),
        ("3 % by kind", Filter(kinds=frozenset({"gotcha"}))),
        ("40 % by kind", Filter(kinds=frozenset({"decision"}))),
        ("3 % by tag", Filter(tags=frozenset({"rare"}))),
    ):
        condition, params = where(filter, "bench")
        allowed = np.zeros(n, bool)
        for (seq,) in engine.rows(f"select m.seq from memories m where {condition}", params):
            allowed[seq - 1] = True
        yield Arm(name, filter, None if allowed.all() else allowed)


def ask(vectors: SqliteVectors, space: Space, matrix: Matrix, questions: Matrix, arm: Arm) -> str:
    """One line: the times of the store and of brute force, the ratio of their work, and recall."""
    ours, theirs, found = Times(), Times(), 0
    order = random.Random(SEED)

    def store(question: Matrix) -> list[tuple[str, float]]:
        return vectors.search(space, question, limit=K, filter=arm.filter)

    for question in questions[:5]:
        store(question)
    for question in questions:
        turns: list[Callable[[], None]] = [
            lambda q=question: ours.take(lambda: store(q)),  # type: ignore[misc]
            lambda q=question: theirs.take(lambda: brute(matrix, q, arm.allowed)),  # type: ignore[misc]
        ]
        order.shuffle(turns)
        for turn in turns:
            turn()
        true = brute(matrix, question, arm.allowed)
        found += len(true & {id for id, _ in store(question)})
    recall = found / (K * len(questions))
    ratio = f"{ours.cpu:.2f} | {theirs.cpu:.2f} | {ours.cpu / theirs.cpu:.2f}"
    return f"{arm.name} | {ours} | {theirs} | {ratio} | {recall:.4f}"


def single(engine: Engine, vectors: SqliteVectors, space: Space, n: int, matrix: Matrix) -> tuple[Times, Times]:
    """One vector put, and one removed, each in a durable transaction of its own."""
    with engine.write():
        fill(engine, n + 1, 50)
    put, gone = Times(), Times()
    for number in range(50):
        both = views(matrix[number : number + 1], number)[0]
        put.take(lambda: vectors.put(space, [(_id(n + number + 1), both, "0" * 32)]))  # noqa: B023
    for number in range(50):
        gone.take(lambda: vectors.remove([_id(n + number + 1)]))  # noqa: B023
    return put, gone


def cold(path: Path, question: Matrix) -> str:
    """Milliseconds in a fresh process: importing numpy, and from there to the first answer."""
    asked = path.with_suffix(".npy")
    np.save(asked, question)
    runs = []
    for _ in range(COLD):
        command = [sys.executable, str(HERE), "--first", str(path), str(asked)]
        runs.append([float(part) for part in subprocess.check_output(command, text=True).split()])
    columns = [sorted(column) for column in zip(*runs, strict=True)]
    return " | ".join(f"{column[0]:.0f} / {column[len(column) // 2]:.0f}" for column in columns)


def first(path: Path, asked: Path) -> None:
    """What `cold` starts."""
    question = np.load(asked)
    began = time.perf_counter()
    vectors = SqliteVectors(SqliteEngine(path, read_only=True), "bench")
    space = vectors.active()
    assert space is not None
    vectors.search(space, question, limit=K, filter=Filter())
    print(NUMPY, (time.perf_counter() - began) * 1000)


# --- report ---------------------------------------------------------------------------------------------------------


def measure(n: int, dims: int, folder: Path) -> None:
    matrix, questions = invent(n, dims)
    path = folder / f"{n}-{dims}.db"
    engine, vectors = opened(path)
    space = vectors.activate(vectors.begin("bench", dims, AT))
    made, means = build(engine, vectors, space, matrix, path)
    title = f"{n:,} × {dims}"
    print(f"\n### {title}\n")
    print(
        f"put {made.put:.1f} s ({made.put / n * 1e6:.0f} µs each), train {made.train:.1f} s; {made.cells} cells, "
        f"{made.probes} probed; {made.bytes:.0f} bytes per memory (two views in float16 are {4 * dims})\n"
    )
    print("| filter | store ms min / p50 / p95 | numpy f32 ms | store CPU p50 | numpy CPU p50 | ratio | recall@30 |")
    print("|---|---|---|---|---|---|---|")
    for arm in arms(engine, n):
        print(f"| {ask(vectors, space, means, questions, arm)} |", flush=True)
    put, gone = single(engine, vectors, space, n, matrix)
    print(f"\nput one, durable: {put} ms; remove one: {gone} ms")
    engine.close()
    print("cold process, ms min / p50: import numpy | open + first search:", cold(path, questions[0]), flush=True)
    path.unlink()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--million", action="store_true", help="also a million memories: minutes, and 4 GB of disk")
    options.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--dims", type=int, nargs="+", default=[256, 384])
    options.add_argument("--first", nargs=2, type=Path, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.first:
        first(*given.first)
        return
    print(f"# Vector store\n\nPython {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores, load")
    print(f"{os.getloadavg()[0]:.1f} at the start. {QUESTIONS} questions, k = {K}; one cell up to {SMALL:,} vectors.\n")
    print(f"Vectors: {ORIGIN}")
    with tempfile.TemporaryDirectory() as folder:
        for n in [*given.sizes, *([1_000_000] if given.million else [])]:
            for dims in given.dims:
                measure(n, dims, Path(folder))


if __name__ == "__main__":
    main()
