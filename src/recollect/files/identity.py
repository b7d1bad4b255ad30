"""Which project is this? One answer for all worktrees and clones of a repository. Asked when a store is made."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path

_GIT_PATIENCE = 5.0  # seconds; a project can do without git


def identify(root: Path) -> str:
    """A name for the project that all clones share: its first commit. Without history, the directory's name."""
    first = _git(root, "rev-list", "--first-parent", "--max-parents=0", "HEAD")
    shallow = _git(root, "rev-parse", "--is-shallow-repository")
    if first and shallow != "true":
        return f"git:{first.splitlines()[-1][:16]}"
    if remote := _git(root, "remote", "get-url", "origin"):
        return f"remote:{sha256(_normal_remote(remote).encode()).hexdigest()[:16]}"
    return f"dir:{root.name or 'root'}"


def _normal_remote(url: str) -> str:
    """One spelling for ssh, https and credentials: host/path."""
    bare = url.strip().removesuffix("/").removesuffix(".git").split("://")[-1].split("@")[-1]
    return bare.replace(":", "/", 1).lower()


def _git(root: Path, *args: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *args],
            capture_output=True,
            text=True,
            timeout=_GIT_PATIENCE,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
