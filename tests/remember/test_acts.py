from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import Draft, Status
from recollect.app import Recollect
from recollect.core.errors import (
    AlreadyUndone,
    CannotUndo,
    InvalidField,
    MemoryNotFound,
    MemoryNotOpen,
    NothingToUndo,
    PersonOnly,
    StaleEdit,
    Tombstoned,
    UnknownChoice,
)
from recollect.core.query import Filter
from recollect.core.scope import Source
from recollect.store.check import check


def test_a_rejected_statement_cannot_come_back_by_any_write_path(memory: Recollect) -> None:
    receipt = memory.remember("The cache is shared.", kind="gotcha")
    memory.reject(receipt.id, why="it never was")
    with pytest.raises(Tombstoned):
        memory.remember("the cache is shared", kind="gotcha")
    with pytest.raises(Tombstoned):
        memory.remember_all([Draft("Something else."), Draft("The cache is shared!", source=Source.OBSERVER_INFERRED)])
    assert memory.count() == 0


def test_a_rejected_statement_may_be_said_again_on_purpose(memory: Recollect) -> None:
    memory.reject(memory.remember("The cache is shared.").id)
    assert memory.remember("The cache is shared.", again=True).verdict == "new"


def test_an_edit_sticks(memory: Recollect) -> None:
    receipt = memory.remember("The default branch is master.")
    memory.edit(receipt.id, content="The default branch is main.")
    assert memory.get(receipt.id).content == "The default branch is main."
    assert [hit.id for hit in memory.recall("default branch main")] == [receipt.id]
    assert len(memory.recall("master")) == 0
    with pytest.raises(Tombstoned, match="corrected"):
        memory.remember("The default branch is master.")


def test_a_correction_supersedes_and_sticks(memory: Recollect) -> None:
    wrong = memory.remember("Ada works at Acme.", tags=["people"])
    right = memory.correct(wrong.id, "Ada works at Globex.", why="she told us")
    assert (right.verdict, right.memory.tags) == ("supersedes", ("people",))
    assert memory.get(wrong.id).status is Status.SUPERSEDED
    with pytest.raises(Tombstoned):
        memory.remember("Ada works at Acme.")
    memory.undo()
    assert memory.get(wrong.id).status is Status.ACTIVE
    assert memory.remember("Ada works at Acme.").verdict == "same"


def test_an_edit_is_checked_like_a_new_memory(memory: Recollect) -> None:
    id = memory.remember("Fine.").id
    with pytest.raises(InvalidField, match="confidence"):
        memory.edit(id, confidence=7)
    with pytest.raises(UnknownChoice):
        memory.edit(id, kind="nope")
    with pytest.raises(MemoryNotFound):
        memory.edit("mem_nowhere", content="x")
    assert memory.get(id).revision == 1


def test_an_edit_hides_secrets(memory: Recollect) -> None:
    token = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    id = memory.remember("Fine.").id
    memory.edit(id, content=f"now {token}")
    assert token not in memory.get(id).content
    assert memory.get(id).flagged


def test_an_edit_made_against_an_old_revision_is_refused(memory: Recollect) -> None:
    id = memory.remember("One.").id
    memory.edit(id, tags=["a"], if_revision=1)
    with pytest.raises(StaleEdit):
        memory.edit(id, tags=["b"], if_revision=1)
    assert memory.get(id).tags == ("a",)


def test_changing_nothing_leaves_no_trace(memory: Recollect) -> None:
    id = memory.remember("One.", tags=["a"]).id
    memory.edit(id, tags=["a"])
    assert memory.get(id).revision == 1
    assert len(memory.history(id)) == 1


def test_confirming_a_fact_makes_it_certain_and_protects_it(memory: Recollect, clock: Any) -> None:
    id = memory.remember("Ada has a dog.", source=Source.AGENT_EXPLICIT).id
    confirmed = memory.confirm(id)
    clock.pass_(days=400)
    assert (confirmed.confidence, confirmed.verified) == (1.0, True)
    assert memory.confidence(memory.get(id)) == 1.0


def test_a_disputed_memory_is_still_recalled_at_a_lower_weight(memory: Recollect) -> None:
    id = memory.remember("The build needs 8 GB.", kind="gotcha").id
    memory.dispute(id, why="mine needed 4")
    hit = memory.recall("build needs").hits[0]
    assert hit.memory.status is Status.DISPUTED
    assert hit.confidence == pytest.approx(0.9 * 0.8, rel=1e-3)
    with pytest.raises(MemoryNotOpen):
        memory.dispute(id)


def test_closing_a_closed_memory_is_an_error(memory: Recollect) -> None:
    id = memory.remember("One.").id
    memory.reject(id)
    for act in (memory.reject, memory.confirm, memory.dispute, memory.pin):
        with pytest.raises(MemoryNotOpen):
            act(id)


