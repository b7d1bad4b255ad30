"""The keyword index on SQLite: an FTS5 table over a view of the rows, BM25 ranked.

The view calls our analyzer, so the index can be verified against and rebuilt from the rows by SQLite itself. The index
keeps no copy of the text and is told to overwrite what it deletes. Every query is built from quoted tokens: nothing a
person types can be syntax.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.core.query import Reading
from recollect.core.text import humps, index_body, index_names, is_unspaced, split_runs, unspaced_pairs, whole
from recollect.store.engine import Engine, Row, Value
from recollect.store.sqlite.connection import TOKENIZER

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


def create(engine: Engine) -> None:
    for statement in _CREATE:
        engine.execute(statement)


def entry(content: str, labels: Sequence[str | None], context: str | None) -> Row:
    """What the index holds for a row: exactly what `keyword_source` would say. Labels: tags, files, modules, role."""
    return index_body(content), index_names(content, *labels), index_body(context)


_ADD = "insert into keywords (rowid, body, names, context) values (?, ?, ?, ?)"


def add(engine: Engine, entries: Sequence[tuple[Value, ...]]) -> None:
    """Index some rows: (seq, body, names, context) each."""
    engine.execute_many(_ADD, entries)


_REMOVE = """
    insert into keywords (keywords, rowid, body, names, context) values ('delete', :seq, :body, :names, :context)
"""


def remove(engine: Engine, seq: int, body: str, names: str, context: str) -> None:
    """Take a row out of the index. The texts must be what was indexed: that is how FTS5 finds its entries."""
    engine.execute(_REMOVE, {"seq": seq, "body": body, "names": names, "context": context})


_SEARCH = """
    select rowid, bm25(keywords, :body, :names, :context) as rank
      from keywords where keywords match :match
     order by rank, rowid limit :limit
"""
_SEARCH_WITHIN = """
    select k.rowid, bm25(keywords, :body, :names, :context) as rank
      from keywords k join memories m on m.seq = k.rowid
     where keywords match :match and {where}
     order by rank, k.rowid limit :limit
"""


def search(
    engine: Engine, match: str, *, weights: tuple[float, float, float], limit: int, where: str, params: dict[str, Value]
) -> list[tuple[int, float]]:
    """The best rows for a match expression, as (seq, score) with higher scores better, among those `where` admits.

    Joining every match to its row is what costs at a million rows, so the best few are tried without the join first.
    """
    body, names, context = weights
    base = {"match": match, "body": body, "names": names, "context": context}
    for wanted in _widening(limit):
        found = engine.rows(_SEARCH, {**base, "limit": wanted})
        admitted = _admitted(engine, [row[0] for row in found], where, params)
        kept = [(seq, -rank) for seq, rank in found if seq in admitted]
        if len(kept) >= limit or len(found) < wanted:
            return kept[:limit]
    rows = engine.rows(_SEARCH_WITHIN.format(where=where), {**base, **params, "limit": limit})
    return [(seq, -rank) for seq, rank in rows]


def _widening(limit: int) -> Iterator[int]:
    yield limit * 2
    yield limit * 10


# Without the hint SQLite walks an index over the whole project for a list of a hundred rows.
_ADMITTED = "select m.seq from memories m not indexed where m.seq in ({seqs}) and {where}"


def _admitted(engine: Engine, seqs: list[int], where: str, params: dict[str, Value]) -> set[int]:
    if not seqs:
        return set()
    listed = ",".join(str(int(seq)) for seq in seqs)
    return {row[0] for row in engine.rows(_ADMITTED.format(seqs=listed, where=where), params)}


_FREQUENCY = "select term, doc from temp.keyword_terms where term = :term"


def frequencies(engine: Engine, terms: Sequence[str]) -> dict[str, int]:
    """In how many rows each term of the index stands."""
    found = (engine.row(_FREQUENCY, {"term": term}) for term in dict.fromkeys(terms))
    return {row[0]: row[1] for row in found if row is not None}


_NEWEST = "select rowid from keywords where keywords match :match order by rowid desc limit :limit"


def with_all(engine: Engine, words: Sequence[str], *, limit: int) -> list[int]:
    """The newest rows that hold every one of some words, unranked: an intersection, cheap at any size."""
    expression = " AND ".join(_quoted(index_body(word).strip()) for word in words)
    return [row[0] for row in engine.rows(_NEWEST, {"match": expression, "limit": limit})]


def with_any(engine: Engine, words: Sequence[str], *, limit: int) -> list[int]:
    """The newest rows that hold any of some words, unranked."""
    expression = " OR ".join(_quoted(word) for word in words)
    return [row[0] for row in engine.rows(_NEWEST, {"match": expression, "limit": limit})]


_VERIFY = "insert into keywords (keywords, rank) values ('integrity-check', 1)"
_REBUILD = "insert into keywords (keywords) values ('rebuild')"


def verify(engine: Engine) -> None:
    """Compare the whole index with the rows; raises when they differ."""
    engine.execute(_VERIFY)


def rebuild(engine: Engine) -> None:
    """Make the index anew from the rows."""
    engine.execute("drop table if exists keywords")
    engine.execute("drop view if exists keyword_source")
    create(engine)
    engine.execute(_REBUILD)


MOST_TERMS = 48  # a longer question is cut: each further term costs time and adds next to nothing


def match(reading: Reading, *, prefix: bool = False) -> str | None:
    """A match expression for what was read, or nothing when it holds no word at all.

    Any term may match; BM25 rewards those that are rare. Names are asked for whole and as the phrase of their parts.
    """
    terms: dict[str, None] = {}
    for phrase in reading.phrases:
        terms[_phrase(_pieces(phrase))] = None
    for name in reading.identifiers:
        terms[_quoted(whole(name))] = None
        if len(parts := humps(name)) > 1:
            terms[_phrase(parts)] = None
    for word in reading.words:
        for piece in split_runs(word):
            pairs = unspaced_pairs(piece) if is_unspaced(piece) else [piece]
            alone = prefix or (is_unspaced(piece) and len(piece) == 1)
            terms[_phrase(pairs) + ("*" if alone else "")] = None
    terms.pop('""', None)
    return " OR ".join(list(terms)[:MOST_TERMS]) or None


def _pieces(phrase: str) -> list[str]:
    return index_body(phrase).split()


def _phrase(tokens: Sequence[str]) -> str:
    return _quoted(" ".join(tokens))


def _quoted(text: str) -> str:
    """Text as FTS5 syntax that can mean nothing but itself."""
    return '"' + text.replace('"', '""') + '"'
