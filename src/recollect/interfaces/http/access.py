"""Who may come in: one-time codes, sessions of browsers and tokens of programs, as digests in one private file.

The file is in the person's state folder and only they can read it. What is handed out is random and long, and never
kept: a digest suffices to know it again. Whoever can write that file is the person, or has their shell.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from recollect.core.doors import HTTP, PANEL, ActDoor
from recollect.core.errors import InvalidField, TokenNotFound, UnsafeFile
from recollect.core.file_lock import free_lock, take_lock
from recollect.core.people import Member
from recollect.core.text import clean
from recollect.files.plain import make_own_folder, open_in_own_folder, read_plain_file
from recollect.files.project import state_folder
from recollect.interfaces.http import ADMIN, SCOPES

CODE_SECONDS = 300  # a one-time code is for the browser that opens now
SESSION_SECONDS = 30 * 86_400  # a browser that comes back within a month need not ask again
_FILE, _LOCK = "access.json", "access.lock"
_MAX_BYTES = 1_000_000
_MAX_NAME = 60  # characters of a token's name
_MOST = {"codes": 20, "sessions": 50, "tokens": 200}  # the oldest go first
_TOKEN_MARK = "rcl_"  # tells people and secret scanners what they have found


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """Who sends a request: what the log names, by which door their acts come in, how much they may do."""

    name: str | None  # nothing for the person at the panel: the log names them as always
    door: ActDoor
    scope: str
    by_cookie: bool = False
    member: Member | None = None  # of the team, with a token of the store's own; nobody for its keeper

    def may(self, scope: str) -> bool:
        return SCOPES.index(self.scope) >= SCOPES.index(scope)


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token: everything but the token."""

    name: str
    scope: str
    is_persons: bool
    made_at: float


