"""The hand that changes files: all of a plan or none of it, a copy kept of everything before, links followed,
permissions kept. And the record of what was installed, so that the way back is exact."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from recollect.agent.hosts.errors import HostConfigMoved, HostConfigUnwritable
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.plan import Change, Filed, digest

_PRIVATE = 0o600  # settings may hold keys, and so do their copies


@dataclass(frozen=True, slots=True)
class Record:
    """One installation: a host, for a person or for a project."""

    host: str
    scope: str
    project: str  # "" for the person's own
    version: str
    hook: str
    files: tuple[Filed, ...]
    folders: tuple[Path, ...]  # made by us, outermost first


def read(path: Path) -> bytes | None:
    """What the file holds; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostConfigUnwritable(str(path), error.strerror or str(error)) from None


def apply(changes: Sequence[Change], *, backups: Path) -> tuple[list[Path], list[Path]]:
    """Make the changes; returns the folders made and the copies kept. A failure puts back what was done so far."""
    todo = [change for change in changes if change.action != "keep"]
    for change in todo:
        if read(change.path) != change.current:
            raise HostConfigMoved(str(change.path))
    folders: list[Path] = []
    done: list[Change] = []
    copies: list[Path] = []
    for change in todo:
        try:
            if change.current is not None:
                copies.append(_copy(change, backups))
            done.append(change)
            _write(change.path, change.wanted, folders)
        except OSError as error:
            for one in reversed(done):
                _write(one.path, one.current, [])
            drop_empty(folders)
            raise HostConfigUnwritable(str(change.path), error.strerror or str(error)) from None
    return folders, copies


def drop_empty(folders: Sequence[Path]) -> None:
    """Remove the folders that hold nothing, innermost first."""
    for folder in sorted(folders, key=lambda one: -len(one.parts)):
        try:
            folder.rmdir()
        except OSError:
            continue  # it is in use, or gone: either way not ours to remove


def stamp(at: datetime, host: str) -> str:
    return f"{at.strftime('%Y%m%dT%H%M%S')}-{host}"


def _copy(change: Change, backups: Path) -> Path:
    backups.mkdir(parents=True, exist_ok=True, mode=0o700)
    number = sum(1 for _ in backups.iterdir())
    target = backups / f"{number:02d}-{change.path.name}"
    _fresh(target, change.current or b"")
    return target


def _fresh(path: Path, content: bytes, mode: int = _PRIVATE) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _write(path: Path, content: bytes | None, folders: list[Path]) -> None:
    target = Path(os.path.realpath(path))  # a link into somebody's dotfiles stays a link
    if content is None:
        target.unlink(missing_ok=True)
        return
    missing = [folder for folder in (target.parent, *target.parent.parents) if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    folders += reversed(missing)
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    waiting = target.with_name(f".{target.name}.recollect-{os.getpid()}")
    try:
        _fresh(waiting, content, mode)
        os.chmod(waiting, mode)
        os.replace(waiting, target)
    finally:
        waiting.unlink(missing_ok=True)


# --- what was installed ----------------------------------------------------------------------------------------------


def record_path(place: Place, host: str) -> Path:
    suffix = "" if place.scope == "user" else f"-{blake2b(str(place.project).encode(), digest_size=4).hexdigest()}"
    return place.data / "installed" / f"{host}-{place.scope}{suffix}.json"


def load_record(path: Path) -> Record | None:
    """The record; None when none can be read: then our parts are known by what they look like."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return Record(
            host=found["host"],
            scope=found["scope"],
            project=found["project"],
            version=found["version"],
            hook=found["hook"],
            files=tuple(_filed(one) for one in found["files"]),
            folders=tuple(Path(one) for one in found["folders"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def save_record(path: Path, record: Record) -> None:
    whole = {
        "v": 1,
        "host": record.host,
        "scope": record.scope,
        "project": record.project,
        "version": record.version,
        "hook": record.hook,
        "files": [
            {
                "path": str(one.path),
                "before": None if one.before is None else b64encode(one.before).decode("ascii"),
                "after": one.after,
            }
            for one in record.files
        ],
        "folders": [str(folder) for folder in record.folders],
    }
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    waiting = path.with_suffix(".new")
    _fresh(waiting, json.dumps(whole, indent=1).encode())
    os.replace(waiting, path)


def other_records(place: Place, own: Path) -> list[Record]:
    folder = place.data / "installed"
    found = [load_record(path) for path in sorted(folder.glob("*.json")) if path != own] if folder.is_dir() else []
    return [one for one in found if one is not None]


def with_folders(record: Record, made: Sequence[Path]) -> Record:
    return replace(record, folders=tuple(dict.fromkeys((*record.folders, *made))))


def filed_of(changes: Sequence[Change]) -> tuple[Filed, ...]:
    return tuple(Filed(one.path, one.before, digest(one.wanted)) for one in changes if one.wanted is not None)


def _filed(found: dict[str, Any]) -> Filed:
    before = found["before"]
    return Filed(Path(found["path"]), None if before is None else b64decode(before), found["after"])
