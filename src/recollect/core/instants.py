"""Moments as the store keeps them."""

from __future__ import annotations

from datetime import UTC, datetime


def whole_ms(at: datetime) -> datetime:
    """In UTC and to the millisecond, so that what was written compares equal to what is read back."""
    return at.astimezone(UTC).replace(microsecond=at.microsecond // 1000 * 1000)
