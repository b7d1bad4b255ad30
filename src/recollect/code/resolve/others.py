"""Java, C, C++, C# and Ruby: imports that say a path, or nearly. What they do not say is left to names."""

from __future__ import annotations

from recollect.code.outline import Import
from recollect.code.resolve.tree import Target, Tree, View, folder_of, joined


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


def namespaced(name: str, view: View, tree: Tree) -> Target | None:
    """A class of C# by the namespaces in use: its own, those around it, and those that `using` names."""
    own = view.outline.package.split(".")
    used = {".".join(own[:length]) for length in range(1, len(own) + 1)}
    used |= {one.module for one in view.outline.imports if one.type == "package"}
    found = [one for one in _classes(name, view, tree) if one.name == name and _package(one.path, tree) in used]
    return found[0] if len(found) == 1 else None


def constant(name: str, view: View, scope: int, tree: Tree) -> Target | None:
    """A constant of Ruby: looked for from the innermost module outwards, in whatever file it is."""
    parts = view.outline.symbols[scope].name.split(".") if scope >= 0 else []
    known = {one.name: one for one in reversed(_classes(name, view, tree))}
    places = [".".join([*parts[:length], name]) for length in range(len(parts), -1, -1)]
    return next((known[place] for place in places if place in known), None)


def _classes(name: str, view: View, tree: Tree) -> list[Target]:
    """The classes of that name in the same language; those nearest to the file first."""
    found = [
        one.target
        for one in tree.named(name)
        if one.language == view.outline.language and one.type in ("class", "interface")
    ]
    return sorted(found, key=lambda one: (one.path != view.path, folder_of(one.path) != folder_of(view.path), one))


def _package(path: str, tree: Tree) -> str:
    view = tree.view(path)
    return "" if view is None else view.outline.package
