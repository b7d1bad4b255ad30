"""A copy of the memories in plain dictionaries, for simulations of sync: the same port as a store, no disk.

A write that raises takes everything back, as a transaction does. States are never changed in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from recollect.core.text import fingerprint
from recollect.remember.act import ActContext
from recollect.store.log_feed import LoggedBatch, LogPosition, TouchedSubject
from recollect.store.synced import SyncedRow, SyncSort
from recollect.store.tombstones import Tombstone
from recollect.sync.replica import HeldState
from recollect.sync.states import LINKS, State, is_open, link_key

words_of = lru_cache(maxsize=50_000)(fingerprint)


class TwinEntry(NamedTuple):
    """One entry of the log: what it is about, who wrote it, and whether a memory ended with it."""

    key: str
    sort: SyncSort
    actor: str
    act: str
    door: str
    end: str = ""  # final, pruned, or nothing
    applied: dict[str, int] | None = None  # of the note about a batch


class TwinReplica:
    """A copy in memory. It is its own feed and its own table of what is synced."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.memories: dict[str, HeldState] = {}
        self.stones: dict[str, Tombstone] = {}
        self.log: list[TwinEntry] = []
        self.rows: dict[str, SyncedRow] = {}
        self.noted: dict[str, Any] = {}
        self.on_commit: Callable[[], None] = lambda: None  # may raise: the machine dies here
        self._depth = 0

    @property
    def feed(self) -> TwinReplica:
        return self

    @property
    def synced(self) -> TwinReplica:
        return self

    @contextmanager
    def write(self) -> Iterator[None]:
        """All of a block, or nothing of it."""
        if self._depth:
            yield
            return
        kept = (dict(self.memories), dict(self.stones), len(self.log), dict(self.rows), dict(self.noted))
        self._depth = 1
        try:
            yield
            self.on_commit()
        except BaseException:
            self.memories, self.stones, self.rows, self.noted = kept[0], kept[1], kept[3], kept[4]
            del self.log[kept[2] :]
            raise
        finally:
            self._depth = 0

    def facts(self) -> dict[str, Any]:
        return dict(self.noted)

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        self.noted = dict(facts)

    # --- the log ----------------------------------------------------------------------------------------------------

    def head(self) -> LogPosition:
        return LogPosition(len(self.log), str(len(self.log)))

    def at(self, number: int) -> LogPosition:
        return LogPosition(number, str(number))

    def holds(self, position: LogPosition) -> bool:
        return position.number <= len(self.log)

    def touched(self, after: int, *, limit: int) -> list[TouchedSubject]:
        numbered = enumerate(self.log[after:], start=after + 1)
        last = {entry.key: (number, entry) for number, entry in numbered if entry.key}
        found = [TouchedSubject(key, entry.sort, number, entry.actor) for key, (number, entry) in last.items()]
        return sorted(found, key=lambda one: one.number)[:limit]

    def versions(self, keys: Iterable[str]) -> dict[str, int]:
        wanted = set(keys)
        return {entry.key: number for number, entry in enumerate(self.log, start=1) if entry.key in wanted}

    def batch(self, act: str) -> LoggedBatch | None:
        found = [entry for entry in self.log if entry.act == act]
        if not found:
            return None
        noted = next((entry for entry in found if not entry.key), None)
        return LoggedBatch(found[0].actor, found[0].door, {} if noted is None else noted.applied or {})

    def deleted(self, *, actor: str, door: str, since: datetime) -> int:
        return 0  # simulations delete as much as they like

    # --- what is synced ---------------------------------------------------------------------------------------------

    def get(self, keys: Iterable[str]) -> dict[str, SyncedRow]:
        return {key: self.rows[key] for key in dict.fromkeys(keys) if key in self.rows}

    def put(self, rows: Iterable[SyncedRow]) -> None:
        self.rows.update((row.key, row) for row in rows)

    def remove(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.rows.pop(key, None)

    def mark(self, touched: Mapping[str, SyncSort]) -> None:
        for key, sort in touched.items():
            self.rows[key] = replace(self.rows.get(key) or SyncedRow(key, sort), pending=True)

    def pending(self) -> list[SyncedRow]:
        return self._those(lambda row: row.pending)

    def gone(self) -> list[SyncedRow]:
        return self._those(lambda row: row.gone)

    def unanswered(self) -> list[SyncedRow]:
        return self._those(lambda row: row.batch is not None)

    def holding(self) -> list[SyncedRow]:
        return self._those(lambda row: row.held is not None)

    def every(self) -> list[SyncedRow]:
        return self._those(lambda row: True)

    def _those(self, which: Callable[[SyncedRow], bool]) -> list[SyncedRow]:
        return sorted((row for row in self.rows.values() if which(row)), key=lambda row: row.key)

    def count_shared(self) -> int:
        shared = [row for row in self.rows.values() if row.version is not None or row.shadow is not None]
        return sum(row.sort == "memory" for row in shared)

    def clear(self) -> None:
        self.rows = {}

    # --- the memories -----------------------------------------------------------------------------------------------

    def states(self, ids: Iterable[str]) -> dict[str, HeldState]:
        return {id: self.memories[id] for id in dict.fromkeys(ids) if id in self.memories}

    def existing(self, ids: Iterable[str]) -> set[str]:
        return {id for id in ids if id in self.memories}

    def ended(self, ids: Iterable[str]) -> set[str]:
        wanted = set(ids)
        return {entry.key for entry in self.log if entry.end == "final" and entry.key in wanted}

    def used_elsewhere(self, ids: Iterable[str]) -> set[str]:
        return set()

    def tombstones(self, keys: Iterable[str]) -> dict[str, Tombstone]:
        return {key: self.stones[key] for key in keys if key in self.stones}

    def twins(self, fingerprints: Iterable[str]) -> dict[str, dict[str, State]]:
        found: dict[str, dict[str, State]] = {}
        wanted = set(fingerprints)
        for id, held in self.memories.items() if wanted else ():
            if is_open(held.state) and (key := words_of(held.state["content"])) in wanted:
                found.setdefault(key, {})[id] = held.state
        return found

    def saying(self, fingerprints: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        wanted = set(fingerprints)
        for id, held in self.memories.items() if wanted else ():
            if (key := words_of(held.state["content"])) in wanted:
                found.setdefault(key, []).append(id)
        return found

    def sources_of(self, ids: Iterable[str]) -> set[str]:
        wanted = set(ids)
        return {
            id
            for id, held in self.memories.items()
            if any(one.get("target") in wanted for one in held.state.get(LINKS, ()))
        }

    def erased(self) -> Callable[[str, State], bool]:
        return lambda id, state: False

    def erase_marked(self, mark: str, at: datetime) -> list[str]:
        return []

    def count(self) -> int:
        return len(self.memories)

    def note_batch(self, act: ActContext, applied: Mapping[str, int]) -> None:
        self.log.append(TwinEntry("", "memory", act.actor, act.act, act.door.name, "", dict(applied)))

    def put_vectors(self, vectors: Mapping[str, Mapping[str, Any]]) -> None:
        pass

    def edits(self, act: ActContext) -> TwinEdits:
        return TwinEdits(self, act)


class TwinEdits:
    """The changes of one act; each takes effect at once."""

    def __init__(self, twin: TwinReplica, act: ActContext) -> None:
        self._twin = twin
        self._act = act
        self._linked: dict[str, State] = {}

    def load(self, ids: Iterable[str]) -> None:
        pass

    def check(self, id: str, state: State) -> None:
        pass

    def put(self, id: str, state: State, why: str = "") -> None:
        home = self._twin.memories[id].home if id in self._twin.memories else ""
        self._twin.memories[id] = HeldState(state, home)
        self._linked[id] = state
        self._note(id, "memory")

    def remove(self, id: str, *, final: bool, why: str = "") -> None:
        if self._twin.memories.pop(id, None) is None:
            return
        for source in self._twin.sources_of([id]):
            held = self._twin.memories[source]
            self._twin.memories[source] = HeldState(_without_link(held.state, id), held.home)
            self._note(source, "memory")
        self._note(id, "memory", "final" if final else "pruned")

    def bury(self, key: str, reason: str, at: datetime) -> None:
        self._twin.stones[key] = Tombstone(key, reason, at)
        self._note(key, "tombstone")

    def lift(self, key: str) -> None:
        if self._twin.stones.pop(key, None) is not None:
            self._note(key, "tombstone")

    def finish(self) -> None:
        """Links to what is not here are left out."""
        for id, state in self._linked.items():
            held = self._twin.memories.get(id)
            if held is not None and LINKS in state:
                links = held.state.get(LINKS, ())
                here = [one for one in links if "target" not in one or one["target"] in self._twin.memories]
                self._twin.memories[id] = HeldState(_linked(held.state, here), held.home)
        self._linked = {}

    def _note(self, key: str, sort: SyncSort, end: str = "") -> None:
        act = self._act
        self._twin.log.append(TwinEntry(key, sort, act.actor, act.act, act.door.name, end))


def _without_link(state: State, target: str) -> State:
    return _linked(state, [one for one in state[LINKS] if one.get("target") != target])


def _linked(state: State, links: list[Any]) -> State:
    rest = {name: value for name, value in state.items() if name != LINKS}
    return {**rest, LINKS: sorted(links, key=link_key)} if links else rest
