"""Which exports of this store were written where, so that an erasure can name them. Paths and times, no content."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.forms import iso, moment
from recollect.store.meta import FILE, Meta
from recollect.store.port import Engine

_FACT = "exports"
_MOST = 1_000  # exports remembered; of more, the newest


@dataclass(frozen=True, slots=True)
class WrittenExport:
    """One export: the file or folder it was written to, in which format, and when."""

    path: str
    format: str
    at: datetime


class Exports:
    """The exports of a file, whichever project they are of. Writing needs a transaction."""

    def __init__(self, engine: Engine) -> None:
        self._meta = Meta(engine, FILE)

    def every(self) -> list[WrittenExport]:
        """All that are known, the oldest first."""
        told = json.loads(self._meta.get(_FACT) or "[]")
        return [WrittenExport(path, format, moment(at)) for path, format, at in told]

    def note(self, path: str, *, format: str, at: datetime) -> None:
        """An export was written to `path`, which must be absolute; one that was there before is replaced."""
        kept = [one for one in self.every() if one.path != path]
        self._put([*kept, WrittenExport(path, format, at)][-_MOST:])

    def drop(self, paths: Sequence[str]) -> None:
        """Some exports are gone."""
        self._put([one for one in self.every() if one.path not in paths])

    def _put(self, exports: Sequence[WrittenExport]) -> None:
        told = [[one.path, one.format, iso(one.at)] for one in exports]
        self._meta.put(_FACT, json.dumps(told, ensure_ascii=False, separators=(",", ":")))
