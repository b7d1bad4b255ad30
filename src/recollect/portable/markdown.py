"""Memories as a folder of Markdown: one readable file for each module or kind, which imports again.

Each memory stands between two comments. The first has its fields as JSON, so that nothing is lost; what stands between
them is its text, to be read and edited. Links, history and tombstones need the other formats.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from recollect.core.digest import short_digest
from recollect.core.errors import InvalidExport, InvalidField
from recollect.core.forms import iso
from recollect.core.ids import MemoryId
from recollect.core.kinds import Kind
from recollect.core.query import ANY_USER, Filter
from recollect.core.records import Memory
from recollect.core.scope import Scope, Visibility
from recollect.core.text import excerpt, fingerprint
from recollect.files.plain import read_plain_file
from recollect.portable.export import ExportReport
from recollect.portable.package import new_file
from recollect.portable.records import LINE_LIMIT, Record, memory_record
from recollect.remember.screen import screen_memory
from recollect.store.contents import Contents, Kept

if TYPE_CHECKING:
    from recollect.store.store import Store

MARK = "recollect: markdown/1"  # the first line of the front matter
_BEGIN = re.compile(r"<!-- memory (\{.*\}) -->")
_END = "<!-- end -->"
_GUARDED = re.compile(r"(?<!\\)\\*+<!-- (?:memory |end -->)")
_SAFE = re.compile(r"[^\w.-]+")
_SLUG = 80  # characters of a file's name
_AT_ONCE = 500
_FILE_LIMIT = 256 * 2**20
_TITLE = 70


def write_vault(
    store: Store, folder: Path, *, filter: Filter | None, personal: bool, progress: Callable[[int, int], None]
) -> ExportReport:
    """Write what a filter lets through (default: what is active or disputed, without passages of documents)."""
    _require_ours(folder)
    files, stayed = _files(store, filter or Filter(user=ANY_USER), personal=personal)
    os.makedirs(folder, exist_ok=True)
    total, done, redacted = sum(map(len, files.values())), 0, 0
    for name, (title, ids) in sorted(_named(files).items()):
        with new_file(folder / name) as stream:
            stream.write(f"---\n{MARK}\nproject: {json.dumps(store.project)}\n---\n\n# {title}\n".encode())
            for start in range(0, len(ids), _AT_ONCE):
                for memory in store.memories.get_many(ids[start : start + _AT_ONCE]):
                    safe, rules = screen_memory(memory)
                    redacted += bool(rules)
                    stream.write(_section(safe).encode())
                    done += 1
                progress(done, total)
    _remove_others(folder, set(_named(files)))
    counts = {"memory": done, "file": len(files)}
    return ExportReport(str(folder), "markdown", counts, stayed, redacted)


def write_zipped_vault(
    store: Store, to: IO[bytes], *, filter: Filter | None, personal: bool, progress: Callable[[int, int], None]
) -> ExportReport:
    """The same as a zip, for a stream that cannot hold a folder."""
    with tempfile.TemporaryDirectory() as made, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as packed:
        folder = Path(made) / "vault"
        report = write_vault(store, folder, filter=filter, personal=personal, progress=progress)
        for file in sorted(folder.iterdir()):
            packed.write(file, file.name)
    return replace(report, path="-")


def _files(store: Store, filter: Filter, *, personal: bool) -> tuple[dict[str, list[MemoryId]], int]:
    """Which memories stand in which file, by its title; and how many stay because they are personal."""
    files: dict[str, list[MemoryId]] = {}
    stayed = 0
    for page in Contents(store).memories(filter):
        for kept in page:
            memory = kept.memory
            if memory.kind == Kind.PASSAGE:
                continue
            if not personal and (memory.visibility is Visibility.PERSONAL or memory.flagged):
                stayed += 1
                continue
            of_module = memory.scope is Scope.MODULE and memory.modules
            title = f"Module {memory.modules[0]}" if of_module else f"{memory.kind}"
            files.setdefault(title, []).append(memory.id)
    return files, stayed


def _named(files: dict[str, list[MemoryId]]) -> dict[str, tuple[str, list[MemoryId]]]:
    """The files by names that no file system minds, each its own."""
    named: dict[str, tuple[str, list[MemoryId]]] = {}
    for title, ids in files.items():
        slug = _SAFE.sub("-", title.lower()).strip("-.")[:_SLUG] or "memories"
        name = f"{slug}.md"
        if name in named or slug != title.lower():
            name = f"{slug}-{short_digest(title)[:6]}.md"
        named[name] = (title, ids)
    return named


def _section(memory: Memory) -> str:
    fields = memory_record(Kept(memory, None))
    content = fields.pop("content")
    del fields["record"]
    told = json.dumps(fields, ensure_ascii=False).replace(">", "\\u003e").replace("<", "\\u003c")
    lines = [f"\\{line}" if _GUARDED.match(line) else line for line in content.split("\n")]
    title = excerpt(content.partition("\n")[0], _TITLE).replace("<!--", "<! --")
    return f"\n## {title}\n\n<!-- memory {told} -->\n{chr(10).join(lines)}\n{_END}\n"


def _require_ours(folder: Path) -> None:
    """Refuse a folder that holds something else than an earlier export."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise InvalidField(str(folder), "it is a file, and Markdown goes into a folder")
    strange = [
        name for name in sorted(os.listdir(folder)) if not name.startswith(".") and not is_vault_file(folder / name)
    ]
    if strange:
        raise InvalidField(str(folder), f"it holds {strange[0]!r}, which no export wrote", hint="Name a new folder.")


