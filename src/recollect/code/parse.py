"""One file's bytes → its outline, by tree-sitter and the queries of its language. Pure.

Nothing in here is bounded in time: error recovery can be quadratic, so hostile files are kept in check by running this
in a process of its own (`workers`). Nothing recurses: nesting may be as deep as the file is long.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING, TypeAlias

from recollect.code.languages import load_grammar, load_query
from recollect.code.outline import Base, Call, Import, Outline, Symbol, Use, Variable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

    Captures: TypeAlias = Mapping[str, Sequence[Node]]

_PLAIN = re.compile(r"[\w.$@]+")
_CHAIN = re.compile(r"\A[\w.$]+(?:\(\)[\w.$]+)+\Z")
_SPACE = re.compile(r"\s+")
_LAST = re.compile(r"(?<![\w$])[\w$]+$")
_GENERIC = re.compile(r"[\[<].*", re.S)
_LONGEST = 200  # characters of a callee or a type that are looked at
_REQUIRES = frozenset({"require", "require_relative"})


@cache
def _parser(language: str) -> Parser:
    from tree_sitter import Parser

    return Parser(load_grammar(language))


def parse(source: bytes, language: str) -> Outline:
    """The outline of a file. Broken code gives what can be read of it."""
    from tree_sitter import QueryCursor

    tree = _parser(language).parse(source)
    root = tree.root_node
    reading = _Reading(source, language)
    reading.outline.broken = root.has_error
    for _, captures in QueryCursor(load_query(language)).matches(root):
        reading.take(captures)
    return reading.finish()


class _Definition:
    """A symbol on its way: where it is, and what it is called."""

    __slots__ = ("end", "last", "name", "name_at", "owner", "row", "start", "type")

    def __init__(self, type: str, name: str, name_at: int, node: Node) -> None:
        self.type, self.name, self.name_at, self.owner = type, name, name_at, ""
        self.widen(node)

    def widen(self, node: Node) -> None:
        self.start, self.end = node.start_byte, node.end_byte
        self.row, self.last = node.start_point.row, node.end_point.row


class _Reading:
    """Collects matches in any order, then puts each thing into the innermost symbol around it."""

    def __init__(self, source: bytes, language: str) -> None:
        self.source = source
        self.rust = language in ("rust", "cpp")
        self.outline = Outline(language)
        self.definitions: dict[int, _Definition] = {}  # by the place of the name
        self.wider: dict[int, Node] = {}
        self.calls: dict[int, tuple[int, str]] = {}  # by the end: the calls of a chain begin together
        self.uses: list[tuple[int, int]] = []
        self.bases: list[tuple[int, str, str]] = []
        self.returns: list[tuple[int, str]] = []
        self.variables: list[tuple[int, str, str, bool, bool]] = []
        self.imports: list[tuple[int, Import]] = []

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def take(self, captures: Captures) -> None:
        """Sort one match in by the names of its captures."""
        if "call" in captures:
            node = captures["call"][0]
            self.calls[node.end_byte] = (node.start_byte, self._callee(node))
        elif "ref" in captures:
            node = captures["ref"][0]
            self.uses.append((node.start_byte, node.end_byte))
        elif "name" in captures:
            self._definition(captures)
        elif "var" in captures or "field" in captures:
            self._variable(captures)
        elif any(name.startswith(("import", "export")) for name in captures):
            self._import(captures)
        else:
            self._rest(captures)

    def _callee(self, node: Node) -> str:
        end = node.end_byte
        text = self.source[max(node.start_byte, end - _LONGEST) : end].decode("utf-8", "replace")
        return self._dotted(text)

    def _dotted(self, text: str) -> str:
        """A callee as dotted names; what is no name becomes a question mark."""
        if self.rust:
            text = text.replace("::", ".")
        if _PLAIN.fullmatch(text):
            return text
        text = _SPACE.sub("", text).replace("?.", ".").replace("!.", ".").replace("->", ".")
        if _PLAIN.fullmatch(text):
            return text
        if text.startswith("super()."):
            return f"super.{text[8:]}" if _PLAIN.fullmatch(text[8:]) else ""
        chain = _without_arguments(text.removeprefix("new"))
        if len(text) < _LONGEST and _CHAIN.fullmatch(chain):
            return chain
        last = _LAST.search(text)
        return f"?.{last.group()}" if last else ""

    def _definition(self, captures: Captures) -> None:
        name = captures["name"][0]
        kind = next(key for key in captures if key.startswith("def."))
        node = captures[kind][0]
        if kind == "def.wider":
            self.wider[name.start_byte] = node
            self.outline.exports.append((self.text(name), self.text(name)))
            return
        known = self.definitions.get(name.start_byte)
        if known is not None:
            if node.start_byte < known.start:
                known.widen(node)
            return
        made = _Definition(kind[4:], self._dotted(self.text(name)) or "?", name.start_byte, node)
        if "owner" in captures:
            made.owner = self._type(captures["owner"][0])
        self.definitions[name.start_byte] = made

    def _variable(self, captures: Captures) -> None:
        field = "field" in captures
        name = self.text(captures["field" if field else "var"][0])
        made = "made" in captures
        if "same" in captures:
            type = f"={self.text(captures['same'][0])}"
        else:
            type = self._callee(captures["made"][0]) if made else self._type(captures["type"][0])
        if "wrapper" in captures and self.text(captures["wrapper"][0]) not in _WRAPPERS:
            return
        if type and not type.startswith("?") and _PLAIN.fullmatch(name):
            at = captures["field" if field else "var"][0].start_byte
            self.variables.append((at, name, type, made, field))

    def _type(self, node: Node) -> str:
        """A type as a dotted name, without parameters, quotes, pointers; nothing when it is a mixture."""
        text = self.source[node.start_byte : node.end_byte][:_LONGEST].decode("utf-8", "replace").strip("\"' *&?")
        if text.startswith("Optional["):
            text = text[9:]
        parts = [part.strip() for part in text.split("|") if part.strip() not in ("None", "null", "undefined")]
        text = _GENERIC.sub("", parts[0]).replace("::", ".").strip("\"' ]") if len(parts) == 1 else ""
        return text if _PLAIN.fullmatch(text) else ""

    def _rest(self, captures: Captures) -> None:
        for key, nodes in captures.items():
            if key.startswith("base."):
                if base := self._type(nodes[0]):
                    self.bases.append((nodes[0].start_byte, base, key[5:]))
            elif key == "returns":
                if type := self._type(nodes[0]):
                    self.returns.append((nodes[0].start_byte, type))
            elif key == "call.whole":
                self._whole_call(nodes[0])
            elif key == "package":
                self.outline.package = self.text(nodes[0])
            elif key == "entry" and self.text(nodes[0]) == "__name__":
                self.outline.main = True

    def _whole_call(self, node: Node) -> None:
        """A call whose receiver and name are apart in the tree, as in Java and Ruby."""
        receiver = node.child_by_field_name("object") or node.child_by_field_name("receiver")
        name = node.child_by_field_name("name") or node.child_by_field_name("method")
        if receiver is not None and name is not None:
            text = f"{self.text(receiver).replace('::', '.').lstrip('@')}.{self.text(name)}"
            self.calls[node.end_byte] = (node.start_byte, self._dotted(text))

    def _import(self, captures: Captures) -> None:
        at = next(iter(captures.values()))[0].start_byte
        words = {key: self.text(nodes[0]) for key, nodes in captures.items()}
        if words.get("import.require", "require") not in _REQUIRES:
            if "import.require" in captures:  # an ordinary call that looks like one
                node = captures["import.require"][0]
                self.calls.setdefault(node.end_byte, (node.start_byte, words["import.require"]))
            return
        if (outside := words.get("export.local") or words.get("export.default")) and "import.module" not in words:
            name = "default" if "export.default" in words else words.get("export.alias", outside)
            self.outline.exports.append((outside, name))
            return
        if self.outline.language == "java":
            last = words["import.module"].rpartition(".")[2]
            self.imports.append((at, Import("name", words["import.module"], last, last)))
            return
        self.imports += [(at, one) for one in _imports(words)]

    def finish(self) -> Outline:
        """Every thing in its place."""
        found = [definition for definition in self.definitions.values() if definition.name]
        for place, node in self.wider.items():
            if (known := self.definitions.get(place)) is not None and node.start_byte < known.start:
                known.widen(node)
        found.sort(key=lambda one: (one.start, -one.end, one.name_at))
        finder = _Finder([(one.start, one.end) for one in found])
        self._symbols(found, finder)
        outline = self.outline
        outline.calls = [
            Call(finder.around(at), callee) for at, callee in sorted(self.calls.values()) if callee not in ("", "super")
        ]
        outline.bases = [Base(finder.around(at), name, how) for at, name, how in self.bases if finder.around(at) >= 0]
        outline.variables = [
            Variable(finder.around(at), name, type, made, field) for at, name, type, made, field in self.variables
        ]
        outline.imports = list(dict.fromkeys(one._replace(scope=finder.around(at)) for at, one in self.imports))
        outline.uses = self._known_uses(finder)
        outline.main = outline.main or _runs(outline)
        return outline

    def _known_uses(self, finder: _Finder) -> list[Use]:
        """Names handed on that can mean something beyond their function: imported here, or defined here."""
        outline = self.outline
        known = {symbol.name.rpartition(".")[2] for symbol in outline.symbols if symbol.parent < 0}
        known |= {one.local or one.module.partition(".")[0] for one in outline.imports}
        mates = outline.language == "go"  # names of the package come without an import
        found: dict[Use, None] = {}
        for start, end in self.uses:
            if end - start > _LONGEST:
                continue
            text = self.source[start:end].decode("utf-8", "replace").replace("::", ".")
            head = text.partition(".")[0]
            if (head in known or (mates and head[:1].isupper())) and _PLAIN.fullmatch(text):
                found[Use(finder.around(start), text)] = None
        return list(found)

    def _symbols(self, found: Sequence[_Definition], finder: _Finder) -> None:
        returns = {finder.around(at): type for at, type in self.returns}
        names: list[str] = []
        for place, one in enumerate(found):
            parent = finder.parents[place]
            prefix = one.owner or (names[parent] if parent >= 0 else "")
            names.append(f"{prefix}.{one.name}" if prefix else one.name)
            inside = parent >= 0 and found[parent].type in ("class", "interface", "impl")
            type = "method" if one.type == "function" and (inside or one.owner) else one.type
            self.outline.symbols.append(
                Symbol(
                    names[place], type, one.row + 1, one.last + 1, one.start, one.end, parent,
                    self._digest(one), returns.get(place, ""),
                )
            )  # fmt: skip

    def _digest(self, one: _Definition) -> str:
        name = one.name_at - one.start
        length = len(one.name.encode())
        body = self.source[one.start : one.end]
        text = body[:name] + body[name + length :] if name >= 0 else body
        return blake2b(b" ".join(text.split()), digest_size=8).hexdigest()


_WRAPPERS = frozenset({"Option", "Result", "Box", "Rc", "Arc", "RefCell", "Mutex", "RwLock"})


def _without_arguments(text: str) -> str:
    """`a(b(1), 2).c` → `a().c`. A text whose brackets do not close stays as it is."""
    found: list[str] = []
    depth = 0
    for letter in text:
        if letter == "(":
            depth += 1
            if depth == 1:
                found.append("()")
        elif letter == ")":
            depth -= 1
        elif depth == 0:
            found.append(letter)
    return "".join(found) if depth == 0 else text


def _imports(words: Mapping[str, str]) -> list[Import]:
    """The imports that one match of an import pattern means."""
    module = words.get("import.module", "")
    local = words.get("import.alias", "")
    match words:
        case {"import.use": tree} | {"export.use": tree}:
            return read_use_tree(tree, public="export.use" in words)
        case {"import.mod": name}:
            return [Import("mod", name, local=name)]
        case {"import.system": name}:
            return [Import("system", name.strip("<>"))]
        case {"import.space_of": name}:
            return [Import("package", name)]
        case {"import.name": name}:
            return [Import("name", module, name, local or name)]
        case {"import.all": _}:
            return [Import("all", module, public=True)]
        case {"import.default": name}:
            return [Import("default", module, "default", name)]
        case {"import.space": name}:
            return [Import("space", module, "", name)]
        case {"export.name": name}:
            return [Import("name", module, name, words.get("export.alias", name), public=True)]
        case {"export.space": name}:
            return [Import("space", module, "", name, public=True)]
        case {"export.all": _}:
            return [Import("all", module, public=True)]
        case {"import.side": _} | {"import.require": _}:
            return [Import("side", module)]
        case _:
            return [Import("module", module, "", local)]


def _runs(outline: Outline) -> bool:
    """Whether a file is a program by the custom of its language."""
    mains = {symbol.name.rpartition(".")[2] for symbol in outline.symbols}
    match outline.language:
        case "go":
            return outline.package == "main" and "main" in mains
        case "rust" | "c" | "cpp" | "java":
            return "main" in mains
        case "c_sharp":
            return "Main" in mains
        case _:
            return False


class _Finder:
    """The innermost of some nested spans around a byte. Spans come sorted by start, the wider first."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in spans]
        self._spans = spans
        self.parents: list[int] = []
        stack: list[int] = []
        for place, (start, end) in enumerate(spans):
            while (stack and spans[stack[-1]][1] < end) or (stack and spans[stack[-1]][1] <= start):
                stack.pop()
            self.parents.append(stack[-1] if stack else -1)
            stack.append(place)

    def around(self, at: int) -> int:
        from bisect import bisect_right

        place = bisect_right(self._starts, at) - 1
        while place >= 0 and self._spans[place][1] <= at:
            place = self.parents[place]
        return place


