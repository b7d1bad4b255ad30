"""Users of an assistant and projects of a file: on every way of reading, nobody sees what is another's.

Worlds are made at random: two projects in one file, a few users and what belongs to nobody in particular, each text
with a canary of its owner. Every reading door is asked as every user; a foreign canary or a foreign id is a leak.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client

import recollect
from faults.fault_tools import base_seed, report, size
from recollect.app import Recollect
from recollect.core.errors import AmbiguousId, MemoryNotFound, NotFound, RecollectError
from recollect.core.query import Filter
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build
from recollect.store.sqlite.hook_file import open_hook_reader

USERS = ("ann", "bob", "cleo")
NAMES = ("Ann Miller", "Acme", "Oslo", "Dr Bell", "Pump Seven")
CANARY = re.compile(r"canary-(\w+)-(\w+)-\d+")
Owner = tuple[str, str | None]  # project and user


class World:
    """Two projects in one file, and whose each id is."""

    def __init__(self, path: Path, chance: random.Random) -> None:
        self.path = path
        self.owners: dict[str, Owner] = {}
        self._chance = chance
        for project in ("left", "right"):
            with recollect.open(path, project=project) as memory:
                self._fill(memory, project)

    def _fill(self, memory: Recollect, project: str) -> None:
        chance = self._chance
        for number in range(chance.randrange(4, 9)):
            user = chance.choice((*USERS, None))
            text = f"{chance.choice(NAMES)} moved the valve canary-{project}-{user}-{number} to hall {number % 3}."
            receipt = memory.remember(text, user=user, tags=["valve"], files=["a.py"], again=True)
            self.owners[receipt.id] = (project, user)
        for number in range(chance.randrange(3, 7)):
            user = chance.choice((*USERS, None))
            text = (
                f"I am {chance.choice(NAMES)} and I like canary-{project}-{user}-{number} tea in session {number % 2}."
            )
            said = memory.sessions.capture(text, session=f"s{number % 2}", id=f"{project}{number}", user=user)
            self.owners |= dict.fromkeys(said.episodes, (project, user))
        if chance.random() < 0.5:
            memory.tend(job="consolidate")
        for found in memory.store.memories.every():
            for one in found.memories:
                self.owners[one.id] = (one.project, one.user)

    def leaks(self, told: object, project: str, user: str | None) -> list[str]:
        """Canaries and ids in an answer that are not this user's to see."""
        text = told if isinstance(told, str) else repr(told)
        foreign = [
            found[0] for found in CANARY.finditer(text) if found[1] != project or found[2] not in ("None", str(user))
        ]
        foreign += [id for id, whose in self.owners.items() if id in text and not self._sees(whose, project, user)]
        return foreign

    def some_ids(self) -> list[str]:
        return self._chance.sample(sorted(self.owners), 4)

    @staticmethod
    def _sees(whose: Owner, project: str, user: str | None) -> bool:
        return whose[0] == project and whose[1] in (None, user)


def readings(memory: Recollect, user: str | None, world: World) -> dict[str, Callable[[], object]]:
    """Every way of reading that takes a user, by name."""
    tools = {tool.name: tool for tool in memory.sessions.tools(user=user)}
    ways: dict[str, Callable[[], object]] = {
        "recall": lambda: memory.recall("valve hall tea", k=50, user=user),
        "brief": lambda: memory.brief("who moved the valve", user=user).text,
        "list": lambda: memory.list(limit=100, user=user),
        "list by tag": lambda: memory.list(Filter(tags="valve"), limit=100, user=user),
        "list by file": lambda: memory.list(Filter(files="a.py"), limit=100, user=user),
        "sessions": lambda: [memory.sessions.episodes(one.id, user=user) for one in memory.sessions.list(user=user)],
        "facts": lambda: memory.sessions.facts(user=user),
        "count": lambda: memory.count(user=user) - len(memory.list(limit=1_000, user=user).memories),
        "context": lambda: memory.sessions.context("the valve and the tea", session="s9", user=user),
        "entities": lambda: memory.sessions.entities(user=user),
        **{
            f"entity {name}": lambda name=name: memory.sessions.entity(name, user=user)  # type: ignore[misc]
            for name in NAMES
        },
    }
    for name, arguments in {
        "search_memory": {"query": "valve hall tea"},
        "memory_stats": {},
        "get_entity_info": {"name": "Acme"},
    }.items():
        if name in tools:
            ways[name] = lambda name=name, arguments=arguments: json.dumps(tools[name](**arguments))  # type: ignore[misc]
    for id in world.some_ids():
        for tail in (id, id[-4:]):
            if "confirm_fact" in tools:
                ways[f"confirm {tail}"] = lambda tail=tail: tools["confirm_fact"](id=tail)  # type: ignore[misc]
    return ways


