"""Against a plain model of what each act means, through restarts: the memory never says anything else."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

import recollect
from faults.fault_tools import EVERYTHING, SOAK, assert_replays, assert_sound, base_seed, report, size
from recollect import Draft, Memory, Recollect
from recollect.core.errors import CannotUndo, MemoryNotFound, MemoryNotOpen, NothingToUndo, Tombstoned
from recollect.core.text import fingerprint
from recollect.interfaces import cli
from recollect.tend.maintenance import restore_backup

_OPEN, _SHOWN = ("candidate", "active", "disputed"), ("active", "disputed")
_KEPT = ("content", "tags", "status", "confidence", "pinned", "verified", "needs_review")  # what undo restores
_SHARDS = 4  # so that parallel runs share the work
_TAUGHT = 0.9  # confidence of what a person teaches


@dataclass(frozen=True)
class Row:
    """One memory as the model knows it."""

    content: str
    tags: tuple[str, ...] = ()
    status: str = "active"
    confidence: float = _TAUGHT
    pinned: bool = False
    verified: bool = False
    needs_review: bool = False
    access_count: int = 0
    streak: int = 0
    revision: int = 1

    def moved(self, **changes: Any) -> Row:
        return replace(self, **changes, revision=self.revision + 1)

    def used(self) -> Row:
        streak = self.streak + 1
        gains = streak % 5 == 0 and self.confidence < 0.95
        return replace(
            self,
            access_count=self.access_count + 1,
            streak=streak,
            confidence=min(0.95, self.confidence + 0.05) if gains else self.confidence,
            needs_review=self.needs_review and streak < 10,
        )


@dataclass
class Act:
    """What an act did, as far as undoing it needs to know."""

    made: list[str] = field(default_factory=list)
    before: dict[str, dict[str, Any]] = field(default_factory=dict)  # id → fields it changed, as they were
    forgot: str | None = None
    others: list[str] = field(default_factory=list)  # forgotten with it
    buried: list[str] = field(default_factory=list)  # contents it put a tombstone on
    unearthed: list[str] = field(default_factory=list)  # contents whose tombstone it lifted
    undone: bool = False

    @property
    def touched(self) -> set[str]:
        return {*self.made, *self.before, *self.others, *([self.forgot] if self.forgot else [])}


class Model:
    """A dict of rows, the contents that must stay gone, and the acts in order."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.tombs: set[str] = set()
        self.acts: list[Act] = []

    def change(self, id: str, *, bury: str | None = None, unearth: str | None = None, **changes: Any) -> None:
        """One act on one row; nothing at all when nothing would be different."""
        was = self.rows[id]
        if all(getattr(was, name) == value for name, value in changes.items() if name in _KEPT):
            return
        now = was.moved(**changes)
        act = Act(before={id: {name: getattr(was, name) for name in _KEPT if getattr(was, name) != getattr(now, name)}})
        if bury is not None and bury not in self.tombs:
            act.buried.append(bury)
        if unearth is not None and unearth in self.tombs:
            act.unearthed.append(unearth)
        self.tombs = (self.tombs | set(act.buried)) - set(act.unearthed)
        self.rows[id] = now
        self.acts.append(act)

    def twin(self, content: str) -> str | None:
        return next((id for id, row in self.rows.items() if row.content == content and row.status in _OPEN), None)

    def last(self, id: str | None) -> Act | None:
        standing = [act for act in self.acts if not act.undone and (id is None or id in act.touched)]
        return standing[-1] if standing else None

    def can_undo(self, act: Act) -> bool:
        later = [other for other in self.acts[self.acts.index(act) + 1 :] if not other.undone]
        return act.forgot is None and not any(act.touched & other.touched for other in later)

    def undo(self, act: Act) -> None:
        act.undone = True
        for id in act.made:
            del self.rows[id]
        for id, before in act.before.items():
            self.rows[id] = self.rows[id].moved(**before)
        self.tombs = (self.tombs - set(act.buried)) | set(act.unearthed)


def _word(number: int) -> str:
    """A word that no other begins with, and that no stemmer shortens."""
    return "k" + "".join("bcdfghjlmn"[int(digit)] for digit in f"{number:06d}") + "k"


def _content(number: int) -> str:
    return f"{_word(2 * number)} {_word(2 * number + 1)}"


