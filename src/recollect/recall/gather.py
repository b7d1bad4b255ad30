"""Second stage of recall: ask every channel in parallel, under one deadline. A late one is named, not awaited."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from recollect.core.ports import Channel
from recollect.core.query import Candidate, Found, Query, Reading


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
