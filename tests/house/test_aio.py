"""The asyncio twin is complete: every method, property and room of a memory, with the same parameters."""

from __future__ import annotations

import inspect
import typing
from functools import cached_property

import pytest

from recollect import aio, wiring
from recollect.app import Recollect

# what rooms and doors are wired with, not what programs use
INSIDE = {"reader", "writer", "store", "agent_context", "dialogue", "portability"}
TWINS = {
    inner: twin
    for twin in vars(aio).values()
    if isinstance(twin, type) and issubclass(twin, aio.Twin) and twin is not aio.Twin
    for inner in [typing.get_args(twin.__orig_bases__[0])[0]]  # type: ignore[attr-defined]
}


def public(owner: type, kinds: type | tuple[type, ...]) -> dict[str, object]:
    return {
        name: member
        for name, member in vars(owner).items()
        if not name.startswith("_") and name not in INSIDE and isinstance(member, kinds)
    }


def test_every_room_of_a_memory_has_a_twin() -> None:
    for name, member in public(Recollect, cached_property).items():
        room = typing.get_type_hints(member.func, vars(__import__("recollect.aio").aio))["return"]  # type: ignore[attr-defined]
        twin = typing.get_type_hints(vars(aio.AsyncRecollect)[name].fget)["return"]
        assert TWINS[room] is twin, name


@pytest.mark.parametrize("inner", sorted(TWINS, key=lambda one: one.__name__))
def test_a_twin_has_every_method_with_the_same_parameters(inner: type) -> None:
    twin = TWINS[inner]
    for name, method in public(inner, type(test_every_room_of_a_memory_has_a_twin)).items():
        assert name in vars(twin), f"{twin.__name__} lacks {name}"
        mine, theirs = inspect.signature(method), inspect.signature(vars(twin)[name])  # type: ignore[arg-type]
        assert list(mine.parameters.values()) == list(theirs.parameters.values()), name
    extra = set(public(twin, type(test_every_room_of_a_memory_has_a_twin))) - set(dir(inner))
    assert extra == set()


@pytest.mark.parametrize("inner", sorted(TWINS, key=lambda one: one.__name__))
def test_a_twin_has_every_property(inner: type) -> None:
    assert set(public(inner, (property, cached_property))) <= set(public(TWINS[inner], property))


def test_opening_takes_what_the_synchronous_one_takes() -> None:
    assert inspect.signature(aio.open).parameters == inspect.signature(wiring.open).parameters
