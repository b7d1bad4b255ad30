"""The keyword index on SQLite: an FTS5 table over a view of the rows, BM25 ranked.

The view calls our analyzer, so the index can be verified against and rebuilt from the rows by SQLite itself. The index
keeps no copy of the text and is told to overwrite what it deletes. Every query is built from quoted tokens: nothing a
person types can be syntax. FTS5 ranks every row that matches, and counts each term by walking through all rows that
hold it: for frequent words both grow with the store. So a small store is ranked whole; in a large one the rare words of
a question lead to the rows, the frequent ones only tell them apart, and their number is estimated from a part.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from recollect.core.query import Filter, Reading
from recollect.core.text import index_body
from recollect.store.filters import where
from recollect.store.port import Engine, Match, Row, Value
from recollect.store.sqlite.match import any_of, quoted
from recollect.store.sqlite.match import terms as terms_of
from recollect.store.terms import TOKENIZER

if TYPE_CHECKING:
    from recollect.store.sqlite.engine import SqliteEngine

_CREATE = (
    """
    create view keyword_source as
        select seq, index_body(content) as body, index_names(content, tags, files, modules, source_role) as names,
               index_body(json_extract(span, '$[3]')) as context
          from memories
    """,
    """
    create virtual table keywords using fts5(
        body, names, context,
        content = 'keyword_source', content_rowid = 'seq', tokenize = "{tokenizer}"
    )
    """.replace("{tokenizer}", " ".join(TOKENIZER)),
    "insert into keywords (keywords, rank) values ('secure-delete', 1)",
)


def _create(engine: Engine) -> None:
    for statement in _CREATE:
        engine.execute(statement)


_ADD = "insert into keywords (rowid, body, names, context) values (?, ?, ?, ?)"


def _add(engine: Engine, entries: Sequence[tuple[Value, ...]]) -> None:
    """Index some rows: (seq, body, names, context) each."""
    engine.execute_many(_ADD, entries)


_REMOVE = """
    insert into keywords (keywords, rowid, body, names, context) values ('delete', ?, ?, ?, ?)
"""


def _remove(engine: Engine, entries: Sequence[tuple[int, str, str, str]]) -> None:
    """Take rows out of the index. The texts must be what was indexed: that is how FTS5 finds its entries."""
    engine.execute_many(_REMOVE, entries)


_NEWEST = "select rowid from keywords where keywords match :match order by rowid desc limit :limit"


def _with_all(engine: Engine, words: Sequence[str], *, limit: int) -> list[int]:
    """The newest rows that hold every one of some words, unranked: an intersection, cheap at any size."""
    expression = " AND ".join(quoted(index_body(word).strip()) for word in words)
    return [row[0] for row in engine.rows(_NEWEST, {"match": expression, "limit": limit})]


_ANY_AND = """
    select rowid from keywords where keywords match :match
     order by bm25(keywords), rowid desc limit :limit
"""


def _with_any(engine: Engine, words: Sequence[str], *, limit: int) -> list[int]:
    """The newest rows that hold any of some words, unranked."""
    return [row[0] for row in engine.rows(_NEWEST, {"match": any_of(map(quoted, words)), "limit": limit})]


def _with_any_and(engine: Engine, words: Sequence[str], terms: Sequence[str], *, limit: int) -> list[int]:
    """The rows that hold any of some words and any of some terms, those that hold the most and rarest first."""
    match = f"({any_of(map(quoted, words))}) AND ({any_of(terms)})"
    return [row[0] for row in engine.rows(_ANY_AND, {"match": match, "limit": limit})]


_VERIFY = "insert into keywords (keywords, rank) values ('integrity-check', 1)"
_REBUILD = "insert into keywords (keywords) values ('rebuild')"


def _verify(engine: Engine) -> None:
    """Compare the whole index with the rows; raises when they differ."""
    engine.execute(_VERIFY)


def _rebuild(engine: Engine) -> None:
    """Rebuild the index from the rows."""
    engine.execute("drop table if exists keywords")
    engine.execute("drop view if exists keyword_source")
    _create(engine)
    engine.execute(_REBUILD)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be walked through for one question. Measured on 100,000 memories of real text: ranking everything
    that matches finds the answers no more often."""

    small: int = 50_000  # rows up to which all that match are ranked
    gathered: int = 3_000  # matches of the rarest words that are ranked in a larger store; 0.8 µs each
    counted: int = 20_000  # matches of further words that may count for them; 0.1 µs each, ranked or not
    exact: int = 250_000  # rows up to which words are counted exactly
    stripe: int = 5_000  # rows in each of the stretches in which a frequent word is counted in a larger store
    telling: int = 40  # rows of those that must hold a word for the count to stand for all


LIMITS = Limits()
_STRIPES = 2
Counts: TypeAlias = Callable[[Sequence[str]], Mapping[str, int]]  # in how many rows each term stands

