"""Which embedder to use: a configured one is obeyed or reported, never replaced; `auto` takes the best at hand.

Choosing is cheap and never raises. No model is loaded, the network is asked only by settings that name it, and the
modules of an embedder are imported only when it is chosen: a one-shot command with a local pack pays for nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypeAlias

from recollect.embed.packs import EMBEDDERS, Pack, is_installed
from recollect.embed.port import INSTALL, Embedder

EMBEDDER_SETTINGS = "auto, ladder, none, pack:NAME, ollama[:MODEL], openai:MODEL[:DIMS], fastembed or URL#MODEL[:DIMS]"
OPENAI_KEY = "OPENAI_API_KEY"
ENDPOINT, ENDPOINT_KEY = "RECOLLECT_EMBED_URL", "RECOLLECT_EMBED_KEY"
_OPENAI_DEFAULT = "text-embedding-3-small"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """The embedder, if any, and what a person should know about how it came to that."""

    embedder: Embedder | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Environment:
    """What this machine offers. Everything a choice looks at, so that a test can hand in another machine."""

    folder: Path  # of the model packs
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    stored: str | None = None  # the model of the vectors already in the store
    threads: int | None = None
    has_module: Callable[[str], bool] = lambda name: find_spec(name) is not None
    free_memory: Callable[[], int] | None = None  # bytes; asked of the system when nobody says


Step: TypeAlias = Callable[[str, Environment], EmbedderChoice]


def choose_embedder(setting: str, environment: Environment) -> EmbedderChoice:
    """The embedder `setting` asks for, or none and a note that says what to do about it."""
    kind, _, rest = setting.strip().partition(":")
    if kind in ("http", "https"):
        return _endpoint(setting.strip(), environment)
    step = _STEPS.get(kind)
    if step is None or (rest and kind not in _TAKE_MORE):
        return _nothing(f"There is no embedder {setting!r}. Use {EMBEDDER_SETTINGS}.")
    return step(rest, environment)


def _none(_: str, environment: Environment) -> EmbedderChoice:
    return EmbedderChoice(None)


def _auto(_: str, environment: Environment) -> EmbedderChoice:
    """The best pack that is installed and can run; nothing is fetched or probed."""
    notes: list[str] = []
    for name in EMBEDDERS:
        if is_installed(EMBEDDERS[name], environment.folder):
            choice = _pack(name, environment)
            if choice.embedder is not None:
                return EmbedderChoice(choice.embedder, tuple(notes))
            notes += choice.notes
    notes.append(f"No embedding model is at hand, so recall goes by keywords. `{INSTALL}` fetches one.")
    return EmbedderChoice(None, tuple(notes))


def _ladder(_: str, environment: Environment) -> EmbedderChoice:
    """Every rung in the order of the specification; the first that works, or what each of them lacks."""
    from recollect.embed.fastembed import has_cached_weights

    rungs: list[tuple[Step, str]] = [(_ollama, ""), (_openai, _OPENAI_DEFAULT)]
    if environment.variables.get(ENDPOINT):
        rungs.append((_endpoint, environment.variables[ENDPOINT]))
    if has_cached_weights(environment.variables):
        rungs.append((_fastembed, ""))
    notes: list[str] = []
    for step, rest in (*rungs, (_auto, "")):
        choice = step(rest, environment)
        if choice.embedder is not None:
            return choice
        notes += choice.notes
    return EmbedderChoice(None, tuple(notes))


def _pack(name: str, environment: Environment) -> EmbedderChoice:
    pack = EMBEDDERS.get(name)
    if pack is None:
        return _nothing(f"There is no model pack {name!r}; there are {', '.join(sorted(EMBEDDERS))}.")
    if not is_installed(pack, environment.folder):
        return _nothing(f"The model pack {name} is not installed: `{INSTALL} {name}` fetches it.")
    return _embedder_of(pack, environment)


def _embedder_of(pack: Pack, environment: Environment) -> EmbedderChoice:
    if not environment.has_module("numpy"):
        return _nothing(f"The model pack {pack.name} needs numpy: `pip install numpy`.")
    if not pack.files[0].name.endswith(".onnx"):
        from recollect.embed.static import StaticEmbedder

        return EmbedderChoice(StaticEmbedder(pack, environment.folder))
    from recollect.embed.onnx import RUNTIME, OnnxEmbedder

    if not environment.has_module(RUNTIME):
        return _nothing(f"The model pack {pack.name} needs {RUNTIME}: `pip install 'recollect[onnx]'`.")
    return EmbedderChoice(OnnxEmbedder(pack, environment.folder, threads=environment.threads))


def _ollama(model: str, environment: Environment) -> EmbedderChoice:
    from recollect.embed import remote

    url = remote.find_server(environment.variables)
    models = remote.list_pulled(url)
    if models is None:
        return _nothing(f"Ollama does not answer at {url}: start it with `ollama serve`.")
    if model:
        if remote.full_name(model) not in models:
            return _nothing(f"Ollama has not pulled {model}: `ollama pull {model}`.")
        return EmbedderChoice(remote.ollama_embedder(model, url=url))
    free = (environment.free_memory or remote.measure_free_memory)()
    fit = remote.choose_qwen(models, free=free, stored=environment.stored)
    if fit is None:
        return _nothing(f"Ollama has no fitting qwen3-embedding: `ollama pull {remote.qwen_for_memory(free)}`.")
    return EmbedderChoice(remote.ollama_embedder(fit, url=url))


def _openai(rest: str, environment: Environment) -> EmbedderChoice:
    key = environment.variables.get(OPENAI_KEY, "")
    if not key:
        return _nothing(f"OpenAI needs a key: put it into the environment variable {OPENAI_KEY}.")
    from recollect.embed.remote import OPENAI, openai_embedder

    model, dims = _split(rest or _OPENAI_DEFAULT)
    url = environment.variables.get("OPENAI_BASE_URL") or OPENAI
    if not is_address(url):
        return _nothing(f"OPENAI_BASE_URL is not an address: {url!r}.")
    return EmbedderChoice(openai_embedder(model, dims=dims, url=url, key=key))


def _endpoint(setting: str, environment: Environment) -> EmbedderChoice:
    """OpenAI's key is never sent to a server named by address; that one has a variable of its own."""
    url, _, rest = setting.partition("#")
    model, dims = _split(rest)
    if not model or not is_address(url):
        return _nothing(f"{setting!r} lacks an address or a model: write it as in http://host/v1#model:768.")
    from recollect.embed.remote import openai_embedder

    return EmbedderChoice(openai_embedder(model, dims=dims, url=url, key=environment.variables.get(ENDPOINT_KEY, "")))


def _fastembed(_: str, environment: Environment) -> EmbedderChoice:
    from recollect.embed.fastembed import PACKAGE, FastEmbedder

    if not environment.has_module(PACKAGE):
        return _nothing("fastembed is not installed: `pip install 'recollect[fastembed]'`.")
    return EmbedderChoice(FastEmbedder())


def is_address(url: str) -> bool:
    """Can a server be asked at this URL?"""
    from urllib.parse import urlsplit

    try:
        return bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError:
        return False


def _split(rest: str) -> tuple[str, int | None]:
    """`model:256` → model and dimensions; a tag that is no number belongs to the model."""
    model, _, last = rest.rpartition(":")
    return (model, int(last)) if model and last.isascii() and last.isdigit() and int(last) > 0 else (rest, None)


def _nothing(note: str) -> EmbedderChoice:
    return EmbedderChoice(None, (note,))


_STEPS: Mapping[str, Step] = {
    "auto": _auto,
    "ladder": _ladder,
    "none": _none,
    "pack": _pack,
    "ollama": _ollama,
    "openai": _openai,
    "fastembed": _fastembed,
}
_TAKE_MORE = frozenset({"pack", "ollama", "openai"})
