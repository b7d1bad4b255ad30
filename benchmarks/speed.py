"""How fast an answer comes, beside the systems people would use instead, over the same texts, vectors and questions.

    python benchmarks/speed.py --sizes 10000 100000 --write

Every contestant runs in an environment of its own (made on first use), fills an empty folder, and is asked in fresh
processes; all get the same vectors, made beforehand. Recollect answers by its whole pipeline: keyword and dense
channel, evidence, scoring, packing. Peers answer by vectors alone, which is less work, except those marked «hybrid».

- known item: the share of questions whose memory is among the first ten; each question is made from one memory, a few
  of its words and a vector near its own.
- index recall: the share of the exact ten nearest vectors that the vector index finds; for Recollect asked of the index
  itself, since a hybrid answer is meant to differ.
- CPU: milliseconds of work on all threads, the fairest figure on a shared machine.
- first: from the first import in a fresh process to the first answer, file cache warm, starting Python not counted.

Filling stops after `--patience` seconds; a contestant that got less far is measured with what it has, and says so.
`--keep DIR` keeps material and filled stores for the next run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "speed.md"
SEED = 20260101
DIMS = 384
QUESTIONS = 200
COLD = 3  # fresh processes
K = 10
WORDS = 60_000  # in the vocabulary; the rank-th is as frequent as rank^-1
FREQUENT = (  # the first ranks, so that every system can treat them as it treats them in English
    "the of and to in a is that it was for on with as be at by this had not are but from or have an they which one you "
    "were her all she there would their we him been has when who will more no if out so said what up its about into"
).split()
LENGTH = (12, 45)  # words in a text
TOPICS, LATENT, PER_TOPIC = 60, 96, 25
NOISE = 0.6  # length of what is added to a memory's vector to make a question's: leaves a cosine of 0.86

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the table."""

    name: str
    program: str
    needs: tuple[str, ...] = ()  # empty: the environment this runs in
    variables: Mapping[str, str] = field(default_factory=dict)
    filled_by: str = ""  # the entry whose files it asks
    hopeless: float = 1e9  # seconds after which it is plain that filling takes hours


ENTRIES = (
    Entry("recollect", "with_recollect.py"),
    Entry("recollect, tracked", "with_recollect.py", variables={"SPEED_TRACK": "1"}, filled_by="recollect"),
    Entry("chromadb", "with_chromadb.py", ("chromadb>=1,<2", "numpy")),
    Entry("lancedb", "with_lancedb.py", ("lancedb", "pylance", "numpy")),
    Entry("lancedb hybrid", "with_lancedb.py", ("lancedb", "pylance", "numpy"), {"SPEED_HYBRID": "1"}, "lancedb"),
    Entry("sqlite-vec", "with_sqlite_vec.py", ("sqlite-vec", "apsw", "numpy")),
    Entry("txtai", "with_txtai.py", ("torch==2.13.0", "txtai>=9,<10")),
    Entry("txtai hybrid", "with_txtai.py", ("torch==2.13.0", "txtai>=9,<10"), {"SPEED_HYBRID": "1"}),
    Entry("mem0", "with_mem0.py", ("mem0ai>=2,<3", "qdrant-client", "numpy"), hopeless=120),
)


# --- the material ---------------------------------------------------------------------------------------------------


def invent(n: int, folder: Path) -> None:
    """Texts, vectors and questions in `folder`."""
    vectors = _vectors(n)
    chance = random.Random(SEED)
    words = [_word(rank) for rank in range(WORDS)]
    weights = np.cumsum(1 / np.arange(1, WORDS + 1))
    drawn = np.random.default_rng(SEED)
    texts = []
    for number in range(n):
        count = chance.randint(*LENGTH)
        ranks = np.searchsorted(weights, drawn.random(count) * weights[-1])
        texts.append(f"memo{number} " + " ".join(words[rank] for rank in ranks))
    asked = chance.sample(range(n), QUESTIONS)
    questions = [" ".join(chance.sample(texts[number].split()[1:], 5)) for number in asked]
    (folder / "texts.txt").write_text("\n".join(texts), encoding="utf-8")
    (folder / "questions.txt").write_text("\n".join(questions), encoding="utf-8")
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "questions.npy", _near(vectors[asked]))
    (folder / "targets.json").write_text(json.dumps(asked))


