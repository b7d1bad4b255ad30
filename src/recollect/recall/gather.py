"""From the channels to one list: ask them all in parallel under one deadline, merge their rankings, read the leaders.

Channels, rerankers and models are strangers' code: whatever they raise and however late they are, recall goes on
without them and says so.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from recollect.core.ids import MemoryId
from recollect.core.ports import Channel
from recollect.core.query import Candidate, Found, Query, Reading
from recollect.store.store import Store

Result = TypeVar("Result")


class Answered(Generic[Result]):
    """What came of it. `trouble` is empty exactly when there is an `answer`."""

    def __init__(self, answer: Result | None, trouble: str = "") -> None:
        self.answer, self.trouble = answer, trouble


def try_answer(act: Callable[[], Result]) -> Answered[Result]:
    try:
        return Answered(act())
    except Exception as error:  # a stranger's code: whatever it raises, recall goes on without
        return Answered(None, str(error) or type(error).__name__)


def answer_in_time(act: Callable[[], Result], *, deadline: float, name: str) -> Answered[Result]:
    """The result of `act` within `deadline` seconds. A late one goes on in the background and is ignored,
    so it must not touch the store, which may be closed by then."""
    answers: list[Answered[Result]] = []
    thread = threading.Thread(target=lambda: answers.append(try_answer(act)), name=name, daemon=True)
    thread.start()
    thread.join(deadline)
    return answers[0] if answers else Answered(None, f"too late after {deadline:g} s, ignored")


@dataclass(slots=True)
class Gathered:
    """What each channel found, and why some found nothing."""

    channels: dict[str, Sequence[Candidate]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def gather(query: Query, reading: Reading, channels: Sequence[Channel], *, deadline: float) -> Gathered:
    """The candidates of all channels that answered in time."""
    if len(channels) == 1:  # nothing to overlap with: no thread to start
        return _collect(channels, {channels[0].name: _asked(channels[0], query, reading)})
    answers: dict[str, _Answer] = {}
    threads = [
        threading.Thread(target=_ask, args=(channel, query, reading, answers), name=channel.name, daemon=True)
        for channel in channels
    ]
    for thread in threads:
        thread.start()
    end = time.monotonic() + deadline
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return _collect(channels, dict(answers))


def gather_by_mode(query: Query, reading: Reading, channels: Sequence[Channel], *, deadline: float) -> Gathered:
    """Every channel the mode allows. Without vectors a question by meaning is answered by words, and says so."""
    if query.mode == "hybrid":
        return gather(query, reading, channels, deadline=deadline)
    by_words = [channel for channel in channels if channel.name != "dense"]
    if query.mode == "keyword":
        return gather(query, reading, by_words, deadline=deadline)
    by_meaning = [channel for channel in channels if channel.name == "dense"]
    gathered = gather(query, reading, by_meaning, deadline=deadline)
    if any(gathered.channels.values()):
        return gathered
    instead = gather(query, reading, by_words, deadline=deadline)
    why = gathered.notes or ["dense: nothing to compare with"]
    return Gathered(instead.channels, [*why, "answered by keyword instead", *instead.notes])


_Answer: TypeAlias = tuple[Sequence[Candidate], str]  # what was found, and what went wrong


def _ask(channel: Channel, query: Query, reading: Reading, answers: dict[str, _Answer]) -> None:
    answers[channel.name] = _asked(channel, query, reading)


def _asked(channel: Channel, query: Query, reading: Reading) -> _Answer:
    try:
        return channel.candidates(query, reading), ""
    except Exception as error:  # a channel is a stranger's code: whatever it raises, the others still answer
        return (), str(error) or type(error).__name__


def _collect(channels: Sequence[Channel], answers: Mapping[str, _Answer]) -> Gathered:
    gathered = Gathered()
    for channel in channels:
        found, trouble = answers.get(channel.name, ((), "too late, left out"))
        if trouble:
            gathered.notes.append(f"{channel.name}: {trouble}")
        else:
            gathered.channels[channel.name] = found
            gathered.notes += found.notes if isinstance(found, Found) else ()
    return gathered


def fuse(channels: Mapping[str, Sequence[Candidate]], *, weights: Mapping[str, float], damping: int) -> list[Candidate]:
    """Merge the channels into one ranking from 0 to 1. Agreement counts; raw scores do not.

    Reciprocal ranks sum to a few hundredths, while every later weight assumes 0 to 1, so the sum is divided by the
    best one possible: first in every channel that answered.
    """
    present = {name: weights.get(name, 0.0) for name, ranked in channels.items() if ranked}
    best = sum(present.values()) / (damping + 1)
    merged: dict[MemoryId, Candidate] = {}
    for name, weight in present.items():
        for rank, candidate in enumerate(channels[name], start=1):
            share = weight / (damping + rank) / best if best else 0.0
            seen = merged.get(candidate.id)
            merged[candidate.id] = Candidate(
                candidate.id,
                share + (seen.score if seen else 0.0),
                (*(seen.reasons if seen else ()), f"{name} #{rank}", *candidate.reasons),
                (seen.memory if seen else None) or candidate.memory,
                {**seen.factors, **candidate.factors} if seen else candidate.factors,
            )
    return sorted(merged.values(), key=lambda candidate: (-candidate.score, candidate.id))


def hydrate(candidates: Sequence[Candidate], store: Store) -> tuple[list[Candidate], list[str]]:
    """The candidates that can be read, each with its memory, and a note for each that is damaged. One that is gone by
    now is left out. Reading whole memories costs more than finding them, so only the leaders are read, at once."""
    bare = [candidate for candidate in candidates if candidate.memory is None]
    if not bare:
        return list(candidates), []
    page = store.memories.get_many([one.id for one in bare])
    known = {memory.id: memory for memory in page.memories}
    found = [
        candidate
        if candidate.memory
        else Candidate(
            candidate.id, candidate.score, candidate.reasons, known[candidate.id], candidate.factors, candidate.doubts
        )
        for candidate in candidates
        if candidate.memory or candidate.id in known
    ]
    return found, [f"{id} is damaged and was left out; run `recollect check`" for id in sorted(page.damaged)]
