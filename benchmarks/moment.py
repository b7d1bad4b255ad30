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
other projects' prompts silent, and the words that people of most projects say. `shipped` is the product as it is.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if "RECOLLECT_EMBEDDER" not in os.environ:
    os.environ["RECOLLECT_EMBEDDER"] = "none"

from traces import interval, mean, pack_name, packs, read_pack, resampled, shown

import recollect
from recollect import Draft
from recollect.agent.injection import PROMPT, TELLABLE_KINDS, select_injections
from recollect.agent.recall_search import RecallSearch
from recollect.core import aptness
from recollect.core.aptness import APT, telling_words
from recollect.core.summary import MemorySummary
from recollect.observer.events import Reasoning, UserText
from recollect.observer.said import is_persons_prompt
from recollect.store.sqlite.hook_file import open_hook_reader

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


@dataclass
class Asked:
    """A prompt, the contents that are apt, and what was found for it: relevance and content, best first."""

    pack: str
    sort: str
    text: str
    apt: tuple[str, ...] = ()
    hits: Sequence[MemorySummary] = ()

    @property
    def length(self) -> int:
        return len(self.text.split())

    def told(self, threshold: float) -> list[str]:
        apt = [hit for hit in self.hits if hit.relevance >= threshold]
        return [one.content for one in select_injections(apt, PROMPT, level=_LEVEL, given=())]


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


def ask(rows: Sequence[dict[str, Any]], said: dict[str, set[str]], *, warm: bool) -> list[Asked]:
    """Everything asked of its store, with the words of the other projects."""
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
    for without in sorted({where for where, _ in asked}, key=str):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "memory.db"
            with recollect.open(path) as memory:
                memory.remember_all(drafts(rows, without))
                if warm:
                    memory.tend(job="vectors")
                reader = open_hook_reader(str(path), now=int(time.time() * 1000))
                search = RecallSearch(memory.agent_context, reader) if warm else reader
                for where, one in asked:
                    if where == without:
                        with common_words(said, without=one.pack):
                            one.hits = search.find_apt(one.text, TELLABLE_KINDS, limit=2 * PROMPT.limit)
    return [one for _, one in asked]


class common_words:  # a context manager reads like a function
    """Inside, the words that people of most projects say are those of the projects that are not left out."""

    def __init__(self, said: dict[str, set[str]], *, without: str) -> None:
        self._stems = count_stems({pack: words for pack, words in said.items() if pack != without})
        self._projects = sum(pack != without for pack in said)

    def __enter__(self) -> None:
        self._kept = vars(aptness)["COMMON_STEMS"], vars(aptness)["PROJECTS"]
        vars(aptness).update(COMMON_STEMS=self._stems, PROJECTS=self._projects)

    def __exit__(self, *_: object) -> None:
        vars(aptness).update(COMMON_STEMS=self._kept[0], PROJECTS=self._kept[1])


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
    """The lowest relevance that keeps the prompts of other projects silent."""
    best = sorted(
        max((hit.relevance for hit in one.hits), default=0.0) for one in asked if not one.apt and one.pack != without
    )
    return best[int(SILENT * len(best))] + 1e-9


def report(asked: Sequence[Asked]) -> list[str]:
    names = sorted({one.pack for one in asked if one.pack})
    chosen = {name: choose_threshold(asked, name) for name in ["", *names]}
    lines: list[str] = []
    for title, threshold in (("left out", chosen), ("shipped", dict.fromkeys(chosen, APT))):
        lines += ["", f"### {title}", "", "| | n | share | 95 % | others told beside |", "|---|---|---|---|---|"]
        apt = [one for one in asked if one.sort == "apt"]
        for low, high in (*BANDS, (10, 200)):
            lines.append(_row(f"told, {low}–{high} words", [o for o in apt if low <= o.length <= high], threshold))
        pairs = [one for one in asked if one.sort == "two"]
        lines.append(_row("two topics, both told", pairs, threshold))
        lines.append(_row("two topics, at least one", pairs, threshold, least=1))
        for sort in ("10–200 words", "shorter", "longer", "general", ""):
            some = [one for one in asked if not one.apt and sort in ("", one.sort)]
            lines.append(_row(f"nothing apt, silent: {sort or 'all'}", some, threshold))
    lines += ["", "| project | threshold | told | silent |", "|---|---|---|---|"]
    for name in names:
        told = [_right(one, chosen[name]) for one in asked if one.pack == name and one.sort == "apt"]
        silent = [_right(one, chosen[name]) for one in asked if one.pack == name and not one.apt]
        lines.append(
            f"| {name} | {chosen[name]:.3f} | {shown(mean(told), '.2f')} of {len(told)} | "
            f"{shown(mean(silent), '.2f')} of {len(silent)} |"
        )
    return lines


def _right(one: Asked, threshold: float, least: int | None = None) -> float:
    told = one.told(threshold)
    if not one.apt:
        return float(not told)
    return float(sum(content in told for content in one.apt) >= (least or len(one.apt)))


def _row(title: str, some: Sequence[Asked], threshold: dict[str, float], *, least: int | None = None) -> str:
    right = [_right(one, threshold[one.pack], least) for one in some]
    beside = mean(sum(content not in one.apt for content in one.told(threshold[one.pack])) for one in some)
    low, high = interval(lambda rng: resampled(right, rng), draws=1_000)
    return f"| {title} | {len(some)} | {mean(right):.3f} | {low:.2f}–{high:.2f} | {beside:.2f} |"


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
    lines = [f"## The moment, {'warm' if given.warm else 'by words'}", *report(ask(rows, said, warm=given.warm))]
    print(*lines, sep="\n")
    if given.out:
        given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
