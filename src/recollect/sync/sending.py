"""What is to be sent: rows that wait become records. What is as the server has it is settled, what stays at home is
left out, and what leaves is screened once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from recollect.store.synced import SyncedRow
from recollect.store.tombstones import ERASED_REASON, Tombstone
from recollect.sync.replica import HeldState
from recollect.sync.rules import is_more_final
from recollect.sync.run import DETACHED, SyncRun, load_links
from recollect.sync.states import LINKS, Shadow, State, clamp_clock, link_key, secret_in, withhold
from recollect.sync.wire import SyncRecord, is_tombstone_key, turn_of


def prepare_records(run: SyncRun, rows: Sequence[SyncedRow]) -> PreparedRecords:
    """The records of rows that wait, in the order they are sent."""
    return _Preparing(run, rows).run()


def shadow_of(record: SyncRecord) -> str:
    """What the server will have, if it takes a record; empty for what it will not have."""
    if record.sort == "tombstone":
        return record.reason
    return Shadow.of(record.state).text if record.state is not None else ""


@dataclass(slots=True)
class PreparedRecords:
    """What is to be sent, and the rows of what is not."""

    records: list[SyncRecord] = field(default_factory=list)
    settled: list[SyncedRow] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    unlinked: set[str] = field(default_factory=set)  # sent without links to what is sent after it
    clamped: dict[str, State] = field(default_factory=dict)
    outlasted: dict[str, Tombstone] = field(default_factory=dict)  # the team's reason is more final than ours


class _Preparing:
    """Turns rows that wait into records: what is as the server has it is settled, what stays at home is left out."""

    def __init__(self, run: SyncRun, rows: Sequence[SyncedRow]) -> None:
        self._run = run
        self._replica = run.replica
        self._rows = rows
        self._report = run.report
        ids = [row.key for row in rows if row.sort == "memory"]
        self._held = self._replica.states(ids)
        self._ended = self._replica.ended([id for id in ids if id not in self._held])
        self._stones = self._replica.tombstones([row.key for row in rows if row.sort == "tombstone"])
        targets = {
            one["target"] for held in self._held.values() for one in held.state.get(LINKS, ()) if "target" in one
        }
        self._targets = self._replica.synced.get(targets)
        self._waiting = {row.key for row in rows}
        self._out = PreparedRecords()

    def run(self) -> PreparedRecords:
        for row in self._rows:
            if row.sort == "tombstone":
                self._tombstone(row)
            elif row.key in self._held:
                self._memory(row, self._held[row.key])
            elif row.version is None:
                self._out.dropped.append(row.key)
            else:
                self._out.records.append(SyncRecord(row.key, "memory", row.version, final=row.key in self._ended))
        self._out.records.sort(key=turn_of)
        if self._run.vectors_only:
            ids = [one.key for one in self._out.records if one.state is not None]
            made = self._run.vectors_of(ids)
            self._out.records = [replace(one, vectors=made.get(one.key)) for one in self._out.records]
        return self._out

    def _memory(self, row: SyncedRow, held: HeldState) -> None:
        why = held.home
        state = self._leaving(row, held)
        if not why and secret_in(state):
            why = "holds a secret"
        if why:
            self._report.stayed[why] += 1
            if row.version is None:
                self._out.dropped.append(row.key)
            else:
                self._out.settled.append(replace(row, pending=False, note=DETACHED))
            return
        is_known = row.version is not None and row.shadow is not None
        if is_known and Shadow.read(row.shadow or "").matches(state, usage=True):
            self._out.settled.append(replace(row, pending=row.key in self._out.unlinked))
            return
        self._out.records.append(SyncRecord(row.key, "memory", row.version, state))

    def _leaving(self, row: SyncedRow, held: HeldState) -> State:
        """A state as it travels: by the server's clock, with the links whose other end the server has or will have."""
        state = clamp_clock(held.state, self._run.server_now)
        if state is not held.state and not held.home:
            self._out.clamped[row.key] = state
        links = [one for one in state.get(LINKS, ()) if "target" not in one or self._is_shared(row.key, one["target"])]
        links += load_links(row.held)
        state = {name: value for name, value in state.items() if name != LINKS}
        if links:
            state[LINKS] = sorted(links, key=link_key)
        return withhold(row.key, state, self._replica.name) if self._run.vectors_only else state

    def _is_shared(self, source: str, target: str) -> bool:
        row = self._targets.get(target)
        if row is not None and row.version is not None:
            return True
        if target in self._waiting and target in self._held and not self._held[target].home:
            self._out.unlinked.add(source)
        return False

    def _tombstone(self, row: SyncedRow) -> None:
        stone = self._stones.get(row.key)
        own = stone is not None and (stone.reason == ERASED_REASON or self._run.vectors_only)
        if not is_tombstone_key(row.key) or (own and row.version is None):
            self._out.dropped.append(row.key)  # marks of an erasure, and digests of words that do not leave
        elif stone is None:
            if row.version is None or not row.shadow:
                self._out.dropped.append(row.key)
            else:
                self._out.records.append(SyncRecord(row.key, "tombstone", row.version))
        elif row.version is not None and row.shadow and not is_more_final(stone.reason, row.shadow):
            self._out.settled.append(replace(row, pending=False))
            if row.shadow != stone.reason:
                self._out.outlasted[row.key] = replace(stone, reason=row.shadow)
        else:
            at = min(stone.at, self._run.server_now)
            self._out.records.append(SyncRecord(row.key, "tombstone", row.version, reason=stone.reason, at=at))
