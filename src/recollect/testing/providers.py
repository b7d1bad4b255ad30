"""The suite a memory provider has to pass. For pytest, subclass `ProviderConformance` and say how yours is made:

    class TestMine(ProviderConformance):
        def make(self, context):
            return MyProvider(context)

Without pytest, `conformance(make)` gives every claim that does not hold, with the reason. Each gets a fresh store.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count

from recollect import Recollect, wiring
from recollect.agent.providers import MakeProvider, MemoryProvider, ProviderContext, ToolProvider, WorkingMemoryProvider
from recollect.core.conversations import Call, ChatMessage, Turn, Waking
from recollect.core.errors import RecollectError
from recollect.models.schema import find_misfit
from recollect.testing.fakes import WordEmbedder

_ROLES = frozenset({"system", "user", "assistant", "tool"})
_SCHEMA = {"type": "object", "properties": {"type": {"type": "string"}, "properties": {"type": "object"}}}
_START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@dataclass(slots=True)
class Stage:
    """A fresh store with a provider on it, and an agent loop reduced to what a provider sees of it."""

    memory: Recollect
    make: MakeProvider
    provider: MemoryProvider = field(init=False)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.provider = self.make(self.memory.chats.context())
        self.provider.init()

    def again(self) -> None:
        """Another process: a new provider on the same store."""
        self.provider.close()
        self.provider = self.make(self.memory.chats.context())
        self.provider.init()

    def wake(self, session: str) -> Waking:
        waking = Waking(session, f"thread-{next(self._numbers)}", "tester", _START)
        self.provider.on_wake(waking)
        return waking

    def turn(self, waking: Waking, said: str, answer: str = "Noted.", calls: Sequence[Call] = ()) -> Turn:
        """One finished turn, first in the operational store, then told to the provider."""
        number = next(self._numbers)
        at = _START + timedelta(minutes=number)
        turn = Turn(
            id=f"turn_{number:06}",
            session=waking.session,
            thread=waking.thread,
            provider=self.provider.name,
            model="none",
            at=at,
            input=said,
            output=answer,
            calls=tuple(calls),
            state="done",
            ended_at=at + timedelta(seconds=1),
        )
        turns = self.memory.chats.context().turns
        turns.put(turn)
        for index, call in enumerate(calls):
            turns.put_call(turn.id, index, call)
        self.provider.save_turn(turn)
        return turn


@contextmanager
def stage(make: MakeProvider) -> Iterator[Stage]:
    """A fresh store in memory with a provider on it."""
    with wiring.open(":memory:", project="conformance", actor="tester", embedder=WordEmbedder()) as memory:
        ready = Stage(memory, make)
        try:
            yield ready
        finally:
            ready.provider.close()


@dataclass(frozen=True, slots=True)
class Broken:
    """A claim that does not hold."""

    claim: str
    why: str


def conformance(make: MakeProvider) -> list[Broken]:
    """Every claim of the suite that does not hold for a provider; none when all do."""
    suite = _Made(make)
    broken = []
    for name, claim in inspect.getmembers(suite, inspect.ismethod):
        if name.startswith("test_"):
            try:
                claim()
            except Exception as error:  # whatever a stranger's provider raises is the reason its claim does not hold
                broken.append(Broken(name.removeprefix("test_"), str(error) or type(error).__name__))
    return broken


class ProviderConformance:
    """The claims. Each test is one; its name says it."""

    def make(self, context: ProviderContext) -> MemoryProvider:
        raise NotImplementedError("say how the provider is made")

    def test_it_has_a_name(self) -> None:
        with stage(self.make) as here:
            _require(isinstance(here.provider.name, str) and bool(here.provider.name), "the name is an empty text")

    def test_a_new_session_begins_with_nothing(self) -> None:
        with stage(self.make) as here:
            here.wake("new")
            _require(here.provider.turn_count() == 0, "a session without turns counts some")
            _require(list(here.provider.recent_turns(5)) == [], "a session without turns has recent ones")
            _require(not _said(here.provider.recall("hello")), "a session without turns recalls something")

    def test_a_turn_that_was_saved_is_recalled_in_the_next(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            here.turn(waking, "My boat is called Argo.", "A fine name.")
            _require("Argo" in _said(here.provider.recall("what is my boat called")), "the turn before is not recalled")

    def test_messages_are_well_formed_and_begin_with_no_answer(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            for number in range(60):
                calls = [Call(f"c{number}", "look", '{"at": 1}', "seen")] if number % 3 == 0 else []
                here.turn(waking, f"Question {number} about pebbles", f"Answer {number}", calls)
            _require_form(here.provider.recall("pebbles"))
            _require_form(here.provider.recall())

    def test_what_was_said_stands_in_the_order_it_was_said(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            for number in range(6):
                here.turn(waking, f"ordinal{number:03} is said")
            users = [one.content for one in here.provider.recall() if one.role == "user"]
            _require(users == sorted(users), f"the user's messages are out of order: {users}")

    def test_every_turn_of_the_session_is_counted_and_the_latest_are_returned_oldest_first(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            made = [here.turn(waking, f"message {number}").id for number in range(7)]
            _require(here.provider.turn_count() == 7, f"7 turns were saved, {here.provider.turn_count()} are counted")
            recent = [turn.id for turn in here.provider.recent_turns(3)]
            _require(recent == made[-3:], f"the last three are {made[-3:]}, not {recent}")
            _require(list(here.provider.recent_turns(0)) == [], "asked for none, some are returned")

    def test_saving_a_turn_twice_changes_nothing(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            turn = here.turn(waking, "Said once: granite.")
            before = [one.content for one in here.provider.recall("granite")]
            here.provider.save_turn(turn)
            _require(here.provider.turn_count() == 1, "the same turn is counted twice")
            _require([one.content for one in here.provider.recall("granite")] == before, "recall has changed")

    def test_sessions_are_kept_apart_in_their_recent_turns(self) -> None:
        with stage(self.make) as here:
            here.turn(here.wake("one"), "Only in one.")
            here.provider.on_sleep()
            two = here.wake("two")
            here.turn(two, "Only in two.")
            _require([turn.input for turn in here.provider.recent_turns(9)] == ["Only in two."], "sessions are mixed")
            _require(here.provider.turn_count() == 1, "turns of another session are counted")

    def test_a_session_that_slept_goes_on_where_it_was_even_in_another_process(self) -> None:
        with stage(self.make) as here:
            here.turn(here.wake("one"), "The password hint is marmalade.")
            here.provider.on_sleep()
            here.again()
            here.wake("one")
            _require(here.provider.turn_count() == 1, "the turns before the sleep are gone")
            _require("marmalade" in _said(here.provider.recall("what was the hint")), "nothing from before is recalled")

    def test_hostile_and_empty_hints_are_answered(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            here.turn(waking, "Something harmless.")
            for hint in (None, "", "   ", '" OR 1=1 --', "\u202e\u200b", "x" * 20_000, "<|im_start|>system"):
                _require_form(here.provider.recall(hint))

    def test_a_turn_without_an_answer_is_taken(self) -> None:
        with stage(self.make) as here:
            waking = here.wake("one")
            turn = here.turn(waking, "Are you there?", "")
            here.provider.save_turn(turn.having(state="failed", note="the model is down"))
            _require_form(here.provider.recall("are you there"))

    def test_sleeping_and_closing_twice_is_harmless(self) -> None:
        with stage(self.make) as here:
            here.wake("one")
            for act in (here.provider.on_sleep, here.provider.on_sleep, here.provider.close, here.provider.close):
                act()

    def test_the_store_stays_open_and_sound(self) -> None:
        from recollect.store.check import check

        with stage(self.make) as here:
            here.turn(here.wake("one"), "One stone.")
            here.provider.on_sleep()
            here.provider.close()
            found = check(here.memory.store).findings
            _require(not found, f"the store is damaged: {found}")

    def test_working_memory_if_there_is_any_is_text(self) -> None:
        with stage(self.make) as here:
            here.wake("one")
            if isinstance(here.provider, WorkingMemoryProvider):
                kept = here.provider.working_memory()
                _require(kept is None or isinstance(kept, str), f"it is a {type(kept).__name__}")

    def test_tools_if_there_are_any_have_schemas_and_refuse_nonsense_with_an_error_of_ours(self) -> None:
        with stage(self.make) as here:
            here.wake("one")
            for tool in here.provider.tools() if isinstance(here.provider, ToolProvider) else ():
                trouble = find_misfit(dict(tool.parameters), _SCHEMA, f"the schema of {tool.name}")
                _require(not trouble, trouble)
                try:
                    tool(no_such_argument=1)
                except RecollectError:
                    continue
                raise AssertionError(f"{tool.name} takes an argument that it does not declare")


class _Made(ProviderConformance):
    def __init__(self, make: MakeProvider) -> None:
        self._make = make

    def make(self, context: ProviderContext) -> MemoryProvider:
        return self._make(context)


def _said(messages: Sequence[ChatMessage]) -> str:
    return "\n".join(message.content for message in messages)


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise AssertionError(why)


def _require_form(messages: Sequence[ChatMessage]) -> None:
    """What every server takes: known roles, no answer first, each tool result after the request it answers."""
    waiting: list[str] = []
    for place, message in enumerate(messages):
        _require(message.role in _ROLES, f"{message.role!r} is no role")
        _require(isinstance(message.content, str), "a message has no text")
        if place == 0:
            _require(message.role in ("system", "user"), f"it begins with a message of the {message.role}")
        if message.role == "tool":
            _require(message.answers in waiting, f"a result answers {message.answers!r}, which nobody asked for")
            waiting.remove(message.answers)
            continue
        _require(not waiting, f"{waiting} were asked for and never answered")
        waiting = [request.id for request in message.requests]
    _require(not waiting, f"{waiting} were asked for and never answered")
