"""Where each injected block stands in a conversation that its framework builds anew for every call of the model.

A block is put at the end once and woven in at the same place ever after, so what the model saw stays a prefix of what
it sees next and its prompt cache stays warm. When a framework rewrites what came before, the blocks there are let go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Item = TypeVar("Item")


class Blocks:
    """The blocks of one conversation, each after an item that is recognised by its mark."""

    def __init__(self) -> None:
        self._placed: list[tuple[int, str, str]] = []  # items before it, the mark of the last of them, the block
        self._last: tuple[int, str] | None = None

    def is_new(self, marks: Sequence[str]) -> bool:
        """Has the conversation moved on since this was asked last? A call that is tried again has not."""
        moment = (len(marks), marks[-1] if marks else "")
        if moment == self._last:
            return False
        self._last = moment
        return True

    def put(self, marks: Sequence[str], text: str) -> None:
        """Put a block after all the items there are now."""
        if text:
            self._placed.append((len(marks), marks[-1] if marks else "", text))

    def woven(self, items: Sequence[Item], marks: Sequence[str], make: Callable[[str], Item]) -> list[Item]:
        """The items with every block in its place."""
        self._placed = [one for one in self._placed if _stands(one, marks)]
        woven: list[Item] = []
        for place in range(len(items) + 1):
            woven += [make(text) for before, _, text in self._placed if before == place]
            woven += items[place : place + 1]
        return woven


def _stands(placed: tuple[int, str, str], marks: Sequence[str]) -> bool:
    before, mark, _ = placed
    return before <= len(marks) and (marks[before - 1] if before else "") == mark
