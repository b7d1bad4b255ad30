"""The protocol between a copy and the server: version 1, its limits, and the records that a message carries.

    GET  /v1/sync                  which versions the server speaks, whose memories it keeps, where its log ends
    GET  /v1/sync/changes?after=…  what changed after a position of its log, a page at a time
    POST /v1/sync/changes          a batch of changes; the answer says of each what became of it
    POST /v1/sync/batches/ID       what became of a batch whose answer was lost; one that did not come is closed

A record is about one memory (`state`, or `gone`) or one tombstone (`reason`, or `lifted`). `base` is the version the
sender had seen: the number of the server's last entry about it. A batch is applied once, whoever sends it again.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol, TypeAlias

from recollect.core.errors import InvalidField
from recollect.core.forms import iso, moment
from recollect.core.given_json import parse_given_json
from recollect.core.sync_errors import SyncMessageTooLarge
from recollect.store.synced import SyncSort
from recollect.sync.states import State

VERSIONS = (1,)  # that this release speaks
MAX_COMPRESSED = 1_000_000  # bytes of a batch as it is sent
MAX_INFLATED = 16_000_000  # bytes of a batch once read: what is larger was made to hurt
MAX_RECORDS = 1_000
PAGE_RECORDS = 500  # things on a page of changes
LAST_TURN = 2
AHEAD = timedelta(minutes=5)  # that another clock may be before one's own
_LEVEL = 5  # of compression
_ID = re.compile(r"[a-z]{1,20}_[0-9a-z]{6,40}")
_TOMBSTONE = re.compile(r"[0-9a-f]{32}")
REASONS = ("corrected", "rejected", "forgotten")  # of tombstones, the later the more final
RecordVerdict: TypeAlias = Literal["applied", "stale", "known", "buried", "refused"]
Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SyncRecord:
    """What one side tells of one thing: its state, or that it is gone; a tombstone's reason, or that it was lifted."""

    key: str
    sort: SyncSort
    version: int | None = None  # the server's: of what it tells, or that the sender has seen
    state: State | None = None
    final: bool = False  # gone for good
    reason: str = ""
    at: datetime | None = None
    by: str = ""  # who changed it last, for the history
    vectors: Json | None = None

    def told(self) -> Json:
        """As JSON."""
        said: Json = {self.sort: self.key}
        if self.version is not None:
            said["version"] = self.version
        if self.state is not None:
            said["state"] = self.state
        elif self.sort == "memory":
            said["gone"] = "final" if self.final else "pruned"
        elif self.at is None:
            said["lifted"] = True
        else:
            said |= {"reason": self.reason, "at": iso(self.at)}
        optional = {"by": self.by, "vectors": self.vectors}
        return {**said, **{name: value for name, value in optional.items() if value}}


_NAMES = frozenset({"memory", "tombstone", "version", "state", "gone", "lifted", "reason", "at", "by", "vectors"})


def read_record(told: Any) -> SyncRecord:
    """The record that JSON tells; an error that names what is wrong with it."""
    if not isinstance(told, dict) or not told.keys() <= _NAMES or ("memory" in told) == ("tombstone" in told):
        raise InvalidField("records", "one of them is no record of this protocol")
    sort: SyncSort = "memory" if "memory" in told else "tombstone"
    key, version = told[sort], told.get("version")
    if not isinstance(key, str) or len(key) > 200:
        raise InvalidField("records", f"{key!r:.60} is no id")
    if version is not None and (type(version) is not int or version < 0):
        raise InvalidField("records", f"the version of {key:.60} is no number")
    if not all(isinstance(told.get(name, ""), str) for name in ("gone", "reason", "at", "by")):
        raise InvalidField("records", f"a part of {key:.60} is of the wrong type")
    if sort == "memory":
        return _read_memory(told, key, version)
    at = None
    if not told.get("lifted"):
        try:
            at = moment(told["at"])
        except (KeyError, ValueError, OverflowError):
            raise InvalidField("records", f"the tombstone {key:.60} has no time") from None
    return SyncRecord(key, sort, version, reason=told.get("reason", ""), at=at, by=told.get("by", ""))  # fmt: skip


def _read_memory(told: Json, key: str, version: int | None) -> SyncRecord:
    state, gone, vectors = told.get("state"), told.get("gone"), told.get("vectors")
    if _ID.fullmatch(key) is None:
        raise InvalidField("records", f"{key!r:.60} is no id of a memory")
    if (state is None) == (gone is None) or gone not in (None, "final", "pruned"):
        raise InvalidField("records", f"{key} has neither a state nor an end")
    if state is not None:
        _check_state(key, state)
    if vectors is not None and not isinstance(vectors, dict):
        raise InvalidField("records", f"the vectors of {key} are of the wrong type")
    return SyncRecord(key, "memory", version, state, gone == "final", by=told.get("by", ""), vectors=vectors)


_TYPES: Mapping[str, type] = {
    "links": list, "tags": list, "attributes": dict, "content": str, "status": str, "kind": str,
}  # fmt: skip


