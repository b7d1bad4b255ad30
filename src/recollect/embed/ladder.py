"""Which embedder to use: a configured one is obeyed or reported, never replaced; `auto` takes the best that is here.

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

from recollect.embed.errors import INSTALL
from recollect.embed.packs import PACKS, Pack, installed
from recollect.embed.port import Embedder

SETTINGS = "auto, ladder, none, pack:NAME, ollama[:MODEL], openai:MODEL[:DIMS], fastembed or URL#MODEL[:DIMS]"
OPENAI_KEY = "OPENAI_API_KEY"
ENDPOINT, ENDPOINT_KEY = "RECOLLECT_EMBED_URL", "RECOLLECT_EMBED_KEY"
_OPENAI_DEFAULT = "text-embedding-3-small"


@dataclass(frozen=True, slots=True)
class Choice:
    """The embedder, if any, and what a person should know about how it came to that."""

    embedder: Embedder | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Here:
    """What this machine offers. Everything a choice looks at, so that a test can hand in another machine."""

    folder: Path  # of the model packs
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)
    stored: str | None = None  # the model of the vectors already in the store
    threads: int | None = None
    has_module: Callable[[str], bool] = lambda name: find_spec(name) is not None
    free_memory: Callable[[], int] | None = None  # bytes; asked of the system when nobody says


Step: TypeAlias = Callable[[str, Here], Choice]


def choose(setting: str, here: Here) -> Choice:
    """The embedder `setting` asks for, or none and a note that says what to do about it."""
    kind, _, rest = setting.strip().partition(":")
    if kind in ("http", "https"):
        return _endpoint(setting.strip(), here)
    step = _STEPS.get(kind)
    if step is None or (rest and kind not in _TAKE_MORE):
        return _nothing(f"There is no embedder {setting!r}. Use {SETTINGS}.")
    return step(rest, here)


def _none(_: str, here: Here) -> Choice:
    return Choice(None)


def _auto(_: str, here: Here) -> Choice:
    """The best pack that is installed and can run; nothing is fetched or probed."""
    notes: list[str] = []
    for name in PACKS:
        if installed(PACKS[name], here.folder):
            choice = _pack(name, here)
            if choice.embedder is not None:
                return Choice(choice.embedder, tuple(notes))
            notes += choice.notes
    notes.append(f"No embedding model is at hand, so recall goes by keywords. `{INSTALL}` fetches one.")
    return Choice(None, tuple(notes))


def _ladder(_: str, here: Here) -> Choice:
    """Every rung in the order of the specification; the first that works, or what each of them lacks."""
    from recollect.embed.fastembed import weights_here

    rungs: list[tuple[Step, str]] = [(_ollama, ""), (_openai, _OPENAI_DEFAULT)]
    if here.environment.get(ENDPOINT):
        rungs.append((_endpoint, here.environment[ENDPOINT]))
    if weights_here(here.environment):
        rungs.append((_fastembed, ""))
    notes: list[str] = []
    for step, rest in (*rungs, (_auto, "")):
        choice = step(rest, here)
        if choice.embedder is not None:
            return choice
        notes += choice.notes
    return Choice(None, tuple(notes))


def _pack(name: str, here: Here) -> Choice:
    pack = PACKS.get(name)
    if pack is None:
        return _nothing(f"There is no model pack {name!r}; there are {', '.join(sorted(PACKS))}.")
    if not installed(pack, here.folder):
        return _nothing(f"The model pack {name} is not installed: `{INSTALL} {name}` fetches it.")
    return _embedder_of(pack, here)


def _embedder_of(pack: Pack, here: Here) -> Choice:
    if not here.has_module("numpy"):
        return _nothing(f"The model pack {pack.name} needs numpy: `pip install numpy`.")
    if not pack.files[0].name.endswith(".onnx"):
        from recollect.embed.static import StaticEmbedder

        return Choice(StaticEmbedder(pack, here.folder))
    from recollect.embed.encoder import RUNTIME
    from recollect.embed.onnx import OnnxEmbedder

    if not here.has_module(RUNTIME):
        return _nothing(f"The model pack {pack.name} needs {RUNTIME}: `pip install 'recollect[onnx]'`.")
    return Choice(OnnxEmbedder(pack, here.folder, threads=here.threads))


def _ollama(model: str, here: Here) -> Choice:
    from recollect.embed import ollama

    url = ollama.server(here.environment)
    models = ollama.pulled(url)
    if models is None:
        return _nothing(f"Ollama does not answer at {url}: start it with `ollama serve`.")
    if model:
        if ollama.tagged(model) not in models:
            return _nothing(f"Ollama has not pulled {model}: `ollama pull {model}`.")
        return Choice(ollama.ollama_embedder(model, url=url))
    free = (here.free_memory or ollama.free_memory)()
    fit = ollama.fitting(models, free=free, stored=here.stored)
    if fit is None:
        return _nothing(f"Ollama has no fitting qwen3-embedding: `ollama pull {ollama.best(free)}`.")
    return Choice(ollama.ollama_embedder(fit, url=url))


def _openai(rest: str, here: Here) -> Choice:
    key = here.environment.get(OPENAI_KEY, "")
    if not key:
        return _nothing(f"OpenAI needs a key: put it into the environment variable {OPENAI_KEY}.")
    from recollect.embed.openai import OPENAI, openai_embedder

    model, dims = _split(rest or _OPENAI_DEFAULT)
    url = here.environment.get("OPENAI_BASE_URL") or OPENAI
    if not _is_address(url):
        return _nothing(f"OPENAI_BASE_URL is not an address: {url!r}.")
    return Choice(openai_embedder(model, dims=dims, url=url, key=key))


def _endpoint(setting: str, here: Here) -> Choice:
    """OpenAI's key is never sent to a server named by address; that one has a variable of its own."""
    url, _, rest = setting.partition("#")
    model, dims = _split(rest)
    if not model or not _is_address(url):
        return _nothing(f"{setting!r} lacks an address or a model: write it as in http://host/v1#model:768.")
    from recollect.embed.openai import openai_embedder

    return Choice(openai_embedder(model, dims=dims, url=url, key=here.environment.get(ENDPOINT_KEY, "")))


def _fastembed(_: str, here: Here) -> Choice:
    from recollect.embed.fastembed import PACKAGE, FastEmbedder

    if not here.has_module(PACKAGE):
        return _nothing("fastembed is not installed: `pip install 'recollect[fastembed]'`.")
    return Choice(FastEmbedder())


def _is_address(url: str) -> bool:
    from urllib.parse import urlsplit

    try:
        return urlsplit(url).hostname is not None and urlsplit(url).port != 0
    except ValueError:
        return False


def _split(rest: str) -> tuple[str, int | None]:
    """`model:256` → model and dimensions; a tag that is no number belongs to the model."""
    model, _, last = rest.rpartition(":")
    return (model, int(last)) if model and last.isascii() and last.isdigit() and int(last) > 0 else (rest, None)


def _nothing(note: str) -> Choice:
    return Choice(None, (note,))


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
