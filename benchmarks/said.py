"""What people say: the labelled set, and how well the product tells standing rules and corrections apart.

`said.jsonl` refers to prompts of the packs (pack, session, place among its events, digest of the words) and says what
stands in each. The words themselves are kept only where they are a rule or a correction, as the span to keep.

- Sampled by hash, at most three of a session for each stratum: 20 of any prompts of a project; 18 follow-ups after work
  of 6 to 80 words that end in no question mark; reasons of refusals; 16 of those with a word of obligation, negation or
  generality; then all others with such a word of at most 120 words, of which only rules and corrections were marked.
  What hosts and agents put in a person's place is left out. Then every other prompt of at most 250 words was read once
  (stratum "rest"); of those only what holds a rule or a correction, or leaves doubt, is listed. What is not listed
  holds none.
- A standing rule holds beyond the task at hand. A correction tells how the project or its surroundings really are,
  against what the agent did, said or took for granted, in words that can be understood later. What a product in the
  making should do is an instruction, not a rule.
- Read twice by the same reader, the second time shuffled and without what was said before: the same 61 prompts were
  found both times, nine more the second time; four of these were taken in (`disputed` marks all nine). A second reader
  went through all prompts, half of the first set again among them, and added twelve (`third` where the first reader had
  found none) and marked twenty as disputed: a habit or a fact, but hardly one that a later session needs.
- `said_wordings.jsonl`: rules, corrections and near misses that the second reader made up, in four rounds, each round
  before the cues had been fitted to it: the product's figure on a round before that is one on wordings nobody tuned to.

A prompt counts as found when what is kept shares half its words with a labelled span, and as wrong when nothing does.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from traces import Session, interval, pack_name, packs, read_pack, shown

from recollect.core.likeness import overlap
from recollect.core.text import words
from recollect.observer.cues import CUES, Cue
from recollect.observer.events import ToolResult, UserText
from recollect.observer.said import (
    KEPT,
    SURE,
    SaidSort,
    find_said,
    is_persons_prompt,
    judge_prompt,
    weigh_cues,
)

SET = Path(__file__).with_name("said.jsonl")
WORDINGS = Path(__file__).with_name("said_wordings.jsonl")
_REASON, _NOTE = "the user said:", "\n\nNote: "
_SAME = 0.5  # share of words
_ROUNDS, _RATE, _PULL = 200, 0.5, 0.02  # of fitting weights
_WANTED = (SaidSort.RULE, SaidSort.CORRECTION)
_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)  # of all rules and corrections, on the curve


@dataclass
class Prompt:
    """A labelled prompt with its words."""

    row: dict[str, Any]
    text: str
    cues: dict[str, list[Cue]] = field(default_factory=dict)

    @property
    def pack(self) -> str:
        return str(self.row["pack"])

    @property
    def is_whole(self) -> bool:
        return bool(self.row["whole"])

    def spans(self, *sorts: SaidSort) -> list[str]:
        return [span["text"] for span in self.row.get("spans", ()) if not sorts or span["sort"] in sorts]

    @cached_property
    def sentences(self) -> list[str]:
        held = judge_prompt(self.text)
        return [one.text for one in held] if is_persons_prompt(self.text) else []

    @cached_property
    def is_document(self) -> bool:
        """Does the product look at no sentence of it?"""
        judged = judge_prompt(self.text)
        return all(one.score < KEPT for one in judged) and any(
            max(weigh_cues(_met(one.text))) >= KEPT for one in judged
        )

    def met(self, sentence: str) -> list[Cue]:
        if sentence not in self.cues:
            self.cues[sentence] = _met(sentence)
        return self.cues[sentence]


def _met(sentence: str) -> list[Cue]:
    return [cue for cue in CUES if cue.pattern.search(sentence)]


def people_said(session: Session) -> Iterator[str]:
    """What people said in a session: prompts, and why they refused a call."""
    for event in session.events:
        if isinstance(event, UserText) and not event.agent:
            yield event.text
        elif isinstance(event, ToolResult) and event.rejected and _REASON in event.text:
            yield event.text.partition(_REASON)[2].partition(_NOTE)[0]


def digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16]


def read_set(named: Sequence[str] = ()) -> tuple[list[Prompt], int, Counter[str]]:
    """All prompts of people with their labels, how many labels found no prompt, and how many are listed by project."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for line in SET.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["pack"], row["digest"]] = row
    found: list[Prompt] = []
    listed: Counter[str] = Counter()
    for pack in packs(named):
        name = pack_name(pack)
        seen: set[str] = set()
        for session in read_pack(pack):
            for text in people_said(session):
                key = digest(text)
                if key in seen or not is_persons_prompt(text):
                    continue
                seen.add(key)
                listed[name] += (name, key) in rows
                rest = {"pack": name, "digest": key, "whole": False, "stratum": "rest", "sorts": []}
                found.append(Prompt(rows.get((name, key), rest), text))
    wanted = sum(row["pack"] in listed for row in rows.values())
    return found, wanted - listed.total(), listed


