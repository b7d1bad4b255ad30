"""How each language finds what an import names: Python, Go, Rust, Java, C, C++, C# and Ruby. Pure.

TypeScript and JavaScript have a module of their own. What an import does not say is left to `names`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from recollect.code.outline import Import
from recollect.code.resolve.tree import Target, Tree, View, find_closest, folder_of, join_path, stem_of

# --- Python: packages, relative imports, namespace packages, scripts that import their neighbours -------------------

_ROOTS = ("", "src/", "lib/", "python/")  # where packages customarily begin


class _Modules:
    """Dotted name → where that module may be, for one tree."""

    def __init__(self, tree: Tree) -> None:
        self.packages = {folder_of(path) for path in tree.files if path.endswith(("__init__.py", "__init__.pyi"))}
        self.places: dict[str, list[tuple[str, str]]] = {}  # dotted → (root, file or folder)
        for path, language in tree.files.items():
            if language == "python":
                self._add(path)
        for folder in tree.folders:
            if folder and folder not in self.packages:  # a namespace package, if anything
                for root in _ROOTS:
                    if folder.startswith(root) and folder != root:
                        self.places.setdefault(folder[len(root) : -1].replace("/", "."), []).append((root, folder))

    def _add(self, path: str) -> None:
        folder = folder_of(path)
        root = folder
        while root in self.packages and root:
            root = folder_of(root.rstrip("/"))
        roots = {root} if folder in self.packages else {folder, *(r for r in _ROOTS if path.startswith(r))}
        for root in roots:
            name = path[len(root) :].rpartition(".")[0].replace("/", ".")
            name = name.removesuffix(".__init__") if name != "__init__" else ""
            if name:
                self.places.setdefault(name, []).append((root, path))


_python_known: WeakKeyDictionary[Tree, _Modules] = WeakKeyDictionary()


def _modules(tree: Tree) -> _Modules:
    if tree not in _python_known:
        _python_known[tree] = _Modules(tree)
    return _python_known[tree]


def python_module(one: Import, path: str, tree: Tree) -> Target | None:
    """The file or folder that an import statement names; nothing when it is not of this project."""
    if one.module.startswith("."):
        return _relative(one.module, path, tree)
    return python_absolute(one.module, path, tree)


def python_absolute(name: str, path: str, tree: Tree) -> Target | None:
    """A module by its dotted name: of the importer's own roots first, then the usual ones, then any other."""
    modules = _modules(tree)
    places = modules.places.get(name, ())
    if name.partition(".")[0] in _standard():  # only a package of that name can stand in for the standard library's
        places = [(root, found) for root, found in places if folder_of(found) in modules.packages]
    own = [found for root, found in places if path.startswith(root) and (root or not found.endswith("/"))]
    usual = [found for root, found in places if root in _ROOTS]
    rest = [found for _, found in places if folder_of(found) in modules.packages]
    for found in (own, usual, rest):
        files = [place for place in found if not place.endswith("/")] or found
        if (best := find_closest(files, path)) is not None and best != path:
            return Target(best)
    return None


def _relative(name: str, path: str, tree: Tree) -> Target | None:
    rest = name.lstrip(".")
    folder = folder_of(path)
    for _ in range(len(name) - len(rest) - 1):
        if not folder:
            return None
        folder = folder_of(folder.rstrip("/"))
    target = python_package(folder, tree)
    for part in rest.split(".") if rest else ():
        if target is None:
            return None
        target = python_submodule(target, part, tree)
    return target


def python_package(folder: str, tree: Tree) -> Target | None:
    """A folder as something that can be imported: its `__init__`, or itself as a namespace package."""
    for name in ("__init__.py", "__init__.pyi"):
        if folder + name in tree.files:
            return Target(folder + name)
    return Target(folder or "/") if folder in tree.folders else None


def python_submodule(target: Target, name: str, tree: Tree) -> Target | None:
    """The module called `name` in a package."""
    if target.name or not (target.is_folder or target.path.endswith(("__init__.py", "__init__.pyi"))):
        return None
    folder = folder_of(target.path) if target.path != "/" else ""
    for tail in (f"{name}.py", f"{name}.pyi"):
        if folder + tail in tree.files:
            return Target(folder + tail)
    return python_package(f"{folder}{name}/", tree)


@cache
def _standard() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names)


# --- Go: the module path of the nearest go.mod and the folder below it ----------------------------------------------

_MODULE = re.compile(r'^[ \t]*module[ \t]+"?([^\s"]+)', re.M)
_go_known: WeakKeyDictionary[Tree, list[tuple[str, str]]] = WeakKeyDictionary()


def go_module(one: Import, path: str, tree: Tree) -> Target | None:
    """The folder of the package an import names; nothing when it is not of this project."""
    if tree not in _go_known:
        mods = [place for place in sorted(tree.others) if place.rpartition("/")[2] == "go.mod"]
        named = [(match.group(1), folder_of(place)) for place in mods if (match := _MODULE.search(tree.read(place)))]
        _go_known[tree] = sorted(named, key=lambda pair: -len(pair[0]))
    for name, folder in _go_known[tree]:
        if one.module == name or one.module.startswith(f"{name}/"):
            below = one.module[len(name) + 1 :]
            found = f"{folder}{below}/" if below else folder
            return Target(found or "/") if found in tree.folders else None
    return None


