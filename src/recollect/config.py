"""Settings: one frozen value, read once from a TOML file and the environment, then passed down."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from recollect.core.errors import InvalidField


@dataclass(frozen=True, slots=True)
class Settings:
    """What can be chosen. Every name works in `config.toml` and, upper-cased with RECOLLECT_, in the environment."""

    actor: str = ""  # who the log names; empty: the login name
    recipe: str = "measured"  # which set of recall weights: measured, or the design's own: seed
    embedder: str = "auto"  # auto, none, pack:NAME, ollama[:MODEL], openai:MODEL[:DIMS], fastembed, URL#MODEL[:DIMS]
    reranker: str = "none"  # none, onnx[:PACK], ollama[:MODEL], cohere[:MODEL], URL#MODEL
    model: str = "none"  # none, openai:MODEL, ollama:MODEL, URL#MODEL, pydantic-ai:PROVIDER:MODEL
    tokens_per_day: int = 200_000  # what the language model may use in a day, all features together
    tokens_per_session: int = 50_000  # what it may use on behalf of one session
    model_timeout: float = 300.0  # seconds the language model may think about one answer
    memory: str = "recollect"  # what `chat` remembers with: recency, semantic, recollect, or a plugin's name
    semantic_recall: str = "on"  # on or off; off: the provider `semantic` loads no model
    names: str = "auto"  # who finds names at night: auto (spaCy when it is here), rules, spacy, llm, spacy+llm
    busy_timeout: float = 30.0  # seconds a writer queues before it reports the store as busy
    methodology: str = "native"  # how phases and work units are named
    documents: Mapping[str, Any] = field(default_factory=dict)  # a table: preset, roots, ignore, rules, specs, detector


def load_settings(folder: Path | None, environment: Mapping[str, str] = os.environ) -> Settings:
    """Defaults, then the file beside the store, then the environment."""
    settings = Settings()
    if folder is not None and os.path.isfile(file := folder / "config.toml"):
        settings = _merged(settings, _toml(file), str(file))
    given = {
        field.name: environment[name]
        for field in fields(Settings)
        if (name := f"RECOLLECT_{field.name.upper()}") in environment and field.name not in _TABLES
    }
    return _merged(settings, given, "the environment")


def _toml(file: Path) -> dict[str, Any]:
    import tomllib  # only those who have a file pay for it

    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidField(str(file), f"not readable as TOML ({error})") from None


def _merged(settings: Settings, given: Mapping[str, Any], where: str) -> Settings:
    known = {field.name for field in fields(Settings)}
    for name in sorted(set(given) - known):
        raise InvalidField(name, f"{where} sets it, but there is no such setting; there are {', '.join(sorted(known))}")
    return replace(settings, **{name: _typed(name, value) for name, value in given.items()})


_TABLES = frozenset({"documents"})  # for the file only; the room that uses one checks what is in it


def _typed(name: str, value: Any) -> Any:
    if name in _TABLES:
        if not isinstance(value, Mapping):
            raise InvalidField(name, f"expected a table, not {value!r}")
        return value
    if name in ("tokens_per_day", "tokens_per_session"):
        return _tokens(name, value)
    if name not in ("busy_timeout", "model_timeout"):
        if not isinstance(value, str):
            raise InvalidField(name, f"expected a text, not {value!r}")
        return value
    try:
        seconds = float(value)
    except (TypeError, ValueError):
        seconds = -1.0
    if not 0 < seconds < 86_400:
        raise InvalidField(name, f"{value!r} is not a number of seconds")
    return seconds


def _tokens(name: str, value: Any) -> int:
    try:
        tokens = int(value)
    except (TypeError, ValueError):
        tokens = -1
    if isinstance(value, bool) or tokens < 0:
        raise InvalidField(name, f"{value!r} is not a number of tokens")
    return tokens
