"""The commit a work tree is at, read from git's own files: starting git would cost more than remembering does."""

from __future__ import annotations

from pathlib import Path

_MOST_HOPS = 5  # symbolic references that point to another


def current_commit(root: Path) -> str | None:
    """The full name of the commit that is checked out; nothing outside a repository or before the first commit."""
    folder = _git_folder(root)
    if folder is None:
        return None
    shared = _text(folder / "commondir")
    common = folder if shared is None else (folder / shared).resolve()
    name = _text(folder / "HEAD")
    for _ in range(_MOST_HOPS):
        if name is None or not name.startswith("ref: "):
            return name
        ref = name[5:]
        name = _text(folder / ref) or _text(common / ref) or _packed(common, ref)
    return None


def _git_folder(root: Path) -> Path | None:
    """`.git` itself, or where a work tree's file of that name points to."""
    place = root / ".git"
    if place.is_dir():
        return place
    pointer = _text(place)
    if pointer is None or not pointer.startswith("gitdir: "):
        return None
    return (root / pointer[8:]).resolve()


def _packed(common: Path, ref: str) -> str | None:
    for line in (_text(common / "packed-refs") or "").splitlines():
        commit, _, packed = line.partition(" ")
        if packed == ref:
            return commit
    return None


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None
