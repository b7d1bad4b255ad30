"""The pydantic-ai extra, against its own test models. Runs where the extra is installed."""

from __future__ import annotations

import asyncio
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from recollect.core.errors import ModelDown, ModelWrong
from recollect.models.pydantic_ai import PydanticAIModel

pydantic_ai = pytest.importorskip("pydantic_ai")
SCHEMA = {
    "type": "object",
    "properties": {"facts": {"type": "array", "items": {"type": "string"}}},
    "required": ["facts"],
}


def test_a_text_and_an_object_come_back_with_what_they_cost() -> None:
    from pydantic_ai.models.test import TestModel

    answer = PydanticAIModel(TestModel(custom_output_text="Hello.")).text("Hi", max_tokens=10)
    assert (answer.text, answer.usage.total > 0) == ("Hello.", True)
    model = PydanticAIModel(TestModel(custom_output_args={"facts": ["a"]}))
    assert model.object("x", schema=SCHEMA, max_tokens=10).value == {"facts": ["a"]}


def test_an_answer_that_does_not_fit_is_wrong() -> None:
    from pydantic_ai.models.test import TestModel

    with pytest.raises(ModelWrong):
        PydanticAIModel(TestModel(custom_output_args={"facts": "a"})).object("x", schema=SCHEMA, max_tokens=10)


def test_a_provider_that_fails_is_down() -> None:
    from pydantic_ai.exceptions import ModelHTTPError
    from pydantic_ai.models.function import FunctionModel

    def fail(*_: Any) -> Any:
        raise ModelHTTPError(503, "m", "busy")

    with pytest.raises(ModelDown, match="503"):
        PydanticAIModel(FunctionModel(fail)).text("x", max_tokens=10)


def test_a_call_from_a_fresh_thread_leaves_no_event_loop_open() -> None:
    from pydantic_ai.models.test import TestModel

    def still_open() -> int:
        found = (one for one in gc.get_objects() if isinstance(one, asyncio.AbstractEventLoop))
        return sum(not loop.is_closed() for loop in found)

    def call() -> int:
        before = still_open()
        PydanticAIModel(TestModel(custom_output_text="Hello.")).text("Hi", max_tokens=10)
        return still_open() - before

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(call).result() == 0
