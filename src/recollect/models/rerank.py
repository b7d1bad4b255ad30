"""Rerankers read a question beside each text and say how well it answers: choosing one, and the one that runs here.

Choosing is cheap, loads no model, asks no network and never raises. Recall keeps its own order when a reranker fails,
and says why in its notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.core.errors import RecollectError
from recollect.core.ports import Reranker
from recollect.embed.choose import Environment, is_address
from recollect.embed.onnx import RUNTIME, Encoder, count_threads, pad_batch, run_each, split_batches
from recollect.embed.packs import DEFAULT_RERANKER, RERANKERS, Pack, is_installed
from recollect.embed.port import INSTALL
from recollect.embed.wordpiece import WordPiece

RERANKER_SETTINGS = "none, onnx[:PACK], ollama[:MODEL], cohere[:MODEL], URL#MODEL or, for a server with one model, URL"
COHERE_KEYS = ("COHERE_API_KEY", "CO_API_KEY")
ENDPOINT_KEY = "RECOLLECT_RERANK_KEY"


@dataclass(frozen=True, slots=True)
class RerankerChoice:
    """The reranker, if any, and what a person should know when it cannot be had."""

    reranker: Reranker | None
    notes: tuple[str, ...] = ()


def choose_reranker(setting: str, environment: Environment) -> RerankerChoice:
    """The reranker `setting` asks for, or none and a note that says what to do about it."""
    kind, _, rest = setting.strip().partition(":")
    match kind:
        case "none" if not rest:
            return RerankerChoice(None)
        case "http" | "https":
            return _endpoint(setting.strip(), environment)
        case "onnx":
            return _onnx(rest, environment)
        case "ollama":
            return _ollama(rest, environment)
        case "cohere":
            return _cohere(rest, environment)
    return _nothing(f"There is no reranker {setting!r}. Use {RERANKER_SETTINGS}.")


def _onnx(name: str, environment: Environment) -> RerankerChoice:
    pack = RERANKERS.get(name or DEFAULT_RERANKER)
    if pack is None:
        return _nothing(f"There is no reranker pack {name!r}; there are {', '.join(sorted(RERANKERS))}.")
    if not is_installed(pack, environment.folder):
        return _nothing(f"The reranker pack {pack.name} is not installed: `{INSTALL} {pack.name}` fetches it.")
    if not environment.has_module(RUNTIME):
        return _nothing(f"The reranker pack {pack.name} needs {RUNTIME}: `pip install 'recollect[onnx]'`.")
    return RerankerChoice(OnnxReranker(pack, environment.folder))


def _ollama(model: str, environment: Environment) -> RerankerChoice:
    from recollect.embed.remote import find_server
    from recollect.models.rerank_remote import OllamaReranker

    return RerankerChoice(OllamaReranker(model, url=find_server(environment.variables)))


def _cohere(model: str, environment: Environment) -> RerankerChoice:
    from recollect.models.rerank_remote import cohere_reranker

    key = next((environment.variables[name] for name in COHERE_KEYS if environment.variables.get(name)), "")
    if not key:
        return _nothing(f"Cohere needs a key: put it into the environment variable {COHERE_KEYS[0]}.")
    return RerankerChoice(cohere_reranker(model, key=key))


def _endpoint(setting: str, environment: Environment) -> RerankerChoice:
    """Cohere's key is never sent to a server named by address; that one has a variable of its own."""
    from recollect.models.rerank_remote import endpoint_reranker

    url, _, model = setting.partition("#")
    if not is_address(url):
        return _nothing(f"{setting!r} has no address: write it as in http://host:8080/v1#model.")
    return RerankerChoice(endpoint_reranker(url, model, key=environment.variables.get(ENDPOINT_KEY, "")))


def _nothing(note: str) -> RerankerChoice:
    return RerankerChoice(None, (note,))


class RerankerDown(RecollectError):
    """The reranker gave no answer; asking again later may help."""

    code = "reranker-down"

    def __init__(self, name: str, why: str, *, hint: str = "") -> None:
        super().__init__(
            f"The reranker {name} does not answer: {why}.",
            hint=hint or 'Recall keeps its own order. Try again later, or set `reranker = "none"`.',
        )


class RerankerWrong(RecollectError):
    """The reranker answered with something that is not one mark for each text."""

    code = "reranker-wrong"

    def __init__(self, name: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"The reranker {name} gave a wrong answer: {problem}.",
            hint=hint or "Recall keeps its own order. Check that the setting names a model made for reranking.",
        )


# --- a cross-encoder on this machine --------------------------------------------------------------------------------

_BATCH = 8  # pairs at once
_BATCH_TOKENS = 2048  # padded tokens at once
_QUESTION_SHARE = 0.5  # of the room, at most, is the question's

Pair = tuple[list[int], list[int]]  # token ids, and which of the two texts each belongs to


class OnnxReranker:
    """A cross-encoder on onnxruntime (extra `onnx`): question and text go through the model together, out comes a mark.

    Its pack gives one logit, or one for no and one for yes. Pairs run in small batches of similar length on threads of
    our own; threads may share it.
    """

    def __init__(self, pack: Pack, folder: Path, *, threads: int | None = None) -> None:
        self._pack = pack
        self._threads = threads or count_threads()
        self._encoder = Encoder(pack, folder, name=self.name, down=RerankerDown)

    @property
    def name(self) -> str:
        return f"onnx:{self._pack.name}"

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        words = self._encoder.words
        encoded = [encode_pair(words, question, text, limit=self._pack.max_tokens) for text in texts]
        sizes = [len(ids) for ids, _ in encoded]
        order = sorted(range(len(texts)), key=lambda place: -sizes[place])
        marks = [0.0] * len(texts)

        def run(batch: list[int]) -> None:
            ids, types = zip(*(encoded[place] for place in batch), strict=True)
            logits = self._encoder.run(pad_batch(ids, pad=words.pad, types=types))
            for place, mark in zip(batch, marks_from_logits(logits, name=self.name, count=len(batch)), strict=True):
                marks[place] = float(mark)

        run_each(run, split_batches(sizes, order, limit=_BATCH, max_tokens=_BATCH_TOKENS), threads=self._threads)
        return marks


def encode_pair(words: WordPiece, question: str, text: str, *, limit: int) -> Pair:
    """[CLS] question [SEP] text [SEP] within `limit` tokens; a long question leaves the text half the room."""
    first, last = words.encode("", limit=2)
    room = max(limit - 3, 2)
    asked = words.encode(question, limit=room, framed=False)
    read = words.encode(text, limit=room, framed=False)
    asked = asked[: max(int(room * _QUESTION_SHARE), room - len(read))]
    read = read[: room - len(asked)]
    return [first, *asked, last, *read, last], [0] * (len(asked) + 2) + [1] * (len(read) + 1)


def marks_from_logits(logits: Any, *, name: str, count: int) -> Any:
    """From 0 to 1: the logistic of one logit, or of how far yes is above no."""
    import numpy as np

    if logits.ndim not in (1, 2) or len(logits) != count or (logits.ndim == 2 and logits.shape[1] not in (1, 2)):
        raise RerankerWrong(name, f"its output has the shape {logits.shape}, not ({count}, 1) or ({count}, 2)")
    if not np.isfinite(logits).all():
        raise RerankerWrong(name, "a mark is NaN or infinite")
    wide = logits.reshape(count, -1).astype(np.float64)
    margin = wide[:, 0] if wide.shape[1] == 1 else wide[:, 1] - wide[:, 0]
    return 1 / (1 + np.exp(-np.clip(margin, -60, 60)))
