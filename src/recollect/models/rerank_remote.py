"""Rerankers on a server: behind a `/rerank` endpoint (Cohere's, or any that speaks like it), and Qwen3 on Ollama.

What a server sends is looked at hard: one mark for each text, every one a number, all of them from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from recollect.embed.onnx import run_each
from recollect.embed.remote import LOCAL, cut_to_limit, full_name, list_pulled
from recollect.models.rerank import RerankerDown, RerankerWrong
from recollect.net.http import Caller, RetryPolicy

COHERE = "https://api.cohere.com/v2"
COHERE_DEFAULT = "rerank-v3.5"
ENDPOINT_TIMES = RetryPolicy(tries=2, timeout=4.0, deadline=5.0, first_pause=0.2)  # somebody waits for the answer


@dataclass(frozen=True, slots=True)
class EndpointReranker:
    """One model of one server. Without a model's name the server is asked the way text-embeddings-inference, which
    holds a single model, wants it."""

    name: str
    url: str
    model: str
    caller: Caller
    retry: RetryPolicy = ENDPOINT_TIMES

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        answer = self.caller.post(self.url, self._body(question, texts), self.retry)
        return read_marks(answer, name=self.name, count=len(texts))

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        asked, read = cut_to_limit(question), [cut_to_limit(text) or " " for text in texts]
        if not self.model:
            return {"query": asked, "texts": read, "raw_scores": False, "return_text": False, "truncate": True}
        return {"model": self.model, "query": asked, "documents": read, "top_n": len(read)}


def cohere_reranker(
    model: str, *, key: str, url: str = COHERE, retry: RetryPolicy = ENDPOINT_TIMES
) -> EndpointReranker:
    return _reranker(f"cohere:{model or COHERE_DEFAULT}", url, model or COHERE_DEFAULT, key, retry)


def endpoint_reranker(
    url: str, model: str = "", *, key: str = "", retry: RetryPolicy = ENDPOINT_TIMES
) -> EndpointReranker:
    """Any server by its address, with or without `/rerank` at the end."""
    where = urlsplit(url).netloc.rpartition("@")[2]
    return _reranker(f"{where}:{model}" if model else where, url, model, key, retry)


def _reranker(name: str, url: str, model: str, key: str, retry: RetryPolicy) -> EndpointReranker:
    at = url.rstrip("/")
    whole = at if at.endswith("/rerank") else f"{at}/rerank"
    caller = Caller(name, {"Authorization": f"Bearer {key}"} if key else {}, RerankerDown, RerankerWrong)
    return EndpointReranker(name, whole, model, caller, retry)


_SCORES = ("relevance_score", "score")
_LISTS = ("results", "data")


def read_marks(answer: Any, *, name: str, count: int) -> list[float]:
    """Marks in the order of the texts, out of any `/rerank` answer.

    Cohere, Jina, vLLM and llama.cpp send `{"results": [{"index", "relevance_score"}]}`, Voyage calls the list `data`,
    text-embeddings-inference sends the bare list with `score`. All number their rows and sort them by relevance.
    """
    rows = answer
    if isinstance(answer, dict):
        rows = next((answer[key] for key in _LISTS if key in answer), None)
    if not isinstance(rows, list):
        raise RerankerWrong(name, "its answer has no list of results")
    found: dict[int, float] = {}
    for row in rows:
        place, mark = _row(row, name)
        if not 0 <= place < count or place in found:
            raise RerankerWrong(name, f"its answer numbers the texts wrongly ({place})")
        found[place] = mark
    if len(found) != count:
        raise RerankerWrong(name, f"{count} marks were asked for, {len(found)} came")
    return bound_marks([found[place] for place in range(count)], name=name)


def bound_marks(marks: Sequence[float], *, name: str) -> list[float]:
    """The marks from 0 to 1. A model that answers with raw scores shows it by leaving that range; all are squeezed
    then, which keeps their order."""
    if not all(math.isfinite(mark) for mark in marks):
        raise RerankerWrong(name, "a mark is NaN or infinite")
    if all(0.0 <= mark <= 1.0 for mark in marks):
        return list(marks)
    return [logistic(mark) for mark in marks]


def logistic(logit: float) -> float:
    """The logistic function, without overflow."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def _row(row: Any, name: str) -> tuple[int, float]:
    mark = next((row[key] for key in _SCORES if key in row), None) if isinstance(row, dict) else None
    place = row.get("index") if isinstance(row, dict) else None
    if not isinstance(place, int) or not isinstance(mark, (int, float)) or isinstance(mark, bool):
        raise RerankerWrong(name, "a result has no `index` or no number as its score")
    return place, float(mark)


