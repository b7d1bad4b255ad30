"""Every place that writes to a file is known here, with what keeps secrets out of it.

A new one fails this test until somebody has thought about it. Rows of the store are written by the engine alone, and
come through the Writer and the rooms, which screen; `tests/attacks/test_secrets.py` looks for what slips through.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import recollect

ROOT = Path(recollect.__file__).parent
KNOWN = {
    # text of agents and people, screened before it is written
    "files/session_file.py": "the hook screens an event whole (agent/hook.screen_event) before it is appended",
    "interfaces/hook.py": "a line of the hook's log is screened where it is written",
    "interfaces/mcp/stdio.py": "no file: the wire to the host, whose answers are screened where they are made",
    "portable/package.py": "what an export holds, screened row by row (portable/export) before it is written",
    "portable/api.py": "the archive that is about to be encrypted, in a file without a name",
    "interfaces/cli/editor.py": "memories as they are stored, in a private file for the person's editor; removed after",
    # no text of anybody
    "files/known_stores.py": "paths of the person's own stores, in a private file of theirs",
    "interfaces/cli/write.py": "the line `*` in a .gitignore",
    "files/git.py": "an empty configuration for git in place of a repository's",
    "interfaces/cli/demo_material.py": "the demo's own sessions and copies of our source, in a folder that is removed",
    "interfaces/http/pictures.py": "a picture of the panel that a person asked for, and words to our own browser",
    "interfaces/http/access.py": "digests of random secrets, and the names people gave their tokens",
    "interfaces/http/background.py": "the address and process of our own server",
    "files/team_file.py": "the token of the team that was joined, in a private file of its person",
    "files/mark.py": "our own key of this machine and person, in a private file of theirs",
    "files/learning_turn.py": "an empty lock file",
    "interfaces/start.py": "the null device in place of a closed stream",
    "store/sqlite/place.py": "opens the store's own files for the engine, and writes nothing",
    "store/sqlite/swap.py": "copies of the store, as repair makes",
    "store/sqlite/lock.py": "an empty lock file and a reserve of zeros",
    "store/sqlite/repair.py": "copies of the store, which holds what was screened; `scan` looks into them",
    "embed/install.py": "a model's files, as they were downloaded",
    "tend/install.py": "a schedule that names the program and the store",
    # people's own files, given back with our part added
    "agent/hosts/install.py": "a host's settings as they are, with our part; the copy before it is the person's own",
}
# These open with flags that a reader of the code must look up: to read, or the terminal.
READING = {"documents/pages.py", "files/ignore.py", "files/plain.py", "interfaces/cli/console.py"}
_METHODS = {"write_text", "write_bytes"}
_MODULE_CALLS = {
    ("os", "write"), ("os", "open"), ("os", "fdopen"), ("os", "truncate"), ("os", "ftruncate"), ("shutil", "copy"),
    ("shutil", "copyfile"), ("shutil", "copy2"), ("shutil", "copytree"), ("shutil", "move"), ("tempfile", "mkstemp"),
    ("tempfile", "NamedTemporaryFile"), ("tempfile", "TemporaryFile"), ("json", "dump"), ("pickle", "dump"),
    ("logging", "FileHandler"), ("logging", "basicConfig"), ("gzip", "open"), ("np", "save"), ("numpy", "save"),
}  # fmt: skip
_READING = {"r", "rb", "rt"}


def writes(path: Path) -> Iterator[tuple[int, str]]:
    """The calls of a module that may write to a file, with their lines."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            pair = (called.value.id, called.attr)
            if pair in _MODULE_CALLS and not _only_reads(node):
                yield node.lineno, ".".join(pair)
                continue
        if isinstance(called, ast.Attribute) and called.attr in _METHODS:
            yield node.lineno, called.attr
        name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
        if name == "open" and _opens_for_writing(node):
            yield node.lineno, "open"


def _mode(node: ast.Call) -> str | None:
    given = [
        argument for argument in node.args if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    given += [word.value for word in node.keywords if word.arg == "mode" and isinstance(word.value, ast.Constant)]
    modes = [one.value for one in given if set(str(one.value)) <= set("rwxabt+") and one.value]
    return str(modes[-1]) if modes else None


def _opens_for_writing(node: ast.Call) -> bool:
    mode = _mode(node)
    return mode is not None and mode not in _READING


def _only_reads(node: ast.Call) -> bool:
    """`os.open` without a flag that writes, and what opens with a reading mode."""
    flags = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    if "open" in flags and not flags & {"O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC", "O_APPEND"}:
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        return "flags" not in names or "O_RDONLY" in flags
    return _mode(node) in _READING


def test_every_place_that_writes_a_file_is_known_with_what_screens_it() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): list(writes(path))
        for path in sorted(ROOT.rglob("*.py"))
        if "testing" not in path.relative_to(ROOT).parts
    }
    unknown = {name: places for name, places in found.items() if places and name not in KNOWN and name not in READING}
    assert unknown == {}, "say in KNOWN what keeps secrets out of these"


def test_every_known_place_still_writes() -> None:
    assert [name for name in KNOWN if not (ROOT / name).exists() or not list(writes(ROOT / name))] == []
