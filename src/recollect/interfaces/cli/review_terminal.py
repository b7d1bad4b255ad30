"""Going through the review queue at a terminal, one key for each decision.

Nothing is decided about words a person did not see: each decision names the revisions that were shown, and what was
changed meanwhile is shown again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.core.errors import AlreadyUndone, InvalidField, MemoryNotFound, MemoryNotOpen, RecollectError, StaleEdit
from recollect.interfaces.cli.console import FINE, Console
from recollect.interfaces.cli.keys import DOWN, END, ENTER, UP, ask_key, ask_text
from recollect.interfaces.cli.review_text import (
    NOTHING_WAITS,
    count_left,
    describe_decisions,
    is_part,
    say_none_here,
    show_decided,
    show_evidence,
    show_item,
)

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.core.review import Decided, ReviewItem

_PROMPT = "[c]onfirm [r]eject [e]dit [d]ispute [space] evidence [j]/[k] next/back [u]ndo [q]uit [?] > "
_HELP = (
    "c  it is right; what it contradicts is closed",
    "r  it is wrong and must not come back",
    "e  edit the text and confirm it",
    "d  dispute: it is doubtful, and stays in the queue",
    "b  keep both sides of a contradiction",
    "a  confirm this one and all candidates after it that are in our own words or in a person's",
    "u  undo the last decision",
    "space or enter  show the evidence",
    "j or down  next, k or up  back, q  quit; what you leave waits for the next time",
)
_DECISIONS: dict[str, str] = {"c": "confirm", "r": "reject", "e": "edit", "d": "dispute", "b": "keep_both"}


def walk(
    memory: Recollect,
    console: Console,
    *,
    limit: int,
    question: str | None = None,
    group: tuple[str, str] | None = None,
    why: str = "",
) -> int:
    """Go through the queue until it ends or the person quits, and say what was decided."""
    walking = _Walk(memory, console, limit=limit, question=question, group=group, why=why)
    if walking.item is None and is_part(question, group):
        say_none_here(memory, console, question=question, group=group)
        return FINE
    if walking.item is None:
        console.line(f"{NOTHING_WAITS} `recollect observe` learns from transcripts.")
        return FINE
    show = True
    while (item := walking.item) is not None:
        if show:
            console.line(f"{walking.place + 1} of {walking.total} · {item.question}")
            show_item(item, console)
        key = ask_key(_PROMPT)
        if key in ("q", END):
            break
        show = walking.press(key, item)
    walking.finish()
    return FINE


@dataclass(frozen=True, slots=True)
class _Made:
    """A decision that was made here."""

    place: int  # in the queue
    item: ReviewItem
    done: Decided

    @property
    def gone(self) -> frozenset[str]:
        """The ids that it took out of the queue."""
        return frozenset({self.item.id, *(one.id for one in self.done.settled)})


class _Walk:
    """Where a person is in the queue, and what they decided so far."""

    def __init__(
        self,
        memory: Recollect,
        console: Console,
        *,
        limit: int,
        question: str | None,
        group: tuple[str, str] | None,
        why: str,
    ) -> None:
        self._memory = memory
        self._console = console
        self._limit, self._question, self._group, self._why = limit, question, group, why
        self._cursor: str | None = None
        self._items: list[ReviewItem] = []
        self._gone: set[str] = set()  # ids that were decided or settled here
        self._made: list[_Made] = []
        self.place = 0
        self.total = 0
        self._load()

    @property
    def item(self) -> ReviewItem | None:
        """The item in front of the person; nothing when the queue is over."""
        return self._items[self.place] if self.place < len(self._items) else None

    def press(self, key: str, item: ReviewItem) -> bool:
        """Do what a key asks for. Is the item in front to be shown again?"""
        if key in ("j", "l", DOWN):
            return self._move(1)
        if key in ("k", UP):
            return self._move(-1)
        if key in (" ", ENTER):
            return self._evidence(item)
        if key == "u":
            return self._undo()
        if key == "a":
            return self._confirm_rest(item)
        if key in _DECISIONS:
            return self._decide(item, _DECISIONS[key])
        for line in _HELP:
            self._console.line(line)
        return False

    def finish(self) -> None:
        """Say what was decided and how much is left."""
        decisions = [one.done.decision for one in self._made]
        saved = sum(one.item.saves for one in self._made if one.done.decision in ("confirm", "edit"))
        told = f" Knowing these saves an agent about {saved:,} tokens." if saved else ""
        self._console.line(f"{describe_decisions(decisions)} {count_left(self._memory.review.count())}{told}")

    # --- moving -----------------------------------------------------------------------------------------------------

    def _load(self) -> bool:
        """Get the next page; False when there is none."""
        if self._items and self._cursor is None:
            return False
        page = self._memory.review.list(
            limit=self._limit, cursor=self._cursor, question=self._question, group=self._group
        )
        self.total = self.total or page.total
        self._cursor = page.cursor
        self._items += page.items
        return bool(page.items)

    def _move(self, by: int) -> bool:
        """Go on to the next item that still waits, or back to the one before."""
        place = self.place + by
        while 0 <= place < len(self._items) and self._items[place].id in self._gone:
            place += by
        if place < 0:
            self._console.line("This is the first one.")
            return False
        self.place = place
        if place >= len(self._items) and self._load():
            return self._move(0)
        return True

    # --- deciding ---------------------------------------------------------------------------------------------------

    def _evidence(self, item: ReviewItem) -> bool:
        try:
            show_evidence(self._memory.review.evidence(item.id), self._console)
        except (InvalidField, MemoryNotFound):
            self._console.line("It no longer needs review: it was decided elsewhere.")
        return False

    def _decide(self, item: ReviewItem, decision: str) -> bool:
        content = None
        if decision == "edit":
            content = ask_text("Better text: ", given=item.memory.content) or None
            if content is None:
                self._console.line("Nothing was changed.")
                return False
        try:
            done = self._memory.review.decide(item.id, decision, content=content, why=self._why, seen=item.revisions)
        except (MemoryNotFound, MemoryNotOpen, StaleEdit):
            return self._show_changed(item)
        except RecollectError as error:  # an empty text, a secret, a contradiction that is none
            self._console.error(error)
            return False
        show_decided(done, self._console)
        made = _Made(self.place, item, done)
        self._made.append(made)
        self._gone |= made.gone
        return self._move(1)

    def _show_changed(self, item: ReviewItem) -> bool:
        """Show again what says something else by now; go on when it no longer waits."""
        try:
            now = self._memory.review.get(item.id)
        except (InvalidField, MemoryNotFound):
            self._console.line("It was decided elsewhere before you answered.")
            self._gone.add(item.id)
            return self._move(1)
        if now.revisions == item.revisions:
            self._console.line(f"Already {now.memory.status}.")
            return False
        self._items[self.place] = now
        self._console.line("It was changed before you answered. Now it says:")
        return True

    def _confirm_rest(self, item: ReviewItem) -> bool:
        """Confirm the item in front and all candidates after it that need no look of their own."""
        shown = self._decide(item, "confirm")
        if item.id not in self._gone:
            return shown
        while (following := self.item) is not None:
            if following.may_confirm_with_others():
                self._decide(following, "confirm")
            if following.id not in self._gone:  # it wants a look of its own, or was changed meanwhile
                self._move(1)
        return True

    def _undo(self) -> bool:
        """Take back the last decision made here: exactly that act, whatever happened elsewhere meanwhile."""
        if not self._made:
            self._console.line("There is nothing to undo here; `recollect undo` takes back earlier changes.")
            return False
        last = self._made[-1]
        told = "Undone."
        try:
            self._memory.undo(act=last.done.act)
        except AlreadyUndone:
            told = "Already undone."
        except RecollectError as error:
            self._console.error(error)
            return False
        self._console.line(told)
        self._made.pop()
        self._gone -= last.gone
        self.place = last.place
        try:
            self._items[last.place] = self._memory.review.get(last.item.id)
        except (InvalidField, MemoryNotFound):
            self._gone.add(last.item.id)
            return self._move(1)
        return True