def test_a_pinned_memory_does_not_fade(memory: Recollect, clock: Any) -> None:
    id = memory.remember("Work in progress.", kind="work_state").id
    memory.pin(id)
    clock.pass_(days=70)
    assert memory.confidence(memory.get(id)) == 0.9
    assert memory.confidence(memory.pin(id, pinned=False)) == pytest.approx(0.9 / 1024, rel=1e-3)


def test_the_last_letters_of_an_id_suffice(memory: Recollect) -> None:
    id = memory.remember("One.").id
    assert memory.get(id[-6:]).id == id
    with pytest.raises(MemoryNotFound):
        memory.get(id[-3:])
    with pytest.raises(MemoryNotFound):
        memory.get("%%%%")


# --- forget -------------------------------------------------------------------------------------------------------


def test_forgetting_leaves_no_word_in_row_index_or_ledger(memory: Recollect) -> None:
    other = memory.remember("Something else entirely.")
    id = memory.remember("Zanzibar7 is the vault word.", tags=["zanzibar8"]).id
    memory.edit(id, content="Zanzibar9 is the vault word.", why="typo")
    memory.relate(other.id, "validates", to=id)
    memory.forget(id)
    with pytest.raises(MemoryNotFound):
        memory.get(id)
    assert len(memory.recall("Zanzibar9")) + len(memory.recall("zanzibar8")) == 0
    assert "anzibar" not in repr(memory.history(id))
    assert [entry.change.action for entry in memory.history(id)] == ["add", "edit", "forget"]
    assert memory.why(other.id).points_at == ()
    assert check(memory.store).ok


def test_a_forgotten_statement_stays_gone(memory: Recollect) -> None:
    memory.forget(memory.remember("Zanzibar is the vault word.").id)
    with pytest.raises(Tombstoned, match="forgotten"):
        memory.remember("Zanzibar is the vault word.")


def test_forgetting_cannot_be_undone_and_says_so(memory: Recollect) -> None:
    memory.forget(memory.remember("One.").id)
    with pytest.raises(CannotUndo):
        memory.undo()


# --- undo ---------------------------------------------------------------------------------------------------------


def test_undo_takes_back_one_act_at_a_time_until_nothing_is_left(memory: Recollect) -> None:
    id = memory.remember("One.", kind="gotcha").id
    memory.edit(id, content="Two.")
    memory.reject(id)
    memory.undo()
    assert (memory.get(id).status, memory.get(id).confidence) == (Status.ACTIVE, 0.9)
    memory.undo()
    assert memory.get(id).content == "One."
    assert [hit.id for hit in memory.recall("One")] == [id]
    memory.undo()
    assert memory.count(Filter(statuses=frozenset(Status))) == 0
    with pytest.raises(NothingToUndo):
        memory.undo()
    assert check(memory.store).ok


def test_a_named_act_is_undone_once_and_never_another_in_its_place(memory: Recollect) -> None:
    guess = memory.remember("Deploys happen on Fridays.", source=Source.OBSERVER_INFERRED)
    act = memory.review.decide(guess.id, "confirm").act
    assert memory.undo(act=act).actions == ("confirm",)
    with pytest.raises(AlreadyUndone):
        memory.undo(act=act)
    assert memory.get(guess.id).status is Status.CANDIDATE


def test_a_named_act_is_not_undone_beneath_a_later_change(memory: Recollect) -> None:
    guess = memory.remember("Deploys happen on Fridays.", source=Source.OBSERVER_INFERRED)
    act = memory.review.decide(guess.id, "confirm").act
    memory.pin(guess.id)
    with pytest.raises(CannotUndo, match="changed again since"):
        memory.undo(act=act)
    assert memory.get(guess.id).verified
    memory.undo(guess.id)
    assert memory.undo(act=act).memories == (guess.id,)


def test_an_act_nobody_made_or_named_with_something_else_is_not_undone(memory: Recollect) -> None:
    kept = memory.remember("Deploys happen on Fridays.")
    with pytest.raises(NothingToUndo):
        memory.undo(act="act_nobody")
    with pytest.raises(InvalidField):
        memory.undo(kept.id, act="act_nobody")
    assert memory.count() == 1


def test_an_agent_does_not_undo_a_persons_act_by_its_name(memory: Recollect) -> None:
    guess = memory.remember("Deploys happen on Fridays.", source=Source.OBSERVER_INFERRED)
    act = memory.review.decide(guess.id, "confirm").act
    with pytest.raises(PersonOnly):
        memory.through("adapter").undo(act=act)
    assert memory.get(guess.id).verified


def test_undoing_a_rejection_lifts_its_tombstone(memory: Recollect) -> None:
    id = memory.remember("One.").id
    memory.reject(id)
    memory.undo()
    assert memory.remember("One.").verdict == "same"


