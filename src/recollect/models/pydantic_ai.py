"""Every other provider, through pydantic-ai: the extra `pydantic-ai`. Keys and addresses are its own affair."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from recollect.core.errors import ExtraMissing, ModelDown, ModelWrong
from recollect.models.port import Object, Text, Usage, estimate
from recollect.models.schema import find_misfit


class PydanticAIModel:
    """A model by pydantic-ai's name for it, such as `anthropic:claude-haiku-4-5`, or one of its model objects."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.model = f"pydantic-ai:{model if isinstance(model, str) else model.model_name}"

    def text(self, prompt: str, *, system: str = "", max_tokens: int) -> Text:
        said, usage = self._run(prompt, system, max_tokens, str)
        return Text(str(said), usage)

    def object(self, prompt: str, *, system: str = "", schema: Mapping[str, Any], max_tokens: int) -> Object:
        library = _library()
        value, usage = self._run(prompt, system, max_tokens, library.StructuredDict(dict(schema), name="answer"))
        if trouble := find_misfit(value, schema):
            raise ModelWrong(self.model, trouble)
        return Object(value, usage)

    def _run(self, prompt: str, system: str, max_tokens: int, output: Any) -> tuple[Any, Usage]:
        library = _library()
        from pydantic_ai import exceptions

        try:
            agent = library.Agent(self._model, output_type=output, system_prompt=system, retries=1)
            # Not `run_sync`: it leaves an open event loop behind in every thread that calls it.
            result = asyncio.run(agent.run(prompt, model_settings={"max_tokens": max_tokens, "temperature": 0}))
        except exceptions.UnexpectedModelBehavior as error:
            raise ModelWrong(self.model, str(error)) from None
        except (exceptions.ModelHTTPError, exceptions.UserError, OSError) as error:
            raise ModelDown(self.model, str(error)) from None
        return result.output, _usage(result, prompt + system)


def _usage(result: Any, sent: str) -> Usage:
    spent = result.usage if hasattr(result.usage, "input_tokens") else result.usage()  # once a method, now a property
    if spent.input_tokens or spent.output_tokens:
        return Usage(spent.input_tokens or 0, spent.output_tokens or 0)
    return Usage(estimate(sent), estimate(str(result.output)), exact=False)


def _library() -> Any:
    try:
        import pydantic_ai
    except ImportError:
        raise ExtraMissing("This model", package="pydantic-ai-slim", extra="pydantic-ai") from None
    return pydantic_ai
