"""What the outside may rely on: the names, the light import, the asyncio twin."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from threading import Event

import pytest

import recollect
from recollect.aio import open as open_async
from recollect.core import errors
from recollect.testing.chat_server import chat_server


def test_importing_recollect_loads_no_third_party_module() -> None:
    program = (
        "import sys, json, recollect; "
        "print(json.dumps(sorted({name.split('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, env=_env())
    assert json.loads(done.stdout) == ["__main__", "recollect"]


def test_recalling_on_the_command_line_loads_nothing_heavy(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember("The quay has three cranes.")
    program = (
        "import sys; from recollect.interfaces.cli import main; "
        f"main(['recall', 'cranes', '--store', {str(tmp_path / 'm.db')!r}]); "
        "heavy = {'numpy', 'pydantic', 'asyncio', 'subprocess', 'hashlib', 'recollect.remember.remember', "
        "*(f'recollect.core.{name}' for name in ('chores', 'drafts', 'entities', 'links', 'log'))}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "three cranes" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("words", [["--help"], ["rebember", "x"]])
def test_the_list_of_commands_loads_none_of_them(words: list[str]) -> None:
    program = (
        "import sys; from recollect.interfaces.cli import main\n"
        f"try: main({words})\n"
        "except SystemExit: print([name for name in sys.modules if name.startswith('recollect.interfaces.cli.')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['recollect.interfaces.cli.console']"


def _env() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(recollect.__file__).parents[1])}


def test_every_exported_name_exists() -> None:
    for name in recollect.__all__:
        assert getattr(recollect, name) is not None
    with pytest.raises(AttributeError):
        recollect.Nonsense  # noqa: B018


def test_the_documents_room_works_for_asyncio(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nThe granite lies here.\n")

    async def story() -> list[str]:
        async with open_async(tmp_path / "m.db") as memory:
            await memory.docs.index([tmp_path])
            found = await memory.docs.search("granite")
            return [match.document.path for match in found.matches]

    assert asyncio.run(story()) == ["a.md"]


def test_the_asyncio_twin_works(tmp_path: Path) -> None:
    async def story() -> tuple[str, int]:
        async with open_async(tmp_path / "m.db") as memory:
            receipts = await asyncio.gather(*(memory.remember(f"Pebble{n} rolls.") for n in range(20)))
            hits = await asyncio.gather(*(memory.recall(f"pebble{n}") for n in range(20)))
            assert [len(hit) for hit in hits] == [1] * 20
            await memory.undo()
            return receipts[0].verdict, await memory.count()

    assert asyncio.run(story()) == ("new", 19)


def test_a_memory_for_asyncio_is_opened_by_async_with_or_by_await(tmp_path: Path) -> None:
    async def story() -> tuple[int, str]:
        async with open_async(tmp_path / "m.db") as memory:
            await memory.remember("Granite is hard.")
        with pytest.raises(errors.MemoryClosed):
            await memory.count()
        again = await open_async(tmp_path / "m.db")
        count = await again.count()
        agent = await again.agent("s", arm="full")
        told = await agent.first_message("How hard is granite?")
        await agent.end()
        await again.close()
        return count, told

    count, told = asyncio.run(story())
    assert count == 1
    assert "Granite is hard." in told


def test_watching_source_code_is_an_asynchronous_iterator(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def granite() -> int:\n    return 1\n")

    async def story() -> list[tuple[str, ...]]:
        seen = []
        stop = Event()
        async with open_async(tmp_path / "m.db") as memory:
            async for done in memory.code.watch(tmp_path, stop=stop):
                seen.append(tuple(done.added))
                stop.set()
        return seen

    assert asyncio.run(story()) == [("a.py",)]


def test_sessions_and_chats_work_for_asyncio(tmp_path: Path) -> None:
    async def story() -> tuple[list[str], list[str], str]:
        with chat_server(["Hello, Ada.", "Argo."]) as server:
            async with open_async(tmp_path / "m.db") as memory:
                await memory.sessions.capture("My boat is Argo.", session="monday")
                said = [one.content for one in await memory.sessions.episodes("monday")]
                async with memory.chats.open(session="s", memory="recency", model=server.setting) as chat:
                    answers = [(await chat.say(text)).output for text in ("I am Ada.", "My boat?")]
                assert [one.input for one in await memory.chats.turns(session="s")] == ["I am Ada.", "My boat?"]
                assert len(await memory.chats.providers()) >= 3
                return said, answers, await memory.chats.last_session()

    assert asyncio.run(story()) == (["My boat is Argo."], ["Hello, Ada.", "Argo."], "s")


def test_every_error_has_its_own_code() -> None:
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.RecollectError)]
    assert len({one.code for one in classes}) == len(classes)


def test_a_memory_may_be_shared_by_threads(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with recollect.open(tmp_path / "m.db") as memory, ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda n: memory.remember(f"Cobble{n} sits."), range(200)))
        found = list(pool.map(lambda n: len(memory.recall(f"cobble{n}")), range(200)))
    assert {receipt.verdict for receipt in receipts} == {"new"}
    assert found == [1] * 200
