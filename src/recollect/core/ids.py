"""Identities, and moments as the store keeps them. Ids are time-ordered, prefixed by family, typed by hand if need be.

`mem_01k9v3c8q4-…` would be easier to read and harder to select with a double click, so there is no second separator.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import NewType

from recollect.core.errors import InvalidField

MemoryId = NewType("MemoryId", str)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32: no i, l, o, u
_TIME_LETTERS = 10  # 50 bits of milliseconds: good until the year 37648
_CHANCE_BYTES = 8
_CHANCE_LETTERS = 13


def new_id(family: str, at: datetime) -> MemoryId:
    """A fresh id that sorts by time within its family."""
    chance = int.from_bytes(os.urandom(_CHANCE_BYTES))
    stamp = max(0, int(at.timestamp() * 1000))
    return MemoryId(f"{family}_{_letters(stamp, _TIME_LETTERS)}{_letters(chance, _CHANCE_LETTERS)}")


def _letters(number: int, length: int) -> str:
    return "".join([_ALPHABET[(number >> shift) & 31] for shift in range(5 * (length - 1), -1, -5)])


def in_utc(at: datetime, field: str) -> datetime:
    """The moment in UTC, taken as such when it says no zone. One outside the calendar there names its field."""
    try:
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (OverflowError, ValueError):
        raise InvalidField(field, f"{at} lies outside the years 1 to 9999 in UTC") from None


def whole_ms(at: datetime) -> datetime:
    """In UTC and to the millisecond, so that what was written compares equal to what is read back."""
    return at.astimezone(UTC).replace(microsecond=at.microsecond // 1000 * 1000)
