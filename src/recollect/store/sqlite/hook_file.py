"""A store's file as a hook process reads it: as it stands on disk, for reading only, without any migration.

Loads nothing but the standard library, the driver and the house's tables.
"""

from __future__ import annotations

import os
import stat

from recollect.store.hook_reader import HookReader
from recollect.store.migrations.latest import LATEST
from recollect.store.sqlite.dialect import SqliteDialect
from recollect.store.sqlite.match import any_of, quoted
from recollect.store.sqlite.own_log import strange_files
from recollect.store.sqlite.recognise import FoundSchema, harden
from recollect.store.terms import cut_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    import apsw

_BUSY_MS = 800  # a reader waits for a recovery, and for who closes last and empties the log; the deadline ends it


def open_hook_reader(path: str, *, now: int) -> HookReader:
    """A store as it stands on disk, while others may be writing it.

    Raises OSError when it is absent, not one of ours, or of another schema than this release reads: an older one is
    migrated by whoever opens it for writing next, a newer one belongs to a newer release, one that somebody altered is
    refused by every other door with a word on what is odd.
    """
    connection = _connected(path)
    connection.set_busy_timeout(_BUSY_MS)
    harden(connection)
    found = FoundSchema(connection)
    if not found.is_ours:
        raise OSError(f"{path} is not a store of ours")
    if found.version != LATEST:
        raise OSError(f"{path} has schema {found.version}; hooks of this release read {LATEST}")
    if not found.is_of_this_release or found.odd_settings():
        raise OSError(f"{path} was altered by another program")
    connection.execute("pragma temp_store = memory; pragma cell_size_check = on")
    connection.execute("create virtual table temp.keyword_terms using fts5vocab(main, keywords, row)")
    connection.execute("pragma query_only = on")

    file = _HookFile(connection)
    return HookReader(file.rows, file, now=now)


class _HookFile:
    """The rows and the keyword index of an open file."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def rows(self, sql: str, params: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(SqliteDialect.render(sql), SqliteDialect.bind(params)).fetchall()

    def tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return cut_with(self._connection, texts)

    _TOTAL = "select max(rowid) from keywords_docsize"
    _FREQUENCIES = "select term, doc from temp.keyword_terms where term = any(:terms)"

    def frequencies(self, terms: Sequence[str]) -> tuple[dict[str, int], int]:
        total = self.rows(self._TOTAL, {})
        return dict(self.rows(self._FREQUENCIES, {"terms": list(terms)})), int((total or [(0,)])[0][0] or 0)

    _RANKED = """
        select rowid, bm25(keywords, :body, :names, :context) as rank from keywords
         where keywords match :match order by rank, rowid limit :limit
    """

    def ranked(self, words: Sequence[str], *, weights: tuple[float, float, float], limit: int) -> list[int]:
        body, names, context = weights
        asked = {"match": any_of(map(quoted, words)), "limit": limit}
        found = self.rows(self._RANKED, {**asked, "body": body, "names": names, "context": context})
        return [row[0] for row in found]


def _connected(path: str) -> apsw.Connection:
    import apsw

    if not os.path.lexists(path):
        raise OSError(f"there is no store at {path}")
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise OSError(f"{path} is a link or no file: see `recollect doctor`")
    if strange := strange_files(path):
        raise OSError(f"{strange[0]} was not written by this store: see `recollect doctor`")
    return apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
