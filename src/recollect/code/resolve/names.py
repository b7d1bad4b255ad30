"""What a name means at a place in the source: through scopes, imports, types, classes and their bases.

Language rules for modules are in the files beside this one; here is what they share. Circular imports and bases are cut
by counting steps, never by hoping.
"""

from __future__ import annotations

from typing import NamedTuple

from recollect.code.outline import Import
from recollect.code.resolve.imports import (
    find_in_namespaces,
    find_ruby_constant,
    go_files,
    go_module,
    go_package_name,
    other_module,
    python_absolute,
    python_module,
    python_submodule,
    rust_child,
    rust_parent,
    rust_start,
)
from recollect.code.resolve.tree import Target, Tree, Typed, View, folder_of, outside_target
from recollect.code.resolve.typescript import typescript_module

_DEEPEST = 12  # re-exports, bases and types followed one after another
_OWN = frozenset({"self", "cls", "this", "Self"})
_IMPLICIT = frozenset({"java", "c_sharp", "cpp", "ruby"})  # a bare name may be a member of the class around it
_CLASSES = frozenset({"class", "interface", "type"})


class Meaning(NamedTuple):
    """A target and how sure we are of it."""

    target: Target
    confidence: float


SURE = 1.0  # the source says so itself
TYPED = 0.9  # by the type of a variable
INHERITED = 0.9  # found in a base class
STARRED = 0.8  # through an import of everything


