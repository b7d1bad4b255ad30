"""The keyword index on SQLite: an FTS5 table over a view of the rows, BM25 ranked.

The view calls our analyzer, so the index can be verified against and rebuilt from the rows by SQLite itself. The index
keeps no copy of the text and is told to overwrite what it deletes. Every query is built from quoted tokens: nothing a
person types can be syntax.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.text import index_body, index_names
from recollect.store.engine import Engine, Row, Value
from recollect.store.sqlite.match import TOKENIZER, any_of, quoted

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


_NEWEST = "select rowid from keywords where keywords match :match order by rowid desc limit :limit"


def with_all(engine: Engine, words: Sequence[str], *, limit: int) -> list[int]:
    """The newest rows that hold every one of some words, unranked: an intersection, cheap at any size."""
    expression = " AND ".join(quoted(index_body(word).strip()) for word in words)
    return [row[0] for row in engine.rows(_NEWEST, {"match": expression, "limit": limit})]


_ANY_AND = """
    select rowid from keywords where keywords match :match
     order by bm25(keywords), rowid desc limit :limit
"""


def with_any(engine: Engine, words: Sequence[str], *, limit: int) -> list[int]:
    """The newest rows that hold any of some words, unranked."""
    return [row[0] for row in engine.rows(_NEWEST, {"match": any_of(map(quoted, words)), "limit": limit})]


def with_any_and(engine: Engine, words: Sequence[str], terms: Sequence[str], *, limit: int) -> list[int]:
    """The rows that hold any of some words and any of some terms, those that hold the most and rarest first."""
    match = f"({any_of(map(quoted, words))}) AND ({any_of(terms)})"
    return [row[0] for row in engine.rows(_ANY_AND, {"match": match, "limit": limit})]


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
