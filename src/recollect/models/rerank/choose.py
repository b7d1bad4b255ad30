"""Which reranker a setting asks for. Choosing is cheap, loads no model, asks no network and never raises."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from recollect.core.ports import Reranker

SETTINGS = "none, onnx[:PACK], ollama[:MODEL], cohere[:MODEL], URL#MODEL or, for a server with one model, URL"
COHERE_KEYS = ("COHERE_API_KEY", "CO_API_KEY")
ENDPOINT_KEY = "RECOLLECT_RERANK_KEY"


@dataclass(frozen=True, slots=True)
class Choice:
    """The reranker, if any, and what a person should know when it cannot be had."""

    reranker: Reranker | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Here:
    """What this machine offers, so that a test can hand in another one."""

    folder: Path  # of the model packs
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    has_module: Callable[[str], bool] = lambda name: find_spec(name) is not None


def choose(setting: str, here: Here) -> Choice:
    """The reranker `setting` asks for, or none and a note that says what to do about it."""
    kind, _, rest = setting.strip().partition(":")
    match kind:
        case "none" if not rest:
            return Choice(None)
        case "http" | "https":
            return _endpoint(setting.strip(), here)
        case "onnx":
            return _onnx(rest, here)
        case "ollama":
            return _ollama(rest, here)
        case "cohere":
            return _cohere(rest, here)
    return _nothing(f"There is no reranker {setting!r}. Use {SETTINGS}.")


def _onnx(name: str, here: Here) -> Choice:
    from recollect.embed.encoder import RUNTIME
    from recollect.embed.errors import INSTALL
    from recollect.embed.packs import installed
    from recollect.models.rerank.onnx import OnnxReranker
    from recollect.models.rerank.packs import DEFAULT, PACKS

    pack = PACKS.get(name or DEFAULT)
    if pack is None:
        return _nothing(f"There is no reranker pack {name!r}; there are {', '.join(sorted(PACKS))}.")
    if not installed(pack, here.folder):
        return _nothing(f"The reranker pack {pack.name} is not installed: `{INSTALL} {pack.name}` fetches it.")
    if not here.has_module(RUNTIME):
        return _nothing(f"The reranker pack {pack.name} needs {RUNTIME}: `pip install 'recollect[onnx]'`.")
    return Choice(OnnxReranker(pack, here.folder))


def _ollama(model: str, here: Here) -> Choice:
    from recollect.embed.ollama import server
    from recollect.models.rerank.ollama import OllamaReranker

    return Choice(OllamaReranker(model, url=server(here.environment)))


def _cohere(model: str, here: Here) -> Choice:
    from recollect.models.rerank.endpoint import cohere

    key = next((here.environment[name] for name in COHERE_KEYS if here.environment.get(name)), "")
    if not key:
        return _nothing(f"Cohere needs a key: put it into the environment variable {COHERE_KEYS[0]}.")
    return Choice(cohere(model, key=key))


def _endpoint(setting: str, here: Here) -> Choice:
    """Cohere's key is never sent to a server named by address; that one has a variable of its own."""
    from recollect.models.rerank.endpoint import endpoint

    url, _, model = setting.partition("#")
    if not _is_address(url):
        return _nothing(f"{setting!r} has no address: write it as in http://host:8080/v1#model.")
    return Choice(endpoint(url, model, key=here.environment.get(ENDPOINT_KEY, "")))


def _is_address(url: str) -> bool:
    try:
        return bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        return False


def _nothing(note: str) -> Choice:
    return Choice(None, (note,))
