from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.app import Recollect
from recollect.core.query import Filter, Query
from recollect.recall.reader import recall

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Pairs:
    """Files that go together, from a table."""

    def __init__(self, table: Mapping[str, Mapping[str, float]]) -> None:
        self._table = table

    def changing_with(self, files: Sequence[str]) -> Mapping[str, float]:
        return {other: weight for file in files for other, weight in self._table.get(file, {}).items()}


def test_what_goes_wrong_with_a_companion_file_is_told_too_below_what_led_to_it(memory: Recollect) -> None:
    memory.remember("Tokens expire after an hour.", kind="gotcha", files=["auth/tokens.py"])
    memory.remember("Sessions must be flushed twice.", kind="gotcha", files=["auth/session.py"])
    memory.remember("Colours come from the theme.", kind="gotcha", files=["ui/theme.py"])
    texts = _texts(memory, "when do tokens expire", {"auth/tokens.py": {"auth/session.py": 0.9, "ui/theme.py": 0.5}})
    assert texts == ["Tokens expire after an hour.", "Sessions must be flushed twice."]


def test_a_file_in_play_brings_its_companions_troubles_even_when_no_word_matches(memory: Recollect) -> None:
    memory.remember("Sessions must be flushed twice.", kind="error_pattern", files=["auth/session.py"])
    assert _texts(memory, "zebra", {"auth/tokens.py": {"auth/session.py": 0.7}}, files=("auth/tokens.py",)) == [
        "Sessions must be flushed twice."
    ]


def test_at_most_five_are_added_and_only_of_the_kinds_that_warn(memory: Recollect) -> None:
    for number in range(9):
        memory.remember(f"Trouble number {number} with sessions.", kind="gotcha", files=["auth/session.py"])
    memory.remember("We chose sessions over cookies.", kind="decision", files=["auth/session.py"])
    texts = _texts(memory, "zebra", {"a.py": {"auth/session.py": 0.7}}, files=("a.py",))
    assert len(texts) == 5
    assert all(text.startswith("Trouble") for text in texts)


def test_a_filter_holds_for_what_is_added(memory: Recollect) -> None:
    memory.remember("Sessions must be flushed twice.", kind="gotcha", files=["auth/session.py"])
    only = Filter(kinds=frozenset({"decision"}))
    assert _texts(memory, "zebra", {"a.py": {"auth/session.py": 0.7}}, files=("a.py",), filter=only) == []


def _texts(
    memory: Recollect,
    text: str,
    pairs: Mapping[str, Mapping[str, float]],
    *,
    files: tuple[str, ...] = (),
    filter: Filter | None = None,
) -> list[str]:
    senses = replace(memory.reader.context(), co_change=Pairs(pairs))
    briefing = recall(Query(text, files=files, filter=filter or Filter()), senses, now=NOW)
    return [hit.memory.content for hit in briefing]
