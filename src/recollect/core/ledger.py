"""The ledger's values: one entry per change, chained by hash so that a missing or altered entry shows.

The hash covers a digest of the body, not the body itself, so a body can be erased (a person's right) while the chain
still proves that nothing else was touched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, Literal, TypeAlias

from recollect.core.ids import MemoryId

Action: TypeAlias = Literal[
    "add",
    "merge",
    "edit",
    "confirm",
    "reject",
    "dispute",
    "supersede",
    "pin",
    "unpin",
    "reinforce",
    "propagate",
    "link",
    "redact",
    "annotate",
    "expire",
    "prune",
    "tend",
    "merge_entity",
    "split_entity",
    "forget",
    "undo",
    "salvage",
    "migrate",
    "restore",
    "repair",
    "index",
]

GENESIS = "0" * 64  # what the first entry is chained to


@dataclass(frozen=True, slots=True)
class Change:
    """One field-wise change to one memory, before it has a place in the chain."""

    action: Action
    memory: MemoryId | None
    why: str = ""
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A change in its place: who, when, what, why. Entries of one act share `act`."""

    number: int
    act: str
    at: datetime
    actor: str
    change: Change
    digest: str  # of the body; survives its erasure
    hash: str
    undoes: str | None = None
    erased: bool = False


def body(change: Change) -> str | None:
    """The erasable part of an entry as text, or nothing when there is none."""
    if not change.why and change.before is None and change.after is None:
        return None
    parts = [change.why, change.before, change.after]
    return json.dumps(parts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def digest(text: str | None) -> str:
    return "" if text is None else sha256(text.encode()).hexdigest()


def chain(previous: str, *parts: str | int | None) -> str:
    """The hash of an entry: its predecessor's hash and its own fixed parts, unambiguously joined."""
    return sha256(json.dumps([previous, *parts], ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
