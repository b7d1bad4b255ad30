"""Figures with their units and bounds, and whether two of them exclude each other. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_NUMBERS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "sixty": 60, "hundred": 100,
}  # fmt: skip
# unit → (what it measures, how many of the smallest one it is)
_UNITS = {
    "ms": ("time", 0.001), "millisecond": ("time", 0.001), "s": ("time", 1), "sec": ("time", 1), "second": ("time", 1),
    "min": ("time", 60), "minute": ("time", 60), "h": ("time", 3600), "hour": ("time", 3600), "day": ("time", 86400),
    "week": ("time", 604800), "month": ("time", 2592000), "year": ("time", 31536000),
    "b": ("size", 1), "byte": ("size", 1), "kb": ("size", 1e3), "mb": ("size", 1e6), "gb": ("size", 1e9),
    "tb": ("size", 1e12), "kib": ("size", 1024), "mib": ("size", 1048576), "gib": ("size", 1073741824),
    "%": ("share", 1), "percent": ("share", 1), "m": ("length", 1), "meter": ("length", 1), "metre": ("length", 1),
    "km": ("length", 1000), "mile": ("length", 1609.34), "feet": ("length", 0.3048), "foot": ("length", 0.3048),
    "cm": ("length", 0.01), "inch": ("length", 0.0254), "$": ("money", 1), "dollar": ("money", 1), "usd": ("money", 1),
}  # fmt: skip
_MEASURED = frozenset(what for what, _ in _UNITS.values())
_BOUND = (
    (
        "least",
        re.compile(r"(?:at least|no (?:less|fewer) than|minimum(?: of)?|more than|over|exceed\w*|longer than|>=?)\s*$"),
    ),
    (
        "most",
        re.compile(
            r"(?:at most|up to|no (?:more|longer|later|greater) than|not exceed\w*|maximum(?: of)?|less than|"
            r"fewer than|under|below|within|<=?|shorter than)\s*(?:a |the )?$"
        ),
    ),
)
_FIGURE = re.compile(
    r"(?<![\w.])(\$)?(\d+(?:[.,]\d+)*|" + "|".join(_NUMBERS) + r")(?![\d])\s*-?\s*(%|[a-z]+)?", re.IGNORECASE
)
_LOOK_BACK = 28  # characters before a figure in which its bound is looked for


@dataclass(frozen=True, slots=True)
class Quantity:
    """So much of something: a range of values, and what is measured or counted."""

    low: float
    high: float
    what: str
    bound: str = ""  # least, most, or neither


def quantities(text: str) -> list[Quantity]:
    """The figures of a lower-cased text."""
    found: list[Quantity] = []
    for match in _FIGURE.finditer(text):
        value = _value(match[2])
        if value is None:
            continue
        unit = match[1] or (match[3] or "")
        what, factor = _unit(unit)
        amount = value * factor
        before = text[max(0, match.start() - _LOOK_BACK) : match.start()]
        bound = next((name for name, pattern in _BOUND if pattern.search(before)), "")
        low = amount if bound != "most" else float("-inf")
        high = amount if bound != "least" else float("inf")
        found.append(Quantity(low, high, what, bound))
    return found


def clash(mine: Sequence[Quantity], theirs: Sequence[Quantity]) -> tuple[bool, bool]:
    """Whether something that both measure, or that both count, cannot be as both say."""
    measured = counted = False
    for one in mine:
        rivals = [other for other in theirs if other.what == one.what]
        if rivals and not any(_meet(one, other) for other in rivals):
            known = one.what in _MEASURED
            measured, counted = measured or known, counted or not known
    return measured, counted


def is_unit(word: str) -> bool:
    return word in _UNITS or word.removesuffix("s") in _UNITS


def _meet(one: Quantity, other: Quantity) -> bool:
    """Whether both can be meant. Two limits of the same sort, set differently, cannot."""
    if one.bound and one.bound == other.bound:
        return (one.low, one.high) == (other.low, other.high)
    return one.low <= other.high and other.low <= one.high


def _value(text: str) -> float | None:
    if text in _NUMBERS:
        return float(_NUMBERS[text])
    plain = text.replace(",", "")
    try:
        return float(plain)
    except ValueError:
        return None  # 1.2.3 is a version or an address, not an amount


def _unit(name: str) -> tuple[str, float]:
    """What a unit measures and its size; any other word is itself what is counted."""
    if name in _UNITS:
        return _UNITS[name]
    single = name.removesuffix("s")
    return _UNITS.get(single, (single, 1.0))
