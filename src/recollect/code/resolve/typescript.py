"""How TypeScript and JavaScript find modules: relative paths, index files, tsconfig paths, workspace packages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

from recollect.code.outline import Import
from recollect.code.resolve.tree import Target, Tree, folder_of, join_path

_ENDINGS = (".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_WRITTEN = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_COMMENTS = re.compile(r'("(?>(?:[^"\\]|\\.)*)(?:"|\Z|\\\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.S)
_COMMAS = re.compile(r",(\s*[}\]])")
_CONDITIONS = ("source", "types", "import", "module", "default", "require", "node", "browser", "development")
_DEEPEST = 8  # levels of conditions in an exports map, and of tsconfig files that extend one another


class _Rules:
    """What the manifests of a tree say, read once."""

    def __init__(self, tree: Tree) -> None:
        self.packages: dict[str, tuple[str, Mapping[str, Any]]] = {}  # name → (folder, package.json)
        self.configs: list[tuple[str, str, Mapping[str, list[str]]]] = []  # (folder, base folder, paths)
        self.manifests: dict[str, Mapping[str, Any]] = {}
        for path in sorted(tree.others):
            name = path.rpartition("/")[2]
            if name == "package.json":
                manifest = parse_lenient_json(tree.read(path))
                self.manifests[folder_of(path)] = manifest
                if isinstance(called := manifest.get("name"), str):
                    self.packages.setdefault(called, (folder_of(path), manifest))
            elif name.startswith(("tsconfig", "jsconfig")):
                self._config(path, tree)
        self.configs.sort(key=lambda config: -len(config[0]))

    def _config(self, path: str, tree: Tree) -> None:
        base, place = "", path
        paths: dict[str, Any] = {}
        for _ in range(_DEEPEST):
            config = parse_lenient_json(tree.read(place))
            options = config.get("compilerOptions")
            options = options if isinstance(options, dict) else {}
            if not paths and isinstance(options.get("paths"), dict):
                paths = options["paths"]
                base = base or folder_of(place)
            if isinstance(options.get("baseUrl"), str) and not base.endswith("\0"):
                base = (join_path(folder_of(place), options["baseUrl"]) or "") + "/\0"
            parent = config.get("extends")
            following = join_path(folder_of(place), parent) if isinstance(parent, str) and parent[:1] == "." else None
            if following is None:
                break
            place = following if following.endswith(".json") else f"{following}.json"
        rooted = base.endswith("\0")
        base = base.rstrip("\0").removeprefix("/")
        if paths or rooted:
            usable = {
                key: [v for v in value if isinstance(v, str)] for key, value in paths.items() if isinstance(value, list)
            }
            self.configs.append(
                (folder_of(path), base, usable | ({"*": ["*"]} if rooted and "*" not in usable else {}))
            )


_rules_known: WeakKeyDictionary[Tree, _Rules] = WeakKeyDictionary()


def typescript_module(one: Import, path: str, tree: Tree) -> Target | None:
    """The file an import names; nothing when it is not of this project."""
    if tree not in _rules_known:
        _rules_known[tree] = _Rules(tree)
    rules = _rules_known[tree]
    name = one.module.partition("?")[0]
    if name.startswith("."):
        found = _file(join_path(folder_of(path), name), tree)
    else:
        found = _aliased(name, path, rules, tree) or _packaged(name, path, rules, tree)
    return None if found is None or found == path else Target(found)


def _file(path: str | None, tree: Tree) -> str | None:
    """A path as written → a file: itself, with an ending, with the ending it was written with, or a folder's index."""
    if path is None:
        return None
    if path in tree.files:
        return path
    stem, dot, ending = path.rpartition(".")
    for written in _WRITTEN.get(dot + ending, ()):
        if stem + written in tree.files:
            return stem + written
    for tail in (*_ENDINGS, *(f"/index{ending}" for ending in _ENDINGS)):
        if (candidate := (path + tail).removeprefix("/")) in tree.files:
            return candidate
    return None


def _aliased(name: str, path: str, rules: _Rules, tree: Tree) -> str | None:
    """By the `paths` of the nearest tsconfig above the importer."""
    for folder, base, paths in rules.configs:
        if not path.startswith(folder):
            continue
        for pattern in sorted(paths, key=lambda p: (-len(p.partition("*")[0]), p)):
            head, star, tail = pattern.partition("*")
            fits = name.startswith(head) and name.endswith(tail) if star else name == pattern
            if fits and (not star or len(name) >= len(head) + len(tail)):
                middle = name[len(head) : len(name) - len(tail)] if star else ""
                for template in paths[pattern]:
                    if found := _file(join_path(base, template.replace("*", middle, 1)), tree):
                        return found
    return None


def _packaged(name: str, path: str, rules: _Rules, tree: Tree) -> str | None:
    """By the name of a package of the workspace, through its exports, or by `#` imports of the nearest package."""
    if name.startswith("#"):
        folder = folder_of(path)
        while folder not in rules.manifests and folder:
            folder = folder_of(folder.rstrip("/"))
        table = rules.manifests.get(folder, {}).get("imports")
        return _first(_exported(table if isinstance(table, dict) else {}, name), folder, tree)
    parts = name.split("/")
    called = "/".join(parts[:2]) if name.startswith("@") else parts[0]
    if called not in rules.packages:
        return None
    folder, manifest = rules.packages[called]
    below = name[len(called) :].lstrip("/")
    written = list(_exported(manifest.get("exports"), f"./{below}" if below else "."))
    if below:
        written += [below, f"src/{below}"]
    else:
        fields = [manifest.get(field) for field in ("source", "types", "module", "main")]
        written += [*(field for field in fields if isinstance(field, str)), "src/index", "index"]
    return _first(written, folder, tree)


def _first(written: Iterator[str] | list[str], folder: str, tree: Tree) -> str | None:
    """The first of some built paths that is there, or whose source is."""
    for one in written:
        for candidate in (one, re.sub(r"^(\./)?(dist|lib|build|out|esm|cjs)/", "src/", one)):
            bare = re.sub(r"(\.d)?\.[cm]?[jt]sx?$", "", candidate)
            for path in (candidate, bare):
                if found := _file(join_path(folder, path), tree):
                    return found
    return None


def _exported(table: Any, key: str) -> Iterator[str]:
    """Every path that an exports map gives for a key, conditions in the order of preference, patterns included."""
    if isinstance(table, str | list):
        table = {".": table}
    if not isinstance(table, dict):
        return
    if not any(str(name).startswith((".", "#")) for name in table):
        table = {".": table}
    for pattern, value in table.items():
        head, star, tail = str(pattern).partition("*")
        if pattern == key:
            yield from _paths(value, "")
        elif star and key.startswith(head) and key.endswith(tail) and len(key) >= len(head) + len(tail):
            yield from _paths(value, key[len(head) : len(key) - len(tail)])


def _paths(value: Any, middle: str, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value.replace("*", middle)
    elif isinstance(value, list) and depth < _DEEPEST:
        for one in value:
            yield from _paths(one, middle, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for condition in (*_CONDITIONS, *(name for name in value if name not in _CONDITIONS)):
            if condition in value:
                yield from _paths(value[condition], middle, depth + 1)


def parse_lenient_json(text: str) -> Mapping[str, Any]:
    """JSON with comments and trailing commas, as tsconfig files are; an empty object for anything else."""
    try:
        value = json.loads(_COMMAS.sub(r"\1", _COMMENTS.sub(lambda match: match.group(1) or "", text)))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
