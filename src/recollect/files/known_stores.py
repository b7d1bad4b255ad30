"""Where the stores of this person are: the paths of those they used on this machine, for `recollect projects`.

A list of paths in their state directory, and nothing else. Whoever cannot write it goes without.
"""

from __future__ import annotations

import os

from recollect.files.plain import make_own_folder, open_in_own_folder, read_plain_file
from recollect.files.project import state_folder

_LIST = "stores.txt"
_MAX_BYTES = 1 << 20
_MOST = 1_000  # paths; of more, those used last


def known_stores() -> list[str]:
    """The stores that were used here and are still there, the one that was noted first leading."""
    return [path for path in _read() if os.path.isfile(path)]


def note_store(path: str) -> None:
    """Add a store to the list, unless it is on it or the list cannot be written."""
    path = os.path.abspath(path)
    listed = _read()
    if path in listed or "\n" in path:
        return
    kept = [*(one for one in listed if os.path.isfile(one)), path][-_MOST:]
    folder = state_folder()
    beside = os.path.join(folder, f"{_LIST}.{os.getpid()}.new")
    try:
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        make_own_folder(folder)
        handle = open_in_own_folder(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with open(handle, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("".join(f"{one}\n" for one in kept))
        os.replace(beside, os.path.join(folder, _LIST))
    except OSError:
        return  # a home that cannot be written: the project is left out of the list, and works


def _read() -> list[str]:
    found = read_plain_file(os.path.join(state_folder(), _LIST), max_bytes=_MAX_BYTES)
    return [] if found is None else found.decode("utf-8", "surrogateescape").splitlines()
