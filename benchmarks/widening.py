"""Does a second look pay when the first found little, and does the first look know that it did?

    python benchmarks/widening.py --sets locomo,longmemeval,scifact --embedders pack:potion --write

Recall@10 of the recipe `measured`. Questions with an even number choose between the ways of looking again, those with
an odd number are reported; both are shown. «weak» is the share of questions that the way's trigger calls weak, with the
recall of the first look on them and on the others: a good trigger keeps these far apart. No language model is asked:
a hypothetical answer cannot be measured offline.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import mean

from retrieval import Column, Life, filled
from sets import DATA, SETS, Asked

from recollect.core.query import Hit, Query
from recollect.recall.reader import RetrievalContext, recall
from recollect.recall.recipes import MEASURED, Widening

RESULTS = Path(__file__).parent / "results" / "widening.md"
COLUMN = Column("measured", "measured")
K = 10
PLAIN = "no second look"
NOW = MEASURED.widening
WAYS: dict[str, Widening] = {
    PLAIN: NOW,
    "3 above .5 (the design), vectors + words": Widening(enough=3, above=0.5, feedback=True),
    "vectors .4 + words": replace(NOW, feedback=True, share=0.4),
    "vectors .2, measured by": replace(NOW, feedback=True, share=0.2, moved=True, words=0),
    "vectors .4, measured by": replace(NOW, feedback=True, share=0.4, moved=True, words=0),
    "vectors .4 only": replace(NOW, feedback=True, words=0),
    "words only": replace(NOW, feedback=True, share=0.0),
    "always, vectors .4 + words": replace(NOW, feedback=True, enough=10**9),
}
BINS = (0.0, 0.5, 0.9, 0.98, 1.0)


@dataclass(slots=True)
class Score:
    """Shares of evidence found, by even and odd questions; those of the first look also by its strength."""

    even: list[float] = field(default_factory=list)
    odd: list[float] = field(default_factory=list)
    weak: list[float] = field(default_factory=list)
    strong: list[float] = field(default_factory=list)

    def row(self, plain: Score) -> str:
        everyone = len(self.weak) + len(self.strong)
        return (
            f"{mean(self.even):.3f} (n={len(self.even)}) | {mean(self.odd):.3f} (n={len(self.odd)}) | "
            f"{mean(self.odd) - mean(plain.odd):+.3f} | {len(self.weak) / everyone:.0%} | {_mean(self.weak)} | "
            f"{_mean(self.strong)}"
        )


def _mean(values: list[float]) -> str:
    return f"{mean(values):.3f}" if values else "–"


@dataclass(slots=True)
class Measured:
    ways: dict[str, Score] = field(default_factory=lambda: {way: Score() for way in WAYS})
    bins: list[list[bool]] = field(default_factory=lambda: [[] for _ in BINS[1:]])  # was a hit of this relevance right?

    def calibration(self) -> str:
        return " | ".join(f"{mean(found):.3f} (n={len(found)})" if found else "–" for found in self.bins)


def measure(name: str, embedder: str, most: int | None, stores: Path | None) -> Measured:
    measured = Measured()
    number = 0
    for place, store in enumerate(SETS[name]()):
        if most is not None and place >= most:
            break
        with filled(store, embedder, COLUMN, stores, Life()) as memory:
            for asked in store.questions:
                if not asked.apart:
                    _ask(memory.reader.context(), asked, number, measured)
                    number += 1
            print(f"  {name} {embedder}: {place + 1}", end="\r", file=sys.stderr)
    return measured


def _ask(senses: RetrievalContext, asked: Asked, number: int, measured: Measured) -> None:
    """A look that the trigger does not call weak is not repeated: its share counts for that way too."""
    hits = _hits(senses, asked, WAYS[PLAIN])
    plain = _share(hits, asked)
    likely = [hit.factors["relevance"] for hit in hits]
    for relevance, hit in zip(likely, hits, strict=True):
        place = next(place for place, top in enumerate(BINS[1:]) if relevance < top or top == BINS[-1])
        measured.bins[place].append(hit.memory.attributes["id"] in asked.gold)
    for way, how in WAYS.items():
        weak = sum(one > how.above for one in likely) < how.enough
        share = _share(_hits(senses, asked, how), asked) if weak and way != PLAIN else plain
        score = measured.ways[way]
        (score.odd if number % 2 else score.even).append(share)
        (score.weak if weak else score.strong).append(plain)


def _hits(senses: RetrievalContext, asked: Asked, how: Widening) -> tuple[Hit, ...]:
    using = replace(senses, recipe=replace(MEASURED, widening=how))
    return recall(Query(asked.text, k=K), using, now=asked.at or datetime.now(UTC)).hits


def _share(hits: tuple[Hit, ...], asked: Asked) -> float:
    return len({hit.memory.attributes["id"] for hit in hits} & asked.gold) / len(asked.gold)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="locomo,longmemeval,scifact")
    parser.add_argument("--embedders", default="none,pack:potion")
    parser.add_argument("--most", type=int, help="only so many conversations of each set")
    parser.add_argument("--stores", type=Path, help="keep the filled stores in this folder, for the next run")
    parser.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The sets are not beside this checkout (../shared/data); nothing to measure.")
        return 0
    lines = [
        "| set, vectors | second look | R@10 even | R@10 odd | odd, against none | weak | R@10, weak | R@10, others |",
        "|---|---|---|---|---|---|---|---|",
    ]
    names = [f"{low:g}–{high:g}" for low, high in pairwise(BINS)]
    right = [f"| set, vectors | {' | '.join(names)} |", f"|---{'|---' * len(names)}|"]
    print("\n".join(lines))
    for name in args.sets.split(","):
        for embedder in args.embedders.split(","):
            measured = measure(name, embedder, args.most, args.stores)
            for way, score in measured.ways.items():
                lines.append(f"| {name}, {embedder} | {way} | {score.row(measured.ways[PLAIN])} |")
                print(lines[-1], flush=True)
            right.append(f"| {name}, {embedder} | {measured.calibration()} |")
            print(right[-1], flush=True)
    lines += ["", "How often a hit is right, by its relevance (one of several right ones counts as right):", "", *right]
    if args.write:
        report = "\n".join(lines)
        RESULTS.write_text(f"# Widening\n\n{__doc__.strip()}\n\n{report}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
