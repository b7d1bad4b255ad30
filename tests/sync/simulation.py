"""A seeded world of copies and one server: people edit, networks cut and repeat, machines die, clocks are wrong.

The client, the server and the rules are the real ones; copies are in memory. An oracle beside them remembers what
people did, and says at the end what must still be there, what must not, and that everybody has the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from recollect.core.doors import CLI_TERMINAL
from recollect.core.forms import iso
from recollect.core.ids import MemoryId
from recollect.core.sync_errors import SyncOffline
from recollect.core.text import fingerprint
from recollect.remember.act import ActContext
from recollect.sync.client import SyncClient
from recollect.sync.replica import HeldState
from recollect.sync.server import SyncActor, SyncServer
from recollect.sync.states import LINKS, State, is_open
from recollect.sync.wire import Json, RecordResult, SyncPage, SyncRecord, read_record, read_sync_page
from recollect.testing.sync import TwinReplica

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SPOKEN_BY_MANY = [f"Everybody knows thing {number}" for number in range(6)]


class Died(BaseException):
    """A machine stops at this point. What was committed stays."""


@dataclass
class Oracle:
    """What people did, wherever they were."""

    written: dict[str, set[str]] = field(default_factory=dict)  # words, with the ids that carried them
    settled: set[str] = field(default_factory=set)  # words that somebody who saw them replaced, buried or pruned
    ended: set[str] = field(default_factory=set)  # ids that were forgotten
    tags: dict[str, set[str]] = field(default_factory=dict)
    untagged: set[tuple[str, str]] = field(default_factory=set)
    reads: Counter[str] = field(default_factory=Counter)
    pruned: set[str] = field(default_factory=set)  # ids; what only their machine knew went with them
    personal: set[str] = field(default_factory=set)  # words that were personal from the first


class Machine:
    """One copy with a person at it."""

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.twin = TwinReplica(name)
        self.skew = timedelta()
        self.is_cut_off = False
        self.is_busy = False

    def now(self) -> datetime:
        return self.world.now() + self.skew

    def act(self) -> ActContext:
        return ActContext(self.name, self.now(), MemoryId(self.world.new_id("act", START)), CLI_TERMINAL)

    def client(self) -> SyncClient:
        return SyncClient(
            self.twin, Network(self), project="team", now=self.now, identity=self.world.new_id
        )  # fmt: skip

    def sync(self, **options: bool) -> None:
        self.client().sync(allow_deletions=True, **options)

    # --- what people do ---------------------------------------------------------------------------------------------

    def some_memory(self, *, open_only: bool = True) -> str | None:
        ids = [id for id, held in self.twin.memories.items() if not open_only or is_open(held.state)]
        return self.world.chance.choice(ids) if ids else None

    def state(self, id: str) -> State:
        return self.twin.memories[id].state

    def change(self, id: str, changes: State, *drop: str) -> None:
        state = {name: value for name, value in self.state(id).items() if name not in drop}
        with self.twin.write():
            edits = self.twin.edits(self.act())
            edits.put(id, {**state, **changes, "updated_at": iso(self.now())})

    def remember(self, words: str, *, home: str = "") -> None:
        key = fingerprint(words)
        if key in self.twin.twins([key]) or key in self.twin.stones:
            return
        id, at = self.world.new_id("mem", self.now()), iso(self.now())
        state = {
            "kind": "fact", "content": words, "confidence": 0.9, "created_at": at, "updated_at": at, "accessed_at": at,
            "source": "user_taught", "scope": "global", "visibility": "project", "status": "active",
        }  # fmt: skip
        if home:
            state["visibility"] = "personal"
        with self.twin.write():
            self.twin.edits(self.act()).put(id, state)
            self.twin.memories[id] = HeldState(state, home)
        if home:
            self.world.oracle.personal.add(words)
        else:
            self.world.oracle.written.setdefault(words, set()).add(id)

    def edit(self, id: str, words: str) -> None:
        if self.twin.memories[id].home:
            return
        before = self.state(id)["content"]
        oracle = self.world.oracle
        with self.twin.write():
            edits = self.twin.edits(self.act())
            edits.put(id, {**self.state(id), "content": words, "updated_at": iso(self.now())})
            edits.bury(fingerprint(before), "corrected", self.now())
            edits.lift(fingerprint(words))
        oracle.settled.add(before)
        oracle.written.setdefault(words, set()).add(id)

    def tag(self, id: str) -> None:
        tag = f"tag{self.world.count()}"
        self.change(id, {"tags": [*self.state(id).get("tags", ()), tag]})
        self.world.oracle.tags.setdefault(id, set()).add(tag)

    def untag(self, id: str) -> None:
        tags = self.state(id).get("tags", [])
        if tags:
            gone = self.world.chance.choice(tags)
            left = [one for one in tags if one != gone]
            self.change(id, {"tags": left} if left else {}, "tags")
            self.world.oracle.untagged.add((id, gone))

    def read(self, id: str) -> None:
        """Being read moves no log."""
        held = self.twin.memories[id]
        count = held.state.get("access_count", 0) + 1
        self.twin.memories[id] = HeldState(
            {**held.state, "access_count": count, "accessed_at": iso(self.now())}, held.home
        )
        self.world.oracle.reads[id] += 1

    def confirm(self, id: str) -> None:
        self.change(id, {"verified": True, "confidence": 1.0, "status": "active"}, "needs_review")

    def dispute(self, id: str) -> None:
        self.change(id, {"status": "disputed", "needs_review": True}, "verified")

    def reject(self, id: str) -> None:
        words = self.state(id)["content"]
        with self.twin.write():
            edits = self.twin.edits(self.act())
            kept = {name: value for name, value in self.state(id).items() if name not in ("verified", "needs_review")}
            edits.put(id, {**kept, "status": "rejected", "confidence": 0.0})
            edits.bury(fingerprint(words), "rejected", self.now())
        self.world.oracle.settled.add(words)

    def forget(self, id: str) -> None:
        words = self.state(id)["content"]
        with self.twin.write():
            edits = self.twin.edits(self.act())
            edits.remove(id, final=True)
            edits.bury(fingerprint(words), "forgotten", self.now())
        self.world.oracle.ended.add(id)
        self.world.oracle.settled.add(words)

    def prune(self, id: str) -> None:
        words = self.state(id)["content"]
        with self.twin.write():
            self.twin.edits(self.act()).remove(id, final=False)
        self.world.oracle.settled.add(words)
        self.world.oracle.pruned.add(id)

    def say_again(self) -> None:
        """What was buried is said once more, on purpose."""
        key = self.world.chance.choice(sorted(self.twin.stones)) if self.twin.stones else None
        words = next((one for one in self.world.oracle.written if fingerprint(one) == key), None)
        if key is not None and words is not None:
            with self.twin.write():
                self.twin.edits(self.act()).lift(key)
            self.remember(words)

    def link(self, id: str) -> None:
        other = self.some_memory()
        if other is None or other == id:
            return
        link = {"relation": "required_with", "target": other, "confidence": 0.8, "automatic": False,
                "created_at": iso(START)}  # fmt: skip
        links = [one for one in self.state(id).get(LINKS, ()) if one["target"] != other]
        with self.twin.write():
            edits = self.twin.edits(self.act())
            edits.put(id, {**self.state(id), LINKS: [*links, link]})
            edits.finish()


class Network:
    """The server as a machine reaches it: requests and answers get lost, are repeated, or come much later."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._world = machine.world

    def _server(self) -> SyncServer:
        actor = SyncActor(self._machine.name, is_person=True)
        return SyncServer(self._world.server, actor, project="team", now=self._world.now)

    def _call(self, act: Callable[[], Any], *, repeatable: bool = False) -> Any:
        world, chance = self._world, self._world.chance
        if self._machine.is_cut_off:
            raise SyncOffline("server", "no network")
        if world.is_rough:
            world.meanwhile(self._machine)
            if chance.random() < 0.03:
                raise Died
            if chance.random() < 0.05:
                if repeatable:
                    world.on_the_way.append(act)  # it arrives when nobody waits any more
                raise SyncOffline("server", "the request was lost")
            if repeatable and chance.random() < 0.05:
                world.on_the_way.append(act)
        answer = self._arrive(act)
        if world.is_rough and chance.random() < 0.05:
            raise SyncOffline("server", "the answer was lost")
        if world.is_rough and chance.random() < 0.03:
            raise Died
        return answer

    def _arrive(self, act: Callable[[], Any]) -> Any:
        try:
            return act()
        except Died:
            raise SyncOffline("server", "it died") from None

    def hello(self) -> Json:
        told: Json = self._call(lambda: self._server().hello())
        return told

    def pull(self, after: int, anchor: str) -> SyncPage:
        limit = self._world.chance.choice((3, 20, 500))
        told = self._call(lambda: self._server().pull(after, anchor, version=1, limit=limit))
        return read_sync_page(told.told())

    def push(self, batch: str, records: Sequence[SyncRecord], *, confirmed: bool) -> list[RecordResult]:
        sent = [read_record(one.told()) for one in records]
        found: list[RecordResult] = self._call(
            lambda: self._server().push(batch, sent, version=1, confirmed=confirmed), repeatable=True
        )
        return found

    def close_batch(self, batch: str) -> dict[str, int]:
        found: dict[str, int] = self._call(lambda: self._server().close_batch(batch))
        return found


