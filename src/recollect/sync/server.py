"""The server's side: hand out what changed after a position, and apply batches that were made against what it has.

Nothing is kept per client, so any of several servers over one database may answer: the log remembers which batch was
applied. Whoever sends, every record is checked, screened and compared with what stands here; a record that cannot be
applied says why and changes nothing. Acts are logged in the name of who is logged in, whatever a batch says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from recollect.core.doors import SYNC
from recollect.core.errors import InvalidField, InvalidInput, PersonOnly
from recollect.core.forms import moment
from recollect.core.ids import MemoryId
from recollect.core.sync_errors import SyncBatchTaken, SyncMassDeletion, SyncVersionUnknown
from recollect.core.text import fingerprint
from recollect.remember.act import ActContext
from recollect.store.log_feed import LogPosition
from recollect.store.tombstones import Tombstone
from recollect.sync.replica import HeldState, Replica, SyncEdits, close_buried
from recollect.sync.rules import FOR_GOOD, is_mass_deletion, is_more_final, same_standing
from recollect.sync.states import ATTRIBUTES, CLOCKED, LINKS, WITHHELD, State, is_homely, is_open, secret_in
from recollect.sync.wire import (
    AHEAD,
    MAX_COMPRESSED,
    MAX_RECORDS,
    PAGE_RECORDS,
    REASONS,
    VERSIONS,
    Json,
    RecordResult,
    SyncPage,
    SyncRecord,
    deflate,
    is_batch_id,
    is_tombstone_key,
    turn_of,
)

_LATELY = timedelta(hours=1)  # in which deletions of one person are added up
_PERSONAL = "personal"
_TAKEN = "this id cannot be used here"


@dataclass(frozen=True, slots=True)
class SyncActor:
    """Who is logged in: what the log names, and whether it is a person's own token."""

    name: str
    is_person: bool


class SyncServer:
    """Answers one caller about one project."""

    def __init__(self, replica: Replica, actor: SyncActor, *, project: str, now: Callable[[], datetime]) -> None:
        if not actor.is_person:
            raise PersonOnly("sync: a copy carries what people confirmed")
        self._replica = replica
        self._actor = actor
        self._project = project
        self._now = now

    def hello(self) -> Json:
        """Which versions are spoken here, and what the log is."""
        return {
            "versions": list(VERSIONS), "server": self._replica.name, "project": self._project,
            "time": self._now().isoformat(), "memories": self._replica.count(),
            "max_bytes": MAX_COMPRESSED, "max_records": MAX_RECORDS,
        }  # fmt: skip

    # --- what changed -----------------------------------------------------------------------------------------------

    def pull(self, after: int, anchor: str, *, version: int, limit: int = PAGE_RECORDS) -> SyncPage:
        """What changed after a position. One of another log, or of a log that was emptied since, starts over."""
        require_protocol(version)
        feed = self._replica.feed
        reset = not feed.holds(LogPosition(after, anchor))
        head = feed.head()
        touched = feed.touched(0 if reset else after, limit=limit)
        ids = [one.key for one in touched if one.sort == "memory"]
        states, ended, hidden = self._replica.states(ids), self._replica.ended(ids), feed.existing(ids)
        stones = self._replica.tombstones([one.key for one in touched if one.sort == "tombstone"])
        records: list[SyncRecord] = []
        for one in touched:
            if one.sort == "tombstone":
                records += self._tell_tombstone(one.key, one.number, one.actor, stones.get(one.key))
            elif (held := states.get(one.key)) is None:
                if one.key in hidden:  # not in the caller's sight
                    continue
                records.append(SyncRecord(one.key, "memory", one.number, final=one.key in ended, by=one.actor))
            elif not held.home and not held.state.get(ATTRIBUTES, {}).get(WITHHELD):
                records.append(SyncRecord(one.key, "memory", one.number, held.state, by=one.actor))
        more = len(touched) == limit
        end = feed.at(touched[-1].number) if more else head
        return _fitting(SyncPage(records, end.number, end.hash, more, reset), feed.at)

    def _tell_tombstone(self, key: str, number: int, by: str, stone: Tombstone | None) -> list[SyncRecord]:
        if stone is None:
            return [SyncRecord(key, "tombstone", number, by=by)]
        return [SyncRecord(key, "tombstone", number, reason=stone.reason, at=stone.at, by=by)]

    # --- a batch ----------------------------------------------------------------------------------------------------

    def close_batch(self, batch: str) -> dict[str, int]:
        """What a batch changed: the version of each thing. One that has not come is refused from now on: whoever asks
        can send the same again without fear that both arrive."""
        if not is_batch_id(batch):
            raise InvalidField("batch", f"{batch!r:.60} is no id")
        with self._replica.write():
            done = self._applied(batch)
            if done is None:
                self._replica.note_batch(self._act(batch), {})
        return done or {}

    def _applied(self, batch: str) -> dict[str, int] | None:
        """What a batch changed, if it came or was closed."""
        found = self._replica.feed.batch(batch)
        if found is None:
            return None
        if (found.actor, found.door) != (self._actor.name, SYNC.name):
            raise SyncBatchTaken(batch)
        return dict(found.applied)

    def _act(self, batch: str) -> ActContext:
        return ActContext(self._actor.name, self._now(), MemoryId(batch), SYNC)

    def push(
        self, batch: str, records: Sequence[SyncRecord], *, version: int, confirmed: bool = False
    ) -> list[RecordResult]:
        """Apply a batch, once: all that can be applied in one transaction. `confirmed`: a person allowed deletions."""
        require_protocol(version)
        if not is_batch_id(batch):
            raise InvalidField("batch", f"{batch!r:.60} is no id")
        if len(records) > MAX_RECORDS or len({record.key for record in records}) != len(records):
            raise InvalidField("records", f"a batch has at most {MAX_RECORDS:,}, each about another thing")
        with self._replica.write():
            done = self._applied(batch)
            if done is not None:
                return [
                    RecordResult(one.key, "applied", done[one.key])
                    if one.key in done
                    else RecordResult(one.key, "stale")
                    for one in records
                ]
            return _Applying(self._replica, records, self._act(batch), confirmed=confirmed).run()


