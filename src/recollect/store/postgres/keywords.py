"""The keyword index on PostgreSQL: the words of each row for finding it, the same words in order for ranking it.

Texts are cut by the analyzer that SQLite uses, so both engines find the same. A row's words stand in a `tsvector`, each
as a short digest that differs from tenant to tenant: one index serves all tenants of a partition and none of them meets
another's rows in it. BM25 is computed here, from the words of the rows that can be among the best and from counts that
every write keeps up to date; no ranking function of the server knows how rare a word is.
"""

from __future__ import annotations

import json
import threading
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from recollect.core.errors import StoreDamaged
from recollect.core.query import Filter, Reading
from recollect.core.text import index_body, index_names
from recollect.store.filters import where
from recollect.store.port import Match, Params
from recollect.store.postgres.dialect import CURRENT, SCHEMA
from recollect.store.terms import cut_with, read_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.store.postgres.engine import PostgresEngine

    Numbers: TypeAlias = NDArray[np.float64]

Entry: TypeAlias = tuple[int, str, str, str]  # number, body, names, context
Columns: TypeAlias = tuple[list[str], list[str], list[str]]  # a row's words in order: body, names, context

ROWS, WORDS = " rows", " words"  # counts of the whole index; no word begins with a space
GATHERED = (3_000, 12_000)  # rows whose words are read to rank them: at first, and where those leave doubt
NARROW = 20_000  # rows that a filter may let through to be ranked one by one
MOST_WORDS = 60_000  # different ones that a row is found by: a `tsvector` holds a megabyte
MOST_ENDINGS = 100  # words that the beginning of one may stand for
_K1, _B = 1.2, 0.75  # of BM25, as FTS5 has them
_LEAST_IDF = 1e-6  # of a word that stands in more than half of the rows
_PAGE = 1_000

_TABLES = (
    "create table keywords (seq bigint primary key, terms tsvector not null, words bytea not null)",
    "create table keyword_counts (term text primary key, held bigint not null)",
)
_INDEX = (
    "create index keywords_by_term on keywords using gin (terms) with (fastupdate = off)",
    f"""
    create function find_keywords(query text, most bigint) returns table (seq bigint, words bytea)
    language plpgsql stable security definer set search_path = pg_catalog, {SCHEMA}, pg_temp as $$
    begin
        return query select k.seq, k.words from {SCHEMA}.keywords k
          where k.tenant = {CURRENT} and k.terms @@ query::tsquery order by k.seq desc limit most;
    end $$
    """,
)
_ADD = "insert into keywords (seq, terms, words) values (?, ?, ?)"
_COUNT = """
    insert into keyword_counts (term, held)
    select term, held from unnest(cast(:terms as text[]), cast(:held as bigint[])) as given (term, held)
        on conflict (term) do update set held = keyword_counts.held + excluded.held
"""
_REMOVE = "delete from keywords where seq = any(:seqs) returning seq"
_UNCOUNT = "delete from keyword_counts where term = any(:terms) and held <= 0"
_COUNTS = "select term, held from keyword_counts where term = any(:terms)"
_BEGINNING = """
    select term, held from keyword_counts where term >= :first and term < :beyond order by held desc, term limit :most
"""
_FIND = "select seq, words from find_keywords(:query, :most)"
_THESE = "select seq, words from keywords where seq = any(:seqs)"
_WITHIN = "select m.seq from memories m where {where} limit :most"
_ADMITTED = "select m.seq, m.id from memories m where m.seq = any(:seqs) and {where}"
_SOURCE = f"""
    select seq, content, tags, files, modules, source_role, span from memories
     where seq > :after order by seq limit {_PAGE}
"""
_EVERY = f"select seq, cast(terms as text), words from keywords where seq > :after order by seq limit {_PAGE}"
_EVERY_COUNT = "select term, held from keyword_counts"
_CLEAR = ("delete from keywords", "delete from keyword_counts")


