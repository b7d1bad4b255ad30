"""Providers: the three that ship keep every promise, a broken one is caught, and what makes each of them what it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import recollect
from recollect.agent.providers import MemoryProvider, ProviderContext
from recollect.agent.providers.shipped import (
    RecencyProvider,
    RecollectProvider,
    SemanticProvider,
    replay_turns,
    take_last,
    turn_messages,
)
from recollect.agent.providers.working import MAX_ITEM_CHARS, MAX_ITEMS, WorkingMemoryEditor
from recollect.app import Recollect
from recollect.core.conversations import Call, ChatMessage, Turn, Waking
from recollect.core.errors import InvalidField, PluginBroken, UnknownChoice
from recollect.registry import provider, providers
from recollect.testing.fakes import WordEmbedder
from recollect.testing.providers import ProviderConformance, Stage, conformance, stage


class TestRecency(ProviderConformance):
    def make(self, context: ProviderContext) -> MemoryProvider:
        return RecencyProvider(context)


class TestSemantic(ProviderConformance):
    def make(self, context: ProviderContext) -> MemoryProvider:
        return SemanticProvider(context)


class TestSemanticWithoutRecall(ProviderConformance):
    def make(self, context: ProviderContext) -> MemoryProvider:
        return SemanticProvider(replace(context, options={"semantic_recall": "off"}))


class TestRecollect(ProviderConformance):
    def make(self, context: ProviderContext) -> MemoryProvider:
        return RecollectProvider(context)


class Forgetful(RecencyProvider):
    """Begins in the middle of a turn, forgets the order, mixes sessions and takes any argument."""

    name = ""

    def recall(self, hint: str | None = None) -> Sequence[ChatMessage]:
        if hint is not None and len(hint) > 1_000:
            raise KeyError("too long")
        return replay_turns(self.recent_turns(3))[1:]

    def recent_turns(self, limit: int) -> Sequence[Turn]:
        return self._context.turns.recent(limit=limit)[::-1]


def test_a_broken_provider_is_caught_claim_by_claim() -> None:
    broken = {one.claim: one.why for one in conformance(Forgetful)}
    assert set(broken) >= {
        "it_has_a_name",
        "messages_are_well_formed_and_begin_with_no_answer",
        "what_was_said_stands_in_the_order_it_was_said",
        "every_turn_of_the_session_is_counted_and_the_latest_are_returned_oldest_first",
        "sessions_are_kept_apart_in_their_recent_turns",
        "hostile_and_empty_hints_are_answered",
    }
    assert "assistant" in broken["messages_are_well_formed_and_begin_with_no_answer"]
    assert conformance(RecencyProvider) == []


# --- registry -------------------------------------------------------------------------------------------------------


def test_an_unknown_provider_lists_the_available_ones(memory: Recollect) -> None:
    with pytest.raises(UnknownChoice) as caught:
        memory.chats.open(memory="elephant", session="x", model="http://127.0.0.1:9/v1#m")
    assert "recency, recollect, semantic" in caught.value.hint


def test_an_installed_package_can_add_a_provider_and_a_broken_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from recollect.agent.providers.shipped import RecencyProvider\n"
        "class Mine(RecencyProvider):\n    name = 'mine'\n"
        "def broken(context):\n    raise OSError('no elephants')\n"
    )
    info = tmp_path / "mine-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[recollect.providers]\nmine = mine:Mine\nbad = mine:broken\n")
    program = (
        "import recollect\n"
        "from recollect.registry import provider, providers\n"
        "memory = recollect.open(':memory:')\n"
        "around = memory.chats.context()\n"
        "print(provider('mine', around).name, [(one.name, one.origin) for one in providers()][-2:])\n"
        "try:\n    provider('bad', around)\n"
        "except Exception as error:\n    print(type(error).__name__, error)\n"
    )
    source = str(Path(recollect.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": f"{source}:{tmp_path}", "HOME": str(tmp_path)},
    )
    first, second = done.stdout.splitlines()
    assert first == "mine [('bad', 'mine'), ('mine', 'mine')]"
    assert second.startswith(PluginBroken.__name__)
    assert "no elephants" in second


def test_shipped_providers_are_listed_with_what_they_do() -> None:
    assert [provider.name for provider in providers()][:3] == ["recency", "semantic", "recollect"]
    assert all(provider.does for provider in providers())


def test_a_provider_is_made_by_its_name(memory: Recollect) -> None:
    for name in ("recency", "semantic", "recollect"):
        assert provider(name, memory.chats.context()).name == name


# --- replay ---------------------------------------------------------------------------------------------------------


def turn(**fields: object) -> Turn:
    from datetime import UTC, datetime

    at = datetime(2026, 3, 1, tzinfo=UTC)
    plain = Turn("t", "s", "w", "recency", "m", at, "Where?", "Here.", state="done")
    return plain.having(**fields)


def test_tool_calls_are_replayed_step_by_step() -> None:
    calls = (
        Call("a", "look", "{}", "1", said="Let me look."),
        Call("b", "look", "{}", "2"),
        Call("c", "go", "{}", "3", step=1),
    )
    roles = [(message.role, message.content, len(message.requests)) for message in turn_messages(turn(calls=calls))]
    assert roles == [
        ("user", "Where?", 0),
        ("assistant", "Let me look.", 2),
        ("tool", "1", 0),
        ("tool", "2", 0),
        ("assistant", "", 1),
        ("tool", "3", 0),
        ("assistant", "Here.", 0),
    ]


def test_a_turn_without_an_answer_says_so_in_the_assistants_place() -> None:
    said = turn_messages(turn(output="", state="failed", note="the model is down"))
    assert [(one.role, one.content) for one in said][1] == ("assistant", "(no answer: the model is down)")
    assert "broke off" in turn_messages(turn(output="He", state="interrupted"))[1].content


def test_a_long_result_is_cut_in_replay() -> None:
    said = turn_messages(turn(calls=(Call("a", "look", "{}", "x" * 9_000),)))
    assert len(said[2].content) == 4_000
    assert said[2].content.endswith("[…]")


def test_a_window_never_begins_with_half_a_turn() -> None:
    found = replay_turns([turn(calls=(Call("a", "look", "{}", "1"),)), turn()])
    assert [one.role for one in take_last(found, 4)] == ["user", "assistant"]
    assert take_last(found, 0) == []


# --- what makes each of them what it is -----------------------------------------------------------------------------


def users(found: Sequence[ChatMessage]) -> list[str]:
    return [one.content for one in found if one.role == "user"]


def test_recency_gives_the_last_twenty_turns_and_stores_nothing() -> None:
    with stage(RecencyProvider) as here:
        waking = here.wake("one")
        for number in range(30):
            here.turn(waking, f"message {number}")
        assert users(here.provider.recall("anything")) == [f"message {number}" for number in range(10, 30)]
        assert here.memory.count() == 0


def chatter(here: Stage, waking: Waking, first: str) -> None:
    """A first turn worth remembering, two around it, and enough small talk to push it out of the window."""
    here.turn(waking, "Let us talk about boats.", "Gladly.")
    here.turn(waking, first, "A fine name.")
    here.turn(waking, "She was built in Bergen.", "Lovely.")
    for number in range(30):
        here.turn(waking, f"Pebble {number} is grey.", "Indeed.")


def test_semantic_finds_what_left_the_window_with_two_before_and_one_after() -> None:
    with stage(SemanticProvider) as here:
        waking = here.wake("one")
        chatter(here, waking, "My boat is called Argo.")
        found = here.provider.recall("what is my boat called?")
        assert len(found) == 41, "forty messages and one block"
        block = found[-1].content
        assert block.count("<recollect-memory") == 1
        assert "My boat is called Argo." in block
        assert "Gladly." in block, "two before"
        assert "A fine name." in block, "one after"
        assert "Pebble 29" not in block, "what is in the window is not repeated"
        assert block.index("Gladly.") < block.index("Argo") < block.index("A fine name.")
        assert "Argo" not in "".join(one.content for one in here.provider.recall())


def test_what_semantic_hands_over_counts_as_used() -> None:
    with stage(SemanticProvider) as here:
        chatter(here, here.wake("one"), "My boat is called Argo.")
        here.provider.recall("what is my boat called?")
        used = [memory.content for memory in here.memory.list(limit=100).memories if memory.access_count]
        assert "My boat is called Argo." in used


def test_semantic_stays_within_the_session_unless_told_to_reach_further() -> None:
    def reaching(context: ProviderContext) -> MemoryProvider:
        return SemanticProvider(replace(context, options={"reach": "all"}))

    for make, finds in ((SemanticProvider, False), (reaching, True)):
        with stage(make) as here:
            here.turn(here.wake("one"), "My boat is called Argo.")
            here.provider.on_sleep()
            here.wake("two")
            assert ("Argo" in "".join(users(here.provider.recall("what is my boat called?")))) is finds


def test_each_waking_is_a_thread_and_a_session_reads_all_of_its_own() -> None:
    with stage(SemanticProvider) as here:
        first = here.wake("one")
        chatter(here, first, "My boat is called Argo.")
        here.provider.on_sleep()
        second = here.wake("one")
        assert second.thread != first.thread
        here.turn(second, "Good morning.")
        sessions = {one.id for one in here.memory.store.sessions.page(limit=9)}
        assert sessions == {first.thread, second.thread}
        assert "Argo" in here.provider.recall("what is my boat called?")[-1].content


def test_with_semantic_recall_off_no_model_is_asked_for_anything() -> None:
    class Untouchable(WordEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> object:
            raise AssertionError("a model was loaded")

    with recollect.open(":memory:", embedder=Untouchable()) as memory:
        here = Stage(memory, lambda context: SemanticProvider(replace(context, options={"semantic_recall": "off"})))
        waking = here.wake("one")
        chatter(here, waking, "My boat is called Argo.")
        assert all("<recollect-memory" not in one.content for one in here.provider.recall("boat"))
        assert memory.store.vectors.spaces() == []


def test_an_option_with_an_unknown_value_is_refused(memory: Recollect) -> None:
    with pytest.raises(UnknownChoice, match="semantic_recall"):
        SemanticProvider(memory.chats.context({"semantic_recall": "perhaps"}))


def test_recollect_brings_facts_of_other_sessions_and_what_was_taught(memory: Recollect) -> None:
    here = Stage(memory, RecollectProvider)
    memory.remember("Run make gen before the tests.", kind="gotcha")
    here.turn(here.wake("one"), "My boat is called Argo.")
    here.provider.on_sleep()
    assert memory.store.sessions.tally() == {"queued": 1}
    memory.tend(job="consolidate")
    here.wake("two")
    block = here.provider.recall("what is my boat called, and what is to be done before the tests?")[-1].content
    assert "Argo" in block
    assert "make gen" in block
    assert block.count("<recollect-memory") == 2
    assert memory.recall("make gen", track=False).hits[0].memory.access_count == 1


def test_recollect_briefs_nobody_on_what_small_talk_hardly_touches(memory: Recollect) -> None:
    for number in range(20):
        memory.remember(
            f"The build of module{number} needs a flag called number{number} in its settings.", kind="gotcha"
        )
    here = Stage(memory, RecollectProvider)
    here.wake("one")
    asked = here.provider.recall("which flag does the build of module7 need?")
    assert "module7" in asked[-1].content
    told = here.provider.recall("my sister said that the weather in Rome was nice, so she called her friend there")
    assert not told


def test_recollect_keeps_what_was_said_as_evidence_but_no_results_of_tools(memory: Recollect) -> None:
    here = Stage(memory, RecollectProvider)
    here.turn(here.wake("one"), "Look it up.", "Done.", [Call("a", "look", "{}", "a secret result")])
    assert [episode.content for episode in memory.sessions.episodes("one")] == ["Look it up.", "Done."]


# --- working memory -------------------------------------------------------------------------------------------------


def test_working_memory_is_kept_by_section_and_lets_go(memory: Recollect) -> None:
    working = WorkingMemoryEditor(memory.chats.context())
    assert working.text() is None
    working.update("goals", add=["Ship the boat", "ship  the BOAT", "Paint it"])
    working.update("contacts", add=["Ada, ada@example.org"])
    working.update("goals", remove=["paint it"])
    assert working.text() == "Goals:\n- ship the BOAT\nContacts:\n- Ada, ada@example.org"


def test_working_memory_is_bounded_and_holds_no_secret(memory: Recollect) -> None:
    working = WorkingMemoryEditor(memory.chats.context())
    working.update("facts", add=[f"number {n} " + "x" * 900 for n in range(40)])
    kept = memory.store.working.sections()["facts"]
    assert len(kept) == MAX_ITEMS
    assert all(len(item) <= MAX_ITEM_CHARS for item in kept)
    working.update("projects", add=["the key is ghp_" + "x7K2m9Q4" * 4 + "Zr81"])
    assert "x7K2m9Q4" not in (working.text() or "")


def test_a_section_that_is_none_is_refused(memory: Recollect) -> None:
    with pytest.raises(UnknownChoice, match="moods"):
        WorkingMemoryEditor(memory.chats.context()).update("moods", add=["grim"])
    with pytest.raises(InvalidField):
        WorkingMemoryEditor(memory.chats.context()).tool()(section="moods")
