"""Where an installation goes: whose home, which project, which environment, and the programs that hosts will start."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from recollect.core.errors import NotFound
from recollect.files.project import FOLDER, user_store_path
from recollect.version import __version__

Scope: TypeAlias = Literal["user", "project"]
HOOK_PROGRAM = "recollect-hook"  # an entry in a host's settings that starts it is ours


class ProgramMissing(NotFound):
    code = "program-missing"

    def __init__(self, name: str) -> None:
        super().__init__(
            f"The program `{name}` is neither beside this Python nor on the path.",
            hint="Install Recollect with pip, pipx or uv, and run the `recollect` that came with it.",
        )


@dataclass(frozen=True, slots=True)
class InstallTarget:
    """Everything the edits of a host depend on. Equal targets get the same bytes."""

    scope: Scope
    home: Path
    project: Path
    data: Path  # our own folder: the rendered plugin, what was installed, copies of what was there before
    hook: str  # absolute path of `recollect-hook`
    recollect: str  # absolute path of `recollect`
    environment: Mapping[str, str]
    platform: str = sys.platform
    version: str = __version__

    def folder(self, variable: str, otherwise: str) -> Path:
        """The folder the variable names, as hosts let people move theirs; else one below the home."""
        named = self.environment.get(variable)
        return Path(named) if named else self.home / otherwise

    def hook_line(self, host: str) -> str:
        """The hook of a host that takes one line for a shell."""
        words = [self.hook, host]
        return subprocess.list2cmdline(words) if self.platform == "win32" else shlex.join(words)


def current_target(
    scope: Scope, *, environment: Mapping[str, str] = os.environ, start: Path | None = None
) -> InstallTarget:
    """The target as this process sees it. Fails when the programs that hosts must start are not installed."""
    return InstallTarget(
        scope=scope,
        home=Path.home(),
        project=_find_project((start or Path.cwd()).absolute()),
        data=user_store_path().parent / "hosts",
        hook=find_program(HOOK_PROGRAM, environment),
        recollect=find_program("recollect", environment),
        environment=environment,
    )


def find_program(name: str, environment: Mapping[str, str]) -> str:
    """The absolute path of a program of ours: beside this interpreter, else on the path. Hosts have no path of ours."""
    beside = Path(sys.executable).parent / (f"{name}.exe" if os.name == "nt" else name)
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which(name, path=environment.get("PATH"))
    if found is None:
        raise ProgramMissing(name)
    return os.path.abspath(found)


def _find_project(start: Path) -> Path:
    """The working copy `start` is in. Unlike memories, a host's settings belong to each worktree by itself."""
    for folder in (start, *start.parents):
        if os.path.exists(folder / ".git") or os.path.exists(folder / FOLDER):
            return folder
    return start
