"""The public sets retrieval is measured on, in one shape: statements to remember, questions with what should come back.

They are read from ../shared/data beside the checkout and never committed; see its README for origin and licence.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Item:
    """One turn of a conversation, or one passage of a collection."""

    id: str
    text: str
    speaker: str | None = None
    session: str | None = None
    at: datetime | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    gold: frozenset[str]
    category: str
    apart: str = ""  # counted in a column of its own: adversarial, or a known defect of the labels
    at: datetime | None = None  # when it is asked
    newest: tuple[str, ...] = ()  # of two dated answers, the items of the later one
    oldest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Store:
    """What goes into one store, and what is asked of it."""

    items: list[Item]
    questions: list[Asked]
    name: str = ""
    passages: bool = field(default=False)


def locomo() -> Iterator[Store]:
    wrong = _locomo_defects()
    for number, talk in enumerate(json.loads((DATA / "conv" / "locomo_conversations_0-4.json").read_text("utf-8"))):
        said = talk["conversation"]
        turns = [
            Item(_dia(turn["dia_id"]), _with_photo(turn), turn["speaker"], key, _locomo_date(said[f"{key}_date_time"]))
            for key, value in said.items()
            if isinstance(value, list)
            for turn in value
        ]
        known = {turn.id for turn in turns}
        questions = [
            Asked(one["question"], gold, _LOCOMO[one["category"]], _locomo_apart(one, number, wrong))
            for one in talk["qa"]
            if (gold := frozenset(map(_dia, _ids(one.get("evidence", [])))) & known)
        ]
        yield Store(turns, questions, f"locomo{number}")


_LOCOMO = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_BAD_EVIDENCE = ("WRONG_CITATION",)  # the answer may be right, but the cited turn is not where it stands


def _locomo_defects() -> frozenset[tuple[int, str]]:
    found = json.loads((DATA / "conv" / "locomo_audit_errors.json").read_text("utf-8"))
    return frozenset(
        (int(one["question_id"].split("_")[1]), one["question"])
        for one in found
        if one["error_type"] in _BAD_EVIDENCE or one["cited_evidence"] != one.get("correct_evidence")
    )


def _locomo_apart(one: dict[str, Any], number: int, wrong: frozenset[tuple[int, str]]) -> str:
    if one["category"] == 5:
        return "adversarial"
    return "defect" if (number, one["question"]) in wrong else ""


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


def longmemeval() -> Iterator[Store]:
    """All evidence pooled into one store; the gold turns of a question are its own."""
    turns, questions = [], []
    for line in (DATA / "conv" / "longmemeval_evidence_even.jsonl").read_text("utf-8").splitlines():
        one = json.loads(line)
        sessions: list[tuple[datetime, list[str]]] = []
        for number, session in enumerate(one["evidence"]):
            at, ids = _lme_date(session["date"]), []
            for place, turn in enumerate(session["turns"]):
                ids.append(f"{one['question_id']}#{number}.{place}")
                turns.append(Item(ids[-1], turn["content"], turn["role"], f"{one['question_id']}#{number}", at))
            sessions.append((at, ids))
        sessions.sort(key=lambda pair: pair[0])
        dated = one["question_type"] == "knowledge-update" and len(sessions) == 2 and not one["abstention"]
        questions.append(
            Asked(
                one["question"],
                frozenset(id for _, ids in sessions for id in ids),
                one["question_type"],
                at=_lme_date(one["question_date"]),
                newest=tuple(sessions[1][1]) if dated else (),
                oldest=tuple(sessions[0][1]) if dated else (),
            )
        )
    yield Store(turns, questions, "longmemeval")


def _lme_date(text: str) -> datetime:
    return datetime.strptime(re.sub(r" \(\w+\)", "", text), "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


def beam() -> Iterator[Store]:
    with gzip.open(DATA / "conv" / "beam_100K.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            chat = json.loads(line)
            turns = list(_beam_turns(chat["messages"]))
            known = {turn.id for turn in turns}
            questions = [
                Asked(one["question"], gold, ability)
                for ability, asked in chat["probing_questions"].items()
                for one in asked
                if (gold := frozenset(map(str, _numbers(one.get("source_chat_ids")))) & known)
            ]
            yield Store(turns, questions, f"beam{chat['chat']}")


def _beam_turns(batches: list[dict[str, Any]]) -> Iterator[Item]:
    for batch in batches:
        at: datetime | None = None
        for place, turn in enumerate(batch["turns"]):
            for message in turn:
                if anchor := message.get("time_anchor"):
                    at = _beam_date(anchor) or at
                session = f"{batch['batch_number']}.{place}"
                yield Item(str(message["id"]), message["content"], message["role"], session, at)


def _beam_date(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, "%B-%d-%Y").replace(tzinfo=UTC)
    except ValueError:
        return None


def _numbers(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [number for part in value.values() for number in _numbers(part)]
    if isinstance(value, list):
        return [number for part in value for number in _numbers(part)]
    return [value] if isinstance(value, int) else []


def scifact() -> Iterator[Store]:
    csv.field_size_limit(10**8)
    with zipfile.ZipFile(DATA / "ir" / "scifact.zip") as archive:
        rows = csv.DictReader(io.TextIOWrapper(archive.open("corpus_train.csv"), "utf-8", newline=""))
        items = [Item(row["doc_id"], _sentences(row["abstract"]), title=row["title"]) for row in rows]
    with gzip.open(DATA / "ir" / "topics.beir-v1.0.0-scifact.test.tsv.gz", "rt", encoding="utf-8") as lines:
        topics = dict(line.rstrip("\n").split("\t", 1) for line in lines)
    gold = _judged(DATA / "ir" / "qrels.beir-v1.0.0-scifact.test.txt")
    yield Store(items, [Asked(topics[id], found, "claim") for id, found in gold.items()], "scifact", passages=True)


def _sentences(abstract: str) -> str:
    """The abstract out of its printed list of quoted sentences."""
    return re.sub(r"""['"]\s*\n\s*['"]""", " ", abstract.strip()[1:-1]).strip("'\" \n")


