"""The language of the keyword index: how text is cut into words, and a question as an expression of quoted tokens.

Nothing a person types can be syntax. Pure, and light to load: the hook process asks the index without the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recollect.core.text import humps, index_body, is_unspaced, split_runs, unspaced_pairs, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.query import Reading

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")  # how the keyword index cuts text into words
MOST_TERMS = 48  # a longer question is cut: each further term costs time and adds next to nothing


def terms(reading: Reading, *, prefix: bool = False) -> list[str]:
    """What was read as terms of a match expression; nothing when it holds no word at all.

    Any term may match; BM25 rewards those that are rare. Names are asked for whole and as the phrase of their parts.
    """
    found: dict[str, None] = {}
    for phrase in reading.phrases:
        found[_phrase(_pieces(phrase))] = None
    for name in reading.identifiers:
        found[quoted(whole(name))] = None
        if len(parts := humps(name)) > 1:
            found[_phrase(parts)] = None
    for word in reading.words:
        for piece in split_runs(word):
            pairs = unspaced_pairs(piece) if is_unspaced(piece) else [piece]
            alone = prefix or (is_unspaced(piece) and len(piece) == 1)
            found[_phrase(pairs) + ("*" if alone else "")] = None
    found.pop('""', None)
    return list(found)[:MOST_TERMS]


def _pieces(phrase: str) -> list[str]:
    return index_body(phrase).split()


def _phrase(tokens: Sequence[str]) -> str:
    return quoted(" ".join(tokens))


def any_of(terms: Iterable[str]) -> str:
    """An expression that any of some terms fulfils."""
    return " OR ".join(terms)


def quoted(text: str) -> str:
    """Text as FTS5 syntax that can mean nothing but itself."""
    return '"' + text.replace('"', '""') + '"'
