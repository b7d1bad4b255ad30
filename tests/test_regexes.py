"""Every regular expression that ships is linear in practice: at most 50 ms of CPU on 20 kB of hostile text."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time

import pytest

import recollect
from recollect.core.lazy import Lazy

SIZE = 20_000
BOUND = 0.050  # seconds of CPU
SHAPES = [
    "a", "A", "0", " ", "\n", "_", "-", ".", "/", "\\", ":", "=", '"', "'", "<", "<|", "[", "]", "(", "|", "aA", "a_",
    "a.", "a/", "a1", "1:", "a-", "a'", 'a"', "a\n", " \n", "system:", "<system", "[INST", "<<SYS",
    "recollect-memory ", "<recollect-memory 01234567>", "東", "東a", "é", "a é", "\u200b", "‘’", "“a", "a = ", "key: ",
    "://", "a:b@", "AKIA", "eyJ",
]  # fmt: skip


def patterns() -> list[tuple[str, re.Pattern[str]]]:
    found = {}
    for module in pkgutil.walk_packages(recollect.__path__, "recollect."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for number, one in enumerate(inside(value)):
                found[f"{module.name}.{name}.{number}"] = one.pattern if isinstance(one, Lazy) else one
    return sorted(found.items())


def inside(value: object) -> list[re.Pattern[str] | Lazy]:
    """The patterns a value is or holds: tables of rules hold many."""
    if isinstance(value, re.Pattern | Lazy):
        return [value]
    return [one for part in value for one in inside(part)] if isinstance(value, tuple) else []


@pytest.mark.parametrize(("name", "pattern"), patterns())
def test_a_shipped_pattern_is_fast_on_hostile_text(name: str, pattern: re.Pattern[str]) -> None:
    for shape in SHAPES:
        text = (shape * (SIZE // len(shape) + 1))[:SIZE]
        for hostile in (text, text + "\0", "x" + text):
            taken = min(_seconds(pattern, hostile) for _ in range(2))
            if taken > BOUND:
                taken = min(taken, *(_seconds(pattern, hostile) for _ in range(5)))
            assert taken <= BOUND, f"{name} on {shape!r}: {taken * 1000:.0f} ms"


def _seconds(pattern: re.Pattern[str], text: str) -> float:
    hostile: str | bytes = text if isinstance(pattern.pattern, str) else text.encode()
    start = time.process_time()
    for _ in pattern.finditer(hostile):  # type: ignore[arg-type]
        pass
    return time.process_time() - start


def test_there_is_something_to_test() -> None:
    assert len(patterns()) > 15