def _check_state(key: str, state: Any) -> None:
    """Refuse what the rules cannot even look at. Whether it is a memory is asked of it later."""
    if not isinstance(state, dict):
        raise InvalidField("records", f"the state of {key} is of the wrong type")
    for name in ("content", "kind", "status", "created_at", "updated_at", "accessed_at"):
        if not isinstance(state.get(name), str):
            raise InvalidField("records", f"{key} has no {name}")
    wrong = [name for name, expected in _TYPES.items() if not isinstance(state.get(name, expected()), expected)]
    if wrong or not isinstance(state.get("confidence"), int | float):
        raise InvalidField("records", f"{(wrong or ['confidence'])[0]} of {key} is of the wrong type")
    try:
        for name in ("created_at", "updated_at", "accessed_at"):
            moment(state[name])
    except (ValueError, OverflowError):
        raise InvalidField("records", f"a time of {key} cannot be read") from None


def turn_of(record: SyncRecord) -> int:
    """When a record's turn comes: lifted tombstones, memories, then new tombstones, so that nothing is buried by what
    it replaces."""
    return 1 if record.sort == "memory" else 0 if record.at is None else LAST_TURN


def is_tombstone_key(key: str) -> bool:
    return _TOMBSTONE.fullmatch(key) is not None


def is_batch_id(batch: str) -> bool:
    return _ID.fullmatch(batch) is not None


@dataclass(frozen=True, slots=True)
class SyncPage:
    """Some changes of the server's log. `reset`: the position asked for is of another log, and this starts over."""

    records: Sequence[SyncRecord]
    number: int  # the position after them
    hash: str
    more: bool
    reset: bool = False

    def told(self) -> Json:
        return {
            "records": [record.told() for record in self.records], "after": self.number, "anchor": self.hash,
            "more": self.more, "reset": self.reset,
        }  # fmt: skip


def read_sync_page(told: Any) -> SyncPage:
    """The page that a server sent; an error when it is none."""
    shaped = isinstance(told, dict) and isinstance(told.get("records"), list)
    if not shaped or type(told.get("after")) is not int or not isinstance(told.get("anchor"), str):
        raise InvalidField("changes", "the server's answer is no page of changes")
    records = [read_record(one) for one in told["records"]]
    return SyncPage(records, told["after"], told["anchor"], bool(told.get("more")), bool(told.get("reset")))


@dataclass(frozen=True, slots=True)
class RecordResult:
    """What became of one record of a batch. `version` is the server's now. What is `known` names the memory that says
    it, what is `buried` the reason."""

    key: str
    verdict: RecordVerdict
    version: int | None = None
    why: str = ""

    def told(self) -> Json:
        said: Json = {"key": self.key, "verdict": self.verdict, "version": self.version, "why": self.why}
        return {name: value for name, value in said.items() if value not in (None, "")}


class Remote(Protocol):
    """The server as a copy reaches it. Any call may raise `SyncOffline`, and may have been carried out all the same."""

    def hello(self) -> Json: ...
    def pull(self, after: int, anchor: str) -> SyncPage: ...
    def push(self, batch: str, records: Sequence[SyncRecord], *, confirmed: bool) -> list[RecordResult]: ...
    def close_batch(self, batch: str) -> dict[str, int]: ...


# --- compressed -------------------------------------------------------------------------------------------------------


def deflate(value: Any) -> bytes:
    """JSON as it is sent."""
    return deflate_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def deflate_text(text: bytes) -> bytes:
    packer = zlib.compressobj(_LEVEL, wbits=31)
    return packer.compress(text) + packer.flush()


def inflate(data: bytes) -> bytes:
    """What was sent, as far as it is no larger than anything we send."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        text = unpacker.decompress(data, MAX_INFLATED + 1)
    except zlib.error as error:
        raise InvalidField("body", f"it is not gzip ({error})") from None
    if len(text) > MAX_INFLATED:
        raise SyncMessageTooLarge(MAX_INFLATED)
    if not unpacker.eof:
        raise InvalidField("body", "it is cut off")
    return text


def parse_message(data: bytes) -> Any:
    """A compressed message as a value."""
    try:
        text = inflate(data).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidField("body", f"byte {error.start} is not UTF-8") from None
    return parse_given_json(text, "body")


def split_records(records: Sequence[SyncRecord], *, size: int) -> list[list[SyncRecord]]:
    """Records in batches of so many, halved until each fits; one that fits nowhere is alone, and refused."""
    batches: list[list[SyncRecord]] = []
    waiting = [list(records[start : start + size]) for start in range(0, len(records), size)][::-1]
    while waiting:
        some = waiting.pop()
        if len(some) > 1 and len(deflate([record.told() for record in some])) > MAX_COMPRESSED - _ENVELOPE:
            waiting += [some[len(some) // 2 :], some[: len(some) // 2]]
        else:
            batches.append(some)
    return batches


_ENVELOPE = 1_000  # bytes of a message around its records
