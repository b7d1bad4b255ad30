"""A copy's side: one sync is hello → resume → collect → pull and merge → follow deletions → push, until nothing moves.

Every step is one transaction of the copy, and the server can be lost at any point: what was sent is noted before it is
sent, and asked about when its answer did not come. Nothing here knows HTTP or a store: `Remote` and `Replica` do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from operator import eq

from recollect.core.forms import iso, moment
from recollect.core.ports import Identity
from recollect.core.sync_errors import SyncMassDeletion, SyncNotLinked, SyncVersionUnknown
from recollect.core.text import fingerprint
from recollect.store.synced import SyncedRow
from recollect.sync.pulling import PagePull
from recollect.sync.replica import Replica, SyncEdits, close_buried
from recollect.sync.rules import is_mass_deletion, superseded
from recollect.sync.run import FORGOTTEN_HERE, SyncReport, SyncRun, dump_links, is_echo, load_links
from recollect.sync.sending import PreparedRecords, prepare_records, shadow_of
from recollect.sync.states import LINKS, Shadow
from recollect.sync.wire import (
    LAST_TURN,
    PAGE_RECORDS,
    VERSIONS,
    Json,
    RecordResult,
    Remote,
    SyncRecord,
    split_records,
    turn_of,
)

_TURNS = 8  # of pulling and pushing in one sync; what still moves then goes on in the next
_COUNT_EVERY = timedelta(days=1)  # how often memories were read travels by itself
_ALL = 2**31
_SKEW = timedelta(minutes=2)  # between two clocks, before it is worth a word


class SyncClient:
    """One copy and its server."""

    def __init__(
        self,
        replica: Replica,
        remote: Remote,
        *,
        project: str,
        now: Callable[[], datetime],
        identity: Identity,
        vectors_only: bool = False,
        vectors_of: Callable[[Sequence[str]], dict[str, Json]] | None = None,
    ) -> None:
        self._replica = replica
        self._remote = remote
        self._project = project
        self._run = SyncRun(replica, now, identity, now(), vectors_only)
        if vectors_of is not None:
            self._run.vectors_of = vectors_of

    # --- one sync ---------------------------------------------------------------------------------------------------

    def sync(self, *, link: bool = False, counters: bool = False, allow_deletions: bool = False) -> SyncReport:
        """Bring both sides together. `counters`: also how often memories were read, whenever that was told last."""
        self._greet(link=link)
        self._resume()
        self._collect(counters=counters)
        stop: SyncMassDeletion | None = None
        for _ in range(_TURNS):
            self._pull()
            stop = self._follow_deletions(allowed=allow_deletions)
            moved, refused = self._push(allowed=allow_deletions)
            stop = stop or refused
            if not moved:
                break
            self._collect(counters=False)
        self._finish()
        if stop is not None:
            raise stop
        return self._run.report

    def preview(self) -> SyncReport:
        """What a sync would do, as far as that can be told without doing it."""
        self._run.report.dry_run = True
        told = self._remote.hello()
        self._choose_version(told)
        self._run.report.server, self._run.report.project = str(told["server"]), str(told["project"])
        facts = self._replica.facts()
        if facts.get("server") != told["server"]:
            facts = {}
        after, anchor, more = facts.get("after", 0), facts.get("anchor", ""), True
        while more:
            page = self._remote.pull(after, anchor)
            known = self._replica.synced.get([one.key for one in page.records])
            self._run.report.fetched += sum(not is_echo(one, known.get(one.key)) for one in page.records)
            after, anchor, more = page.number, page.hash, page.more
        touched = self._replica.feed.touched(facts.get("pushed", 0), limit=_ALL)
        rows = {row.key: row for row in self._replica.synced.pending()} if facts else {}
        rows |= {one.key: rows.get(one.key) or SyncedRow(one.key, one.sort) for one in touched}
        known = self._replica.synced.get(rows) if facts else {}
        prepared = prepare_records(self._run, [known.get(key, row) for key, row in rows.items()])
        self._run.report.sent = len(prepared.records)
        return self._run.report

    def _greet(self, *, link: bool) -> None:
        """Who is there, which version both speak, whether this project belongs to theirs."""
        told = self._remote.hello()
        self._choose_version(told)
        server, project = str(told["server"]), str(told["project"])
        self._run.server_now = moment(str(told["time"]))
        skew = self._run.now() - self._run.server_now
        if abs(skew) > _SKEW:
            self._run.report.notes.append(f"this machine's clock is {_spelt(skew)} the server's")
        self._run.report.server, self._run.report.project = server, project
        facts = self._replica.facts()
        if facts.get("server") == server:
            return
        if not link and project != self._project:
            raise SyncNotLinked(self._project, project)
        with self._replica.write():
            self._replica.synced.clear()
            self._replica.set_facts({"server": server, "project": project, "linked_at": iso(self._run.now())})

    @staticmethod
    def _choose_version(told: Json) -> None:
        spoken = told.get("versions")
        if not isinstance(spoken, list) or not set(VERSIONS) & {one for one in spoken if type(one) is int}:
            raise SyncVersionUnknown(str(spoken), map(str, VERSIONS))

    def _finish(self) -> None:
        synced = self._replica.synced
        self._run.report.waiting = len(synced.pending())
        self._run.report.held_deletions = len(synced.gone())
        with self._replica.write():
            self._replica.set_facts({**self._replica.facts(), "synced_at": iso(self._run.now())})

    # --- what changed here ------------------------------------------------------------------------------------------

    def _resume(self) -> None:
        """Ask about batches whose answer was lost. One that had not arrived never will: the server has closed it."""
        rows = self._replica.synced.unanswered()
        for batch in sorted({row.batch for row in rows if row.batch is not None}):
            applied = self._remote.close_batch(batch)
            with self._replica.write():
                for row in self._replica.synced.get([one.key for one in rows if one.batch == batch]).values():
                    if row.batch == batch:
                        self._settle(row, applied.get(row.key))

    def _settle(self, row: SyncedRow, version: int | None) -> None:
        """Note that what was sent is what the server has; without a version, that it has to be sent again."""
        synced = self._replica.synced
        if version is None:
            synced.put([replace(row, batch=None, sent=None)])
        elif not row.sent:  # it was told that it is gone, or lifted
            synced.remove([row.key])
        else:
            synced.put([replace(row, version=version, shadow=row.sent, sent=None, batch=None, note="", gone=False)])

    def _collect(self, *, counters: bool) -> None:
        """Mark what the log says was touched here since the last time."""
        with self._replica.write():
            facts = self._replica.facts()
            head = self._replica.feed.head().number
            touched = {one.key: one.sort for one in self._replica.feed.touched(facts.get("pushed", 0), limit=_ALL)}
            fresh = [key for key, sort in touched.items() if sort == "memory"]
            sources = self._replica.sources_of(fresh)
            touched |= {key: "memory" for key in self._replica.synced.get(sources) if key not in touched}
            last = facts.get("counted_at")
            if counters or last is None or moment(last) + _COUNT_EVERY <= self._run.now():
                touched |= dict.fromkeys(self._read_since(), "memory")
                facts["counted_at"] = iso(self._run.now())
            if "tombstone" in touched.values() and self._take_back_refusals():
                facts |= {"after": 0, "anchor": ""}
            self._replica.synced.mark(touched)
            self._replica.set_facts({**facts, "pushed": head})

    def _read_since(self) -> list[str]:
        """Memories that were read here since both sides counted."""
        rows = [row for row in self._replica.synced.every() if row.sort == "memory" and row.shadow and not row.note]
        states = self._replica.states([row.key for row in rows])
        return [
            row.key
            for row in rows
            if row.key in states
            and states[row.key].state.get("access_count", 0) != Shadow.read(row.shadow or "").numbers["access_count"]
        ]

    # --- what changed there -----------------------------------------------------------------------------------------

    def _pull(self) -> None:
        more = True
        while more:
            facts = self._replica.facts()
            page = self._remote.pull(facts.get("after", 0), facts.get("anchor", ""))
            more = page.more
            with self._replica.write():
                facts = self._replica.facts()
                is_level = facts.get("pushed", 0) == self._replica.feed.head().number
                if page.reset:
                    self._begin_anew()
                    is_level = False
                pulling = PagePull(self._run, page)
                pulling.run()
                if is_level:
                    facts["pushed"] = self._replica.feed.head().number  # all of it came from there
                facts |= {"after": page.number, "anchor": page.hash}
                if pulling.lifted and self._take_back_refusals():
                    facts |= {"after": 0, "anchor": ""}
                    more = True
                self._replica.set_facts(facts)
        self._link_held()

    def _take_back_refusals(self) -> bool:
        """A statement may be said again: what was not taken in because of it is asked for once more."""
        rows = [row for row in self._replica.synced.every() if row.note == FORGOTTEN_HERE]
        self._replica.synced.put([replace(row, version=None, note="") for row in rows])
        return bool(rows)

    def _begin_anew(self) -> None:
        """The server's log is another one: what it has is not known until it tells, and what it does not tell of is
        sent again."""
        rows = [replace(row, version=None, pending=True, gone=False, note="") for row in self._replica.synced.every()]
        self._replica.synced.put(rows)

    def _link_held(self) -> None:
        """Put links in place whose other end has come."""
        waiting = self._replica.synced.holding()
        targets = {one["target"] for row in waiting for one in load_links(row.held)}
        here = self._replica.existing(targets)
        if not here:
            return
        with self._replica.write():
            edits = self._replica.edits(self._run.act())
            for row in waiting:
                links = load_links(row.held)
                arrived = [one for one in links if one["target"] in here]
                held = self._replica.states([row.key]).get(row.key)
                if not arrived or held is None:
                    continue
                edits.put(row.key, {**held.state, LINKS: [*held.state.get(LINKS, ()), *arrived]})
                left = [one for one in links if one["target"] not in here]
                shadow = Shadow.read(row.shadow or "")
                known = [*shadow.items.get(LINKS, ()), *Shadow.of({LINKS: arrived}).items[LINKS]]
                shadow = replace(shadow, items={**shadow.items, LINKS: known})
                self._replica.synced.put([replace(row, shadow=shadow.text, held=dump_links(left))])
            edits.finish()

    def _follow_deletions(self, *, allowed: bool) -> SyncMassDeletion | None:
        """Delete here what was deleted there; too much at once waits for a person."""
        rows = self._replica.synced.gone()
        here = self._replica.existing([row.key for row in rows])
        shared = self._replica.synced.count_shared()
        if not allowed and is_mass_deletion(len(here), shared):
            return SyncMassDeletion(len(here), shared, here=False)
        if rows:
            with self._replica.write():
                edits = self._replica.edits(self._run.act())
                for row in rows:
                    if row.key in here:
                        edits.remove(row.key, final=row.note != "pruned", why="deleted by the team")
                edits.finish()
                self._replica.synced.remove([row.key for row in rows])
            self._run.report.deleted += len(here)
        return None

    # --- sending ----------------------------------------------------------------------------------------------------

    def _push(self, *, allowed: bool) -> tuple[bool, SyncMassDeletion | None]:
        """Send what waits. True when another turn is worth it: something moved there, or waits for what was sent."""
        with self._replica.write():
            prepared = prepare_records(self._run, [row for row in self._replica.synced.pending() if not row.gone])
            self._replica.synced.put(prepared.settled)
            self._replica.synced.remove(prepared.dropped)
            self._correct_own(prepared)
        ends = [one for one in prepared.records if one.sort == "memory" and one.state is None]
        shared = self._replica.synced.count_shared()
        stop = None
        if not allowed and is_mass_deletion(len(ends), shared):
            stop = SyncMassDeletion(len(ends), shared, here=True)
            kept = [one for one in prepared.records if one not in ends and turn_of(one) != LAST_TURN]
            prepared.records = kept  # nor what would close them there by their words
        moved = bool(prepared.unlinked and prepared.records)
        last = [one for one in prepared.records if turn_of(one) == LAST_TURN]
        for some in split_records([one for one in prepared.records if turn_of(one) != LAST_TURN], size=PAGE_RECORDS):
            moved |= self._send(some, prepared, confirmed=allowed)
        if moved:  # first merge: what a tombstone closes there may be what we have better words for
            return True, stop
        for some in split_records(last, size=PAGE_RECORDS):
            moved |= self._send(some, prepared, confirmed=allowed)
        return moved or bool(last), stop

    def _send(self, records: Sequence[SyncRecord], prepared: PreparedRecords, *, confirmed: bool) -> bool:
        at = self._run.now()
        batch = str(self._run.identity("act", at))
        with self._replica.write():
            rows = self._replica.synced.get([one.key for one in records])
            sent = [replace(rows[one.key], batch=batch, sent=shadow_of(one)) for one in records if one.key in rows]
            self._replica.synced.put(sent)
        results = self._remote.push(batch, records, confirmed=confirmed)
        with self._replica.write():
            return self._take_results(results, prepared)

    def _take_results(self, results: Iterable[RecordResult], prepared: PreparedRecords) -> bool:
        results = list(results)
        rows = self._replica.synced.get([one.key for one in results])
        edits = self._replica.edits(self._run.act())
        again = False
        for one in results:
            row = rows.get(one.key)
            if row is None:
                continue
            if one.verdict == "applied":
                self._run.report.sent += 1
                linked = one.key in prepared.unlinked
                again |= linked
                self._settle(replace(row, pending=linked), one.version if one.version is not None else 0)
            elif one.verdict == "refused":
                self._run.report.refused[one.key] = one.why
                self._replica.synced.put([replace(row, batch=None, sent=None, pending=False, note=one.why)])
            else:
                again = True
                self._replica.synced.put([replace(row, batch=None, sent=None)])
                if one.verdict == "known":
                    self._close_duplicate(edits, one.key, one.why)
                elif one.verdict == "buried":
                    held = self._replica.states([one.key])
                    for key, state in ((key, found.state) for key, found in held.items()):
                        close_buried(self._replica, edits, {fingerprint(state["content"]): one.why}, partial(eq, key))
        edits.finish()
        return again

    def _close_duplicate(self, edits: SyncEdits, id: str, of: str) -> None:
        """Ours says what another memory of the team says: it leads to that one. The other may still have to come."""
        held = self._replica.states([id, of])
        if id in held and of in held:
            edits.put(id, superseded(held[id].state, of, iso(self._run.now())), f"{of} says the same")

    def _correct_own(self, prepared: PreparedRecords) -> None:
        """What this machine dated later than the server's now is dated again, here too; a tombstone that outlasts ours
        takes its place."""
        if prepared.clamped or prepared.outlasted:
            edits = self._replica.edits(self._run.act())
            for key, state in prepared.clamped.items():
                edits.put(key, state, "the clock of this machine was ahead")
            for key, stone in prepared.outlasted.items():
                edits.bury(key, stone.reason, stone.at)
            edits.finish()


def _spelt(skew: timedelta) -> str:
    minutes = round(abs(skew).total_seconds() / 60)
    return f"{minutes:,} min {'ahead of' if skew > timedelta() else 'behind'}"