def _word(rank: int) -> str:
    """A word for every rank: English as long as it is a frequent one, then invented."""
    if rank < len(FREQUENT):
        return FREQUENT[rank]
    syllables = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
    word = ""
    rank += len(syllables)
    while rank:
        rank, place = divmod(rank, len(syllables))
        word += syllables[place]
    return word


def _vectors(n: int) -> Matrix:
    """Clustered: subtopics of falling size around topics, in a latent space, projected at random."""
    chance = np.random.default_rng(SEED)
    subtopics = min(4_000, max(TOPICS, n // PER_TOPIC))
    spectrum = ((1 + np.arange(LATENT)) ** -0.3).astype(np.float32)
    topics = chance.standard_normal((TOPICS, LATENT), dtype=np.float32)
    centres = topics[chance.integers(0, TOPICS, subtopics)]
    centres = centres + 0.8 * chance.standard_normal((subtopics, LATENT), dtype=np.float32)
    sizes = np.arange(1, subtopics + 1) ** -0.7
    which = chance.choice(subtopics, n, p=sizes / sizes.sum())
    projection = chance.standard_normal((LATENT, DIMS), dtype=np.float32)
    found = np.empty((n, DIMS), np.float32)
    for start in range(0, n, 20_000):
        some = which[start : start + 20_000]
        latent = (centres[some] + 0.75 * chance.standard_normal((len(some), LATENT), dtype=np.float32)) * spectrum
        noise = _units(chance.standard_normal((len(some), DIMS), dtype=np.float32))
        found[start : start + 20_000] = _units(_units(latent @ projection) + 0.35 * noise)
    return found


def _near(vectors: Matrix) -> Matrix:
    noise = np.random.default_rng(SEED + 1).standard_normal(vectors.shape, dtype=np.float32)
    return _units(vectors + NOISE * _units(noise))


def _units(rows: Matrix) -> Matrix:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


# --- running --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Figures:
    """What came out for one entry."""

    entry: Entry
    taken: int
    seconds: float
    disk: float  # bytes a memory
    wall: list[float]
    work: list[float]
    first: list[float]
    rss: float
    known: float
    recall: float

    def row(self, ours: Figures | None) -> str:
        p50, p95 = np.percentile(self.wall, (50, 95))
        ratio = f"{p50 / np.percentile(ours.wall, 50):.1f} ×" if ours is not None else "–"
        filled = f"{self.taken / self.seconds:,.0f}" if self.seconds else "–"
        disk = f"{self.disk:,.0f}" if self.disk else "–"
        recall = "–" if "SPEED_HYBRID" in self.entry.variables else f"{self.recall:.3f}"
        return (
            f"| {self.entry.name} | {self.taken:,} | {p50:.1f} | {p95:.1f} | {ratio} | {np.median(self.work):.1f} | "
            f"{min(self.first):.0f} / {np.median(self.first):.0f} | {filled} | {self.rss:.0f} | {disk} | "
            f"{self.known:.3f} | {recall} |"
        )


HEAD = (
    "| system | memories | p50 ms | p95 ms | p50 ratio | CPU ms | first ms min / p50 | added/s | RAM MB | disk B each "
    "| known item@10 | index recall@10 |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
)


class Runner:
    """Starts the contestants' programs."""

    def __init__(self, venvs: Path, data: Path, patience: float) -> None:
        self._venvs, self._data, self._patience = venvs, data, patience

    def python(self, entry: Entry) -> str:
        """The interpreter of its environment, made and filled on first use."""
        if not entry.needs:
            return sys.executable
        home = self._venvs / entry.program.removesuffix(".py")
        program = home / "bin" / "python"
        if not program.exists():
            venv.create(home, with_pip=True)
            subprocess.run([program, "-m", "pip", "install", "--quiet", *entry.needs], check=True)
        return str(program)

    def step(self, entry: Entry, step: str, folder: Path) -> dict[str, Any]:
        command = [self.python(entry), str(HERE / "peers" / entry.program), step, "--data", str(self._data)]
        command += ["--folder", str(folder), "--patience", str(min(self._patience, entry.hopeless))]
        variables = {**os.environ, "SPEED_DATA": str(self._data), **entry.variables, **_quiet(entry)}
        done = subprocess.run(command, capture_output=True, text=True, env=variables)
        if done.returncode:
            raise RuntimeError(f"{entry.name} {step}: {done.stderr.strip()[-800:]}")
        answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
        return answer


def _quiet(entry: Entry) -> dict[str, str]:
    """Peers get no path to our source; nobody reaches for a model hub."""
    path = {"PYTHONPATH": str(HERE.parent / "src")} if not entry.needs else {"PYTHONPATH": ""}
    return {**path, "HF_HUB_OFFLINE": "1", "ANONYMIZED_TELEMETRY": "False", "OMP_NUM_THREADS": "2"}


def contest(entries: list[Entry], n: int, runner: Runner, folder: Path, data: Path) -> Iterator[Figures | str]:
    vectors = np.load(data / "vectors.npy")
    questions = np.load(data / "questions.npy")
    targets = json.loads((data / "targets.json").read_text())
    filled: dict[str, tuple[int, float]] = {}
    for entry in entries:
        at = folder / (entry.filled_by or entry.name).replace(" ", "-")
        try:
            if not entry.filled_by or entry.filled_by not in filled:
                filled[entry.filled_by or entry.name] = _filled(entry, runner, at)
            taken, seconds = filled[entry.filled_by or entry.name]
            asked = runner.step(entry, "ask", at)
            first = [float(runner.step(entry, "cold", at)["first"]) for _ in range(COLD)]
        except (RuntimeError, ValueError, OSError) as error:
            yield f"- {entry.name}: {error}"
            continue
        found = asked["more"].get("dense", asked["found"])
        yield Figures(
            entry,
            taken,
            0.0 if entry.filled_by else seconds,
            0.0 if entry.filled_by else _size(at) / taken,
            asked["wall"],
            asked["work"],
            first,
            float(asked["rss"]),
            _known(asked["found"], targets, taken),
            _recall(vectors[:taken], questions, found),
        )


def _filled(entry: Entry, runner: Runner, at: Path) -> tuple[int, float]:
    """How many memories a contestant took and in how many seconds: now, or in the run that filled its folder."""
    receipt = at.with_suffix(".json")
    if not receipt.exists():
        at.mkdir(parents=True, exist_ok=True)
        receipt.write_text(json.dumps(runner.step(entry, "fill", at)))
    done = json.loads(receipt.read_text())
    return int(done["taken"]), float(done["seconds"])


def _known(found: list[list[int]], targets: list[int], taken: int) -> float:
    there = [(answer, target) for answer, target in zip(found, targets, strict=True) if target < taken]
    return sum(target in answer for answer, target in there) / max(1, len(there))


def _recall(vectors: Matrix, questions: Matrix, found: list[list[int]]) -> float:
    scores = questions @ vectors.T
    best = np.argpartition(-scores, K, axis=1)[:, :K]
    return sum(len(set(map(int, row)) & set(answer)) for row, answer in zip(best, found, strict=True)) / best.size


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--venvs", type=Path, default=Path(tempfile.gettempdir()) / "recollect-speed")
    options.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    options.add_argument("--million", action="store_true", help="also a million memories: an hour, and 10 GB of disk")
    options.add_argument("--keep", type=Path, help="a folder for material and stores, used again by the next run")
    options.add_argument("--only", default="", help="names of systems, separated by commas")
    options.add_argument("--patience", type=float, default=900.0, help="seconds that filling may take")
    options.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    given = options.parse_args()
    wanted = [one.strip() for one in given.only.split(",") if one.strip()]
    entries = [entry for entry in ENTRIES if not wanted or entry.name in wanted]
    lines = [
        f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start, "
        f"{QUESTIONS} questions, k = {K}, {DIMS} dimensions, {COLD} cold processes."
    ]
    for n in [*given.sizes, *([1_000_000] if given.million else [])]:
        lines += ["", f"## {n:,} memories", "", HEAD]
        print("\n".join(lines[-3:]), flush=True)
        with tempfile.TemporaryDirectory() as name:
            home = Path(name) if given.keep is None else given.keep / str(n)
            data, folder = home / "data", home / "stores"
            data.mkdir(parents=True, exist_ok=True)
            folder.mkdir(exist_ok=True)
            if not (data / "targets.json").exists():
                invent(n, data)
            ours: Figures | None = None
            for figures in contest(entries, n, Runner(given.venvs, data, given.patience), folder, data):
                if isinstance(figures, Figures) and figures.entry.name == "recollect":
                    ours = figures
                lines.append(figures if isinstance(figures, str) else figures.row(ours))
                print(lines[-1], flush=True)
                if given.write:  # after every row: a run takes long, and may be cut short
                    report = "\n".join(lines)
                    RESULTS.write_text(f"# Speed\n\n{__doc__.strip()}\n\n{report}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
