"""What git knows of a project: which commit it is at, its history, and who it is; and how git is asked.

Every answer has a fallback: without git, or for a commit it does not know, nothing is known. Where git's own files
tell enough they are read directly; starting git would cost more than remembering does, and `subprocess` loads late.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from recollect.files.plain import read_beneath, read_plain_file
from recollect.files.project import read_git_pointer

_HISTORY_TIMEOUT = 60.0  # seconds for a long history
_IDENTITY_TIMEOUT = 5.0  # seconds; a project can do without git
_MAX_HOPS = 5  # symbolic references that point to another
_MAX_REF = 4_096  # bytes of a file that holds one reference
_MAX_REF_NAME = 1_000
_MAX_PACKED_REFS = 64_000_000  # bytes
_MAX_CONFIG = 1_000_000  # bytes
_MAX_INDEX = 256_000_000  # bytes
_MAX_OUTPUT = 256_000_000  # bytes that a git command may print
COMMIT = re.compile(r"[0-9a-fA-F]{7,64}")
_FULL_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NOT_IN_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{")
_FORMAT = "--format=%x01%H%x00%ct"
_MESSAGE_FORMAT = "--format=%x01%H%x00%ct%x00%B"
_MESSAGE_CHARS = 4_000  # of one message that are read


def current_commit(root: Path) -> str | None:
    """The full name of the commit that is checked out; nothing outside a repository or before the first commit."""
    repository = find_repository(root)
    return None if repository is None else repository.head()


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository's folders. What is in them came with a clone or an archive and is data: names are checked, only
    plain files of a bounded size are read, and none of its configuration is obeyed."""

    work_tree: str
    folder: str  # with HEAD and the index; a linked work tree has its own
    common: str  # with objects and refs

    def head(self) -> str | None:
        name = _read_line(os.path.join(self.folder, "HEAD"))
        for _ in range(_MAX_HOPS):
            if name is None or not name.startswith("ref:"):
                return name if name is not None and _FULL_COMMIT.fullmatch(name) else None
            name = self._resolve(name[4:].strip())
        return None

    def _resolve(self, ref: str) -> str | None:
        if not _is_ref(ref):
            return None
        for folder in dict.fromkeys((self.folder, self.common)):
            found = read_beneath(folder, ref, max_bytes=_MAX_REF)
            if found is not None:
                return found.decode("utf-8", "replace").strip() or None
        return self._packed(ref.encode())

    def _packed(self, ref: bytes) -> str | None:
        packed = read_plain_file(os.path.join(self.common, "packed-refs"), max_bytes=_MAX_PACKED_REFS) or b""
        for line in packed.splitlines():
            commit, _, name = line.partition(b" ")
            if name == ref:
                return commit.decode("utf-8", "replace")
        return None

    def is_shallow(self) -> bool:
        return os.path.isfile(os.path.join(self.common, "shallow"))

    def setting(self, section: str, name: str) -> str | None:
        """One value of its configuration, for the few that only describe the files on disk."""
        found = None
        inside = False
        for line in self._config().splitlines():
            line = line.strip()
            if line.startswith("["):
                inside = line.partition("]")[0].lower() == f"[{section}"
            elif inside and line.partition("=")[0].strip().lower() == name:
                found = line.partition("=")[2].strip().strip('"')
        return found

    def _config(self) -> str:
        return (read_plain_file(os.path.join(self.common, "config"), max_bytes=_MAX_CONFIG) or b"").decode(
            "utf-8", "replace"
        )


def find_repository(start: Path) -> Repository | None:
    """The repository that a directory lies in."""
    folder = os.path.abspath(start)
    while True:
        pointer = os.path.join(folder, ".git")
        if os.path.lexists(pointer):
            return _repository_at(folder, pointer)
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _repository_at(work_tree: str, pointer: str) -> Repository | None:
    """`.git` itself, or where a linked work tree's or a submodule's file of that name points to."""
    private = pointer if os.path.isdir(pointer) and not os.path.islink(pointer) else read_git_pointer(pointer)
    if private is None:
        return None
    shared = _read_line(os.path.join(private, "commondir"))
    common = private if shared is None else os.path.realpath(os.path.join(private, shared))
    found = Repository(work_tree, private, common)
    return found if _is_ours(private) or _git_allows(work_tree) else None


def _is_ours(folder: str) -> bool:
    """Does a repository belong to this person? Git asks the same before it reads one."""
    if not hasattr(os, "geteuid"):
        return True
    try:
        return os.stat(folder).st_uid == os.geteuid()
    except OSError:
        return False


def _git_allows(work_tree: str) -> bool:
    """Has the person told git (`safe.directory`) that another user's repository is fine?"""
    with _Shell() as shell:
        return bool(shell.run(["git", "-C", work_tree, "rev-parse", "--git-dir"], {}, timeout=_IDENTITY_TIMEOUT))


