"""Install and uninstall: work out the changes, keep a record of what was there, change all of the files or none.

A copy is kept of every file before it is changed, and permissions stay. A person's own links (dotfiles) are followed;
those of a project came with it and are refused. What a host's files should hold is `catalog`'s, what changes that means
is worked out in `edits`."""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from recollect.agent.hosts.catalog import find_host
from recollect.agent.hosts.edits import Change, FiledFile, changes_to_install, changes_to_undo, digest
from recollect.agent.hosts.target import InstallTarget
from recollect.core.errors import Refused, StoreError
from recollect.files.plain import is_inside

_PRIVATE = 0o600  # settings may hold keys, and so do their copies


class HostConfigMoved(Refused):
    """The file is not what it was when the changes were worked out."""

    code = "host-config-moved"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} was changed by somebody else in this moment.",
            hint="Nothing was changed. Run the same command again, with the host closed.",
        )


class HostConfigLinked(Refused):
    """A file of a project that would be written leads somewhere else."""

    code = "host-config-linked"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path} is a link, or lies behind one.",
            hint="Nothing was changed. Replace the link by a plain file or folder, or install for yourself (`--user`).",
        )


class HostConfigUnwritable(StoreError):
    code = "host-config-unwritable"

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"{path} cannot be written: {why}.",
            hint="What had been changed was put back. Check the permissions of the file and its directory.",
        )


@dataclass(frozen=True, slots=True)
class Installation:
    """What was done, or would be: the files, where copies of the old ones are, and what is left to a person."""

    host: str
    scope: str
    changes: tuple[Change, ...]
    copies: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def changed(self) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.action != "keep")


def plan_install(host: str, target: InstallTarget) -> Installation:
    """What installing would change; files that hold our part already are kept as they are."""
    chosen = find_host(host)
    record = load_record(record_path(target, host))
    _require_no_links([edit.path for edit in chosen.edits(target)], target)
    changes = changes_to_install(chosen.edits(target), record.files if record else (), read_bytes)
    return Installation(host, target.scope, tuple(changes), hints=tuple(chosen.hints(target)))


def install(plan: Installation, target: InstallTarget, *, at: datetime | None = None) -> Installation:
    """Carry the plan out. The record is written first: a fall between the two leaves a way back."""
    if not plan.changed:
        return plan
    _require_no_links([change.path for change in plan.changed], target)
    own = record_path(target, plan.host)
    record = load_record(own)
    edited = {edit.path for edit in find_host(plan.host).edits(target)}
    filed = tuple(
        FiledFile(change.path, change.before, digest(change.wanted))
        for change in plan.changes
        if change.path in edited and change.wanted is not None
    )
    project = str(target.project) if target.scope == "project" else ""
    folders = record.folders if record else ()
    new = InstallRecord(plan.host, plan.scope, project, target.version, target.hook, filed, folders)
    save_record(own, new)
    try:
        made, copies = apply_changes(plan.changes, backups=_backup_folder(target, plan.host, at))
    except BaseException:  # an interruption too must leave the record as it was
        if record is None:
            own.unlink(missing_ok=True)
        else:
            save_record(own, record)
        raise
    save_record(own, replace(new, folders=tuple(dict.fromkeys((*folders, *made)))))
    drop_empty(folders)  # those of an older version
    return Installation(plan.host, plan.scope, plan.changes, tuple(map(str, copies)), plan.hints)


def plan_uninstall(host: str, target: InstallTarget) -> Installation:
    """What removing would change: the bytes from before where nobody touched the file since, else our part alone."""
    own = record_path(target, host)
    record = load_record(own)
    shared = {filed.path for other in _other_records(own) for filed in other.files}
    changes = changes_to_undo(find_host(host).edits(target), record.files if record else (), shared, read_bytes)
    return Installation(host, target.scope, tuple(changes))


def uninstall(plan: Installation, target: InstallTarget, *, at: datetime | None = None) -> Installation:
    _require_no_links([change.path for change in plan.changed], target)
    own = record_path(target, plan.host)
    record = load_record(own)
    _, copies = apply_changes(plan.changes, backups=_backup_folder(target, plan.host, at))
    ours = [folder for change in plan.changed for folder in change.path.parents if target.data in folder.parents]
    drop_empty([*(record.folders if record else ()), *dict.fromkeys(ours)])
    own.unlink(missing_ok=True)
    return Installation(plan.host, plan.scope, plan.changes, tuple(map(str, copies)))


def is_installed(host: str, target: InstallTarget) -> bool:
    """Was it installed here, or does a file of the host name our hook? Tells also after the record was lost."""
    if load_record(record_path(target, host)) is not None:
        return True
    return bool(plan_uninstall(host, target).changed)


