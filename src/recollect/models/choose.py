"""Which language model a setting asks for. None by default: nothing is ever asked that nobody configured."""

from __future__ import annotations

import os
from collections.abc import Mapping

from recollect.core.errors import InvalidField
from recollect.models.port import LanguageModel

MODEL_SETTINGS = "none, openai:MODEL, ollama:MODEL, URL#MODEL or pydantic-ai:PROVIDER:MODEL"
OLLAMA = "http://127.0.0.1:11434"
KEY = "RECOLLECT_MODEL_KEY"  # for a server named by its address; OpenAI's own key is never sent there


def choose_model(
    setting: str, environment: Mapping[str, str] = os.environ, *, timeout: float | None = None
) -> LanguageModel:
    """The model, made but not asked anything. `timeout` is how many seconds one answer may take."""
    kind, _, rest = setting.strip().partition(":")
    if kind in ("http", "https"):
        url, _, name = setting.strip().partition("#")
        return _openai(name, url, environment.get(KEY, ""), setting, timeout)
    if kind == "openai":
        from recollect.models.openai import OPENAI

        return _openai(
            rest, environment.get("OPENAI_BASE_URL") or OPENAI, environment.get("OPENAI_API_KEY", ""), setting, timeout
        )
    if kind == "ollama":
        host = environment.get("OLLAMA_HOST") or OLLAMA
        url = host if "://" in host else f"http://{host}"
        return _openai(rest, f"{url.rstrip('/')}/v1", "", setting, timeout)
    if kind == "pydantic-ai" and rest:
        from recollect.models.pydantic_ai import PydanticAIModel

        return PydanticAIModel(rest)
    raise InvalidField("model", f"{setting!r} is not one", hint=f"Use {MODEL_SETTINGS}.")


def _openai(name: str, url: str, key: str, setting: str, timeout: float | None) -> LanguageModel:
    if not name:
        raise InvalidField("model", f"{setting!r} names no model", hint=f"Use {MODEL_SETTINGS}.")
    from recollect.models.openai import OpenAIModel, answer_times

    return OpenAIModel(name, url=url, key=key, retry=None if timeout is None else answer_times(timeout))
