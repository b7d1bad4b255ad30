"""What sync needs of a copy of the memories, as a port, and a store seen through it.

The client and the server are written against the port: a simulation runs them over a copy in memory. Every change goes
through `SyncEdits`: rows and log entries together, inside the caller's transaction.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from recollect.core.erasing import marks_by_copy
from recollect.core.errors import InvalidInput
from recollect.core.forms import from_whole, parse_link, whole
from recollect.core.links import Link
from recollect.core.records import Memory
from recollect.core.scope import Relation
from recollect.remember.act import ActContext
from recollect.remember.changes import Changes
from recollect.remember.erased_here import ErasedHere
from recollect.remember.forget import erase_observed, ever_said, scrub
from recollect.remember.merge import check_memory
from recollect.store.contents import Contents
from recollect.store.log import REPLICA
from recollect.store.log_feed import LogFeed
from recollect.store.meta import FILE, Meta
from recollect.store.store import Store
from recollect.store.synced import Synced
from recollect.store.tombstones import Tombstone
from recollect.sync.rules import FOR_GOOD, rejected
from recollect.sync.states import LINKS, TRAVELLING, State, is_private, link_key, stays_home, travelling_state

_NEVER = datetime(9999, 12, 31, tzinfo=UTC)  # clocks are looked at elsewhere
_FACT = "sync"  # what a project says of its server
_UNREADABLE = (ValueError, TypeError, LookupError, OverflowError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class HeldState:
    """A memory as it is here, and why it stays at home, if it does."""

    state: State
    home: str = ""


class SyncEdits(Protocol):
    """The changes of one act. `put` and `remove` may raise `InvalidInput` before anything is changed."""

    def load(self, ids: Iterable[str]) -> None:
        """Look up at once what is here of some memories that may be changed."""
        ...

    def check(self, id: str, state: State) -> None:
        """Refuse what is no memory."""
        ...

    def put(self, id: str, state: State, why: str = "") -> None:
        """Add a memory, or make it what a state says. Links to memories that are not here are left out."""
        ...

    def remove(self, id: str, *, final: bool, why: str = "") -> None: ...
    def bury(self, key: str, reason: str, at: datetime) -> None: ...
    def lift(self, key: str) -> None: ...
    def finish(self) -> None: ...


class Replica(Protocol):
    """One project of one copy. Reading is of the last committed state, or of the current write."""

    @property
    def name(self) -> str:
        """What no other copy is called."""
        ...

    @property
    def feed(self) -> Any: ...
    @property
    def synced(self) -> Any: ...

    def write(self) -> AbstractContextManager[None]: ...
    def facts(self) -> dict[str, Any]: ...
    def set_facts(self, facts: Mapping[str, Any]) -> None: ...
    def states(self, ids: Iterable[str]) -> dict[str, HeldState]: ...
    def existing(self, ids: Iterable[str]) -> set[str]: ...
    def ended(self, ids: Iterable[str]) -> set[str]:
        """Those of some ids that were forgotten or erased: they never come back."""
        ...

    def used_elsewhere(self, ids: Iterable[str]) -> set[str]:
        """Those of some ids that belong to another project."""
        ...

    def tombstones(self, keys: Iterable[str]) -> dict[str, Tombstone]: ...
    def twins(self, fingerprints: Iterable[str]) -> dict[str, dict[str, State]]:
        """The open memories that say exactly the same, by id, for each fingerprint that has some."""
        ...

    def saying(self, fingerprints: Iterable[str]) -> dict[str, list[str]]:
        """The memories that say exactly the same, whatever became of them."""
        ...

    def sources_of(self, ids: Iterable[str]) -> set[str]:
        """The memories that link to one of some."""
        ...

    def erased(self) -> Callable[[str, State], bool]:
        """Tells of a memory whether what it says was erased here."""
        ...

    def erase_marked(self, mark: str, at: datetime) -> list[str]:
        """The memories from before a moment that hold what a mark of an erasure stands for."""
        ...

    def count(self) -> int:
        """How many memories there are that may travel."""
        ...

    def note_batch(self, act: ActContext, applied: Mapping[str, int]) -> None:
        """An entry that tells what became of a batch."""
        ...

    def put_vectors(self, vectors: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep vectors of memories whose words stayed elsewhere, as far as they are of the model that answers here."""
        ...

    def edits(self, act: ActContext) -> SyncEdits: ...


