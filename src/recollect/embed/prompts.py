"""What a model wants before a question and before a document. Asymmetric models lose much without it."""

from __future__ import annotations

from dataclasses import dataclass

_PASSAGES = "Represent this sentence for searching relevant passages: "


@dataclass(frozen=True, slots=True)
class Prompts:
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


def prompts_of(model: str) -> Prompts:
    """The prompts for a model of this name; none for one that is not known to want any."""
    name = model.lower()
    return next((prompts for known, prompts in _KNOWN if known in name), Prompts())