# --- Rust's `use` trees ---------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"::|[{},*]|\bas\b|(?:r#)?\w+")
_MAX_NAMES = 2_000  # names in one tree


def read_use_tree(tree: str, *, public: bool = False) -> list[Import]:
    """`a::{b as c, d::*}` as one import for each leaf: a::b called c, everything of a::d. No recursion."""
    found: list[Import] = []
    prefixes: list[list[str]] = [[]]
    path: list[str] = []
    local = ""
    renamed = False

    def end_leaf() -> None:
        nonlocal path, local, renamed
        if path:
            found.append(_use_import(prefixes[-1] + path, local, public))
        path, local, renamed = [], "", False

    for token in _TOKEN.findall(tree):
        if len(found) >= _MAX_NAMES:
            break
        if token == "{":
            prefixes.append(prefixes[-1] + path)
            path = []
        elif token == "}":
            end_leaf()
            if len(prefixes) > 1:
                prefixes.pop()
            path = []
        elif token == ",":
            end_leaf()
        elif token == "as":
            renamed = True
        elif token != "::":
            if renamed:
                local = token
            else:
                path.append(token.removeprefix("r#"))
    end_leaf()
    return found


def _use_import(path: list[str], local: str, public: bool) -> Import:
    if path[-1] == "*":
        return Import("all", "::".join(path[:-1]), public=public)
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    return Import("use", "::".join(path[:-1]), path[-1], local or path[-1], public)