def _require_no_links(paths: Sequence[Path], target: InstallTarget) -> None:
    """A link among a project's files came with it, and may lead to any file of this person."""
    if target.scope != "project":
        return
    for path in paths:
        if path.is_relative_to(target.project):
            relative = path.relative_to(target.project).as_posix()
            if not is_inside(str(target.project), relative):
                raise HostConfigLinked(str(path))


# --- changing files --------------------------------------------------------------------------------------------------


def read_bytes(path: Path) -> bytes | None:
    """What the file holds; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HostConfigUnwritable(str(path), error.strerror or str(error)) from None


def apply_changes(changes: Sequence[Change], *, backups: Path) -> tuple[list[Path], list[Path]]:
    """Make the changes; returns the folders made and the copies kept. A failure puts back what was done so far."""
    todo = [change for change in changes if change.action != "keep"]
    for change in todo:
        if read_bytes(change.path) != change.current:
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
            for earlier in reversed(done):
                _write(earlier.path, earlier.current, [])
            drop_empty(folders)
            raise HostConfigUnwritable(str(change.path), error.strerror or str(error)) from None
    return folders, copies


def drop_empty(folders: Sequence[Path]) -> None:
    """Remove the folders that hold nothing, innermost first."""
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        try:
            folder.rmdir()
        except OSError:
            continue  # it is in use, or gone: either way not ours to remove


def _backup_folder(target: InstallTarget, host: str, at: datetime | None) -> Path:
    return target.data / "backups" / f"{(at or datetime.now(UTC)).strftime('%Y%m%dT%H%M%S')}-{host}"


def _copy(change: Change, backups: Path) -> Path:
    backups.mkdir(parents=True, exist_ok=True, mode=0o700)
    number = sum(1 for _ in backups.iterdir())
    copy = backups / f"{number:02d}-{change.path.name}"
    _write_synced(copy, change.current or b"")
    return copy


def _write_synced(path: Path, content: bytes, mode: int = _PRIVATE) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _write(path: Path, content: bytes | None, folders: list[Path]) -> None:
    real = Path(os.path.realpath(path))  # a link into somebody's dotfiles stays a link
    if content is None:
        real.unlink(missing_ok=True)
        return
    missing = [folder for folder in (real.parent, *real.parent.parents) if not folder.exists()]
    real.parent.mkdir(parents=True, exist_ok=True)
    folders += reversed(missing)
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o644
    waiting = real.with_name(f".{real.name}.recollect-{os.getpid()}")
    try:
        _write_synced(waiting, content, mode)
        os.chmod(waiting, mode)
        os.replace(waiting, real)
    finally:
        waiting.unlink(missing_ok=True)


# --- what was installed ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class InstallRecord:
    """One installation: a host, for a person or for a project."""

    host: str
    scope: str
    project: str  # "" for the person's own
    version: str
    hook: str
    files: tuple[FiledFile, ...]
    folders: tuple[Path, ...]  # made by us, outermost first


def record_path(target: InstallTarget, host: str) -> Path:
    suffix = "" if target.scope == "user" else f"-{blake2b(str(target.project).encode(), digest_size=4).hexdigest()}"
    return target.data / "installed" / f"{host}-{target.scope}{suffix}.json"


def load_record(path: Path) -> InstallRecord | None:
    """The record; None when none can be read: then our parts are known by what they look like."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return InstallRecord(
            host=found["host"],
            scope=found["scope"],
            project=found["project"],
            version=found["version"],
            hook=found["hook"],
            files=tuple(map(_filed_from_json, found["files"])),
            folders=tuple(map(Path, found["folders"])),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def save_record(path: Path, record: InstallRecord) -> None:
    whole = {
        "v": 1,
        "host": record.host,
        "scope": record.scope,
        "project": record.project,
        "version": record.version,
        "hook": record.hook,
        "files": [
            {
                "path": str(filed.path),
                "before": None if filed.before is None else b64encode(filed.before).decode("ascii"),
                "after": filed.after,
            }
            for filed in record.files
        ],
        "folders": [str(folder) for folder in record.folders],
    }
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    waiting = path.with_suffix(".new")
    _write_synced(waiting, json.dumps(whole, indent=1).encode())
    os.replace(waiting, path)


def _other_records(own: Path) -> list[InstallRecord]:
    """The installations beside this one."""
    records = [load_record(path) for path in sorted(own.parent.glob("*.json")) if path != own]
    return [record for record in records if record is not None]


def _filed_from_json(entry: dict[str, Any]) -> FiledFile:
    before = entry["before"]
    return FiledFile(Path(entry["path"]), None if before is None else b64decode(before), entry["after"])
