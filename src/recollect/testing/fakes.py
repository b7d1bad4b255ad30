"""Stand-ins for the ports: a channel with fixed answers, a projector and a reranker that can be told to fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from recollect.core.conversations import ChatMessage, ToolSpec
from recollect.core.query import Candidate, Query, Reading
from recollect.core.text import words
from recollect.models.port import Heard, Object, Reply, Text, Usage


class FixedChannel:
    """Answers every question with the same candidates, after a delay or with an error when told so."""

    def __init__(
        self,
        name: str,
        candidates: Sequence[Candidate] = (),
        *,
        delay: float = 0.0,
        error: Exception | None = None,
    ) -> None:
        self.name = name
        self._candidates = candidates
        self._delay = delay
        self._error = error

    def candidates(self, query: Query, reading: Reading) -> Sequence[Candidate]:
        time.sleep(self._delay)
        if self._error is not None:
            raise self._error
        return self._candidates


class FunctionReranker:
    """Marks each text by a function of question and text."""

    name = "function"

    def __init__(self, mark: Callable[[str, str], float]) -> None:
        self._mark = mark

    def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        return [self._mark(question, text) for text in texts]


class FileNeighbours:
    """A neighbourhood from a plain table of file → files."""

    def __init__(self, table: dict[str, Sequence[str]]) -> None:
        self._table = table

    def neighbours(self, files: Sequence[str]) -> Sequence[str]:
        return [near for file in files for near in self._table.get(file, ())]


class ScriptedModel:
    """A language model that says what it was told to, in order, and keeps what it was asked. An exception is raised."""

    def __init__(self, *answers: Any, model: str = "scripted") -> None:
        self.model = model
        self.answers = list(answers)
        self.asked: list[str] = []
        self.talked: list[list[ChatMessage]] = []

    def text(self, prompt: str, *, system: str = "", max_tokens: int) -> Text:
        return Text(str(self._next(prompt)), Usage(10, 5))

    def object(self, prompt: str, *, system: str = "", schema: Mapping[str, Any], max_tokens: int) -> Object:
        return Object(self._next(prompt), Usage(10, 5))

    def chat(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        max_tokens: int,
        heard: Heard | None = None,
    ) -> Reply:
        """The next answer as a message: a text, or a list of `Request`s. The messages are kept in `talked`."""
        self.talked.append(list(messages))
        told = self._next(messages[-1].content)
        if isinstance(told, list):
            return Reply("", tuple(told), Usage(10, 5))
        if heard is not None:
            for word in str(told).split(" "):
                heard(f"{word} ")
        return Reply(str(told), (), Usage(10, 5))

    def _next(self, prompt: str) -> Any:
        self.asked.append(prompt)
        answer = self.answers.pop(0) if self.answers else {"facts": [], "replaces": [], "entities": []}
        if isinstance(answer, Exception):
            raise answer
        return answer(prompt) if callable(answer) else answer


class WordEmbedder:
    """Vectors from hashed words: texts that share words are near. Deterministic, and it can be told to fail."""

    def __init__(self, model: str = "words", dims: int = 64) -> None:
        self.model = model
        self.dims = dims
        self.embedded = 0
        self.at_hand = False
        self.error: Exception | None = None

    def embed_documents(self, texts: Sequence[str]) -> Any:
        import numpy as np

        if self.error is not None:
            raise self.error
        self.embedded += len(texts)
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text):
                row[int.from_bytes(blake2b(word[:4].encode(), digest_size=4).digest()) % self.dims] += 1
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths == 0, 1, lengths)

    def embed_query(self, text: str) -> Any:
        return self.embed_documents([text])[0]