def read_wordings() -> list[dict[str, Any]]:
    return [json.loads(line) for line in WORDINGS.read_text(encoding="utf-8").splitlines()]


# --- figures ---------------------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """Found, missed and wrong prompts of one project."""

    found: int = 0
    missed: int = 0
    wrong: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.found + other.found, self.missed + other.missed, self.wrong + other.wrong)

    @property
    def precision(self) -> float:
        return self.found / (self.found + self.wrong) if self.found + self.wrong else math.nan

    @property
    def weighted(self) -> float:
        """Both in one figure, precision counting twice as much."""
        found = 1.25 * self.found
        return found / (found + self.wrong + 0.25 * self.missed) if found else 0.0

    @property
    def recall(self) -> float:
        return self.found / (self.found + self.missed) if self.found + self.missed else math.nan


def tell(prompt: Prompt, kept: Sequence[str], spans: Sequence[str]) -> Tally:
    """Is what is kept of a prompt what should be?"""
    right = any(_is_same(one, span) for one in kept for span in spans)
    return Tally(found=int(right), missed=int(bool(spans) and not right), wrong=int(bool(kept) and not right))


def _is_same(kept: str, span: str) -> bool:
    return overlap(set(words(kept)), set(words(span))) >= _SAME


def kept_by_product(prompt: Prompt, *, least: int = KEPT, sorts: Iterable[SaidSort] = _WANTED) -> list[str]:
    wanted = set(sorts)
    return [one.text for one in find_said(prompt.text) if one.score >= least and one.sort in wanted]


def kept_without(prompt: Prompt, dropped: frozenset[str], least: int) -> list[str]:
    """What is kept where some cues are not known."""
    if prompt.is_document:
        return []
    return [
        sentence
        for sentence in prompt.sentences
        if max(weigh_cues([cue for cue in prompt.met(sentence) if cue.name not in dropped])) >= least
    ]


def only_here(prompts: Sequence[Prompt], pack: str, *, made_up: bool) -> frozenset[str]:
    """The cues for keeping that no rule or correction of another project bears out, and no made-up one if these count.
    The cues were fitted to the made-up ones, so only without them is a cue independent of who wrote it."""
    rows = read_wordings() if made_up else []
    borne = {cue.name for row in rows if row["keep"] for cue in _met(row["text"])}
    for prompt in prompts:
        if prompt.pack != pack and (spans := prompt.spans()):
            for sentence in prompt.sentences:
                if any(_is_same(sentence, span) for span in spans):
                    borne.update(cue.name for cue in prompt.met(sentence))
    return frozenset(cue.name for cue in CUES if max(cue.rule, cue.correction) > 0 and cue.name not in borne)


def bar_chosen(prompts: Sequence[Prompt], dropped: frozenset[str]) -> int:
    """The score from which to keep, on these prompts: the best where precision counts twice as much as recall."""
    tried = {
        least: sum((tell(one, kept_without(one, dropped, least), one.spans()) for one in prompts), Tally())
        for least in (3, 4, 5)
    }
    return max(tried, key=lambda least: tried[least].weighted)


# --- weights fitted instead ------------------------------------------------------------------------------------------


