"""pydantic-ai with memory, as a capability of an agent: the extra `pydantic-ai`.

What memory says is part of a request and never a part of a message in the history, so it is not learnt again. A
conversation is pydantic-ai's own, unless you name one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recollect.adapters.bridge import AgentBridge, AgentBridges
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing
from recollect.observer.events import Outcome

try:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        TextPart,
        UserPromptPart,
    )
except ImportError as error:
    raise ExtraMissing("The pydantic-ai adapter", package="pydantic-ai-slim", extra="pydantic-ai") from error

_HOST = "pydantic-ai"


@dataclass
class MemoryCapability(AbstractCapability[Any]):
    """`Agent(model, capabilities=[MemoryCapability(memory)])`.

    A session you named goes on until `close`; one of pydantic-ai's own conversations ends with its run.
    """

    memory: Recollect
    session: str | None = None
    capture: bool = True
    arm: str | None = None
    bridges: AgentBridges = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.bridges = AgentBridges(self.memory, host=_HOST, capture=self.capture, arm=self.arm)

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        return await asyncio.to_thread(_prepared, self._bridge_for(ctx), request_context)

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: ModelResponse) -> ModelResponse:
        said = "\n".join(part.content for part in response.parts if isinstance(part, TextPart))
        tokens = response.usage.input_tokens or None
        await asyncio.to_thread(self._bridge_for(ctx).observe_answer, said, tokens=tokens)
        return response

    async def before_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        await asyncio.to_thread(self._bridge_for(ctx).observe_call, call.tool_name, args, call.tool_call_id)
        return args

    async def after_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, result: Any) -> Any:
        await asyncio.to_thread(self._bridge_for(ctx).observe_result, call.tool_call_id, result)
        return result

    async def on_tool_execute_error(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, error: Exception) -> Any:
        await asyncio.to_thread(self._bridge_for(ctx).observe_result, call.tool_call_id, str(error), error=True)
        raise error

    async def after_run(self, ctx: Any, *, result: Any) -> Any:
        await asyncio.to_thread(self._concluded, ctx, result.output)
        return result

    async def on_run_error(self, ctx: Any, *, error: BaseException) -> Any:
        if self.session is None:
            await asyncio.to_thread(self.bridges.end, _conversation(ctx), Outcome.FAILURE)
        raise error

    def close(self, outcome: str = Outcome.UNKNOWN) -> None:
        """The named session is over."""
        if self.session is not None:
            self.bridges.end(self.session, outcome)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return self.bridges.notes

    def _bridge_for(self, ctx: Any) -> AgentBridge:
        return self.bridges.get(self.session or _conversation(ctx))

    def _concluded(self, ctx: Any, output: object) -> None:
        if isinstance(output, str):
            self._bridge_for(ctx).conclude(output)
        if self.session is None:
            self.bridges.end(_conversation(ctx), Outcome.SUCCESS)


def _conversation(ctx: Any) -> str:
    return str(ctx.conversation_id or ctx.run_id)


def _prepared(beside: AgentBridge, request: Any) -> Any:
    """The request with what memory has to say at the ends of its messages and of its instructions."""
    prompt = _prompt(request.messages)
    standing = beside.system(prompt)
    messages = beside.weave(list(request.messages), mark=_mark, make=_request, prompt=prompt)
    if not standing:
        return replace(request, messages=messages)
    parameters = request.model_request_parameters
    parts = [*(parameters.instruction_parts or []), InstructionPart(standing, dynamic=True)]
    return replace(request, messages=messages, model_request_parameters=replace(parameters, instruction_parts=parts))


def _request(text: str) -> ModelMessage:
    return ModelRequest(parts=[UserPromptPart(text)])


def _mark(message: ModelMessage) -> str:
    return repr(message.parts)


def _prompt(messages: Sequence[ModelMessage]) -> str:
    """What a person just said, if that is the newest thing in the conversation."""
    if not messages or not isinstance(messages[-1], ModelRequest):
        return ""
    said = [part.content for part in messages[-1].parts if isinstance(part, UserPromptPart)]
    texts = [[one] if isinstance(one, str) else [part for part in one if isinstance(part, str)] for one in said]
    return "\n".join(text for some in texts for text in some)
