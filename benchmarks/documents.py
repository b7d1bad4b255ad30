"""Documents, measured through the public door: retrieval, indexing, re-indexing, gc and PageRank.

    python benchmarks/documents.py --fetch ~/docs-sources --embedders none,pack:potion --write

Anchor links: the text of a real link in a project's documentation is the question, the document it points at the
answer; hit@5 and hit@1 over documents, questions whose target is not in the sources at hand are left out and counted.
Sources come from published packages: fastapi's sdist 0.110.2 carries its documentation (0.112 no longer does), older
than the links, so a few targets are missing; pydantic's sdist 2.14.3 and vite's package 8.3.8 carry none, and their
questions are measured only when `--sources` has a folder with their `docs/`.
SciFact: every abstract one markdown file, nDCG@10. Speed: the same files parsed and hashed and nothing else are the raw
figure that keyword-ready indexing is held against.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import math
import random
import re
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from statistics import median

import numpy as np

import recollect
from recollect.config import Settings
from recollect.graph.rank import pagerank

sys.path.insert(0, str(Path(__file__).parent))
from sets import DATA, SETS

RESULTS = Path(__file__).parent / "results" / "documents.md"
_FASTAPI = "0.110.2"  # the last sdist that carries the documentation
_QUIET = Settings(embedder="none")


def say(line: str, lines: list[str]) -> None:
    lines.append(line)
    print(line, flush=True)


# --- sources -------------------------------------------------------------------------------------------------------


def fetch(folder: Path) -> None:
    """The documentation of fastapi out of its sdist, checked against the digest the registry gives."""
    target = folder / "fastapi"
    if target.is_dir():
        return
    with urllib.request.urlopen("https://pypi.org/pypi/fastapi/json", timeout=60) as answer:
        told = json.load(answer)
    sdist = next(one for one in told["releases"][_FASTAPI] if one["packagetype"] == "sdist")
    path = re.sub(r"^.*?packages/(?=[0-9a-f]{2}/)", "", sdist["url"])
    with urllib.request.urlopen(f"https://files.pythonhosted.org/packages/{path}", timeout=300) as answer:
        data = answer.read()
    if sha256(data).hexdigest() != sdist["digests"]["sha256"]:
        raise SystemExit("The sdist of fastapi is not the one the registry names.")
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            relative = member.name.partition("/")[2]
            if member.isfile() and relative.startswith("docs/") and relative.endswith(".md"):
                file = target / relative
                file.parent.mkdir(parents=True, exist_ok=True)
                opened = archive.extractfile(member)
                assert opened is not None
                file.write_bytes(opened.read())


# --- retrieval -----------------------------------------------------------------------------------------------------


def anchors(sources: Path, embedder: str) -> Iterator[str]:
    with gzip.open(DATA / "ir" / "markdown_anchor_links.jsonl.gz", "rt", encoding="utf-8") as lines:
        asked = [json.loads(line) for line in lines]
    for project in ("vite", "fastapi", "pydantic"):
        mine = [one for one in asked if one["repo"].endswith(f"/{project}")]
        root = sources / project
        there = [one for one in mine if (root / one["target"]).is_file()]
        if not there:
            yield f"| {project} | {embedder} | – | – | 0 of {len(mine)}: its package carries no docs | – |"
            continue
        top = root / "docs" / ("en" if project == "fastapi" else "")
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(embedder=embedder)
            with recollect.open(Path(folder) / "m.db", settings=settings) as memory:
                summary = memory.docs.index([top], base=root)
                memory.tend()
                first, five, took = 0, 0, []
                for one in there:
                    start = time.perf_counter()
                    matches = memory.docs.search(one["query"], limit=5, track=False).matches
                    found = [match.document.path for match in matches]
                    took.append((time.perf_counter() - start) * 1000)
                    first += found[:1] == [one["target"]]
                    five += one["target"] in found
        yield (
            f"| {project} | {embedder} | {five / len(there):.3f} | {first / len(there):.3f} | "
            f"{len(there)} of {len(mine)}, {summary.added} documents | {median(took):.1f} |"
        )


def scifact(embedder: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        asked = None
        for store in SETS["scifact"]():
            asked = store
            for item in store.items:
                (root / f"{item.id}.md").write_text(f"# {item.title}\n\n{item.text}\n", encoding="utf-8")
        assert asked is not None
        with recollect.open(root / "m.db", settings=Settings(embedder=embedder)) as memory:
            memory.docs.index([root])
            memory.tend()
            gains, took = [], []
            for one in asked.questions:
                start = time.perf_counter()
                found = memory.docs.search(one.text, limit=10, track=False).matches
                took.append((time.perf_counter() - start) * 1000)
                ranks = [rank for rank, match in enumerate(found) if match.document.path[:-3] in one.gold]
                ideal = sum(1 / math.log2(rank + 2) for rank in range(min(10, len(one.gold))))
                gains.append(sum(1 / math.log2(rank + 2) for rank in ranks) / ideal)
    return f"| SciFact | {embedder} | {np.mean(gains):.3f} | {len(gains)} | {median(took):.1f} |"


# --- speed ---------------------------------------------------------------------------------------------------------


def indexing(sources: Path, lines: list[str]) -> None:
    from markdown_it import MarkdownIt

    files = sorted((sources / "fastapi" / "docs").rglob("*.md"))
    raw, done, raw_cpu, done_cpu = [], [], [], []
    for _ in range(3):
        parser = MarkdownIt("commonmark").enable("table")
        start, cpu = time.perf_counter(), time.process_time()
        for file in files:
            data = file.read_bytes()
            sha256(data).hexdigest()
            parser.parse(data.decode())
        raw.append(time.perf_counter() - start)
        raw_cpu.append(time.process_time() - cpu)
        with tempfile.TemporaryDirectory() as folder, recollect.open(Path(folder) / "m.db", settings=_QUIET) as memory:
            start, cpu = time.perf_counter(), time.process_time()
            summary = memory.docs.index([sources / "fastapi" / "docs"])
            done.append(time.perf_counter() - start)
            done_cpu.append(time.process_time() - cpu)
    size = sum(file.stat().st_size for file in files) / 1e6
    say(
        f"| index {len(files)} files, {size:.1f} MB, {summary.passages:,} passages (keyword-ready, best of 3) | "
        f"{min(done):.2f} s, {len(files) / min(done):.0f} files/s | raw parse + hash {min(raw):.2f} s: "
        f"{min(done) / min(raw):.2f}×; in processor time {min(done_cpu):.2f} s to {min(raw_cpu):.2f} s: "
        f"{min(done_cpu) / min(raw_cpu):.2f}× (goal ≤ 2×) |",
        lines,
    )


def reindexing(lines: list[str], files: int = 5_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(files):
            file = root / "docs" / f"{number % 50}" / f"page{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Page {number}\n\nWords of page {number}, see [next](page{number + 50}.md).\n")
        with recollect.open(root / "m.db", settings=_QUIET) as memory:
            memory.docs.index([root])
            took, full = [], []
            for _ in range(3):
                time.sleep(2.1)  # so that no time stamp is too young to be trusted
                start = time.perf_counter()
                summary = memory.docs.index([root])
                took.append(time.perf_counter() - start)
                start = time.perf_counter()
                memory.docs.index([root], full=True)
                full.append(time.perf_counter() - start)
            assert summary.unchanged == files
    say(
        f"| re-index {files:,} unchanged files (best of 3) | {min(took):.2f} s | goal ≤ 1 s; hashing every one of them "
        f"{min(full):.2f} s |",
        lines,
    )


def collecting(lines: list[str], sizes: tuple[int, ...] = (25_000, 50_000, 100_000)) -> None:
    """gc over passages with vectors put in their place: how time grows with their number."""
    from recollect.core.drafts import Draft
    from recollect.core.ids import new_id
    from recollect.core.records import Span
    from recollect.core.scope import Source
    from recollect.remember.passages import DocumentChunks, replace_passages

    for size in sizes:
        with tempfile.TemporaryDirectory() as folder, recollect.open(Path(folder) / "m.db", settings=_QUIET) as memory:
            per = 50
            root = Path(folder) / "docs"
            root.mkdir()
            for number in range(size // per):
                (root / f"d{number}.md").write_text(f"# D{number}\n\nx\n")
            memory.docs.index([root])
            documents = memory.docs.list()
            for start in range(0, len(documents), 40):
                cuts = []
                for document in documents[start : start + 40]:
                    words = (f"passage {_letters(place)} of {_letters(start)}" for place in range(per))
                    drafts = [
                        Draft(
                            text, kind="passage", source=Source.MCP_AUTO, span=Span("prose", n, n + 1, document.title)
                        )
                        for n, text in enumerate(words)
                    ]
                    cuts.append(DocumentChunks(document.id, tuple(drafts)))
                replace_passages(cuts, memory.store, memory.writer.act(), identity=new_id)
            twins = _vectors(memory, size)
            start_at = time.perf_counter()
            planned = memory.docs.gc(dry_run=True)
            took = time.perf_counter() - start_at
        say(
            f"| gc plan over {size:,} passages, 256 dimensions | {took:.1f} s | "
            f"{len(planned.repeats):,} repeats found, {twins:,} planted |",
            lines,
        )


def _letters(number: int) -> str:
    """A number as letters: passages that differ in a figure are never repeats."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


