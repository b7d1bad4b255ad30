"""Memory beside the loop of somebody else's framework: what it says before each call of the model, and what it sees.

A framework's own words become events here. Nothing that goes wrong in the memory reaches the framework: the run goes
on without, and `notes` and the log say why.
"""

from __future__ import annotations

import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from threading import RLock, Thread
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from recollect.app import Recollect
from recollect.observer.events import (
    Event,
    Outcome,
    Reasoning,
    StepComplete,
    ToolCall,
    ToolResult,
    UserText,
    identity,
)
from recollect.observer.readers.base import parse_json
from recollect.observer.tool_calls import RESULT_HEAD, RESULT_TAIL, TEXT_KEPT, clip_middle, read_tool_call

if TYPE_CHECKING:
    from recollect.agent.session import AgentSession

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_MOST = 256  # conversations of one adapter that are kept at hand
TIMEOUT = 3.0  # seconds a framework's run waits for what was said to be written
_NOTES = 20  # troubles that are kept to be looked at

log = logging.getLogger("recollect.adapters")


class AgentBridge:
    """Memory beside one conversation. Safe to use from several threads; never raises."""

    def __init__(
        self,
        memory: Recollect,
        session: str,
        *,
        host: str,
        capture: bool = True,
        arm: str | None = None,
        timeout: float = TIMEOUT,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.session = session
        self._clock = clock
        self._timeout = timeout
        self._troubles: list[str] = []
        self._memory = self._attempt(lambda: memory.through("adapter"), None)
        self._capture = capture
        self._agent = self._attempt(lambda: memory.agent(session, host=host, arm=arm), None)
        self._root = self._attempt(lambda: _root(memory), None)
        self._blocks = Blocks()
        self._lock = RLock()
        self._calls: dict[str, ToolCall] = {}
        self._due: list[str] = []  # to be said before the next call of the model
        self._openings: set[str] = set()
        self._system: str | None = None
        self._writing: Thread | None = None
        self._step = 0
        self._heard = 0
        self._run = uuid4().hex

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return (*self._troubles, *(() if self._agent is None else self._agent.notes))

    # --- what memory says --------------------------------------------------------------------------------------

    def system(self, task: str = "") -> str:
        """What holds for the whole conversation; the same text every time."""
        with self._lock:
            if self._system is None:
                self._system = self._ask(lambda agent: agent.system_prompt(task), "")
            return self._system

    def weave(
        self, items: Sequence[Item], *, mark: Callable[[Item], str], make: Callable[[str], Item], prompt: str = ""
    ) -> list[Item]:
        """The conversation as the model is to see it. `prompt` is what a person just said, if that is what is new."""
        with self._lock:
            marks = [mark(item) for item in items]
            if self._blocks.is_new(marks):
                self._step += 1
                self._blocks.put(marks, self._say(prompt))
            return self._blocks.weave(items, marks, make)

    def speak(self, prompt: str = "") -> str:
        """What memory has to say now, after a person's words or between two steps; for frameworks that keep it."""
        with self._lock:
            self._step += 1
            return self._say(prompt)

    def due(self) -> str:
        """What calls and results gave rise to and was not said yet."""
        with self._lock:
            parts, self._due = self._due, []
            return _joined(parts)

    def _say(self, prompt: str) -> str:
        parts = [self._hear_prompt(prompt)] if prompt.strip() else []
        parts.append(self.due())
        if not prompt.strip():
            parts.append(self._ask(lambda agent: agent.step(), ""))
        return _joined(parts)

    def _hear_prompt(self, prompt: str) -> str:
        self._heard += 1
        self._observe(UserText, "asked", self._heard, text=_clip(prompt))
        self._keep(prompt, "user", self._heard)
        said = self._ask(lambda agent: agent.first_message(prompt), "")
        fresh = said not in self._openings  # the same words again are answered the same, but need no telling
        self._openings.add(said)
        return said if fresh else ""

    # --- what memory sees --------------------------------------------------------------------------------------

    def observe_call(self, tool: str, arguments: object, call: str) -> None:
        """A tool is about to run. A warning, if there is one, is said before the next call of the model."""
        event = self._attempt(
            lambda: read_tool_call(
                tool,
                _read(arguments),
                self._root,
                call_id=call,
                id=identity(self.session, self._run, "call", call),
                session=self.session,
                step=self._step,
                at=self._clock(),
            ),
            None,
        )
        if event is None:
            return
        with self._lock:
            self._calls[call] = event
            self._ask(lambda agent: agent.observe(event), None)
            self._due.append(self._ask(lambda agent: agent.before(event), ""))

    def observe_result(self, call: str, result: object, *, error: bool = False) -> None:
        """A tool answered; what is known about it is said before the next call of the model."""
        text = result if isinstance(result, str) else self._attempt(lambda: _json(result), type(result).__name__)
        with self._lock:
            asked = self._calls.pop(call, None)
            if asked is None:
                return
            kept = clip_middle(text, RESULT_HEAD, RESULT_TAIL)
            self._observe(ToolResult, "result", call, call_id=call, error=error, text=kept, size=len(text))
            self._due.append(self._ask(lambda agent: agent.tool_result(asked, text), ""))

    def observe_answer(self, text: str, *, tokens: int | None = None) -> None:
        """The model answered: what it said, and how large its context was."""
        with self._lock:
            if text.strip():
                self._observe(Reasoning, "said", self._step, text=_clip(text))
            self._observe(StepComplete, "step", self._step, tokens=tokens)

    def conclude(self, text: str) -> None:
        """The run gave its answer."""
        with self._lock:
            self._keep(text, "assistant", self._heard)

    def end(self, outcome: str = Outcome.UNKNOWN) -> None:
        """The conversation is over: what was watched may be learnt from."""
        self._ask(lambda agent: agent.end(Outcome(outcome)), None)

    # --- inside --------------------------------------------------------------------------------------------------

    def _observe(self, kind: type[Event], what: str, which: object, **fields: Any) -> None:
        if self._agent is None:
            return
        id = identity(self.session, self._run, what, which)
        event = kind(id=id, session=self.session, step=self._step, at=self._clock(), **fields)
        self._ask(lambda agent: agent.observe(event), None)

    def _keep(self, text: str, role: str, number: int) -> None:
        """What people and the agent said to each other is captured once; our own blocks are cut out on the way.

        A store that cannot be written just now is not waited for: the writing goes on by itself.
        """
        memory = self._memory
        if not self._capture or not text.strip() or memory is None:
            return
        id = f"{self._run}:{role}:{number}"
        act = partial(self._attempt, lambda: memory.sessions.capture(text, session=self.session, role=role, id=id))
        busy = self._writing is not None and self._writing.is_alive()
        self._writing = Thread(target=act, args=(None,), name="recollect-capture", daemon=True)
        self._writing.start()
        self._writing.join(0 if busy else self._timeout)
        if self._writing.is_alive():
            self._troubles.append(f"capture: not written within {self._timeout:g} s, going on")

    def _ask(self, act: Callable[[AgentSession], Answer], otherwise: Answer) -> Answer:
        agent = self._agent
        return otherwise if agent is None else self._attempt(lambda: act(agent), otherwise)

    def _attempt(self, act: Callable[[], Answer], otherwise: Answer) -> Answer:
        try:
            return act()
        except Exception as trouble:  # the framework's run must not fail because remembering did
            note = f"{type(trouble).__name__}: {trouble}"
            self._troubles = [*self._troubles[-_NOTES:], note]
            log.warning("memory went on without %s: %s", self.session, note)
            return otherwise


class AgentBridges:
    """The bridges of one adapter by session; the ones longest silent are let go."""

    def __init__(self, memory: Recollect, *, host: str, capture: bool, arm: str | None = None) -> None:
        self._make: Callable[[str], AgentBridge] = partial(AgentBridge, memory, host=host, capture=capture, arm=arm)
        self._known: OrderedDict[str, AgentBridge] = OrderedDict()
        self._lock = RLock()

    def get(self, session: str) -> AgentBridge:
        with self._lock:
            found = self._known.get(session) or self._make(session)
            self._known[session] = found
            self._known.move_to_end(session)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)[1].end()
            return found

    def end(self, session: str, outcome: str = Outcome.UNKNOWN) -> None:
        with self._lock:
            found = self._known.pop(session, None)
        if found is not None:
            found.end(outcome)

    def end_all(self) -> None:
        for session in list(self._known):
            self.end(session)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong, in all that are at hand."""
        return tuple(note for one in list(self._known.values()) for note in one.notes)


def _root(memory: Recollect) -> str | None:
    path = memory.path
    return str(path.parent.parent) if path is not None and path.parent.name == ".recollect" else None


def _joined(parts: Sequence[str]) -> str:
    return "".join(part if part.endswith("\n") else f"{part}\n" for part in parts if part)


def _clip(text: str) -> str:
    return clip_middle(text, TEXT_KEPT // 2, TEXT_KEPT // 2)


def _read(arguments: object) -> object:
    """What a tool was given: frameworks hand it over as values, or as the JSON that the model wrote."""
    value = parse_json(arguments) if isinstance(arguments, str) else None
    return arguments if value is None else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


class Blocks:
    """Where each injected block stands in a conversation that its framework builds again for every call of the model.

    A block is put at the end once and inserted at the same position ever after, so what the model saw stays a prefix of
    what it sees next and its prompt cache stays warm. When a framework rewrites what came before, the blocks there go.
    """

    def __init__(self) -> None:
        self._placed: list[tuple[int, str, str]] = []  # items before it, the mark of the last of them, the block
        self._last: tuple[int, str] | None = None

    def is_new(self, marks: Sequence[str]) -> bool:
        """Has the conversation moved on since this was asked last? A call that is tried again has not."""
        moment = (len(marks), marks[-1] if marks else "")
        if moment == self._last:
            return False
        self._last = moment
        return True

    def put(self, marks: Sequence[str], text: str) -> None:
        """Put a block after all the items there are now."""
        if text:
            self._placed.append((len(marks), marks[-1] if marks else "", text))

    def weave(self, items: Sequence[Item], marks: Sequence[str], make: Callable[[str], Item]) -> list[Item]:
        """The items with every block in its place."""
        self._placed = [one for one in self._placed if _stands(one, marks)]
        woven: list[Item] = []
        for place in range(len(items) + 1):
            woven += [make(text) for before, _, text in self._placed if before == place]
            woven += items[place : place + 1]
        return woven


def _stands(placed: tuple[int, str, str], marks: Sequence[str]) -> bool:
    before, mark, _ = placed
    return before <= len(marks) and (marks[before - 1] if before else "") == mark