class AccessFile:
    """Codes, sessions and tokens. Every change is written under a lock and replaces the file at once."""

    def __init__(self, folder: str | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder or state_folder()
        self._clock = clock
        self._seen: tuple[tuple[int, int, int], dict[str, list[dict[str, Any]]]] | None = None

    # --- a person's browser -----------------------------------------------------------------------------------------

    def make_code(self, store: str) -> str:
        """A code that opens the panel of one store once, within a few minutes."""
        code = secrets.token_urlsafe(24)
        with self._changing() as held:
            held["codes"].append({"digest": _digest(code), "store": store, "until": self._clock() + CODE_SECONDS})
        return code

    def take_code(self, code: str, store: str) -> str | None:
        """The session that a code opens; nothing when it was used, is too old or was made for another store."""
        if self._find("codes", code, store) is None:
            return None
        with self._changing() as held:
            found = _matching(held["codes"], code, store)
            if found is None or found["until"] < self._clock():
                return None
            held["codes"].remove(found)
            session = secrets.token_urlsafe(32)
            until = self._clock() + SESSION_SECONDS
            held["sessions"].append({"digest": _digest(session), "store": store, "until": until})
        return session

    def end_session(self, session: str, store: str) -> None:
        """The browser logs out: what it holds opens nothing any more."""
        with self._changing() as held:
            held["sessions"] = [one for one in held["sessions"] if _matching([one], session, store) is None]

    def by_session(self, session: str, store: str) -> ApiCaller | None:
        """The person whose browser holds this session of a store."""
        found = self._find("sessions", session, store)
        return None if found is None else ApiCaller(None, PANEL, ADMIN, by_cookie=True)

    # --- a program --------------------------------------------------------------------------------------------------

    def make_token(self, name: str, *, scope: str, is_persons: bool) -> str:
        """A token for a program, by a name of its own. It is shown once and cannot be read again."""
        label = clean(name)[0]
        if not label or label != name or "\n" in label or len(label) > _MAX_NAME:
            raise InvalidField("name", f"it takes 1 to {_MAX_NAME} plain visible characters")
        token = _TOKEN_MARK + secrets.token_urlsafe(32)
        with self._changing() as held:
            if any(one["name"] == name for one in held["tokens"]):
                raise InvalidField("name", f"there is a token {name!r} already", hint="Revoke it, or name another.")
            entry = {"name": name, "scope": scope, "person": is_persons, "made": self._clock()}
            held["tokens"].append({"digest": _digest(token), **entry})
        return token

    def tokens(self) -> list[Token]:
        """The tokens there are, in the order they were made."""
        return [Token(one["name"], one["scope"], bool(one["person"]), one["made"]) for one in self._read()["tokens"]]

    def revoke(self, name: str) -> None:
        """End a token. Requests that carry it are refused from now on."""
        with self._changing() as held:
            kept = [one for one in held["tokens"] if one["name"] != name]
            if len(kept) == len(held["tokens"]):
                raise TokenNotFound(name)
            held["tokens"] = kept

    def by_token(self, token: str) -> ApiCaller | None:
        """The program that has this token. What it does is an agent's act, unless the token was made as a person's."""
        found = self._find("tokens", token, None)
        if found is None or found["scope"] not in SCOPES:
            return None
        return ApiCaller(str(found["name"]), PANEL if found["person"] else HTTP, str(found["scope"]))

    # --- the file ---------------------------------------------------------------------------------------------------

    def _find(self, kind: str, secret: str, store: str | None) -> dict[str, Any] | None:
        found = _matching(self._read()[kind], secret, store)
        return None if found is None or found.get("until", float("inf")) < self._clock() else found

    def _read(self) -> dict[str, list[dict[str, Any]]]:
        """What the file holds now; read again only when it was replaced."""
        path = os.path.join(self._folder, _FILE)
        try:
            state = os.lstat(path)
        except OSError:
            return _empty()
        stamp = (state.st_ino, state.st_mtime_ns, state.st_size)
        if self._seen is not None and self._seen[0] == stamp:
            return self._seen[1]
        if hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or state.st_mode & 0o077):
            raise UnsafeFile(path, "not yours alone", hint="Remove it; codes and tokens are then made again.")
        held = _parsed(read_plain_file(path, max_bytes=_MAX_BYTES))
        self._seen = (stamp, held)
        return held

    @contextmanager
    def _changing(self) -> Iterator[dict[str, list[dict[str, Any]]]]:
        """What the file holds, to be changed in place; written when the block ends well."""
        os.makedirs(os.path.dirname(self._folder), mode=0o700, exist_ok=True)
        make_own_folder(self._folder)
        lock = open_in_own_folder(os.path.join(self._folder, _LOCK), os.O_RDWR | os.O_CREAT)
        try:
            take_lock(lock, wait=True)
            held = {kind: list(entries) for kind, entries in self._read().items()}
            yield held
            now = self._clock()
            for kind, entries in held.items():
                alive = [one for one in entries if one.get("until", now) >= now]
                held[kind] = alive[-_MOST[kind] :]
            self._write(held)
        finally:
            free_lock(lock)
            os.close(lock)

    def _write(self, held: Mapping[str, Any]) -> None:
        path = os.path.join(self._folder, _FILE)
        fresh = f"{path}.{secrets.token_hex(6)}"
        handle = open_in_own_folder(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            os.write(handle, json.dumps(held).encode())
            os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(fresh, path)


def _digest(secret: str) -> str:
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _matching(entries: list[dict[str, Any]], secret: str, store: str | None) -> dict[str, Any] | None:
    """The entry of a secret, compared in a time that does not depend on where it differs."""
    wanted, found = _digest(secret), None
    for one in entries:
        if hmac.compare_digest(str(one.get("digest")), wanted) and one.get("store") == store:
            found = one
    return found


def _empty() -> dict[str, list[dict[str, Any]]]:
    return {kind: [] for kind in _MOST}


def _parsed(data: bytes | None) -> dict[str, list[dict[str, Any]]]:
    """What the file says; nothing for one that is broken, so that nobody comes in by it."""
    try:
        whole = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return _empty()
    if not isinstance(whole, dict) or not all(isinstance(whole.get(kind, []), list) for kind in _MOST):
        return _empty()
    return {kind: [one for one in whole.get(kind, []) if _is_entry(kind, one)] for kind in _MOST}


def _is_entry(kind: str, one: Any) -> bool:
    needed = {"digest", "name", "scope", "person", "made"} if kind == "tokens" else {"digest", "store", "until"}
    return isinstance(one, dict) and needed <= one.keys() and isinstance(one.get("until", 0), int | float)
