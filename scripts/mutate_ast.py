"""Mutants: the functions of a tree, the small defects each can be given, and a drawing of them with a seed.

A mutant is one edit of the text of one function. It knows nothing of tests, copies or files other than its own.
"""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_FLIPPED: dict[type[ast.cmpop], str] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Lt: ">=",
    ast.LtE: ">",
    ast.Gt: "<=",
    ast.GtE: "<",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_BOUNDARY: dict[type[ast.cmpop], str] = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
_EMPTY = {
    "str": '""',
    "bytes": 'b""',
    "list": "[]",
    "tuple": "()",
    "dict": "{}",
    "set": "set()",
    "frozenset": "frozenset()",
}
_EMPTY |= {"Sequence": "()", "Mapping": "{}", "Iterator": "iter(())", "Iterable": "()"}
_NOT_MUTATED = ("overload", "abstractmethod")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One defect: what it does, where, and the text of the file with it."""

    path: str
    function: str
    kind: str
    line: int
    before: str
    after: str
    text: str
    lines: tuple[int, ...]  # a test that ran any of these may notice

    @property
    def name(self) -> str:
        """The same in every tree that has this code, wherever it stands: judgements are filed under it."""
        return f"{self.path}::{self.function} [{self.kind}] {self.before} → {self.after}"


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the tree, and the span of its text."""

    path: str
    name: str
    node: ast.FunctionDef | ast.AsyncFunctionDef

    @property
    def package(self) -> str:
        """The first folder below the library, `app` for its own modules."""
        parts = Path(self.path).parts[2:]
        return parts[0] if len(parts) > 1 else "app"


_Edit = tuple[str, ast.AST, str]  # kind, the node whose text goes, the text that comes