_RANKED = """
    select rowid, bm25(keywords, :body, :names, :context) as rank
      from keywords where keywords match :match and rowid >= :first
     order by rank, rowid limit :limit
"""
_RANKED_WITHIN = """
    select k.rowid, bm25(keywords, :body, :names, :context) as rank
      from keywords k join memories m on m.seq = k.rowid
     where keywords match :match and {where}
     order by rank, k.rowid limit :limit
"""
_EDGE = "select rowid from keywords where keywords match :match order by rowid desc limit 1 offset :skip"


def _search(
    engine: Engine,
    terms: Sequence[str],
    counts: Counts | None,
    *,
    weights: tuple[float, float, float],
    limit: int,
    where: str,
    params: dict[str, Value],
    limits: Limits = LIMITS,
) -> list[tuple[int, str, float]]:
    """The best rows for some terms of the index, as (seq, id, score) with higher scores better, among those `where`
    admits.

    Ranking every match is what costs at a million rows, and so does joining each to its row. So the best few are tried
    without the join first; and a large store is entered by its rarest terms (see `_ways`), if `counts` can tell them.
    """
    body, names, context = weights
    base = {"body": body, "names": names, "context": context}
    ways = [_Way(any_of(terms))] if counts is None else _ways(engine, terms, counts, limits, enough=limit * 10)
    for wanted in (limit * 2, limit * 10):
        found = _merged(
            engine.rows(_RANKED, {**base, **way.bound(engine, max(limits.gathered, wanted)), "limit": wanted})
            for way in ways
        )
        kept = _admitted(engine, found[:limit], where, params)
        if len(kept) < min(limit, len(found)):
            kept += _admitted(engine, found[limit:wanted], where, params)
        if len(kept) >= limit or len(found) < wanted:
            return kept[:limit]
    sql = _RANKED_WITHIN.format(where=where)
    found = _merged(engine.rows(sql, {**base, **params, "match": way.match, "limit": limit}) for way in ways)
    return _admitted(engine, found[:limit], where, params)


@dataclass(frozen=True, slots=True)
class _Way:
    """One expression into the index; a crowded one leads only to the newest rows it matches."""

    match: str
    crowded: bool = False

    def bound(self, engine: Engine, wanted: int) -> dict[str, Value]:
        """The parameters that say how far back to go: to so many rows."""
        params: dict[str, Value] = {"match": self.match}
        edge = engine.row(_EDGE, {**params, "skip": wanted}) if self.crowded else None
        return {**params, "first": edge[0] if edge else 0}


def _ways(engine: Engine, terms: Sequence[str], counts: Counts, limits: Limits, *, enough: int) -> list[_Way]:
    """How to find the best rows for some terms without ranking all that match.

    Rows that hold a rare term are ranked by it, and once more with as many of the frequent terms as can be counted;
    the better rank counts, which is the one with more terms. Where too few rows hold a rare term, those that hold the
    next one and any other come too, and where there is no other, the newest that hold it.
    """
    if _size(engine) <= limits.small:
        return [_Way(any_of(terms))]
    numbers = {term: count for term, count in _numbers(engine, terms, counts).items() if count}
    rising = sorted(numbers, key=lambda term: (numbers[term], term))
    reach = list(accumulate(numbers[term] for term in rising))
    rare = sum(total <= limits.gathered for total in reach)
    counted = max(rare + 1, sum(total <= limits.gathered + limits.counted for total in reach))
    first, further = rising[:rare], rising[rare:counted]
    ways = [_Way(any_of(first))] if first else []
    if first and further:
        ways.append(_Way(f"({any_of(first)}) AND ({any_of(further)})"))
    if further and (not first or reach[rare - 1] < enough):
        others = rising[rare + 1 : max(counted, rare + 2)]
        ways.append(_Way(f"{further[0]} AND ({any_of(others)})") if others else _Way(further[0], crowded=True))
    return ways


def _merged(ways: Iterable[Sequence[Row]]) -> list[tuple[int, float]]:
    """The rows of all ways, best first, each with the best of its scores."""
    best: dict[int, float] = {}
    for rows in ways:
        for seq, rank in rows:
            best[seq] = max(-rank, best.get(seq, -rank))
    return sorted(best.items(), key=lambda item: (-item[1], item[0]))


# The order is told: by itself SQLite walks an index over the whole project for a list of a hundred rows.
_ADMITTED = """
    select m.seq, m.id from json_each(:seqs) j cross join memories m on m.seq = j.value where {where}
"""


def _admitted(
    engine: Engine, found: Sequence[tuple[int, float]], where: str, params: dict[str, Value]
) -> list[tuple[int, str, float]]:
    if not found:
        return []
    seqs = json.dumps([seq for seq, _ in found])
    ids: dict[int, str] = dict(engine.rows(_ADMITTED.format(where=where), {**params, "seqs": seqs}))
    return [(seq, ids[seq], score) for seq, score in found if seq in ids]


_SIZE = "select coalesce(max(seq), 0) from memories"