class _Term(NamedTuple):
    """Some words that follow one another; each may be one of several. In at most how many rows they stand."""

    words: tuple[tuple[str, ...], ...]
    held: int


class PostgresKeywords:
    """The keyword index of one tenant. Safe to share between threads."""

    def __init__(self, engine: PostgresEngine) -> None:
        self._engine = engine
        self._local = threading.local()
        self._mark = lru_cache(maxsize=100_000)(self._digest)

    def create(self) -> None:
        for table in _TABLES:
            self._engine.execute(table)
        self._engine.define(_INDEX)
        if (
            self._engine.is_owner
        ):  # nobody else stands between it and other tenants' rows: searching then reads them all
            self._engine.define(["alter table keywords force row level security"])

    # --- in step with the rows --------------------------------------------------------------------------------------

    def add(self, entries: Sequence[Entry]) -> None:
        rows, counts = [], Counter[str]()
        for (seq, *_), columns in zip(entries, self._cut(entries), strict=True):
            rows.append((seq, *self._stored(columns)))
            counts.update(_counted(columns))
        self._engine.execute_many(_ADD, rows)
        self._change(counts)

    def remove(self, entries: Sequence[Entry]) -> None:
        removed = {row[0] for row in self._engine.rows(_REMOVE, {"seqs": [entry[0] for entry in entries]})}
        counts = Counter[str]()
        for columns in self._cut([entry for entry in entries if entry[0] in removed]):
            counts.update(_counted(columns))
        if counts:
            self._change({term: -held for term, held in counts.items()})
            self._engine.execute(_UNCOUNT, {"terms": sorted(counts.keys() - {ROWS, WORDS})})

    def _change(self, counts: Mapping[str, int]) -> None:
        if counts:
            terms = sorted(counts)  # in one order: two tenants never wait for each other, two writers of one neither
            self._engine.execute(_COUNT, {"terms": terms, "held": [counts[term] for term in terms]})

    def _cut(self, entries: Sequence[Entry]) -> list[Columns]:
        cut = self.tokens(list(chain.from_iterable(entry[1:] for entry in entries)))
        return [(cut[place], cut[place + 1], cut[place + 2]) for place in range(0, len(cut), 3)]

    def _stored(self, columns: Columns) -> tuple[str, bytes]:
        """A row's words as they are kept: each once, sorted, to be found by, and all in order."""
        marks = [[self._mark(word) for word in column] for column in columns]
        terms = " ".join(sorted({lexeme for column in marks for lexeme, _ in column})[:MOST_WORDS])
        lengths = b"".join(len(column).to_bytes(4, "little") for column in columns)
        return terms, lengths + b"".join(number for column in marks for _, number in column)

    def _digest(self, word: str) -> tuple[str, bytes]:
        """A word as it is found by, and as it stands among a row's words."""
        digest = blake2b(word.encode(), key=self._engine.tenant.encode()[:64], digest_size=6).digest()
        return urlsafe_b64encode(digest).decode(), digest[:4]

    # --- ranked -----------------------------------------------------------------------------------------------------

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
        asked = read_terms(reading, prefix=prefix)
        if not asked or limit < 1:
            return []
        terms, index = self._known(asked)
        condition, params = where(filter, project)
        best: list[Match] = []
        for most in GATHERED:
            gathered, rest = _within_reach(terms, most)
            if not gathered:
                return []
            found = _Rows(self._find(_any_of(self._query(term) for term in gathered), most))
            ranking = found.rank([*gathered, *rest], index, weights, self._numbers, whole=len(gathered))
            best = self._admitted(ranking, condition, params, limit)
            if not rest or (len(best) == limit and best[-1].score >= index.highest(rest)):
                return best
        seqs = [row[0] for row in self._engine.rows(_WITHIN.format(where=condition), {**params, "most": NARROW + 1})]
        if len(seqs) > NARROW:
            return best
        found = _Rows(self._engine.rows(_THESE, {"seqs": seqs}))
        return self._admitted(found.rank(terms, index, weights, self._numbers, whole=0), condition, params, limit)

    def _admitted(self, ranking: Ranking, condition: str, params: Params, limit: int) -> list[Match]:
        """The best that a filter lets through. It is asked for a few at first, and for more as long as they are few."""
        sql, start, step = _ADMITTED.format(where=condition), 0, limit * 2
        kept: list[Match] = []
        while start < len(ranking) and len(kept) < limit:
            some = ranking[start : start + step]
            ids: dict[int, str] = dict(self._engine.rows(sql, {**params, "seqs": [seq for seq, _ in some]}))
            kept += [Match(ids[seq], score) for seq, score in some if seq in ids]
            start, step = start + step, step * 4
        return kept[:limit]

    def _known(self, asked: Sequence[tuple[str, bool]]) -> tuple[list[_Term], _Index]:
        """The terms of a question that stand somewhere, the rarest first, and how large the index is."""
        cut = self.tokens([text for text, _ in asked])
        counts = self._counts({ROWS, WORDS, *chain.from_iterable(cut)})
        terms: list[_Term] = []
        for words, (_, is_prefix) in zip(cut, asked, strict=True):
            if not words:
                continue
            held = [counts.get(word, 0) for word in words]
            each: list[tuple[str, ...]] = [(word,) for word in words]
            if is_prefix:
                endings = self._endings(words[-1])
                each[-1], held[-1] = tuple(endings), sum(endings.values())
            if min(held):
                terms.append(_Term(tuple(each), min(held)))
        rising = sorted(terms, key=lambda term: (term.held, term.words))
        return rising, _Index(counts.get(ROWS, 0), counts.get(WORDS, 0))

    def _endings(self, word: str) -> dict[str, int]:
        """The words that begin so, the most frequent ones."""
        beyond = word[:-1] + chr(min(ord(word[-1]) + 1, 0x10FFFF))
        return dict(self._engine.rows(_BEGINNING, {"first": word, "beyond": beyond, "most": MOST_ENDINGS}))

    def _find(self, query: str, most: int) -> list[tuple[int, bytes]]:
        return [(seq, words) for seq, words in self._engine.rows(_FIND, {"query": query, "most": most})]

    def _query(self, term: _Term) -> str:
        """An expression that rows with all words of a term fulfil. Whether they follow one another is seen later."""
        parts = [_any_of(f"'{self._mark(word)[0]}'" for word in choice) for choice in term.words]
        return f"({' & '.join(parts)})"

    def _numbers(self, words: Sequence[str]) -> list[int]:
        return [int.from_bytes(self._mark(word)[1], "little") for word in words]

    def ranked(self, words: Sequence[str], *, weights: tuple[float, float, float], limit: int) -> list[int]:
        terms, index = self._known([(word, False) for word in words])
        gathered, rest = _within_reach(terms, GATHERED[0])
        if not gathered:
            return []
        found = _Rows(self._find(_any_of(self._query(term) for term in gathered), GATHERED[0]))
        ranking = found.rank([*gathered, *rest], index, weights, self._numbers, whole=len(gathered))
        return [seq for seq, _ in ranking[:limit]]

    # --- by presence ------------------------------------------------------------------------------------------------

    def with_all(self, words: Sequence[str], *, limit: int) -> list[int]:
        terms = self._plain(words)
        if not terms:
            return []
        query = " & ".join(self._query(term) for term in terms)
        if all(len(term.words) == 1 for term in terms):
            return [seq for seq, _ in self._find(query, limit)]
        found = _Rows(self._find(query, max(GATHERED[0], limit)))
        return found.holding(terms, self._numbers, every=True)[:limit]

    def with_any(self, words: Sequence[str], reading: Reading, *, limit: int) -> list[int]:
        some, (asked, index) = self._plain(words), self._known(read_terms(reading))
        if not some:
            return []
        either = _any_of(self._query(term) for term in some)
        newest = _Rows(self._find(either, limit)).holding(some, self._numbers, every=False)
        if not asked:
            return newest
        found = _Rows(self._find(f"({either}) & ({_any_of(map(self._query, asked))})", GATHERED[0]))
        counted = self._known([(word, False) for word in words])[0]
        ranking = found.rank([*counted, *asked], index, (1.0, 1.0, 1.0), self._numbers, whole=0, newest=True)
        return list(dict.fromkeys([*(seq for seq, _ in ranking[:limit]), *newest]))

    def _plain(self, words: Sequence[str]) -> list[_Term]:
        cut = self.tokens([index_body(word).strip() for word in words])
        return [_Term(tuple((word,) for word in some), 0) for some in cut if some]

    # --- counts and words -------------------------------------------------------------------------------------------

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        counts = self._counts({ROWS, *terms})
        return {term: counts[term] for term in terms if term in counts}, counts.get(ROWS, 0)

    def _counts(self, terms: set[str]) -> dict[str, int]:
        return dict(self._engine.rows(_COUNTS, {"terms": sorted(terms)}))

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        connection = getattr(self._local, "analyzer", None)
        if connection is None:
            import apsw

            connection = self._local.analyzer = apsw.Connection(":memory:")
        return cut_with(connection, texts)

    # --- care -------------------------------------------------------------------------------------------------------

    def verify(self) -> None:
        counts: Counter[str] = Counter()
        stored: Iterator[tuple[int, str, bytes]] = self._every()
        for entries in self._entries():
            for (seq, *_), columns in zip(entries, self._cut(entries), strict=True):
                terms, words = self._stored(columns)
                found = next(stored, None)
                if found is None or (found[0], _lexemes(found[1]), found[2]) != (seq, set(terms.split()), words):
                    raise StoreDamaged(self._engine.location, "the keyword index differs from the rows")
                counts.update(_counted(columns))
        if next(stored, None) is not None or +counts != +Counter(dict(self._engine.rows(_EVERY_COUNT))):
            raise StoreDamaged(self._engine.location, "the keyword index differs from the rows")

    def rebuild(self) -> None:
        for statement in _CLEAR:
            self._engine.execute(statement)
        for entries in self._entries():
            self.add(entries)

    def _every(self) -> Iterator[tuple[int, str, bytes]]:
        after = 0
        while rows := self._engine.rows(_EVERY, {"after": after}):
            yield from ((row[0], row[1], row[2]) for row in rows)
            after = rows[-1][0]

    def _entries(self) -> Iterator[list[Entry]]:
        """What the index should hold, in pages."""
        after = 0
        while rows := self._engine.rows(_SOURCE, {"after": after}):
            yield [
                (seq, index_body(content), index_names(content, *labels), index_body(_context(span)))
                for seq, content, *labels, span in rows
            ]
            after = rows[-1][0]


