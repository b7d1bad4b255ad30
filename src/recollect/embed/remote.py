"""Embedders over HTTP: OpenAI and every server that speaks like it, and Ollama. No client library.

What they share is in `RemoteEmbedder`: the prompts a model wants, batches that fit a request, blank texts kept back,
and a hard look at what comes back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from recollect.embed.port import EmbedderDown, EmbedderWrong
from recollect.net.http import BACKGROUND, INTERACTIVE, Caller, RetryPolicy

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

_BATCH = 128  # texts in one request
# A token is at least one byte, and OpenAI takes at most 8,192 tokens in a text and 300,000 in a request.
_TEXT_BYTES = 8_000
_BATCH_BYTES = 250_000


class Wire(Protocol):
    """One protocol spoken to one server."""

    def vectors(self, texts: Sequence[str], retry: RetryPolicy) -> Any:
        """Whatever the server sent in the place where a list of vectors, in the order of `texts`, belongs."""
        ...


class RemoteEmbedder:
    """A model behind a wire. `dims` is insisted on when given; otherwise the first answer decides."""

    def __init__(
        self,
        model: str,
        wire: Wire,
        *,
        dims: int | None = None,
        documents: RetryPolicy = BACKGROUND,
        questions: RetryPolicy = INTERACTIVE,
    ) -> None:
        self.model = model
        self._wire, self._dims = wire, dims
        self._documents, self._questions = documents, questions
        self._prompts = find_prompts(model)

    @property
    def dims(self) -> int:
        """Asks the server once when nobody has said."""
        known = self._dims
        return int(self._request(["dimensions"], self._questions).shape[1]) if known is None else known

    at_hand = False  # somebody has to be asked over a wire

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._embed([self._prompts.query + text if text.strip() else ""], self._questions)[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        before = self._prompts.document
        return self._embed([before + text if text.strip() else "" for text in texts], self._documents)

    def _embed(self, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
        """Blank texts, which servers refuse, are not sent; their rows stay zero."""
        import numpy as np

        places = [place for place, text in enumerate(texts) if text]
        parts = [
            self._request(batch, retry) for batch in split_requests([cut_to_limit(texts[place]) for place in places])
        ]
        if not parts:
            return np.zeros((len(texts), self.dims), dtype=np.float32)
        rows = np.concatenate(parts)
        out = np.zeros((len(texts), rows.shape[1]), dtype=np.float32)
        out[places] = rows
        return out

    def _request(self, texts: Sequence[str], retry: RetryPolicy) -> Vectors:
        rows = self._wire.vectors(texts, retry)
        vectors = checked_vectors(rows, model=self.model, count=len(texts), dims=self._dims)
        self._dims = vectors.shape[1]
        return vectors


def cut_to_limit(text: str) -> str:
    """The beginning of a text, as much as any model with 8,192 tokens can take."""
    data = text.encode("utf-8", "replace")
    return data[:_TEXT_BYTES].decode("utf-8", "ignore")


def split_requests(texts: Sequence[str]) -> Iterator[list[str]]:
    """Runs of texts that fit one request, by count and by size."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8"))
        if batch and (len(batch) == _BATCH or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def checked_vectors(rows: Any, *, model: str, count: int, dims: int | None) -> Vectors:
    """What a server sent, as unit rows, or an error that says what is wrong with it."""
    import numpy as np

    if not isinstance(rows, list) or len(rows) != count:
        found = f"{len(rows)} vectors" if isinstance(rows, list) else "no list of vectors"
        raise EmbedderWrong(model, f"{count} were asked for, {found} came")
    try:
        exact = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError):
        raise EmbedderWrong(model, "the vectors differ in length or hold something else than numbers") from None
    _insist_on_shape(exact, model=model, dims=dims)
    if not np.isfinite(exact).all():
        raise EmbedderWrong(model, "a vector holds NaN or infinity")
    with np.errstate(over="ignore"):
        lengths = np.linalg.norm(exact, axis=1, keepdims=True)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        raise EmbedderWrong(model, "a vector has no direction")
    return np.asarray(exact / lengths, dtype=np.float32)