def _is_ref(name: str) -> bool:
    """Is it a name that git allows for a reference? Such a name never leads out of the repository."""
    return (
        name.startswith("refs/")
        and len(name) < _MAX_REF_NAME
        and not _NOT_IN_REF.search(name)
        and all(part and not part.startswith(".") and not part.endswith((".", ".lock")) for part in name.split("/"))
    )


def _read_line(file: str) -> str | None:
    found = read_plain_file(file, max_bytes=_MAX_REF)
    return None if found is None else found.decode("utf-8", "replace").strip() or None


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit. `before` is set when it was renamed."""

    path: str
    status: str  # A, M, D or R
    before: str | None = None


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    at: datetime
    changes: tuple[Change, ...]


def read_history(root: Path, *, limit: int = 5_000) -> list[Commit]:
    """The last commits, oldest first; merges are left out. Paths are below `root`."""
    head = current_commit(root)
    if head is None:
        return []
    asked = ("log", "--no-merges", f"--max-count={limit}", _FORMAT, "--name-status", "-z", "--relative", *INERT_DIFF)
    output = run_git(root, *asked, "-M", head, "--", ".", timeout=_HISTORY_TIMEOUT)
    if not output:  # a partial clone has not the files that renames are told by, and nothing is fetched for us
        output = run_git(root, *asked, "--no-renames", head, "--", ".", timeout=_HISTORY_TIMEOUT)
    return list(reversed(list(_parse_commits(output))))


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """What a commit says it does; whoever made it worded that."""

    id: str
    at: datetime
    text: str


def read_messages(root: Path, *, limit: int = 200) -> list[CommitMessage]:
    """The messages of the last commits that touch files below `root`, newest first; merges are left out."""
    head = current_commit(root)
    if head is None:
        return []
    asked = ("log", "--no-merges", f"--max-count={limit}", _MESSAGE_FORMAT, "--no-patch", head, "--", ".")
    found = []
    for entry in run_git(root, *asked, timeout=_HISTORY_TIMEOUT).split("\x01")[1:]:
        commit, _, rest = entry.partition("\0")
        stamp, _, text = rest.partition("\0")
        if stamp.strip().isdigit() and COMMIT.fullmatch(commit):
            at = datetime.fromtimestamp(int(stamp), UTC)
            found.append(CommitMessage(commit, at, text.strip("\0\n")[:_MESSAGE_CHARS]))
    return found


def follow_renames(commits: Iterable[Commit]) -> list[tuple[datetime, tuple[str, ...]]]:
    """Each commit's files under the names they bear today, oldest first; those that are gone today are left out."""
    today: dict[str, str | None] = {}
    found: list[tuple[datetime, tuple[str, ...]]] = []
    for commit in reversed(list(commits)):
        names = []
        for change in commit.changes:
            now = today.get(change.path, change.path)
            if change.status == "D":
                today[change.path] = None
                continue
            if now is not None:
                names.append(now)
            if change.before is not None:
                today[change.before] = now
            if change.status == "A" and change.path in today and change.before is None:
                del today[change.path]  # before this commit the name meant another file, or none
        found.append((commit.at, tuple(dict.fromkeys(names))))
    return list(reversed(found))


def _parse_commits(output: str) -> Iterator[Commit]:
    for entry in output.split("\x01")[1:]:
        commit, _, rest = entry.partition("\0")
        stamp, _, names = rest.partition("\0")
        if stamp.strip().isdigit():
            words = iter(names.lstrip("\n").split("\0"))
            yield Commit(commit, datetime.fromtimestamp(int(stamp), UTC), tuple(parse_changes(words)))


def parse_changes(words: Iterator[str]) -> Iterator[Change]:
    """What `--name-status -z` prints, word by word."""
    for status in words:
        status = status.strip("\n")
        if not status:
            continue
        path = next(words, "")
        if status[0] in "RC":
            after = next(words, "")
            yield Change(after, "R" if status[0] == "R" else "A", path if status[0] == "R" else None)
        elif path:
            yield Change(path, status[0])


def identify_project(root: Path) -> str:
    """A name for the project that all clones share: its first commit. Without history, the directory's name."""
    repository = find_repository(root)
    if repository is None:
        return f"dir:{root.name or 'root'}"
    head = repository.head()
    if head is not None and not repository.is_shallow():
        asked = ("rev-list", "--first-parent", "--max-parents=0", head)
        if first := run_git(root, *asked, timeout=_IDENTITY_TIMEOUT).strip():
            return f"git:{first.splitlines()[-1][:16]}"
    if remote := repository.setting('remote "origin"', "url"):
        from hashlib import sha256

        return f"remote:{sha256(_normal_remote(remote).encode()).hexdigest()[:16]}"
    return f"dir:{root.name or 'root'}"