def _context(span: str | None) -> str | None:
    return json.loads(span)[3] if span else None


def _counted(columns: Columns) -> Counter[str]:
    """What a row adds to the counts."""
    counts = Counter(dict.fromkeys(chain(*columns), 1))
    counts[ROWS], counts[WORDS] = 1, sum(map(len, columns))
    return counts


def _lexemes(terms: str) -> set[str]:
    return {term.strip("'") for term in terms.split()}


def _any_of(parts: Iterator[str] | map[str]) -> str:
    return f"({' | '.join(parts)})"


def _within_reach(terms: Sequence[_Term], most: int) -> tuple[list[_Term], list[_Term]]:
    """The rarest terms as long as few rows hold them, always one; and the rest."""
    total = 0
    for place, term in enumerate(terms):
        total += term.held
        if total > most and place:
            return list(terms[:place]), list(terms[place:])
    return list(terms), []


# --- BM25 -------------------------------------------------------------------------------------------------------------

Ranking: TypeAlias = list[tuple[int, float]]  # rows with their scores, best first


class _Index(NamedTuple):
    """How large the index is."""

    rows: int
    words: int

    def idf(self, held: float) -> float:
        from math import log

        rarity = log((self.rows - held + 0.5) / (held + 0.5)) if held < self.rows else 0.0
        return rarity if rarity > 0 else _LEAST_IDF

    def highest(self, terms: Sequence[_Term]) -> float:
        """What some terms can be worth at most, however often they stand in a row."""
        return sum(self.idf(term.held) * (_K1 + 1) for term in terms)


