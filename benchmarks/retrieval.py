"""Does the right line come back? Public sets through the public API, our default against what else one could do.

    python benchmarks/retrieval.py --sets locomo,scifact --embedders none,pack:potion,pack:arctic --write

Conversations: each is a store of its own and each turn an episode (LongMemEval: all evidence pooled in one store).
Turns are written in the order and at the dates at which they were said, and questions are asked at their own date or,
where the set gives none, a day after the last turn; `--later month` (day, year) asks that much later still, `--at-once`
writes and asks everything now, as reports before 2026-11-16 did.
Collections: each document one passage. Columns: `keyword` is BM25 alone, `dense` the vectors alone, `rrf` both by
reciprocal ranks with equal weights and k = 60, `seed` the design's weights, `default` ours, `rerank` ours with a
reranker on top (`--reranker`). Recall@k is the share of a question's evidence among the first k answers, averaged over
questions; intervals are bootstrap 95 %. LoCoMo's adversarial questions and those whose cited evidence is known to be
wrong are counted apart. Our weights were fitted on these sets, half against half (decision 5): the figures here are
in-sample for them. `--stores DIR` keeps the filled stores for the next run. `--pool 100000` puts all conversations and
enough strangers' text (agent sessions, abstracts, code) into one store of that size and asks a sample of the questions
there and, for comparison, in the conversation's own store. `--engine postgresql://…` keeps each store as a tenant of
that database instead of in a file of its own; the figures must be the same.
"""

from __future__ import annotations

import argparse
import itertools
import math
import os
import random
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean

from sets import DATA, SETS, Asked, Item, Store, strangers

import recollect
from recollect.config import Settings
from recollect.core.ids import new_id
from recollect.core.query import Mode
from recollect.core.records import Span
from recollect.core.text import clean, fingerprint
from recollect.remember.passages import DocumentChunks, replace_passages

RESULTS = Path(__file__).parent / "results" / "retrieval.md"
K = 10
_RESAMPLES = 1_000


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    recipe: str
    mode: Mode = "hybrid"
    reranker: str = "none"


@dataclass(slots=True)
class Life:
    """When things are written and asked: a clock that is set to each moment in turn."""

    later: timedelta | None = timedelta(0)  # after the moment a question is due; None: everything now
    now: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.now

    def ask(self, asked: Asked, last: datetime | None) -> None:
        """Set the clock to the moment a question is asked; `last` is when the last turn was said."""
        due = asked.at or (None if last is None else last + timedelta(days=1))
        if self.later is not None and due is not None:
            self.now = due + self.later


LIVED_IN = timedelta(0)
LATER = {"": 0, "day": 1, "month": 30, "year": 365}  # days


def columns(embedder: str, reranker: str) -> list[Column]:
    found = [Column("keyword", "bm25", "keyword"), Column("default", "measured")]
    if embedder != "none":
        found[1:1] = [Column("dense", "rrf", "dense"), Column("rrf", "rrf"), Column("seed", "seed")]
    if reranker != "none":
        found.append(Column("rerank", "measured", reranker=reranker))
    return found


# --- measuring -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """How one question fared."""

    asked: Asked
    at5: float
    at10: float
    reciprocal: float
    gain: float  # nDCG@10
    newest_first: bool | None


@dataclass(slots=True)
class Score:
    answers: list[Answer] = field(default_factory=list)
    seconds: float = 0.0

    def of(self, apart: str = "", category: str | None = None) -> list[Answer]:
        return [one for one in self.answers if one.asked.apart == apart and category in (None, one.asked.category)]


def measure(
    name: str,
    embedder: str,
    column: Column,
    most: int | None,
    stores: Path | None,
    later: timedelta | None = LIVED_IN,
    engine: str = "",
) -> Score:
    score, life = Score(), Life(later)
    for number, store in enumerate(SETS[name]()):
        if most is not None and number >= most:
            break
        prints = {item.id: fingerprint(clean(item.text)[0]) for item in store.items}
        last = max((item.at for item in store.items if item.at is not None), default=None)
        with filled(store, embedder, column, stores, life, engine) as memory:
            for asked in store.questions:
                life.ask(asked, last)
                score.seconds += _ask(memory, asked, column.mode, score, prints)
        print(f"  {name} {embedder} {column.name}: {number + 1}   ", end="\r", file=sys.stderr)
    return score


@contextmanager
def filled(
    store: Store, embedder: str, column: Column, stores: Path | None, life: Life, engine: str = ""
) -> Iterator[recollect.Recollect]:
    """An open memory that holds everything of a store, vectors included; from the last run when kept."""
    settings = Settings(recipe=column.recipe, embedder=embedder, reranker=column.reranker)
    if engine:
        tenant = re.sub(r"[^\w.-]", "-", f"{store.name}-{embedder}")
        address = f"{engine}{'&' if '?' in engine else '?'}tenant={tenant}"
        with recollect.open(address, settings=settings, clock=life) as memory:
            if not memory.count():
                _fill(memory, store, life)
                memory.tend()
            yield memory
        return
    ending = "-at-once" if life.later is None else ""
    file = None if stores is None else stores / f"{store.name}-{embedder.replace(':', '-')}{ending}.db"
    if file is not None and file.exists():
        with recollect.open(file, settings=settings, read_only=True, clock=life) as memory:
            yield memory
        return
    place = ":memory:" if file is None else file.with_suffix(".part")
    with recollect.open(place, settings=settings, clock=life) as memory:
        _fill(memory, store, life)
        memory.tend()
        if file is None:
            yield memory
            return
    os.replace(place, file)
    with filled(store, embedder, column, stores, life) as memory:
        yield memory


