"""Qwen3-Reranker on Ollama: each text is judged by how likely the model's next word is yes rather than no.

Ollama has no rerank endpoint, and the norm of an embedding of such a model means nothing. `/api/generate` gives the
log-probabilities of the next token since 0.12.11; one token per text is all that is generated.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from recollect.embed.ollama import LOCAL, pulled, tagged
from recollect.embed.parallel import each
from recollect.models.rerank.errors import RerankerDown, RerankerWrong
from recollect.net.http import Caller, Patience

_PROMPT = Path(__file__).with_name("qwen3.txt")
_ASKED, _READ = 1_000, 3_000  # characters of the question and of each text
_AT_ONCE = 4  # requests under way; Ollama queues more than it runs
_ALTERNATIVES = 20  # likely next tokens to be told of; Ollama's most
_FAMILY = "qwen3-reranker"
WAITED_FOR = Patience(tries=2, timeout=6.0, deadline=8.0, first_pause=0.2)


class OllamaReranker:
    """A Qwen3-Reranker of one Ollama server. Without a name, the first pulled one is taken when it is needed."""

    def __init__(self, model: str = "", *, url: str = LOCAL, patience: Patience = WAITED_FOR) -> None:
        self._model, self._patience = model, patience
        self._url = url.rstrip("/")
        self._lock = Lock()
        self._caller = Caller(self.name, {}, RerankerDown, RerankerWrong)

    @property
    def name(self) -> str:
        return f"ollama:{tagged(self._model) if self._model else _FAMILY}"

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        model = self._known()
        marks = [0.0] * len(texts)

        def judge(place: int) -> None:
            marks[place] = self._mark(model, question, texts[place])

        each(judge, range(len(texts)), most=_AT_ONCE)
        return marks

    def _mark(self, model: str, question: str, text: str) -> float:
        body = {
            "model": model,
            "prompt": prompt(question, text),
            "raw": True,
            "stream": False,
            "logprobs": True,
            "top_logprobs": _ALTERNATIVES,
            "options": {"temperature": 0, "num_predict": 1},
        }
        answer = self._caller.post(f"{self._url}/api/generate", body, self._patience)
        return likelihood(answer, name=self.name)

    def _known(self) -> str:
        with self._lock:
            if not self._model:
                models = pulled(self._url) or []
                self._model = next((model for model in models if _FAMILY in model.lower()), "")
            if not self._model:
                raise RerankerDown(
                    self.name, "no Qwen3-Reranker is pulled", hint='Pull one, and name it: `reranker = "ollama:MODEL"`.'
                )
            return self._model


def prompt(question: str, text: str) -> str:
    """The model's own form, whole. What a memory says can never close it: its control marks are broken up."""
    whole = _PROMPT.read_text(encoding="utf-8")
    before, _, after = whole.partition("{question}")
    middle, _, end = after.partition("{text}")
    return f"{before}{_plain(question[:_ASKED])}{middle}{_plain(text[:_READ])}{end}"


def likelihood(answer: Any, *, name: str) -> float:
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