class _Rows:
    """The words of some rows, side by side."""

    def __init__(self, found: Sequence[tuple[Any, ...]]) -> None:
        import numpy as np

        self.seqs = [row[0] for row in found]
        every = np.frombuffer(b"".join(row[1] for row in found), "<u4")
        sizes = np.array([len(row[1]) // 4 for row in found], np.int64)
        starts = np.cumsum(sizes) - sizes
        heads = (starts[:, None] + np.arange(3)).ravel()
        self._lengths = every[heads].reshape(-1, 3).astype(np.int64)
        kept = np.ones(len(every), bool)
        kept[heads] = False
        self._words = every[kept]
        self._columns = np.repeat(np.arange(3 * len(found)), self._lengths.ravel())  # three of each row

    def rank(
        self,
        terms: Sequence[_Term],
        index: _Index,
        weights: tuple[float, float, float],
        numbers: Any,
        *,
        whole: int,
        newest: bool = False,
    ) -> Ranking:
        """The rows that hold any of some terms, best first, of equal ones the older, or the newest. Of the first
        `whole` terms every row is here, so that phrases and beginnings are counted as they really stand."""
        import numpy as np

        if not self.seqs:
            return []
        length = self._lengths.sum(axis=1) / max(1e-9, index.words / max(1, index.rows))
        damp = _K1 * (1 - _B + _B * length)
        total = np.zeros(len(self.seqs))
        for place, term in enumerate(terms):
            often = self._frequency(term, weights, numbers)
            is_plain = len(term.words) == len(term.words[0]) == 1
            held = term.held if is_plain or place >= whole else int(np.count_nonzero(often))
            total += index.idf(held) * often * (_K1 + 1) / (often + damp)
        order = np.array(self.seqs, np.int64)
        best = np.lexsort((-order if newest else order, -total))
        return [(self.seqs[place], float(total[place])) for place in best.tolist() if total[place] > 0]

    def holding(self, terms: Sequence[_Term], numbers: Any, *, every: bool) -> list[int]:
        """Those rows that hold every one of some terms, or any, in the order they came."""
        import numpy as np

        if not self.seqs:
            return []
        held = [self._frequency(term, (1.0, 1.0, 1.0), numbers) > 0 for term in terms]
        kept = (np.all if every else np.any)(held, axis=0)
        return [seq for seq, is_kept in zip(self.seqs, kept.tolist(), strict=True) if is_kept]

    def _frequency(self, term: _Term, weights: tuple[float, float, float], numbers: Any) -> Numbers:
        """How often each row holds a term, each place by the weight of its column."""
        import numpy as np

        places = self._places(numbers(term.words[0]))
        for step, choice in enumerate(term.words[1:], start=1):
            after = places + step
            inside = after < len(self._words)
            places, after = places[inside], after[inside]
            follows = np.isin(self._words[after], numbers(choice)) & (self._columns[after] == self._columns[places])
            places = places[follows]
        columns = self._columns[places]
        often: Numbers = np.bincount(columns // 3, np.array(weights)[columns % 3], len(self.seqs)).astype(np.float64)
        return often

    def _places(self, numbers: list[int]) -> NDArray[np.int64]:
        import numpy as np

        same = self._words == numbers[0] if len(numbers) == 1 else np.isin(self._words, numbers)
        return np.flatnonzero(same)
