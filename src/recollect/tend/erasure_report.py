"""What an erasure tells: what went, what was searched afterwards and what is left; and the search itself.

Every text of every table is looked through by marks, every byte of every file for the names and the words that went, in
every way we could have written them.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

from recollect.core.erasing import BytePattern, ErasureMarks, split_words
from recollect.core.errors import RecollectError
from recollect.core.records import Memory
from recollect.core.text import counted
from recollect.remember.erase import ErasedRows
from recollect.store.sqlite.backup import FOLDER as BACKUPS
from recollect.store.sqlite.swap import QUARANTINE
from recollect.store.store import Store
from recollect.store.texts import StoredTexts
from recollect.tend.beside import files_beside_store

_PROBE = 60  # characters of a text that are looked for in files
_EVERY_SPELLING = 2_000  # texts that are looked for in every way they may be written; more of them as they were
_MOST_SOUGHT = 200_000  # texts that are looked for in bytes: some 300 MB of memory
_LEAST_PROBE = 12  # characters: shorter texts stand elsewhere by chance
_BLOCK = 2**20  # bytes read at once
_JOINERS = ("_", "-", ".", "")  # between the words of a name in paths and addresses
_ENCRYPTED = (".age", ".gpg")
_REWRITE = "Run it again with --backups to rewrite it, or with --backups delete."
_LOOK = "Something that was not erased says the same; look for it with `recollect recall`."
_AGAIN = "Run `recollect erase --resume`."


@dataclass(frozen=True, slots=True)
class ErasedPlace:
    """One place where something was: what sort of place, which, and what was done to how much of it."""

    sort: str
    where: str
    action: Literal["removed", "blanked", "rewritten", "deleted"]
    count: int = 1


@dataclass(frozen=True, slots=True)
class SearchedPlace:
    """One file, or the texts of all tables, that was looked through at the end, and how often something was found."""

    where: str
    size: int  # bytes of a file, texts of tables
    found: int


@dataclass(frozen=True, slots=True)
class RemainingCopy:
    """What is still there: where, why, and what to do about it."""

    sort: str
    where: str
    why: str
    way: str


@dataclass(slots=True)
class ErasureReport:
    """What was erased, what was searched afterwards, and what is left."""

    dry_run: bool = False
    memories: list[Memory] = field(default_factory=list)  # those that go; only for a dry run
    erased: list[ErasedPlace] = field(default_factory=list)
    searched: list[SearchedPlace] = field(default_factory=list)
    remaining: list[RemainingCopy] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def is_complete(self) -> bool:
        """Is nothing left anywhere we know of?"""
        return not self.remaining

    @property
    def counts(self) -> dict[str, int]:
        """How much was erased, by sort of place."""
        total: dict[str, int] = {}
        for one in self.erased:
            total[one.sort] = total.get(one.sort, 0) + one.count
        return total


class ErasureProof:
    """Searches one store and all that lies beside it, and adds what it finds to a report."""

    def __init__(
        self,
        store: Store,
        marks: ErasureMarks,
        report: ErasureReport,
        names: Sequence[str],
        others: Sequence[str],
        rows: ErasedRows,
    ) -> None:
        """`names` are those of a subject, `others` of sessions and users; `rows` tell what the memories said."""
        self._store = store
        self._marks = marks
        self._report = report
        split = [split_words(name) for name in names]
        spelt = [joiner.join(words) for words in split if len(words) > 1 for joiner in _JOINERS]
        said = [text.strip()[:_PROBE] for text in rows.texts if len(text.strip()) >= _LEAST_PROBE]
        still = _still_said(store, rows)
        wanted = [one for one in dict.fromkeys((*names, *others, *spelt, *said[:_EVERY_SPELLING])) if one not in still]
        plain = [one for one in dict.fromkeys(said[_EVERY_SPELLING:]) if one not in still]
        self._pattern = BytePattern(wanted, plain[:_MOST_SOUGHT])
        if len(plain) > _MOST_SOUGHT:
            report.notes.append(f"{len(plain) - _MOST_SOUGHT:,} of the texts were looked for in rows, not in bytes.")

    def search_tables(self) -> None:
        """Look through every text of every table of the project."""
        texts = found = 0
        for held in StoredTexts(self._store.engine).every(without=("tombstones",)):
            texts += 1
            if held.column != "project" and self._marks.has_words:
                found += self._marks.hold_any(parse_text(held.text))
        where = f"{self._store.engine.location} (tables)"
        self._report.searched.append(SearchedPlace(where, texts, found))
        if found:
            self._remain(where, f"{counted(found, 'text')} hold it", _LOOK)

    def search_files(self) -> None:
        """Look through every byte of every file of the store."""
        self._report.notes += [f"{name!r} is too short to be looked for in bytes." for name in self._pattern.skipped]
        location = self._store.engine.location
        if self._store.engine.folder is None:
            self._report.notes.append(f"Only rows were searched: {location} has no files of ours.")
        else:
            self._search(location, self._store.engine.raw_blocks)
            for path in dict.fromkeys((*files_beside_store(Path(location)), *self._export_files())):
                self._search(str(path), partial(_blocks, path))

    def finds_in_export(self, path: Path) -> str:
        """Why an export may hold what was erased; nothing when it does not."""
        if not self._pattern:
            return "it may hold it"
        files = [path] if path.is_file() else [inner for inner in sorted(path.rglob("*")) if inner.is_file()]
        found = 0
        for file in files:
            if _is_encrypted(file):
                return "it is encrypted and may hold it"
            found += sum(self._pattern.find(_blocks(file)).values())
        return f"{counted(found, 'place')} in its bytes hold it" if found else ""

    def _search(self, where: str, blocks: Callable[[], Iterator[bytes]]) -> None:
        size, pattern = 0, self._pattern

        def sized() -> Iterator[bytes]:
            nonlocal size
            for block in blocks():
                size += len(block)
                yield block

        try:
            found = sum(pattern.find(sized()).values()) + sum(pattern.find([Path(where).name.encode()]).values())
        except (OSError, RecollectError, zipfile.BadZipFile) as error:
            self._remain(where, f"it could not be searched: {error}", _AGAIN)
            return
        self._report.searched.append(SearchedPlace(where, size, found))
        if found and where not in {one.where for one in self._report.remaining}:
            copies = {BACKUPS, QUARANTINE} & set(Path(where).parts)
            self._remain(where, f"{counted(found, 'place')} in its bytes hold it", _REWRITE if copies else _LOOK)

    def _export_files(self) -> Iterator[Path]:
        for one in self._store.exports.every():
            path = Path(one.path)
            yield from (path,) if path.is_file() else (inner for inner in sorted(path.rglob("*")) if inner.is_file())

    def _remain(self, where: str, why: str, way: str) -> None:
        self._report.remaining.append(RemainingCopy("file", where, why, way))


def _still_said(store: Store, rows: ErasedRows) -> set[str]:
    """Texts that stand word for word in memories that stay: of another user, or taught again."""
    alike = store.memories.by_fingerprint([memory.fingerprint for memory in rows.memories])
    gone = {memory.id for memory in rows.memories}
    return {memory.content.strip()[:_PROBE] for some in alike.values() for memory in some if memory.id not in gone}


def _is_encrypted(path: Path) -> bool:
    """Is it a file, or an archive of files, that only a passphrase opens?"""
    if not zipfile.is_zipfile(path):
        return path.suffix in _ENCRYPTED
    with zipfile.ZipFile(path) as archive:
        return any(Path(name).suffix in _ENCRYPTED for name in archive.namelist())


def _blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file; of an archive, those of the files in it too."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                with archive.open(name) as inner:
                    while block := inner.read(_BLOCK):
                        yield block
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            yield block


def parse_text(text: str) -> Any:
    """What a stored text says: its value where it is a JSON object or list."""
    if text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
