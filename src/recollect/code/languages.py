"""Which languages are understood: file extension → grammar wheel and query files. A missing wheel is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Query


@dataclass(frozen=True, slots=True)
class Language:
    """One language as it is parsed."""

    name: str
    wheel: str  # the module that carries the grammar
    entry: str  # its function that hands out the grammar
    queries: tuple[str, ...]  # files in `queries/`, read one after another
    separator: str = "."  # between the parts of a qualified name in the source


_ALL = (
    Language("python", "tree_sitter_python", "language", ("python",)),
    Language("javascript", "tree_sitter_javascript", "language", ("javascript",)),
    Language("typescript", "tree_sitter_typescript", "language_typescript", ("typescript",)),
    Language("tsx", "tree_sitter_typescript", "language_tsx", ("typescript", "tsx")),
    Language("go", "tree_sitter_go", "language", ("go",)),
    Language("rust", "tree_sitter_rust", "language", ("rust",), "::"),
    Language("java", "tree_sitter_java", "language", ("java",)),
    Language("c", "tree_sitter_c", "language", ("c",)),
    Language("cpp", "tree_sitter_cpp", "language", ("c", "cpp"), "::"),
    Language("c_sharp", "tree_sitter_c_sharp", "language", ("c_sharp",)),
    Language("ruby", "tree_sitter_ruby", "language", ("ruby",), "::"),
)

LANGUAGES: Mapping[str, Language] = {language.name: language for language in _ALL}

EXTENSIONS: Mapping[str, str] = {
    ".py": "python", ".pyi": "python", ".pyw": "python",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".go": "go", ".rs": "rust", ".java": "java", ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".hh": "cpp", ".hpp": "cpp", ".hxx": "cpp",
    ".cs": "c_sharp", ".rb": "ruby",
}  # fmt: skip


def language_of(path: str) -> str | None:
    """The language of a file by its name; nothing for files that are no source code."""
    dot = path.rfind(".")
    return EXTENSIONS.get(path[dot:].lower()) if dot > path.rfind("/") else None


class GrammarMissing(Exception):
    """The wheel of a language is not installed, or does not fit the parser."""


@cache
def load_grammar(name: str) -> Grammar:
    """The grammar of a language. Loaded once, when its first file is met."""
    language = LANGUAGES[name]
    try:
        from tree_sitter import Language as Grammar

        return Grammar(getattr(import_module(language.wheel), language.entry)())
    except (ImportError, ValueError) as error:
        package = language.wheel.replace("_", "-")
        raise GrammarMissing(f"no grammar for {name}: install {package} ({error})") from None


@cache
def load_query(name: str) -> Query:
    """What is asked of a tree of this language."""
    from tree_sitter import Query

    texts = [(files("recollect.code") / "queries" / f"{one}.scm").read_text("utf-8") for one in LANGUAGES[name].queries]
    return Query(load_grammar(name), "\n".join(texts))
