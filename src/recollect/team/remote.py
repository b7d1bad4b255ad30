"""A team server seen from a person's machine: the few requests that `recollect team` makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from recollect.core.errors import InvalidField, TeamServerRefused
from recollect.files.team_file import TeamServer, keep_team_server
from recollect.net.http import INTERACTIVE, Caller

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


def join_server(url: str, code: str, name: str) -> Mapping[str, Any]:
    """Come in with a code. The address and the token are kept for this person; what the server answered is returned."""
    home = check_address(url)
    caller = Caller(home, {"Authorization": f"Code {code}"}, TeamServerRefused, TeamServerRefused)
    told: dict[str, Any] = caller.post(f"{home}v1/team/join?{urlencode({'name': name})}", {}, INTERACTIVE)
    keep_team_server(TeamServer(home, str(told["token"]), name, str(told["project"])))
    return {one: value for one, value in told.items() if one != "token"}


def check_address(url: str) -> str:
    """The address of a server, ending with a slash. A token travels to others only over TLS."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise InvalidField("url", f"{url[:80]!r} is no address of a server", hint="Write https://host:port/.")
    if parts.scheme == "http" and parts.hostname not in _LOOPBACK:
        raise InvalidField("url", "a token would travel in the open", hint="Use https://.")
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}/"


class RemoteTeam:
    """What a member does on the server they joined."""

    def __init__(self, server: TeamServer) -> None:
        self.server = server
        token = {"Authorization": f"Bearer {server.token}"}
        self._caller = Caller(server.url, token, TeamServerRefused, TeamServerRefused)

    def get(self, *path: str) -> Any:
        return self._caller.get(self._address(path), INTERACTIVE)

    def post(self, *path: str, body: Mapping[str, Any] | None = None) -> Any:
        return self._caller.post(self._address(path), body or {}, INTERACTIVE)

    def _address(self, path: tuple[str, ...]) -> str:
        return f"{self.server.url}v1/{'/'.join(quote(part, safe='') for part in path)}"
