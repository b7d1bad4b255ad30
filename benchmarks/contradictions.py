"""Do the detectors find contradictions? Precision, recall and F1 on three public sets, and the time a pair takes.

    python benchmarks/contradictions.py --write
    python benchmarks/contradictions.py --fit

SICK: sentence pairs; ContractNLI (dev): a hypothesis against the evidence spans that decide it, so contradiction
against entailment; requirement conflicts: pairs of requirements, all kinds of conflict against none. The weights of
`opposition` were fitted on the even pairs, then some set by hand, and thresholds are chosen there; every figure is of
the odd pairs, which were looked at while the features were chosen, so they flatter a little. `as shipped` is one
threshold for all three sets. False alarms: paraphrases (MSR) and random pairs of requirements.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from recollect.remember import opposition
from recollect.remember.contradiction import Judge, find_judge
from recollect.remember.opposition import BIAS, WEIGHTS, align, features, read_sentences

DATA = Path(__file__).parents[2] / "shared" / "data" / "nli"
RESULTS = Path(__file__).parent / "results" / "contradictions.md"
Pair = tuple[str, str, bool]


def sick() -> Iterator[Pair]:
    for name in ("SICK_train.txt", "SICK_trial.txt"):
        for line in (DATA / name).read_text(encoding="utf-8").splitlines()[1:]:
            parts = line.split("\t")
            yield parts[1], parts[2], parts[4].strip() == "CONTRADICTION"


def contracts() -> Iterator[Pair]:
    with gzip.open(DATA / "contractnli_dev.json.gz", "rt", encoding="utf-8") as file:
        whole = json.load(file)
    for document in whole["documents"]:
        for key, told in document["annotation_sets"][0]["annotations"].items():
            if told["choice"] == "NotMentioned":
                continue
            spans = [document["spans"][number] for number in told["spans"]]
            evidence = " ".join(document["text"][start:end] for start, end in spans)
            yield whole["labels"][key]["hypothesis"], evidence, told["choice"] == "Contradiction"


def requirements() -> Iterator[Pair]:
    with gzip.open(DATA / "reqconflict_Training-Dataset.csv.gz", "rb") as raw:
        rows = list(csv.reader(io.TextIOWrapper(raw, encoding="utf-8", errors="replace")))
    for row in rows[1:]:
        yield row[1].strip('" '), row[2].strip('" '), row[-1] != "1"


SETS: dict[str, Callable[[], Iterator[Pair]]] = {
    "SICK": sick,
    "ContractNLI": contracts,
    "requirement conflicts": requirements,
}


def f1(truth: np.ndarray, said: np.ndarray) -> tuple[float, float, float]:
    hits = float((truth & said).sum())
    precision, recall = hits / max(1, said.sum()), hits / max(1, truth.sum())
    return 2 * hits / max(1, truth.sum() + said.sum()), precision, recall


def scores(detector: Judge, pairs: Sequence[Pair]) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    found = np.array([detector.judge(one, other).score for one, other, _ in pairs])
    return found, (time.perf_counter() - start) / len(pairs) * 1000


def measure() -> list[str]:
    lines = [
        "| set | n (odd pairs) | detector | threshold | precision | recall | F1 | × lexical | ms a pair |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, load in SETS.items():
        pairs = list(load())
        truth = np.array([pair[2] for pair in pairs])
        odd = np.arange(len(pairs)) % 2 == 1
        base = 0.0
        for detector in (find_judge("lexical"), find_judge("opposition")):
            shipped = detector.warn
            found, cost = scores(detector, pairs)
            grid = np.linspace(0.0, 0.98, 50)
            chosen = max(grid, key=lambda limit: f1(truth[~odd], found[~odd] >= limit)[0])
            for told, limit in (
                (f"{shipped:.2f} as shipped", shipped),
                (f"{chosen:.2f} chosen on the even half", chosen),
            ):
                value, precision, recall = f1(truth[odd], found[odd] >= limit)
                if detector.name == "lexical" and limit == shipped:
                    base = value
                ratio = f"{value / base:.1f}" if base and detector.name != "lexical" else "–"
                lines.append(
                    f"| {name} | {odd.sum()} ({truth[odd].sum()} contradictions) | {detector.name} | {told} | "
                    f"{precision:.3f} | {recall:.3f} | {value:.3f} | {ratio} | {cost:.2f} |"
                )
                print(lines[-1], flush=True)
        always = f1(truth[odd], np.ones(odd.sum(), bool))[0]
        lines.append(f"| {name} | | saying yes to all | | | | {always:.3f} | | |")
        print(lines[-1], flush=True)
    return [*lines, "", *false_alarms()]


def false_alarms() -> list[str]:
    chance = random.Random(3)
    said = [pair[0] for pair in requirements()]
    strangers = [(chance.choice(said), chance.choice(said), False) for _ in range(3_000)]
    strangers = [pair for pair in strangers if pair[0] != pair[1]]
    with gzip.open(DATA / "msr-para-train.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file][1:]
    same = [(row[3], row[4], False) for row in rows if row[0] == "1"]
    lines = [
        "| false alarms per 1,000 | n | lexical ≥ 0.3 | opposition ≥ 0.5 | opposition ≥ 0.75 |",
        "|---|---|---|---|---|",
    ]
    for name, pairs in (("paraphrases", same), ("random pairs of requirements", strangers)):
        plain, _ = scores(find_judge("lexical"), pairs)
        better, _ = scores(find_judge("opposition"), pairs)
        rates = [float((plain >= 0.3).mean()), float((better >= 0.5).mean()), float((better >= 0.75).mean())]
        lines.append(f"| {name} | {len(pairs)} | " + " | ".join(f"{rate * 1000:.1f}" for rate in rates) + " |")
        print(lines[-1], flush=True)
    return lines


# --- fitting -------------------------------------------------------------------------------------------------------


def fit(rounds: int = 2_500, rate: float = 0.5, shrink: float = 1e-3) -> None:
    """Logistic regression with fixed signs on the even pairs, each set and each class of it counting alike; of several
    aligned sentences the one with the highest score stands for the pair."""
    names = list(features(*_example()))
    negative = np.isin(names, ["identical", "both_deny"])
    loaded = [_matrix(list(load())) for load in SETS.values()]
    weights, bias = np.array([WEIGHTS.get(name, 0.0) for name in names]), BIAS
    chosen: list[np.ndarray] = []
    for number in range(rounds):
        slope, lift = np.zeros(len(names)), 0.0
        if number % 100 == 0:
            chosen = [_strongest(rows, owners, len(truth), weights) for rows, owners, truth in loaded]
        for (rows, _, truth), best in zip(loaded, chosen, strict=True):
            even = np.flatnonzero((np.arange(len(truth)) % 2 == 0) & (best >= 0))
            facts, told = rows[best[even]], truth[even]
            guess = 1 / (1 + np.exp(-(facts @ weights + bias)))
            share = np.where(told, 0.5 / max(1, told.sum()), 0.5 / max(1, (~told).sum()))
            error = (guess - told) * share
            slope, lift = slope + facts.T @ error, lift + error.sum()
        weights = weights - rate * (slope + shrink * weights)
        bias -= rate * lift
        weights = np.where(negative, np.minimum(weights, 0), np.maximum(weights, 0))
    print(f"bias {bias:.2f}")
    print({name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)})


def _example() -> tuple[opposition.Sentence, opposition.Sentence]:
    return opposition.read_sentence("It must."), opposition.read_sentence("It may.")


def _matrix(pairs: Sequence[Pair]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, owners = [], []
    for number, (one, other, _) in enumerate(pairs):
        for mine, theirs in align(read_sentences(one), read_sentences(other)):
            rows.append(list(features(mine, theirs).values()))
            owners.append(number)
    return np.array(rows, float), np.array(owners), np.array([pair[2] for pair in pairs])


def _strongest(rows: np.ndarray, owners: np.ndarray, pairs: int, weights: np.ndarray) -> np.ndarray:
    order = np.argsort(rows @ weights)
    best = np.full(pairs, -1)
    best[owners[order]] = order
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true", help="fit the weights again and print them")
    parser.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The contradiction sets are not beside this checkout (../shared/data/nli); nothing to measure.")
        return 0
    if args.fit:
        fit()
        return 0
    lines = measure()
    if args.write:
        RESULTS.write_text(
            f"# Contradictions\n\n{(__doc__ or '').strip()}\n\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
