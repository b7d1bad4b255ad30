"""Rust's `use` trees → single imports. Pure; no recursion, so no depth of braces hurts."""

from __future__ import annotations

import re

from recollect.code.outline import Import

_TOKEN = re.compile(r"::|[{},*]|\bas\b|(?:r#)?\w+")
_MOST = 2_000  # names in one tree


def read_use(tree: str, *, public: bool = False) -> list[Import]:
    """`a::{b as c, d::*}` as one import for each leaf: a::b called c, everything of a::d."""
    found: list[Import] = []
    prefixes: list[list[str]] = [[]]
    path: list[str] = []
    local = ""
    renamed = False

    def close() -> None:
        nonlocal path, local, renamed
        if path:
            found.append(_leaf(prefixes[-1] + path, local, public))
        path, local, renamed = [], "", False

    for token in _TOKEN.findall(tree):
        if len(found) >= _MOST:
            break
        if token == "{":
            prefixes.append(prefixes[-1] + path)
            path = []
        elif token == "}":
            close()
            if len(prefixes) > 1:
                prefixes.pop()
            path = []
        elif token == ",":
            close()
        elif token == "as":
            renamed = True
        elif token != "::":
            if renamed:
                local = token
            else:
                path.append(token.removeprefix("r#"))
    close()
    return found


def _leaf(path: list[str], local: str, public: bool) -> Import:
    if path[-1] == "*":
        return Import("all", "::".join(path[:-1]), public=public)
    if path[-1] == "self" and len(path) > 1:
        path = path[:-1]
    return Import("use", "::".join(path[:-1]), path[-1], local or path[-1], public)
