"""The source tree as resolution sees it: which files there are, their outlines, who bears a name. Knows no store."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from recollect.code.outline import SCOPES_ONLY, Import, Outline, Symbol

MAX_VIEWS = 6_000  # files that are kept ready for look-ups: some 100 MB


class Target(NamedTuple):
    """What a name means: a file, a symbol in it, a folder (its path ends in "/"), or something from outside."""

    path: str  # empty for something from outside
    name: str = ""

    @property
    def id(self) -> str:
        """The name of its node in the graph."""
        if not self.path:
            return f"external:{self.name}"
        return f"{self.path}:{self.name}" if self.name else self.path

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")


def outside_target(name: str) -> Target:
    return Target("", name)


@dataclass(frozen=True, slots=True)
class Named:
    """A symbol found by nothing but its name."""

    target: Target
    type: str
    language: str


class Typed(NamedTuple):
    """What is known of a variable's type, and where the words of it stand."""

    type: str
    made: bool
    scope: int


class View:
    """One file, ready for look-ups."""

    def __init__(self, path: str, outline: Outline) -> None:
        self.path = path
        self.outline = outline
        self.places: dict[str, int] = {}
        for place, symbol in enumerate(outline.symbols):
            if symbol.type not in SCOPES_ONLY or symbol.name not in self.places:
                known = self.places.get(symbol.name)
                if known is None or outline.symbols[known].type in SCOPES_ONLY:
                    self.places[symbol.name] = place

    def symbol(self, name: str) -> Symbol | None:
        place = self.places.get(name)
        return None if place is None else self.outline.symbols[place]

    def is_outermost(self, symbol: Symbol) -> bool:
        """In no other symbol but a namespace."""
        return symbol.parent < 0 or self.outline.symbols[symbol.parent].type in SCOPES_ONLY

    @cached_property
    def imported(self) -> dict[str, Import]:
        """The names a file has from imports; a later import of a name wins, one at the top of the file before all."""
        found: dict[str, Import] = {}
        for one in self.outline.imports:
            name = one.local or (one.module.partition(".")[0] if one.type == "module" else "")
            if name and (name not in found or one.scope < 0):
                found[name] = one
        return found

    @cached_property
    def stars(self) -> list[Import]:
        return [one for one in self.outline.imports if one.type == "all"]

    @cached_property
    def spaces(self) -> list[str]:
        """The namespaces of C++ that are opened here."""
        return list(dict.fromkeys(symbol.name for symbol in self.outline.symbols if symbol.type == "space"))

    @cached_property
    def exported(self) -> dict[str, str]:
        """Names that others use → names here."""
        return {outside_target: here for here, outside_target in self.outline.exports}

    @cached_property
    def variables(self) -> dict[tuple[int, str], Typed]:
        """(scope, name) → its type; fields and `self.x` belong to the class."""
        found: dict[tuple[int, str], Typed] = {}
        for one in self.outline.variables:
            scope, name = one.scope, one.name
            head, _, rest = name.partition(".")
            if head in ("self", "this") and rest and "." not in rest:
                scope, name = self.class_around(scope), rest
            elif "." in name:
                continue
            elif one.field:
                scope = self.class_around(scope)
            found.setdefault((scope, name), Typed(one.type, one.made, one.scope))
        return found

    @cached_property
    def bases(self) -> dict[str, list[str]]:
        """Class → the names of what it extends or implements."""
        found: dict[str, list[str]] = {}
        for one in self.outline.bases:
            found.setdefault(self.outline.symbols[one.symbol].name, []).append(one.name)
        return found

    def class_around(self, scope: int) -> int:
        """The class a scope stands in, or is; -1 when there is none. An impl block stands for its class."""
        symbols = self.outline.symbols
        while scope >= 0:
            symbol = symbols[scope]
            if symbol.type in ("class", "interface", "impl"):
                return self.places.get(symbol.name, scope)
            if symbol.parent < 0 and "." in symbol.name:  # its owner is told by its name alone, as in Go
                return self.places.get(symbol.name.rpartition(".")[0], -1)
            scope = symbol.parent
        return -1

    def owner_of(self, scope: int) -> str:
        """The class that a method defined away from it names, as `Square::side` does; empty when it names none."""
        symbols = self.outline.symbols
        while scope >= 0 and symbols[scope].type != "method":
            scope = symbols[scope].parent
        return symbols[scope].name.rpartition(".")[0] if scope >= 0 else ""


class Tree:
    """All files of a project. Outlines are loaded when they are first looked at."""

    def __init__(
        self,
        files: Mapping[str, str],
        load: Callable[[str], Outline | None],
        named: Callable[[str], Sequence[Named]],
        read: Callable[[str], str],
        others: Iterable[str] = (),
    ) -> None:
        self.files = files  # path → language
        self.read = read  # a small text file of the project; empty when there is none
        self.named = named
        self.others = frozenset(others)  # manifests that tell how names are found: go.mod, package.json …
        self._load = load
        self._views: dict[str, View | None] = {}  # the oldest leave first

    def view(self, path: str) -> View | None:
        if path not in self._views:
            if len(self._views) >= MAX_VIEWS:
                del self._views[next(iter(self._views))]
            outline = self._load(path) if path in self.files else None
            self._views[path] = None if outline is None else View(path, outline)
        return self._views[path]

    @cached_property
    def folders(self) -> dict[str, list[str]]:
        """Folder (ends in "/", the root is "") → the source files directly in it."""
        found: dict[str, list[str]] = {"": []}
        for path in self.files:
            folder = folder_of(path)
            found.setdefault(folder, []).append(path)
            while folder and (folder := folder_of(folder.rstrip("/"))) not in found:
                found[folder] = []
        return found

    @cached_property
    def stems(self) -> dict[str, list[str]]:
        """File name without folder and extension → files."""
        found: dict[str, list[str]] = {}
        for path in self.files:
            found.setdefault(stem_of(path), []).append(path)
        return found

    def ending_in(self, tail: str, near: str) -> str | None:
        """The file whose path ends in these parts; of several the one closest to `near`."""
        fitting = [p for p in self.stems.get(stem_of(tail), ()) if p == tail or p.endswith(f"/{tail}")]
        return find_closest(fitting, near)


def folder_of(path: str) -> str:
    head, slash, _ = path.rpartition("/")
    return head + slash


def stem_of(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.partition(".")[0] or name


def find_closest(paths: Iterable[str], near: str) -> str | None:
    """The path that shares most folders with `near`; ties go to the shorter, then the first by name."""
    return min(paths, key=lambda path: (-len(posixpath.commonprefix([path, near])), len(path), path), default=None)


def join_path(folder: str, relative: str) -> str | None:
    """A relative path from a folder; nothing when it leaves the project."""
    path = posixpath.normpath(posixpath.join(folder, relative))
    return None if path.startswith(("..", "/")) else ("" if path == "." else path)
