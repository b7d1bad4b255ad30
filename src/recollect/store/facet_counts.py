"""Counting facets: how many memories of a filter carry each kind, source, tag, file and the like.

The database says which memories a filter lets through; what each of them carries stands in arrays in memory, read once
and kept in step by the log.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from recollect.core.query import Filter
from recollect.store.filters import where
from recollect.store.port import Engine, Row, chunks

_WORDS = {"kind": "kind", "source": "source", "scope": "scope", "status": "status", "user": "user_id"}  # by column
_FLAGS = ("needs_review", "pinned")
_CONFIDENCE = "confidence"  # in tenths, rounded down
_COLUMNS = (*_WORDS, *_FLAGS, _CONFIDENCE)
_TABLED = ("tag", "file", "module")  # facets with a table of their own
_MOST_CHANGES = 5_000  # memories that are read again one by one; beyond that all of them are
_NOTHING = -1  # the code of a value that is not there


@dataclass(slots=True)
class _Values:
    """The values of one facet, each with a number of its own."""

    names: list[str] = field(default_factory=list)
    _codes: dict[str, int] = field(default_factory=dict)

    def code(self, value: str | None) -> int:
        if value is None:
            return _NOTHING
        code = self._codes.get(value)
        if code is None:
            code = self._codes[value] = len(self.names)
            self.names.append(value)
        return code

    def top(self, codes: NDArray[np.int32], limit: int) -> list[tuple[str, int]]:
        """The values that stand most often among some, with how often; of equal ones the first by name."""
        times = np.bincount(codes[codes != _NOTHING], minlength=len(self.names))
        found = np.flatnonzero(times)
        if len(found) > limit:
            least = np.partition(times[found], len(found) - limit)[len(found) - limit]
            found = found[times[found] >= least]
        pairs = ((self.names[one], int(times[one])) for one in found)
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:limit]


@dataclass(slots=True)
class _Carried:
    """What every memory of a project carries, as of one entry of the log."""

    entry: int
    hash: str
    seqs: NDArray[np.int64]  # in order; rows that went stay, and no filter finds them
    columns: dict[str, NDArray[np.int32]]
    values: dict[str, _Values]
    owners: dict[str, NDArray[np.intp]]  # of a facet with a table: where in `seqs` the memory of each value is
    carried: dict[str, NDArray[np.int32]]  # … and the value

    def find(self, seqs: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Where some memories are, and which of them are there at all."""
        places = np.searchsorted(self.seqs, seqs)
        known = places < len(self.seqs)
        known[known] = self.seqs[places[known]] == seqs[known]
        return places, known

    def pair(self, rows: Iterable[Row]) -> None:
        """Take in what memories carry by the table of facets: facet, value, and the memories that carry it."""
        texts: dict[str, list[str]] = {name: [] for name in _TABLED}
        codes: dict[str, list[int]] = {name: [] for name in _TABLED}
        for name, value, told in rows:
            texts[name].append(told)
            codes[name].append(self.values[name].code(value))
        for name in _TABLED:
            times = [told.count(",") + 1 for told in texts[name]]
            places, known = self.find(_numbers(",".join(texts[name])))
            found = np.repeat(np.array(codes[name], dtype=np.int32), times)
            self.owners[name] = np.concatenate([self.owners[name], places[known]])
            self.carried[name] = np.concatenate([self.carried[name], found[known]])

    def unpair(self, places: NDArray[np.intp]) -> None:
        """Drop what some memories carried by the table of facets."""
        goes = np.zeros(len(self.seqs), dtype=bool)
        goes[places] = True
        for name in _TABLED:
            kept = ~goes[self.owners[name]]
            self.owners[name], self.carried[name] = self.owners[name][kept], self.carried[name][kept]


