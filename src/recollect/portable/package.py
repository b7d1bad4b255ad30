"""Export files: lines of JSON, or an archive that holds the same lines by subject with checksums, encrypted or not.

Writing goes to a private file beside the target, which takes its name when it is complete. A file that is read is a
stranger's: lines and members are bounded, names are known ones, nothing is unpacked to disk by name, and everything is
verified before the first record is handed out for keeps.
"""

from __future__ import annotations

import io
import json
import os
import stat
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Protocol, Self

from recollect.core.errors import ExtraMissing, InvalidExport, InvalidField
from recollect.core.given_json import parse_given_json
from recollect.files.mark import read_key, seal
from recollect.files.plain import open_plain
from recollect.portable.records import (
    FORMAT,
    LINE_LIMIT,
    RANK,
    VERSION,
    Record,
    counts_match,
    decode_line,
    encode_line,
    require_header,
)

_SEALED = "recollect export 1"  # part of what is sealed: another sort of seal never passes for this one
_MANIFEST = "manifest.json"
_MANIFEST_LIMIT = 2**20
# Which records stand in which member, in the order they are read.
_MEMBERS = {
    "memories.jsonl": ("header", "memory", "entity", "link", "tombstone"),
    "log.jsonl": ("entry",),
    "rooms.jsonl": ("row",),
    "vectors.jsonl": ("space", "vector"),
}
_MEMBER_OF = {sort: name for name, sorts in _MEMBERS.items() for sort in sorts}
_LARGEST = 256 * 2**30  # bytes of one member unpacked: far more than any store of this program
_RATIO = 400  # how much smaller than its content a member may be; text of memories reaches about 30
_DATE = (1980, 1, 1, 0, 0, 0)  # the same rows make the same bytes
_IDENTITY, _ENCRYPTED = "identity.age", "archive.age"
_IDENTITY_LIMIT = 2**16
_CHUNK = 2**20
_SHARED_MODE = 0o644


# --- writing ----------------------------------------------------------------------------------------------------------


class ExportSink(Protocol):
    """Where the records of an export go, in their order."""

    def write(self, record: Record) -> None: ...

    def end(self, *, whole: bool, sealed: bool) -> None:
        """Tell how many there were and what proves them; with `sealed`, that they are this person's."""
        ...


class _Tally:
    """What the end of an export tells of the lines before it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.digest = sha256()

    def add(self, sort: str, line: bytes) -> None:
        self.counts[sort] += 1
        self.digest.update(line)

    def end(self, *, whole: bool, sealed: bool) -> Record:
        digest = self.digest.hexdigest()
        told: Record = {"record": "end", "counts": dict(self.counts), "whole": whole, "sha256": digest}
        key = read_key() if sealed else None
        if key is not None:
            told["seal"] = seal(key, _SEALED, digest, str(whole))
        return told


class JsonlSink:
    """One line a record."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._tally = _Tally()

    def write(self, record: Record) -> None:
        if record["record"] in ("row", "space", "vector"):
            return  # only archives carry what rooms and models made
        line = encode_line(record)
        self._tally.add(record["record"], line)
        self._stream.write(line)

    def end(self, *, whole: bool, sealed: bool) -> None:
        self._stream.write(encode_line(self._tally.end(whole=whole, sealed=sealed)))


