"""Every regular expression that ships is linear in practice: on 20 kB of hostile text at most 25 times the CPU of a
plain pattern that finds every word, and at most 2.6 times as much on twice the text. The texts are shapes that are
hostile in general and others made from each pattern."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import recollect
from attacks.pumps import pumped
from attacks.regexes import MADE_WHILE_RUNNING, Recorder, made_while_running, shipped
from faults.fault_tools import SOAK
from recollect.files.ignore import Ignores
from recollect.files.walk import walk

SIZE = 20_000
PLAIN, PLAIN_TEXT = re.compile(r"\w+[ \t]*[=:]|\S"), ("key = value; other.name: 12 " * 800)[:SIZE]
TIMES = 25  # as slow as the plain pattern, measured at the same moment
RULE_TIMES = 400  # the same for fifty ignore rules with four long paths each
PLAIN_LEAST = 0.003  # seconds for the plain pattern on a quiet machine
ROUNDS = 4  # of measuring what was too slow: a bad pattern is slow in all of them, a busy machine is not
GIVE_UP = 2.0  # seconds after which a pattern is no longer waited for
GROWTH = 2.6  # times, for twice the text
SCREEN = 10_000 if SOAK else 3_000  # characters of a first look: who is fast on these is fast on more
QUICK = 0.0003 if SOAK else 0.0006  # seconds that are no cause for a second look: even a cubic pattern would pass
SURE = 0.004  # seconds below which growth is not measured: it would be noise
SHARDS = 8
SHAPES = [
    "a", "A", "0", " ", "\n", "\t", "_", "-", ".", "/", "\\", ":", "=", '"', "'", "`", "<", "<|", "<!--", "[", "]",
    "[[", "](", "(", "{", "|", "#", "* ", "> ", "aA", "a_", "a.", "a/", "a1", "1:", "a-", "a'", 'a"', "a\n", "a ",
    " \n", "\n\n", "system:", "<system", "[INST", "<<SYS", "recollect-memory ", "<recollect-memory 01234567>", "東",
    "東a", "é", "a é", "\u200b", "‘’", "“a", "a = ", "key: ", "://", "a:b@", "AKIA", "eyJ", "-----BEGIN ", "&lt;",
    "a,b,", "/*", "//", "::",
]  # fmt: skip


@cache
def patterns() -> list[tuple[str, re.Pattern[Any]]]:
    return list(shipped().items())


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_shipped_pattern_is_linear_on_hostile_text(shard: int) -> None:
    for name, pattern in patterns()[shard::SHARDS]:
        check_linear(name, pattern)


def check_linear(name: str, pattern: re.Pattern[Any], rounds: int = ROUNDS) -> None:
    for short in hostile(pattern):
        if _seconds(pattern, short(SCREEN)) <= QUICK:
            continue
        for last in (False,) * (rounds - 1) + (True,):
            try:
                _measure(name, pattern, short)
                break
            except AssertionError:
                if last:
                    raise


def _measure(name: str, pattern: re.Pattern[Any], short: Hostile) -> None:
    first = _seconds(pattern, short(SCREEN))
    told = f"{name} on {short(40)!r}: {pattern.pattern!r}"
    first = min(first, _seconds(pattern, short(SCREEN)))
    bound = _usual_bound()
    if first > 2 * bound:
        first, bound = _seconds(pattern, short(SCREEN)), TIMES * _plain_seconds()
    assert first <= 2 * bound, f"{first * 1000:.0f} ms for {SCREEN:,} characters. {told}"
    if not SOAK and _is_plainly_linear(pattern, short, first, bound):
        return
    once = _seconds(pattern, short(SIZE))
    if once > bound:
        once, bound = min(_seconds(pattern, short(SIZE)) for _ in range(5)), TIMES * _plain_seconds()
    assert once <= bound, f"{once * 1000:.0f} ms for {SIZE:,} characters. {told}"
    if once > SURE and once > GROWTH * SIZE / SCREEN / 2 * first:
        once = max(SURE, min(_seconds(pattern, short(SIZE)) for _ in range(3)))
        if min(_seconds(pattern, short(2 * SIZE)) for _ in range(3)) > GROWTH * once:
            far = min(_seconds(pattern, short(8 * SIZE)) for _ in range(2))  # a busy machine is not quadratic
            assert far <= 8 * GROWTH * once, f"{far / once:.0f} times as long for 8 times as much. {told}"


def _is_plainly_linear(pattern: re.Pattern[Any], short: Hostile, first: float, bound: float) -> bool:
    """Half of the text takes about half the time, and in proportion the whole stays within the bound."""
    if first * SIZE / SCREEN > 0.8 * bound:
        return False
    half = min(_seconds(pattern, short(SCREEN // 2)) for _ in range(4))
    return first <= GROWTH * half


class Hostile:
    """A text of any size."""

    def __init__(self, lead: str, unit: str) -> None:
        self._lead, self._unit = lead, unit

    def __call__(self, size: int) -> str:
        return self._lead + (self._unit * (size // len(self._unit) + 1))[:size] + "\0"


def hostile(pattern: re.Pattern[Any]) -> Iterator[Hostile]:
    """The shapes, and what the pattern itself says would hurt it."""
    source = pattern if isinstance(pattern.pattern, str) else re.compile(pattern.pattern.decode("latin-1"))
    for shape in SHAPES:
        yield Hostile("", shape)
    for lead, unit in pumped(source):
        yield Hostile(lead, unit)


class TooSlow(Exception):
    pass


def _seconds(pattern: re.Pattern[Any], text: str) -> float:
    subject: str | bytes = text if isinstance(pattern.pattern, str) else text.encode()
    before = signal.signal(signal.SIGVTALRM, _give_up)
    start = time.process_time()
    with suppress(TooSlow):  # which may also come while the timer is being stopped
        signal.setitimer(signal.ITIMER_VIRTUAL, GIVE_UP)
        try:
            for _ in pattern.finditer(subject):
                pass
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - start


def _plain_seconds() -> float:
    """What the plain pattern takes now: a busy machine is slower for both. Some clocks of a process stand still for a
    while, so less than on any machine of today is not believed."""
    return max(PLAIN_LEAST, median(_seconds(PLAIN, PLAIN_TEXT) for _ in range(5)))


@cache
def _usual_bound() -> float:
    """The bound as it is at first; what exceeds it is measured again beside the plain pattern."""
    return TIMES * _plain_seconds()


def _give_up(*_: object) -> None:
    raise TooSlow


def test_there_is_something_to_test() -> None:
    assert len(patterns()) > 300


def test_a_bad_pattern_would_be_found() -> None:
    for bad in (
        r"(?<!\\) +$",
        r"```(?:json)?\s*\n(.*?)```",
        r'("(?:[^"\\]|\\.)*")|/\*.*?\*/',
        r"(a+)+b",
        r"X.*Y",
    ):
        assert any(_is_refused(re.compile(bad, re.DOTALL)) for _ in range(5)), bad  # times are never quite the same


def _is_refused(pattern: re.Pattern[Any]) -> bool:
    try:
        check_linear("bad", pattern, rounds=1)
    except AssertionError:
        return True
    return False


def test_patterns_made_while_running_are_known() -> None:
    assert made_while_running() == set(MADE_WHILE_RUNNING)


def test_what_is_compiled_at_work_is_linear_too(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.log\n**/a/**/b*c*\n[!a-c]?\\*\n!keep\n" + "*a" * 40 + "b\n")
    (tmp_path / "notes.md").write_text("# A\n\n[b](c.md) specs/x\n\n| a | b |\n| - | - |\n\nRefs: one, two\n")
    with Recorder() as recorder:
        with recollect.open(tmp_path / "memory.db", project="work") as memory:
            memory.remember("Ada Lovelace said that the port is 8080 and not 9090.", kind="fact")
            memory.recall("What did Ada say yesterday about the port?")
            memory.docs.index([tmp_path])
        list(walk(tmp_path))
    assert recorder.found
    for (pattern, flags), place in recorder.found.items():
        if not place.startswith(("ignore.py", "layout.py")):  # matched with names of files, and judged below
            check_linear(place, re.compile(pattern, flags))


@pytest.mark.parametrize(
    "rule",
    ["*a" * 300 + "b", "**/" * 300 + "x", "**/a/" * 100 + "b", "a/**/" * 100 + "*b", "?*" * 400, "[a-z]" * 190,
     "[" * 999, "[[:alpha:]" * 90, "\\" * 999, "*" * 999, "a*/" * 300 + "b"],
)  # fmt: skip
def test_ignore_rules_are_linear_whatever_they_say(rule: str) -> None:
    start = time.process_time()
    rules = Ignores().with_rules("", [rule] * 50)
    for path in ("a" * 4_000, "a/" * 2_000 + "a", "a/" * 100 + "a" * 200, "/".join("ab" * 60 for _ in range(30))):
        rules.ignored(path)
    assert time.process_time() - start < RULE_TIMES * _plain_seconds()


def test_no_pattern_repeats_a_group_possessively_which_old_pythons_match_wrongly() -> None:
    """Before Python 3.11.5 `(?:ab?c)++` takes what its last, failed round had read. `(?>(?:ab?c)+)` means the same and
    is right everywhere; a possessive repeat of one character is right too."""
    parse = re._parser.parse  # type: ignore[attr-defined]
    assert [name for name, one in patterns() if _repeats_a_group(parse(one.pattern, one.flags))] == []


def _repeats_a_group(parsed: Any) -> bool:
    for op, argument in parsed:
        if str(op) == "POSSESSIVE_REPEAT" and [str(inner[0]) for inner in argument[2]] not in (
            [["IN"], ["LITERAL"], ["NOT_LITERAL"], ["ANY"]]
        ):
            return True
        if any(_repeats_a_group(inner) for inner in _inside(argument)):
            return True
    return False


def _inside(argument: Any) -> list[Any]:
    """The patterns inside an argument of a parsed pattern."""
    if isinstance(argument, re._parser.SubPattern):  # type: ignore[attr-defined]
        return [argument]
    if isinstance(argument, list | tuple):
        return [inner for part in argument for inner in _inside(part)]
    return []