def _insist_on_shape(exact: Any, *, model: str, dims: int | None) -> None:
    if exact.ndim != 2 or exact.shape[1] == 0:
        raise EmbedderWrong(model, "the vectors are empty or nested")
    if dims is not None and exact.shape[1] != dims:
        raise EmbedderWrong(
            model,
            f"the vectors have {exact.shape[1]} dimensions, not {dims}",
            hint=f"Name {exact.shape[1]} dimensions in the setting, or a model that can give {dims}.",
        )


# --- OpenAI and servers like it -------------------------------------------------------------------------------------

OPENAI = "https://api.openai.com/v1"
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
_FIXED = frozenset({"text-embedding-ada-002"})  # refuses to be asked for a number of dimensions


def openai_embedder(
    model: str,
    *,
    dims: int | None = None,
    url: str = OPENAI,
    key: str = "",
    documents: RetryPolicy = BACKGROUND,
    questions: RetryPolicy = INTERACTIVE,
) -> RemoteEmbedder:
    """A model of OpenAI or of a server like it. Given `dims` are asked for; OpenAI's own models always get theirs."""
    at = url.rstrip("/")
    where = "openai" if at == OPENAI else urlsplit(at).netloc.rpartition("@")[2]
    dims = dims or (DIMENSIONS.get(model) if at == OPENAI else None)
    id = f"{where}:{model}" + (f":{dims}" if dims else "")
    caller = Caller(id, {"Authorization": f"Bearer {key}"} if key else {}, EmbedderDown, EmbedderWrong)
    asked = None if model in _FIXED else dims
    wire = OpenAIWire(caller, f"{at}/embeddings", model, asked)
    return RemoteEmbedder(id, wire, dims=dims, documents=documents, questions=questions)


@dataclass(frozen=True, slots=True)
class OpenAIWire:
    """`POST …/embeddings`, with `dimensions` when some are asked for."""

    caller: Caller
    url: str
    model: str
    dimensions: int | None

    def vectors(self, texts: Sequence[str], retry: RetryPolicy) -> Any:
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        return self._rows(self.caller.post(self.url, body, retry))

    def _rows(self, answer: Any) -> list[Any]:
        """The vectors in the order of the texts: the protocol numbers them and promises no order."""
        try:
            rows = sorted(answer["data"], key=lambda row: row["index"])
            numbers, vectors = [row["index"] for row in rows], [row["embedding"] for row in rows]
        except (KeyError, TypeError):
            raise EmbedderWrong(self.caller.model, "its answer has no `data` with `index` and `embedding`") from None
        if numbers != list(range(len(rows))):
            raise EmbedderWrong(self.caller.model, "its answer numbers the vectors wrongly")
        return vectors


# --- Ollama: which models are pulled, which of them fits the memory, and its `/api/embed` ---------------------------

LOCAL = "http://127.0.0.1:11434"
PORT = 11434
PROBE = RetryPolicy(tries=1, timeout=0.2, deadline=0.4)  # the ladder must not make anyone wait
_GB = 1 << 30
# Best first: the model, and more than how many bytes of memory must be free for it to be a good guest.
QWEN3 = (("qwen3-embedding:8b", 32 * _GB), ("qwen3-embedding:4b", 8 * _GB), ("qwen3-embedding:0.6b", -1))
_DIMS = {"qwen3-embedding:8b": 4096, "qwen3-embedding:4b": 2560, "qwen3-embedding:0.6b": 1024}


def ollama_embedder(
    model: str, *, url: str = LOCAL, documents: RetryPolicy = BACKGROUND, questions: RetryPolicy = INTERACTIVE
) -> RemoteEmbedder:
    """One model of an Ollama server. Dimensions are known for Qwen3 and learnt from the first answer otherwise."""
    id = f"ollama:{full_name(model)}"
    wire = OllamaWire(Caller(id, {}, EmbedderDown, EmbedderWrong), f"{url.rstrip('/')}/api/embed", model)
    return RemoteEmbedder(id, wire, dims=_DIMS.get(model), documents=documents, questions=questions)


