"""Rerankers behind a `/rerank` endpoint: Cohere's, and any server that speaks like it or like
text-embeddings-inference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from recollect.embed.remote import cut
from recollect.models.rerank.errors import RerankerDown, RerankerWrong
from recollect.models.rerank.marks import numbered
from recollect.net.http import Caller, Patience

COHERE = "https://api.cohere.com/v2"
COHERE_DEFAULT = "rerank-v3.5"
WAITED_FOR = Patience(tries=2, timeout=4.0, deadline=5.0, first_pause=0.2)  # somebody waits for the answer


@dataclass(frozen=True, slots=True)
class EndpointReranker:
    """One model of one server. Without a model's name the server is asked the way text-embeddings-inference, which
    holds a single model, wants it."""

    name: str
    url: str
    model: str
    caller: Caller
    patience: Patience = WAITED_FOR

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        answer = self.caller.post(self.url, self._body(question, texts), self.patience)
        return numbered(answer, name=self.name, count=len(texts))

    def _body(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        asked, read = cut(question), [cut(text) or " " for text in texts]
        if not self.model:
            return {"query": asked, "texts": read, "raw_scores": False, "return_text": False, "truncate": True}
        return {"model": self.model, "query": asked, "documents": read, "top_n": len(read)}


def cohere(model: str, *, key: str, url: str = COHERE, patience: Patience = WAITED_FOR) -> EndpointReranker:
    return _reranker(f"cohere:{model or COHERE_DEFAULT}", url, model or COHERE_DEFAULT, key, patience)


def endpoint(url: str, model: str = "", *, key: str = "", patience: Patience = WAITED_FOR) -> EndpointReranker:
    """Any server by its address, with or without `/rerank` at the end."""
    where = urlsplit(url).netloc.rpartition("@")[2]
    return _reranker(f"{where}:{model}" if model else where, url, model, key, patience)


def _reranker(name: str, url: str, model: str, key: str, patience: Patience) -> EndpointReranker:
    at = url.rstrip("/")
    whole = at if at.endswith("/rerank") else f"{at}/rerank"
    caller = Caller(name, {"Authorization": f"Bearer {key}"} if key else {}, RerankerDown, RerankerWrong)
    return EndpointReranker(name, whole, model, caller, patience)