def fit(sentences: Sequence[tuple[list[Cue], bool]]) -> dict[str, float]:
    """Weights of a logistic model over the cues, pulled towards nothing."""
    weights: dict[str, float] = defaultdict(float)
    named = [([cue.name for cue in met], right) for met, right in sentences]
    grouped = Counter((tuple(sorted(names)), right) for names, right in named)
    for _ in range(_ROUNDS):
        slope: dict[str, float] = defaultdict(float)
        for (names, right), times in grouped.items():
            odds = weights[""] + sum(weights[name] for name in names)
            miss = times * (1 / (1 + math.exp(-odds)) - right)
            for name in ("", *names):
                slope[name] += miss
        size = {name: 1 + sum(times for (names, _), times in grouped.items() if name in names) for name in slope}
        size[""] = len(sentences)
        for name, down in slope.items():
            weights[name] -= _RATE * (down / size[name] + _PULL * weights[name] * (name != ""))
    return dict(weights)


def scores_fitted(prompts: Sequence[Prompt]) -> list[tuple[float, Prompt, str]]:
    """Each prompt's best sentence and its odds, by weights fitted on all other projects."""
    scored: list[tuple[float, Prompt, str]] = []
    for pack in sorted({one.pack for one in prompts}):
        weights = fit(
            [
                (prompt.met(sentence), any(_is_same(sentence, span) for span in prompt.spans()))
                for prompt in prompts
                if prompt.pack != pack
                for sentence in prompt.sentences
            ]
        )
        scored += [_best(prompt, weights) for prompt in prompts if prompt.pack == pack and prompt.sentences]
    return sorted(scored, key=lambda each: -each[0])


def _best(prompt: Prompt, weights: dict[str, float]) -> tuple[float, Prompt, str]:
    odds = {
        one: weights.get("", 0.0) + sum(weights.get(cue.name, 0.0) for cue in prompt.met(one))
        for one in prompt.sentences
    }
    best = max(odds, key=lambda one: odds[one])
    return odds[best], prompt, best


# --- tables ----------------------------------------------------------------------------------------------------------


