"""The panel speaks two languages completely, and has a word for every name the product uses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recollect.core.doors import DOORS
from recollect.core.kinds import Kind
from recollect.core.log import Action
from recollect.core.review import ReviewQuestion
from recollect.core.scope import CorrectionReason, Relation, Scope, Source, Status, Visibility

PANEL = Path(__file__).resolve().parents[2] / "panel" / "src"
_ENTRY = re.compile(r'^  "?([\w.-]+)"?: "(.*)",$', re.M)
_USED = re.compile(r'\bt\(\s*"([\w.-]+)"')
_HOLE = re.compile(r"\{(\w+)\}")


def catalogue(language: str) -> dict[str, str]:
    return dict(_ENTRY.findall((PANEL / "words" / f"{language}.ts").read_text(encoding="utf-8")))


def test_french_has_every_word_that_english_has() -> None:
    english, french = catalogue("en"), catalogue("fr")
    assert len(english) > 300
    assert english.keys() == french.keys()
    assert [key for key, words in french.items() if not words.strip()] == []


def test_both_languages_put_the_same_values_into_a_sentence() -> None:
    english, french = catalogue("en"), catalogue("fr")
    assert {key for key in english if set(_HOLE.findall(english[key])) != set(_HOLE.findall(french[key]))} == set()


def test_every_word_the_panel_asks_for_exists() -> None:
    known = catalogue("en").keys()
    asked = {key for file in PANEL.rglob("*.tsx") for key in _USED.findall(file.read_text(encoding="utf-8"))}
    assert len(asked) > 150
    assert asked - known == set()


@pytest.mark.parametrize(
    ("names", "values"),
    [
        ("kind", Kind),
        ("source", Source),
        ("status", Status),
        ("scope", Scope),
        ("visibility", Visibility),
        ("relation", Relation),
        ("relation_back", Relation),
        ("reason", CorrectionReason),
        ("question", ReviewQuestion),
        ("question_about", ReviewQuestion),
        ("door", DOORS),
        ("action", Action.__args__),  # type: ignore[attr-defined]
    ],
)
def test_every_name_of_the_product_has_words(names: str, values: list[str]) -> None:
    known = catalogue("en").keys()
    assert [value for value in values if f"{names}.{value}" not in known] == []
