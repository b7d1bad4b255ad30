"""One file's outline → its edges: imports, exports, calls, bases, each with a confidence. Pure.

What no rule resolves is looked for by its name alone; the fewer bear it, the surer we are, and where many do nothing is
said. `wants` names what was looked for in vain or only by name: if such a name appears, the file has to be asked again.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from recollect.code.outline import SCOPES_ONLY, Import, Outline
from recollect.code.resolve.imports import go_files
from recollect.code.resolve.names import Meaning, Names
from recollect.code.resolve.tree import Target, Tree, View, folder_of, stem_of

# What an edge of each type passes on when something breaks at its end, from 0 to 1.
WEIGHTS: Mapping[str, float] = {
    "imports": 0.9,
    "calls": 0.8,
    "is_entrypoint_for": 0.8,
    "implements": 0.7,
    "extends": 0.7,
    "exports": 0.6,
    "uses": 0.6,  # hands it on, or names it as a type
    "flows_to": 0.6,
    "depends_logically": 0.5,
    "handles_errors_from": 0.4,
    "applies_pattern": 0.3,
}

# The layer an edge belongs to: what syntax tells, and what custom or a model says.
STRUCTURAL = frozenset({"imports", "exports", "calls", "uses", "extends", "implements"})
SEMANTIC = frozenset({"is_entrypoint_for", "depends_logically", "handles_errors_from", "applies_pattern", "flows_to"})

GUESSED = 0.5  # one symbol bears the name, and nothing but the name speaks for it
LINKED = 0.8  # the only function of that name, in a language whose linker goes by names
MAX_GUESSES = 3  # bearers of a name above which guessing is noise
_SHORTEST = 4  # letters of a name that may be guessed by
PACKAGE = 0.6  # an import of a Go package, for each file of it
_WIDEST = 40  # files of a Go package that are each linked

_FAMILIES = {"typescript": "js", "tsx": "js", "javascript": "js", "c": "c", "cpp": "c"}
_EVERYWHERE = frozenset(
    "append apply assert assertEqual call clear close copy count create decode delete emit encode error exec execute "
    "exists extend filter find first flush forEach format get getAttribute group index info insert items iter "
    "join keys last length load lock log lower main match name next open parse pop print push query read remove render "
    "replace "
    "reset resolve reverse round save search send serialize size slice sort split start state status stop string strip "
    "test text then toString trim type unwrap update upper value values wait warn write clone into iter_mut default "
    "as_str to_string to_owned collect expect map_err unwrap_or ok_or len push_str contains from Errorf Fatal Equal "
    "setUp tearDown setup teardown setattr getattr catch finally connect connection handle process register".split()
)
SERVED = 0.7  # a file that registers routes or commands, by the names it calls
_SERVES = re.compile(
    r"(app|bp|blueprint|router|api|server|mux|cli|group|e|r)\.(route|get|post|put|patch|delete|command|handle|HandleFunc"
    r"|Handle|GET|POST|PUT|PATCH|DELETE)|click\.(command|group)|typer\.Typer|ArgumentParser|argparse\.ArgumentParser"
    r"|express|http\.(HandleFunc|ListenAndServe|createServer)"
)
_BUILTIN = frozenset(dir(builtins))
_CONSTRUCTORS = ("__init__", "constructor", "new", "initialize")


@dataclass(slots=True)
class Resolved:
    """All that one file depends on."""

    edges: dict[tuple[str, str, str], float] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)  # names of external nodes
    wants: set[str] = field(default_factory=set)

    def add(self, source: str, meaning: Meaning, type: str) -> None:
        target = meaning.target.id
        if source == target:
            return
        if not meaning.target.path:
            self.outside.add(meaning.target.name)
        key = (source, target, type)
        self.edges[key] = max(meaning.confidence, self.edges.get(key, 0.0))


def resolve_file(path: str, tree: Tree, names: Names) -> Resolved:
    """The edges that leave one file and its symbols."""
    resolved = Resolved()
    view = tree.view(path)
    if view is None:
        return resolved
    for one in view.outline.imports:
        _import(one, view, tree, names, resolved)
    for base in view.outline.bases:
        found = names.meaning(base.name, view, view.outline.symbols[base.symbol].parent) or _guess(
            base.name, view, tree, resolved, classes=True
        )
        if found is not None:
            resolved.add(_source(view, base.symbol), found, base.relation)
        else:
            resolved.wants |= _sought_names(base.name, view)
    _entry(view, resolved)
    _uses(view, tree, names, resolved)
    calls = dict.fromkeys((call.scope, call.callee) for call in view.outline.calls)
    for scope, callee in calls:
        _call(scope, callee, view, tree, names, resolved)
    return resolved


def _import(one: Import, view: View, tree: Tree, names: Names, resolved: Resolved) -> None:
    source = _source(view, one.scope) if one.scope >= 0 else view.path
    type = "exports" if one.public and view.outline.language != "python" else "imports"
    module = None if one.type == "mod" else names.module(one, view.path)
    found = names.imported(one, view.path)
    if module is None and (found is None or not found.target.path):
        resolved.wants |= _looked_for(one)
    if module is not None and module.is_folder:
        files = go_files(module, tree)[:_WIDEST] if view.outline.language == "go" else []
        for file in files:
            resolved.add(source, Meaning(Target(file), PACKAGE), type)
    elif module is not None:
        resolved.add(source, Meaning(Target(module.path), 1.0), type)
        if module.name:
            resolved.add(source, Meaning(module, 1.0), type)
    if found is None:
        if one.name:
            resolved.wants.add(one.name)
    elif not found.target.is_folder:
        resolved.add(source, found, type)
        if found.target.name and found.target.path != view.path:
            resolved.add(source, Meaning(Target(found.target.path), found.confidence), type)


def _uses(view: View, tree: Tree, names: Names, resolved: Resolved) -> None:
    """What is handed on or named as a type; only what is certainly of this project."""
    told = dict.fromkeys((one.scope, one.name) for one in view.outline.uses)
    told |= dict.fromkeys(
        (one.scope, one.type) for one in view.outline.variables if not one.made and one.type[0] != "="
    )
    told |= dict.fromkeys((place, one.returns) for place, one in enumerate(view.outline.symbols) if one.returns)
    for scope, name in told:
        found = names.meaning(name, view, scope)
        if found is None:
            resolved.wants |= _sought_names(name, view)
        elif found.target.path and found.target.name:
            resolved.add(_source(view, scope), found, "uses")


def _entry(view: View, resolved: Resolved) -> None:
    """A program, a command or a request begins in this file: by custom, without a language model."""
    served = any(_SERVES.fullmatch(call.callee) for call in view.outline.calls)
    if view.outline.main or served:
        folder = Target(folder_of(view.path) or "./")
        resolved.add(view.path, Meaning(folder, 1.0 if view.outline.main else SERVED), "is_entrypoint_for")


def _sought_names(dotted: str, view: View) -> set[str]:
    """The names whose appearance elsewhere could give an unresolved one a meaning."""
    head, _, _ = dotted.partition(".")
    last = dotted.rpartition(".")[2].removesuffix("()")
    given = view.stars or view.outline.language not in ("python", "typescript", "tsx", "javascript")
    return {last, head.removesuffix("()")} - {"?"} if given else {last}


def _looked_for(one: Import) -> set[str]:
    parts = [part for part in one.module.replace("::", ".").replace("/", ".").split(".") if part]
    return {*parts[:1], *parts[-1:], *([one.name] if one.name else [])} | (
        {stem_of(one.module)} if one.module else set()
    )


def _call(scope: int, callee: str, view: View, tree: Tree, names: Names, resolved: Resolved) -> None:
    source = _source(view, scope)
    head, dot, _ = callee.partition(".")
    found = None if head == "?" else names.meaning(callee, view, scope)
    if found is None:
        plain = not dot
        if plain and (callee in _BUILTIN or callee in _EVERYWHERE) and view.outline.language == "python":
            return
        resolved.wants |= _sought_names(callee, view)
        for guess in _guesses(callee, view, tree, resolved, methods=not plain):
            resolved.add(source, guess, "calls")
        return
    if found.target.is_folder:
        return
    if found.confidence < 1.0 or not found.target.path:
        resolved.wants.add(callee.rpartition(".")[2])
    resolved.add(source, found, "calls")
    if found.target.name and found.target.path:
        for constructor in _CONSTRUCTORS:
            made = Target(found.target.path, f"{found.target.name}.{constructor}")
            target = tree.view(made.path)
            if target is not None and (known := target.symbol(made.name)) is not None and known.type == "method":
                resolved.add(source, Meaning(made, found.confidence), "calls")


def _guess(name: str, view: View, tree: Tree, resolved: Resolved, *, classes: bool) -> Meaning | None:
    found = _guesses(name, view, tree, resolved, methods=False, classes=classes)
    return found[0] if len(found) == 1 else None


def _guesses(
    callee: str, view: View, tree: Tree, resolved: Resolved, *, methods: bool, classes: bool = False
) -> list[Meaning]:
    """Who else bears that name, in the same family of languages."""
    name = callee.rpartition(".")[2]
    if len(name) < _SHORTEST or name in _EVERYWHERE or name.startswith("__"):
        return []
    resolved.wants.add(name)
    language = view.outline.language
    family = _FAMILIES.get(language, language)
    fitting = [
        one.target
        for one in tree.named(name)
        if _FAMILIES.get(one.language, one.language) == family
        and one.type in (("class", "interface") if classes else ("method",) if methods else ("function", "class"))
        and (methods or "." not in one.target.name or classes)
    ]
    if not methods and not classes and language in ("python", "typescript", "tsx", "javascript", "go", "rust"):
        return []  # in these a bare name is imported or defined, or it is not ours
    if not fitting or len(fitting) > MAX_GUESSES:
        return []
    if family == "c" and not methods and len(fitting) == 1:
        return [Meaning(fitting[0], LINKED)]
    return [Meaning(target, GUESSED / len(fitting)) for target in fitting]


def _source(view: View, scope: int) -> str:
    """The node a place in the source belongs to."""
    outline = view.outline
    while scope >= 0 and outline.symbols[scope].type in SCOPES_ONLY:
        symbol = outline.symbols[scope]
        place = view.places.get(symbol.name, -1)
        if place >= 0 and outline.symbols[place].type not in SCOPES_ONLY:
            return f"{view.path}:{symbol.name}"
        scope = symbol.parent
    return f"{view.path}:{outline.symbols[scope].name}" if scope >= 0 else view.path


def defined_names(outline: Outline) -> set[str]:
    """The last parts of all names a file defines."""
    return {symbol.name.rpartition(".")[2] for symbol in outline.symbols}