class World:
    """Everybody, and what time it is. The same seed is the same story."""

    def __init__(self, seed: int, *, machines: int | None = None) -> None:
        self.chance = Random(seed)
        self.oracle = Oracle()
        self.server = TwinReplica("server")
        self.is_rough = True
        self.on_the_way: list[Callable[[], Any]] = []
        self._ticks = 0
        self._depth = 0
        self.machines = [Machine(self, f"m{n}") for n in range(machines or self.chance.randint(3, 6))]
        for one in (self.server, *(machine.twin for machine in self.machines)):
            one.on_commit = self._may_die

    def now(self) -> datetime:
        return START + timedelta(seconds=self._ticks)

    def count(self) -> int:
        self._ticks += 1
        return self._ticks

    def new_id(self, family: str, at: datetime) -> MemoryId:
        return MemoryId(f"{family}_{self.count():023d}")

    def _may_die(self) -> None:
        if self.is_rough and self.chance.random() < 0.004:
            raise Died

    def meanwhile(self, waiting: Machine) -> None:
        """While one waits for an answer, others go on."""
        if self._depth < 2 and self.chance.random() < 0.2:
            self._depth += 1
            try:
                other = self.chance.choice(self.machines)
                if other is not waiting:
                    self.step(other)
            finally:
                self._depth -= 1

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step(self.chance.choice(self.machines))

    def step(self, machine: Machine) -> None:
        """Something happens to one machine."""
        self.count()
        chance = self.chance
        try:
            match chance.choices(_STEPS, _WEIGHTS)[0]:
                case "sync" if not machine.is_busy:
                    machine.is_busy = True
                    try:
                        machine.sync(counters=chance.random() < 0.3)
                    finally:
                        machine.is_busy = False
                case "cut":
                    machine.is_cut_off = not machine.is_cut_off
                case "skew":
                    machine.skew = timedelta(minutes=chance.choice((0, 0, -3_000, 90, 60_000)))
                case "late" if self.on_the_way:
                    self.on_the_way.pop(chance.randrange(len(self.on_the_way)))()
                case what:
                    self._by_hand(machine, what)
        except (SyncOffline, Died):
            pass

    def _by_hand(self, machine: Machine, what: str) -> None:
        chance = self.chance
        if what == "remember":
            many = chance.random() < 0.2
            machine.remember(chance.choice(SPOKEN_BY_MANY) if many else f"Statement {self.count()}")
        elif what == "private":
            machine.remember(f"Private {self.count()}", home="personal")
        elif what == "say_again":
            machine.say_again()
        elif what in _ON_ONE and (id := machine.some_memory()) is not None:
            if what == "edit":
                machine.edit(id, f"Statement {self.count()}")
            elif not (machine.twin.memories[id].home and what in ("forget", "reject", "prune", "link")):
                getattr(machine, what)(id)

    def settle(self) -> None:
        """The weather clears: everybody syncs until nothing moves."""
        self.is_rough = False
        for act in self.on_the_way:
            act()
        for machine in self.machines:
            machine.is_cut_off, machine.skew = False, timedelta()
        for _ in range(4):
            for machine in self.machines:
                machine.sync(counters=True)

    # --- what must be true ------------------------------------------------------------------------------------------

    def faults(self) -> list[str]:
        """What is wrong at the end, in words."""
        return [*self._differences(), *self._lost(), *self._resurrected(), *self._leaked()]

    def _differences(self) -> list[str]:
        found = []
        there = {id: held.state for id, held in self.server.memories.items()}
        stones = {key: stone.reason for key, stone in self.server.stones.items()}
        for machine in self.machines:
            own = {id for id, held in machine.twin.memories.items() if held.home}
            here = {id: _without_links_to(own, machine.state(id)) for id in machine.twin.memories if id not in own}
            found += [
                f"{machine.name} and the server differ in {id}: {_diff(here.get(id), there.get(id))}"
                for id in sorted(here.keys() | there.keys())
                if _lasting(here.get(id)) != _lasting(there.get(id))
            ]
            buried = {key: stone.reason for key, stone in machine.twin.stones.items()}
            if buried != stones:
                found.append(f"{machine.name} has other tombstones: {dict(buried.items() ^ stones.items())}")
            if waiting := [row for row in machine.twin.rows.values() if row.pending or row.batch or row.gone]:
                found.append(f"{machine.name} still waits for {waiting[:2]}")
        return found

    def _lost(self) -> list[str]:
        oracle = self.oracle
        oracle.pruned |= {entry.key for entry in self.server.log if entry.end == "pruned"}  # their words were forgotten
        said = {held.state["content"] for held in self.server.memories.values()}
        found = [
            f"the words {words!r} are lost"
            for words, ids in oracle.written.items()
            if words not in said and words not in oracle.settled and not ids & oracle.ended
        ]
        for id, tags in oracle.tags.items():
            if id in self.server.memories and id not in oracle.pruned:
                held = set(self.server.memories[id].state.get("tags", ()))
                found += [f"the tag {tag} of {id} is lost" for tag in tags - held if (id, tag) not in oracle.untagged]
        for id, held_state in self.server.memories.items():
            count = held_state.state.get("access_count", 0)
            if count != oracle.reads[id] and id not in oracle.pruned:
                found.append(f"{id} was read {oracle.reads[id]} times, not {count}")
        return found

    def _resurrected(self) -> list[str]:
        return [
            f"{id} is back on {one.name}"
            for one in (self.server, *(machine.twin for machine in self.machines))
            for id in self.oracle.ended & one.memories.keys()
        ]

    def _leaked(self) -> list[str]:
        said = {held.state["content"] for held in self.server.memories.values()}
        return [f"{words!r} left its machine" for words in self.oracle.personal & said]