def go_files(target: Target, tree: Tree) -> list[str]:
    """The files of a package, without its tests."""
    folder = "" if target.path == "/" else target.path
    return [p for p in tree.folders.get(folder, ()) if p.endswith(".go") and not p.endswith("_test.go")]


def go_package_name(one: Import) -> str:
    """What an import is called when the source gives it no name: the last part, without a version."""
    parts = [part for part in one.module.split("/") if not re.fullmatch(r"v\d+", part)] or [one.module]
    return parts[-1].partition(".")[0].removeprefix("go-")


# --- Rust: `mod` declarations, `crate`, `self`, `super`, the crates of a workspace ----------------------------------

_OWN_ROOTS = ("tests/", "examples/", "benches/", "src/bin/")  # each file directly in there is a crate of its own

_rust_known: WeakKeyDictionary[Tree, dict[str, str]] = WeakKeyDictionary()


def rust_crates(tree: Tree) -> dict[str, str]:
    """The crates of the workspace: name → root file."""
    if tree not in _rust_known:
        found: dict[str, str] = {}
        for place in sorted(tree.others):
            if place.rpartition("/")[2] == "Cargo.toml":
                manifest, folder = _manifest(tree.read(place)), folder_of(place)
                lib = _table(manifest, "lib")
                name = lib.get("name") or _table(manifest, "package").get("name")
                path = lib.get("path")
                roots = [f"{folder}{path}"] if path else [f"{folder}src/lib.rs", f"{folder}src/main.rs"]
                root = next((root for root in roots if root in tree.files), None)
                if isinstance(name, str) and root:
                    found[name.replace("-", "_")] = root
        _rust_known[tree] = found
    return _rust_known[tree]


def _manifest(text: str) -> dict[str, Any]:
    """A Cargo.toml; one that cannot be read names no crate."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}


def _table(manifest: dict[str, Any], name: str) -> dict[str, Any]:
    found = manifest.get(name)
    return found if isinstance(found, dict) else {}


def rust_crate_root(path: str, tree: Tree) -> str:
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
    listed = [root for root in rust_crates(tree).values() if folder_of(root).startswith(folder)]
    for root in (f"{folder}src/lib.rs", f"{folder}src/main.rs", *listed):
        if root in tree.files and (root != f"{folder}src/lib.rs" or below != "src/main.rs"):
            return root
    return path


def rust_child(path: str, name: str, tree: Tree) -> str | None:
    """The file of `mod name;` in a file."""
    folder = folder_of(path)
    inside = (
        folder if stem_of(path) in ("mod", "lib", "main") or rust_crate_root(path, tree) == path else f"{path[:-3]}/"
    )
    for candidate in (f"{inside}{name}.rs", f"{inside}{name}/mod.rs"):
        if candidate in tree.files and candidate != path:
            return candidate
    return None


def rust_parent(path: str, tree: Tree) -> str | None:
    """The file of the module around a file."""
    folder = folder_of(path)
    if stem_of(path) == "mod":
        folder = folder_of(folder.rstrip("/"))
    root = rust_crate_root(path, tree)
    if path == root:
        return None
    for candidate in (f"{folder}mod.rs", f"{folder.rstrip('/')}.rs"):
        if candidate in tree.files and candidate != path:
            return candidate
    return root


def rust_start(path: str, segment: str, tree: Tree) -> Target | None:
    """The module that the first part of a path names, where it is a word of the language or a crate."""
    match segment:
        case "crate" | "$crate":
            return Target(rust_crate_root(path, tree))
        case "self":
            return Target(path)
        case "super":
            above = rust_parent(path, tree)
            return None if above is None else Target(above)
        case _:
            root = rust_crates(tree).get(segment)
            return None if root is None or root == path else Target(root)


# --- Java, C, C++, C# and Ruby: imports that say a path, or nearly; the rest is left to names -----------------------


def other_module(one: Import, path: str, tree: Tree) -> Target | None:
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
    beside = join_path(folder_of(path), name)
    if beside is not None and beside in tree.files:
        return Target(beside)
    found = tree.ending_in(name, path)
    return None if found is None or found == path else Target(found)


def _required(name: str, path: str, tree: Tree) -> Target | None:
    tail = name.removesuffix(".rb") + ".rb"
    beside = join_path(folder_of(path), tail)
    if beside is not None and beside in tree.files:
        return Target(beside)
    found = tree.ending_in(tail.lstrip("./"), path)
    return None if found is None or found == path else Target(found)


def find_in_namespaces(name: str, view: View, tree: Tree) -> Target | None:
    """A class of C# by the namespaces in use: its own, those around it, and those that `using` names."""
    own = view.outline.package.split(".")
    used = {".".join(own[:length]) for length in range(1, len(own) + 1)}
    used |= {one.module for one in view.outline.imports if one.type == "package"}
    found = [one for one in _classes(name, view, tree) if one.name == name and _package(one.path, tree) in used]
    return found[0] if len(found) == 1 else None


def find_ruby_constant(name: str, view: View, scope: int, tree: Tree) -> Target | None:
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
