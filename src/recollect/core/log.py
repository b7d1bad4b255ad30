"""The log's values: one entry per change of a canonical row, in domain values, so that it can be replayed and undone.

Entries are chained by hash per replica, so that a missing or altered one shows. The hash covers a digest of the body,
not the body itself: a body can be erased (a person's right) while the chain still proves that nothing else was touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from json import JSONEncoder
from typing import Any, Literal, TypeAlias

from recollect.core.digest import sha256
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
    "find_entity",
    "merge_entity",
    "split_entity",
    "forget",
    "erase",
    "undo",
    "salvage",
    "migrate",
    "restore",
    "repair",
    "index",
    "snapshot",
    "import",
    "comment",
    "team",
    "sync",
]
# Which row an entry is about. A note is about none: it tells what was done to the store.
About: TypeAlias = Literal["memory", "link", "tombstone", "entity", "passages", "note"]

# What happens by itself: a person who takes back their last change does not mean these.
QUIET: tuple[Action, ...] = (
    "reinforce", "annotate", "expire", "prune", "tend", "find_entity", "merge_entity", "split_entity", "migrate",
    "salvage", "restore", "repair", "index", "snapshot", "erase", "import",
    "comment", "team", "sync",
)  # fmt: skip

GENESIS = "0" * 64  # what the first entry is chained to
OLD_REPLICA = ""  # of entries from before there were replicas: chained by fewer parts, and not replayed


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one row, before it has a place in the log.

    A row that came is told whole in `after`; one that changed, by the fields it differs in, `before` and `after`; one
    that went has no `after`. `replay` holds what only replaying needs: a memory's new revision, a document's passages.
    """

    action: Action
    subject: str | None  # the id of what it is about; a tombstone's is its fingerprint, a link's its source
    why: str = ""
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None
    about: About = "memory"
    replay: Mapping[str, Any] | None = None

    @property
    def memory(self) -> MemoryId | None:
        """The memory it is about, if it is about one."""
        return MemoryId(self.subject) if self.subject is not None and self.about in ("memory", "link") else None


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
    project: str = ""
    replica: str = OLD_REPLICA  # the copy of the store that wrote it
    stamp: int = 0  # hybrid logical time: see `next_stamp`
    door: str = ""  # where the act came in, if that was told

    @property
    def is_shown(self) -> bool:
        """Is it told by itself? A link that a new memory brought, a tombstone that a rejection left, what an upgrade
        wrote down of a row as it was and the note that a batch came in are not."""
        told = self.change.about in ("memory", "passages", "note") or self.change.action == "link"
        return told and self.change.action != "snapshot" and (self.change.action, self.change.about) != ("sync", "note")


# What members are told of an entry: who did what and when, a person's reason, and how the memory stood.
_TOLD_REASONS = frozenset({"comment", "dispute", "confirm", "reject", "edit", "pin", "unpin", "team"})
_TOLD_FIELDS = frozenset({"status", "confidence", "pinned", "verified", "needs_review"})


def conceal(entry: Entry) -> Entry:
    """An entry without words and ids: it may tell of what a memory was before its reader could see it."""
    change = entry.change

    def standing(fields: Mapping[str, Any] | None) -> dict[str, Any] | None:
        return None if fields is None else {name: fields[name] for name in _TOLD_FIELDS & fields.keys()}

    told = replace(
        change,
        why=change.why if change.action in _TOLD_REASONS else "",
        before=standing(change.before),
        after=standing(change.after),
        replay=None,
    )
    return replace(entry, change=told)


_COUNTER_BITS = 16


def next_stamp(last: int, ms: int) -> int:
    """The hybrid logical time after `last`: milliseconds since 1970 and a counter. It grows even while the clock stands
    still or runs back, so that of two entries of one replica the later one always has the larger."""
    return max(last + 1, ms << _COUNTER_BITS)


_encode_body = JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode
_encode_parts = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def body(change: Change) -> str | None:
    """The erasable part of an entry as text, or nothing when there is none."""
    parts = {
        name: value
        for name, value in (
            ("why", change.why or None),
            ("before", change.before),
            ("after", change.after),
            ("replay", change.replay),
        )
        if value is not None
    }
    return _encode_body(parts) if parts else None


def digest(text: str | None) -> str:
    return "" if text is None else str(sha256(text.encode()).hexdigest())


def chain(previous: str, *parts: str | int | None) -> str:
    """The hash of an entry: its predecessor's hash and its own fixed parts, unambiguously joined."""
    return digest(_encode_parts([previous, *parts]))