class Machine(RuleBasedStateMachine):
    steps: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(prefix="recollect-model-", dir=_memory_folder())
        self.path = Path(self.folder.name) / "memory.db"
        self.memory: Recollect = recollect.open(self.path, project="model")
        self.other: Recollect = recollect.open(self.path)
        self.model = Model()
        self.said = 0  # how many statements there are

    def teardown(self) -> None:
        try:
            assert_sound(self.memory)
            assert_replays(self.other)
            self.memory.close()
            self.other.close()
        finally:
            self.folder.cleanup()

    # --- choosing -------------------------------------------------------------------------------------------------

    def _fresh(self) -> str:
        self.said += 1
        return _content(self.said - 1)

    def _old(self, choice: int) -> str | None:
        return _content(choice % self.said) if self.said else None

    def _id(self, choice: int) -> str:
        return list(self.model.rows)[choice % len(self.model.rows)]

    def _has_rows(self) -> bool:
        return bool(self.model.rows)

    def _closed(self, id: str) -> bool:
        return self.model.rows[id].status not in _OPEN

    # --- remember -------------------------------------------------------------------------------------------------

    @rule(tag=st.sampled_from(["red", "green", "blue"]))
    def remember(self, tag: str) -> None:
        self.steps["remember"] += 1
        content = self._fresh()
        receipt = self.memory.remember(content, tags=[tag])
        assert receipt.verdict == "new"
        self.model.rows[receipt.id] = Row(content, (tag,))
        self.model.acts.append(Act(made=[receipt.id]))
        self._agrees(receipt.memory)

    @rule(count=st.integers(2, 4))
    def remember_all(self, count: int) -> None:
        self.steps["remember_all"] += 1
        contents = [self._fresh() for _ in range(count)]
        receipts = self.memory.remember_all([Draft(content) for content in contents])
        for receipt, content in zip(receipts, contents, strict=True):
            self.model.rows[receipt.id] = Row(content)
        self.model.acts.append(Act(made=[receipt.id for receipt in receipts]))

    @precondition(lambda self: self.said > 0)
    @rule(choice=st.integers(0, 1000), tag=st.sampled_from(["red", "green", "blue"]), again=st.booleans())
    def say_again(self, choice: int, tag: str, again: bool) -> None:
        self.steps["say_again"] += 1
        content = self._old(choice) or ""
        buried = content in self.model.tombs
        if buried and not again:
            with pytest.raises(Tombstoned):
                self.memory.remember(content, tags=[tag])
            return
        twin = self.model.twin(content)
        receipt = self.memory.remember(content, tags=[tag], again=again)
        act = Act(unearthed=[content] if buried else [])
        self.model.tombs.discard(content)
        if twin is None:
            assert receipt.verdict == "new"
            self.model.rows[receipt.id] = Row(content, (tag,))
            act.made.append(receipt.id)
        else:
            assert (receipt.id, receipt.verdict) == (twin, "same")
            self._merged(act, twin, tag)
        if act.made or act.before or act.unearthed:
            self.model.acts.append(act)
        self._agrees(receipt.memory)

    def _merged(self, act: Act, id: str, tag: str) -> None:
        was = self.model.rows[id]
        tags = was.tags if tag in was.tags else (*was.tags, tag)
        now = replace(was, tags=tags, confidence=max(was.confidence, _TAUGHT), needs_review=False)
        if now != was:
            act.before[id] = {name: getattr(was, name) for name in _KEPT if getattr(was, name) != getattr(now, name)}
            self.model.rows[id] = now.moved()

    # --- acts on one ----------------------------------------------------------------------------------------------

    @precondition(_has_rows)
    @rule(
        choice=st.integers(0, 1000),
        words=st.sampled_from(["keep", "fresh", "earlier"]),
        earlier=st.integers(0, 1000),
        tags=st.none() | st.lists(st.sampled_from(["red", "green", "blue"]), unique=True, max_size=2),
        confidence=st.none() | st.sampled_from([0.2, 0.5, 0.9]),
    )
    def edit(self, choice: int, words: str, earlier: int, tags: list[str] | None, confidence: float | None) -> None:
        self.steps["edit"] += 1
        id = self._id(choice)
        row = self.model.rows[id]
        changes: dict[str, Any] = {}
        if tags is not None:
            changes["tags"] = tuple(tags)
        if confidence is not None:
            changes["confidence"] = confidence
        content = self._fresh() if words == "fresh" else self._old(earlier) if words == "earlier" else row.content
        if content != row.content and not any(other.content == content for other in self.model.rows.values()):
            changes["content"] = content
        if self._closed(id):
            with pytest.raises(MemoryNotOpen):
                self.memory.edit(id, **changes)
            return
        edited = self.memory.edit(id, **changes)
        if "content" in changes:
            self.model.change(id, bury=row.content, unearth=content, streak=0, **changes)
        else:
            self.model.change(id, **changes)
        self._agrees(edited)

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000))
    def correct(self, choice: int) -> None:
        """The better words take the old one's place. The old one is forgotten at once: from a memory that is linked to
        others doubt spreads, and how far is not the model's business."""
        id = self._id(choice)
        if self._closed(id):
            return
        self.steps["correct"] += 1
        was, content = self.model.rows[id], self._fresh()
        receipt = self.memory.correct(id, content)
        assert (receipt.verdict, receipt.against) == ("supersedes", (id,))
        self.model.rows[receipt.id] = Row(content, was.tags)
        self.model.change(
            id, bury=was.content, status="superseded", confidence=self.memory.get(id).confidence, streak=0,
            needs_review=self.memory.get(id).needs_review,
        )  # fmt: skip
        self.model.acts[-1].made.append(receipt.id)
        self.memory.forget(id)
        self.model.tombs.add(self.model.rows.pop(id).content)
        self.model.acts.append(Act(forgot=id))
        self._agrees(self.memory.get(receipt.id))

    @precondition(_has_rows)
    @rule(choices=st.lists(st.integers(0, 1000), min_size=1, max_size=4))
    def forget_all(self, choices: list[int]) -> None:
        self.steps["forget_all"] += 1
        ids = list(dict.fromkeys(map(self._id, choices)))
        assert {gone.id for gone in self.memory.forget_all(ids)} == set(ids)
        for id in ids:
            self.model.tombs.add(self.model.rows.pop(id).content)
        self.model.acts.append(Act(forgot=ids[0], others=ids[1:]))

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000))
    def confirm(self, choice: int) -> None:
        self._act("confirm", self._id(choice), verified=True, needs_review=False, confidence=1.0, status="active")

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000))
    def reject(self, choice: int) -> None:
        id = self._id(choice)
        gone = {"status": "rejected", "confidence": 0.0, "needs_review": False, "verified": False, "streak": 0}
        self._act("reject", id, bury=self.model.rows[id].content, **gone)

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000))
    def dispute(self, choice: int) -> None:
        id = self._id(choice)
        refused = self.model.rows[id].status == "disputed"
        self._act("dispute", id, refused=refused, status="disputed", needs_review=True, verified=False, streak=0)

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000), pinned=st.booleans())
    def pin(self, choice: int, pinned: bool) -> None:
        self._act("pin", self._id(choice), arguments={"pinned": pinned}, pinned=pinned)

    def _act(
        self, verb: str, id: str, *, arguments: dict[str, Any] | None = None, refused: bool = False,
        bury: str | None = None, **changes: Any,
    ) -> None:  # fmt: skip
        self.steps[verb] += 1
        act = getattr(self.memory, verb)
        if refused or self._closed(id):
            with pytest.raises(MemoryNotOpen):
                act(id, **arguments or {})
            return
        after = act(id, **arguments or {})
        self.model.change(id, bury=bury, **changes)
        self._agrees(after)

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000))
    def forget(self, choice: int) -> None:
        self.steps["forget"] += 1
        id = self._id(choice)
        assert self.memory.forget(id).id == id
        self.model.tombs.add(self.model.rows.pop(id).content)
        self.model.acts.append(Act(forgot=id))
        with pytest.raises(MemoryNotFound):
            self.memory.get(id)

    @rule(choice=st.none() | st.integers(0, 1000))
    def undo(self, choice: int | None) -> None:
        self.steps["undo"] += 1
        ids = sorted({id for act in self.model.acts for id in act.touched})
        id = None if choice is None or not ids else ids[choice % len(ids)]
        act = self.model.last(id)
        if act is None:
            with pytest.raises(NothingToUndo):
                self.memory.undo(id)
        elif not self.model.can_undo(act):
            with pytest.raises(CannotUndo):
                self.memory.undo(id)
        else:
            assert set(self.memory.undo(id).memories) == act.touched
            self.model.undo(act)

    # --- recall, restarts, upkeep -----------------------------------------------------------------------------------

    @precondition(lambda self: self.said > 0)
    @rule(choice=st.integers(0, 1000), second=st.booleans(), track=st.booleans())
    def recall(self, choice: int, second: bool, track: bool) -> None:
        self.steps["recall"] += 1
        content = self._old(choice) or ""
        expected = {id for id, row in self.model.rows.items() if row.content == content and row.status in _SHOWN}
        found = [hit.id for hit in self.memory.recall(content.split()[second], track=track)]
        assert len(found) == min(1, len(expected)), (content, found, expected)
        assert set(found) <= expected
        if track:
            for id in found:
                self.model.rows[id] = self.model.rows[id].used()

    @rule(read_first=st.booleans())
    def restart(self, read_first: bool) -> None:
        self.steps["restart"] += 1
        self.memory.close()
        self.other.close()
        if read_first:
            with recollect.open(self.path, read_only=True) as memory:
                assert memory.count(EVERYTHING) == len(self.model.rows)
        self.memory, self.other = recollect.open(self.path), recollect.open(self.path)

    @rule()
    def change_hands(self) -> None:
        """From here on, another open memory of the same store acts."""
        self.steps["change_hands"] += 1
        self.memory, self.other = self.other, self.memory

    @precondition(_has_rows)
    @rule(choice=st.integers(0, 1000), verb=st.sampled_from(["confirm", "dispute", "pin", "forget"]))
    def act_by_command(self, choice: int, verb: str) -> None:
        self.steps["act_by_command"] += 1
        id = self._id(choice)
        row = self.model.rows[id]
        refused = verb != "forget" and (self._closed(id) or (verb == "dispute" and row.status == "disputed"))
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as trouble:
            code = cli.main([verb, id, "--as-person", "--store", str(self.path)])
        assert (code != 0) == refused, trouble.getvalue()
        if refused:
            return
        if verb == "forget":
            self.model.tombs.add(self.model.rows.pop(id).content)
            self.model.acts.append(Act(forgot=id))
        elif verb == "pin":
            self.model.change(id, pinned=True)
        elif verb == "dispute":
            self.model.change(id, status="disputed", needs_review=True, verified=False, streak=0)
        else:
            self.model.change(id, verified=True, needs_review=False, confidence=1.0, status="active")

    @precondition(lambda self: len(self.model.acts) % 6 == 5)  # it takes as long as ten other acts
    @rule()
    def back_up_and_put_back(self) -> None:
        """A store that is put back as it was just saved is the same store."""
        self.steps["back_up"] += 1
        saved = self.memory.maintenance.backup()
        self.memory.close()
        self.other.close()
        restore_backup(self.path, saved)
        saved.unlink()
        self.memory, self.other = recollect.open(self.path), recollect.open(self.path)

    @rule()
    def check(self) -> None:
        self.steps["check"] += 1
        assert_sound(self.memory)

    @rule()
    def settle(self) -> None:
        assert self.memory.store.engine.checkpoint()

    @invariant()
    def the_memory_says_what_the_model_says(self) -> None:
        page = self.memory.list(EVERYTHING, limit=10_000)
        assert not page.damaged
        found = {memory.id: _row(memory) for memory in page.memories}
        assert found == self.model.rows
        assert self.memory.count() == sum(row.status in _SHOWN for row in self.model.rows.values())
        prints = {fingerprint(content): content for content in map(_content, range(self.said))}
        buried = self.memory.store.tombstones.find(list(prints))
        assert {prints[one] for one in buried} == self.model.tombs, "other statements must stay gone"

    def _agrees(self, told: Memory) -> None:
        """What an act hands back is what is stored."""
        assert _row(told) == self.model.rows[told.id]
        assert told == self.memory.get(told.id)


