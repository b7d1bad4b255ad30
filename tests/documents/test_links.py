from __future__ import annotations

import pytest

from recollect.documents.links import Catalogue, Resolved, edges, resolve_all
from recollect.documents.parse import Reference, parse

PATHS = frozenset(
    {
        "README.md",
        "docs/guide/index.md",
        "docs/guide/install.md",
        "docs/guide/My Notes.md",
        "docs/config/build-options.md",
        "cyberk-flow/specs/auth/spec.md",
        "cyberk-flow/specs/users/spec.md",
        "notes/install.md",
    }
)
CATALOGUE = Catalogue(PATHS, former={"docs/old.md": "docs/guide/install.md"}, specs="cyberk-flow/specs")


def references(text: str) -> list[tuple[str, str, int]]:
    return [(reference.kind, reference.target, reference.line) for reference in parse(text).references]


def fate(target: str, source: str = "docs/guide/index.md", kind: str = "link") -> tuple[str, str | None]:
    one = resolve_all([Reference(target, kind, 0)], source, CATALOGUE, exists={"docs/img/a.png": True})[0]  # type: ignore[arg-type]
    return one.fate, one.target


def test_every_form_of_link_is_found_with_its_line() -> None:
    text = (
        "# T\n\nSee [a](a.md) and\n[b][ref] and [c] and <d.md>.\n\n![i](i.png) [[Wiki Page|alias]] and [[Other#part]]"
        "\n\nAlso specs/auth here.\n\nRefs: auth, users\n\n<a href=\"e.md\">e</a>\n\n[ref]: b.md 'title'\n[c]: c.md\n"
    )
    assert references(text) == [
        ("link", "a.md", 2),
        ("link", "b.md", 3),
        ("link", "c.md", 3),
        ("image", "i.png", 5),
        ("wiki", "Wiki Page", 5),
        ("wiki", "Other", 5),
        ("spec", "auth", 7),
        ("refs", "auth", 9),
        ("refs", "users", 9),
        ("link", "e.md", 11),
    ]


def test_code_holds_no_links() -> None:
    assert references("`[a](a.md)` and `[[b]]` and `specs/x`\n\n```\n[c](c.md)\n```\n\n    [d](d.md)\n") == []


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("install.md", ("document", "docs/guide/install.md")),
        ("./install", ("document", "docs/guide/install.md")),
        ("install#step-2", ("document", "docs/guide/install.md")),
        ("install.html?x=1", ("document", "docs/guide/install.md")),
        ("../config/build-options.md#a", ("document", "docs/config/build-options.md")),
        ("/config/build-options", ("document", "docs/config/build-options.md")),
        ("/docs/config/build-options.md", ("document", "docs/config/build-options.md")),
        ("../../README.md", ("document", "README.md")),
        ("My%20Notes.md", ("document", "docs/guide/My Notes.md")),
        ("cyberk-flow/specs/auth/spec.md", ("document", "cyberk-flow/specs/auth/spec.md")),
        ("../guide/", ("self", "docs/guide/index.md")),
        ("../old.md", ("moved", "docs/guide/install.md")),
        ("../img/a.png", ("file", None)),
        ("https://example.org/a.md", ("external", None)),
        ("mailto:a@b.c", ("external", None)),
        ("//cdn.example.org/x", ("external", None)),
        ("#anchor", ("self", None)),
        ("", ("self", None)),
        ("../../../etc/passwd", ("outside", None)),
        ("nothing.md", ("broken", None)),
        ("{{ template }}", ("external", None)),
    ],
)
def test_a_link_comes_to_what_it_names(target: str, expected: tuple[str, str | None]) -> None:
    assert fate(target) == expected


def test_wiki_links_go_to_the_nearest_document_of_that_name() -> None:
    assert fate("install", kind="wiki") == ("document", "docs/guide/install.md")
    assert fate("install", "notes/x.md", kind="wiki") == ("document", "notes/install.md")
    assert fate("my notes", kind="wiki") == ("document", "docs/guide/My Notes.md")
    assert fate("nobody", kind="wiki") == ("broken", None)


def test_bare_specs_and_refs_name_specs() -> None:
    assert fate("auth", kind="spec") == ("document", "cyberk-flow/specs/auth/spec.md")
    assert fate("users", kind="refs") == ("document", "cyberk-flow/specs/users/spec.md")
    assert fate("auth", "cyberk-flow/specs/auth/spec.md", kind="spec")[0] == "self"
    assert fate("nothing", kind="spec") == ("broken", None)
    assert fate("whatever", kind="refs") == ("external", None)


def test_edges_are_unique_and_never_to_oneself() -> None:
    link = Reference("x", "link", 0)
    found = [Resolved(link, "document", "b"), Resolved(link, "document", "b"), Resolved(link, "self", "a")]
    assert edges({"a": found}) == {("a", "b")}
