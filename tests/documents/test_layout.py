from __future__ import annotations

from typing import Any

import pytest

from recollect.core.errors import InvalidField
from recollect.documents.layout import read_layout


def place(path: str, **table: Any) -> tuple[str, str] | None:
    found = read_layout(table).place(path)
    return None if found is None else (found.label, found.type)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("cyberk-flow/specs/auth/spec.md", ("spec", "semantic")),
        ("cyberk-flow/changes/archive/2026-01-login/specs/auth/spec.md", ("delta-spec", "semantic")),
        ("cyberk-flow/changes/archive/x/discovery.md", ("discovery", "semantic")),
        ("cyberk-flow/changes/archive/x/proposal.md", ("proposal", "procedural")),
        ("cyberk-flow/changes/archive/x/tasks.md", ("tasks", "procedural")),
        ("cyberk-flow/changes/archive/x/workflow.md", ("workflow", "procedural")),
        ("cyberk-flow/changes/archive/x/design.md", ("design", "semantic")),
        ("cyberk-flow/changes/archive/x/notes/other.md", ("archive", "semantic")),
        ("cyberk-flow/changes/login/proposal.md", None),
        ("cyberk-flow/knowledge/db.md", ("knowledge", "semantic")),
        ("docs/guide.md", ("doc", "semantic")),
        ("docs/workflow.md", ("doc", "procedural")),
        ("README.md", None),
        ("src/app.md", None),
    ],
)
def test_the_preset_cyberk_flow_is_the_layout_of_the_design(path: str, expected: tuple[str, str] | None) -> None:
    assert place(path, preset="cyberk-flow") == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", ("doc", "semantic")),
        ("packages/a/README.md", ("doc", "semantic")),
        ("docs/notes.txt", ("doc", "semantic")),
        ("docs/adr/0001-db.md", ("decision", "semantic")),
        ("docs/decisions/0001-db.md", ("decision", "semantic")),
        ("specs/login/spec.md", ("spec", "semantic")),
        ("CONTRIBUTING.md", ("workflow", "procedural")),
        ("CHANGELOG.md", ("archive", "semantic")),
        ("cyberk-flow/changes/login/proposal.md", None),
        ("LICENSE.md", None),
        ("requirements.txt", None),
        ("src/main.py", None),
    ],
)
def test_the_usual_preset_makes_sense_of_any_repository(path: str, expected: tuple[str, str] | None) -> None:
    assert place(path) == expected


def test_rules_of_the_user_come_first_and_may_exclude() -> None:
    rules = [{"path": "docs/runbook/", "label": "runbook", "type": "procedural"}, {"path": "docs/generated/**"}]
    assert place("docs/runbook/deep/a.md", rules=rules) == ("runbook", "procedural")
    assert place("docs/generated/a.md", rules=rules) is None
    assert place("docs/a.md", rules=rules) == ("doc", "semantic")


@pytest.mark.parametrize(
    ("table", "field"),
    [
        ({"preset": "other"}, "documents.preset"),
        ({"presets": "other"}, "documents.presets"),
        ({"roots": "docs"}, "documents.roots"),
        ({"rules": ["docs"]}, r"documents.rules\[0\]"),
        ({"rules": [{"label": "x"}]}, r"documents.rules\[0\].path"),
        ({"rules": [{"path": "a", "type": "poem"}]}, r"documents.rules\[0\].type"),
        ({"rules": [{"path": "a", "mood": "x"}]}, r"documents.rules\[0\].mood"),
        ({"rules": [{"path": "!a"}]}, r"documents.rules\[0\].path"),
        ({"ignore": [1]}, r"documents.ignore\[0\]"),
    ],
)
def test_a_wrong_setting_is_named(table: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidField, match=field):
        read_layout(table)