# --- Qwen3-Reranker on Ollama ---------------------------------------------------------------------------------------

_PROMPT = Path(__file__).with_name("qwen3_reranker.txt")
_QUESTION_CHARS, _TEXT_CHARS = 1_000, 3_000  # characters of the question and of each text
_AT_ONCE = 4  # requests under way; Ollama queues more than it runs
_ALTERNATIVES = 20  # likely next tokens to be told of; Ollama's most
_FAMILY = "qwen3-reranker"
OLLAMA_TIMES = RetryPolicy(tries=2, timeout=6.0, deadline=8.0, first_pause=0.2)


class OllamaReranker:
    """A Qwen3-Reranker of one Ollama server: each text is judged by how likely the next word is yes rather than no.

    Ollama has no rerank endpoint, and the norm of an embedding of such a model means nothing. `/api/generate` gives the
    log-probabilities of the next token since 0.12.11; one token per text is all that is generated. Without a name, the
    first pulled model is taken when it is needed.
    """

    def __init__(self, model: str = "", *, url: str = LOCAL, retry: RetryPolicy = OLLAMA_TIMES) -> None:
        self._model, self._retry = model, retry
        self._url = url.rstrip("/")
        self._lock = Lock()
        self._caller = Caller(self.name, {}, RerankerDown, RerankerWrong)

    @property
    def name(self) -> str:
        return f"ollama:{full_name(self._model) if self._model else _FAMILY}"

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        model = self._known()
        marks = [0.0] * len(texts)

        def judge(place: int) -> None:
            marks[place] = self._mark(model, question, texts[place])

        run_each(judge, range(len(texts)), threads=_AT_ONCE)
        return marks

    def _mark(self, model: str, question: str, text: str) -> float:
        body = {
            "model": model,
            "prompt": fill_prompt(question, text),
            "raw": True,
            "stream": False,
            "logprobs": True,
            "top_logprobs": _ALTERNATIVES,
            "options": {"temperature": 0, "num_predict": 1},
        }
        answer = self._caller.post(f"{self._url}/api/generate", body, self._retry)
        return read_likelihood(answer, name=self.name)

    def _known(self) -> str:
        with self._lock:
            if not self._model:
                models = list_pulled(self._url) or []
                self._model = next((model for model in models if _FAMILY in model.lower()), "")
            if not self._model:
                raise RerankerDown(
                    self.name, "no Qwen3-Reranker is pulled", hint='Pull one, and name it: `reranker = "ollama:MODEL"`.'
                )
            return self._model


def fill_prompt(question: str, text: str) -> str:
    """The model's own form, whole. What a memory says can never close it: its control marks are broken up."""
    whole = _PROMPT.read_text(encoding="utf-8")
    before, _, after = whole.partition("{question}")
    middle, _, end = after.partition("{text}")
    return f"{before}{_plain(question[:_QUESTION_CHARS])}{middle}{_plain(text[:_TEXT_CHARS])}{end}"


def read_likelihood(answer: Any, *, name: str) -> float:
    """P(yes) / (P(yes) + P(no)) for the first token of an answer."""
    try:
        first = answer["logprobs"][0]
        likely = [(str(one["token"]), float(one["logprob"])) for one in [first, *(first.get("top_logprobs") or ())]]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise RerankerWrong(
            name, "it gives no log-probabilities", hint="Ollama gives them since 0.12.11: is it newer?"
        ) from None
    if any(math.isnan(log) for _, log in likely):
        raise RerankerWrong(name, "a log-probability is NaN")
    odds = dict.fromkeys(("yes", "no"), 0.0)
    for word, log in dict(likely).items():
        if (plain := word.strip().lower()) in odds:
            odds[plain] += math.exp(min(log, 0.0))
    total = sum(odds.values())
    if total <= 0:
        raise RerankerWrong(name, "neither yes nor no is among the likely words")
    return odds["yes"] / total


def _plain(text: str) -> str:
    return text.replace("<|", "< |").replace("<think>", "< think>").replace("</think>", "< /think>")