class _Applying:
    """One batch inside a write: what stands here is read once, then record by record."""

    def __init__(self, replica: Replica, records: Sequence[SyncRecord], act: ActContext, *, confirmed: bool) -> None:
        self._replica = replica
        self._records = records
        self._act = act
        self._confirmed = confirmed
        self._edits: SyncEdits = replica.edits(act)
        keys = [record.key for record in records]
        ids = [record.key for record in records if record.sort == "memory"]
        self._held: dict[str, HeldState] = replica.states(ids)
        self._edits.load(ids)
        self._ended = replica.ended(ids)
        self._elsewhere = replica.used_elsewhere(ids) | (replica.feed.existing(ids) - self._held.keys())
        self._versions: dict[str, int] = replica.feed.versions(keys)
        prints = {fingerprint(record.state["content"]) for record in records if record.state is not None}
        self._stones = replica.tombstones([*keys, *prints])
        self._twins = replica.twins(prints)
        self._lifted = {one.key for one in records if one.sort == "tombstone" and one.at is None}

    def run(self) -> list[RecordResult]:
        """Lifted tombstones first, then memories, then new tombstones: nothing is buried by what it replaces."""
        self._stop_mass_deletion()
        results = {record.key: self._apply(record) for record in sorted(self._records, key=turn_of)}
        self._edits.finish()
        versions = self._replica.feed.versions([key for key, one in results.items() if one.verdict == "applied"])
        versions |= {key: versions[key] - 1 for key in self._unlinked(versions)}  # so that they hear of it
        self._replica.note_batch(self._act, versions)
        given = {one.key: one.vectors for one in self._records if one.vectors and one.key in versions}
        if given:
            self._replica.put_vectors(given)
        self._close_buried()  # whoever sent it hears of this like everybody else
        return [
            replace(results[one.key], version=versions.get(one.key, results[one.key].version)) for one in self._records
        ]

    def _unlinked(self, applied: Mapping[str, int]) -> list[str]:
        """What lost a link on the way in, because its other end is not here any more."""
        told = {one.key: one.state[LINKS] for one in self._records if one.state and LINKS in one.state}
        held = self._replica.states([key for key in told if key in applied])
        return [key for key, one in held.items() if len(one.state.get(LINKS, ())) != len(told[key])]

    def _stop_mass_deletion(self) -> None:
        ends = {one.key for one in self._records if one.sort == "memory" and one.state is None}
        forgotten = [one.key for one in self._records if one.sort == "tombstone" and one.reason in FOR_GOOD]
        said = {id for ids in self._replica.saying(forgotten).values() for id in ids} if forgotten else set()
        going = len((ends & self._held.keys()) | said)
        if not going or self._confirmed:
            return
        since = self._act.at - _LATELY
        lately = self._replica.feed.deleted(actor=self._act.actor, door=SYNC.name, since=since)
        shared = self._replica.count()
        if is_mass_deletion(going + lately, shared + lately):
            raise SyncMassDeletion(going + lately, shared + lately, here=True)

    def _apply(self, record: SyncRecord) -> RecordResult:
        try:
            if record.sort == "tombstone":
                return self._apply_tombstone(record)
            return self._apply_end(record) if record.state is None else self._apply_state(record, record.state)
        except InvalidInput as error:
            return RecordResult(record.key, "refused", why=str(error)[:300])

    def _apply_state(self, record: SyncRecord, state: State) -> RecordResult:
        key, held = record.key, self._held.get(record.key)
        if key in self._elsewhere or (held is not None and held.home):
            return RecordResult(key, "refused", why=_TAKEN)
        if why := self._refusal(state):
            return RecordResult(key, "refused", why=why)
        self._edits.check(key, state)
        if key in self._ended:
            return RecordResult(key, "stale", why="it was deleted for good")
        found = self._versions.get(key)
        if held is not None and record.version != found:
            return RecordResult(key, "stale", found)
        if held is None and record.version is not None:
            return RecordResult(key, "stale", found)
        if held is None and is_open(state):
            print_ = fingerprint(state["content"])
            if print_ in self._stones and print_ not in self._lifted:
                return RecordResult(key, "buried", why=self._stones[print_].reason)
            if same := self._same(state, self._twins.get(print_, {})):
                return RecordResult(key, "known", why=same)
        if held is None and self._is_buried_for_good(state):
            return RecordResult(key, "buried", why=self._stones[fingerprint(state["content"])].reason)
        self._edits.put(key, state)
        if is_open(state):
            self._twins.setdefault(fingerprint(state["content"]), {})[key] = state
        return RecordResult(key, "applied", found)

    def _is_buried_for_good(self, state: State) -> bool:
        print_ = fingerprint(state["content"])
        stone = self._stones.get(print_)
        return stone is not None and stone.reason in FOR_GOOD and print_ not in self._lifted

    @staticmethod
    def _same(state: State, twins: dict[str, State]) -> str:
        """The open memory that says the same and stands the same."""
        return next((id for id, twin in twins.items() if same_standing(state, twin)), "")

    def _refusal(self, state: State) -> str:
        if state.get("visibility") == _PERSONAL:
            return "it is personal"
        if is_homely(str(state.get("kind"))):
            return f"a {state['kind']} does not travel"
        latest = max(moment(state[name]) for name in CLOCKED)
        if latest > self._act.at + AHEAD:
            return f"it is dated {latest.date().isoformat()}, which has not come yet: set the clock"
        if rule := secret_in(state):
            return f"it holds a secret ({rule})"
        return ""

    def _apply_end(self, record: SyncRecord) -> RecordResult:
        key, held, found = record.key, self._held.get(record.key), self._versions.get(record.key)
        if key in self._elsewhere or (held is not None and held.home):
            return RecordResult(key, "refused", why=_TAKEN)
        if held is None:
            return RecordResult(key, "applied", found)
        if not record.final and record.version != found:
            return RecordResult(key, "stale", found)
        self._edits.remove(key, final=record.final)
        return RecordResult(key, "applied", found)

    def _apply_tombstone(self, record: SyncRecord) -> RecordResult:
        key, found = record.key, self._versions.get(record.key)
        if not is_tombstone_key(key):
            return RecordResult(key, "refused", why="it is no tombstone")
        stone = self._stones.get(key)
        if record.at is None:
            if stone is None:
                return RecordResult(key, "applied", found)
            if record.version != found:
                return RecordResult(key, "stale", found)
            self._edits.lift(key)
            return RecordResult(key, "applied", found)
        if record.reason not in REASONS:
            return RecordResult(key, "refused", why=f"{record.reason!r:.40} is no reason")
        if record.at > self._act.at + AHEAD:
            return RecordResult(key, "refused", why="it is dated in the future: set the clock")
        if stone is not None and is_more_final(stone.reason, record.reason):
            return RecordResult(key, "stale", found)
        if stone is None or stone.reason != record.reason:
            self._edits.bury(key, record.reason, record.at)
        return RecordResult(key, "applied", found)

    def _close_buried(self) -> None:
        """What still says what the batch has buried is closed, so that every copy hears of it."""
        buried = {
            one.key: one.reason
            for one in self._records
            if one.sort == "tombstone" and one.at is not None and is_tombstone_key(one.key)
        }
        close_buried(self._replica, self._edits, buried, lambda id: True)
        self._edits.finish()


def require_protocol(version: int) -> None:
    if version not in VERSIONS:
        raise SyncVersionUnknown(str(version), map(str, VERSIONS))


def _fitting(page: SyncPage, at: Callable[[int], LogPosition]) -> SyncPage:
    """A page that is no larger than a message may be: its first part when it is."""
    while len(page.records) > 1 and len(deflate(page.told())) > MAX_COMPRESSED:
        half = page.records[: len(page.records) // 2]
        end = at(half[-1].version or 0)
        page = replace(page, records=half, number=end.number, hash=end.hash, more=True)
    return page
