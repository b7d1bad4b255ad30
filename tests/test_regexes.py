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
            if isinstance(value, re.Pattern | Lazy):
                found[f"{module.name}.{name}"] = value.pattern if isinstance(value, Lazy) else value
    return sorted(found.items())


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
    start = time.process_time()
    for _ in pattern.finditer(text):
        pass
    return time.process_time() - start


def test_there_is_something_to_test() -> None:
    assert len(patterns()) > 15
