from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.errors import ChangeNotFound, DocumentNotFound, OutsideProject, UnknownChoice
from recollect.documents.check import read_requirements, split_sentences

SPEC = """# Auth

## Requirements

### Requirement: Session length
A session must end after 30 minutes without use.

#### Scenario: idle
- WHEN nothing happens
- THEN never mind

### Requirement: Retry
The client must retry a failed login.

### Requirement: Passwords
Passwords must have at least 12 characters.
"""
DELTA = """# Delta

## ADDED Requirements

### Requirement: No retry
The client must not retry a failed login.

### Requirement: Colours
The login page uses the colours of the brand.

## MODIFIED Requirements

### Requirement: Session length
A session must end after 4 hours without use.

## REMOVED Requirements

### Requirement: Passwords
Gone.
"""


@pytest.fixture
def memory(tmp_path: Path, clock: Any) -> Iterator[Recollect]:
    put(tmp_path, "cyberk-flow/specs/auth/spec.md", SPEC)
    put(tmp_path, "cyberk-flow/changes/login/specs/auth/spec.md", DELTA)
    with recollect.open(tmp_path, project="test", clock=clock, settings=Settings(embedder="none")) as opened:
        yield opened


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def test_requirements_are_read_with_their_operation_and_without_scenarios() -> None:
    found = read_requirements(DELTA)
    assert [(one.name, one.operation, one.line) for one in found] == [
        ("No retry", "added", 5),
        ("Colours", "added", 8),
        ("Session length", "modified", 13),
        ("Passwords", "removed", 18),
    ]
    assert read_requirements(SPEC)[0].text == "A session must end after 30 minutes without use."


def test_a_spec_without_requirement_headings_is_read_by_sentences() -> None:
    found = read_requirements(
        "# Plain\n\nThe client must log in. It is green.\n\n- Users may leave.\n\n```\nmust not count\n```\n"
    )
    assert [one.text for one in found] == ["The client must log in.", "Users may leave."]
    assert split_sentences("One. Two!\n\n- three") == ["One.", "Two!", "three"]


@pytest.mark.parametrize("name", ["login", "cyberk-flow/changes/login"])
def test_what_a_change_adds_against_what_holds_is_found(memory: Recollect, name: str) -> None:
    checked = memory.docs.check(name)
    assert not checked.ok
    assert [(conflict.claim.name, conflict.known.name, conflict.judgement.level) for conflict in checked.conflicts] == [
        ("No retry", "Retry", "reject")
    ]
    where = checked.conflicts[0]
    assert (where.claim.path, where.claim.line) == ("cyberk-flow/changes/login/specs/auth/spec.md", 5)
    assert (where.known.path, where.known.line) == ("cyberk-flow/specs/auth/spec.md", 12)
    assert checked.pairs == 3  # what is modified or removed no longer holds


def test_without_a_change_all_that_are_under_way_are_checked(memory: Recollect, tmp_path: Path) -> None:
    put(tmp_path, "cyberk-flow/changes/archive/old/specs/auth/spec.md", DELTA)
    assert [conflict.claim.name for conflict in memory.docs.check().conflicts] == ["No retry"]


def test_a_name_that_is_taken_is_a_conflict(memory: Recollect, tmp_path: Path) -> None:
    text = "## ADDED Requirements\n\n### Requirement: retry\nThe client must retry a failed login.\n"
    put(tmp_path, "cyberk-flow/changes/again/specs/auth/spec.md", text)
    assert memory.docs.check("again").conflicts[0].judgement.reasons[0] == "added under a name that is taken"


def test_a_harmless_change_passes_and_a_new_spec_is_noted(memory: Recollect, tmp_path: Path) -> None:
    put(
        tmp_path,
        "cyberk-flow/changes/fine/specs/colour/spec.md",
        "## ADDED Requirements\n\n### Requirement: A\nBlue.\n",
    )
    checked = memory.docs.check("fine")
    assert checked.ok
    assert "a new spec" in checked.notes[0]


def test_the_detector_can_be_chosen(memory: Recollect) -> None:
    assert memory.docs.check("login", detector="lexical").pairs == 3
    with pytest.raises(UnknownChoice, match="detector"):
        memory.docs.check("login", detector="oracle")


def test_any_documents_can_be_held_against_each_other(memory: Recollect, tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md", "# A\n\nUploads must not exceed 10 MB. Logs are kept.\n")
    put(tmp_path, "docs/b.md", "# B\n\nIntro.\n\nUploads must not exceed 2 GB.\n")
    checked = memory.docs.check(between=["docs/a.md", "docs/b.md"])
    assert [(conflict.claim.line, conflict.known.line) for conflict in checked.conflicts] == [(3, 5)]
    with pytest.raises(DocumentNotFound):
        memory.docs.check(between=["docs/a.md", "docs/none.md"])


def test_a_change_that_is_not_there_is_an_error(memory: Recollect) -> None:
    with pytest.raises(ChangeNotFound, match="nothing"):
        memory.docs.check("nothing")


def test_an_unreadable_delta_is_noted_and_the_rest_is_checked(memory: Recollect, tmp_path: Path) -> None:
    put(tmp_path, "cyberk-flow/specs/bad/spec.md", SPEC)
    put(tmp_path, "cyberk-flow/changes/login/specs/bad/spec.md", "")
    (tmp_path / "cyberk-flow/changes/login/specs/bad/spec.md").write_bytes(b"\xff\xfe\0")
    checked = memory.docs.check("login")
    assert "binary" in checked.notes[0]
    assert len(checked.conflicts) == 1


def test_links_that_lead_nowhere_are_listed_with_their_line(memory: Recollect, tmp_path: Path) -> None:
    put(
        tmp_path,
        "docs/a.md",
        "# A\n\n[ok](b.md) [no](c.md)\n\n![i](i.png) [[nowhere]]\n\n[out](../../x.md) [f](../x.py)\n",
    )
    put(tmp_path, "docs/b.md", "# B\n\n[web](https://example.org) [self](#b)\n")
    put(tmp_path, "x.py", "")
    memory.docs.index([tmp_path / "docs"])
    checked = memory.docs.check()
    assert [(one.line, one.target, one.problem) for one in checked.broken] == [
        (3, "c.md", "leads nowhere"),
        (5, "i.png", "leads nowhere"),
        (5, "nowhere", "leads nowhere"),
        (7, "../../x.md", "leads out of the root"),
    ]


@pytest.mark.parametrize("given", ["{outside}", "../outside", "cyberk-flow/changes/away"])
def test_a_change_outside_the_project_is_refused(memory: Recollect, tmp_path: Path, given: str) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-outside")
    put(outside, "specs/auth/spec.md", DELTA)
    (tmp_path / "cyberk-flow/changes/away").symlink_to(outside)
    name = given.format(outside=outside).replace("../outside", f"../{outside.name}")
    with pytest.raises(OutsideProject):
        memory.docs.check(name)
    with pytest.raises(OutsideProject):
        memory.docs.check(between=[f"../{outside.name}/specs/auth/spec.md", "cyberk-flow/specs/auth/spec.md"])


def test_specs_behind_a_link_out_of_the_project_are_not_read(memory: Recollect, tmp_path: Path) -> None:
    outside = tmp_path.with_name(f"{tmp_path.name}-specs")
    (tmp_path / "cyberk-flow/specs").rename(outside)
    (tmp_path / "cyberk-flow/specs").symlink_to(outside)
    checked = memory.docs.check("login")
    assert checked.conflicts == ()
    assert "a link out of the project" in checked.notes[0]
