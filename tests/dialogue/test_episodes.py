"""The hot path: what is said is kept, once, whole, without what we injected."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from conftest import HandClock
from recollect.app import Recollect
from recollect.core.errors import InvalidField, SessionNotFound
from recollect.dialogue.episodes import EMPTY, FORGOTTEN, INJECTED, KNOWN, Message
from recollect.store.check import check
from recollect.testing.fakes import ScriptedModel, WordEmbedder

NOON = datetime(2024, 5, 1, 12, 0, tzinfo=UTC)


def texts(memory: Recollect, session: str = "s") -> list[str]:
    return [episode.content for episode in memory.sessions.episodes(session)]


def test_every_message_is_kept_with_its_session_role_and_time(memory: Recollect) -> None:
    memory.sessions.capture("Where is the key?", session="s", at=NOON)
    memory.sessions.capture("Under the mat.", session="s", role="assistant", at=NOON + timedelta(seconds=5))
    kept = memory.sessions.episodes("s")
    assert [(one.kind, one.source_role, one.content, one.event_at) for one in kept] == [
        ("episode", "user", "Where is the key?", NOON),
        ("episode", "assistant", "Under the mat.", NOON + timedelta(seconds=5)),
    ]


def test_capturing_asks_no_model_and_embeds_nothing() -> None:
    model, embedder = ScriptedModel(), WordEmbedder()
    with recollect.open(":memory:", model=model, embedder=embedder) as memory:
        for n in range(5):
            memory.sessions.capture(f"I bought boat number {n}.", session=f"s{n}")
    assert (model.asked, embedder.embedded) == ([], 0)


def test_a_message_told_twice_under_one_id_is_kept_once(memory: Recollect) -> None:
    first = memory.sessions.capture("Hello there.", session="s", id="m1")
    again = memory.sessions.capture("Hello there.", session="s", id="m1")
    assert len(first.episodes) == 1
    assert (again.episodes, again.left_out) == ((), KNOWN)
    assert texts(memory) == ["Hello there."]


def test_the_same_words_said_twice_are_two_episodes(memory: Recollect) -> None:
    for _ in range(3):
        memory.sessions.capture("ok", session="s")
    assert texts(memory) == ["ok", "ok", "ok"]


def test_messages_out_of_order_are_read_back_by_their_time(memory: Recollect) -> None:
    for minutes in (3, 1, 2):
        memory.sessions.capture(f"minute {minutes}", session="s", at=NOON + timedelta(minutes=minutes))
    assert texts(memory) == ["minute 1", "minute 2", "minute 3"]


def test_a_clock_that_jumps_loses_nothing(memory: Recollect, clock: HandClock) -> None:
    memory.sessions.capture("before the jump", session="s")
    clock.pass_(days=-400)
    memory.sessions.capture("after the jump back", session="s")
    clock.pass_(days=9000)
    memory.sessions.capture("far ahead", session="s")
    assert texts(memory) == ["after the jump back", "before the jump", "far ahead"]
    memory.tend()
    assert check(memory.store).ok


@pytest.mark.parametrize("nothing", ["", "   \n\t", "\u200b\u200e"])
def test_an_empty_message_is_left_out_and_says_so(memory: Recollect, nothing: str) -> None:
    assert memory.sessions.capture(nothing, session="s").left_out == EMPTY
    assert memory.sessions.list() == []


def test_a_message_of_a_megabyte_is_kept_whole(memory: Recollect) -> None:
    said = " ".join(f"word{n}" for n in range(120_000))
    assert len(said) > 2**20
    captured = memory.sessions.capture(said, session="s", id="long")
    assert len(captured.episodes) > 1
    assert " ".join(texts(memory)) == said
    assert memory.sessions.capture(said, session="s", id="long").left_out == KNOWN


@pytest.mark.parametrize(
    "said", ["私は京都に住んでいます。", "أنا أعيش في القاهرة", "Я живу в Москве 🏠", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 ͏ zalgo̷"]
)
def test_other_scripts_are_kept_as_they_are(memory: Recollect, said: str) -> None:
    memory.sessions.capture(said, session="s")
    assert memory.recall(said, track=False).hits[0].memory.session == "s"


@pytest.mark.parametrize(("field", "value"), [("session", ""), ("session", "x" * 300), ("role", " "), ("session", 7)])
def test_a_session_or_role_without_a_name_is_refused(memory: Recollect, field: str, value: str) -> None:
    with pytest.raises(InvalidField, match=field):
        memory.sessions.capture("x", **{"session": "s", field: value})
    assert memory.count() == 0


# --- injected memory ------------------------------------------------------------------------------------------------


@pytest.fixture
def injected(memory: Recollect) -> str:
    memory.remember("The reactor is painted purple.", kind="fact")
    return memory.sessions.context("reactor", session="other").text


def test_what_we_injected_is_cut_out_of_what_is_captured(memory: Recollect, injected: str) -> None:
    memory.sessions.capture(f"{injected}\nPlease order paint.", session="s")
    assert texts(memory) == ["Please order paint."]


def test_a_message_of_nothing_but_injected_memory_is_left_out(memory: Recollect, injected: str) -> None:
    assert memory.sessions.capture(injected, session="s").left_out == INJECTED


def test_an_injected_block_whose_end_was_cut_off_is_recognised(memory: Recollect, injected: str) -> None:
    cut = injected[: injected.index("[Memory #")]
    assert memory.sessions.capture(cut, session="s").left_out == INJECTED


def test_a_tool_answer_is_recognised_inside_json(memory: Recollect, injected: str) -> None:
    import json

    tool = memory.sessions.tools()[0]
    answer = json.dumps(tool(query="reactor"))
    assert "purple" in answer
    memory.sessions.capture(answer, session="s", role="tool")
    assert not any("purple" in text for text in texts(memory))


def test_text_that_only_looks_like_a_fence_is_kept(memory: Recollect) -> None:
    said = "<recollect-memory 0123456789abcdef> is the tag I saw, what is it?"
    memory.sessions.capture(said, session="s")
    assert texts(memory) == [said]


def test_replaying_recalled_text_never_adds_a_copy(memory: Recollect) -> None:
    """An agent that is fed its memory in every turn, and repeats it, must not multiply it."""
    memory.sessions.capture("I live in Antwerp and my dog is called Rex.", session="s0")
    memory.tend(job="consolidate")
    before = len(memory.sessions.facts(limit=1000))
    for n in range(1, 15):
        block = memory.sessions.context("Where do I live, and my dog?", session=f"s{n}").text
        memory.sessions.capture(f"{block}\nTell me about day {n}.", session=f"s{n}")
        memory.sessions.capture(f"As I remember:\n{block}", session=f"s{n}", role="assistant")
        memory.sessions.capture("I live in Antwerp and my dog is called Rex.", session=f"s{n}")
        memory.tend(job="consolidate")
    assert len(memory.sessions.facts(limit=1000)) == before
    assert not any("recollect-memory" in memory.content for memory in memory.list(limit=1000).memories)


# --- forgetting and secrets -----------------------------------------------------------------------------------------


def test_a_forgotten_message_does_not_come_back_and_the_rest_of_its_batch_does(memory: Recollect) -> None:
    id = memory.sessions.capture("The vault code is under the tiger.", session="s", id="a").episodes[0]
    memory.forget(id)
    told = [Message("The vault code is under the tiger.", "s", id="a"), Message("Good morning.", "s", id="b")]
    assert [one.left_out for one in memory.sessions.capture_all(told)] == [FORGOTTEN, ""]
    assert texts(memory) == ["Good morning."]


def test_a_rejected_fact_may_still_be_said(memory: Recollect) -> None:
    fact = memory.remember("I own a boat.", kind="fact")
    memory.reject(fact.id)
    assert memory.sessions.capture("I own a boat.", session="s").episodes


def test_a_secret_is_redacted_in_the_episode_and_never_becomes_an_entity(memory: Recollect) -> None:
    captured = memory.sessions.capture(
        "Clone https://ann:ghp_R7xq2LmVb8sKd4TnYc6WpZf3JhGa5Ee1Uo0i@github.com/a/b please", session="s"
    )
    assert captured.redacted
    everything = " ".join([*texts(memory), *(entity.name for entity in memory.sessions.entities())])
    assert "ghp_R7xq2" not in everything.replace("ghp_[", "")


def test_captured_messages_survive_reopening(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "m.db") as memory:
        memory.sessions.capture("Mercury is near.", session="s")
    with recollect.open(tmp_path / "m.db") as memory:
        assert texts(memory) == ["Mercury is near."]
        assert check(memory.store).ok


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Recollect, Recollect]]:
    with recollect.open(tmp_path / "m.db") as one, recollect.open(tmp_path / "m.db") as other:
        yield one, other


def test_two_processes_that_hear_the_same_message_keep_it_once(two: tuple[Recollect, Recollect]) -> None:
    for memory in two:
        memory.sessions.capture("Venus is nearer.", session="s", id="m")
    assert texts(two[0]) == ["Venus is nearer."]


# --- sessions -------------------------------------------------------------------------------------------------------


def test_a_new_session_queues_the_open_ones_before_it(memory: Recollect) -> None:
    memory.sessions.capture("a", session="one")
    memory.sessions.capture("b", session="one")
    assert memory.sessions.get("one").state == "open"
    memory.sessions.capture("c", session="two")
    assert (memory.sessions.get("one").state, memory.sessions.get("two").state) == ("queued", "open")


def test_a_late_message_reopens_a_consolidated_session(memory: Recollect) -> None:
    memory.sessions.capture("I live in Oslo.", session="s")
    memory.sessions.consolidate("s")
    assert memory.sessions.get("s").state == "consolidated"
    memory.sessions.capture("I prefer trains.", session="s")
    assert memory.sessions.get("s").state == "open"
    memory.sessions.consolidate("s")
    assert [fact.content for fact in memory.sessions.facts()] == [
        "User said: I prefer trains.",
        "User said: I live in Oslo.",
    ]


def test_a_session_begins_with_its_first_message_and_shows_its_last(memory: Recollect) -> None:
    with pytest.raises(SessionNotFound):
        memory.sessions.episodes("t")
    memory.sessions.capture("one", session="t")
    memory.sessions.capture("two", session="t", role="assistant")
    assert [episode.content for episode in memory.sessions.episodes("t", limit=1)] == ["two"]
    assert memory.sessions.consolidate("t")[0].finished


def test_a_message_dated_in_the_future_was_said_now_and_is_kept_once(memory: Recollect, clock: HandClock) -> None:
    future = datetime(9999, 12, 31, 10, tzinfo=UTC)
    memory.sessions.capture("I live in Oslo.", session="a", role="user", at=future)
    now = memory.list().memories[0].happened_at
    assert now.year < 2100
    clock.pass_(days=3)
    memory.sessions.capture("I live in Oslo.", session="a", role="user", at=future)
    assert len(memory.list()) == 1
    memory.sessions.consolidate("a")
    memory.sessions.capture("I live in Bergen now.", session="b", role="user", at=now + timedelta(days=1))
    memory.sessions.consolidate("b")
    assert [one.content for one in memory.list() if one.kind == "fact"] == ["User said: I live in Bergen now."]
