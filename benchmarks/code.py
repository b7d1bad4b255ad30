"""The code room measured: indexing, walks, impact against real later commits, localisation, code search, resolution.

    python benchmarks/code.py --sources DIR --what indexing,walks,history,programs,cosqa,swe --write

`DIR` holds one unpacked source tree per folder, named `NAME-VERSION`: sdists (pip download --no-binary :all:), npm
packages, Debian source packages. History needs the trees of its released versions (flask, requests, click, gin,
ripgrep), localisation those of the issues' versions. A part whose data is not there says so and is left out.

Other work on the machine makes wall time grow; processor seconds and ratios within one run are what to trust.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import re
import resource
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path[0] = str(HERE.parents[1] / "src")  # not this folder: its names would hide the standard library's
import recollect  # noqa: E402
from recollect.app import Recollect  # noqa: E402
from recollect.code.cochange import History, blend  # noqa: E402
from recollect.code.impact import graph_nearness  # noqa: E402
from recollect.code.languages import language_of  # noqa: E402
from recollect.code.resolve.edges import GUESSED  # noqa: E402
from recollect.code.survey import survey_tree  # noqa: E402
from recollect.config import Settings  # noqa: E402
from recollect.store.graph import EdgeRow, Node  # noqa: E402

DATA = HERE.parents[2] / "shared" / "data"
RESULTS = HERE.parent / "results" / "code.md"
OUT: list[str] = []


def say(line: str = "") -> None:
    print(line, flush=True)
    OUT.append(line)


def opened(folder: Path) -> Recollect:
    return recollect.open(folder / "m.db", project="bench", settings=Settings(embedder="none"))


def cpu() -> float:
    """Processor seconds of this process and of those of its children that have ended."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


# --- indexing ------------------------------------------------------------------------------------------------------

_RAW = """
import sys, time, json
from recollect.code.languages import grammar
from tree_sitter import Parser
files = json.load(sys.stdin)
parsers = {language: Parser(grammar(language)) for language in {language for _, language in files}}
sources = [(open(path, "rb").read(), language) for path, language in files]
wall, used = time.perf_counter(), time.process_time()
for source, language in sources:
    parsers[language].parse(source)
print(json.dumps([time.perf_counter() - wall, time.process_time() - used]))
"""


