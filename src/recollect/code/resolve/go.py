"""How Go finds packages: the module path of the nearest go.mod and the folder below it."""

from __future__ import annotations

import re
from weakref import WeakKeyDictionary

from recollect.code.outline import Import
from recollect.code.resolve.tree import Target, Tree, folder_of

_MODULE = re.compile(r'^[ \t]*module[ \t]+"?([^\s"]+)', re.M)
_known: WeakKeyDictionary[Tree, list[tuple[str, str]]] = WeakKeyDictionary()


def module(one: Import, path: str, tree: Tree) -> Target | None:
    """The folder of the package an import names; nothing when it is not of this project."""
    if tree not in _known:
        mods = [place for place in sorted(tree.others) if place.rpartition("/")[2] == "go.mod"]
        named = [(match.group(1), folder_of(place)) for place in mods if (match := _MODULE.search(tree.read(place)))]
        _known[tree] = sorted(named, key=lambda pair: -len(pair[0]))
    for name, folder in _known[tree]:
        if one.module == name or one.module.startswith(f"{name}/"):
            below = one.module[len(name) + 1 :]
            found = f"{folder}{below}/" if below else folder
            return Target(found or "/") if found in tree.folders else None
    return None


def files_of(target: Target, tree: Tree) -> list[str]:
    """The files of a package, without its tests."""
    folder = "" if target.path == "/" else target.path
    return [p for p in tree.folders.get(folder, ()) if p.endswith(".go") and not p.endswith("_test.go")]


def called(one: Import) -> str:
    """What an import is called when the source gives it no name: the last part, without a version."""
    parts = [part for part in one.module.split("/") if not re.fullmatch(r"v\d+", part)] or [one.module]
    return parts[-1].partition(".")[0].removeprefix("go-")
