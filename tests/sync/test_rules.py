"""Two states of one memory become one: who changed what decides, and words are never thrown away."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.sync.rules import is_mass_deletion, is_more_final, merge_states
from recollect.sync.states import LABELS, Shadow, State, secret_in

BASE: State = {
    "kind": "fact", "content": "Granite is hard.", "confidence": 0.8, "source": "user_taught", "scope": "global",
    "visibility": "project", "status": "active", "created_at": "2026-03-01T12:00:00.000Z",
    "updated_at": "2026-03-01T12:00:00.000Z", "accessed_at": "2026-03-01T12:00:00.000Z",
    "tags": ["stone", "hard"], "access_count": 4, "streak": 2, "attributes": {"a": 1},
}  # fmt: skip


def having(**changes: Any) -> State:
    return {name: value for name, value in {**BASE, **changes}.items() if value is not None}


def merged(mine: State, theirs: State, base: State | None = BASE) -> State:
    return merge_states(None if base is None else Shadow.of(base), mine, theirs).state


def test_each_side_keeps_what_only_it_changed() -> None:
    state = merged(having(citation="here"), having(node="there"))
    assert (state["citation"], state["node"]) == ("here", "there")


def test_where_both_changed_a_single_value_the_servers_stands() -> None:
    assert merged(having(citation="here"), having(citation="there"))["citation"] == "there"


def test_counters_add_up_what_each_side_counted() -> None:
    assert merged(having(access_count=7), having(access_count=6))["access_count"] == 9


def test_a_streak_that_one_side_ended_is_over() -> None:
    assert "streak" not in merged(having(streak=5), having(streak=None))
    assert merged(having(streak=5), having(streak=3))["streak"] == 6


def test_tags_merge_item_by_item() -> None:
    state = merged(having(tags=["stone", "mine"]), having(tags=["stone", "hard", "theirs"]))
    assert state["tags"] == ["stone", "theirs", "mine"]


def test_confidences_that_both_moved_meet_in_the_middle() -> None:
    assert merged(having(confidence=1.0), having(confidence=0.4))["confidence"] == pytest.approx(0.7)
    assert merged(having(confidence=1.0), BASE)["confidence"] == 1.0


def test_attributes_merge_key_by_key() -> None:
    state = merged(having(attributes={"b": 2}), having(attributes={"a": 1, "c": 3}))
    assert state["attributes"] == {"b": 2, "c": 3}


def test_words_that_both_sides_changed_are_kept_both_and_ask() -> None:
    found = merge_states(Shadow.of(BASE), having(content="Mine."), having(content="Theirs."))
    assert found.state["content"] == "Theirs."
    assert found.fork is not None
    assert (found.fork["content"], found.fork["needs_review"]) == ("Mine.", True)


def test_the_same_new_words_are_no_conflict() -> None:
    assert merge_states(Shadow.of(BASE), having(content="New."), having(content="New.")).fork is None


def test_new_words_on_one_side_are_no_conflict() -> None:
    found = merge_states(Shadow.of(BASE), having(content="New."), having(tags=None))
    assert (found.state["content"], found.fork) == ("New.", None)


def test_a_rejection_is_of_the_words_it_saw() -> None:
    state = merged(having(content="Better words."), having(status="rejected", confidence=0.0))
    assert (state["status"], state["needs_review"], state["content"]) == ("active", True, "Better words.")


def test_confirmed_here_and_rejected_there_is_disputed_and_asks() -> None:
    state = merged(having(verified=True, confidence=1.0), having(status="rejected", confidence=0.0))
    assert (state["status"], state["needs_review"]) == ("disputed", True)
    assert "verified" not in state


def test_the_more_cautious_decision_holds() -> None:
    assert (
        merged(having(status="disputed"), having(status="superseded", superseded_by="mem_1"))["status"] == "superseded"
    )


_STATES = st.fixed_dictionaries(
    {},
    optional={
        "content": st.sampled_from(["One.", "Two.", "Three."]),
        "confidence": st.sampled_from([0.2, 0.5, 1.0]),
        "tags": st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True),
        "status": st.sampled_from(["active", "disputed", "rejected", "superseded"]),
        "verified": st.just(True),
        "pinned": st.just(True),
        "access_count": st.integers(5, 9),
        "citation": st.sampled_from(["x", "y"]),
        "attributes": st.dictionaries(st.sampled_from("ab"), st.integers(0, 2), min_size=1),
    },
)


@given(_STATES)
def test_what_only_one_side_changed_is_what_both_have(changes: State) -> None:
    changed = having(**changes)
    assert merged(having(), changed) == changed
    assert merged(changed, having()) == {**changed, "updated_at": BASE["updated_at"]}


@given(_STATES, _STATES)
def test_merging_what_was_merged_changes_nothing(mine: State, theirs: State) -> None:
    """A copy that sends its merged state and hears it back is in step."""
    there = having(**theirs)
    once = merged(having(**mine), there)
    assert merged(once, once, once) == once


@given(_STATES, _STATES)
def test_no_words_get_lost(mine: State, theirs: State) -> None:
    found = merge_states(Shadow.of(BASE), having(**mine), having(**theirs))
    kept = {found.state["content"], found.fork["content"] if found.fork else ""}
    assert {theirs.get("content", BASE["content"])} <= kept | {BASE["content"]}
    if mine.get("content", BASE["content"]) != BASE["content"] and mine.get("status") not in ("rejected", "superseded"):
        assert mine["content"] in kept


def test_a_shadow_reads_back_and_holds_no_words() -> None:
    shadow = Shadow.of(BASE)
    assert Shadow.read(shadow.text) == shadow
    assert not any(word in shadow.text for word in ("Granite", "stone", "hard"))
    assert shadow.matches(BASE, usage=True)
    assert not shadow.matches(having(access_count=5), usage=True)
    assert shadow.matches(having(access_count=5), usage=False)


@pytest.mark.parametrize("name", ["content", *LABELS, "attributes", "citation"])
def test_a_secret_anywhere_is_seen_at_the_edge(name: str) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    value: Any = {"key": secret} if name == "attributes" else [secret] if name in LABELS else secret
    assert secret_in({**BASE, name: value})
    assert not secret_in(BASE)


@pytest.mark.parametrize(
    ("deleted", "shared", "stops"), [(1, 4, False), (2, 5, True), (20, 100, False), (21, 100, True), (101, 9_000, True)]
)
def test_more_than_a_fifth_or_a_hundred_deletions_are_asked_about(deleted: int, shared: int, stops: bool) -> None:
    assert is_mass_deletion(deleted, shared) is stops


def test_forgetting_outlasts_rejecting_outlasts_correcting() -> None:
    assert is_more_final("forgotten", "rejected")
    assert is_more_final("rejected", "corrected")
    assert not is_more_final("corrected", "corrected")
