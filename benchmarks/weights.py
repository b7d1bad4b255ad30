"""Would other weights of evidence do better? Fits them listwise and leaves whole sets out.

    python benchmarks/weights.py --sets locomo,longmemeval,beam --embedder pack:potion --stores DIR

Each question is asked as in `retrieval.py`, in stores written over time. What every piece of evidence says of every
candidate is read off the candidates; the weights are then fitted by listwise logistic regression (each right candidate
against all wrong ones of its question, all sets counting the same), with the signs of the shipped weights. `shipped` is
the recipe `measured`, `left out` was fitted on the other sets, `in sample` on all of them; `--by conversation` leaves
out one store at a time instead. Only the weights move: which candidates are weighed and what is known of a memory stay.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from retrieval import Column, Life, filled
from sets import DATA, SETS, Store

from recollect.core.query import Candidate, Query
from recollect.core.text import clean, fingerprint
from recollect.recall.reader import RetrievalContext, rank
from recollect.recall.recipes import MEASURED, Tier

COLUMN = Column("default", "measured")
FAINT = 1e-9  # weight of evidence that the recipe has no use for: it is worked out and decides nothing
NAMES = sorted({name for weights in MEASURED.evidence.values() for name in weights} - {"graph"})
K = 10
STEPS, RATE, PENALTY = 300, 0.05, 0.001


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: the evidence of its candidates, which of them are right, and how many right ones there are."""

    set: str
    store: str
    apart: str
    evidence: Any  # candidates × NAMES
    known: Any  # what is known of each, in log-odds
    right: Any
    prints: tuple[str, ...]
    gold: frozenset[str]


def collect(name: str, store: Store, embedder: str, stores: Path | None) -> list[Asked]:
    life = Life(timedelta(0))
    prints = {item.id: fingerprint(clean(item.text)[0]) for item in store.items}
    last = max((item.at for item in store.items if item.at is not None), default=None)
    found = []
    with filled(store, embedder, COLUMN, stores, life) as memory:
        context = memory.reader.context()
        weights = {**dict.fromkeys(NAMES, FAINT), **MEASURED.evidence[_tier(context, embedder)]}
        recipe = replace(MEASURED, evidence=dict.fromkeys(MEASURED.evidence, weights), floor=0.0)
        for asked in store.questions:
            life.ask(asked, last)
            ranked = rank(Query(asked.text, k=K), replace(context, recipe=recipe), now=life()).candidates
            gold = frozenset(prints[id] for id in asked.gold)
            if ranked:
                found.append(_asked(name, store.name, asked.apart, ranked, weights, gold))
    return found


def _tier(context: RetrievalContext, embedder: str) -> Tier:
    return "none" if embedder == "none" else context.tier


def _asked(
    name: str, store: str, apart: str, ranked: Sequence[Candidate], weights: Mapping[str, float], gold: frozenset[str]
) -> Asked:
    rows = [[one.factors.get(f"why.{name}", 0.0) / weights[name] for name in NAMES] for one in ranked]
    prints = tuple(one.memory.fingerprint if one.memory else "" for one in ranked)
    return Asked(
        name,
        store,
        apart,
        np.array(rows, dtype=np.float64),
        np.array([_odds(one.score) - _odds(one.factors["relevance"]) for one in ranked]),
        np.array([said in gold for said in prints]),
        prints,
        gold,
    )


def _odds(probability: float) -> float:
    sure = min(max(probability, 1e-12), 1 - 1e-12)
    return math.log(sure / (1 - sure))


# --- fitting -------------------------------------------------------------------------------------------------------


def fit(questions: Sequence[Asked], start: Mapping[str, float]) -> Any:
    """Weights of the features in `start` that put right candidates before wrong ones, found by Adam."""
    used = [NAMES.index(name) for name in start]
    sign = np.sign([*start.values()])
    telling = [one for one in questions if one.apart != "defect" and one.right.any() and not one.right.all()]
    share = {name: 1 / sum(one.set == name for one in telling) for name in {one.set for one in telling}}
    weights = np.array([*start.values()], dtype=np.float64)
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = PENALTY * weights
        for one in telling:
            rows = one.evidence[:, used]
            slope += share[one.set] / len(share) * (_pull(rows @ weights + one.known, one.right) @ rows)
        mean, spread = 0.9 * mean + 0.1 * slope, 0.99 * spread + 0.01 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.99**step)) + 1e-8)
        weights = np.where(np.sign(weights) == sign, weights, 0.0)
    full = np.zeros(len(NAMES))
    full[used] = weights
    return full


def _pull(points: Any, right: Any) -> Any:
    """How the loss changes with each candidate's points: -log of a right one's share against all wrong ones."""
    strength = np.exp(points - points.max())
    wrong = strength[~right].sum()
    count = right.sum()
    against = strength[right] + wrong
    change = np.where(right, 0.0, strength * (1 / against).sum() / count)
    change[right] = -wrong / against / count
    return change


# --- measuring -----------------------------------------------------------------------------------------------------


def tell(label: str, questions: Sequence[Asked], weights: Any) -> None:
    recalls, reciprocals = [], []
    for one in questions:
        if one.apart:
            continue
        order = np.argsort(-(one.evidence @ weights + one.known), kind="stable")
        found = list(dict.fromkeys(one.prints[place] for place in order))[:K]
        places = [place for place, said in enumerate(found, start=1) if said in one.gold]
        recalls.append(len(places) / len(one.gold))
        reciprocals.append(1 / places[0] if places else 0.0)
    print(f"{label:32} R@10 {np.mean(recalls):.3f}  MRR {np.mean(reciprocals):.3f}  n={len(recalls)}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="locomo,longmemeval,beam")
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--by", choices=("set", "conversation"), default="set", help="what is left out at a time")
    parser.add_argument("--most", type=int, help="only so many conversations of each set")
    parser.add_argument("--stores", type=Path, help="keep the filled stores in this folder")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The sets are not beside this checkout (../shared/data); nothing to measure.")
        return 0
    questions = [
        asked
        for name in args.sets.split(",")
        for store in islice(SETS[name](), args.most)
        for asked in collect(name, store, args.embedder, args.stores)
    ]
    tiers: dict[str, Tier] = {"none": "none", "pack:potion": "small"}
    start = {name: w for name, w in MEASURED.evidence[tiers.get(args.embedder, "strong")].items() if name in NAMES}
    shipped = np.array([start.get(name, 0.0) for name in NAMES])
    everything = fit(questions, start)
    for name in args.sets.split(","):
        own = [one for one in questions if one.set == name]
        tell(f"{name}, shipped", own, shipped)
        tell(f"{name}, in sample", own, everything)
        for part in sorted({getattr(one, "set" if args.by == "set" else "store") for one in own}):
            held = [one for one in own if part in (one.set, one.store)]
            rest = [one for one in questions if part not in (one.set, one.store)]
            if rest:
                tell(f"{part}, left out", held, fit(rest, start))
    print("in sample:", ", ".join(f"{name} {weight:.1f}" for name, weight in zip(NAMES, everything, strict=True)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