def _fill(memory: recollect.Recollect, store: Store, life: Life) -> None:
    if not store.passages:
        said = [item for item in store.items if item.text.strip()]
        if life.later is None:
            memory.remember_all(map(_turn, said))
            return
        dated = sorted(_dated(said), key=lambda pair: pair[0])  # sessions of one moment keep their order
        for at, group in itertools.groupby(dated, key=lambda pair: pair[0]):
            life.now = at
            memory.remember_all(_turn(item) for _, item in group)
        return
    cuts = [DocumentChunks(item.id, (_passage(item),)) for item in store.items if item.text.strip()]
    replace_passages(cuts, memory.store, memory.writer.act(), identity=new_id)


def _dated(items: Sequence[Item]) -> Iterator[tuple[datetime, Item]]:
    """Each item with the moment it was said; one without a date was said with the one before it."""
    at = next((item.at for item in items if item.at is not None), datetime.now(UTC))
    for item in items:
        at = item.at or at
        yield at, item


def _turn(item: Item) -> recollect.Draft:
    return recollect.Draft(
        item.text,
        kind="episode",
        session=item.session,
        source_role=item.speaker,
        event_at=item.at,
        attributes={"id": item.id},
    )


def _passage(item: Item) -> recollect.Draft:
    span = Span("prose", 0, len(item.text), item.title)
    return recollect.Draft(item.text, kind="passage", span=span, attributes={"id": item.id})


def _ask(memory: recollect.Recollect, asked: Asked, mode: Mode, score: Score, prints: dict[str, str]) -> float:
    """Ask once and keep how it fared. A turn is known by its words: said twice, it is one memory."""
    start = time.perf_counter()
    hits = memory.recall(asked.text, k=K, mode=mode, track=False)
    spent = time.perf_counter() - start
    found = [hit.memory.fingerprint for hit in hits]
    gold = {prints[id] for id in asked.gold}
    places = [place for place, said in enumerate(found, start=1) if said in gold]
    score.answers.append(
        Answer(
            asked,
            at5=sum(place <= 5 for place in places) / len(gold),
            at10=len(places) / len(gold),
            reciprocal=1 / places[0] if places else 0.0,
            gain=_gain(places) / _gain(range(1, min(K, len(gold)) + 1)),
            newest_first=_newest_first(found, asked, prints),
        )
    )
    return spent


def _gain(places: Sequence[int]) -> float:
    return sum(1 / math.log2(place + 1) for place in places)


def _newest_first(found: Sequence[str], asked: Asked, prints: dict[str, str]) -> bool | None:
    """Of two dated answers: does the first one that comes back belong to the later date?"""
    if not asked.newest:
        return None
    newest, oldest = ({prints[id] for id in ids} for ids in (asked.newest, asked.oldest))
    return next((said for said in found if said in newest | oldest), None) in newest


# --- telling -------------------------------------------------------------------------------------------------------

_HEAD = "| set | vectors | column | R@10 [95 %] | R@5 | MRR | nDCG@10 [95 %] | n | ms |"


def _row(name: str, embedder: str, column: str, score: Score) -> str:
    main = score.of()
    recalls, gains = [one.at10 for one in main], [one.gain for one in main]
    return (
        f"| {name} | {embedder} | {column} | {mean(recalls):.3f} {_interval(recalls)} | {_mean(main, 'at5')} | "
        f"{_mean(main, 'reciprocal')} | {mean(gains):.3f} {_interval(gains)} | {len(main)} | "
        f"{score.seconds / len(score.answers) * 1000:.0f} |"
    )


def _apart(name: str, embedder: str, column: str, score: Score) -> list[str]:
    """What is counted apart, and each category, R@10."""
    parts = [f"{kind} {_mean(found, 'at10')} (n={len(found)})" for kind in _APART if (found := score.of(kind))]
    if "defect" in {one.asked.apart for one in score.answers}:
        both = [*score.of(), *score.of("defect")]
        parts.append(f"with the defects {_mean(both, 'at10')} (n={len(both)})")
    categories = sorted({one.asked.category for one in score.of()})
    if len(categories) > 1:
        parts += [f"{one} {_mean(score.of('', one), 'at10')} (n={len(score.of('', one))})" for one in categories]
    if ordered := [one.newest_first for one in score.answers if one.newest_first is not None]:
        parts.append(f"newest first {sum(ordered)}/{len(ordered)}")
    return [f"- {name}, {embedder}, {column}: {'; '.join(parts)}"] if parts else []


