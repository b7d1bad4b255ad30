"""Paths as the project knows them: relative to its root, with forward slashes. Pure; the disk is never asked."""

from __future__ import annotations

import posixpath

LONGEST = 300  # characters; anything longer is not the path of a project file


def relative(path: str, root: str | None) -> str | None:
    """`path` inside the project, or None when it lies outside or is no path at all."""
    plain = path.strip().replace("\\", "/")
    if not plain or len(plain) > 4 * LONGEST or "\n" in plain or "\0" in plain or "://" in plain:
        return None
    base = (root or "").strip().replace("\\", "/").rstrip("/")
    if base and (plain == base or plain.startswith(base + "/")):
        plain = plain[len(base) + 1 :]
    elif _absolute(plain) and base:
        return None
    clean = posixpath.normpath(plain) if plain else "."
    if clean == "." or clean == ".." or clean.startswith("../") or len(clean) > LONGEST:
        return None
    return clean


def _absolute(path: str) -> bool:
    return path.startswith(("/", "~")) or (len(path) > 2 and path[1] == ":" and path[2] == "/")