class Names:
    """Answers for one tree; remembers what it found.

    What was found while a circle or the depth cut something short is forgotten with the question that met it, so that
    no answer depends on what was asked before.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._modules: dict[tuple[str, Import], Target | None] = {}
        self._members: dict[tuple[Target, str], Meaning | None] = {}
        self._open: set[tuple[Target, str]] = set()  # being looked up right now
        self._cut = False  # something was cut short in the present question
        self._tentative: list[tuple[Target, str]] = []

    # --- imports --------------------------------------------------------------------------------------------------

    def module(self, one: Import, path: str) -> Target | None:
        """The file or folder an import is from; nothing when it is from outside."""
        key = (path, one)
        if key in self._modules:
            return self._modules[key]
        found = self._find_module(one, path)
        if not self._cut:
            self._modules[key] = found
        return found

    def _find_module(self, one: Import, path: str) -> Target | None:
        match self._tree.files.get(path):
            case "python":
                return python_module(one, path, self._tree)
            case "typescript" | "tsx" | "javascript":
                return typescript_module(one, path, self._tree)
            case "go":
                return go_module(one, path, self._tree)
            case "rust":
                return self._rust_module(one, path)
            case _:
                return other_module(one, path, self._tree)

    def imported(self, one: Import, path: str, depth: int = 0) -> Meaning | None:
        """What an import brings in: a module, or a name out of one. Something from outside is a meaning too."""
        if one.type == "mod":
            child = rust_child(path, one.module, self._tree)
            return None if child is None else Meaning(Target(child), SURE)
        module = self.module(one, path)
        if module is None:
            return Meaning(outside_target(external_name(one, self._tree.files.get(path, ""))), SURE)
        if not one.name:
            return Meaning(module, SURE)
        found = self.member(module, one.name, depth + 1)
        if found is None and one.type == "default":
            return Meaning(module, SURE)
        return found

    def _rust_module(self, one: Import, path: str) -> Target | None:
        parts = [part for part in one.module.split("::") if part]
        if not parts:  # `use name;`: a crate or a module beside us
            return (rust_start(path, one.name, self._tree) and Target(path)) or self._rust_child(path, one.name)
        target = rust_start(path, parts[0], self._tree) or self._rust_sibling(path, parts[0])
        for part in parts[1:]:
            if target is None:
                return None
            if part == "super":
                above = rust_parent(target.path, self._tree)
                target = None if above is None else Target(above)
            elif part != "self":
                found = self.member(target, part)
                target = None if found is None or not found.target.path else found.target
        return target

    def _rust_child(self, path: str, name: str) -> Target | None:
        return Target(path) if rust_child(path, name, self._tree) else None

    def _rust_sibling(self, path: str, name: str) -> Target | None:
        child = rust_child(path, name, self._tree)
        if child is not None:
            return Target(child)
        view = self._tree.view(path)
        return Target(path, name) if view is not None and view.symbol(name) is not None else None

    # --- stepping into something ----------------------------------------------------------------------------------

    def member(self, target: Target, name: str, depth: int = 0) -> Meaning | None:
        """What `target.name` means, whatever the target is."""
        if not target.path:
            return Meaning(target, SURE)
        key = (target, name)
        if key in self._members:
            return self._members[key]
        if depth > _DEEPEST or key in self._open:
            self._cut = True
            return None
        self._open.add(key)
        found = self._in_symbol(target, name, depth) if target.name else self._in_module(target, name, depth)
        self._open.discard(key)
        self._members[key] = found
        self._settle(key)
        return found

    def _settle(self, key: tuple[Target, str]) -> None:
        """Keep what was found for good, or only until the question is answered."""
        if self._cut:
            self._tentative.append(key)
        if not self._open:
            for one in self._tentative:
                del self._members[one]
            self._tentative, self._cut = [], False

    def _in_module(self, target: Target, name: str, depth: int) -> Meaning | None:
        tree = self._tree
        if target.is_folder:
            for path in go_files(target, tree):
                view = tree.view(path)
                if view is not None and view.symbol(name) is not None:
                    return Meaning(Target(path, name), SURE)
            below = python_submodule(target, name, tree)
            return None if below is None else Meaning(below, SURE)
        view = tree.view(target.path)
        if view is None:
            return None
        here = view.exported.get(name, name)
        if name == "default" and "default" not in view.exported:
            return None
        if view.symbol(here) is not None:
            return Meaning(Target(target.path, here), SURE)
        found = self._passed_on(view, here, depth) or self._below(view, name) or self._starred(view, name, depth)
        if found is None and (known := view.variables.get((-1, here))) is not None:  # a value: its class stands for it
            found = self._typed(known, view, depth + 1)
        return found

    def _passed_on(self, view: View, name: str, depth: int) -> Meaning | None:
        """A name that a module has from elsewhere."""
        one = view.imported.get(name)
        if one is None or one.type == "side":
            return None
        return self.imported(one, view.path, depth + 1)

    def _below(self, view: View, name: str) -> Meaning | None:
        """A module below a module."""
        match view.outline.language:
            case "python":
                found = python_submodule(Target(view.path), name, self._tree)
                return None if found is None else Meaning(found, SURE)
            case "rust":
                child = rust_child(view.path, name, self._tree)
                return None if child is None else Meaning(Target(child), SURE)
            case _:
                return None

    def _starred(self, view: View, name: str, depth: int) -> Meaning | None:
        for one in view.stars:
            module = self.module(one, view.path)
            found = None if module is None else self.member(module, name, depth + 1)
            if found is not None and found.target.path:
                return Meaning(found.target, min(found.confidence, STARRED))
        return None

    def _in_symbol(self, target: Target, name: str, depth: int) -> Meaning | None:
        view = self._tree.view(target.path)
        symbol = None if view is None else view.symbol(target.name)
        if view is None or symbol is None:
            return None
        if view.symbol(f"{target.name}.{name}") is not None:
            return Meaning(Target(target.path, f"{target.name}.{name}"), SURE)
        if symbol.type == "module" or symbol.type not in _CLASSES:
            return None
        if name == "new" and view.outline.language == "ruby":
            return Meaning(target, SURE)
        if found := self._elsewhere(target, name, view):
            return found
        place = view.places[target.name]
        if (known := view.variables.get((place, name))) is not None:
            return self._typed(known, view, depth + 1)
        for base in view.bases.get(target.name, ()):
            above = self.meaning(base, view, symbol.parent, depth + 1)
            if above is None or not above.target.path or above.target == target:
                continue
            if (found := self.member(above.target, name, depth + 1)) is not None:
                return Meaning(found.target, min(found.confidence, INHERITED))
        return None

    def _elsewhere(self, target: Target, name: str, view: View) -> Meaning | None:
        """A method that its language lets stand in another file than its class."""
        if view.outline.language not in ("go", "rust", "cpp"):
            return None
        wanted = f"{target.name}.{name}"
        if view.outline.language == "cpp":  # a namespace may be open where the class is, and not where the method is
            wanted = last_two(wanted)
            found = [one.target for one in self._tree.named(name) if last_two(one.target.name) == wanted]
        else:
            found = [one.target for one in self._tree.named(name) if one.target.name == wanted]
        if view.outline.language == "go":
            found = [one for one in found if folder_of(one.path) == folder_of(target.path)]
        return Meaning(found[0], TYPED) if len(found) == 1 else None

    # --- a name at a place ----------------------------------------------------------------------------------------

    def meaning(self, dotted: str, view: View, scope: int, depth: int = 0) -> Meaning | None:
        """What a dotted name means inside a symbol (-1: at the top) of a file."""
        if depth > _DEEPEST or not dotted:
            self._cut = self._cut or bool(dotted)
            return None
        parts = dotted.split(".")
        head = parts[0].removesuffix("()")
        found = self._head(head, view, scope, depth, alone=len(parts) == 1 or head != parts[0])
        found = self._called(found, depth) if head != parts[0] else found
        for part in parts[1:]:
            if found is None:
                return None
            name = part.removesuffix("()")
            after = self.member(found.target, name, depth + 1)
            found = None if after is None else Meaning(after.target, min(found.confidence, after.confidence))
            found = self._called(found, depth) if name != part else found
        return found

    def _called(self, found: Meaning | None, depth: int) -> Meaning | None:
        """What comes back from calling something."""
        if found is None or not found.target.path or not found.target.name:
            return found
        result = self._result(found.target, depth + 1)
        return None if result is None else Meaning(result.target, min(found.confidence, result.confidence, TYPED))

    def _head(self, name: str, view: View, scope: int, depth: int, *, alone: bool) -> Meaning | None:
        symbols = view.outline.symbols
        if name in _OWN or name == "super":
            return self._own(name, view, scope, depth)
        around = scope
        while around >= 0:
            symbol = symbols[around]
            if not alone and (known := view.variables.get((around, name))) is not None and symbol.type not in _CLASSES:
                return self._typed(known, view, depth + 1)
            if view.symbol(f"{symbol.name}.{name}") is not None and symbol.type not in ("class", "interface", "impl"):
                return Meaning(Target(view.path, f"{symbol.name}.{name}"), SURE)
            around = symbol.parent
        if view.outline.language in _IMPLICIT and (mine := self._of_my_class(name, view, scope, depth)) is not None:
            return mine
        if view.symbol(name) is not None:
            return Meaning(Target(view.path, name), SURE)
        if (one := view.imported.get(name)) is not None and one.type != "side":
            if one.type == "module" and not one.local and view.outline.language == "python":
                top = python_absolute(name, view.path, tree=self._tree)  # `import a.b` gives the name a
                return Meaning(top or outside_target(name), SURE)
            return self.imported(one, view.path, depth + 1)
        if not alone and (known := view.variables.get((-1, name))) is not None:
            return self._typed(known, view, depth + 1)
        return self._by_language(name, view, scope, depth) or self._starred(view, name, depth)

    def _of_my_class(self, name: str, view: View, scope: int, depth: int) -> Meaning | None:
        """A member of the class around a place, named without saying whose it is."""
        place = view.class_around(scope)
        if place >= 0:
            return self.member(Target(view.path, view.outline.symbols[place].name), name, depth + 1)
        owner = view.owner_of(scope)
        mine = None if not owner else self._class(owner, view, depth + 1)
        return None if mine is None or not mine.target.path else self.member(mine.target, name, depth + 1)

    def _own(self, name: str, view: View, scope: int, depth: int) -> Meaning | None:
        place = view.class_around(scope)
        if place < 0:
            if view.outline.language == "rust" and name in ("self", "super"):
                found = rust_start(view.path, name, self._tree)
                return None if found is None else Meaning(found, SURE)
            return None
        called = view.outline.symbols[place].name
        if name != "super":
            return self._class(called, view, depth)
        for base in view.bases.get(called, ()):
            above = self.meaning(base, view, -1, depth + 1)
            if above is not None:
                return Meaning(above.target, INHERITED)
        return None

    def _class(self, called: str, view: View, depth: int) -> Meaning | None:
        """The class of that name: here, or where an impl block or a receiver has it from."""
        symbol = view.symbol(called)
        if symbol is not None and symbol.type in _CLASSES:
            return Meaning(Target(view.path, called), SURE)
        if (one := view.imported.get(called.rpartition(".")[2])) is not None:
            return self.imported(one, view.path, depth + 1)
        found = self._by_language(called, view, -1, depth)
        return found or (None if symbol is None else Meaning(Target(view.path, called), SURE))

    def _typed(self, known: Typed, view: View, depth: int) -> Meaning | None:
        """The class of a variable: by the type it is declared with, by what makes it, or that of another variable."""
        type, made, scope = known
        if depth > _DEEPEST:
            self._cut = True
            return None
        if type.startswith("="):
            other = view.variables.get((scope, type[1:]))
            return None if other is None else self._typed(other, view, depth + 1)
        found = self.meaning(type, view, scope, depth + 1)
        if found is None or not found.target.path:
            return found
        if made and found.target.name:
            found = self._result(found.target, depth)
        return None if found is None else Meaning(found.target, min(found.confidence, TYPED))

    def _result(self, target: Target, depth: int) -> Meaning | None:
        """What calling something gives: a class gives one of itself, a function what its signature says."""
        view = self._tree.view(target.path)
        symbol = None if view is None else view.symbol(target.name)
        if view is None or symbol is None:
            return None
        if symbol.type in _CLASSES:
            return Meaning(target, SURE)
        if not symbol.returns:
            return None
        place = view.places[target.name]
        if symbol.returns in _OWN:
            return self._own("self", view, place, depth + 1)
        return self.meaning(symbol.returns, view, place, depth + 1)

    def _by_language(self, name: str, view: View, scope: int, depth: int) -> Meaning | None:
        """Names that a language gives without an import."""
        tree, path = self._tree, view.path
        match view.outline.language:
            case "go":
                return self._go(name, view)
            case "rust":
                found = rust_start(path, name, tree)
                child = None if found else rust_child(path, name, tree)
                inside = self._inline_module(name, view, scope)
                best = inside or found or (Target(child) if child else None)
                return None if best is None else Meaning(best, SURE)
            case "java" | "c_sharp":
                beside = [p for p in tree.folders.get(folder_of(path), ()) if p != path]
                return self._in_files(name, beside) or _sure(find_in_namespaces(name, view, tree))
            case "ruby":
                return _sure(find_ruby_constant(name, view, scope, tree))
            case "c" | "cpp":
                included = [found.path for one in view.outline.imports if (found := self.module(one, path))]
                return self._in_files(name, included)
            case _:
                return None

    def _inline_module(self, name: str, view: View, scope: int) -> Target | None:
        """Inside `mod tests { use super::*; … }` the names of the file are at hand."""
        while scope >= 0:
            symbol = view.outline.symbols[scope]
            if symbol.type == "module" and view.symbol(f"{symbol.name}.{name}") is not None:
                return Target(view.path, f"{symbol.name}.{name}")
            scope = symbol.parent
        return None

    def _go(self, name: str, view: View) -> Meaning | None:
        for one in view.outline.imports:
            if not one.local and go_package_name(one) == name:
                return self.imported(one, view.path)
        mates = [p for p in self._tree.folders.get(folder_of(view.path), ()) if p != view.path and p.endswith(".go")]
        return self._in_files(name, mates)

    def _in_files(self, name: str, paths: list[str]) -> Meaning | None:
        for path in paths:
            view = self._tree.view(path)
            if view is None:
                continue
            for called in (name, *(f"{space}.{name}" for space in view.spaces)):
                if (symbol := view.symbol(called)) is not None and view.is_outermost(symbol):
                    return Meaning(Target(path, called), SURE)
        return None


def _sure(found: Target | None) -> Meaning | None:
    return None if found is None else Meaning(found, SURE)


def last_two(name: str) -> str:
    """`geo.Square.side` → `Square.side`."""
    return ".".join(name.split(".")[-2:])


def external_name(one: Import, language: str) -> str:
    """What something from outside is called: the package, not the part of it."""
    name = one.module or one.name
    match language:
        case "python":
            return name.partition(".")[0]
        case "typescript" | "tsx" | "javascript":
            parts = name.split("/")
            return "/".join(parts[:2]) if name.startswith("@") else (name if name.startswith(".") else parts[0])
        case "go":
            return "/".join(name.split("/")[:3])
        case "rust":
            return name.partition("::")[0]
        case "java" | "c_sharp":
            return ".".join(name.split(".")[:2])
        case _:
            return name
