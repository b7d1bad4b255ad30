"""Rust's module tree: `mod` declarations, `crate`, `self`, `super`, the crates of a workspace."""

from __future__ import annotations

import tomllib
from typing import Any
from weakref import WeakKeyDictionary

from recollect.code.resolve.tree import Target, Tree, folder_of, stem_of

_OWN_ROOTS = ("tests/", "examples/", "benches/", "src/bin/")  # each file directly in there is a crate of its own

_known: WeakKeyDictionary[Tree, dict[str, str]] = WeakKeyDictionary()


def crates(tree: Tree) -> dict[str, str]:
    """The crates of the workspace: name → root file."""
    if tree not in _known:
        found: dict[str, str] = {}
        for place in sorted(tree.others):
            if place.rpartition("/")[2] == "Cargo.toml":
                manifest, folder = _manifest(tree.read(place)), folder_of(place)
                lib = _table(manifest, "lib")
                name = lib.get("name") or _table(manifest, "package").get("name")
                path = lib.get("path")
                roots = [f"{folder}{path}"] if path else [f"{folder}src/lib.rs", f"{folder}src/main.rs"]
                root = next((one for one in roots if one in tree.files), None)
                if isinstance(name, str) and root:
                    found[name.replace("-", "_")] = root
        _known[tree] = found
    return _known[tree]


def _manifest(text: str) -> dict[str, Any]:
    """A Cargo.toml; one that cannot be read names no crate."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _table(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def crate_root(path: str, tree: Tree) -> str:
    """The root file of the crate a file belongs to."""
    folder = folder_of(path)
    while folder and f"{folder}Cargo.toml" not in tree.others:
        folder = folder_of(folder.rstrip("/"))
    below = path[len(folder) :]
    for own in _OWN_ROOTS:
        if below.startswith(own):
            first = below[len(own) :].partition("/")[0]
            for root in (f"{folder}{own}{first}", f"{folder}{own}{first}/main.rs"):
                if root in tree.files:
                    return root
    listed = [root for root in crates(tree).values() if folder_of(root).startswith(folder)]
    for root in (f"{folder}src/lib.rs", f"{folder}src/main.rs", *listed):
        if root in tree.files and (root != f"{folder}src/lib.rs" or below != "src/main.rs"):
            return root
    return path


def child(path: str, name: str, tree: Tree) -> str | None:
    """The file of `mod name;` in a file."""
    folder = folder_of(path)
    inside = folder if stem_of(path) in ("mod", "lib", "main") or crate_root(path, tree) == path else f"{path[:-3]}/"
    for candidate in (f"{inside}{name}.rs", f"{inside}{name}/mod.rs"):
        if candidate in tree.files and candidate != path:
            return candidate
    return None


def parent(path: str, tree: Tree) -> str | None:
    """The file of the module around a file."""
    folder = folder_of(path)
    if stem_of(path) == "mod":
        folder = folder_of(folder.rstrip("/"))
    root = crate_root(path, tree)
    if path == root:
        return None
    for candidate in (f"{folder}mod.rs", f"{folder.rstrip('/')}.rs"):
        if candidate in tree.files and candidate != path:
            return candidate
    return root


def start(path: str, segment: str, tree: Tree) -> Target | None:
    """The module that the first part of a path names, where it is a word of the language or a crate."""
    match segment:
        case "crate" | "$crate":
            return Target(crate_root(path, tree))
        case "self":
            return Target(path)
        case "super":
            above = parent(path, tree)
            return None if above is None else Target(above)
        case _:
            root = crates(tree).get(segment)
            return None if root is None or root == path else Target(root)
