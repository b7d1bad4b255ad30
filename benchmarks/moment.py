"""Is the apt memory told when somebody asks, and nothing when there is nothing to tell?

    python benchmarks/moment.py [--out FILE]
    RECOLLECT_EMBEDDER=pack:potion python benchmarks/moment.py --warm   # as warm processes, with vectors
    python benchmarks/moment.py --stems                   # count what people of the packs say, for core/common_stems.py

`moment.jsonl` refers to what people asked in the packs (pack, session, place among its events, digest of the words):
up to four prompts of each project and length (10–20, 21–40, 41–80, 81–200 words) in the order of a hash. For each, one
memory was written as a colleague would have taught it beforehand, before anything was chosen by this measure; its
writer had read the prompt, which makes it easier than life. `memory: null` marks those that name no subject at all.

- Apt: the prompt is put to a store of 500 other memories: those of all other prompts, and statements that agents made
  in sessions from which no prompt was taken. Told means: among what the hook tells at level cautious.
- Two topics: pairs of prompts of one project, by hash, of together at most 200 words, joined as people do.
- Nothing apt: the same prompts, and shorter and longer ones, put to a store without anything of their project (and of
  projects of the same makers); and general requests. Silent means: nothing is told.

What is chosen is chosen without the project it is reported for: the threshold, as the lowest that keeps 96 % of the
other projects' prompts silent, and the words that people of most projects say. `shipped` is the product as it is, but
for that list of words. Told is what `InjectionSelector.for_prompt` chooses for a later prompt of a session.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if "RECOLLECT_EMBEDDER" not in os.environ:
    os.environ["RECOLLECT_EMBEDDER"] = "none"

from traces import interval, mean, pack_name, packs, read_pack, resampled, shown

import recollect
from recollect import Draft
from recollect.agent.injection import PROMPT, TELLABLE_KINDS, InjectionSelector
from recollect.agent.recall_search import RecallSearch
from recollect.core import aptness
from recollect.core.aptness import telling_words
from recollect.observer.events import Reasoning, UserText
from recollect.observer.said import is_persons_prompt
from recollect.store.hook_reader import HookReader
from recollect.store.sqlite.hook_file import open_hook_reader

if TYPE_CHECKING:
    from recollect.agent.injection import Search

SET = Path(__file__).with_name("moment.jsonl")
OTHERS = 500
PAIRS = 4  # of each project
SILENT = 0.96  # of the other projects' prompts, where the threshold is chosen
BANDS = ((10, 20), (21, 40), (41, 80), (81, 200))
JOINTS = ("{} also, {}", "{}\n\nAnd another thing: {}", "1. {}\n2. {}", "{}\n{}")
_LEVEL = "cautious"
_SAID_BY = 4  # projects whose people say a word before it is listed
_MAKERS = dict.fromkeys(("entireio_cli", "entireio_git_sync", "entireio_graph", "entireio_skills", "pi_dev"), "entire")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def order(row: dict[str, Any]) -> str:
    return hashlib.sha256(f"moment{row['digest']}".encode()).hexdigest()


def makers(pack: str) -> str:
    return _MAKERS.get(pack, pack)


def read_set() -> tuple[list[dict[str, Any]], dict[str, set[str]]]:
    """The labelled rows with their words, and which words people of each project say."""
    rows = [json.loads(line) for line in SET.read_text(encoding="utf-8").splitlines()]
    wanted: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if "pack" in row:
            wanted[row["pack"], row["session"], row["event"]].append(row)
    said: dict[str, set[str]] = defaultdict(set)
    for pack in packs():
        name = pack_name(pack)
        for session in read_pack(pack):
            for place, event in enumerate(session.events):
                if isinstance(event, UserText) and is_persons_prompt(event.text):
                    said[name] |= set(telling_words(event.text))
                if not isinstance(event, Reasoning | UserText):
                    continue
                for row in wanted.get((name, session.id, place), ()):
                    texts = _SENTENCE.split(event.text) if isinstance(event, Reasoning) else [event.text]
                    row["text"] = next(one for one in texts if digest(one.strip()) == row["digest"])
    return rows, said


# --- what is asked ---------------------------------------------------------------------------------------------------


SHIPPED = "shipped"
LEFT_OUT = "left out"


@dataclass
class Asked:
    """A prompt, the contents that are apt, how much the best of its store agreed with it, and what was told."""

    pack: str
    sort: str
    text: str
    apt: tuple[str, ...] = ()
    agreement: float = 0.0
    told: dict[str, list[str]] = field(default_factory=dict)  # by whose threshold

    @property
    def length(self) -> int:
        return len(self.text.split())


def two_topics(rows: Sequence[dict[str, Any]]) -> Iterator[Asked]:
    """Pairs of neighbours in the order of the hash."""
    by_pack: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted((row for row in rows if row.get("memory")), key=order):
        by_pack[row["pack"]].append(row)
    for pack, some in sorted(by_pack.items()):
        pairs = [
            (one, other)
            for one, other in zip(some[::2], some[1::2], strict=False)
            if len(f"{one['text']} {other['text']}".split()) <= BANDS[-1][1]
        ]
        for number, (one, other) in enumerate(pairs[:PAIRS]):
            text = JOINTS[number % len(JOINTS)].format(one["text"].strip(), other["text"].strip())
            yield Asked(pack, "two", text, (one["memory"], other["memory"]))


def drafts(rows: Sequence[dict[str, Any]], without: str | None) -> list[Draft]:
    """The memories of a store: all that were written, filled up with statements of every project in turn."""
    kept = [row for row in rows if "pack" in row and makers(row["pack"]) != without]
    made = [Draft(row["memory"], kind=row["kind"], files=tuple(row["files"])) for row in kept if row.get("memory")]
    by_pack: dict[str, list[str]] = defaultdict(list)
    for row in kept:
        if row["sort"] == "statement":
            by_pack[row["pack"]].append(row["text"])
    turns = [texts[turn] for turn in range(OTHERS) for _, texts in sorted(by_pack.items()) if turn < len(texts)]
    return [*made, *(Draft(text, kind="fact") for text in turns[: OTHERS + 1 - len(made)])]


def prepare(rows: Sequence[dict[str, Any]]) -> list[tuple[str | None, Asked]]:
    """What is asked, and whose memories are not in the store it is asked of."""
    prompts = [row for row in rows if row["sort"] == "prompt"]
    apt = [Asked(row["pack"], "apt", row["text"], (row["memory"],)) for row in prompts if row["memory"]]
    asked: list[tuple[str | None, Asked]] = [(None, one) for one in (*apt, *two_topics(prompts))]
    for row in rows:
        if row["sort"] == "generic":
            asked.append((None, Asked("", "general", row["text"])))
        elif row["sort"] != "statement":
            name = {"prompt": "10–200 words", "short": "shorter", "long": "longer"}[row["sort"]]
            asked.append((makers(row["pack"]), Asked(row["pack"], name, row["text"])))
    asked.sort(key=lambda one: (one[0] or "", one[1].pack))
    return asked


def ask_all(rows: Sequence[dict[str, Any]], said: dict[str, set[str]], *, warm: bool) -> list[Asked]:
    """Everything asked of its store, with the words of the other projects: first to choose thresholds, then by them."""
    asked = prepare(rows)
    every = [one for _, one in asked]
    with tempfile.TemporaryDirectory() as folder:
        stores = {where: build(Path(folder) / f"{number}.db", rows, where, warm=warm)
                  for number, where in enumerate(sorted({where for where, _ in asked}, key=str))}  # fmt: skip
        for where, one in asked:
            with common_words(said, without=one.pack):
                _, reader, search = stores[where]
                hits = search.find_apt(one.text, TELLABLE_KINDS, limit=2 * PROMPT.limit)
                best = max((hit.relevance for hit in hits), default=0.0)
                one.agreement = vars(aptness)["_THRESHOLD"] * best / (1 - best)
                one.told[SHIPPED] = tell(one, reader, search)
        chosen = {pack: choose_threshold(every, pack) for pack in sorted({one.pack for one in every})}
        for where, one in asked:
            with common_words(said, without=one.pack), replaced(_THRESHOLD=chosen[one.pack]):
                one.told[LEFT_OUT] = tell(one, *stores[where][1:])
        for memory, _, _ in stores.values():
            memory.close()
    return every


def build(
    path: Path, rows: Sequence[dict[str, Any]], without: str | None, *, warm: bool
) -> tuple[recollect.Recollect, HookReader, Search]:
    """A store without a project, and how it is searched."""
    memory = recollect.open(path)
    memory.remember_all(drafts(rows, without))
    if warm:
        memory.tend(job="vectors")
    reader = open_hook_reader(str(path), now=int(time.time() * 1000))
    return memory, reader, RecallSearch(memory.agent_context, reader) if warm else reader


def tell(one: Asked, reader: HookReader, search: Search) -> list[str]:
    selector = InjectionSelector(reader, session="moment", level=_LEVEL, given=(), search=search)
    return [memory.content for memory in selector.for_prompt(one.text, first=False)]


@contextmanager
def replaced(**values: Any) -> Iterator[None]:
    """Inside, other numbers than the shipped ones hold."""
    kept = {name: vars(aptness)[name] for name in values}
    vars(aptness).update(values)
    try:
        yield
    finally:
        vars(aptness).update(kept)


@contextmanager
def common_words(said: dict[str, set[str]], *, without: str) -> Iterator[None]:
    """Inside, the words that people of most projects say are those of the projects that are not left out."""
    others = {pack: words for pack, words in said.items() if pack != without}
    with replaced(COMMON_STEMS=count_stems(others), PROJECTS=len(others)):
        yield


def count_stems(said: dict[str, set[str]]) -> dict[str, int]:
    """In how many projects people say a word, by its stem; words of few projects are left out."""
    counted = Counter(stem for words in said.values() for stem in _stems(words))
    return {stem: projects for stem, projects in counted.items() if projects >= _SAID_BY and stem.isalpha()}


_STEM_OF: dict[str, str] = {}


def _stems(words: set[str]) -> set[str]:
    import apsw

    from recollect.store.terms import TOKENIZER

    missing = [word for word in words if word not in _STEM_OF]
    cut: Any = apsw.Connection(":memory:").fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    for word in missing:
        found = list(cut(word.encode(), 4, None, include_offsets=False, include_colocated=False))
        _STEM_OF[word] = found[0] if found else ""
    return {_STEM_OF[word] for word in words} - {""}


# --- figures ---------------------------------------------------------------------------------------------------------


def choose_threshold(asked: Sequence[Asked], without: str) -> float:
    """The lowest agreement that keeps the prompts of other projects silent."""
    best = sorted(one.agreement for one in asked if not one.apt and one.pack != without)
    return best[int(SILENT * len(best))] + 1e-9


def report(asked: Sequence[Asked]) -> list[str]:
    names = sorted({one.pack for one in asked if one.pack})
    lines: list[str] = []
    for title in (LEFT_OUT, SHIPPED):
        lines += ["", f"### {title}", "", "| | n | share | 95 % | others told beside |", "|---|---|---|---|---|"]
        apt = [one for one in asked if one.sort == "apt"]
        for low, high in (*BANDS, (10, 200)):
            lines.append(_row(f"told, {low}–{high} words", [o for o in apt if low <= o.length <= high], title))
        pairs = [one for one in asked if one.sort == "two"]
        lines.append(_row("two topics, both told", pairs, title))
        lines.append(_row("two topics, at least one", pairs, title, least=1))
        for sort in ("10–200 words", "shorter", "longer", "general", ""):
            some = [one for one in asked if not one.apt and sort in ("", one.sort)]
            lines.append(_row(f"nothing apt, silent: {sort or 'all'}", some, title))
    lines += ["", "| project, left out | threshold | told | both topics | silent |", "|---|---|---|---|---|"]
    for name in names:
        mine = [one for one in asked if one.pack == name]
        groups = [[one for one in mine if one.sort == "apt"], [one for one in mine if one.sort == "two"]]
        cells = [_share(some) for some in (*groups, [one for one in mine if not one.apt])]
        lines.append(f"| {name} | {choose_threshold(asked, name):.3f} | {' | '.join(cells)} |")
    return lines


def _share(some: Sequence[Asked]) -> str:
    right = [_right(one, LEFT_OUT) for one in some]
    low, high = interval(lambda rng: resampled(right, rng), draws=1_000) if right else (0.0, 0.0)
    return f"{shown(mean(right), '.2f')} ({low:.2f}–{high:.2f}) of {len(right)}"


def _right(one: Asked, title: str, least: int | None = None) -> float:
    told = one.told[title]
    if not one.apt:
        return float(not told)
    return float(sum(content in told for content in one.apt) >= (least or len(one.apt)))


def _row(name: str, some: Sequence[Asked], title: str, *, least: int | None = None) -> str:
    right = [_right(one, title, least) for one in some]
    beside = mean(sum(content not in one.apt for content in one.told[title]) for one in some)
    low, high = interval(lambda rng: resampled(right, rng), draws=1_000)
    return f"| {name} | {len(some)} | {mean(right):.3f} | {low:.2f}–{high:.2f} | {beside:.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--stems", action="store_true")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows, said = read_set()
    if given.stems:
        for stem, projects in sorted(count_stems(said).items(), key=lambda one: (-one[1], one[0])):
            print(projects, stem)
        return
    lines = [f"## The moment, {'warm' if given.warm else 'by words'}", *report(ask_all(rows, said, warm=given.warm))]
    print(*lines, sep="\n")
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