def ask(way: Callable[[], object]) -> object:
    try:
        return way()
    except AmbiguousId as error:
        return str(error)  # its message lists ids: they must be the asker's own
    except RecollectError as error:
        return str(error) if not isinstance(error, NotFound) else ""


def test_no_way_of_reading_crosses_users_or_projects(tmp_path: Path) -> None:
    seed, asked = base_seed(), 0
    worlds = size(20, 10_000)
    for number in range(worlds):
        chance = random.Random(f"{seed} {number}")
        path = tmp_path / f"w{number % 50}.db"
        for suffix in ("", "-wal", "-shm"):
            Path(f"{path}{suffix}").unlink(missing_ok=True)
        world = World(path, chance)
        project = chance.choice(("left", "right"))
        with recollect.open(path, project=project) as memory:
            for user in (*USERS, None):
                for name, way in readings(memory, user, world).items():
                    asked += 1
                    leaks = world.leaks(ask(way), project, user)
                    assert not leaks, f"seed {seed}, world {number}: {name} as {user} in {project}: {leaks}"
        reader = open_hook_reader(str(path), now=2_000_000_000_000)
        for told in (
            reader.search("valve hall tea moved", ["fact", "episode"], limit=50),
            reader.of_kind("fact", limit=50),
            list(reader.leading(["fact"], limit=50)),
            reader.about(["a.py"], ["fact"], limit=50),
        ):
            asked += 1
            assert not world.leaks([one.content for one in told], "left", None), f"seed {seed}, world {number}"
    report(f"tenants: worlds: {worlds}, readings: {asked}, foreign rows: 0")


def test_an_agent_over_mcp_reaches_no_user_by_id(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with recollect.open(path) as memory:
        id = memory.remember("Ann keeps the canary in hall four.", user="ann").id

    async def reach() -> None:
        async with Client(build(MemoryHandle(str(path)))) as client:
            for tool, more in (
                ("get", {}), ("update", {"tags": ["x"]}), ("update", {"content": "Other words."}), ("forget", {}),
                ("feedback", {"verdict": "reject"}),
            ):  # fmt: skip
                for given in (id, id[-6:]):
                    answer: Any = await client.call_tool(tool, {"id": given, **more})
                    assert answer.is_error, tool
                    assert answer.structured_content["error"]["code"] == "memory-not-found"
                    assert "canary" not in str(answer)

    anyio.run(reach)
    with recollect.open(path) as memory:
        assert memory.get(id).content == "Ann keeps the canary in hall four."


def test_an_ambiguous_short_id_lists_only_what_the_asker_sees(tmp_path: Path) -> None:
    numbers = iter(range(100))
    with recollect.open(tmp_path / "m.db", identity=lambda family, at: f"{family}_{next(numbers):04d}same") as memory:
        hers = memory.remember("Ann likes green tea.", user="ann").id
        his = [memory.remember(f"Bob likes {what}.", user="bob").id for what in ("coffee", "cocoa")]
        store = memory.store.memories
        assert store.resolve("same", user="ann") == hers
        with pytest.raises(AmbiguousId) as caught:
            store.resolve("same", user="bob")
        assert all(id in str(caught.value) for id in his)
        assert hers not in str(caught.value)
        with pytest.raises(MemoryNotFound):
            store.resolve("same", user="cleo")


def test_no_memory_points_to_what_its_own_reader_may_not_see(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory:
        hers = memory.remember("Ann likes green tea.", user="ann").id
        his = memory.remember("Bob likes coffee.", user="bob").id
        everybodys = memory.remember("The kitchen closes at nine.").id
        for source, target in ((everybodys, hers), (his, hers), (hers, his)):
            with pytest.raises(MemoryNotFound):
                memory.relate(source, "required_with", to=target)
        memory.relate(hers, "required_with", to=everybodys)
        with pytest.raises(MemoryNotFound):
            memory.remember("The tea is green.", derived_from=[hers])
        with pytest.raises(MemoryNotFound):
            memory.remember("Bob knows about tea.", user="bob", derived_from=[hers])
        memory.remember("Ann knows when the kitchen closes.", user="ann", derived_from=[everybodys, hers])