class ArchiveSink:
    """A zip with one member of lines for each subject, and a manifest with their checksums."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=3)
        self._tally = _Tally()
        self._name = ""
        self._member: IO[bytes] | None = None
        self._sums: dict[str, tuple[Any, int, int]] = {}

    def write(self, record: Record) -> None:
        line = encode_line(record)
        name = _MEMBER_OF[record["record"]]
        if name != self._name:
            self._open(name)
        assert self._member is not None
        self._member.write(line)
        self._tally.add(record["record"], line)
        digest, lines, size = self._sums[name]
        digest.update(line)
        self._sums[name] = (digest, lines + 1, size + len(line))

    def _open(self, name: str) -> None:
        if self._member is not None:
            self._member.close()
        self._name = name
        self._member = self._zip.open(_member(name), "w", force_zip64=True)
        self._sums[name] = (sha256(), 0, 0)

    def end(self, *, whole: bool, sealed: bool) -> None:
        if self._member is not None:
            self._member.close()
        members = {
            name: {"sha256": digest.hexdigest(), "lines": lines, "bytes": size}
            for name, (digest, lines, size) in self._sums.items()
        }
        told = {
            "format": FORMAT,
            "version": VERSION,
            "members": members,
            **self._tally.end(whole=whole, sealed=sealed),
        }
        self._zip.writestr(_member(_MANIFEST), json.dumps(told, indent=1))
        self._zip.close()


def _member(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.external_attr = 0o600 << 16
    return info


@contextmanager
def new_file(path: Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends well, and leaves nothing behind when it does not. It is private,
    or, where `shared`, as open as the one it replaces or as files here usually are."""
    part = path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")
    handle = open_plain(os.fspath(part), os.O_RDWR | os.O_CREAT | os.O_EXCL)
    try:
        with os.fdopen(handle, "w+b", buffering=_CHUNK) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if shared:
            os.chmod(part, stat.S_IMODE(path.stat().st_mode) if path.exists() else _SHARED_MODE)
        os.replace(part, path)
    except BaseException:
        if os.path.lexists(part):
            os.unlink(part)
        raise


def encrypt_archive(plain: IO[bytes], target: IO[bytes], passphrase: str) -> None:
    """Encrypt an archive in the age format: to a key of its own, which the passphrase opens. `age` itself can read it:
    both parts are plain age files."""
    pyrage = _pyrage()
    identity = pyrage.x25519.Identity.generate()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as outer:
        outer.writestr(_IDENTITY, pyrage.passphrase.encrypt(f"{identity}\n".encode(), passphrase))
        with outer.open(_ENCRYPTED, "w", force_zip64=True) as member:
            pyrage.encrypt_io(plain, member, [identity.to_public()])


def _pyrage() -> Any:
    try:
        import pyrage
    except ImportError:
        raise ExtraMissing("An encrypted archive", package="pyrage", extra="encrypt") from None
    return pyrage


# --- reading ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VerifiedExport:
    """What a file was found to be before anything is taken from it."""

    header: Record
    counts: dict[str, int]
    digest: str  # of all its lines
    whole: bool  # it has the history of the whole store
    ours: bool  # this person's key sealed it
    edited: bool = False  # nothing proves that it is complete