def _row(memory: Memory) -> Row:
    return Row(**{name: getattr(memory, name) for name in Row.__dataclass_fields__})


def _memory_folder() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


@pytest.fixture
def _counted() -> Iterator[None]:
    Machine.steps.clear()
    yield
    report(
        ", ".join(
            f"{name}: {count}" for name, count in [("steps", Machine.steps.total()), *sorted(Machine.steps.items())]
        )
    )


@pytest.mark.usefixtures("_counted")
@pytest.mark.parametrize("shard", range(_SHARDS))
def test_the_memory_does_what_a_plain_model_does_through_any_sequence_of_acts_and_restarts(shard: int) -> None:
    runs, steps = size(60, 20_000) // _SHARDS, 50
    seeded = seed(base_seed() + shard)(type("Machine", (Machine,), {}))
    run_state_machine_as_test(
        seeded,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            phases=[Phase.generate] if SOAK else [Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
    report(f"model runs of up to {steps} steps: {runs}, divergences: 0")


# --- divergences found once, as short stories -------------------------------------------------------------------------


def test_undoing_an_edit_puts_back_the_tombstone_that_the_edit_lifted() -> None:
    with recollect.open(":memory:") as memory:
        memory.forget(memory.remember("forgotten words").id)
        id = memory.remember("other words").id
        memory.edit(id, content="forgotten words")
        memory.undo()
        with pytest.raises(Tombstoned):
            memory.remember("forgotten words")


def test_a_receipt_shows_the_memory_as_it_is_stored() -> None:
    with recollect.open(":memory:") as memory:
        for fields in ({}, {"tags": ["again"]}, {"files": ["once/more.py"]}):
            receipt = memory.remember("said several times", **fields)
            assert receipt.memory == memory.get(receipt.id)
        old = memory.remember("the staging server listens on port 80", confidence=0.5)
        new = memory.remember("the staging server listens on port 81 now")
        assert (new.verdict, new.against) == ("supersedes", (old.id,))
        assert new.memory == memory.get(new.id)
