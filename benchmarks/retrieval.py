"""Does the right line come back? Recall@10 on real conversations, through the public API, recipe against recipe.

    python benchmarks/retrieval.py --sets locomo,longmemeval,beam --embedders none,pack:potion --write

Each conversation is a store of its own; each turn one episode. Recall@k is the share of a question's evidence turns
among the first k answers, averaged over questions; intervals are bootstrap 95 %. Questions without evidence are left
out, and LoCoMo's adversarial ones are counted apart. The weights of the recipe `measured` were fitted on these sets,
half against half: the figures here are in-sample for them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any

import recollect
from recollect.config import Settings

DATA = Path(__file__).parents[2] / "shared" / "data" / "conv"
RESULTS = Path(__file__).parent / "results" / "retrieval.md"
K = 10
_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Turn:
    id: str
    text: str
    speaker: str
    session: str
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    gold: frozenset[str]
    apart: bool = False  # counted in a column of its own


@dataclass(frozen=True, slots=True)
class Talk:
    turns: list[Turn]
    questions: list[Asked]


# --- the sets ------------------------------------------------------------------------------------------------------


def locomo() -> Iterator[Talk]:
    for talk in json.loads((DATA / "locomo_conversations_0-4.json").read_text(encoding="utf-8")):
        said = talk["conversation"]
        turns = [
            Turn(_dia(turn["dia_id"]), _with_photo(turn), turn["speaker"], key, _locomo_date(said[f"{key}_date_time"]))
            for key, value in said.items()
            if isinstance(value, list)
            for turn in value
        ]
        known = {turn.id for turn in turns}
        questions = [
            Asked(one["question"], gold, apart=one["category"] == 5)
            for one in talk["qa"]
            if (gold := frozenset(map(_dia, _ids(one.get("evidence", [])))) & known)
        ]
        yield Talk(turns, questions)


def _ids(evidence: list[str]) -> list[str]:
    return [part for text in evidence for part in re.split(r"[;,\s]+", text) if re.fullmatch(r"D:?\d+:\d+", part)]


def _dia(id: str) -> str:
    session, turn = re.findall(r"\d+", id)[:2]
    return f"D{int(session)}:{int(turn)}"


def _with_photo(turn: dict[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shares a photo: {caption}]" if caption else str(turn["text"])


def _locomo_date(text: str) -> datetime | None:
    found = re.search(r"on (\d+ \w+),? (\d{4})", text)
    return datetime.strptime(f"{found[1]} {found[2]}", "%d %B %Y").replace(tzinfo=UTC) if found else None


def longmemeval() -> Iterator[Talk]:
    """All evidence pooled into one store; the gold turns of a question are its own."""
    turns, questions = [], []
    for line in (DATA / "longmemeval_evidence_even.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        gold = []
        for number, session in enumerate(one["evidence"]):
            at = datetime.strptime(re.sub(r" \(\w+\)", "", session["date"]), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
            for place, turn in enumerate(session["turns"]):
                gold.append(f"{one['question_id']}#{number}.{place}")
                turns.append(Turn(gold[-1], turn["content"], turn["role"], f"{one['question_id']}#{number}", at))
        questions.append(Asked(one["question"], frozenset(gold)))
    yield Talk(turns, questions)


def beam() -> Iterator[Talk]:
    with gzip.open(DATA / "beam_100K.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            chat = json.loads(line)
            turns = [
                Turn(str(message["id"]), message["content"], message["role"], f"{batch['batch_number']}.{place}", None)
                for batch in chat["messages"]
                for place, turn in enumerate(batch["turns"])
                for message in turn
            ]
            known = {turn.id for turn in turns}
            questions = [
                Asked(one["question"], gold)
                for asked in chat["probing_questions"].values()
                for one in asked
                if (gold := frozenset(map(str, _numbers(one.get("source_chat_ids")))) & known)
            ]
            yield Talk(turns, questions)


def _numbers(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [number for part in value.values() for number in _numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in _numbers(part)]
    return [value] if isinstance(value, int) else []


SETS = {"locomo": locomo, "longmemeval": longmemeval, "beam": beam}


# --- measuring -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Score:
    recalls: list[float] = field(default_factory=list)
    apart: list[float] = field(default_factory=list)
    seconds: float = 0.0

    def row(self) -> str:
        low, high = _interval(self.recalls)
        apart = f"{mean(self.apart):.3f} (n={len(self.apart)})" if self.apart else "–"
        asked = len(self.recalls) + len(self.apart)
        return (
            f"{mean(self.recalls):.3f} [{low:.3f}, {high:.3f}] | {len(self.recalls)} | {apart} | "
            f"{self.seconds / asked * 1000:.1f}"
        )


def _interval(values: list[float]) -> tuple[float, float]:
    chance = random.Random(1)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]


def measure(name: str, recipe: str, embedder: str, most: int | None) -> Score:
    score = Score()
    for number, talk in enumerate(SETS[name]()):
        if most is not None and number >= most:
            break
        with recollect.open(":memory:", settings=Settings(recipe=recipe, embedder=embedder)) as memory:
            memory.remember_all(_draft(turn) for turn in talk.turns if turn.text.strip())
            memory.tend()
            for asked in talk.questions:
                _ask(memory, asked, score)
        print(f"  {name} {recipe} {embedder}: {number + 1}", end="\r", file=sys.stderr)
    return score


def _draft(turn: Turn) -> recollect.Draft:
    return recollect.Draft(
        turn.text,
        kind="episode",
        session=turn.session,
        source_role=turn.speaker,
        event_at=turn.at,
        attributes={"turn": turn.id},
    )


def _ask(memory: recollect.Recollect, asked: Asked, score: Score) -> None:
    start = time.perf_counter()
    hits = memory.recall(asked.text, k=K, track=False)
    score.seconds += time.perf_counter() - start
    found = {hit.memory.attributes["turn"] for hit in hits} & asked.gold
    (score.apart if asked.apart else score.recalls).append(len(found) / len(asked.gold))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="locomo,longmemeval,beam")
    parser.add_argument(
        "--embedders", default="none", help="none, pack:potion, pack:arctic …, with the recipe measured"
    )
    parser.add_argument("--most", type=int, help="only so many conversations of each set")
    parser.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The conversation sets are not beside this checkout (../shared/data/conv); nothing to measure.")
        return 0
    lines = [
        "| set | recipe, vectors | recall@10 [95 %] | n | adversarial | ms a question |",
        "|---|---|---|---|---|---|",
    ]
    for name in args.sets.split(","):
        for recipe, embedder in [("seed", "none"), *(("measured", one) for one in args.embedders.split(","))]:
            lines.append(f"| {name} | {recipe}, {embedder} | {measure(name, recipe, embedder, args.most).row()} |")
            print(lines[-1], flush=True)
    report = "\n".join(lines)
    if args.write:
        RESULTS.write_text(f"# Retrieval\n\n{__doc__.strip()}\n\n{report}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