class FacetCounts:
    """The facets of one project. Safe to share between threads."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project
        self._held: _Carried | None = None
        self._lock = threading.Lock()

    _MATCHING = "select string_agg(cast(m.seq as text), ',') from memories m where {where}"

    def count(self, filter: Filter, *, limit: int) -> tuple[int, dict[str, Sequence[tuple[str, int]]]]:
        """How many memories a filter lets through, and the values most of them carry, by facet."""
        condition, params = where(filter, self._project)
        with self._lock, self._engine.read():
            held = self._held = self._in_step()
            row = self._engine.row(self._MATCHING.format(where=condition), params)
            seqs = np.sort(_numbers(row[0] if row else None))
            places, known = held.find(seqs)
            if not known.all():  # somebody wrote without a word in the log
                held = self._held = self._read(held.entry, held.hash)
                places, known = held.find(seqs)
            return _counted(held, places[known], limit)

    # --- in step with the log ---------------------------------------------------------------------------------------

    _HEAD = "select number, hash from log /* whole */ order by number desc limit 1"
    _HASH = "select hash from log /* whole */ where number = :number"
    _CHANGED = "select distinct about, subject from log /* whole */ where number > :number and project = :project"

    def _in_step(self) -> _Carried:
        """What memories carry now: as it was read before and changed since, or read again where that is not told."""
        entry, digest = self._engine.row(self._HEAD) or (0, "")
        held = self._held
        if held is None:
            return self._read(entry, digest)
        if held.entry == entry and held.hash == digest:
            return held
        before = self._engine.row(self._HASH, {"number": held.entry})
        if (before[0] if before else "") != held.hash:  # another store stands where this one was, or it was erased from
            return self._read(entry, digest)
        changed = self._engine.rows(self._CHANGED, {"number": held.entry, "project": self._project})
        memories = [subject for about, subject in changed if about == "memory" and subject]
        documents = [subject for about, subject in changed if about == "passages" and subject]
        if len(changed) > _MOST_CHANGES or not self._bring_in(held, memories, documents):
            return self._read(entry, digest)
        held.entry, held.hash = entry, digest
        return held

    # Memories that are alike come as one row, which spares making an object of every one of them.
    _LIKE = ", ".join((*_WORDS.values(), *_FLAGS))
    _ALIKE = f"""
        select {_LIKE}, cast(floor({_CONFIDENCE} * 10) as bigint) as tenth, string_agg(cast(seq as text), ',')
          from memories where project = :project and {{which}} group by {_LIKE}, tenth
    """
    _EVERY = _ALIKE.format(which="1 = 1")
    _CARRYING = """
        select facet, value, string_agg(cast(seq as text), ',') from facets
         where project = :project and facet = any(:facets) and {which} group by facet, value
    """
    _EVERY_VALUE = _CARRYING.format(which="1 = 1")

    def _read(self, entry: int, digest: str) -> _Carried:
        values = {name: _Values() for name in (*_COLUMNS, *_TABLED)}
        rows = self._engine.rows(self._EVERY, {"project": self._project})
        told = self._engine.rows(self._EVERY_VALUE, {"project": self._project, "facets": list(_TABLED)})
        seqs, columns = _as_columns(rows, values)
        nowhere: dict[str, NDArray[np.intp]] = {name: np.array([], dtype=np.intp) for name in _TABLED}
        nothing: dict[str, NDArray[np.int32]] = {name: np.array([], dtype=np.int32) for name in _TABLED}
        held = _Carried(entry, digest, seqs, columns, values, nowhere, nothing)
        held.pair(told)
        return held

    _BY_ID = _ALIKE.format(which="id = any(:ids)")
    _OF_DOCUMENT = _ALIKE.format(
        which="seq in (select seq from facets where project = :project and facet = 'document' and value = any(:ids))"
    )
    _VALUES_OF = _CARRYING.format(which="seq = any(:seqs)")

    def _bring_in(self, held: _Carried, memories: Sequence[str], documents: Sequence[str]) -> bool:
        """Read some memories again; False when they do not go at the end of what is there."""
        rows: list[Row] = []
        for sql, ids in ((self._BY_ID, memories), (self._OF_DOCUMENT, documents)):
            for some in chunks(ids):
                rows += self._engine.rows(sql, {"project": self._project, "ids": some})
        seqs, columns = _as_columns(rows, held.values)
        told: list[Row] = []
        for some in chunks(seqs.tolist()):
            asked = {"project": self._project, "facets": list(_TABLED), "seqs": some}
            told += self._engine.rows(self._VALUES_OF, asked)
        places, known = held.find(seqs)
        if len(held.seqs) and np.any(seqs[~known] <= held.seqs[-1]):
            return False
        held.unpair(places[known])
        held.seqs = np.concatenate([held.seqs, seqs[~known]])
        for name, codes in columns.items():
            held.columns[name][places[known]] = codes[known]
            held.columns[name] = np.concatenate([held.columns[name], codes[~known]])
        held.pair(told)
        return True


def _as_columns(
    rows: Iterable[Row], values: dict[str, _Values]
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.int32]]]:
    """Memories in order and, by column, the codes of their values."""
    groups: list[NDArray[np.int64]] = [np.array([], dtype=np.int64)]
    codes: list[list[int]] = [[] for _ in _COLUMNS]
    for *told, tenth, numbers in rows:
        groups.append(_numbers(numbers))
        for place, name in enumerate(_WORDS):
            codes[place].append(values[name].code(told[place]))
        for place, name in enumerate(_FLAGS, start=len(_WORDS)):
            codes[place].append(values[name].code("true" if told[place] else "false"))
        codes[-1].append(values[_CONFIDENCE].code(f"{min(9, tenth) / 10:.1f}"))
    seqs, first = np.unique(np.concatenate(groups), return_index=True)
    times = [len(group) for group in groups[1:]]
    return seqs, {
        name: np.repeat(np.array(column, dtype=np.int32), times)[first]
        for name, column in zip(_COLUMNS, codes, strict=True)
    }


def _numbers(told: str | None) -> NDArray[np.int64]:
    """Numbers that the database told in one text, which is much faster than row by row."""
    return np.fromstring(told or "", dtype=np.int64, sep=",")


def _counted(held: _Carried, places: NDArray[np.intp], limit: int) -> tuple[int, dict[str, Sequence[tuple[str, int]]]]:
    counts: dict[str, Sequence[tuple[str, int]]] = {}
    for name in _COLUMNS:
        if found := held.values[name].top(held.columns[name][places], limit):
            counts[name] = found
    is_meant = np.zeros(len(held.seqs), dtype=bool)
    is_meant[places] = True
    for name in _TABLED:
        counts[name] = held.values[name].top(held.carried[name][is_meant[held.owners[name]]], limit)
    return len(places), counts
