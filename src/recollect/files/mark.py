"""Whose a store is: the mark that a person's own stores carry, and the key in their state folder that proves it.

A mark says: the person with this key made this store, or adopted it, in this very file. A store that came by clone,
archive or copy, or was put in the place of another, carries no mark that holds. Light: hooks ask at every event.
"""

from __future__ import annotations

import os
import stat

from recollect.core.digest import blake2b
from recollect.files.plain import make_own_folder, open_plain
from recollect.files.project import STORE, state_folder, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Fact = Callable[[str], str | None]  # a fact about the whole file, by its name

KEY = "store.key"
_KEY_BYTES = 32
_MARK = "mark:"  # begins the name of the fact; the rest tells the key, so that each of several people keeps their own
_FORM = "recollect store 1"  # part of what is sealed: another form of mark never passes for this one
_ATTRIBUTE = "user.recollect.file"  # an extended attribute: no clone and no archive carries it

NOT_MARKED = "it was not made here by you"
MOVED = "its file was copied or replaced since you made or adopted it"
NO_KEY = "the key that marks your stores cannot be read or made"


def foreign_notice(doubt: str) -> str:
    """What a person is told of a store that is not theirs."""
    return (
        f"This project's memory is foreign: {doubt}. Nothing of it is told to agents unasked or sent to a model. "
        "To use it, look at it with `recollect list` and run `recollect trust adopt`."
    )


class StoreOrigin:
    """Whose the store in a file is. `fact` reads what the store says of itself; nothing is kept, because the file may
    be another one the next time."""

    def __init__(self, path: str | None, fact: Fact, *, vouched: bool = False) -> None:
        self._path = path
        self._fact = fact
        self.vouched = vouched  # the owner's own program says it is theirs

    @property
    def doubt(self) -> str:
        """Why it is not this person's; empty when it is. One in memory and the person's own file are."""
        if self._path is None or self.vouched or is_personal(self._path):
            return ""
        key = read_key()
        if key is None:
            return NO_KEY
        sealed = self._fact(_mark_name(key)) or ""
        if not self._is_authentic(key, sealed):
            return NOT_MARKED
        return "" if sealed.partition(" ")[0] == identify_file(self._path) else MOVED

    @property
    def is_foreign(self) -> bool:
        return bool(self.doubt)

    def was_marked_in(self, identity: str) -> bool:
        """Was it this person's as long as it was the file with that identity?"""
        key = read_key()
        sealed = "" if key is None else self._fact(_mark_name(key)) or ""
        return key is not None and self._is_authentic(key, sealed) and sealed.partition(" ")[0] == identity

    @property
    def was_marked(self) -> bool:
        """Did this person make or adopt what it holds, whatever file it was in then? A backup of theirs passes."""
        key = read_key()
        return key is not None and self._is_authentic(key, self._fact(_mark_name(key)) or "")

    def new_mark(self) -> tuple[str, str] | None:
        """The fact that makes it this person's: its name and its value; nothing when no key can be had."""
        key = read_key() or make_key()
        if key is None or self._path is None:
            return None
        identity = identify_file(self._path, make=True)
        return _mark_name(key), f"{identity} {self._seal(key, identity)}"

    def _is_authentic(self, key: bytes, sealed: str) -> bool:
        identity, _, seal = sealed.partition(" ")
        return bool(identity) and seal == self._seal(key, identity)

    def _seal(self, key: bytes, identity: str) -> str:
        return seal(key, _FORM, self._fact("replica") or "", self._fact("project") or "", identity)


def seal(key: bytes, *told: str) -> str:
    """What only the owner of the key can say of some texts."""
    whole = "\x1f".join(told).encode("utf-8", "surrogatepass")
    return str(blake2b(whole, key=key, digest_size=16).hexdigest())


def is_personal(path: str) -> bool:
    """Is it the person's own file, in their own folder, where no clone can put one?"""
    return path == os.path.join(user_folder(), STORE)


def identify_file(path: str, *, make: bool = False) -> str:
    """What tells a file from any that takes its place or its number; it stays when the file is renamed or moved.

    The file is never opened: closing it would drop the locks that SQLite holds on it. `make` marks a file that has no
    attribute yet, where the file system can.
    """
    state = os.lstat(path)
    if not stat.S_ISREG(state.st_mode):
        return ""
    born = getattr(state, "st_birthtime_ns", None) or getattr(state, "st_birthtime", None)
    return f"{state.st_ino:x}.{born or _attribute(path, make=make)}"


def _attribute(path: str, *, make: bool) -> str:
    if not hasattr(os, "getxattr"):
        return ""
    try:
        return os.getxattr(path, _ATTRIBUTE, follow_symlinks=False).hex()
    except OSError:  # none, or a file system that has none
        if not make:
            return ""
    try:
        os.setxattr(path, _ATTRIBUTE, os.urandom(12), follow_symlinks=False)
        return os.getxattr(path, _ATTRIBUTE, follow_symlinks=False).hex()
    except OSError:
        return ""


# --- the key ----------------------------------------------------------------------------------------------------------


def read_key() -> bytes | None:
    """The person's key; nothing when there is none, or when others could have put it there or read it."""
    try:
        handle = open_plain(os.path.join(state_folder(), KEY))
    except OSError:
        return None
    try:
        state = os.fstat(handle)
        if hasattr(os, "geteuid") and (state.st_uid != os.geteuid() or state.st_mode & 0o077):
            return None
        found = os.read(handle, _KEY_BYTES + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return found if len(found) == _KEY_BYTES else None


def make_key() -> bytes | None:
    """Make the person's key unless there is one; the first of several processes that try wins."""
    folder = state_folder()
    path = os.path.join(folder, KEY)
    fresh = f"{path}.{os.urandom(6).hex()}"
    try:
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        make_own_folder(folder)
        handle = open_plain(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            os.write(handle, os.urandom(_KEY_BYTES))
            os.fsync(handle)
        finally:
            os.close(handle)
        try:
            os.link(fresh, path)  # never takes the place of a key that is there
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            if not os.path.lexists(path):
                os.replace(fresh, path)
        if os.path.lexists(fresh):
            os.unlink(fresh)
    except OSError:
        return None
    return read_key()


def _mark_name(key: bytes) -> str:
    return _MARK + str(blake2b(b"name", key=key, digest_size=6).hexdigest())