class ExportFile:
    """An export that is being read: `verify` first, then `records`."""

    def __init__(self, path: Path, *, passphrase: str | None = None) -> None:
        self._path = path
        self._name = path.name
        self._plain: IO[bytes] | None = None  # what an encrypted archive holds
        try:
            self._stream: IO[bytes] = os.fdopen(open_plain(os.fspath(path)), "rb", buffering=_CHUNK)
        except (OSError, ValueError) as error:
            raise InvalidField(str(path), f"it cannot be read ({error})") from None
        try:
            self._zip = self._open_zip(passphrase)
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        self._stream.close()
        if self._plain is not None:
            self._plain.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()
        self._close()

    # --- the file -------------------------------------------------------------------------------------------------

    def _open_zip(self, passphrase: str | None) -> zipfile.ZipFile | None:
        if self._stream.read(4) != b"PK\x03\x04":
            return None
        try:
            found = zipfile.ZipFile(self._stream)
            if {info.filename for info in found.infolist()} == {_IDENTITY, _ENCRYPTED}:
                self._plain = self._decrypted(found, passphrase)
                found = zipfile.ZipFile(self._plain)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise InvalidExport(self._name, f"it is a damaged zip file ({error})") from None
        self._require_members(found)
        return found

    def _decrypted(self, outer: zipfile.ZipFile, passphrase: str | None) -> IO[bytes]:
        if passphrase is None:
            raise InvalidField("passphrase", "the archive is encrypted", hint="Give the passphrase it was made with.")
        pyrage = _pyrage()
        if outer.getinfo(_IDENTITY).file_size > _IDENTITY_LIMIT:
            raise InvalidExport(self._name, "its key is too large")
        beside = self._path.parent if os.access(self._path.parent, os.W_OK) else None
        plain: IO[bytes] = tempfile.TemporaryFile(dir=beside)  # noqa: SIM115  # closed with the export
        try:
            secret = pyrage.passphrase.decrypt(outer.read(_IDENTITY), passphrase).decode("ascii").strip()
            with outer.open(_ENCRYPTED) as member:
                pyrage.decrypt_io(member, plain, [pyrage.x25519.Identity.from_str(secret)])
        except (pyrage.DecryptError, pyrage.IdentityError, UnicodeDecodeError, zipfile.BadZipFile) as error:
            plain.close()
            problem = "the passphrase is wrong, or the archive was changed"
            raise InvalidExport(
                self._name, f"{problem} ({error})", hint="Nothing was imported. Try the passphrase again."
            ) from None
        except BaseException:
            plain.close()
            raise
        plain.seek(0)
        return plain

    def _require_members(self, found: zipfile.ZipFile) -> None:
        names = [info.filename for info in found.infolist()]
        if _MANIFEST not in names:
            raise InvalidExport(self._name, "it is no archive of Recollect: it has no manifest")
        for info in found.infolist():
            if info.filename not in _MEMBERS and info.filename != _MANIFEST:
                raise InvalidExport(self._name, f"it holds {info.filename[:80]!r}, which no archive of ours has")
            limit = _MANIFEST_LIMIT if info.filename == _MANIFEST else _LARGEST
            if info.file_size > limit or info.file_size > _RATIO * max(info.compress_size, 64):
                raise InvalidExport(self._name, f"{info.filename} unpacks to {info.file_size:,} bytes")
            if info.flag_bits & 0x1:
                raise InvalidExport(self._name, f"{info.filename} is encrypted by zip")
        if len(set(names)) != len(names):
            raise InvalidExport(self._name, "it holds the same name twice")

    # --- lines ----------------------------------------------------------------------------------------------------

    def _streams(self) -> Iterator[tuple[str, IO[bytes]]]:
        """The lines of the file: of each member in order, or of the file itself."""
        if self._zip is None:
            self._stream.seek(0)
            yield "", self._stream
            return
        held = {info.filename for info in self._zip.infolist()}
        for name in _MEMBERS:
            if name in held:
                with self._zip.open(name) as member:
                    yield f"{name} ", io.BufferedReader(member, _CHUNK)  # type: ignore[type-var]

    def _lines(self) -> Iterator[tuple[str, bytes]]:
        for name, stream in self._streams():
            number = 0
            try:
                while line := stream.readline(LINE_LIMIT + 1):
                    number += 1
                    place = f"{self._name}: {name}line {number}"
                    if len(line) > LINE_LIMIT:
                        raise InvalidExport(place, f"it is longer than {LINE_LIMIT >> 20} MB")
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    yield place, line
            except (zipfile.BadZipFile, OSError, EOFError) as error:
                raise InvalidExport(f"{self._name}: {name.strip()}", f"it cannot be read whole ({error})") from None

    def records(self) -> Iterator[tuple[str, Record]]:
        """Every record with its place in the file, without header and end."""
        for place, line in self._lines():
            if line.strip():
                record = decode_line(line, place)
                if record["record"] not in ("header", "end"):
                    yield place, record

    # --- verifying ------------------------------------------------------------------------------------------------

    def verify(self, *, edited: bool = False) -> VerifiedExport:
        """Read everything once: order, counts and checksums. `edited` takes a file that somebody changed on purpose, of
        which then nothing is proven."""
        tally, header, end, rank = _Tally(), None, None, -1
        for place, line in self._lines():
            if not line.strip():
                continue
            if not line.endswith(b"\n") and not edited and self._zip is None and end is None:
                line_end = decode_end(line, place)
                if line_end is None:
                    raise InvalidExport(place, "the file is cut off here")
            record = decode_line(line, place)
            sort = record["record"]
            if end is not None:
                raise InvalidExport(place, "something stands behind the end of the export")
            if header is None:
                header = require_header(record, place)
            if sort not in RANK or (RANK[sort] < rank and not edited) or (sort == "header" and rank >= 0):
                raise InvalidExport(place, f"{sort[:40]!r} does not belong here")
            rank = RANK[sort]
            if sort == "end":
                end = record
            else:
                tally.add(sort, line)
        if header is None:
            raise InvalidExport(self._name, "it is empty")
        if self._zip is not None:
            end = self._manifest()
        if edited:
            return VerifiedExport(header, dict(tally.counts), tally.digest.hexdigest(), False, False, True)
        if end is None:
            raise InvalidExport(
                self._name,
                "it has no end: it was cut off, or edited",
                hint="Nothing was imported. Export it again, or say that you edited it with --edited.",
            )
        return self._proven(header, tally, end)

    def _proven(self, header: Record, tally: _Tally, end: Record) -> VerifiedExport:
        digest = tally.digest.hexdigest()
        if end.get("sha256") != digest or not counts_match(tally.counts, end.get("counts")):
            raise InvalidExport(
                self._name,
                "its checksum does not match: it was changed or damaged",
                hint="Nothing was imported. Export it again, or say that you edited it with --edited.",
            )
        whole = end.get("whole") is True
        key = read_key()
        ours = key is not None and end.get("seal") == seal(key, _SEALED, digest, str(whole))
        return VerifiedExport(header, dict(tally.counts), digest, whole, ours)

    def _manifest(self) -> Record:
        assert self._zip is not None
        told = parse_given_json(self._zip.read(_MANIFEST).decode("utf-8", "replace"), f"{self._name}: {_MANIFEST}")
        if not isinstance(told, dict) or told.get("format") != FORMAT or not isinstance(told.get("members"), dict):
            raise InvalidExport(self._name, "its manifest is not one of ours")
        held = {info.filename for info in self._zip.infolist()} - {_MANIFEST}
        if held != set(told["members"]):
            raise InvalidExport(self._name, "its manifest names other members than it holds")
        return told


