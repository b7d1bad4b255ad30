"""Taking in one page of the server's changes, inside a write: what is new comes in, what changed on both sides is
merged, what ended is marked, what was buried is closed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.core.forms import iso, moment
from recollect.core.scope import Relation
from recollect.core.text import fingerprint
from recollect.store.synced import SyncedRow
from recollect.store.tombstones import ERASED_REASON
from recollect.sync.replica import SyncEdits, close_buried
from recollect.sync.rules import FOR_GOOD, is_more_final, joined, merge_states, same_standing, superseded
from recollect.sync.run import DETACHED, FORGOTTEN_HERE, SyncRun, dump_links, is_echo, with_links
from recollect.sync.states import CLOCKED, LINKS, Shadow, State, is_open, secret_in
from recollect.sync.wire import AHEAD, SyncPage, SyncRecord, is_tombstone_key, turn_of

_PERSONAL = "personal"


class PagePull:
    """One page of the server's changes, inside a write."""

    def __init__(self, run: SyncRun, page: SyncPage) -> None:
        self._run = run
        self._replica = run.replica
        self._report = run.report
        self._rows: dict[str, SyncedRow] = self._replica.synced.get([one.key for one in page.records])
        self._records = [one for one in page.records if page.reset or not is_echo(one, self._rows.get(one.key))]
        self._edits: SyncEdits = self._replica.edits(run.act())
        ids = [one.key for one in self._records if one.sort == "memory"]
        self._held = self._replica.states(ids)
        self._edits.load(ids)
        self._ended = self._replica.ended(ids)
        self._elsewhere = self._replica.used_elsewhere(ids)
        prints = {fingerprint(one.state["content"]) for one in self._records if one.state is not None}
        stones = [one.key for one in self._records if one.sort == "tombstone"]
        self._stones = self._replica.tombstones([*stones, *prints])
        self._twins = self._replica.twins(prints)
        twin_ids = [id for same in self._twins.values() for id in same]
        linked = [one["target"] for held in self._held.values() for one in held.state.get(LINKS, ()) if "target" in one]
        self._known: dict[str, SyncedRow] = self._replica.synced.get([*twin_ids, *linked])
        targets = {one.get("target", "") for record in self._records for one in (record.state or {}).get(LINKS, ())}
        self._here = self._replica.existing(targets) | {one.key for one in self._records if one.state is not None}
        self._erased = self._replica.erased()
        self._put: dict[str, SyncedRow] = {}
        self._dropped: list[str] = []
        self._buried: dict[str, str] = {}
        self.lifted = False  # may something be said again that was not?

    def run(self) -> None:
        for record in sorted(self._records, key=turn_of):
            if record.sort == "tombstone":
                self._tombstone(record)
            elif record.state is None:
                self._end(record)
            else:
                self._memory(record, record.state)
        self._edits.finish()
        self._close_buried()
        self._replica.synced.put(self._put.values())
        self._replica.synced.remove(self._dropped)

    def _close_buried(self) -> None:
        """What only this copy says of what the team has buried; what is shared, the server closes for all."""
        if self._buried:
            saying = [id for ids in self._replica.saying(self._buried).values() for id in ids]
            self._known |= self._replica.synced.get(saying)
            close_buried(self._replica, self._edits, self._buried, self._is_own)
            self._edits.finish()

    def _row(self, record: SyncRecord) -> SyncedRow:
        found = self._put.get(record.key) or self._rows.get(record.key) or SyncedRow(record.key, record.sort)
        return replace(found, version=record.version)

    # --- memories -------------------------------------------------------------------------------------------------

    def _memory(self, record: SyncRecord, theirs: State) -> None:
        row, held = self._row(record), self._held.get(record.key)
        why = self._refusal(record, theirs)
        if why:
            self._report.refused[record.key] = why
            self._put[row.key] = replace(row, note=why, shadow=None, pending=False)
            return
        if row.note == DETACHED or (held is not None and held.home):
            self._put[row.key] = replace(row, note=DETACHED, pending=False)
            return
        if held is None and record.key in self._ended:
            self._put[row.key] = replace(row, pending=True)  # our end is on its way there
            return
        if held is None and self._is_erased(record.key, theirs):
            self._put[row.key] = replace(row, note=FORGOTTEN_HERE, pending=False)
            return
        try:
            self._edits.check(record.key, theirs)
        except InvalidInput as error:
            self._report.refused[record.key] = str(error)
            self._put[row.key] = replace(row, note=str(error)[:200], shadow=None, pending=False)
            return
        if held is None:
            self._take_in(record, row, theirs)
        else:
            self._merge(record, row, held.state, theirs)

    def _refusal(self, record: SyncRecord, theirs: State) -> str:
        if record.key in self._elsewhere:
            return "another project of this store has a memory with this id"
        if theirs.get("visibility") == _PERSONAL:
            return "the server sent a personal memory"
        if max(moment(theirs[name]) for name in CLOCKED) > self._run.server_now + AHEAD:
            return "it is dated in the future"
        if rule := secret_in(theirs):
            return f"it holds a secret ({rule})"
        return ""

    def _is_erased(self, id: str, theirs: State) -> bool:
        stone = self._stones.get(fingerprint(theirs["content"]))
        return (stone is not None and stone.reason in FOR_GOOD) or self._erased(id, theirs)

    def _split(self, links: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Links whose other end is here, and those that have to wait."""
        placed = [one for one in links if "target" not in one or one["target"] in self._here]
        return placed, [one for one in links if one not in placed]

    def _take_in(self, record: SyncRecord, row: SyncedRow, theirs: State) -> None:
        placed, later = self._split(theirs.get(LINKS, ()))
        state = with_links(theirs, placed)
        shadow = Shadow.of(state)
        if is_open(theirs):
            for id, twin in self._twins.get(fingerprint(theirs["content"]), {}).items():
                if id != record.key and self._is_own(id) and same_standing(theirs, twin):
                    state = joined(state, twin)
                    self._edits.put(
                        id, superseded(twin, record.key, iso(self._run.now())), f"{record.key} says the same"
                    )
                    self._mark(id)
        self._edits.put(record.key, state, _by(record))
        self._report.fetched += 1
        is_ours = not shadow.matches(state, usage=False)
        self._put[row.key] = replace(
            row, shadow=shadow.text, pending=is_ours, sent=None, gone=False, note="", held=dump_links(later)
        )

    def _is_own(self, id: str) -> bool:
        """Has a memory never left this copy?"""
        row = self._put.get(id) or self._known.get(id)
        return row is None or (row.version is None and row.shadow is None)

    def _mark(self, id: str) -> None:
        self._put.setdefault(id, replace(self._known.get(id) or SyncedRow(id, "memory"), pending=True))

    def _merge(self, record: SyncRecord, row: SyncedRow, mine: State, theirs: State) -> None:
        placed, later = self._split(theirs.get(LINKS, ()))
        theirs = with_links(theirs, placed)
        shared = [one for one in mine.get(LINKS, ()) if "target" not in one or not self._is_own(one["target"])]
        own = [one for one in mine.get(LINKS, ()) if one not in shared]
        base = Shadow.read(row.shadow) if row.shadow else None
        merged = merge_states(base, with_links(mine, shared), theirs)
        state = with_links(merged.state, [*merged.state.get(LINKS, ()), *own])
        if state != mine:
            self._edits.put(record.key, state, _by(record))
            self._report.fetched += 1
        shadow = Shadow.of(theirs)
        is_ours = bool(own) or not shadow.matches(merged.state, usage=True)
        self._put[row.key] = replace(
            row, shadow=shadow.text, pending=is_ours, gone=False, note="", held=dump_links(later)
        )  # fmt: skip
        if merged.fork is not None:
            self._fork(record.key, merged.fork)

    def _fork(self, id: str, fork: State) -> None:
        """Keep our words beside the server's, as a memory that asks. Words that the team has buried ask nothing."""
        print_ = fingerprint(fork["content"])
        buried = self._replica.tombstones([print_])
        if print_ in buried or any(
            same_standing(fork, one) for one in self._replica.twins([print_]).get(print_, {}).values()
        ):
            return
        at = self._run.now()
        new = str(self._run.identity(id.partition("_")[0], at))
        link = {
            "relation": str(Relation.CONFLICTS_WITH), "target": id, "confidence": 1.0, "automatic": True,
            "created_at": iso(at),
        }  # fmt: skip
        self._edits.put(new, {**fork, LINKS: [link]}, f"both sides changed {id}")
        self._put[new] = SyncedRow(new, "memory", pending=True)
        self._report.conflicts.append(new)

    def _end(self, record: SyncRecord) -> None:
        row, held = self._row(record), self._held.get(record.key)
        if held is None or row.note == DETACHED or held.home:
            self._dropped.append(row.key)
            return
        base = Shadow.read(row.shadow) if row.shadow else None
        changed = base is None or not base.matches(held.state, usage=False)
        if not record.final and changed:
            self._put[row.key] = replace(row, version=None, shadow=None, pending=True)
            return
        self._put[row.key] = replace(row, gone=True, pending=False, note="" if record.final else "pruned")

    # --- tombstones -----------------------------------------------------------------------------------------------

    def _tombstone(self, record: SyncRecord) -> None:
        if record.reason == ERASED_REASON:
            self._mark_erased(record)
            return
        if not is_tombstone_key(record.key):
            self._report.refused[record.key] = "it is no tombstone"
            return
        row, stone = self._row(record), self._stones.get(record.key)
        if record.at is None:
            if stone is not None and row.shadow == stone.reason:
                self._edits.lift(record.key)
                self._report.fetched += 1
                self.lifted = True
                del self._stones[record.key]
                stone = None
            if stone is None:
                self._dropped.append(row.key)
            else:
                self._put[row.key] = replace(row, shadow="", pending=True)
            return
        if stone is None or is_more_final(record.reason, stone.reason):
            self._edits.bury(record.key, record.reason, record.at)
            self._report.fetched += 1
            reason = record.reason
        else:
            reason = stone.reason
        self._put[row.key] = replace(row, shadow=record.reason, pending=reason != record.reason)
        self._buried[record.key] = record.reason

    def _mark_erased(self, record: SyncRecord) -> None:
        """The team erased something: what is here of it goes, and what comes back is recognised."""
        if record.at is None:
            return
        for id in self._replica.erase_marked(record.key, record.at):
            row = self._put.get(id) or self._replica.synced.get([id]).get(id) or SyncedRow(id, "memory")
            self._put[id] = replace(row, gone=True, pending=False)
        self._edits.bury(record.key, ERASED_REASON, record.at)


def _by(record: SyncRecord) -> str:
    return f"by {record.by}" if record.by else ""
