"""What a question asks the keyword index for, and texts cut into its words. One analyzer, whatever the engine.

Pure but for `cut`, and light to load: the hook process asks the index without the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.text import humps, index_body, is_unspaced, split_runs, unspaced_pairs, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.core.query import Reading

TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2")  # how texts are cut into words
MOST_TERMS = 48  # a longer question is cut: each further term costs time and adds next to nothing


def read_terms(reading: Reading, *, prefix: bool = False) -> list[tuple[str, bool]]:
    """What was read as terms, each some words that follow one another, and whether more letters may follow them;
    nothing when it holds no word at all.

    Any term may match; BM25 rewards those that are rare. Names are asked for whole and as the phrase of their parts.
    """
    found: dict[tuple[str, bool], None] = {}
    for phrase in reading.phrases:
        found[" ".join(index_body(phrase).split()), False] = None
    for name in reading.identifiers:
        found[whole(name), False] = None
        if len(parts := humps(name)) > 1:
            found[" ".join(parts), False] = None
    for word in reading.words:
        for piece in split_runs(word):
            pairs = unspaced_pairs(piece) if is_unspaced(piece) else [piece]
            alone = prefix or (is_unspaced(piece) and len(piece) == 1)
            found[" ".join(pairs), alone] = None
    found.pop(("", False), None)
    return list(found)[:MOST_TERMS]


def cut_with(connection: Any, texts: Sequence[str]) -> list[list[str]]:
    """Each text as the keyword index sees it: cut into words, folded and stemmed, by a connection of SQLite."""
    cut: Any = connection.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))
    return [list(cut(text.encode(), 4, None, include_offsets=False, include_colocated=False)) for text in texts]