def _remove_others(folder: Path, written: set[str]) -> None:
    for name in os.listdir(folder):
        if name not in written and is_vault_file(folder / name):
            os.unlink(folder / name)


def is_vault_file(path: Path) -> bool:
    """Is it a file that an export wrote?"""
    if path.suffix != ".md" or not path.is_file():
        return False
    with open(path, "rb") as stream:
        return stream.read(len(MARK) + 4).replace(b"\r", b"") == f"---\n{MARK}".encode()


def is_vault(path: Path) -> bool:
    """Is it a folder, or a file of one, that an export wrote?"""
    return is_vault_file(path) or (path.is_dir() and any(is_vault_file(one) for one in sorted(path.glob("*.md"))[:50]))


def read_vault(path: Path, now: datetime) -> Iterator[tuple[str, Record]]:
    """The memories of such a folder or file as records of an export, each with its place."""
    for file in [path] if path.is_file() else sorted(path.glob("*.md")):
        if is_vault_file(file):
            data = read_plain_file(str(file), max_bytes=_FILE_LIMIT)
            if data is None:
                raise InvalidExport(str(file), "it is no plain file, or too large")
            try:
                yield from _read_sections(data.decode("utf-8"), file.name, now)
            except UnicodeDecodeError as error:
                raise InvalidExport(file.name, f"byte {error.start} is not UTF-8") from None


def _read_sections(text: str, name: str, now: datetime) -> Iterator[tuple[str, Record]]:
    begun: tuple[str, str] | None = None
    lines: list[str] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.removesuffix("\r")
        if begun is None:
            if found := _BEGIN.fullmatch(line):
                begun, lines = (f"{name}: line {number}", found[1]), []
        elif line == _END:
            yield begun[0], _record(begun, lines, now)
            begun = None
        else:
            lines.append(line[1:] if line.startswith("\\") and _GUARDED.match(line) else line)
    if begun is not None:
        raise InvalidExport(begun[0], "the memory that begins here has no end")


def _record(begun: tuple[str, str], lines: Sequence[str], now: datetime) -> Record:
    """The record of a section. Words that were edited are a later revision of the memory."""
    place, told = begun
    if len(told) > LINE_LIMIT:
        raise InvalidExport(place, "its fields are too long")
    try:
        fields = json.loads(told)
        revision = int(fields.get("revision", 1))
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidExport(place, f"its fields are no JSON ({error})") from None
    content = "\n".join(lines)
    record: Record = {**fields, "record": "memory", "content": content}
    if fingerprint(content) != fields.get("fingerprint"):
        record |= {"revision": revision + 1, "updated_at": iso(now), "fingerprint": fingerprint(content)}
    return record
