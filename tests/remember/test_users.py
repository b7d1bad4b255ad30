"""What belongs to one user of an assistant is nobody else's: not found, not merged, not contradicted, not buried."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import recollect
from recollect import Draft, Filter
from recollect.app import Recollect
from recollect.core.errors import InvalidField, MemoryNotFound, RecollectError, Tombstoned
from recollect.core.query import ANY_USER
from recollect.core.scope import Status

USERS = (None, "anna", "ben")
TEXTS = (
    "The deploy script needs 8 workers on the build machine.",
    "The deploy script now needs 16 workers on the build machine.",
    "The deploy script never needs 8 workers on the build machine.",
    "The team lunch is always on friday.",
    "The team lunch is never on friday.",
)
ACTS = ("confirm", "reject", "dispute", "forget", "correct", "edit")


@dataclass(frozen=True)
class Step:
    user: str | None
    text: str
    act: str | None  # on the newest open memory of the user that says the text; None: remember it
    tag: str


STEPS = st.lists(
    st.builds(
        Step,
        st.sampled_from(USERS),
        st.sampled_from(TEXTS),
        st.none() | st.sampled_from(ACTS),
        st.sampled_from(["red", "green"]),
    ),
    max_size=14,
)


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def lived(steps: list[Step], *, without: str | None = None) -> dict[str | None, list[tuple[object, ...]]]:
    """What each user sees after some steps, those of one user left out."""
    clock = Clock()
    with recollect.open(":memory:", project="p", actor="t", clock=clock) as memory:
        for number, step in enumerate(steps):
            clock.now = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=number)
            if without is None or step.user != without:
                _take(memory, step)
        for user in USERS:
            for text in TEXTS:
                for hit in memory.recall(text, filter=Filter(user=user), track=False):
                    assert hit.memory.user in (None, user)
        return {user: _seen(memory, user) for user in USERS}


def _take(memory: Recollect, step: Step) -> None:
    try:
        if step.act is None:
            memory.remember_all([Draft(step.text, user=step.user, tags=[step.tag])])
            return
        everything = memory.list(Filter(user=ANY_USER, statuses=Status), limit=1000).memories
        own = [one for one in everything if one.user == step.user and one.content == step.text]
        if not own:
            return
        if step.act == "correct":
            memory.correct(own[0].id, f"{step.text} Corrected.")
        elif step.act == "edit":
            memory.edit(own[0].id, tags=[step.tag, "edited"])
        else:
            getattr(memory, step.act)(own[0].id)
    except RecollectError:
        pass  # a closed or buried one: the same in every world


def _seen(memory: Recollect, user: str | None) -> list[tuple[object, ...]]:
    page = memory.list(Filter(user=user, statuses=Status), order="oldest", limit=1000)
    return sorted(
        (
            memory.user or "",
            memory.content,
            str(memory.status),
            memory.confidence,
            memory.needs_review,
            memory.verified,
            memory.tags,
        )
        for memory in page.memories
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_what_one_user_says_and_does_changes_nothing_anybody_else_sees(steps: list[Step]) -> None:
    together = lived(steps)
    for absent in ("anna", "ben"):
        alone = lived(steps, without=absent)
        for user in USERS:
            if user != absent:
                assert together[user] == alone[user]


def test_the_same_words_of_two_users_are_two_memories(memory: Recollect) -> None:
    anna, ben = (memory.remember("I like tea.", user=user) for user in ("anna", "ben"))
    assert (anna.verdict, ben.verdict) == ("new", "new")
    assert memory.remember("I like tea.", user="anna").id == anna.id
    assert [hit.id for hit in memory.recall("tea", filter=Filter(user="ben"))] == [ben.id]
    assert memory.recall("tea").hits == ()
    assert memory.count(Filter(user=ANY_USER)) == 2


def test_what_everybody_knows_is_known_to_a_user_and_not_changed_by_it(memory: Recollect) -> None:
    shared = memory.remember("The office is in Berlin.", tags=["office"])
    receipt = memory.remember("The office is in Berlin.", user="anna", tags=["secret"])
    assert (receipt.verdict, receipt.id) == ("same", shared.id)
    assert memory.get(shared.id).tags == ("office",)


def test_a_tombstone_of_one_user_keeps_the_words_from_that_user_only(memory: Recollect) -> None:
    memory.forget(memory.remember("I like tea.", user="anna").id)
    with pytest.raises(Tombstoned):
        memory.remember("I like tea.", user="anna")
    assert memory.remember("I like tea.", user="ben").verdict == "new"


def test_what_was_rejected_for_everybody_is_rejected_for_each_user(memory: Recollect) -> None:
    memory.reject(memory.remember("The office is in Berlin.").id)
    with pytest.raises(Tombstoned):
        memory.remember("The office is in Berlin.", user="anna")
    assert memory.remember("The office is in Berlin.", user="anna", again=True).verdict == "new"
    with pytest.raises(Tombstoned):
        memory.remember("The office is in Berlin.")


def test_a_user_cannot_supersede_what_belongs_to_another(memory: Recollect) -> None:
    id = memory.remember("I like tea.", user="anna").id
    with pytest.raises(MemoryNotFound):
        memory.remember("I like coffee.", user="ben", supersedes=id)
    assert memory.get(id).status is Status.ACTIVE


def test_a_user_cannot_supersede_what_belongs_to_everybody(memory: Recollect) -> None:
    shared = memory.remember("The office is in Berlin.")
    with pytest.raises(InvalidField, match="everybody"):
        memory.remember("The office is in Paris.", user="anna", supersedes=shared.id)
    assert memory.get(shared.id) == shared.memory
    assert memory.count(Filter(user=ANY_USER, statuses=Status)) == 1


def test_the_standing_of_what_belongs_to_another_user_is_not_told(memory: Recollect) -> None:
    id = memory.remember("I like tea.", user="anna").id
    memory.reject(id)
    with pytest.raises(MemoryNotFound):
        memory.remember("I like coffee.", user="ben", supersedes=id)


def test_the_last_sessions_of_a_user_are_those_the_user_may_see(memory: Recollect) -> None:
    said = [
        memory.remember(f"The heron was seen by the {session} lake.", user=user, session=session).id
        for user, session in (("anna", "first"), ("anna", "second"), ("ben", "third"), ("ben", "fourth"))
    ]
    assert [hit.id for hit in memory.recall("heron", last_sessions=1, user="anna")] == [said[1]]
    assert {hit.id for hit in memory.recall("heron", last_sessions=2, filter=Filter(user=ANY_USER))} == {*said[2:]}
    assert memory.recall("heron", last_sessions=1).hits == ()


def test_an_event_of_another_user_is_not_known(memory: Recollect) -> None:
    memory.remember("The heron was seen by the lake.", user="anna", session="first")
    event = memory.remember("The bridge was opened.", user="ben", session="second")
    with pytest.raises(InvalidField, match="no session is known"):
        memory.recall("heron", around=event.id, user="anna")
    assert memory.recall("bridge", around=event.id, user="ben").hits


@pytest.mark.parametrize("user", [ANY_USER, f" {ANY_USER}\n", "", " "])
def test_everybody_and_nobody_are_no_users(memory: Recollect, user: str) -> None:
    memory.remember("I like tea.", user="anna")
    for call in (
        lambda: memory.remember("I like coffee.", user=user),
        lambda: memory.remember_all([Draft("I like coffee.", user=user)]),
        lambda: memory.recall("tea", user=user),
        lambda: memory.brief("tea", user=user),
        lambda: memory.list(user=user),
        lambda: memory.count(user=user),
    ):
        with pytest.raises(InvalidField, match="user"):
            call()
    assert memory.count(Filter(user=ANY_USER)) == 1


ALIKE = (
    "b\u200bob", "bob\u202e", "bob\x7f", "bob\ufeff", " bob ", "bob\n", "bob\x01", "b\u00adob", "bob\r", "bo\nb",
    "bob\u2066", "bob\x85", "bob\u3000", "\tbob",
)  # fmt: skip


@pytest.mark.parametrize(
    ("user", "other"),
    [
        *(("bob", other) for other in ALIKE),
        ("Zo\u00e9", "Zoe\u0301"),
        ("K", "\u212a"),
        ("b b", "b\nb"),
        ("\u03a9", "\u2126"),
    ],
)
def test_two_ids_never_become_one_user(memory: Recollect, user: str, other: str) -> None:
    id = memory.remember("I like tea.", user=user).id
    for call in (
        lambda: memory.remember("I like coffee.", user=other),
        lambda: memory.remember_all([Draft("I like coffee.", user=other)]),
        lambda: memory.recall("tea", user=other),
        lambda: memory.brief("tea", user=other),
        lambda: memory.list(user=other),
        lambda: memory.count(Filter(user=other)),
        lambda: memory.sessions.capture("I like coffee.", session="s", user=other),
        lambda: memory.sessions.list(user=other),
        lambda: memory.sessions.tools(user=other),
    ):
        with pytest.raises(InvalidField, match="user"):
            call()
    assert [hit.id for hit in memory.recall("tea", user=user)] == [id]
    assert memory.count(Filter(user=ANY_USER)) == 1


@pytest.mark.parametrize(
    "user",
    ["anna", "anna@example.org", "Zo\u00e9", "\u674e\u96f7", "a b", "\uff41nna", "x" * 1_000, "\u0646\u200c\u0627"],
)
def test_every_other_id_is_kept_as_it_is(memory: Recollect, user: str) -> None:
    assert memory.get(memory.remember("I like tea.", user=user).id).user == user
    assert memory.count(user=user) == 1


def test_an_endless_id_is_refused(memory: Recollect) -> None:
    with pytest.raises(InvalidField, match="1,000,000 characters"):
        memory.recall("tea", user="x" * 1_000_000)
