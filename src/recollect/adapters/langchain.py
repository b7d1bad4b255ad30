"""LangChain's agents with memory, as a middleware: the extra `langchain`.

What memory says is part of a call of the model and never of the agent's state, so it is not learnt again. A
conversation is LangGraph's thread, unless you name one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from recollect.adapters.bridge import AgentBridge, AgentBridges
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing
from recollect.observer.events import Outcome

try:
    from langchain.agents.middleware import AgentMiddleware, AgentState
    from langchain.agents.middleware.types import PrivateStateAttr
    from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
    from langgraph.config import get_config
except ImportError as error:
    raise ExtraMissing("LangChain's middleware", package="langchain", extra="langchain") from error

_HOST = "langchain"
_ONE_RUN = f"{_HOST}-run-"  # how the session of a single run is named


class MemoryState(AgentState[Any]):
    """The agent's state and which session it is, seen by nobody else."""

    recollect_session: NotRequired[Annotated[str, PrivateStateAttr]]  # type: ignore[valid-type]


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """`create_agent(model, tools, middleware=[MemoryMiddleware(memory)])`.

    A session you named goes on until `close`, and so does a thread; a run without either is a session of its own.
    """

    state_schema = MemoryState

    def __init__(
        self, memory: Recollect, session: str | None = None, *, capture: bool = True, arm: str | None = None
    ) -> None:
        super().__init__()
        self._session = session
        self._bridges = AgentBridges(memory, host=_HOST, capture=capture, arm=arm)

    def before_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        thread = get_config().get("configurable", {}).get("thread_id")
        return {"recollect_session": self._session or str(thread or f"{_ONE_RUN}{uuid4().hex}")}

    async def abefore_agent(self, state: Any, runtime: Any) -> dict[str, Any]:
        return self.before_agent(state, runtime)

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        beside = self._bridge_for(request.state)
        response = handler(_prepared(beside, request))
        _heard(beside, response)
        return response

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        beside = self._bridge_for(request.state)
        response = await handler(await asyncio.to_thread(_prepared, beside, request))
        await asyncio.to_thread(_heard, beside, response)
        return response

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        beside, call = self._bridge_for(request.state), request.tool_call
        beside.observe_call(call["name"], call["args"], str(call["id"]))
        try:
            result = handler(request)
        except Exception as error:  # a tool's own: seen, and raised on
            beside.observe_result(str(call["id"]), str(error), error=True)
            raise
        _answered(beside, call, result)
        return result

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        beside, call = self._bridge_for(request.state), request.tool_call
        await asyncio.to_thread(beside.observe_call, call["name"], call["args"], str(call["id"]))
        try:
            result = await handler(request)
        except Exception as error:  # a tool's own: seen, and raised on
            await asyncio.to_thread(beside.observe_result, str(call["id"]), str(error), error=True)
            raise
        await asyncio.to_thread(_answered, beside, call, result)
        return result

    def after_agent(self, state: Any, runtime: Any) -> None:
        last = state["messages"][-1] if state["messages"] else None
        if isinstance(last, AIMessage):
            self._bridge_for(state).conclude(last.text)
        if (session := state["recollect_session"]).startswith(_ONE_RUN):
            self._bridges.end(session, Outcome.SUCCESS)

    async def aafter_agent(self, state: Any, runtime: Any) -> None:
        await asyncio.to_thread(self.after_agent, state, runtime)

    def close(self, session: str | None = None, outcome: str = Outcome.UNKNOWN) -> None:
        """A session or thread is over; without a name, all of them."""
        if named := session or self._session:
            self._bridges.end(named, outcome)
        else:
            self._bridges.end_all()

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return self._bridges.notes

    def _bridge_for(self, state: Any) -> AgentBridge:
        return self._bridges.get(state["recollect_session"])


def _prepared(beside: AgentBridge, request: Any) -> Any:
    prompt = _prompt(request.messages)
    standing = beside.system(prompt)
    messages = beside.weave(request.messages, mark=_mark, make=lambda text: HumanMessage(text), prompt=prompt)
    if not standing:
        return request.override(messages=messages)
    given = request.system_message
    system = SystemMessage(standing) if given is None else _after(given, standing)
    return request.override(messages=messages, system_message=system)


def _after(message: SystemMessage, text: str) -> SystemMessage:
    if isinstance(message.content, str):
        return SystemMessage(f"{message.content}\n\n{text}")
    return SystemMessage([*message.content, {"type": "text", "text": text}])


def _heard(beside: AgentBridge, response: Any) -> None:
    result = getattr(response, "result", [response])
    answers = [one for one in result if isinstance(one, AIMessage)]
    usage = next((answer.usage_metadata for answer in answers if answer.usage_metadata), None)
    beside.observe_answer("\n".join(answer.text for answer in answers), tokens=usage["input_tokens"] if usage else None)


def _answered(beside: AgentBridge, call: Any, result: Any) -> None:
    if isinstance(result, ToolMessage):
        beside.observe_result(str(call["id"]), result.text, error=result.status == "error")
    else:
        beside.observe_result(str(call["id"]), str(result))


def _mark(message: AnyMessage) -> str:
    """What makes a message that message. Its id is given later than its words."""
    calls = getattr(message, "tool_calls", None)
    return json.dumps([message.type, message.content, getattr(message, "tool_call_id", None), calls], default=str)


def _prompt(messages: Sequence[AnyMessage]) -> str:
    return messages[-1].text if messages and isinstance(messages[-1], HumanMessage) else ""
