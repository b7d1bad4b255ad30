"""Conversations, measured: how fast they are captured, what is drawn from them, what comes back, what never piles up.

    python benchmarks/dialogue.py --write

- ingest: every message of LoCoMo and BEAM captured one by one, each durable before the next: wall time, which a busy
  machine and its disk stretch, and CPU time, which they do not; bytes of database for each byte of text.
- context: LoCoMo questions with evidence, asked through the context provider after consolidation by rule. A question is
  answered when one of its evidence turns is cited by a fact in the block (or is itself in the block).
- names: WNUT-17 dev, exact spans, by strategy. Corporations and groups count as organizations, products and works as
  other. `accurate` adds spaCy when it is installed.
- facts: rule-based extraction on LoCoMo, judged by the data's own annotations: a fact is right when an annotator wrote
  down an observation about that very turn. Turns that hold no observation count against it, though they may hold facts,
  so this is a lower bound; the share of all turns with an observation is given beside it as what chance would score.
- standing: BEAM's instruction and preference questions: is the message that states the wish drawn as a fact?
- updates: LongMemEval's knowledge updates with two dated answers, each in a store of its own: is the newest answer's
  session first, by episodes alone and by what consolidation leaves active?
- junk: fifty sessions in which the recalled block is fed back by user, assistant and tool: stored copies of what was
  recalled, before and after.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

import recollect
from recollect.config import Settings
from recollect.dialogue.episodes import Message
from recollect.dialogue.extract import extract_facts
from recollect.entities.finders import Pipeline, Strategy

DATA = Path(__file__).parents[2] / "shared" / "data"
RESULTS = Path(__file__).parent / "results" / "dialogue.md"
OFFLINE = Settings(embedder="none")
_TYPES = {
    "person": "person",
    "location": "location",
    "corporation": "organization",
    "group": "organization",
    "product": "other",
    "creative-work": "other",
}
_START = datetime(2024, 1, 1, tzinfo=UTC)


# --- the data ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    gold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Talk:
    messages: list[Message]
    questions: list[Asked]
    observed: frozenset[str] = frozenset()  # turns an annotator wrote an observation about


def locomo() -> Iterator[Talk]:
    for talk in json.loads((DATA / "conv" / "locomo_conversations_0-4.json").read_text(encoding="utf-8")):
        said = talk["conversation"]
        messages = [
            Message(turn["text"], key, turn["speaker"], _date(said[f"{key}_date_time"], place), _dia(turn["dia_id"]))
            for key, turns in said.items()
            if isinstance(turns, list)
            for place, turn in enumerate(turns)
        ]
        known = {message.id for message in messages}
        questions = [
            Asked(one["question"], gold)
            for one in talk["qa"]
            if one["category"] != 5 and (gold := frozenset(_dias(one.get("evidence", []))) & known)
        ]
        observed = {dia for dia in _dias(_strings(talk["observation"])) if dia in known}
        yield Talk(messages, questions, frozenset(observed))


def _date(text: str, place: int) -> datetime:
    found = re.search(r"(\d+):(\d+) (am|pm) on (\d+ \w+),? (\d{4})", text)
    assert found is not None
    day = datetime.strptime(f"{found[4]} {found[5]}", "%d %B %Y").replace(tzinfo=UTC)
    hour = int(found[1]) % 12 + (12 if found[3] == "pm" else 0)
    return day + timedelta(hours=hour, minutes=int(found[2]), seconds=30 * place)


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for part in parts for text in _strings(part)]


def _dias(texts: list[str]) -> list[str]:
    return [_dia(part) for text in texts for part in re.split(r"[;,\s]+", text) if re.fullmatch(r"D:?\d+:\d+", part)]


def _dia(id: str) -> str:
    session, turn = re.findall(r"\d+", id)[:2]
    return f"D{int(session)}:{int(turn)}"


def beam() -> Iterator[tuple[list[Message], dict[str, list[Asked]]]]:
    with gzip.open(DATA / "conv" / "beam_100K.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            chat = json.loads(line)
            told = [
                (f"{chat['chat']}.{batch['batch_number']}", message)
                for batch in chat["messages"]
                for turn in batch["turns"]
                for message in turn
            ]
            messages = [
                Message(one["content"], session, one["role"], _START + timedelta(minutes=n), str(one["id"]))
                for n, (session, one) in enumerate(told)
            ]
            asked = {
                ability: [
                    Asked(one["question"], frozenset(map(str, _numbers(one.get("source_chat_ids"))))) for one in some
                ]
                for ability, some in chat["probing_questions"].items()
            }
            yield messages, asked


def _numbers(value: Any) -> list[int]:
    if isinstance(value, dict | list):
        return [number for part in (value.values() if isinstance(value, dict) else value) for number in _numbers(part)]
    return [value] if isinstance(value, int) else []


# --- ingest --------------------------------------------------------------------------------------------------------


def ingest() -> Iterator[str]:
    yield "| set | messages | p50 ms | p95 | max | CPU ms p50 | CPU p95 | last 10 % | /s of CPU | database/text |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    sets: dict[str, Callable[[], Iterator[list[Message]]]] = {
        "LoCoMo": lambda: (talk.messages for talk in locomo()),
        "BEAM, 6 chats": lambda: (messages for messages, _ in islice(beam(), 6)),
    }
    for name, talks in sets.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.db"
            times, cpu, size = [], [], 0
            with recollect.open(path, project="bench", settings=OFFLINE) as memory:
                for number, talk in enumerate(talks()):
                    for message in talk:
                        size += len(message.text.encode())
                        start, used = time.perf_counter(), time.process_time()
                        memory.sessions.capture(
                            message.text,
                            session=f"{number}:{message.session}",
                            role=message.role,
                            at=message.at,
                            id=message.id,
                        )
                        times.append((time.perf_counter() - start) * 1000)
                        cpu.append((time.process_time() - used) * 1000)
            tenth = max(1, len(times) // 10)
            figures = [
                f"{len(times):,}",
                f"{median(times):.1f}",
                f"{_share(times, 0.95):.1f}",
                f"{max(times):.1f}",
                f"{median(cpu):.1f}",
                f"{_share(cpu, 0.95):.1f}",
                f"{_share(cpu[-tenth:], 0.95):.1f}",
                f"{len(cpu) / sum(cpu) * 1000:.0f}",
                f"{path.stat().st_size / size:.1f} ×",
            ]
            yield f"| {name} | {' | '.join(figures)} |"


def _share(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


# --- context -------------------------------------------------------------------------------------------------------


def context() -> Iterator[str]:
    yield "| what the block may hold | k | a gold turn is cited | recall of gold turns | tokens | n |"
    yield "|---|---|---|---|---|---|"
    rows: dict[tuple[str, int], list[tuple[float, float, int]]] = {}
    ways = [("facts", frozenset({"fact"})), ("facts and episodes", frozenset({"fact", "episode"}))]
    ways.append(("episodes", frozenset({"episode"})))
    drawn = asked_of = 0
    for talk in locomo():
        with recollect.open(":memory:", settings=OFFLINE) as memory:
            captured = memory.sessions.capture_all(talk.messages)
            ids = {id: message.id for one, message in zip(captured, talk.messages, strict=True) for id in one.episodes}
            memory.tend(job="consolidate")
            facts = memory.sessions.facts(limit=100_000)
            drawn += len(facts)
            cites = {fact.id: _cited(memory, fact.id, ids) for fact in facts}
            asked_of += len(talk.questions)
            for asked in talk.questions:
                for name, kinds in ways:
                    for k in (5, 10):
                        block = memory.sessions.context(asked.text, session="now", k=k, kinds=kinds)
                        shown = {turn for hit in block.hits for turn in cites.get(hit.id, {ids.get(hit.id)})}
                        found = asked.gold & shown
                        row = (float(bool(found)), len(found) / len(asked.gold), block.tokens)
                        rows.setdefault((name, k), []).append(row)
    for (name, k), some in rows.items():
        hit, recall, tokens = (mean(one[column] for one in some) for column in range(3))
        yield f"| {name} | {k} | {hit:.3f} | {recall:.3f} | {tokens:.0f} | {len(some)} |"
    yield ""
    yield f"{drawn:,} facts were drawn by rule; {asked_of} questions."


def _cited(memory: recollect.Recollect, fact: str, ids: dict[Any, str | None]) -> set[str | None]:
    return {ids.get(link.target) for link in memory.why(fact).points_at if link.relation == "derived_from"}


# --- names ---------------------------------------------------------------------------------------------------------


def names() -> Iterator[str]:
    yield "| strategy | finders | span F1 | span P | span R | typed F1 | texts/s | n |"
    yield "|---|---|---|---|---|---|---|---|"
    from recollect.entities.finders import SpacyFinder, installed_model

    pipelines: list[tuple[Strategy, Pipeline]] = [("fast", Pipeline())]
    if installed_model() is not None:
        pipelines.append(("accurate", Pipeline({"spacy": SpacyFinder()})))
    for strategy, pipeline in pipelines:
        spans, typed, predicted, gold, count = 0, 0, 0, 0, 0
        pipeline.find("Warm up, Ada.", strategy)
        start = time.perf_counter()
        for text, wanted in _wnut():
            found = {
                (one.start, one.end, str(one.type))
                for one in pipeline.find(text, strategy)
                if str(one.type) in ("person", "location", "organization", "other", "project") and one.by != "regex"
            }
            spans += len({one[:2] for one in found} & {one[:2] for one in wanted})
            typed += len(found & wanted)
            predicted, gold, count = predicted + len(found), gold + len(wanted), count + 1
        taken = time.perf_counter() - start
        p, r, f = _scores(spans, predicted, gold)
        by = pipeline.names if strategy == "accurate" else "regex+rules"
        yield (
            f"| {strategy} | {by} | {f:.3f} | {p:.3f} | {r:.3f} | {_scores(typed, predicted, gold)[2]:.3f}"
            f" | {count / taken:.0f} | {count} texts, {gold} names |"
        )
    if installed_model() is None:
        yield ""
        yield "spaCy is not installed here, so `accurate` finds what `fast` does."


def _wnut() -> Iterator[tuple[str, set[tuple[int, int, str]]]]:
    text = (DATA / "ner" / "wnut17_emerging.dev.conll").read_text(encoding="utf-8")
    for block in re.split(r"\n\s*\n", text.strip()):
        rows = [line.split("\t") for line in block.split("\n") if "\t" in line]
        said, gold, open_ = "", set(), None
        for token, tag in ((row[0], row[1].strip()) for row in rows):
            start = len(said) + (1 if said else 0)
            said = f"{said} {token}" if said else token
            if tag.startswith("I-") and open_ is not None:
                open_ = (open_[0], len(said), open_[2])
                continue
            if open_ is not None:
                gold.add(open_)
            open_ = (start, len(said), _TYPES[tag[2:]]) if tag.startswith("B-") else None
        if open_ is not None:
            gold.add(open_)
        yield said, gold


def _scores(right: int, predicted: int, gold: int) -> tuple[float, float, float]:
    p, r = right / max(1, predicted), right / max(1, gold)
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


# --- facts ---------------------------------------------------------------------------------------------------------


def facts() -> Iterator[str]:
    yield "| sort | facts | of turns with an observation |"
    yield "|---|---|---|"
    by_sort: dict[str, list[bool]] = {}
    turns = observed = drawn_from = 0
    for talk in locomo():
        with recollect.open(":memory:", settings=OFFLINE) as memory:
            captured = memory.sessions.capture_all(talk.messages)
            turns += len(talk.messages)
            observed += len(talk.observed)
            hit = set()
            for one, message in zip(captured, talk.messages, strict=True):
                for fact in extract_facts([memory.get(id) for id in one.episodes]):
                    by_sort.setdefault(fact.sort, []).append(message.id in talk.observed)
                    hit.add(message.id)
            drawn_from += len(hit & talk.observed)
    everything = [right for some in by_sort.values() for right in some]
    for sort, right in sorted(by_sort.items(), key=lambda item: -len(item[1])):
        yield f"| {sort} | {len(right)} | {mean(right):.3f} |"
    yield f"| all | {len(everything)} | {mean(everything):.3f} |"
    yield ""
    yield (
        f"Chance: {observed / turns:.3f} of {turns:,} turns have an observation. "
        f"Recall: facts were drawn from {drawn_from / observed:.3f} of the {observed} observed turns."
    )


def standing() -> Iterator[str]:
    yield "| ability | messages that state it | drawn as a fact | recall |"
    yield "|---|---|---|---|"
    counts: dict[str, list[bool]] = {}
    for messages, asked in beam():
        by_id = {message.id: message for message in messages}
        with recollect.open(":memory:", settings=OFFLINE) as memory:
            for ability in ("instruction_following", "preference_following"):
                gold = {id for one in asked.get(ability, []) for id in one.gold if id in by_id}
                for id in sorted(gold, key=int):
                    message = by_id[id]
                    if message.role != "user":
                        continue
                    kept = memory.sessions.capture(message.text, session=ability, role="user", id=id)
                    drawn = extract_facts([memory.get(one) for one in kept.episodes])
                    counts.setdefault(ability, []).append(bool(drawn))
    for ability, right in counts.items():
        yield f"| {ability} | {len(right)} | {sum(right)} | {mean(right):.3f} |"


# --- updates -------------------------------------------------------------------------------------------------------


def updates() -> Iterator[str]:
    yield "| answered from | newest first | not found | n |"
    yield "|---|---|---|---|"
    outcomes: dict[str, list[bool | None]] = {"episodes": [], "facts": [], "facts, then episodes": []}
    closed = 0
    for line in (DATA / "conv" / "longmemeval_evidence_even.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if one["question_type"] != "knowledge-update" or len(one["evidence"]) < 2:
            continue
        dated = [
            (datetime.strptime(re.sub(r" \(\w+\)", "", part["date"]), "%Y/%m/%d %H:%M").replace(tzinfo=UTC), part)
            for part in one["evidence"]
        ]
        newest = max(range(len(dated)), key=lambda n: dated[n][0])
        with recollect.open(":memory:", settings=OFFLINE) as memory:
            for number, (at, part) in enumerate(dated):
                for turn in part["turns"]:
                    memory.sessions.capture(turn["content"], session=str(number), role=turn["role"], at=at)
            memory.tend(job="consolidate")
            closed += memory.count(recollect.Filter(statuses=frozenset({recollect.Status.SUPERSEDED})))
            by_episode = _first(memory, one["question"], "episode")
            by_fact = _first(memory, one["question"], "fact")
        for name, first in (
            ("episodes", by_episode),
            ("facts", by_fact),
            ("facts, then episodes", by_episode if by_fact is None else by_fact),
        ):
            outcomes[name].append(None if first is None else first == str(newest))
    for name, right in outcomes.items():
        answered = [one for one in right if one is not None]
        yield f"| {name} | {mean(answered):.3f} | {len(right) - len(answered)} | {len(right)} |"
    yield ""
    yield f"{closed} facts were superseded. The order of hits is recall's affair; this is consolidation alone."


def _first(memory: recollect.Recollect, question: str, kind: str) -> str | None:
    hits = memory.recall(question, k=10, filter=recollect.Filter(kinds=frozenset({kind})), track=False).hits
    return hits[0].memory.session if hits else None


# --- junk ----------------------------------------------------------------------------------------------------------


def junk() -> Iterator[str]:
    yield "| | after the first sessions | after 50 more with recalled text fed back |"
    yield "|---|---|---|"
    talk = next(locomo())
    sessions = list(dict.fromkeys(message.session for message in talk.messages))
    with recollect.open(":memory:", settings=OFFLINE) as memory:
        memory.sessions.capture_all(talk.messages)
        memory.tend(job="consolidate")
        before, facts_before = memory.count(), len(memory.sessions.facts(limit=100_000))
        recalled: set[str] = set()
        tool = memory.sessions.tools()[0]
        added = 0
        for n in range(50):
            asked = talk.questions[n % len(talk.questions)].text
            block = memory.sessions.context(asked, session=f"replay{n}", k=10)
            recalled |= {hit.memory.content for hit in block.hits}
            for role, text in (
                ("user", f"{block.text}\n{asked} (session {n} of {len(sessions)})"),
                ("tool", json.dumps(dict(tool(query=asked)))),
                ("assistant", f"I remember this:\n{block.text}\nSo that is that, number {n}."),
                ("assistant", " ".join(hit.memory.content for hit in block.hits)[:2000] or "Nothing."),
            ):
                added += len(memory.sessions.capture(text, session=f"replay{n}", role=role).episodes)
            memory.tend(job="consolidate")
        copies = _copies(memory, recalled)
        yield f"| memories | {before:,} | {memory.count():,} (the {added} messages themselves) |"
        yield f"| facts | {facts_before:,} | {len(memory.sessions.facts(limit=100_000)):,} |"
        yield f"| copies of {len(recalled)} recalled texts among facts | {len(recalled)} | {copies} |"
        fenced = sum("recollect-memory" in one.content for one in memory.list(limit=100_000).memories)
        yield f"| memories that hold an injected block | 0 | {fenced} |"


def _copies(memory: recollect.Recollect, texts: set[str]) -> int:
    return sum(fact.content in texts for fact in memory.sessions.facts(limit=100_000))


SECTIONS = {
    "ingest": ingest,
    "context": context,
    "names": names,
    "facts": facts,
    "standing": standing,
    "updates": updates,
    "junk": junk,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"some of: {', '.join(SECTIONS)}")
    parser.add_argument("--write", action="store_true", help=f"keep the report in {RESULTS.name}")
    args = parser.parse_args()
    if not DATA.is_dir():
        print("The data sets are not beside this checkout (../shared/data); nothing to measure.")
        return 0
    report = [f"# Conversations\n\n{(__doc__ or '').strip()}\n"]
    for name in args.only.split(","):
        print(f"## {name}\n", flush=True)
        lines = []
        for line in SECTIONS[name]():
            lines.append(line)
            print(line, flush=True)
        report.append(f"## {name}\n\n" + "\n".join(lines) + "\n")
        print(flush=True)
    if args.write:
        RESULTS.write_text("\n".join(report), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
