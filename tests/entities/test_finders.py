"""What is a name, what sort it is, and which of two overlapping ones wins."""

from __future__ import annotations

import pytest

from recollect.core.entities import EntityType, Mention, entity_key
from recollect.entities.finders import Pipeline, drop_overlaps


def found(text: str) -> list[tuple[str, str]]:
    return [(mention.text, str(mention.type)) for mention in Pipeline().find(text)]


@pytest.mark.parametrize(
    ("text", "name", "type"),
    [
        ("ask @nora_b about it", "@nora_b", "person"),
        ("tagged #release-2 today", "#release-2", "tag"),
        ("write to ann.b+x@mail.example.org now", "ann.b+x@mail.example.org", "email"),
        ("see https://example.org/a?b=1#c.", "https://example.org/a?b=1#c", "url"),
        ("on 2024-05-01 we met", "2024-05-01", "date"),
        ("on 7 May 2023 we met", "7 May 2023", "date"),
        ("since March 3rd, 2021", "March 3rd, 2021", "date"),
        ("open src/app/main.py first", "src/app/main.py", "other"),
        ("look in /etc/hosts please", "/etc/hosts", "other"),
        ("upgrade to v2.3.1 soon", "v2.3.1", "other"),
        ("my friend Zelda said so", "Zelda", "person"),
        ("Dr. Quimby is in", "Quimby", "person"),
        ("they met Caroline in town", "Caroline", "person"),
        ("he works at Initech now", "Initech", "organization"),
        ("the Springfield University pays", "Springfield University", "organization"),
        ("we flew to Lisbon", "Lisbon", "location"),
        ("walk down Evergreen Avenue slowly", "Evergreen Avenue", "location"),
        ("the Bluebird project is late", "Bluebird", "project"),
    ],
)
def test_a_name_is_found_with_its_sort(text: str, name: str, type: str) -> None:
    assert (name, type) in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "The weather is fine.",
        "I think so.",
        "Yes! Please do it on Monday.",
        "THIS IS ALL VERY LOUD INDEED",
        "",
        "私は元気です",
    ],
)
def test_ordinary_words_are_no_names(text: str) -> None:
    assert found(text) == []


def test_an_email_is_not_also_a_mention_or_an_address() -> None:
    assert found("write to bob@example.org") == [("bob@example.org", "email")]


def test_of_overlapping_mentions_the_surest_and_then_the_longest_wins() -> None:
    def mention(start: int, end: int, confidence: float) -> Mention:
        return Mention("x" * (end - start), EntityType.OTHER, start, end, confidence, "t")

    short, long, sure, apart = mention(0, 4, 0.5), mention(0, 9, 0.5), mention(3, 6, 0.9), mention(20, 22, 0.1)
    assert drop_overlaps([short, long, apart]) == [long, apart]
    assert drop_overlaps([short, long, sure, apart]) == [sure, apart]


@pytest.mark.parametrize(("one", "other"), [("Caroline's", "caroline"), ("@Nora", "nora"), ("ＡＤＡ", "ada")])
def test_spellings_of_one_name_share_a_key(one: str, other: str) -> None:
    assert entity_key(one) == entity_key(other)


def test_a_name_by_its_shape_alone_is_told_its_sort_by_another_finder() -> None:
    weak = Mention("Zorblax", EntityType.OTHER, 0, 7, 0.5, "rules")
    told = Mention("Zorblax Inc", EntityType.ORGANIZATION, 0, 11, 0.45, "spacy")
    assert [(one.text, one.type) for one in drop_overlaps([weak, told])] == [("Zorblax", EntityType.ORGANIZATION)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yesterday Mr. Quimby met Dr. Hibbert. Then they left.", {"Quimby", "Hibbert"}),
        ("They met Caroline in town. Nothing else happened. Bread was cheap.", {"Caroline"}),
    ],
)
def test_a_sentence_ends_at_a_full_stop_but_not_at_an_abbreviation(text: str, names: set[str]) -> None:
    assert {name for name, _ in found(text)} == names
