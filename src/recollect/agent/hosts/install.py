"""Install and uninstall as two short stories: work out the changes, keep a record, carry them out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from recollect.agent.hosts import files
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.plan import Change, to_install, to_undo
from recollect.agent.hosts.wishes import Wish
from recollect.core.errors import UnknownChoice

HOSTS = ("claude-code", "codex", "gemini", "cursor", "opencode", "vscode", "windsurf")


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


def module(host: str) -> Any:
    """The host's module: `wishes(place)` and `hints(place)`."""
    if host not in HOSTS:
        raise UnknownChoice("host", host, HOSTS)
    return import_module(f"recollect.agent.hosts.{host.replace('-', '_')}")


def wishes(host: str, place: Place) -> list[Wish]:
    return list(module(host).wishes(place))


def plan_install(host: str, place: Place) -> Installation:
    """What installing would change; files that hold our part already are kept as they are."""
    record = files.load_record(files.record_path(place, host))
    changes = to_install(wishes(host, place), record.files if record else (), files.read)
    return Installation(host, place.scope, tuple(changes), hints=tuple(module(host).hints(place)))


def install(plan: Installation, place: Place, *, at: datetime | None = None) -> Installation:
    """Carry the plan out. The record is written first: a fall between the two leaves a way back."""
    if not plan.changed:
        return plan
    own = files.record_path(place, plan.host)
    record = files.load_record(own)
    wished = {wish.path for wish in wishes(plan.host, place)}
    filed = files.filed_of([change for change in plan.changes if change.path in wished])
    project = str(place.project) if place.scope == "project" else ""
    folders = record.folders if record else ()
    new = files.Record(plan.host, plan.scope, project, place.version, place.hook, filed, folders)
    files.save_record(own, new)
    backups = place.data / "backups" / files.stamp(at or datetime.now(UTC), plan.host)
    try:
        made, copies = files.apply(plan.changes, backups=backups)
    except BaseException:  # an interruption too must leave the record as it was
        _put_record_back(own, record)
        raise
    files.save_record(own, files.with_folders(new, made))
    files.drop_empty(folders)  # those of an older version
    return Installation(plan.host, plan.scope, plan.changes, tuple(map(str, copies)), plan.hints)


def plan_uninstall(host: str, place: Place) -> Installation:
    """What removing would change: the bytes from before where nobody touched the file since, else our part alone."""
    own = files.record_path(place, host)
    record = files.load_record(own)
    shared = {one.path for other in files.other_records(place, own) for one in other.files}
    changes = to_undo(wishes(host, place), record.files if record else (), shared, files.read)
    return Installation(host, place.scope, tuple(changes))


def uninstall(plan: Installation, place: Place, *, at: datetime | None = None) -> Installation:
    own = files.record_path(place, plan.host)
    record = files.load_record(own)
    backups = place.data / "backups" / files.stamp(at or datetime.now(UTC), plan.host)
    _, copies = files.apply(plan.changes, backups=backups)
    ours = [folder for change in plan.changed for folder in change.path.parents if place.data in folder.parents]
    files.drop_empty([*(record.folders if record else ()), *dict.fromkeys(ours)])
    own.unlink(missing_ok=True)
    return Installation(plan.host, plan.scope, plan.changes, tuple(map(str, copies)))


def is_installed(host: str, place: Place) -> bool:
    """Was it installed here, or does a file of the host name our hook? Tells also after the record was lost."""
    if files.load_record(files.record_path(place, host)) is not None:
        return True
    return bool(plan_uninstall(host, place).changed)


def _put_record_back(own: Path, record: files.Record | None) -> None:
    if record is None:
        own.unlink(missing_ok=True)
    else:
        files.save_record(own, record)
