"""Ollama on this machine or another: which models are pulled, which of them fits the memory, and its `/api/embed`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.embed.errors import EmbedderDown, EmbedderWrong
from recollect.embed.remote import RemoteEmbedder
from recollect.net.http import BRISK, PATIENT, Caller, Patience

LOCAL = "http://127.0.0.1:11434"
PORT = 11434
PROBE = Patience(tries=1, timeout=0.2, deadline=0.4)  # the ladder must not make anyone wait
_GB = 1 << 30
# Best first: the model, and more than how many bytes of memory must be free for it to be a good guest.
QWEN3 = (("qwen3-embedding:8b", 32 * _GB), ("qwen3-embedding:4b", 8 * _GB), ("qwen3-embedding:0.6b", -1))
_DIMS = {"qwen3-embedding:8b": 4096, "qwen3-embedding:4b": 2560, "qwen3-embedding:0.6b": 1024}


def ollama_embedder(
    model: str, *, url: str = LOCAL, documents: Patience = PATIENT, questions: Patience = BRISK
) -> RemoteEmbedder:
    """One model of an Ollama server. Dimensions are known for Qwen3 and learnt from the first answer otherwise."""
    id = f"ollama:{tagged(model)}"
    wire = OllamaWire(Caller(id, {}, EmbedderDown, EmbedderWrong), f"{url.rstrip('/')}/api/embed", model)
    return RemoteEmbedder(id, wire, dims=_DIMS.get(model), documents=documents, questions=questions)


@dataclass(frozen=True, slots=True)
class OllamaWire:
    """`POST /api/embed`; the server cuts what is too long for the model."""

    caller: Caller
    url: str
    model: str

    def vectors(self, texts: Sequence[str], patience: Patience) -> Any:
        body = {"model": self.model, "input": list(texts), "truncate": True}
        answer = self.caller.post(self.url, body, patience)
        return answer.get("embeddings") if isinstance(answer, dict) else None


def pulled(url: str = LOCAL, patience: Patience = PROBE) -> list[str] | None:
    """The models an Ollama server has, or nothing when none answers in time. Never raises."""
    try:
        answer = Caller("ollama", {}, EmbedderDown, EmbedderWrong).get(f"{url.rstrip('/')}/api/tags", patience)
        return sorted(str(model["name"]) for model in answer["models"])
    except (EmbedderDown, EmbedderWrong, KeyError, TypeError):
        return None


def fitting(models: Sequence[str], *, free: int, stored: str | None = None) -> str | None:
    """The largest pulled Qwen3 the memory has room for. The one that made the stored vectors is kept while it is there:
    free memory changes from hour to hour, the space of the vectors must not."""
    kept = [name for name, _ in QWEN3 if name in models and stored == f"ollama:{name}"]
    fit = [name for name, needed in QWEN3 if name in models and free > needed]
    return next(iter(kept + fit), None)


def best(free: int) -> str:
    """The Qwen3 to pull on a machine with so much free memory."""
    return next(name for name, needed in QWEN3 if free > needed)


def tagged(model: str) -> str:
    """The full name: Ollama takes a name without a tag as `latest`."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def server(environment: Mapping[str, str] = os.environ) -> str:
    """Where Ollama is: OLLAMA_HOST as its own tools read it, else this machine."""
    host = environment.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not host:
        return LOCAL
    scheme, _, rest = host.rpartition("://")
    rest = rest.replace("0.0.0.0", "127.0.0.1")
    return f"{scheme or 'http'}://{rest}" + ("" if ":" in rest or scheme else f":{PORT}")


def free_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
    """Bytes a new program could have, or 0 where the system does not tell."""
    try:
        for line in meminfo.read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0
