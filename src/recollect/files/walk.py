"""A safe walk over the files of a directory: ignore rules kept, links not followed, every file that is left out named.

Files come in a total order, directory by directory. A link is never followed: what it names inside the root is walked
itself, what it names outside is none of our business, and so no loop can catch us.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollect.files.ignore import NEVER, RULE_FILES, USUAL, Ignores, limit_rules, read_rule_file

_DEEPEST = 200  # directories below one another: deeper than any project, shallower than any limit of the system


@dataclass(frozen=True, slots=True)
class Found:
    """A regular file that is wanted."""

    file: str  # as the system names it
    relative: str  # below the root, with "/" between names
    size: int
    mtime_ns: int

    @property
    def path(self) -> Path:
        return Path(self.file)

    @property
    def root(self) -> Path:
        """The directory that was walked."""
        return Path(self.file[: -len(self.relative)])


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that would have been wanted but cannot be had, and why."""

    relative: str
    reason: str
    lasting: bool = False  # what it is forbids it, not the moment


def walk(
    root: Path,
    *,
    extra_ignores: Sequence[str] = (),
    wanted: Callable[[str], bool] = lambda relative: True,
) -> Iterator[Found | Skipped]:
    """The files below `root` that no rule ignores and `wanted` (asked with the relative path) wants."""
    top = Path(os.path.realpath(root))
    above, notes = _above(top)
    extra, left_out = limit_rules([*USUAL, *extra_ignores])
    yield from notes
    if left_out:
        yield Skipped("the ignore rules of the settings", left_out, lasting=True)
    ignores = above.with_rules("", extra)
    waiting: list[tuple[str, Ignores]] = [("", ignores)]
    while waiting:
        folder, rules = waiting.pop()
        try:
            with os.scandir(top / folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(_shown(folder) or ".", _reason(error))
            continue
        for name in RULE_FILES:
            if any(entry.name == name for entry in entries):
                lines, left_out = read_rule_file(top / folder / name)
                rules = rules.with_rules(folder, lines)
                if left_out:
                    yield Skipped(_shown(folder + name), left_out, lasting=True)
        below: list[tuple[str, Ignores]] = []
        for entry in entries:
            one = _looked_at(entry, folder, rules, top, wanted)
            if isinstance(one, str):
                below.append((one, rules))
            elif one is not None:
                yield one
        waiting += reversed(below)


def _looked_at(
    entry: os.DirEntry[str], folder: str, rules: Ignores, top: Path, wanted: Callable[[str], bool]
) -> Found | Skipped | str | None:
    """What one entry is: a file, something skipped, a directory to walk (its path), or nothing of interest."""
    relative = folder + entry.name
    try:
        if entry.is_symlink():
            return _link(entry, relative, rules, top, wanted)
        if entry.is_dir(follow_symlinks=False):
            if entry.name in NEVER or rules.ignored(relative + "/"):
                return None
            if not _is_text(relative):
                return Skipped(_shown(relative), "its name is not UTF-8", lasting=True)
            if relative.count("/") >= _DEEPEST:
                return Skipped(relative, f"more than {_DEEPEST} directories deep")
            return relative + "/"
        if not wanted(relative) or rules.ignored(relative):
            return None
        if not _is_text(relative):
            return Skipped(_shown(relative), "its name is not UTF-8", lasting=True)
        seen = entry.stat(follow_symlinks=False)
        if not stat.S_ISREG(seen.st_mode):
            return Skipped(relative, "not a regular file", lasting=True)
        return Found(entry.path, relative, seen.st_size, seen.st_mtime_ns)
    except OSError as error:
        return Skipped(_shown(relative), _reason(error))


def _link(
    entry: os.DirEntry[str], relative: str, rules: Ignores, top: Path, wanted: Callable[[str], bool]
) -> Skipped | None:
    """Why a link is not followed; nothing when it would not have been wanted either."""
    try:
        folder = entry.is_dir()
        target = Path(entry.path).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        if not wanted(relative) or rules.ignored(relative):
            return None
        loop = isinstance(error, RuntimeError) or error.errno == errno.ELOOP
        return Skipped(_shown(relative), "a loop of links" if loop else "a link that leads nowhere", lasting=True)
    if rules.ignored(relative + "/" if folder else relative) or not (folder or wanted(relative)):
        return None
    if not target.is_relative_to(top):
        return Skipped(_shown(relative), "a link out of the root", lasting=True)
    if folder and top.joinpath(relative).parent.is_relative_to(target):
        return Skipped(_shown(relative), "a loop of links", lasting=True)
    return Skipped(_shown(relative), "a link; what it names is read where it lies", lasting=True)


def _above(top: Path) -> tuple[Ignores, list[Skipped]]:
    """The rules that the directories above the root impose, up to that of the repository; and what was left out."""
    chain = [top, *top.parents]
    place = next((number for number, folder in enumerate(chain) if os.path.exists(folder / ".git")), None)
    if place is None:
        return Ignores(), []
    rules, notes = Ignores(), []
    files = [(chain[place] / ".git" / "info" / "exclude", chain[place])]
    files += [(folder / name, folder) for folder in reversed(chain[1 : place + 1]) for name in RULE_FILES]
    for file, folder in files:
        lines, left_out = read_rule_file(file)
        way = top.relative_to(folder).as_posix()
        rules = rules.with_rules("", lines, above="" if way == "." else f"{way}/")
        if left_out:
            notes.append(Skipped(_shown(os.path.relpath(file, top)), left_out, lasting=True))
    return rules, notes


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode().rstrip("/")


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "it vanished during the run"
    if isinstance(error, PermissionError):
        return "may not be read"
    return error.strerror or type(error).__name__