def said_table(named: Sequence[str] = ()) -> list[str]:
    """Every figure of the labelled set."""
    prompts, lost, listed = read_set(named)
    by_pack = {name: [one for one in prompts if one.pack == name] for name in sorted(listed)}
    lines = [
        f"{len(prompts)} prompts of people in {len(by_pack)} projects, {listed.total()} of them listed ({lost} labels "
        f"without a prompt), {sum(bool(one.spans()) for one in prompts)} with a rule or a correction.",
        "",
        "| project | prompts | rules, corrections | kept | precision | recall | left out: kept | precision | recall |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    own: dict[str, list[Tally]] = {}
    strict: dict[str, list[Tally]] = {}
    lenient: dict[str, list[Tally]] = {}
    for name, some in by_pack.items():
        others = [one for one in prompts if one.pack != name]
        dropped, fewer = (only_here(prompts, name, made_up=made_up) for made_up in (False, True))
        bar = bar_chosen(others, dropped)
        own[name] = [tell(one, kept_by_product(one), one.spans()) for one in some]
        strict[name] = [tell(one, kept_without(one, dropped, bar), one.spans()) for one in some]
        bar = bar_chosen(others, fewer)
        lenient[name] = [tell(one, kept_without(one, fewer, bar), one.spans()) for one in some]
        rules, corrections = (sum(bool(one.spans(sort)) for one in some) for sort in _WANTED)
        lines.append(
            f"| {name} | {len(some)} | {rules}, {corrections} | {_cells(own[name])} | {_cells(strict[name])} |"
        )
    lines.append(f"| **pooled** | {len(prompts)} | | {_pooled(own)} | {_pooled(strict)} |")
    doubted = sum(bool(kept_by_product(one)) and bool(one.row.get("disputed")) and not one.spans() for one in prompts)
    lines += [
        "",
        "Left out: without the cues that only rules and corrections of that project bear out, the bar chosen on the "
        f"others. Intervals: bootstrap over prompts inside projects. {doubted} of the prompts counted as wrongly kept "
        "are disputed.",
        f"Where a made-up wording may bear a cue out too (kept, precision, recall): {_pooled(lenient)}.",
        "",
        *_by_sort(prompts),
        "",
        *_wordings(),
        "",
        *_curve(prompts),
    ]
    return lines


def _cells(tallies: Sequence[Tally]) -> str:
    all_of = sum(tallies, Tally())
    return f"{all_of.found + all_of.wrong} | {shown(all_of.precision, '.2f')} | {shown(all_of.recall, '.2f')}"


def _pooled(tallies: dict[str, list[Tally]]) -> str:
    every = list(tallies.values())
    all_of = sum((one for some in every for one in some), Tally())

    def drawn(which: str) -> str:
        low, high = interval(
            lambda rng: getattr(
                sum((some[int(rng.random() * len(some))] for some in every for _ in some), Tally()), which
            ),
            draws=300,
        )
        return f"{getattr(all_of, which):.2f} ({low:.2f} … {high:.2f})"

    return f"{all_of.found + all_of.wrong} | {drawn('precision')} | {drawn('recall')}"


def _by_sort(prompts: Sequence[Prompt]) -> list[str]:
    """Each sort by itself; those that are not kept on the prompts whose every sentence was labelled."""
    lines = ["| sort | prompts with it | told | precision | recall |", "|---|---|---|---|---|"]
    for sort in _WANTED:
        tally = sum((tell(one, kept_by_product(one, sorts=[sort]), one.spans(sort)) for one in prompts), Tally())
        lines.append(_sort_row(str(sort), tally))
    sure = sum((tell(one, kept_by_product(one, least=SURE), one.spans()) for one in prompts), Tally())
    lines.append(_sort_row("either, told without a review", sure))
    whole = [one for one in prompts if one.is_whole]
    for sort in SaidSort:
        if sort in _WANTED:
            continue
        tally = Tally()
        for one in whole:
            here = any(each.sort is sort for each in judge_prompt(one.text))
            there = sort in one.row["sorts"]
            tally += Tally(int(here and there), int(there and not here), int(here and not there))
        lines.append(_sort_row(str(sort), tally))
    return lines


def _sort_row(label: str, tally: Tally) -> str:
    return (
        f"| {label} | {tally.found + tally.missed} | {tally.found + tally.wrong} | {shown(tally.precision, '.2f')} "
        f"| {shown(tally.recall, '.2f')} |"
    )


def _wordings() -> list[str]:
    """What is kept of the made-up rules, corrections and near misses."""
    lines = ["| made-up wordings | rules and corrections kept | near misses kept |", "|---|---|---|"]
    rows = read_wordings()
    for which in sorted({row["round"] for row in rows}):
        kept = [(row["keep"], bool(find_said(row["text"]))) for row in rows if row["round"] == which]
        cells = [[found for keep, found in kept if keep is wanted] for wanted in (True, False)]
        lines.append(f"| round {which} | " + " | ".join(f"{sum(one)} of {len(one)}" for one in cells) + " |")
    return lines


def _curve(prompts: Sequence[Prompt]) -> list[str]:
    """Precision by recall: the table of cues by its score, and the same cues with weights fitted on other projects."""
    every = sum(bool(one.spans()) for one in prompts)
    tables = [
        (max(weigh_cues(prompt.met(one))), prompt, one)
        for prompt in prompts
        if not prompt.is_document
        for one in prompt.sentences
    ]
    best: dict[int, tuple[float, Prompt, str]] = {}
    for score, prompt, sentence in tables:
        if id(prompt) not in best or score > best[id(prompt)][0]:
            best[id(prompt)] = (score, prompt, sentence)
    lines = ["| recall of at least | " + " | ".join(f"{share:.1f}" for share in _SHARES) + " |"]
    lines.append("|---|" + "---|" * len(_SHARES))
    for label, scored in (
        ("the table, by score", sorted(best.values(), key=lambda each: -each[0])),
        ("weights fitted on the other projects", scores_fitted(prompts)),
    ):
        cells = [_precision_at(scored, share * every) for share in _SHARES]
        lines.append(f"| {label}: precision | " + " | ".join(shown(one, ".2f") for one in cells) + " |")
    return lines


def _precision_at(scored: Sequence[tuple[float, Prompt, str]], wanted: float) -> float:
    """The best precision among all cuts that find as many; sentences of one score are kept together."""
    found, best = 0, math.nan
    for place, (score, prompt, sentence) in enumerate(scored, start=1):
        found += any(_is_same(sentence, span) for span in prompt.spans())
        ends = place == len(scored) or scored[place][0] != score
        if ends and found >= wanted:
            best = max(best, found / place) if best == best else found / place
    return best


if __name__ == "__main__":
    print(*said_table(), sep="\n")
