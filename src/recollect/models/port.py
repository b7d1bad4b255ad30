"""The port of language models: a text or a structured object for a prompt, and what it cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from recollect.core.conversations import ChatMessage, Request, ToolSpec
from recollect.core.tokens import estimate_tokens

_CAUTIOUS = 3  # characters per token: a budget is better overestimated than overspent
_ROLE = 4  # tokens around each message


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call. `exact` is false when the server did not say and it was estimated."""

    input: int
    output: int
    exact: bool = True

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Text:
    text: str
    usage: Usage


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object that fits the schema it was asked for."""

    value: Mapping[str, Any]
    usage: Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model says in a chat: words, or tools it wants called, or both."""

    text: str
    requests: tuple[Request, ...]
    usage: Usage


Heard: TypeAlias = Callable[[str], None]  # is told each piece of an answer as it comes


class LanguageModel(Protocol):
    """Answers prompts. Raises `ModelDown` when there is no answer and `ModelWrong` when it cannot be used."""

    @property
    def model(self) -> str: ...

    def text(self, prompt: str, *, system: str = "", max_tokens: int) -> Text:
        """A free answer of at most `max_tokens` tokens."""
        ...

    def object(self, prompt: str, *, system: str = "", schema: Mapping[str, Any], max_tokens: int) -> Object:
        """An answer that fits a JSON schema, of at most `max_tokens` tokens."""
        ...


@runtime_checkable
class ChatModel(LanguageModel, Protocol):
    """A language model that holds a conversation and can ask for tools."""

    def chat(
        self,
        messages: Sequence[ChatMessage],
        *,
        tools: Sequence[ToolSpec] = (),
        max_tokens: int,
        heard: Heard | None = None,
    ) -> Reply:
        """The next message of at most `max_tokens` tokens. With `heard`, it is told piece by piece as it comes."""
        ...


Model: TypeAlias = Callable[[str, str | None], LanguageModel]  # for one feature and, where there is one, a session


def estimate(text: str) -> int:
    """About how many tokens a text costs: rather too many than too few."""
    return estimate_tokens(text, chars_per_token=_CAUTIOUS) + _ROLE
