"""A closed memory says so, whatever is asked of it."""

from __future__ import annotations

import inspect
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.errors import MemoryClosed

KNOWN_WHEN_CLOSED = {"path", "location", "project"}  # facts that need no store
VERBS = [
    name
    for name, member in vars(Recollect).items()
    if inspect.isfunction(member) and not name.startswith("_") and name != "close"
]
PROPERTIES = [
    name
    for name, member in vars(Recollect).items()
    if isinstance(member, property | cached_property) and not name.startswith("_") and name not in KNOWN_WHEN_CLOSED
]


@pytest.fixture
def closed(tmp_path: Path) -> Recollect:
    """A memory whose rooms were all used before it was closed."""
    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember("Granite is hard.")
        for name in PROPERTIES:
            getattr(memory, name)
    return memory


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_of_a_closed_memory_raises(closed: Recollect, verb: str, memory: Recollect) -> None:
    known = memory.remember("Granite is hard.").memory
    given: dict[str, Any] = {"drafts": [], "ids": [], "memory": known}
    required = [
        given.get(parameter.name, "x")
        for parameter in inspect.signature(getattr(closed, verb)).parameters.values()
        if parameter.default is parameter.empty
    ]
    with pytest.raises(MemoryClosed):
        getattr(closed, verb)(*required)


@pytest.mark.parametrize("name", PROPERTIES)
def test_every_room_of_a_closed_memory_raises(closed: Recollect, name: str) -> None:
    with pytest.raises(MemoryClosed):
        getattr(closed, name)


def test_a_closed_memory_still_knows_whose_it_was(closed: Recollect, tmp_path: Path) -> None:
    assert closed.path == tmp_path / "m.db"
    assert closed.project
    closed.close()
    with pytest.raises(MemoryClosed) as caught, closed:
        pass
    assert caught.value.code == "memory-closed"
    assert "recollect.open" in caught.value.hint
