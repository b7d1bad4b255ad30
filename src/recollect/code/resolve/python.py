"""Python's import rules: packages, relative imports, namespace packages, scripts that import their neighbours."""

from __future__ import annotations

import sys
from functools import cache
from weakref import WeakKeyDictionary

from recollect.code.outline import Import
from recollect.code.resolve.tree import Target, Tree, closest, folder_of

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


_known: WeakKeyDictionary[Tree, _Modules] = WeakKeyDictionary()


def _modules(tree: Tree) -> _Modules:
    if tree not in _known:
        _known[tree] = _Modules(tree)
    return _known[tree]


def module(one: Import, path: str, tree: Tree) -> Target | None:
    """The file or folder that an import statement names; nothing when it is not of this project."""
    if one.module.startswith("."):
        return _relative(one.module, path, tree)
    return absolute(one.module, path, tree)


def absolute(name: str, path: str, tree: Tree) -> Target | None:
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
        if (best := closest(files, path)) is not None and best != path:
            return Target(best)
    return None


def _relative(name: str, path: str, tree: Tree) -> Target | None:
    rest = name.lstrip(".")
    folder = folder_of(path)
    for _ in range(len(name) - len(rest) - 1):
        if not folder:
            return None
        folder = folder_of(folder.rstrip("/"))
    target = package(folder, tree)
    for part in rest.split(".") if rest else ():
        if target is None:
            return None
        target = submodule(target, part, tree)
    return target


def package(folder: str, tree: Tree) -> Target | None:
    """A folder as something that can be imported: its `__init__`, or itself as a namespace package."""
    for name in ("__init__.py", "__init__.pyi"):
        if folder + name in tree.files:
            return Target(folder + name)
    return Target(folder or "/") if folder in tree.folders else None


def submodule(target: Target, name: str, tree: Tree) -> Target | None:
    """The module called `name` in a package."""
    if target.name or not (target.is_folder or target.path.endswith(("__init__.py", "__init__.pyi"))):
        return None
    folder = folder_of(target.path) if target.path != "/" else ""
    for tail in (f"{name}.py", f"{name}.pyi"):
        if folder + tail in tree.files:
            return Target(folder + tail)
    return package(f"{folder}{name}/", tree)


@cache
def _standard() -> frozenset[str]:
    return frozenset(sys.stdlib_module_names)
