"""Java, C, C++, C# and Ruby: imports that say a path, or nearly. What they do not say is left to names."""

from __future__ import annotations

from recollect.code.outline import Import
from recollect.code.resolve.tree import Target, Tree, folder_of, joined


def module(one: Import, path: str, tree: Tree) -> Target | None:
    """The file or folder an import names; nothing when it is not of this project."""
    match tree.files.get(path):
        case "java":
            return _java(one.module, path, tree)
        case "c" | "cpp":
            return _include(one.module, path, tree)
        case "ruby":
            return _required(one.module, path, tree)
        case _:
            return None


def _java(name: str, path: str, tree: Tree) -> Target | None:
    """`a.b.C` is C.java in a folder that ends in a/b; a member of C is in the same file."""
    parts = name.split(".")
    for length in (len(parts), len(parts) - 1):
        if length > 1 and (found := tree.ending_in("/".join(parts[:length]) + ".java", path)):
            return Target(found)
    return None


def _include(name: str, path: str, tree: Tree) -> Target | None:
    beside = joined(folder_of(path), name)
    if beside is not None and beside in tree.files:
        return Target(beside)
    found = tree.ending_in(name, path)
    return None if found is None or found == path else Target(found)


def _required(name: str, path: str, tree: Tree) -> Target | None:
    tail = name.removesuffix(".rb") + ".rb"
    beside = joined(folder_of(path), tail)
    if beside is not None and beside in tree.files:
        return Target(beside)
    found = tree.ending_in(tail.lstrip("./"), path)
    return None if found is None or found == path else Target(found)