def test_undoing_a_superseding_statement_reopens_the_old_one(memory: Recollect) -> None:
    old = memory.remember("The API listens on port 8080.")
    memory.remember("The API now listens on port 9090.")
    memory.undo()
    assert memory.get(old.id) == old.memory.having(
        updated_at=memory.get(old.id).updated_at, revision=memory.get(old.id).revision
    )


def test_undo_of_one_memory_leaves_later_acts_on_others_alone(memory: Recollect) -> None:
    first, second = memory.remember("One.").id, memory.remember("Two.").id
    memory.pin(first)
    memory.pin(second)
    memory.undo(first)
    assert (memory.get(first).pinned, memory.get(second).pinned) == (False, True)


def test_an_act_that_others_built_on_is_not_undone_under_them(memory: Recollect) -> None:
    old = memory.remember("The API listens on port 8080.")
    new = memory.remember("The API now listens on port 9090.")
    memory.pin(new.id)
    with pytest.raises(CannotUndo, match="changed again"):
        memory.undo(old.id)


# --- the ledger ---------------------------------------------------------------------------------------------------


def test_every_change_names_who_when_what_and_why(memory: Recollect) -> None:
    id = memory.remember("One.").id
    memory.reject(id, why="never true")
    entry = memory.history(id)[-1]
    assert (entry.actor, entry.change.action, entry.change.why) == ("tester", "reject", "never true")
    assert entry.change.before is not None
    assert entry.change.before["status"] == "active"


def test_why_tells_the_whole_story(memory: Recollect) -> None:
    base = memory.remember("The parser is recursive.", session="s1")
    derived = memory.remember("Deep nesting overflows the parser.", derived_from=[base.id])
    account = memory.why(base.id)
    assert [link.source for link in account.pointed_at_by] == [derived.id]
    assert account.history[0].change.action == "add"


def test_a_relation_has_exactly_one_target(memory: Recollect) -> None:
    one, two = memory.remember("One.").id, memory.remember("Two.").id
    for targets in ({}, {"to": two, "file": "a.py"}):
        with pytest.raises(InvalidField):
            memory.relate(one, "validates", **targets)
    with pytest.raises(UnknownChoice):
        memory.relate(one, "likes", to=two)
    assert memory.relate(one, "required_with", file="a.py").file == "a.py"


def test_several_are_forgotten_together_or_not_at_all(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", project="t") as memory:
        ids = [
            receipt.id
            for receipt in memory.remember_all(
                [Draft(f"The harbour has {number} boats", skip_conflict_check=True) for number in range(5)]
            )
        ]
        with pytest.raises(MemoryNotFound):
            memory.forget_all([*ids, "mem_nothing"])
        assert memory.count() == 5
        told = memory.forget_all([ids[0], ids[1], ids[0], ids[2]])
        assert [(one.id, one.lingering) for one in told] == [(id, "") for id in ids[:3]]
        assert {memory.id for memory in memory.list().memories} == set(ids[3:])
        assert memory.forget_all([]) == []
        assert [entry.change.action for entry in memory.history(ids[1])][-1] == "forget"
        with pytest.raises(Tombstoned):
            memory.remember("The harbour has 1 boats")
    assert b"1 boats" not in (tmp_path / "m.db").read_bytes()
    assert b"4 boats" in (tmp_path / "m.db").read_bytes()


def test_what_a_forgotten_memory_carried_along_is_gone_from_the_file(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db", project="t") as memory:
        drafts = [
            Draft(
                f"record {n}",
                attributes={"value": {"text": f"carried along by {n}: " + "word " * 40}},
                skip_conflict_check=True,
            )
            for n in range(60)
        ]
        ids = [receipt.id for receipt in memory.remember_all(drafts)]
        for n in range(0, 60, 3):
            memory.edit(ids[n], attributes={"value": {"text": f"changed and carried by {n}: " + "more " * 60}})
        memory.forget_all(ids[:30])
    kept = (tmp_path / "m.db").read_bytes()
    assert not [
        n for n in range(30) if f"carried along by {n}:".encode() in kept or f"carried by {n}:".encode() in kept
    ]
    assert b"carried along by 31:" in kept


def test_relating_the_same_two_again_changes_the_relation_and_makes_no_second_one(memory: Recollect) -> None:
    one, two = memory.remember("Ship from main."), memory.remember("The pipeline builds main.")
    memory.relate(one.id, "validates", to=two.id, confidence=0.5)
    memory.relate(one.id, "validates", to=two.id, confidence=0.9)
    (link,) = [link for link in memory.why(one.id).points_at if link.target == two.id]
    assert link.confidence == 0.9
    changes = [entry.change for entry in memory.history() if entry.change.about == "link"]
    assert len(changes) == 2
    assert changes[0].before or changes[1].before, "the second tells what the first had said"
