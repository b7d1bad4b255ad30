"""Users of one assistant: what one of them said, and what was drawn from it, reaches nobody else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

import recollect
from recollect.app import Recollect
from recollect.core.errors import EntityNotFound, InvalidField, MemoryNotFound, SessionNotFound, UnknownChoice
from recollect.core.query import ANY_USER, Filter
from recollect.core.records import Memory
from recollect.core.scope import OPEN, Status
from recollect.dialogue.episodes import Message
from recollect.testing.fakes import WordEmbedder

USERS = (None, "ada", "bob", "eve")
NAMES = ("Oslo", "Paris", "Lagos", "Quito", "Kyoto", "Dakar")
SENTENCES = (
    "I live in {name}.",
    "I prefer tea over coffee since I was in {name}.",
    "My favorite city is {name}.",
    "I work at {name} Labs.",
    "I visited {name} yesterday.",
    "I've read {count} books so far.",
)


@pytest.fixture
def memory() -> Iterator[Recollect]:
    with recollect.open(":memory:", project="test") as opened:
        yield opened


def everything(memory: Recollect) -> tuple[Memory, ...]:
    every = Filter(user=ANY_USER, statuses=frozenset(Status))
    return memory.reader.list(every, limit=10_000).memories


def spoken_in(memory: Recollect) -> list[str]:
    return sorted({session.id for user in USERS for session in memory.sessions.list(user=user)})


@pytest.mark.parametrize("seed", range(12))
def test_nothing_crosses_between_users_in_any_world(seed: int) -> None:
    chance = random.Random(seed)
    embedder = WordEmbedder() if seed % 3 == 0 else None
    with recollect.open(":memory:", project="test", embedder=embedder) as memory:
        sessions = [f"s{number}" for number in range(3)]  # users share the names of their sessions
        for number in range(40):
            text = chance.choice(SENTENCES).format(name=chance.choice(NAMES), count=chance.randint(2, 30))
            message = Message(text, chance.choice(sessions), id=f"m{chance.randint(0, 60)}", user=chance.choice(USERS))
            memory.sessions.capture_all([message])
            if number % 9 == 8:
                memory.sessions.consolidate(chance.choice(spoken_in(memory)))
        for id in spoken_in(memory):
            memory.sessions.consolidate(id)
        memory.tend()
        known = everything(memory)
        for one in known:
            cited = memory.reader.get_many([link.target for link in memory.why(one.id).points_at if link.target])
            assert {other.user for other in cited.memories} <= {one.user}  # evidence, conflicts and successors
        for user in USERS:
            allowed = {None, user}
            mine = [one for one in known if one.user in allowed]
            assert {fact.user for fact in memory.sessions.facts(user=user, limit=1_000)} <= allowed
            for session in memory.sessions.list(user=user):
                said = memory.sessions.episodes(session.id, user=user)
                assert {one.user for one in said} <= allowed
                assert session.episodes == len(said) > 0
            for name in (*NAMES, "books"):
                assert {hit.memory.user for hit in memory.sessions.context(name, user=user).hits} <= allowed
                assert {hit.memory.user for hit in memory.recall(name, user=user).hits} <= allowed
                mentioned = any(name in one.content for one in mine)
                if not mentioned:
                    with pytest.raises(EntityNotFound):
                        memory.sessions.entity(name, user=user)
                    assert name not in {entity.name for entity in memory.sessions.entities(user=user, limit=1_000)}
            for entity in memory.sessions.entities(user=user, limit=1_000):
                profile = memory.sessions.entity(entity.id, user=user, limit=1_000)
                assert {memory.user for memory in profile.memories} <= allowed
                assert all(any(entity.id in one.entities for one in mine) for _ in profile.memories)


def test_the_same_message_of_two_users_is_kept_for_both(memory: Recollect) -> None:
    for user in ("ada", "bob"):
        assert memory.sessions.capture("I live in Oslo.", session="s", id="m1", user=user).episodes
    assert not memory.sessions.capture("I live in Oslo.", session="s", id="m1", user="bob").episodes
    memory.sessions.consolidate("s")
    assert len(memory.sessions.facts(user="ada")) == len(memory.sessions.facts(user="bob")) == 1
    assert memory.sessions.facts() == ()


def test_one_users_newer_fact_does_not_close_anothers(memory: Recollect) -> None:
    memory.sessions.capture("I live in Oslo.", session="s", user="ada")
    memory.sessions.capture("I live in Rome.", session="t")
    memory.sessions.capture("I live in Paris.", session="u", user="bob")
    for session in "stu":
        memory.sessions.consolidate(session)
    assert {fact.status in OPEN for fact in everything(memory)} == {True}
    memory.sessions.capture("I live in Quito.", session="v", user="ada")
    memory.sessions.consolidate("v")
    assert [fact.content for fact in memory.sessions.facts(user="ada")] == [
        "User said: I live in Quito.",
        "User said: I live in Rome.",
    ]


def test_a_session_of_another_user_does_not_exist(memory: Recollect) -> None:
    memory.sessions.capture("I live in Oslo.", session="s", user="ada")
    assert [one.id for one in memory.sessions.list(user="ada")] == ["s"]
    assert memory.sessions.list(user="bob") == memory.sessions.list() == []
    for user in ("bob", None):
        with pytest.raises(SessionNotFound):
            memory.sessions.episodes("s", user=user)


def test_an_assistants_tools_are_bound_to_its_user(memory: Recollect) -> None:
    ada, bob = ({tool.name: tool for tool in memory.sessions.tools(user=user)} for user in ("ada", "bob"))
    id = ada["remember_fact"](content="Ada Lovelace keeps a heron called Argo.")["id"]
    assert ada["search_memory"](query="heron")["ids"] == [id]
    assert memory.get(id).access_count == 1  # an agent asked: it counts
    assert bob["search_memory"](query="heron")["ids"] == []
    assert bob["memory_stats"]()["kinds"] == {}
    for name, arguments in {"confirm_fact": {}, "correct_fact": {"content": "Bob keeps it."}}.items():
        with pytest.raises(MemoryNotFound):
            bob[name](id=id, **arguments)
    assert ada["confirm_fact"](id=id)["verified"] is False


def test_a_consolidating_agent_cannot_mix_users(memory: Recollect) -> None:
    mine = memory.sessions.capture("I live in Oslo.", session="s", user="ada").episodes[0]
    theirs = memory.sessions.capture("I live in Rome.", session="s", user="bob").episodes[0]
    tools = {tool.name: tool for tool in memory.sessions.consolidator_tools()}
    with pytest.raises(InvalidField, match="one user"):
        tools["save_facts_batch"](session="s", facts=[{"content": "They moved.", "episodes": [mine, theirs]}])
    told = [{"content": "Lives in Oslo.", "episodes": [mine]}, {"content": "Lives in Rome.", "episodes": [theirs]}]
    one, other = tools["save_facts_batch"](session="s", facts=told)["added"]
    assert [memory.get(id).user for id in (one, other)] == ["ada", "bob"]
    with pytest.raises(InvalidField, match="another user"):
        tools["resolve_conflict"](old=one, new=other)


def test_a_users_tools_do_not_change_what_belongs_to_everybody(memory: Recollect) -> None:
    shared = memory.remember("The office is in Berlin.", kind="fact", confidence=0.6).memory
    ada = {tool.name: tool for tool in memory.sessions.tools(user="ada")}
    assert ada["search_memory"](query="office")["ids"] == [shared.id]
    known = memory.get(shared.id)
    for name, arguments in {"confirm_fact": {}, "correct_fact": {"content": "Ada's office is in Paris."}}.items():
        with pytest.raises(InvalidField, match="belongs to everybody"):
            ada[name](id=shared.id, **arguments)
    assert everything(memory) == (known,)
    owner = {tool.name: tool for tool in memory.sessions.tools()}
    assert owner["confirm_fact"](id=shared.id)["verified"] is False
    assert memory.confirm(shared.id).verified


@pytest.mark.parametrize("user", [ANY_USER, f" {ANY_USER} ", "", "  "])
def test_everybody_and_nobody_are_no_users_of_the_room(memory: Recollect, user: str) -> None:
    memory.sessions.capture("I live in Oslo.", session="s", user="ada")
    sessions = memory.sessions
    for call in (
        lambda: sessions.capture("I live in Rome.", session="s", user=user),
        lambda: sessions.capture_all([Message("I live in Rome.", "s", user=user)]),
        lambda: sessions.list(user=user),
        lambda: sessions.get("s", user=user),
        lambda: sessions.episodes("s", user=user),
        lambda: sessions.facts(user=user),
        lambda: sessions.context("Oslo", user=user),
        lambda: sessions.entities(user=user),
        lambda: sessions.entity("Oslo", user=user),
        lambda: sessions.tools(user=user),
    ):
        with pytest.raises(InvalidField, match="user"):
            call()
    assert len(everything(memory)) == 1


def test_a_users_message_is_kept_once(memory: Recollect) -> None:
    memory.sessions.capture("I live in Oslo.", session="s", id="m1", user="ada")
    assert not memory.sessions.capture("I live in Oslo.", session="s", id="m1", user="ada").episodes
    memory.sessions.consolidate("s")
    assert [one.id for one in memory.sessions.list(user="ada")] == ["s"]
    assert len(memory.sessions.episodes("s", user="ada")) == len(memory.sessions.facts(user="ada")) == 1
    assert memory.sessions.entity("Oslo", user="ada").memories
    tools = {tool.name: tool for tool in memory.sessions.tools(user="ada")}
    assert tools["memory_stats"]()["kinds"] == {"fact": 1, "episode": 1}


def test_facts_are_asked_for_with_the_checks_of_recall(memory: Recollect) -> None:
    memory.sessions.capture("I live in Oslo.", session="s", user="ada")
    memory.sessions.consolidate("s")
    with pytest.raises(UnknownChoice):
        memory.sessions.facts(filter=Filter(kinds="factt"), user="ada")
    with pytest.raises(InvalidField, match="the filter names 'bob'"):
        memory.sessions.facts(filter=Filter(user="bob"), user="ada")
    assert memory.sessions.facts(filter=Filter(kinds="decision"), user="ada") == ()
    assert len(memory.sessions.facts(filter=Filter(kinds={"decision", "fact"}), user="ada")) == 1


def test_a_session_does_not_tell_when_another_user_spoke(memory: Recollect) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    memory.sessions.capture("I live in Oslo.", session="s", user="ada", at=early)
    memory.sessions.capture("I live in Rome.", session="t", user="ada", at=datetime(2026, 1, 2, tzinfo=UTC))
    memory.sessions.capture("I live in Paris.", session="s", user="bob", at=late)
    assert memory.sessions.get("s", user="ada").last_at == early
    assert memory.sessions.get("s", user="bob").last_at == late
    assert [session.id for session in memory.sessions.list(user="ada")] == ["t", "s"]