def cranfield() -> Iterator[Store]:
    with gzip.open(DATA / "ir" / "cran.all.1400.xml.gz", "rt", encoding="utf-8") as file:
        docs = re.findall(r"<docno>(.*?)</docno>.*?<title>(.*?)</title>.*?<text>(.*?)</text>", file.read(), re.DOTALL)
    items = [
        Item(id.strip(), " ".join(text.split()), title=" ".join(title.split()))
        for id, title, text in docs
        if text.split()
    ]
    known = {item.id for item in items}
    asked = re.findall(r"<title>(.*?)</title>", (DATA / "ir" / "cran.qry.xml").read_text("utf-8"), re.DOTALL)
    gold = _judged(DATA / "ir" / "cranqrel.trec.txt")  # numbers its queries by their place, not by <num>
    questions = [
        Asked(" ".join(text.split()), found, "query")
        for place, text in enumerate(asked, start=1)
        if (found := gold.get(str(place), frozenset()) & known)
    ]
    yield Store(items, questions, "cranfield", passages=True)


def _judged(file: Path) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in file.read_text("utf-8").splitlines():
        query, _, item, grade = line.split()
        if int(grade) > 0:
            found.setdefault(query, set()).add(item)
    return {query: frozenset(items) for query, items in found.items()}


def cosqa() -> Iterator[Store]:
    with gzip.open(DATA / "code" / "cosqa_code_idx_map.txt.gz", "rt", encoding="utf-8") as file:
        codes = json.load(file)
    asked = json.loads((DATA / "code" / "cosqa-retrieval-dev-500.json").read_text("utf-8"))
    items = [Item(str(number), code, title=_function(code)) for code, number in codes.items()]
    questions = [Asked(one["doc"], frozenset({str(one["retrieval_idx"])}), "code") for one in asked]
    yield Store(items, questions, "cosqa", passages=True)


def _function(code: str) -> str:
    named = re.search(r"def\s+(\w+)", code)
    return named[1] if named else ""


def strangers() -> Iterator[Item]:
    """Text that has nothing to do with the conversations: what agents did, abstracts sentence by sentence, code."""
    for number, item in enumerate(itertools.chain(_traces(), _prose(scifact), _prose(cranfield), *_codes())):
        yield replace(item, id=f"stranger/{number}")


def _traces() -> Iterator[Item]:
    for name in ("entireio_cli", "context_evaluator"):
        with gzip.open(DATA / "traces" / f"{name}.events.jsonl.gz", "rt", encoding="utf-8") as lines:
            for event in map(json.loads, lines):
                text = event.get("text") or event.get("result")
                if isinstance(text, str) and len(text) > 20:
                    role = "user" if event["k"] == "user" else "assistant"
                    yield Item("", text[:400].replace("\0", ""), role, f"{name}/{event['s']}")


def _prose(collection: Callable[[], Iterator[Store]]) -> Iterator[Item]:
    for store in collection():
        for item in store.items:
            for sentence in re.split(r"(?<=[.!?])\s+", item.text):
                if len(sentence) > 20:
                    yield Item("", sentence, "writer", f"{store.name}/{item.id}")


def _codes() -> Iterator[list[Item]]:
    for store in cosqa():
        yield [Item("", item.text, "writer", f"cosqa/{int(item.id) // 20}") for item in store.items]


SETS: dict[str, Callable[[], Iterator[Store]]] = {
    "locomo": locomo,
    "longmemeval": longmemeval,
    "beam": beam,
    "scifact": scifact,
    "cranfield": cranfield,
    "cosqa": cosqa,
}
