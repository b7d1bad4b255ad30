"""The team server that this person has joined: its address and their token, in one private file."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import asdict, dataclass

from recollect.core.errors import UnsafeFile
from recollect.files.plain import make_own_folder, open_in_own_folder, read_plain_file
from recollect.files.project import state_folder

_FILE = "team.json"
_MAX_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class TeamServer:
    """Where the team is, and how this person shows who they are."""

    url: str  # ends with a slash
    token: str
    name: str
    project: str = ""  # what the server calls the project


def read_team_server() -> TeamServer | None:
    """The server that was joined; nothing when there is none that can be read."""
    path = os.path.join(state_folder(), _FILE)
    if hasattr(os, "geteuid") and os.path.lexists(path):
        state = os.lstat(path)
        if state.st_uid != os.geteuid() or state.st_mode & 0o077:
            raise UnsafeFile(path, "not yours alone", hint="Remove it, and join again.")
    try:
        told = json.loads(read_plain_file(path, max_bytes=_MAX_BYTES) or b"")
        return TeamServer(**{name: str(told[name]) for name in ("url", "token", "name", "project")})
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def keep_team_server(server: TeamServer) -> None:
    """Write down the server that was joined, for this person alone."""
    folder = state_folder()
    os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
    make_own_folder(folder)
    fresh = os.path.join(folder, f"{_FILE}.{secrets.token_hex(6)}")
    handle = open_in_own_folder(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    try:
        os.write(handle, json.dumps(asdict(server)).encode())
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(fresh, os.path.join(folder, _FILE))