def _normal_remote(url: str) -> str:
    """One spelling for ssh, https and credentials: host/path."""
    bare = url.strip().removesuffix("/").removesuffix(".git").split("://")[-1].split("@")[-1]
    return bare.replace(":", "/", 1).lower()


# --- starting git -----------------------------------------------------------------------------------------------------

# A repository's configuration and attributes can name programs: hooks, fsmonitor, filters, external diffs, signatures,
# pagers, ssh. Git is therefore shown an empty configuration in place of the repository's, the person's and the
# system's; only these descriptions of the files on disk are carried over, word by word.
_DESCRIBING = {
    name: frozenset(values.split())
    for name, values in {
        "autocrlf": "true false input",
        "checkstat": "default minimal",
        "eol": "lf crlf native",
        "filemode": "true false",
        "ignorecase": "true false",
        "precomposeunicode": "true false",
        "symlinks": "true false",
        "trustctime": "true false",
    }.items()
}
# A submodule would be asked in a process of its own, with its own configuration.
INERT_DIFF = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


def run_git(root: Path, *args: str, timeout: float, with_untracked: bool = False) -> str:
    """What a git command prints; nothing when git is missing, too slow, too talkative or refuses.

    `with_untracked` shows git the files it does not know yet as if they had just been added. Nothing of that is kept:
    it happens in a copy of the index, and new objects go to a folder of ours.
    """
    repository = find_repository(root)
    if repository is None:
        return ""
    with _Shell() as shell:
        described = {name: repository.setting("core", name) for name in _DESCRIBING}
        shell.configure(
            {name: value for name, value in described.items() if value in _DESCRIBING[name]},
            long_names=len(repository.head() or "") == 64,
        )
        objects = os.path.join(repository.common, "objects")
        variables = {
            "GIT_DIR": repository.folder,
            "GIT_COMMON_DIR": shell.folder,
            "GIT_WORK_TREE": repository.work_tree,
            "GIT_OBJECT_DIRECTORY": objects,
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        if repository.is_shallow():
            variables["GIT_SHALLOW_FILE"] = os.path.join(repository.common, "shallow")
        command = ["git", "-C", str(root), "-c", "core.quotepath=off"]
        if with_untracked and (index := shell.copy_index(repository.folder)) is not None:
            apart = {"GIT_OBJECT_DIRECTORY": shell.make_objects(), "GIT_ALTERNATE_OBJECT_DIRECTORIES": objects}
            variables |= {"GIT_INDEX_FILE": index, **apart}
            shell.run([*command, "add", "--intent-to-add", "--ignore-errors", "--", "."], variables, timeout=timeout)
        return shell.run([*command, *args], variables, timeout=timeout)


class _Shell:
    """An empty repository around the real one's objects: its configuration, hooks and attributes are ours."""

    def __enter__(self) -> _Shell:
        from tempfile import mkdtemp

        self.folder = mkdtemp(prefix="recollect-git-")
        return self

    def configure(self, core: dict[str, str | None], *, long_names: bool) -> None:
        os.mkdir(os.path.join(self.folder, "refs"))
        lines = [
            f"[core]\nrepositoryformatversion = {int(long_names)}\nbare = false\nfsmonitor = false",
            f"hooksPath = {os.devnull}\nattributesFile = {os.devnull}",
            *(f"{name} = {value}" for name, value in core.items()),
            "[extensions]\nobjectFormat = sha256" if long_names else "",
        ]
        with open(os.path.join(self.folder, "config"), "w", encoding="ascii") as file:
            file.write("\n".join(lines))

    def copy_index(self, folder: str) -> str | None:
        """A copy of a repository's index that may be changed; nothing before the first file was added."""
        found = read_plain_file(os.path.join(folder, "index"), max_bytes=_MAX_INDEX)
        if found is None:
            return None
        path = os.path.join(self.folder, "index")
        with open(path, "wb") as file:
            file.write(found)
        return path

    def make_objects(self) -> str:
        """A folder for objects that nobody keeps."""
        os.mkdir(os.path.join(self.folder, "objects"))
        return os.path.join(self.folder, "objects")

    def run(self, command: list[str], variables: dict[str, str], *, timeout: float) -> str:
        import subprocess
        from threading import Timer

        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment = {**inherited, **_QUIET, **variables}
        try:  # started in our folder: some systems look for programs where they are
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return ""
        alarm = Timer(timeout, process.kill)
        alarm.start()
        try:
            with process:
                assert process.stdout is not None
                printed = process.stdout.read(_MAX_OUTPUT + 1)
                if len(printed) > _MAX_OUTPUT:
                    process.kill()
        finally:
            alarm.cancel()
        return printed.decode("utf-8", "replace") if process.returncode == 0 else ""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from shutil import rmtree

        rmtree(self.folder, ignore_errors=True)


_QUIET = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_PAGER": "",
}
