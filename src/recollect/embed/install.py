"""Putting a model pack in place: take the first offered bytes that match the pin, whole and verified, or nothing.

Each file is written beside its place under a name of its own, hashed while it is written, synced, and then renamed
over it. A crash leaves at worst a stray part, two installers at once end with the same bytes, no reader sees half.
"""

from __future__ import annotations

import http.client
import os
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, TypeAlias

from recollect.core.errors import RecollectError
from recollect.embed.errors import PackCorrupt, PackNotFetched
from recollect.embed.packs import VOCABULARY, Pack, PackFile, digest
from recollect.embed.sources import Offers, Source, Unobtainable
from recollect.embed.wordpiece import vocabulary_of

Progress: TypeAlias = Callable[[str, int, int], None]  # file, bytes so far, bytes in all

_CHUNK = 1 << 20  # bytes read at once
_VOCABULARY_FORMS = 4 << 20  # bytes; a vocabulary may come as a larger tokenizer.json
_PART = ".part-"
_BROKEN_OFF = (http.client.HTTPException, zipfile.BadZipFile, zlib.error, ConnectionError, TimeoutError, EOFError)
_STRAY_AFTER = 86_400  # seconds; a part older than this belongs to no living installer


def install(pack: Pack, folder: Path, sources: Sequence[Source], *, progress: Progress = lambda *_: None) -> Path:
    """Fetch what is missing of `pack` from the first source that has the exact bytes. Returns its folder."""
    home = folder / pack.name
    _prepare(pack, home)
    failures: list[tuple[str, Exception]] = []
    wanted = _missing(pack, home)
    for source in sources:
        if not wanted:
            break
        try:
            with source.offers() as offers:
                for file in wanted:
                    _take(pack, file, home, offers, source.name, progress)
        except (Unobtainable, PackCorrupt, OSError) as error:
            failures.append((source.name, error))
        wanted = _missing(pack, home)
    if wanted:
        raise _failure(pack, failures)
    return home


def _missing(pack: Pack, home: Path) -> list[PackFile]:
    return [file for file in pack.files if not _right(home / file.name, file)]


def _take(pack: Pack, file: PackFile, home: Path, offers: Offers, where: str, progress: Progress) -> None:
    """The first offer with the right bytes; otherwise what was wrong with the last one."""
    problem = ""
    for offer in offers(file):
        with offer as stream:
            problem = _place(stream, file, home, progress)
        if not problem:
            return
    if problem:
        raise PackCorrupt(pack.name, file.name, problem, where=where)
    raise Unobtainable(f"it has no {file.name}")


def _place(stream: BinaryIO, file: PackFile, home: Path, progress: Progress) -> str:
    """Write, verify, rename. Returns what is wrong with the bytes, or nothing when they are in place."""
    handle, name = tempfile.mkstemp(prefix=f"{_PART}{file.name}-", dir=home)
    part = Path(name)
    try:
        with os.fdopen(handle, "wb") as out:
            problem = _copy(stream, out, file, progress)
            out.flush()
            os.fsync(out.fileno())
        if problem and not (file.name == VOCABULARY and _as_vocabulary(part, file)):
            return problem
        part.chmod(0o644)
        _rename(part, home / file.name, file)
        return ""
    finally:
        part.unlink(missing_ok=True)


def _copy(stream: BinaryIO, out: BinaryIO, file: PackFile, progress: Progress) -> str:
    room = max(file.size, _VOCABULARY_FORMS) if file.name == VOCABULARY else file.size
    seen, done = sha256(), 0
    try:
        while chunk := stream.read(_CHUNK):
            done += len(chunk)
            if done > room:
                return f"it is larger than {file.size:,} bytes"
            seen.update(chunk)
            out.write(chunk)
            progress(file.name, done, file.size)
    except _BROKEN_OFF as error:
        return f"it broke off after {done:,} of {file.size:,} bytes ({type(error).__name__})"
    if seen.hexdigest() == file.sha256:
        return ""
    return f"it has {done:,} bytes, not {file.size:,}" if done != file.size else "its sha256 is another one"


def _as_vocabulary(part: Path, file: PackFile) -> bool:
    """Rewrite another form of the vocabulary (other line ends, a tokenizer.json) as ours. Is it now the right one?"""
    try:
        tokens = vocabulary_of(part.read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    part.write_bytes("".join(f"{token}\n" for token in tokens).encode("utf-8", "surrogatepass"))
    return _right(part, file)


def _rename(part: Path, place: Path, file: PackFile) -> None:
    try:
        os.replace(part, place)
    except PermissionError:
        if not _right(place, file):  # on Windows another process may hold the same, right file open
            raise


def _right(path: Path, file: PackFile) -> bool:
    try:
        return path.stat().st_size == file.size and digest(path) == file.sha256
    except OSError:
        return False


def _prepare(pack: Pack, home: Path) -> None:
    """Make the folder, and remove the parts that killed installers left in it."""
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PackNotFetched(pack.name, [f"The folder {home} cannot be made: {error.strerror}"]) from None
    for part in home.glob(f"{_PART}*"):
        try:
            if time.time() - part.stat().st_mtime > _STRAY_AFTER:
                part.unlink()
        except OSError:
            continue


def _failure(pack: Pack, failures: Sequence[tuple[str, Exception]]) -> RecollectError:
    if len(failures) == 1 and isinstance(failures[0][1], PackCorrupt):
        return failures[0][1]
    return PackNotFetched(pack.name, (f"{where}: {str(error).rstrip('.')}" for where, error in failures))
