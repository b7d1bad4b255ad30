"""What lies beside a store: files of sessions, our own logs, copies in `backups/` and `quarantine/`.

Looks by name only; whoever changes a file asks the module that writes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from recollect.files.project import state_folder
from recollect.files.session_file import spool_folder
from recollect.store.sqlite.backup import FOLDER as BACKUPS
from recollect.store.sqlite.backup import sweep_partial
from recollect.store.sqlite.swap import QUARANTINE

HOOK_LOGS = ("hook.log", "hook.log.1")
_SORTS = {"backup": BACKUPS, "quarantine": QUARANTINE}
_ENDS = ("", "-wal", "-shm", "-lock", "-reserve")  # of the files of one store
_MAPPED = "-shm"  # where SQLite keeps its locks: never opened by anybody else, and it holds no text


def texts_beside(folder: Path | None) -> Iterator[Path]:
    """Files that are texts: those of sessions, and what our hook noted."""
    if folder is None:
        return
    spool = spool_folder(str(folder))
    if spool is not None:
        yield from (path for path in sorted(Path(spool).iterdir()) if path.is_file() and not path.is_symlink())
    yield from (path for name in HOOK_LOGS if (path := Path(state_folder()) / name).is_file())


def copies_beside(folder: Path) -> Iterator[tuple[str, Path]]:
    """Copies of the store, each with what sort of copy it is. What was left by somebody who died while making or
    rewriting one is removed."""
    for sort, name in _SORTS.items():
        for inner in ((folder / name), *(folder / name).glob("*/")):
            sweep_partial(inner)
        yield from ((sort, path) for path in sorted((folder / name).rglob("*.db")) if not path.is_symlink())


def remove_copy(path: Path) -> None:
    """Delete a copy with its log, and the folder in quarantine that held nothing else."""
    for end in _ENDS:
        Path(f"{path}{end}").unlink(missing_ok=True)
    if path.parent.parent.name == QUARANTINE and not any(path.parent.iterdir()):
        os.rmdir(path.parent)


def files_beside_store(store: Path) -> Iterator[Path]:
    """Every file that we may have written for a store, but the database itself, which only its engine may open."""
    for path in sorted(store.parent.glob(f"{store.name}*")):
        if path != store and not path.name.endswith(_MAPPED):
            yield from _files_in(path)
    for name in (BACKUPS, QUARANTINE):
        yield from _files_in(store.parent / name)
    yield from texts_beside(store.parent)


def _files_in(path: Path) -> Iterator[Path]:
    if path.is_symlink():
        return
    if path.is_file():
        yield path
    elif path.is_dir():
        yield from (inner for inner in sorted(path.rglob("*")) if inner.is_file() and not inner.is_symlink())