def functions_of(path: str, text: str) -> list[Function]:
    """Every function and method, with its dotted name; a function inside another counts by itself."""
    found: list[Function] = []

    def visit(node: ast.AST, names: tuple[str, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                if not any(ast.unparse(decorator).endswith(_NOT_MUTATED) for decorator in child.decorator_list):
                    found.append(Function(path, ".".join((*names, child.name)), child))
                visit(child, (*names, child.name))
            elif isinstance(child, ast.ClassDef):
                visit(child, (*names, child.name))
            else:
                visit(child, names)

    visit(ast.parse(text), ())
    return found


def mutants_of(function: Function, text: str) -> list[Mutant]:
    """All the mutants of one function, in the order of its text."""
    starts = _line_starts(text)
    source = text.encode()
    made = []
    for kind, node, new in _edits(function.node):
        start, end = _span(node, starts)
        old = source[start:end].decode()
        changed = (source[:start] + new.encode() + source[end:]).decode()
        if new == old or not _parses(changed):
            continue
        line: int = getattr(node, "lineno", function.node.lineno)
        lines = _body_lines(function.node) if kind == "changed default" else (_statement(function.node, line), line)
        made.append(Mutant(function.path, function.name, kind, line, _flat(old), _flat(new), changed, lines))
    return made


def draw(functions: Sequence[Function], texts: Mapping[str, str], *, n: int, seed: int, least: int = 3) -> list[Mutant]:
    """`n` mutants, one a function: each package by its number of functions, at least `least`; kinds drawn evenly."""
    chance = random.Random(seed)
    by_package: dict[str, list[Function]] = {}
    for function in functions:
        by_package.setdefault(function.package, []).append(function)
    shares = {name: max(least, round(n * len(here) / len(functions))) for name, here in by_package.items()}
    drawn: list[list[Mutant]] = []
    for package in sorted(by_package):
        here = sorted(by_package[package], key=lambda function: (function.path, function.node.lineno))
        chance.shuffle(here)
        taken: list[Mutant] = []
        for function in here:
            if len(taken) == shares[package]:
                break
            kinds: dict[str, list[Mutant]] = {}
            for mutant in mutants_of(function, texts[function.path]):
                kinds.setdefault(mutant.kind, []).append(mutant)
            if kinds:
                taken.append(chance.choice(kinds[chance.choice(sorted(kinds))]))
        drawn.append(taken)
    spread = [
        package[place] for place in range(max(map(len, drawn), default=0)) for package in drawn if place < len(package)
    ]
    return spread[:n]


def _edits(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[_Edit]:
    yield from _default_edits(function.args)
    returned = ast.unparse(function.returns).partition("[")[0] if function.returns else ""
    body = function.body[1:] if ast.get_docstring(function, clean=False) is not None else function.body
    for statement in body:
        for node in _own_nodes(statement):
            yield from _node_edits(node, returned)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement, without functions and classes inside it, annotations, and what stands in f-strings,
    whose places older Pythons report wrongly."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.JoinedStr):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _own_nodes(child)


def _default_edits(arguments: ast.arguments) -> Iterator[_Edit]:
    for default in [*arguments.defaults, *(default for default in arguments.kw_defaults if default)]:
        if isinstance(default, ast.Constant) and (new := _other_constant(default.value)):
            yield "changed default", default, new


def _other_constant(value: object) -> str | None:
    match value:
        case bool():
            return str(not value)
        case int() | float():
            return repr(value + 1)
        case str():
            return '"other"' if not value else '""'
        case _:
            return None


def _node_edits(node: ast.AST, returned: str) -> Iterator[_Edit]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield "flipped comparison", node, f"{_text(left)} {_FLIPPED[type(op)]} {_text(right)}"
            if type(op) in _BOUNDARY:
                yield "moved boundary", node, f"{_text(left)} {_BOUNDARY[type(op)]} {_text(right)}"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield "and/or", node, "(" + word.join(map(_text, values)) + ")"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "dropped not", node, _text(operand)
        case ast.Constant(value=int() as value) if not isinstance(value, bool):
            yield "±1", node, str(value + 1)
            if value:
                yield "±1", node, str(value - 1)
        case ast.BinOp(op=ast.Add() | ast.Sub() as op, left=left, right=right):
            sign = "-" if isinstance(op, ast.Add) else "+"
            if not any(
                isinstance(side, ast.Constant | ast.List | ast.JoinedStr)
                and not isinstance(getattr(side, "value", None), int)
                for side in (left, right)
            ):
                yield "±1", node, f"({_text(left)} {sign} {_text(right)})"
        case ast.Call(args=args, keywords=keywords):
            yield from _call_edits(node, args, keywords)
        case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
            yield "dropped call", node, "pass"
        case ast.Return(value=ast.expr() as value):
            for new in _other_returns(value, returned):
                yield "other return", value, new
        case ast.If(test=test, body=body, orelse=orelse):
            yield "negated if", test, f"not ({ast.unparse(test)})"
            yield "emptied branch", _Block(body), "pass"
            if orelse and not (len(orelse) == 1 and isinstance(orelse[0], ast.If)):
                yield "emptied branch", _Block(orelse), "pass"
        case ast.IfExp(test=test):
            yield "negated if", test, f"not ({ast.unparse(test)})"
        case ast.comprehension(ifs=[test, *_]):
            yield "negated if", test, f"(not ({ast.unparse(test)}))"
        case _:
            pass


def _call_edits(node: ast.Call, args: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[_Edit]:
    if len(args) >= 2 and not any(isinstance(argument, ast.Starred) for argument in args[:2]):
        swapped = [args[1], args[0], *args[2:]]
        if _text(args[0]) != _text(args[1]):
            yield "swapped arguments", node, ast.unparse(ast.Call(node.func, swapped, keywords))
    for keyword in keywords:
        if keyword.arg is not None:
            kept = [other for other in keywords if other is not keyword]
            yield "dropped keyword", node, ast.unparse(ast.Call(node.func, args, kept))


def _other_returns(value: ast.expr, returned: str) -> Iterator[str]:
    text = ast.unparse(value)
    if isinstance(value, ast.Constant) and isinstance(value.value, bool | int | str):
        if new := _other_constant(value.value):
            yield new
    elif returned == "bool":
        yield f"not ({text})"
    elif returned in ("int", "float"):
        yield f"({text}) + 1"
    elif (new := _EMPTY.get(returned)) and new != text:
        yield new
    elif text != "None":
        yield "None"


class _Block(ast.AST):
    """The statements of a branch as one span."""

    def __init__(self, statements: list[ast.stmt]) -> None:
        first, last = statements[0], statements[-1]
        self.lineno, self.col_offset = first.lineno, first.col_offset
        self.end_lineno, self.end_col_offset = last.end_lineno, last.end_col_offset


def _text(node: ast.AST) -> str:
    """An expression as text that can stand beside any operator."""
    text = ast.unparse(node)
    plain = isinstance(
        node, ast.Name | ast.Attribute | ast.Constant | ast.Call | ast.Subscript | ast.List | ast.Dict | ast.JoinedStr
    )
    return text if plain else f"({text})"


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _span(node: ast.AST, starts: list[int]) -> tuple[int, int]:
    place: Callable[[str, str], int] = lambda line, column: starts[getattr(node, line) - 1] + getattr(node, column)  # noqa: E731
    return place("lineno", "col_offset"), place("end_lineno", "end_col_offset")


def _statement(function: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> int:
    """The first line of the innermost statement around a line: a long one is traced there."""
    around = [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(around, default=line)


def _body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, ...]:
    return tuple(range(function.body[0].lineno, (function.end_lineno or function.lineno) + 1))


def _parses(text: str) -> bool:
    try:
        compile(text, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _flat(text: str) -> str:
    short = " ".join(text.split())
    return short if len(short) <= 160 else f"{short[:120]} … {short[-38:]}"