_APART = ("adversarial", "defect")


def _mean(answers: Sequence[Answer], figure: str) -> str:
    return f"{mean(getattr(one, figure) for one in answers):.3f}"


def _interval(values: Sequence[float]) -> str:
    chance = random.Random(1)
    means = sorted(mean(chance.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    return f"[{means[int(0.025 * _RESAMPLES)]:.3f}, {means[int(0.975 * _RESAMPLES)]:.3f}]"


# --- one store for everything --------------------------------------------------------------------------------------


def pooled(size: int) -> Store:
    """Every conversation in one store, filled up with what has nothing to do with them."""
    items: list[Item] = []
    questions: list[Asked] = []
    for name in ("locomo", "longmemeval", "beam"):
        for store in SETS[name]():
            own = {item.id: f"{store.name}/{item.id}" for item in store.items}
            items += [replace(item, id=own[item.id], session=f"{store.name}/{item.session}") for item in store.items]
            questions += [
                replace(asked, gold=frozenset(own[id] for id in asked.gold), category=name, newest=(), oldest=())
                for asked in store.questions
                if not asked.apart
            ]
    random.Random(1).shuffle(questions)
    items += list(itertools.islice(strangers(), max(0, size - len(items))))
    return Store(items, questions, f"pool{size}")


def pool(size: int, embedder: str, most: int, stores: Path | None) -> None:
    """Print R@10 of the same questions in stores of their own and in one of `size` memories."""
    together = pooled(size)
    sample = together.questions[:most]
    wanted = {asked.text for asked in sample}
    column = Column("default", "measured")
    apart = Score()
    for name in ("locomo", "longmemeval", "beam"):
        found = measure(name, embedder, column, None, stores).of()
        apart.answers += [
            replace(one, asked=replace(one.asked, category=name)) for one in found if one.asked.text in wanted
        ]
    mixed = Score()
    prints = {item.id: fingerprint(clean(item.text)[0]) for item in together.items}
    life = Life()
    last = max(item.at for item in together.items if item.at is not None)
    with filled(together, embedder, column, stores, life) as memory:
        held = memory.count()
        for asked in sample:
            life.ask(asked, last)
            mixed.seconds += _ask(memory, asked, "hybrid", mixed, prints)
    for name in ("locomo", "longmemeval", "beam"):
        one, other = apart.of("", name), mixed.of("", name)
        print(
            f"pool of {held:,}, {embedder}, {name}: own store {_mean(one, 'at10')} (n={len(one)}), "
            f"one store {_mean(other, 'at10')} (n={len(other)})"
        )
    print(f"  {mixed.seconds / len(sample) * 1000:.0f} ms a question")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--embedders", default="none", help="none, pack:potion, pack:arctic …")
    parser.add_argument("--columns", help="only these")
    parser.add_argument("--without", default="", metavar="SET=EMBEDDER", help="leave these pairs out")
    parser.add_argument("--reranker", default="none", help="as the setting of that name; adds the column rerank")
    parser.add_argument("--most", type=int, help="only so many conversations of each set")
    parser.add_argument("--later", choices=LATER, default="", help="ask so much later than a question is due")
    parser.add_argument("--at-once", action="store_true", help="write and ask everything now")
    parser.add_argument("--stores", type=Path, help="keep the filled stores in this folder")
    parser.add_argument("--engine", default="", metavar="DSN", help="keep the stores in this PostgreSQL database")
    parser.add_argument("--pool", type=int, metavar="SIZE", help="one store for all, of so many memories")
    parser.add_argument("--questions", type=int, default=400, help="how many are asked of the pool")
    parser.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The sets are not beside this checkout (../shared/data); nothing to measure.")
        return 0
    if args.pool:
        for embedder in args.embedders.split(","):
            pool(args.pool, embedder, args.questions, args.stores)
        return 0
    rows, apart = [_HEAD, "|" + "---|" * 9], []
    print("\n".join(rows))
    for name in args.sets.split(","):
        for embedder in args.embedders.split(","):
            for column in columns(embedder, args.reranker):
                if f"{name}={embedder}" in args.without.split(","):
                    continue
                if args.columns and column.name not in args.columns.split(","):
                    continue
                later = None if args.at_once else timedelta(days=LATER[args.later])
                score = measure(name, embedder, column, args.most, args.stores, later, args.engine)
                rows.append(_row(name, embedder, column.name, score))
                apart += _apart(name, embedder, column.name, score)
                print(rows[-1], *_apart(name, embedder, column.name, score), sep="\n", flush=True)
    if args.write:
        options = " ".join("…" if arg.startswith("/") else arg for arg in sys.argv[1:])
        made = f"Made on {datetime.now(UTC).date().isoformat()} by `retrieval.py {options}`."
        report = "\n".join([*rows, "", "Counted apart, and by category (R@10):", "", *apart])
        RESULTS.write_text(f"# Retrieval\n\n{__doc__.strip()}\n\n{made}\n\n{report}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
