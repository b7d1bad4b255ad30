"""Conversations with a language model that remembers: `memory.chats`, and the loop of each chat.

Wake, then for each message recall, ask, call tools, answer, remember; then sleep.

A turn is in the operational store before anybody is asked, each call when it has returned, the answer before anything
else is done with it. Whatever happens in between (a model that is down, a budget that is spent, Ctrl-C, a provider
that raises) the turn stays and says so.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from recollect.agent.providers import MemoryProvider, ProviderContext, ProviderInfo, ToolProvider, WorkingMemoryProvider
from recollect.agent.providers.shipped import clip
from recollect.core.conversations import Call, ChatMessage, Request, ToolSpec, Turn, TurnState, Waking
from recollect.core.errors import (
    EmptyContent,
    InvalidField,
    ModelCannotChat,
    NoModel,
    NotFound,
    RecollectError,
    SessionNotFound,
)
from recollect.core.given_json import parse_given_json
from recollect.core.ids import whole_ms
from recollect.core.ports import Clock, Identity
from recollect.core.text import clean, require_storable
from recollect.dialogue.context import SESSION_NAME
from recollect.dialogue.tools import Tool, agent_tools
from recollect.models.port import ChatModel, Heard, Model, Reply
from recollect.privacy.fence import WORKING_LIMIT, fence_text
from recollect.privacy.scan import redact
from recollect.store.turns import Turns

MAX_STEPS = 8  # answers with tool calls in one turn; the next one has to do without tools
ANSWER_TOKENS = 2_000  # of one answer
MAX_RESULT_CHARS = 16_000  # characters of a tool's result that the model is shown
MAX_INPUT_CHARS = 400_000  # characters of one message: more is a document
SYSTEM = (Path(__file__).with_name("prompts") / "chat.txt").read_text(encoding="utf-8").strip()


@dataclass(frozen=True, slots=True)
class ChatSetup:
    """What a chat is made of."""

    turns: Turns
    provider: MemoryProvider
    model: Callable[[], ChatModel]
    clock: Clock
    identity: Identity
    session: str
    agent: str = "recollect"
    tools: Sequence[Tool] = ()
    system: str = SYSTEM


@dataclass(slots=True)
class _OpenTurn:
    """A turn in the making."""

    turn: Turn
    heard: list[str] = field(default_factory=list)  # of the answer that is coming in
    notes: list[str] = field(default_factory=list)


class Chat:
    """One waking of a session. Use it in a `with` block: leaving it puts the session to sleep."""

    def __init__(self, setup: ChatSetup) -> None:
        self._setup = setup
        self._turns = setup.turns
        self._provider = setup.provider
        self._nonce = os.urandom(8).hex()
        self._waking: Waking | None = None
        self.notes: list[str] = []  # troubles of the provider outside of a turn

    @property
    def session(self) -> str:
        return self._setup.session

    # --- wake and sleep ---------------------------------------------------------------------------------------------

    def wake(self) -> int:
        """Begin, or go on with, the session; how many turns it has so far."""
        at = self._now()
        self._waking = Waking(self.session, self._setup.identity("wake", at), self._setup.agent, at)
        self._turns.close_open(self.session, thread=self._waking.thread, at=at)
        waking = self._waking
        self._guard(self._provider.init, self.notes)
        self._guard(lambda: self._provider.on_wake(waking), self.notes)
        return self._turns.count(session=self.session)

    def sleep(self) -> None:
        """Pause the session. Sleeping twice is sleeping once."""
        if self._waking is None:
            return
        self._waking = None
        self._guard(self._provider.on_sleep, self.notes)
        self._guard(self._provider.close, self.notes)

    def __enter__(self) -> Chat:
        self.wake()
        return self

    def __exit__(self, *_: object) -> None:
        self.sleep()

    # --- a turn -------------------------------------------------------------------------------------------------------

    def say(self, text: str, *, heard: Heard | None = None) -> Turn:
        """One message, and the turn it became. When there is no answer the error says why, and the turn is kept.

        With `heard`, the answer is told piece by piece as it comes.
        """
        words = _clean_message(text)
        work = _OpenTurn(self._begin(words))
        try:
            answer = self._answer(words, work, heard)
        except KeyboardInterrupt:
            self._end(work, "interrupted", "".join(work.heard), "interrupted by the user")
            raise
        except Exception as error:  # whatever it is, the turn is kept and the caller is told
            self._end(work, "failed", "".join(work.heard), str(error) or type(error).__name__)
            raise
        return self._end(work, "done", answer.text, "")

    def _begin(self, words: str) -> Turn:
        if self._waking is None:
            self.wake()
        assert self._waking is not None
        at = self._now()
        turn = Turn(
            id=self._setup.identity("turn", at),
            session=self.session,
            thread=self._waking.thread,
            provider=self._provider.name,
            model="",
            at=at,
            input=redact(words).text,
        )
        self._turns.put(turn)
        return turn

    def _answer(self, words: str, work: _OpenTurn, heard: Heard | None) -> Reply:
        model = self._setup.model()
        work.turn = work.turn.having(model=model.model)
        tools = {tool.name: tool for tool in self._tools(work)}
        messages = self._messages(words, work)
        for step in range(MAX_STEPS + 1):
            work.heard.clear()
            offered = list(map(_to_spec, tools.values())) if step < MAX_STEPS else []
            reply = model.chat(messages, tools=offered, max_tokens=ANSWER_TOKENS, heard=_tee(work.heard, heard))
            work.turn = work.turn.having(
                tokens_in=work.turn.tokens_in + reply.usage.input, tokens_out=work.turn.tokens_out + reply.usage.output
            )
            if not reply.requests or step == MAX_STEPS:
                return reply
            if heard is not None and reply.text:
                heard("\n")
            messages.append(ChatMessage("assistant", reply.text, reply.requests))
            for index, request in enumerate(reply.requests):
                result = self._call(request, tools, work, step=step, said=reply.text if index == 0 else "")
                messages.append(ChatMessage("tool", result, answers=request.id))
        raise AssertionError("the last step always returns")

    def _messages(self, words: str, work: _OpenTurn) -> list[ChatMessage]:
        recalled: list[ChatMessage] = []
        self._guard(lambda: recalled.extend(self._provider.recall(words)), work.notes)
        return merge_user_messages([ChatMessage("system", self._system(work)), *recalled, ChatMessage("user", words)])

    def _system(self, work: _OpenTurn) -> str:
        kept: list[str] = []
        provider = self._provider
        if isinstance(provider, WorkingMemoryProvider):
            self._guard(lambda: kept.append(provider.working_memory() or ""), work.notes)
        block = fence_text("".join(kept), nonce=self._nonce, limit=WORKING_LIMIT)
        return f"{self._setup.system}\n\nKept in mind:\n{block}".strip() if block else self._setup.system

    def _tools(self, work: _OpenTurn) -> list[Tool]:
        found = list(self._setup.tools)
        provider = self._provider
        if found and isinstance(provider, ToolProvider):
            self._guard(lambda: found.extend(provider.tools()), work.notes)
        return found

    def _call(self, request: Request, tools: Mapping[str, Tool], work: _OpenTurn, *, step: int, said: str) -> str:
        """The result of one call, kept before the model is told of it."""
        started = time.monotonic()
        result, failed = call_tool(request, tools)
        call = Call(
            id=request.id,
            name=request.name,
            arguments=redact(request.arguments).text,
            result=redact(result).text,
            failed=failed,
            step=step,
            said=redact(said).text,
            ms=round((time.monotonic() - started) * 1000),
        )
        self._turns.put_call(work.turn.id, len(work.turn.calls), call)
        work.turn = work.turn.having(calls=(*work.turn.calls, call))
        return result

    def _end(self, work: _OpenTurn, state: TurnState, output: str, note: str) -> Turn:
        told, note = redact(clean(output.replace("\0", ""))[0]).text, redact(note).text
        ended = work.turn.having(state=state, output=told, note=note, ended_at=self._now())
        self._turns.put(ended)
        self._guard(lambda: self._provider.save_turn(ended), work.notes)
        if work.notes:
            ended = ended.having(note=redact("; ".join([note, *work.notes]).strip("; ")).text)
            self._turns.put(ended)
        return ended

    def _guard(self, act: Callable[[], object], notes: list[str]) -> None:
        try:
            act()
        except Exception as error:  # a provider is a stranger's code: whatever it raises, the conversation goes on
            notes.append(f"memory {self._provider.name}: {str(error) or type(error).__name__}")

    def _now(self) -> Any:
        return whole_ms(self._setup.clock())


class Chats:
    """Opens chats with any provider, and reads back what was said in them."""

    def __init__(
        self,
        context: ProviderContext,
        *,
        provider: Callable[[str, ProviderContext], MemoryProvider],
        offers: Callable[[], Sequence[ProviderInfo]],
        model: Callable[[str | None], Model | None],
        default: str,
    ) -> None:
        self._context = context
        self._provider = provider
        self._offers = offers
        self._model = model
        self._default = default

    def providers(self) -> tuple[ProviderInfo, ...]:
        """The memory providers there are, shipped ones first."""
        return tuple(self._offers())

    def context(self, options: Mapping[str, str] | None = None) -> ProviderContext:
        """What a provider is made with; `options` stand before those that are configured."""
        return replace(self._context, options={**self._context.options, **(options or {})})

    def open(
        self,
        *,
        memory: str | None = None,
        session: str | None = None,
        model: str | None = None,
        tools: bool = True,
        system: str = SYSTEM,
        options: Mapping[str, str] | None = None,
    ) -> Chat:
        """A chat that is still asleep; `with` wakes it. A session that exists goes on, any other name begins one."""
        chosen = self._provider(memory or self._default, self.context(options))
        name = self._session_name(session)
        writer = self._context.writer
        asked = self._model(model)

        def chosen_model() -> ChatModel:
            if asked is None:
                raise NoModel("A chat")
            governed = asked("chat", name)
            if not isinstance(governed, ChatModel):
                raise ModelCannotChat(governed.model)
            return governed

        return Chat(
            ChatSetup(
                turns=self._context.turns,
                provider=chosen,
                model=chosen_model,
                clock=writer.clock,
                identity=writer.identity,
                session=name,
                agent=writer.actor,
                tools=(*agent_tools(lambda: self._context.dialogue), _clock_tool(writer.clock)) if tools else (),
                system=system,
            )
        )

    def turns(self, *, session: str | None = None, limit: int = 20) -> tuple[Turn, ...]:
        """The last turns, of one session when it is named, oldest of them first."""
        turns = self._context.turns
        found = tuple(turns.recent(session=session, limit=limit))
        if session is not None and not found and not turns.count(session=session):
            raise SessionNotFound(session)
        return found

    def last_session(self) -> str:
        """The session that was spoken in last."""
        found = self._context.turns.last_session()
        if found is None:
            raise NotFound("No chat was held yet.", hint="`recollect chat` begins one.")
        return found

    def _session_name(self, session: str | None) -> str:
        if session is None:
            writer = self._context.writer
            return str(writer.identity("chat", writer.now()))
        name = clean(require_storable(session, "session"))[0].replace("\n", " ")
        if not name or len(name) > SESSION_NAME:
            raise InvalidField("session", f"{session[:40]!r} is not a name of 1 to {SESSION_NAME} characters")
        return name


def merge_user_messages(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Messages of the user that follow each other as one: servers want the roles to alternate."""
    joined: list[ChatMessage] = []
    for message in messages:
        if joined and message.role == "user" == joined[-1].role:
            joined[-1] = ChatMessage("user", f"{joined[-1].content}\n{message.content}")
        else:
            joined.append(message)
    return joined