def _vectors(memory: recollect.Recollect, size: int) -> int:
    chance = np.random.default_rng(1)
    store = memory.store
    space = store.vectors.activate(store.vectors.begin("made-up", 256, memory.writer.act().at))
    topics = chance.normal(size=(500, 256))
    rows = topics[chance.integers(0, 500, size)] + 1.2 * chance.normal(size=(size, 256))
    twins = size // 100
    rows[-twins:] = rows[:twins] + 0.05 * chance.normal(size=(twins, 256))
    ids = [memory.id for page in store.memories.every() for memory in page.memories][:size]
    for start in range(0, len(ids), 2_000):
        with store.engine.write(durable=False):
            some = ids[start : start + 2_000]
            items = [(id, rows[start + n : start + n + 1].astype(np.float32), "x") for n, id in enumerate(some)]
            store.vectors.put(space, items)
    if store.vectors.due_for_training(space):
        store.vectors.train(space)
    return twins


def ranking(lines: list[str], nodes: int = 50_000, degree: int = 8) -> None:
    chance = random.Random(2)
    edges = [(chance.randrange(nodes), min(nodes - 1, int(chance.paretovariate(0.6)))) for _ in range(nodes * degree)]
    took = []
    for _ in range(3):
        start = time.perf_counter()
        ranks = pagerank(nodes, edges)
        took.append(time.perf_counter() - start)
    assert abs(sum(ranks) - 1) < 1e-6
    say(
        f"| PageRank of {nodes:,} documents, {len(edges):,} links (best of 3) | {min(took):.2f} s | goal ≤ 1 s |", lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=Path, help="folder with fastapi/, pydantic/, vite/, each with its docs/")
    parser.add_argument("--fetch", type=Path, help="the same, fetching what published packages carry")
    parser.add_argument("--embedders", default="none", help="none, pack:potion, pack:arctic …")
    parser.add_argument("--only", default="anchors,scifact,indexing,reindexing,gc,rank")
    parser.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The sets are not beside this checkout (../shared/data); nothing to measure.")
        return 0
    if args.fetch:
        fetch(args.fetch)
    sources: Path = args.fetch or args.sources or Path("nowhere")
    parts = args.only.split(",")
    lines: list[str] = []
    if "anchors" in parts:
        say("| anchor links | vectors | hit@5 | hit@1 | n | median ms |\n|---|---|---|---|---|---|", lines)
        for embedder in args.embedders.split(","):
            for line in anchors(sources, embedder):
                say(line, lines)
    if "scifact" in parts:
        say("\n| set | vectors | nDCG@10 | n | median ms |\n|---|---|---|---|---|", lines)
        for embedder in args.embedders.split(","):
            say(scifact(embedder), lines)
    speed: dict[str, Callable[[], None]] = {
        "indexing": lambda: indexing(sources, lines),
        "reindexing": lambda: reindexing(lines),
        "gc": lambda: collecting(lines),
        "rank": lambda: ranking(lines),
    }
    if set(parts) & set(speed):
        say("\n| speed | figure | against |\n|---|---|---|", lines)
    for name, run in speed.items():
        if name in parts:
            run()
    if args.write:
        RESULTS.write_text(f"# Documents\n\n{(__doc__ or '').strip()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
