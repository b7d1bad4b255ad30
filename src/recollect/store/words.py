"""Words: which memories hold those of a question, how frequent they are, and texts cut as the keyword index cuts them.

Says which memories and how well they match; the memories themselves are read by `Memories`.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.query import Filter, Reading
from recollect.store.filters import where
from recollect.store.nearby import Said
from recollect.store.port import Engine, KeywordIndex, Match, Tokens

_MOST_KEPT = 10_000  # texts kept as words; some 30 MB of ordinary turns


class Words:
    """Looks up by words. Never writes."""

    def __init__(self, engine: Engine, project: str, index: KeywordIndex | None = None) -> None:
        self._engine = engine
        self._project = project
        self._index = index or engine.keywords
        self._tokens: dict[str, Tokens] = {}  # of texts that questions keep coming back to

    def matching(
        self,
        reading: Reading,
        filter: Filter,
        *,
        weights: tuple[float, float, float],
        limit: int,
        prefix: bool = False,
    ) -> list[Match]:
        """The best memories for what was read, best first."""
        return self._index.matching(reading, filter, self._project, weights=weights, limit=limit, prefix=prefix)

    _CONTAINING = """
        select m.id from memories m where strpos(lower(m.content), :text) > 0 and {where}
         order by m.created_at desc, m.id desc limit :limit
    """

    def containing(self, text: str, filter: Filter, *, limit: int) -> list[Match]:
        """The newest memories that contain `text` as it stands."""
        condition, params = where(filter, self._project)
        sql = self._CONTAINING.format(where=condition)
        rows = self._engine.rows(sql, {**params, "text": text.lower(), "limit": limit})
        return [Match(row[0], 0.0) for row in rows]

    _SAID = "select seq, id, content, source_role from memories where seq = any(:seqs) and project = :project"

    def saying_any(self, words: Sequence[str], reading: Reading, *, limit: int) -> list[Said]:
        """What holds any of some words: first, up to the limit, what shares the most with what was read, then the
        newest."""
        seqs = self._index.with_any(words, reading, limit=limit)
        rows = self._engine.rows(self._SAID, {"seqs": seqs, "project": self._project})
        said = {row[0]: Said(*row[1:]) for row in rows}
        return [said[seq] for seq in seqs if seq in said]

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        """In how many memories each index term stands, and how many memories there are."""
        return self._index.frequencies(terms)

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Each text as the keyword index sees it."""
        return self._index.tokens(texts)

    def known_tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Each text as the keyword index sees it, remembered for the next question."""
        known = self._tokens
        if len(known) > _MOST_KEPT:
            self._tokens = known = {}
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            for text, tokens in zip(new, self._index.tokens(new), strict=True):
                known[text] = tuple(tokens)
        return [known[text] for text in texts]