@dataclass(frozen=True, slots=True)
class OllamaWire:
    """`POST /api/embed`; the server cuts what is too long for the model."""

    caller: Caller
    url: str
    model: str

    def vectors(self, texts: Sequence[str], retry: RetryPolicy) -> Any:
        body = {"model": self.model, "input": list(texts), "truncate": True}
        answer = self.caller.post(self.url, body, retry)
        return answer.get("embeddings") if isinstance(answer, dict) else None


def list_pulled(url: str = LOCAL, retry: RetryPolicy = PROBE) -> list[str] | None:
    """The models an Ollama server has, or nothing when none answers in time. Never raises."""
    try:
        answer = Caller("ollama", {}, EmbedderDown, EmbedderWrong).get(f"{url.rstrip('/')}/api/tags", retry)
        return sorted(str(model["name"]) for model in answer["models"])
    except (EmbedderDown, EmbedderWrong, KeyError, TypeError):
        return None


def choose_qwen(models: Sequence[str], *, free: int, stored: str | None = None) -> str | None:
    """The largest pulled Qwen3 the memory has room for. The one that made the stored vectors is kept while it is there:
    free memory changes from hour to hour, the space of the vectors must not."""
    kept = [name for name, _ in QWEN3 if name in models and stored == f"ollama:{name}"]
    fit = [name for name, needed in QWEN3 if name in models and free > needed]
    return next(iter(kept + fit), None)


def qwen_for_memory(free: int) -> str:
    """The Qwen3 to pull on a machine with so much free memory."""
    return next(name for name, needed in QWEN3 if free > needed)


def full_name(model: str) -> str:
    """The full name: Ollama takes a name without a tag as `latest`."""
    return model if ":" in model.rpartition("/")[2] else f"{model}:latest"


def find_server(environment: Mapping[str, str] = os.environ) -> str:
    """Where Ollama is: OLLAMA_HOST as its own tools read it, else this machine."""
    host = environment.get("OLLAMA_HOST", "").strip().rstrip("/")
    if not host:
        return LOCAL
    scheme, _, rest = host.rpartition("://")
    rest = rest.replace("0.0.0.0", "127.0.0.1")
    return f"{scheme or 'http'}://{rest}" + ("" if ":" in rest or scheme else f":{PORT}")


def measure_free_memory(meminfo: Path = Path("/proc/meminfo")) -> int:
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


# --- prompts --------------------------------------------------------------------------------------------------------

_PASSAGES = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Prompts:
    """What a model wants before a question and before a document. Asymmetric models lose much without it."""

    query: str = ""
    document: str = ""


# Longest name first where one begins another; matched anywhere in the model's name.
_KNOWN = (
    (
        "qwen3-embedding",
        Prompts(
            "Instruct: Given a question about earlier work and conversations, retrieve the passages that answer it\n"
            "Query:"
        ),
    ),
    ("nomic-embed-text", Prompts("search_query: ", "search_document: ")),
    ("embeddinggemma", Prompts("task: search result | query: ", "title: none | text: ")),
    ("arctic-embed2", Prompts("query: ")),
    ("arctic-embed-l-v2", Prompts("query: ")),
    ("arctic-embed-m-v2", Prompts("query: ")),
    ("arctic-embed", Prompts(_PASSAGES)),
    ("mxbai-embed", Prompts(_PASSAGES)),
    ("bge-m3", Prompts()),
    ("bge-", Prompts(_PASSAGES)),
    ("multilingual-e5", Prompts("query: ", "passage: ")),
    ("e5-", Prompts("query: ", "passage: ")),
)


def find_prompts(model: str) -> Prompts:
    """The prompts for a model of this name; none for one that is not known to want any."""
    name = model.lower()
    return next((prompts for known, prompts in _KNOWN if known in name), Prompts())