def decode_end(line: bytes, place: str) -> Record | None:
    """The end of an export whose last line break was lost on the way; nothing when it is no end."""
    try:
        record = decode_line(line, place)
    except (InvalidExport, InvalidField):
        return None
    return record if record["record"] == "end" else None


def is_encrypted(path: Path) -> bool:
    """Is it an archive that a passphrase opens?"""
    try:
        with zipfile.ZipFile(path) as found:
            return {info.filename for info in found.infolist()} == {_IDENTITY, _ENCRYPTED}
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False


def require_whole_zip(path: Path) -> None:
    """Refuse a zip file whose end is missing, whoever made it."""
    try:
        with os.fdopen(open_plain(os.fspath(path)), "rb") as stream:
            whole = stream.read(4) != b"PK\x03\x04" or zipfile.is_zipfile(stream)
    except OSError:  # whoever reads it says what is wrong with it
        return
    if not whole:
        raise InvalidExport(str(path), "it is a zip file that is cut off: its end is missing")


def is_export(path: Path) -> bool:
    """Does a file begin like an export of ours?"""
    try:
        with os.fdopen(open_plain(os.fspath(path)), "rb") as stream:
            start = stream.read(4096)
            if start.startswith(b"PK\x03\x04"):
                with zipfile.ZipFile(stream) as found:
                    names = {info.filename for info in found.infolist()}
                return _MANIFEST in names or names == {_IDENTITY, _ENCRYPTED}
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return False
    return start.lstrip(b"\xef\xbb\xbf \r\n").startswith(b'{"record"') and FORMAT.encode() in start