def _size(engine: Engine) -> int:
    """About how many rows there are, without counting them."""
    row = engine.row(_SIZE)
    return int(row[0]) if row else 0


_FREQUENCY = "select doc from temp.keyword_terms where term = :term"
_IN_STRIPE = "(select count(*) from keywords where keywords match :match and rowid between :from{n} and :to{n})"
_IN_STRIPES = "select " + " + ".join(_IN_STRIPE.replace("{n}", str(n)) for n in range(_STRIPES))


def _frequencies(engine: Engine, terms: Iterable[str], limits: Limits = LIMITS) -> dict[str, int]:
    """In how many rows each term of the index stands; in a large store about how many, for a frequent one.

    The index counts a term by walking through all that hold it, so that costs most where it matters least.
    """
    rows = _size(engine)
    found = {}
    for term in dict.fromkeys(terms):
        count = _estimate(engine, quoted(term), rows, limits) if rows > limits.exact else None
        if count is None:
            row = engine.row(_FREQUENCY, {"term": term})
            count = int(row[0]) if row else 0
        if count:
            found[term] = count
    return found


def _estimate(engine: Engine, match: str, rows: int, limits: Limits) -> int | None:
    step = rows // _STRIPES
    stripes = {f"from{n}": n * step + 1 for n in range(_STRIPES)} | {
        f"to{n}": n * step + limits.stripe for n in range(_STRIPES)
    }
    row = engine.row(_IN_STRIPES, {"match": match, **stripes})
    seen = int(row[0]) if row else 0
    return seen * rows // (_STRIPES * limits.stripe) if seen >= limits.telling else None


def _numbers(engine: Engine, terms: Sequence[str], counts: Counts) -> dict[str, int]:
    """In how many rows each term of a match expression stands at most: a phrase, in no more than its rarest word."""
    tokens = dict(zip(terms, engine.keywords.tokens([term.strip('"*') for term in terms]), strict=True))
    known = counts(list(dict.fromkeys(token for some in tokens.values() for token in some)))
    return {
        term: 1 if term.endswith("*") else min((known.get(token, 0) for token in some), default=0)
        for term, some in tokens.items()
    }


_MOST_KNOWN = 10_000  # terms whose number is remembered


class SqliteKeywords:
    """The keyword index of one file. Safe to share between threads."""

    def __init__(self, engine: SqliteEngine, limits: Limits = LIMITS) -> None:
        self._engine = engine
        self._limits = limits
        self._counts: tuple[int, dict[str, int]] = (0, {})  # how frequent terms are in a large store of that size

    def create(self) -> None:
        _create(self._engine)

    def add(self, entries: Sequence[tuple[int, str, str, str]]) -> None:
        _add(self._engine, entries)

    def remove(self, entries: Sequence[tuple[int, str, str, str]]) -> None:
        _remove(self._engine, entries)

    def matching(
        self,
        reading: Reading,
        filter: Filter,
        project: str,
        *,
        weights: tuple[float, float, float],
        limit: int,
        prefix: bool = False,
    ) -> list[Match]:
        terms = terms_of(reading, prefix=prefix)
        if not terms:
            return []
        condition, params = where(filter, project)
        counts = None if prefix else lambda some: self.frequencies(some)[0]
        best = _search(
            self._engine,
            terms,
            counts,
            weights=weights,
            limit=limit,
            where=condition,
            params=params,
            limits=self._limits,
        )
        return [Match(id, score) for _, id, score in best]

    def ranked(self, words: Sequence[str], *, weights: tuple[float, float, float], limit: int) -> list[int]:
        body, names, context = weights
        asked = {"match": any_of(map(quoted, words)), "first": 0, "limit": limit}
        rows = self._engine.rows(_RANKED, {**asked, "body": body, "names": names, "context": context}) if words else []
        return [row[0] for row in rows]

    def with_all(self, words: Sequence[str], *, limit: int) -> list[int]:
        return _with_all(self._engine, words, limit=limit)

    def with_any(self, words: Sequence[str], reading: Reading, *, limit: int) -> list[int]:
        terms = terms_of(reading)
        about = _with_any_and(self._engine, words, terms, limit=limit) if terms else []
        return list(dict.fromkeys([*about, *_with_any(self._engine, words, limit=limit)]))

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        size = _size(self._engine)
        if size <= self._limits.small:
            return _frequencies(self._engine, terms, self._limits), size
        counted, known = self._counts
        if counted != size or len(known) > _MOST_KNOWN:
            known = {}
        new = [term for term in terms if term not in known]
        known = {**known, **dict.fromkeys(new, 0), **_frequencies(self._engine, new, self._limits)}
        self._counts = (size, known)
        return {term: known[term] for term in terms if known[term]}, size

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return self._engine.tokens(texts)

    def verify(self) -> None:
        _verify(self._engine)

    def rebuild(self) -> None:
        _rebuild(self._engine)
