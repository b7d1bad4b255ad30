"""Memories follow what they are about: files that were renamed, deleted or brought back, and files that outgrew them.

What a memory becomes is worked out without writing (`plan_following`); its former anchor stays in the log.
These are changes of ours: the flag for review is taken back here only where it was set here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recollect.core.doors import FILES_BEFORE, FILES_GONE, OUTGROWN
from recollect.core.errors import StoreError
from recollect.core.forms import iso
from recollect.core.ports import Changes as FileChanges
from recollect.core.records import Memory
from recollect.files.git import current_commit
from recollect.files.project import FOLLOWED, describe_followed, index_stamp
from recollect.files.work_tree import Fate, WorkTree
from recollect.privacy.values import redact_name
from recollect.recall.staleness import find_outgrown
from recollect.remember.act import ActContext
from recollect.remember.acts import list_gone
from recollect.remember.changes import Changes
from recollect.remember.rivals import open_rivals
from recollect.remember.shape import asks_by_itself
from recollect.store.meta import Meta
from recollect.store.store import Store

if TYPE_CHECKING:
    from recollect.remember.writer import Writer

_MAX_BEFORE = 10  # former names of a file that are kept, the latest
_MAX_PATH = 900  # characters


class FileTree(Protocol):
    """Where files are now."""

    def has(self, file: str) -> bool: ...
    def is_inside(self, file: str) -> bool: ...
    def find(self, file: str, *, since: str | None, at: datetime, before: Sequence[str] = ()) -> Fate | None: ...


@dataclass(frozen=True, slots=True)
class FollowedMemory:
    """A memory that changes with its files, and why."""

    before: Memory
    after: Memory
    why: str


def plan_following(
    store: Store, tree: FileTree, now: datetime, *, changes: FileChanges | None = None
) -> list[FollowedMemory]:
    """What has to change for every memory about files to say where they are now. With `changes`, memories that their
    files outgrew are sent to review too."""
    found = []
    for memory in store.memories.tied():
        one = follow_one(memory, tree, now, is_asked=lambda memory: _is_asked(store, memory))
        why = "" if changes is None or one.after.needs_review else find_outgrown(one.after, changes)
        if why:
            noted = one.after.having(needs_review=True, attributes={**one.after.attributes, OUTGROWN: why})
            one = FollowedMemory(memory, noted, "; ".join(filter(None, [one.why, why])))
        if one.after != memory:
            found.append(one)
    return found


def apply_following(store: Store, one: FollowedMemory, act: ActContext) -> bool:
    """Write what a memory became; nothing when somebody changed it meanwhile, and the next run looks again."""
    with store.engine.write():
        found = store.memories.get_many([one.before.id]).memories
        if not found or found[0] != one.before:
            return False
        changes = Changes(store, act)
        after = one.after.having(updated_at=act.at, revision=one.before.revision + 1)
        changes.update("annotate", one.before, after, one.why)
        changes.write()
    return True


def _is_asked(store: Store, memory: Memory) -> bool:
    """Does a memory ask for a person for another reason than its files?"""
    return bool(asks_by_itself(memory.status, None, memory.updated_at) or open_rivals(store, memory))


# --- one memory -------------------------------------------------------------------------------------------------------


def follow_one(
    memory: Memory, tree: FileTree, now: datetime, *, is_asked: Callable[[Memory], bool] = lambda memory: False
) -> FollowedMemory:
    """A memory with its files as they are called now. One all of whose files were deleted is stale from now on; when
    one of them is back, it no longer is. A folder or a file that nobody ever saw says nothing."""
    former = _former_names(memory)
    known_gone = frozenset(list_gone(memory))
    files, moved, gone = list[str](), dict[str, str](), list[str]()
    for file in memory.files:
        fate = _fate_of(file, memory, tree, former)
        if fate is not None and fate.path is not None:
            if may_be_kept(fate.path):
                moved[file] = fate.path
        elif fate is not None or (file in known_gone and not tree.has(file)):
            gone.append(file)
        files.append(moved.get(file, file))
    attributes = dict(memory.attributes)
    if moved:
        kept = {new: names for new, names in former.items() if new in files}
        moves = {new: [old, *(name for name in former.get(old, ()) if name != new)] for old, new in moved.items()}
        attributes[FILES_BEFORE] = {new: names[:_MAX_BEFORE] for new, names in {**kept, **moves}.items()}
    after = memory.having(
        files=tuple(dict.fromkeys(files)), node=_moved_node(memory.node, moved), attributes=attributes
    )
    after = _mark_gone(after, gone, known_gone, now, is_asked)
    return FollowedMemory(
        memory, after, _explain(moved, [file for file in gone if file not in known_gone], after, memory)
    )


def may_be_kept(path: str) -> bool:
    """May a memory carry this name of a file? Not an endless one, nor one that holds a secret."""
    return len(path) <= _MAX_PATH and redact_name(path) == path


def _fate_of(file: str, memory: Memory, tree: FileTree, former: Mapping[str, Sequence[str]]) -> Fate | None:
    if not tree.is_inside(file) or tree.has(file):
        return None
    return tree.find(file, since=memory.commit, at=memory.created_at, before=former.get(file, ()))


def _moved_node(node: str | None, moved: Mapping[str, str]) -> str | None:
    """The anchor of a symbol in the file that its file became. Whether the symbol is still in it, the graph tells."""
    if node is None:
        return None
    anchor, at, digest = node.partition("@")
    file, colon, symbol = anchor.partition(":")
    return f"{moved[file]}{colon}{symbol}{at}{digest}" if file in moved else node


def _mark_gone(
    memory: Memory, gone: Sequence[str], known: frozenset[str], now: datetime, is_asked: Callable[[Memory], bool]
) -> Memory:
    """A memory that knows which of its files are gone, and is stale while all of them are."""
    note = _gone(memory)
    if set(gone) == known:
        return memory
    attributes = {name: value for name, value in memory.attributes.items() if name != FILES_GONE}
    if set(gone) == set(memory.files):
        is_new = memory.stale_at is None
        note = {"files": sorted(gone), "stale_at": iso(now) if is_new else "", "asked": not memory.needs_review}
        return memory.having(
            stale_at=now if is_new else memory.stale_at,
            needs_review=True,
            attributes={**attributes, FILES_GONE: note},
        )
    is_ours = memory.stale_at is not None and note.get("stale_at") == iso(memory.stale_at)
    cleared = memory.having(
        stale_at=None if is_ours else memory.stale_at,
        attributes={**attributes, FILES_GONE: {"files": sorted(gone)}} if gone else attributes,
    )
    return cleared.having(needs_review=False) if note.get("asked") and not is_asked(cleared) else cleared


def _gone(memory: Memory) -> Mapping[str, Any]:
    found = memory.attributes.get(FILES_GONE)
    return found if isinstance(found, Mapping) else {}


def _former_names(memory: Memory) -> dict[str, Sequence[str]]:
    """What each file was called before, the latest name first."""
    found = memory.attributes.get(FILES_BEFORE)
    named = found.items() if isinstance(found, Mapping) else ()
    return {str(new): [str(name) for name in names] for new, names in named if isinstance(names, list | tuple)}


def _explain(moved: Mapping[str, str], gone: Sequence[str], after: Memory, before: Memory) -> str:
    said = [f"{old} is {new} now" for old, new in moved.items()]
    said += [f"{file} was deleted" for file in gone]
    if before.stale_at is not None and after.stale_at is None:
        said.append("its file is back")
    return "; ".join(said)


def follow_files(store: Store, tree: FileTree, act: ActContext) -> int:
    """Let every memory about files follow them now; how many changed."""
    return sum(apply_following(store, one, act) for one in plan_following(store, tree, act.at))


class FileFollower:
    """Keeps memories in step with a work tree whenever git says that something happened in it. Asking costs one look
    at git's index; what was seen last is kept in the store, for processes that live shortly."""

    def __init__(self, root: Path, writer: Writer, meta: Meta) -> None:
        self._root, self._writer, self._meta = root, writer, meta
        self._seen: str | None = None

    def follow(self) -> Sequence[str]:
        """Catch up; what went wrong, in words. Whoever asks is answered all the same."""
        stamp = index_stamp(str(self._root))
        if stamp == self._seen or self._writer.read_only:
            return ()
        try:
            if self._meta.get(FOLLOWED) != describe_followed(stamp, current_commit(self._root)):
                self.catch_up()
        except StoreError as error:
            return (f"memories did not follow renamed files: {error}",)
        self._seen = stamp
        return ()

    def catch_up(self) -> None:
        """Look at all files, whatever git says."""
        stamp, head = index_stamp(str(self._root)), current_commit(self._root)
        self._writer.follow_files(WorkTree(self._root))
        with self._writer.transaction():
            self._meta.put(FOLLOWED, describe_followed(stamp, head))
