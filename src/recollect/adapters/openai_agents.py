"""The OpenAI Agents SDK with memory: a session that keeps history, an input filter that lets memory speak, hooks that
let it see. The extra `openai-agents`.

What memory says is woven into the model's input and never saved to the session, so it is not learnt again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from recollect.adapters.companion import Companion
from recollect.adapters.openai_session import RecollectSession, spoken
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing
from recollect.observer.events import Outcome

try:
    from agents import AgentHooks, RunConfig, RunHooks
    from agents.run_config import CallModelData, ModelInputData
except ImportError as error:
    raise ExtraMissing("The OpenAI Agents adapter", package="openai-agents", extra="openai-agents") from error

__all__ = ["AgentMemory", "RecollectSession"]

_HOST = "openai-agents"


class AgentMemory:
    """Memory beside the runs of one conversation.

    Give `session`, `hooks` and `run_config()` to `Runner.run`; `agent_hooks` are for a single agent instead of the run.
    A conversation you named goes on until `close`; an unnamed one ends with its run.
    """

    def __init__(
        self, memory: Recollect, session: str | None = None, *, capture: bool = True, arm: str | None = None
    ) -> None:
        self._named = session is not None
        name = session or f"{_HOST}-{uuid4().hex}"
        self.session = RecollectSession(memory, name, capture=capture)
        # The session captures what is said; the companion would only say it a second time.
        self._companion = Companion(memory, name, host=_HOST, capture=False, arm=arm)
        self.hooks = _RunHooks(self._companion, ends=not self._named)
        self.agent_hooks = _AgentHooks(self._companion, ends=not self._named)

    def run_config(self, config: RunConfig | None = None) -> RunConfig:
        """Your run configuration, or a new one, with memory in it."""
        return replace(config or RunConfig(), call_model_input_filter=self.filter)

    async def filter(self, data: CallModelData[Any]) -> ModelInputData:
        """A `call_model_input_filter`: the same input and instructions with what memory has to say at their ends."""
        return await asyncio.to_thread(self._filtered, data.model_data)

    def close(self, outcome: str = Outcome.UNKNOWN) -> None:
        """The conversation is over."""
        self._companion.end(outcome)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return (*self._companion.notes, *self.session.notes)

    def _filtered(self, given: ModelInputData) -> ModelInputData:
        prompt = spoken(given.input[-1], "user") if given.input else ""
        standing = self._companion.system(prompt)
        items = self._companion.woven(given.input, mark=_mark, make=_message, prompt=prompt)
        instructions = "\n\n".join(part for part in (given.instructions, standing) if part) or None
        return ModelInputData(input=items, instructions=instructions)


class _Watching:
    """What both sorts of hooks do."""

    def __init__(self, companion: Companion, *, ends: bool) -> None:
        self._companion = companion
        self._ends = ends

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        arguments = getattr(context, "tool_arguments", "")
        await asyncio.to_thread(self._companion.calls, tool.name, arguments, _call(context, tool))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: object) -> None:
        await asyncio.to_thread(self._companion.answered, _call(context, tool), result)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        text = "\n".join(filter(None, (spoken(_plain(item), "assistant") for item in response.output)))
        tokens = response.usage.input_tokens or None
        await asyncio.to_thread(self._companion.thinks, text, tokens=tokens)

    async def _over(self) -> None:
        if self._ends:
            await asyncio.to_thread(self._companion.end, Outcome.SUCCESS)


class _RunHooks(_Watching, RunHooks[Any]):
    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._over()


class _AgentHooks(_Watching, AgentHooks[Any]):
    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        await self._over()


def _call(context: Any, tool: Any) -> str:
    return str(getattr(context, "tool_call_id", tool.name))


def _message(text: str) -> Any:
    """Memory speaks with no more authority than a person: what it holds may come from anywhere."""
    return {"role": "user", "content": text}


def _mark(item: Any) -> str:
    return json.dumps(_plain(item), sort_keys=True, default=str)


def _plain(item: Any) -> Any:
    return item if isinstance(item, Mapping) else item.model_dump(exclude_unset=True)