class StoreReplica:
    """A store as a copy."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.feed = LogFeed(store.engine, store.project)
        self.synced = Synced(store.engine, store.project)
        self._meta = Meta(store.engine, store.project)
        self._contents = Contents(store)
        self._removed: list[tuple[Memory, list[str]]] = []

    @property
    def name(self) -> str:
        return Meta(self.store.engine, FILE).get(REPLICA) or ""

    def write(self) -> AbstractContextManager[None]:
        return self.store.engine.write()

    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self._meta.get(_FACT) or "{}")
        return found

    def set_facts(self, facts: Mapping[str, Any]) -> None:
        self._meta.put(_FACT, json.dumps(facts))

    def states(self, ids: Iterable[str]) -> dict[str, HeldState]:
        found = self.store.memories.get_many(list(ids)).memories
        links = self._links(found)
        private = self._private(link for linked in links.values() for link in linked)
        held: dict[str, HeldState] = {}
        for memory in found:
            own = links.get(memory.id, ())
            home = stays_home(memory) or ("drawn from what stays here" if any(map(private, own)) else "")
            held[memory.id] = HeldState(travelling_state(memory, own), home)
        return held

    def _private(self, links: Iterable[Link]) -> Callable[[Link], bool]:
        """Tells of a link whether it leads to the private memory that its source was drawn from."""
        sources = {link.target for link in links if link.relation is Relation.DERIVED_FROM and link.target is not None}
        private = {one.id for one in self.store.memories.get_many(sorted(sources)).memories if is_private(one)}
        return lambda link: link.relation is Relation.DERIVED_FROM and link.target in private

    def _links(self, memories: Iterable[Memory]) -> dict[str, list[Link]]:
        linked: dict[str, list[Link]] = {}
        for link in self.store.links.of_sources([memory.id for memory in memories]):
            linked.setdefault(link.source, []).append(link)
        return linked

    def existing(self, ids: Iterable[str]) -> set[str]:
        return set(self.store.memories.existing(list(ids)))

    def ended(self, ids: Iterable[str]) -> set[str]:
        return self._contents.forgotten(list(ids))

    def used_elsewhere(self, ids: Iterable[str]) -> set[str]:
        return self._contents.held_elsewhere(list(ids))

    def tombstones(self, keys: Iterable[str]) -> dict[str, Tombstone]:
        return self.store.tombstones.find(list(keys))

    def twins(self, fingerprints: Iterable[str]) -> dict[str, dict[str, State]]:
        found = self.store.memories.by_fingerprint(list(fingerprints))
        links = self._links(memory for same in found.values() for memory in same)
        return {
            key: {
                memory.id: travelling_state(memory, links.get(memory.id, ())) for memory in same if memory.user is None
            }
            for key, same in found.items()
        }

    def saying(self, fingerprints: Iterable[str]) -> dict[str, list[str]]:
        return {key: list(map(str, ids)) for key, ids in self.store.memories.saying(list(fingerprints)).items()}

    def sources_of(self, ids: Iterable[str]) -> set[str]:
        return {link.source for link in self.store.links.to_targets(list(ids))}

    def erased(self) -> Callable[[str, State], bool]:
        marks = ErasedHere(self.store)
        return lambda id, state: marks.covers(parse_state(id, state, self.store))

    def erase_marked(self, mark: str, at: datetime) -> list[str]:
        (marks,) = marks_by_copy([mark])
        return [
            memory.id
            for page in self.store.memories.every()
            for memory in page.memories
            if memory.project == self.store.project
            and memory.created_at <= at
            and not stays_home(memory)
            and (marks.everything or marks.has_session(memory.session) or marks.hold_any(whole(memory)))
        ]

    def count(self) -> int:
        return self.synced.count_travelling()

    def note_batch(self, act: ActContext, applied: Mapping[str, int]) -> None:
        changes = Changes(self.store, act)
        changes.note("sync", None, after={"applied": dict(applied)}, about="note")
        changes.write()

    def put_vectors(self, vectors: Mapping[str, Mapping[str, Any]]) -> None:
        space = self.store.vectors.active()
        fitting = [
            (id, unpacked(one, space.dims), "withheld")
            for id, one in vectors.items()
            if space is not None and (one.get("model"), one.get("dims")) == (space.model, space.dims)
        ]
        if space is not None and fitting:
            self.store.vectors.put(space, fitting)

    def edits(self, act: ActContext) -> StoreEdits:
        return StoreEdits(self.store, act, self._removed)

    def scrub(self) -> None:
        """Leave no copy of what was removed in the files of the store."""
        if self._removed:
            gone, self._removed = list(self._removed), []
            scrub(self.store, [memory for memory, _ in gone], {memory.id: texts for memory, texts in gone})


def unpacked(told: Mapping[str, Any], dims: int) -> Any:
    """Vectors that were sent as text."""
    import numpy as np

    try:
        data = base64.b64decode(told["views"], validate=True)
        views = np.frombuffer(data, "<f2").astype(np.float32).reshape(-1, dims)
    except (KeyError, TypeError, ValueError):
        raise InvalidInput("The vectors cannot be read.") from None
    if not len(views) or not np.isfinite(views).all() or not views.any(axis=1).all():
        raise InvalidInput("The vectors have no direction.")
    return views


def parse_state(id: str, state: State, store: Store) -> Memory:
    """The memory that a state tells of, checked like one that somebody wrote down."""
    if unknown := sorted(state.keys() - TRAVELLING):
        raise InvalidInput(f"A memory that travels has no field {unknown[0]!r:.60}.")
    told = {name: value for name, value in state.items() if name != LINKS}
    try:
        for link in state.get(LINKS, ()):
            parse_link(id, link)
        memory = from_whole({"fingerprint": "", **told, "id": id, "project": store.project}, store.kinds)
        return check_memory(memory, store.kinds, _NEVER)
    except _UNREADABLE as error:
        raise InvalidInput(f"It cannot be read ({type(error).__name__}: {error}).") from None


class StoreEdits:
    """Changes of a store: what comes is inserted at once when all is told, with its links after it."""

    def __init__(self, store: Store, act: ActContext, removed: list[tuple[Memory, list[str]]]) -> None:
        self._store = store
        self._act = act
        self._changes = Changes(store, act)
        self._removed = removed
        self._known: dict[str, Memory | None] = {}
        self._checked: dict[str, tuple[State, Memory]] = {}
        self._new: dict[str, tuple[Memory, str]] = {}
        self._linked: dict[str, list[Mapping[str, Any]]] = {}

    def load(self, ids: Iterable[str]) -> None:
        wanted = list(ids)
        self._known |= dict.fromkeys(wanted)
        self._known |= {memory.id: memory for memory in self._store.memories.get_many(wanted).memories}

    def check(self, id: str, state: State) -> None:
        self._checked[id] = (state, parse_state(id, state, self._store))

    def put(self, id: str, state: State, why: str = "") -> None:
        known = self._checked.pop(id, None)
        told = known[1] if known is not None and known[0] is state else parse_state(id, state, self._store)
        if id not in self._known:
            self.load([id])
        found = self._known[id]
        if found is None:
            self._new[id] = (told, why)
        else:
            self._update(found, told, why)
        if state.get(LINKS) or found is not None:
            self._linked[id] = list(state.get(LINKS, ()))

    def _update(self, before: Memory, told: Memory, why: str) -> None:
        after = told.having(
            entities=before.entities,
            embedding_model=before.embedding_model,
            revision=before.revision + 1,
        )
        if after.having(revision=before.revision) == before:
            return
        self._changes.update("sync", before, after, why)
        self._known[before.id] = after

    def remove(self, id: str, *, final: bool, why: str = "") -> None:
        self._known.pop(id, None)
        for memory in self._store.memories.get_many([id]).memories:
            self._removed.append((memory, ever_said(self._store, memory)))
            for link in self._store.links.to(memory.id):
                self._changes.remove_link("sync", link)  # others hold it too: they must hear of it
            self._changes.remove("forget" if final else "prune", [memory], why, erase=True)
            self._changes.drop_unmentioned("forget" if final else "prune", memory.entities)
            erase_observed(self._store, memory)

    def bury(self, key: str, reason: str, at: datetime) -> None:
        self._changes.bury("sync", [key], reason, at=at)

    def lift(self, key: str) -> None:
        self._changes.lift("sync", key)

    def finish(self) -> None:
        """Insert what is new, put links in place and tell the log."""
        if self._new:
            for memory, why in self._new.values():
                self._changes.note("sync", memory.id, why, after=whole(memory))
            self._store.memories.add([memory for memory, _ in self._new.values()])
        self._link()
        self._changes.write()
        self._new, self._linked, self._known, self._checked = {}, {}, {}, {}
        self._changes = Changes(self._store, self._act)

    def _link(self) -> None:
        targets = {one["target"] for links in self._linked.values() for one in links if "target" in one}
        here = set(self._store.memories.existing(sorted(targets)))
        known: dict[str, dict[str, Link]] = {}
        for link in self._store.links.of_sources(list(self._linked)):
            known.setdefault(link.source, {})[_key_of(link)] = link
        for id, told in self._linked.items():
            wanted = {link_key(one): one for one in told if "target" not in one or one["target"] in here}
            had = known.get(id, {})
            fresh = [parse_link(id, one) for key, one in wanted.items() if key not in had]
            if fresh:
                self._changes.put_links("sync", fresh)
            for key, link in had.items():
                if key not in wanted:
                    self._changes.remove_link("sync", link)


def _key_of(link: Link) -> str:
    is_file = link.target is None
    return f"{link.relation}\0{link.file if is_file else link.target}\0{int(is_file)}"


def close_buried(
    replica: Replica, edits: SyncEdits, buried: Mapping[str, str], may_close: Callable[[str], bool]
) -> None:
    """Close what says something that was buried, by fingerprint and reason: what was forgotten goes, whatever became of
    it; the rest stays as rejected."""
    for key, ids in replica.saying([key for key, reason in buried.items() if reason in FOR_GOOD]).items():
        for id in filter(may_close, ids):
            edits.remove(
                id, final=False, why=f"it was {buried[key]} elsewhere"
            )  # its words are; with others it may live
    for key, same in replica.twins([key for key, reason in buried.items() if reason not in FOR_GOOD]).items():
        for id, state in same.items():
            if may_close(id):
                edits.put(id, rejected(state), f"it was {buried[key]} elsewhere")