def raw_parse(files: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Wall and processor seconds that tree-sitter alone takes for the same files, one after another."""
    done = subprocess.run(
        [sys.executable, "-c", _RAW], input=json.dumps(files), capture_output=True, text=True, check=True
    )
    wall, used = json.loads(done.stdout)
    return wall, used


@dataclass(frozen=True)
class Run:
    wall: float
    own: float  # processor seconds of the process that answers
    all: float  # with the parsing processes


def timed(memory: Recollect, act: Callable[[], object]) -> Run:
    wall, own, everything = time.perf_counter(), time.process_time(), cpu()
    act()
    wall, own = time.perf_counter() - wall, time.process_time() - own
    memory.code.close()  # the parsing processes end, so that their time is known
    return Run(wall, own, cpu() - everything)


def indexing(sources: Path, names: Sequence[str]) -> None:
    say("## Indexing\n")
    say("raw = tree-sitter alone, one process, the same files. CPU of an index: process that writes / with parsers.\n")
    say(
        "| tree | files | MB | raw CPU s | graph only: wall, CPU s | × raw (wall) | with passages: wall, CPU s |"
        " × raw (wall) | passages | files/s | MB/s | peak MB |"
    )
    say("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        tree = sources / name
        found = survey_tree(tree, {})
        files = [(str(one.path), language_of(one.relative) or "") for one in found.changed if one.size <= 1_000_000]
        size = sum(one.size for one in found.changed if one.size <= 1_000_000) / 1e6
        raw_wall, raw_cpu = raw_parse(files)
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as memory:
            graph = timed(memory, partial(memory.code.index, tree, passages=False))
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as memory:
            whole = timed(memory, partial(memory.code.index, tree))
            passages = memory.count()
        raw_wall = min(raw_wall, raw_parse(files)[0])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        say(
            f"| {name} | {len(files)} | {size:.1f} | {raw_cpu:.2f} | "
            f"{graph.wall:.1f}, {graph.own:.1f} / {graph.all:.1f} "
            f"| {graph.wall / raw_wall:.1f} | {whole.wall:.1f}, {whole.own:.1f} / {whole.all:.1f} "
            f"| {whole.wall / raw_wall:.1f} | {passages} | {len(files) / whole.wall:.0f} | {size / whole.wall:.2f} "
            f"| {peak:.0f} |"
        )
    say()


def edits(sources: Path, name: str, file: str) -> None:
    """One edit of a hub file of the largest tree, as an editor (told which file) and as a command (walks the tree)."""
    say(f"### Re-index after one edit: {name}, {file}\n")
    say("| edit | found by | n | wall ms: min, median | CPU ms: min, median | files resolved |")
    say("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(shutil.copytree(sources / name, Path(folder) / "tree"))
        (Path(folder) / "s").mkdir()
        with opened(Path(folder) / "s") as memory:
            memory.code.index(tree)
            text = (tree / file).read_text()
            for edit, tail in (("body", "\n# note {n}\n"), ("new function", "\ndef fresh_{n}():\n    return {n}\n")):
                for how, only in (("the editor", [file]), ("a walk", None)):
                    runs: list[tuple[float, float]] = []
                    for n in range(5):
                        (tree / file).write_text(text + tail.replace("{n}", str(len(runs) + 10 * len(how) + n)))
                        wall, own = time.perf_counter(), time.process_time()
                        done = memory.code.index(tree, only=only)
                        runs.append(((time.perf_counter() - wall) * 1e3, (time.process_time() - own) * 1e3))
                    walls, owns = [one[0] for one in runs], [one[1] for one in runs]
                    say(
                        f"| {edit} | {how} | {len(runs)} | {min(walls):.0f}, {statistics.median(walls):.0f} "
                        f"| {min(owns):.0f}, {statistics.median(owns):.0f} | {done.resolved} |"
                    )
    say()


# --- walks ---------------------------------------------------------------------------------------------------------


def walks(nodes: int, asked: int) -> None:
    """An invented graph like real code: log-normal out-degree, packages of 240 symbols, Zipf hubs."""
    chance = random.Random(5)
    keys = [f"p{n // 240}/f{n // 12}.py:s{n}" for n in range(nodes)]
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as memory:
        graph, engine = memory.store.graph, memory.store.engine
        degree = [0] * nodes
        edges = []
        for n in range(nodes):
            for _ in range(min(60, round(chance.lognormvariate(1.1, 0.9)))):
                near = chance.random() < 0.45
                target = n // 240 * 240 + chance.randrange(240) if near else int(nodes ** chance.random()) - 1
                target = min(nodes - 1, target)
                if target != n:
                    edges.append(EdgeRow(keys[n], keys[target], "calls", 0.8, 1.0))
                    degree[target] += 1
        with engine.write():
            graph.put_nodes([Node(key, "function", key.partition(":s")[2], key.partition(":")[0]) for key in keys])
            graph.put_edges(edges, 0, graph.numbers())
        say(f"## Walks: {nodes:,} nodes, {len(edges):,} edges, in-degree up to {max(degree):,}\n")
        say("| who | n | p50 ms | p95 ms | max ms | p95 CPU ms | cut by the cap |")
        say("|---|---|---|---|---|---|---|")
        ranked = sorted(range(nodes), key=lambda n: -degree[n])
        groups = {"any node": chance.sample(range(nodes), asked), "the 100 largest hubs": ranked[:100]}
        for label, some in groups.items():
            walls, owns, cut = [], [], 0
            for n in some:
                wall, own = time.perf_counter(), time.process_time()
                found = memory.code.impact(keys[n])
                walls.append((time.perf_counter() - wall) * 1e3)
                owns.append((time.process_time() - own) * 1e3)
                cut += found.left_out > 0
            say(
                f"| {label} | {len(some)} | {statistics.median(walls):.1f} | {quantile(walls, 0.95):.1f} "
                f"| {max(walls):.1f} "
                f"| {quantile(owns, 0.95):.1f} | {cut} |"
            )
    say()


def quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


# --- history -------------------------------------------------------------------------------------------------------

_RELEASES = {
    "flask": ("flask-2.3.3", "2.3.3"), "requests": ("requests-2.31.0", "v2.31.0"), "click": ("click-8.1.7", "8.1.7"),
    "gin": ("gin-1.8.1", "v1.8.1"), "ripgrep": ("ripgrep-13.0.0", "13.0.0"),
}  # fmt: skip
_FLOORS = {"flask": 0.550, "gin": 0.670, "ripgrep": 0.376}
_MOST_FILES = 30  # of a commit that is asked about


def log_of(name: str) -> Iterator[tuple[str, list[tuple[str, str | None]]]]:
    """(references, [(path, former name)]) of each commit, oldest first."""
    refs = ""
    files: list[tuple[str, str | None]] = []
    with gzip.open(DATA / "history" / f"{name}.log.gz", "rt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("@"):
                if files or refs:
                    yield refs, files
                refs, files = line.split("\t")[2] if line.count("\t") >= 2 else "", []
            elif line:
                status, *paths = line.split("\t")
                if status[0] != "D" and paths:
                    files.append((paths[-1], paths[0] if status[0] == "R" else None))
    yield refs, files


def history(sources: Path) -> None:
    say("## Impact against later commits\n")
    say("A release's sources are indexed; every later commit of 2 to 30 files is asked about from each of its files")
    say("that the release has. Recall@10 of the commit's other files. Co-change is counted online, up to the commit")
    say("before; plain counts are the floor on these very questions, the given floors are over other commits. The")
    say("half-lives and the shares of graph and heat were chosen looking at all five: in-sample for them.\n")
    say("| project | release | commits | questions | plain counts | co-change | graph only | all | given floor |")
    say("|---|---|---|---|---|---|---|---|---|")
    for name, (folder, tag) in _RELEASES.items():
        if not (sources / folder).is_dir() or not (DATA / "history").is_dir():
            say(f"| {name} | {folder} | – | – | not at hand | | | | |")
            continue
        with tempfile.TemporaryDirectory() as place, opened(Path(place)) as memory:
            memory.code.index(sources / folder, passages=False)
            scores, commits = later(memory, name, tag)
        means = {how: statistics.mean(values) if values else math.nan for how, values in scores.items()}
        floor = f"{_FLOORS[name]:.3f}" if name in _FLOORS else "–"
        say(
            f"| {name} | {tag} | {commits} | {len(scores['both'])} | {means['plain']:.3f} | {means['past']:.3f} "
            f"| {means['graph']:.3f} | **{means['both']:.3f}** | {floor} |"
        )
    say("| vite | – | – | – | its npm package holds no sources | | | | 0.366 |\n")


def later(memory: Recollect, name: str, tag: str) -> tuple[dict[str, list[float]], int]:
    known = {path for path, row in memory.store.graph.files().items() if not row.reason}
    past = History()
    near: dict[str, dict[str, float]] = {}
    scores: dict[str, list[float]] = {"plain": [], "past": [], "graph": [], "both": []}
    plain: dict[str, dict[str, float]] = {}
    released = False
    commits = 0
    for refs, changes in log_of(name):
        files = [path for path, _ in changes]
        if released and 2 <= len(files) <= _MOST_FILES and (asked := [path for path in files if path in known]):
            commits += 1
            heat = past.heat()
            for path in asked:
                if path not in near:
                    near[path] = dict(graph_nearness(memory.store.graph, path))
                together = past.with_(path)
                ranked = {
                    "plain": plain.get(path, {}),
                    "past": together,
                    "graph": near[path],
                    "both": blend(near[path], together, heat, changes=past.changes(path)),
                }
                others = set(files) - {path}
                for how, weights in ranked.items():
                    best = sorted(weights, key=lambda one: (-weights[one], one))
                    top = [one for one in best if one != path][:10]
                    scores[how].append(len(others.intersection(top)) / min(10, len(others)))
        for path, former in changes:
            if former is not None:
                past.rename(former, path)
        past.add(files)
        if len(files) <= _MOST_FILES:
            for path in files:
                counts = plain.setdefault(path, {})
                for other in files:
                    counts[other] = counts.get(other, 0) + 1
        released = released or tag in [one.strip().removeprefix("tag: ") for one in refs.split(",")]
    return scores, commits


# --- resolution on programs with known edges -----------------------------------------------------------------------


def programs() -> None:
    say("## Call graph of small programs with known edges (tests/code_programs.py)\n")
    say("| language | calls known | precision | recall | with guesses: precision | recall |")
    say("|---|---|---|---|---|---|")
    known = runpy.run_path(str(HERE.parents[1] / "tests" / "code_programs.py"), run_name="programs")["PROGRAMS"]
    for language, program in known.items():
        with tempfile.TemporaryDirectory() as folder:
            for name, text in program.files.items():
                path = Path(folder) / "tree" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            with opened(Path(folder)) as memory:
                memory.code.index(Path(folder) / "tree", passages=False)
                edges = [e for e in memory.store.graph.edges() if e.type == "calls" and ":" in e.target]
        inside = [e for e in edges if not e.target.startswith("external:")]
        figures = []
        for least in (GUESSED, 0.0):
            found = {(e.source, e.target) for e in inside if e.confidence > least}
            right = len(found & program.calls)
            figures += [right / max(1, len(found)), right / len(program.calls)]
        say(f"| {language} | {len(program.calls)} | " + " | ".join(f"{figure:.2f}" for figure in figures) + " |")
    say()


# --- code search ---------------------------------------------------------------------------------------------------


def cosqa(most: int) -> None:
    path = DATA / "code" / "cosqa-retrieval-dev-500.json"
    if not path.is_file():
        say("CoSQA is not at hand: left out.\n")
        return
    asked = json.loads(path.read_text(encoding="utf-8"))[:most]
    with gzip.open(DATA / "code" / "cosqa_code_idx_map.txt.gz", "rt", encoding="utf-8") as file:
        codes: dict[str, int] = json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        for text, number in codes.items():
            (tree / f"{number}.py").write_text(text, encoding="utf-8", errors="replace")
        with opened(Path(folder)) as memory:
            memory.code.index(tree)
            ranks = []
            for one in asked:
                gold = f"{one['retrieval_idx']}.py"
                files = [hit.memory.files[0] for hit in memory.code.search(one["doc"], k=100)]
                order = list(dict.fromkeys(files))
                ranks.append(1 / (order.index(gold) + 1) if gold in order else 0.0)
    say("## Code search: CoSQA through code passages\n")
    mrr = statistics.mean(ranks)
    say(f"n = {len(ranks)} questions, {len(codes)} functions, keyword only, no vectors: MRR {mrr:.3f}")
    say("(plain BM25, given with the data: .318).\n")


# --- localisation --------------------------------------------------------------------------------------------------

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]+")
_PYPI = {"sympy/sympy": "sympy", "scikit-learn/scikit-learn": "scikit-learn", "sphinx-doc/sphinx": "Sphinx"}


def bm25(texts: dict[str, str], question: str) -> list[str]:
    """Whole files by plain BM25: what a keyword search of the tree would give."""
    if not texts:
        return []
    counts = {path: _counted(text) for path, text in texts.items()}
    mean = statistics.mean(sum(c.values()) for c in counts.values())
    words = set(_counted(question))
    having = {word: sum(word in c for c in counts.values()) for word in words}
    scores = {}
    for path, c in counts.items():
        length = sum(c.values())
        scores[path] = sum(
            math.log(1 + (len(counts) - having[w] + 0.5) / (having[w] + 0.5))
            * (c[w] * 2.2 / (c[w] + 1.2 * (0.25 + 0.75 * length / mean)))
            for w in words
            if w in c
        )
    return sorted(scores, key=lambda path: (-scores[path], path))


def _counted(text: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in _WORD.findall(text):
        for part in {word.lower(), *re.findall(r"[a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", word).lower())}:
            found[part] = found.get(part, 0) + 1
    return found


def located(memory: Recollect, question: str) -> list[str]:
    """Files by their passages: the best one counts whole, each further one half of the one before."""
    hits = memory.code.search(question, k=60)
    scores: dict[str, list[float]] = {}
    for hit in hits:
        scores.setdefault(hit.memory.files[0], []).append(hit.score)
    total = {
        path: sum(s * 0.5**place for place, s in enumerate(sorted(some, reverse=True))) for path, some in scores.items()
    }
    return sorted(total, key=lambda path: (-total[path], path))


def swe(sources: Path, most: int) -> None:
    path = DATA / "code" / "swe-bench-lite_test_4repos.json.gz"
    if not path.is_file():
        say("SWE-bench is not at hand: left out.\n")
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        issues: list[dict[str, Any]] = json.load(file)
    trees = {one.name: one for one in sources.iterdir() if one.is_dir()}
    by_tree: dict[str, list[dict[str, Any]]] = {}
    for issue in issues:
        stem = f"{_PYPI.get(issue['repo'], '?')}-{issue['version']}"
        tree = next((name for name in sorted(trees) if re.fullmatch(re.escape(stem) + r"(\.\d+)?", name)), None)
        if tree is not None:
            by_tree.setdefault(tree, []).append(issue)
    ranks: dict[str, list[int]] = {"keyword": [], "passages": []}
    for name, some in sorted(by_tree.items()):
        if len(ranks["keyword"]) >= most:
            break
        with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as memory:
            memory.code.index(trees[name])
            files = [p for p, row in memory.store.graph.files().items() if p.endswith(".py") and not row.reason]
            ours = [p for p in files if not re.search(r"(^|/)tests?/", p)]
            texts = {p: (trees[name] / p).read_text(encoding="utf-8", errors="replace") for p in ours}
            for issue in some:
                gold = set(re.findall(r"^\+\+\+ b/(\S+)", issue["patch"], re.M))
                text = issue["problem_statement"][:4_000]
                found = [p for p in located(memory, text) if p in texts]
                for how, order in (("keyword", bm25(texts, text)), ("passages", found)):
                    places = [place for place, p in enumerate(order) if p in gold]
                    ranks[how].append(places[0] if places else 10**6)
        print(name, len(some), {how: sum(r < 5 for r in some_) for how, some_ in ranks.items()}, flush=True)
    say("## File localisation on SWE-bench-Lite issues\n")
    say(f"n = {len(ranks['keyword'])} issues on {', '.join(sorted(by_tree))}; tests are no candidates.\n")
    say("| by | acc@1 | acc@3 | acc@5 |")
    say("|---|---|---|---|")
    for how, places in ranks.items():
        if places:
            say(f"| {how} | " + " | ".join(f"{sum(p < k for p in places) / len(places):.3f}" for k in (1, 3, 5)) + " |")
    say()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, default=Path("sources"), help="folder of unpacked source trees")
    parser.add_argument("--swe-sources", type=Path, help="folder of the trees for localisation (default: --sources)")
    parser.add_argument("--what", default="programs,walks,history,cosqa,indexing,swe")
    parser.add_argument("--trees", help="trees to index, comma-separated (default: all)")
    parser.add_argument("--edit", default="", metavar="TREE:FILE", help="where to measure one edit")
    parser.add_argument("--nodes", type=int, default=50_000)
    parser.add_argument("--asked", type=int, default=500)
    parser.add_argument("--most", type=int, default=500, help="questions of CoSQA and issues of SWE-bench")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    args = parser.parse_args()
    what = args.what.split(",")
    names = args.trees.split(",") if args.trees else sorted(p.name for p in args.sources.glob("*-*") if p.is_dir())
    say("# The code room, measured\n")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
    version = sys.version.split()[0]
    say(f"{datetime.now(UTC):%Y-%m-%d}, Python {version}, {os.cpu_count()} cores, load average {load:.1f} at start.")
    say("`python benchmarks/code.py " + " ".join("…" if arg.startswith("/") else arg for arg in sys.argv[1:]) + "`\n")
    if "programs" in what:
        programs()
    if "walks" in what:
        walks(args.nodes, args.asked)
    if "history" in what:
        history(args.sources)
    if "indexing" in what:
        indexing(args.sources, names)
        if args.edit:
            edits(args.sources, *args.edit.split(":", 1))
    if "cosqa" in what:
        cosqa(args.most)
    if "swe" in what:
        swe(args.swe_sources or args.sources, args.most)
    if args.write:
        RESULTS.write_text("\n".join(OUT) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
