"""What people say: the labelled set, and how well the product tells standing rules and corrections apart.

`said.jsonl` refers to prompts of the packs (pack, session, place among its events, digest of the words) and says what
stands in each. The words themselves are kept only where they are a rule or a correction, as the span to keep.

- Sampled by hash, at most three of a session for each stratum: 20 of any prompts of a project; 18 follow-ups after work
  of 6 to 80 words that end in no question mark; reasons of refusals; 16 of those with a word of obligation, negation or
  generality; then all others with such a word of at most 120 words, of which only rules and corrections were marked.
  What hosts and agents put in a person's place is left out. Everything the product keeps beyond that was judged too.
- A standing rule holds beyond the task at hand. A correction tells how the project or its surroundings really are,
  against what the agent did, said or took for granted, in words that can be understood later. What a product in the
  making should do is an instruction, not a rule.
- Read twice by the same reader, the second time shuffled and without what was said before: the same 61 prompts were
  found both times, nine more the second time; four of these were taken in (`disputed` marks all nine).

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
from recollect.observer.said_cues import CUES, Cue

SET = Path(__file__).with_name("said.jsonl")
_REASON, _NOTE = "the user said:", "\n\nNote: "
_SAME = 0.5  # share of words
_ROUNDS, _RATE, _PULL = 200, 0.5, 0.02  # of fitting weights
_WANTED = (SaidSort.RULE, SaidSort.CORRECTION)


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
    """The labelled prompts, how many were not found in the packs, and how many prompts each project has."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for line in SET.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        rows[row["pack"], row["digest"]] = row
    found: list[Prompt] = []
    said: Counter[str] = Counter()
    chosen = packs(named)
    for pack in chosen:
        name = pack_name(pack)
        seen: set[str] = set()
        for session in read_pack(pack):
            for text in people_said(session):
                key = digest(text)
                if key in seen or not is_persons_prompt(text):
                    continue
                seen.add(key)
                said[name] += 1
                if (name, key) in rows:
                    found.append(Prompt(rows[name, key], text))
                elif find_said(text):
                    found.append(Prompt({"pack": name, "digest": key, "whole": False, "new": True}, text))
    wanted = sum(row["pack"] in said for row in rows.values())
    return found, wanted - sum("new" not in one.row for one in found), said


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


def only_here(prompts: Sequence[Prompt], pack: str) -> frozenset[str]:
    """The cues for keeping that no rule or correction of another project bears out."""
    borne: set[str] = set()
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
                if prompt.pack != pack and "new" not in prompt.row
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
    prompts, lost, said = read_set(named)
    by_pack = {name: [one for one in prompts if one.pack == name] for name in sorted(said)}
    lines = [
        f"{len(prompts)} labelled prompts of {len(by_pack)} projects ({sum(said.values())} prompts of people in all; "
        f"{lost} labels without a prompt), {sum(bool(one.spans()) for one in prompts)} with a rule or a correction.",
        "",
        "| project | prompts | labelled | rules, corrections | kept | precision | recall | left out: kept | precision "
        "| recall |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    own: dict[str, list[Tally]] = {}
    strict: dict[str, list[Tally]] = {}
    for name, some in by_pack.items():
        dropped = only_here(prompts, name)
        bar = bar_chosen([one for one in prompts if one.pack != name], dropped)
        own[name] = [tell(one, kept_by_product(one), one.spans()) for one in some]
        strict[name] = [tell(one, kept_without(one, dropped, bar), one.spans()) for one in some]
        rules, corrections = (sum(bool(one.spans(sort)) for one in some) for sort in _WANTED)
        lines.append(
            f"| {name} | {said[name]} | {len(some)} | {rules}, {corrections} | {_cells(own[name])} "
            f"| {_cells(strict[name])} |"
        )
    lines.append(f"| **pooled** | {sum(said.values())} | {len(prompts)} | | {_pooled(own)} | {_pooled(strict)} |")
    lines += [
        "",
        "Left out: without the cues that only rules and corrections of that project bear out, the bar chosen on the "
        "others. Intervals: bootstrap over prompts inside projects.",
        "",
        *_by_sort(prompts),
        "",
        *_fitted(prompts),
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


def _fitted(prompts: Sequence[Prompt]) -> list[str]:
    """The same cues with weights fitted on the other projects, as many kept as the product keeps."""
    scored = [each for each in scores_fitted(prompts) if is_persons_prompt(each[1].text)]
    every = sum(bool(one.spans()) for one in prompts)
    kept = sum(bool(kept_by_product(one)) for one in prompts)
    found = sum(any(_is_same(sentence, span) for span in prompt.spans()) for _, prompt, sentence in scored[:kept])
    bare = sum(
        bool(spans := one.spans())
        and all(
            not _telling(one, sentence) for sentence in one.sentences if any(_is_same(sentence, span) for span in spans)
        )
        for one in prompts
    )
    return [
        f"Weights fitted on the other projects instead (logistic over the same cues), the best {kept} kept: precision "
        f"{found / max(1, kept):.2f}, recall {found / max(1, every):.2f}.",
        f"Ceiling: {bare} of {every} rules and corrections hold no cue of lastingness or of a fact at all; they are "
        "told only by what the project is like.",
    ]


def _telling(prompt: Prompt, sentence: str) -> bool:
    return any(max(cue.rule, cue.correction) >= 2 for cue in prompt.met(sentence))


if __name__ == "__main__":
    print(*said_table(), sep="\n")
