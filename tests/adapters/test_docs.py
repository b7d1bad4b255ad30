"""Every example of the how-to page runs as it stands, with a scripted model in the place of a real one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recollect
from adapters.loop_tools import FACT
from recollect.app import Recollect

PAGE = Path(__file__).parents[2] / "docs/how-to/adapters.md"
EXAMPLES = dict(re.findall(r"^## (.+?)\n.*?```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S | re.M))


def test_every_section_has_an_example() -> None:
    assert len(EXAMPLES) == PAGE.read_text(encoding="utf-8").count("\n## ") == 7


def run(section: str, memory: Recollect, model: Any = None) -> dict[str, Any]:
    memory.remember(FACT, kind="gotcha")
    names: dict[str, Any] = {"memory": memory, "model": model, "recollect": recollect}
    exec(compile(EXAMPLES[section], section, "exec"), names)
    return names


def test_openai_agents(memory: Recollect) -> None:
    pytest.importorskip("agents")
    from agents import set_tracing_disabled

    from adapters.test_openai_agents import Scripted, message

    set_tracing_disabled(True)
    model = Scripted(message("It resets."))
    assert run("OpenAI Agents SDK", memory, model)["result"].final_output == "It resets."
    assert FACT in str(model.instructions) + str(model.inputs)


def test_pydantic_ai(memory: Recollect) -> None:
    pytest.importorskip("pydantic_ai.capabilities")
    from pydantic_ai.messages import TextPart
    from pydantic_ai.models.function import FunctionModel

    from adapters.test_pydantic_ai import Scripted

    model = Scripted(TextPart("It resets."))
    assert run("pydantic-ai", memory, FunctionModel(model))["result"].output == "It resets."
    assert FACT in str(model.instructions) + str(model.given)


def test_langchain(memory: Recollect) -> None:
    pytest.importorskip("langchain.agents")
    from langchain_core.messages import AIMessage

    from adapters.test_langchain import scripted

    model = scripted(AIMessage("It resets."))
    names = run("LangChain and LangGraph", memory, model)
    assert names["result"]["messages"][-1].text == "It resets."
    assert [name.key for name in names["found"]] == ["tea"]
    assert FACT in str(model.given)


def test_google_adk(memory: Recollect) -> None:
    pytest.importorskip("google.adk")
    import asyncio

    from google.genai import types

    from adapters.test_google_adk import scripted, text

    model = scripted(text("It resets."))
    runner = run("Google ADK", memory, model)["runner"]

    async def story() -> None:
        await runner.session_service.create_session(app_name="support", user_id="u", session_id="s")
        message = types.Content(role="user", parts=[text("Why is my staging data gone?")])
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
            pass

    asyncio.run(story())
    assert FACT in str(model.system) + str(model.given)


CHECKS: dict[str, tuple[str, Callable[[dict[str, Any]], bool]]] = {
    "mem0": ("recollect", lambda names: names["found"]["results"][0]["memory"] == "I like green tea"),
    "Anthropic's memory tool": ("anthropic", lambda names: FACT in names["shown"]),
    "Claude Agent SDK": ("claude_agent_sdk", lambda names: "UserPromptSubmit" in names["options"].hooks),
}


@pytest.mark.parametrize("section", CHECKS)
def test_the_others(section: str, memory: Recollect) -> None:
    module, holds = CHECKS[section]
    pytest.importorskip(module)
    assert holds(run(section, memory))