def call_tool(request: Request, tools: Mapping[str, Tool]) -> tuple[str, bool]:
    """What a tool answers, as JSON for the model, and whether that is an error. Mistakes are told to the model."""
    try:
        if request.name not in tools:
            raise InvalidField(request.name, f"there is no such tool; there are {', '.join(sorted(tools))}")
        given = parse_given_json(request.arguments or "{}", "arguments")
        if not isinstance(given, dict):
            raise InvalidField("arguments", "expected a JSON object")
        answer = tools[request.name](**given)
    except RecollectError as error:
        return json.dumps({"error": str(error), "hint": error.hint}, ensure_ascii=False), True
    except Exception as error:  # a tool may be a stranger's code: whatever it raises, the model is told and goes on
        return json.dumps({"error": f"{type(error).__name__}: {error}"}, ensure_ascii=False), True
    return clip(json.dumps(answer, ensure_ascii=False, default=str), MAX_RESULT_CHARS), False


def _clean_message(text: str) -> str:
    if not isinstance(text, str):
        raise InvalidField("message", f"expected a text, not {type(text).__name__}")
    words = clean(require_storable(text, "message"))[0]
    if not words:
        raise EmptyContent
    if len(words) > MAX_INPUT_CHARS:
        raise InvalidField(
            "message",
            f"{len(words):,} characters; one message holds at most {MAX_INPUT_CHARS:,}",
            hint="Index it as a document.",
        )
    return words


def _to_spec(tool: Tool) -> ToolSpec:
    return ToolSpec(tool.name, tool.description, tool.parameters)


def _tee(kept: list[str], heard: Heard | None) -> Heard | None:
    if heard is None:
        return None

    def hear(piece: str) -> None:
        kept.append(piece)
        heard(piece)

    return hear


def _clock_tool(clock: Clock) -> Tool:
    def now() -> Mapping[str, Any]:
        at: datetime = clock()
        return {"now": at.isoformat(timespec="seconds"), "weekday": f"{at:%A}"}

    return Tool("current_time", "The date and time now, in UTC, and the day of the week.", now)
