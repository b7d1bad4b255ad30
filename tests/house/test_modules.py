"""What every module keeps to: it says what it holds, and public names mean one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "recollect"
SHARED = Path(__file__).parent / "shared_names.txt"
GONE = frozenset(
    (
        "Acute Allowance Companion Companions Deed Door Drawer Foresight Ground Hand Heard Here Known Lookout Offer"
        " Outlook Pad Quick Rivals Room Round Senses Sighting Situation Slate Story Surroundings Teller Thread Trait"
        " Watch Weighed"
    ).split()
)


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def public_names(tree: ast.Module) -> set[str]:
    definitions = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, definitions) and not node.name.startswith("_")}


def test_every_module_says_what_it_holds() -> None:
    assert [name for name, tree in modules() if tree.body and not ast.get_docstring(tree)] == []


def test_a_public_name_is_used_in_one_module() -> None:
    """`shared_names.txt` lists those that are not; it only shrinks. A name that is unique again is taken off it."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module, tree in modules():
        for name in public_names(tree):
            homes[name].append(module)
    shared = {name: places for name, places in homes.items() if len(places) > 1}
    allowed = set(SHARED.read_text(encoding="utf-8").split())
    assert {name: places for name, places in shared.items() if name not in allowed} == {}
    assert sorted(allowed - set(shared)) == []


def test_words_that_told_nobody_anything_stay_away() -> None:
    assert {module: names for module, tree in modules() if (names := GONE & public_names(tree))} == {}