_ON_ONE = ("edit", "tag", "untag", "read", "confirm", "dispute", "reject", "forget", "prune", "link")
_STEPS = ("sync", "cut", "skew", "late", "remember", "private", "say_again", *_ON_ONE)
_WEIGHTS = (16, 2, 1, 3, 14, 1, 1, 14, 8, 3, 8, 3, 2, 2, 3, 1, 3)


def _without_links_to(ids: set[str], state: State) -> State:
    """A state without the links that lead to what never leaves a machine."""
    links = [one for one in state.get(LINKS, ()) if one["target"] not in ids]
    rest = {name: value for name, value in state.items() if name != LINKS}
    return {**rest, LINKS: links} if links else rest


def _lasting(state: State | None) -> State | None:
    """A state without when it was touched last, which each copy knows by itself."""
    if state is None:
        return None
    return {name: value for name, value in state.items() if name not in ("updated_at", "accessed_at")}


def _diff(one: State | None, other: State | None) -> str:
    if one is None or other is None:
        return "missing here" if one is None else "missing there"
    names = [name for name in sorted(one.keys() | other.keys()) if one.get(name) != other.get(name)]
    return ", ".join(f"{name} {one.get(name)!r} ≠ {other.get(name)!r}" for name in names)


def simulate(seed: int, steps: int) -> list[str]:
    """One story from its seed; what is wrong at its end."""
    world = World(seed)
    world.run(steps)
    world.settle()
    return world.faults()
