"""The public Python API is typed: a misspelt keyword is an error at run time and for a type checker."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mypy import api as mypy

import recollect
from recollect import aio, wiring
from recollect.agent.chat import Chat, Chats
from recollect.agent.session import AgentSession
from recollect.app import Recollect
from recollect.code.api import Code
from recollect.core.query import Briefing, Filter, Page
from recollect.dialogue.api import Sessions
from recollect.documents.api import Docs
from recollect.observer.api import Observer
from recollect.tend.maintenance import Maintenance
from recollect.tend.overview import Overview

ROOT = Path(__file__).parents[2]
PUBLIC = (
    Recollect,
    Docs,
    Code,
    Sessions,
    Chats,
    Chat,
    Observer,
    AgentSession,
    Maintenance,
    Overview,
    Filter,
    Briefing,
    Page,
)
TWINS = [value for value in vars(aio).values() if isinstance(value, type) and issubclass(value, aio.Twin)]


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    yield "recollect.open", wiring.open
    yield "recollect.aio.open", aio.open
    for owner in (*PUBLIC, *TWINS):
        yield owner.__name__, owner.__init__
        for name, member in vars(owner).items():
            if not name.startswith("_") and inspect.isfunction(member):
                yield f"{owner.__name__}.{name}", member


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_public_parameter_and_result_has_a_type(name: str) -> None:
    signature = inspect.signature(FUNCTIONS[name])
    for parameter in list(signature.parameters.values()):
        if parameter.name == "self":
            continue
        assert parameter.annotation not in (inspect.Parameter.empty, "Any", Any), parameter
        assert parameter.kind is not parameter.VAR_POSITIONAL, parameter
    assert signature.return_annotation not in (inspect.Signature.empty, "Any", Any)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_no_public_function_swallows_a_misspelt_keyword(name: str) -> None:
    if name.endswith("AgentSession.at_work"):
        pytest.skip("the levels of a piece of work are named by the methodology, and checked by it")
    kinds = {parameter.kind for parameter in inspect.signature(FUNCTIONS[name]).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_a_misspelt_keyword_is_an_error_at_run_time(tmp_path: Path) -> None:
    misspelt: list[Callable[[Any], object]] = [
        lambda memory: memory.remember("x", knd="gotcha"),
        lambda memory: memory.edit("id", contnt="y"),
        lambda memory: memory.recall("x", kk=3),
        lambda memory: memory.list(limt=3),
        lambda memory: Filter(kind={"gotcha"}),  # type: ignore[call-arg]
        lambda memory: memory.docs.search("x", limt=3),
    ]
    with recollect.open(tmp_path / "m.db") as memory:
        for call in misspelt:
            with pytest.raises(TypeError, match="unexpected keyword"):
                call(memory)


SNIPPET = """
import recollect
from recollect import aio

memory = recollect.open()
memory.remember("x", knd="gotcha")
memory.remember("x", confidence="very")
memory.edit("id", contnt="y")
memory.recall("x", kk=3)
memory.list(limt=3)
recollect.Filter(kind={"gotcha"})
memory.docs.search("x", limt=3)

async def story() -> None:
    async with aio.open() as twin:
        await twin.remember("x", knd="gotcha")
        await twin.docs.search("x", limt=3)
        await twin.observer.replay(3)
        agent = await twin.agent("s")
        await agent.first_message(3)
"""


def test_a_misspelt_keyword_is_an_error_for_a_type_checker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    snippet = tmp_path / "misspelt.py"
    snippet.write_text(SNIPPET, encoding="utf-8")
    told, trouble, _ = mypy.run(["--config-file", str(ROOT / "pyproject.toml"), str(snippet)])
    assert trouble == ""
    wrong = {int(line.split(":")[1]) for line in told.splitlines() if "misspelt.py" in line and " error: " in line}
    expected = {number for number, line in enumerate(SNIPPET.splitlines(), 1) if _is_wrong(line)}
    assert wrong == expected, told


def _is_wrong(line: str) -> bool:
    return any(bit in line for bit in ("knd=", '"very"', "contnt", "kk=", "limt", "kind={", "(3)"))
