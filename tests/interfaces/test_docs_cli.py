from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.interfaces.cli import main


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    (root / "docs/guide.md").write_text("# Guide\n\nInstall the wheel with pip.\n\n[gone](gone.md)\n")
    (root / "docs/api.md").write_text("# API\n\nThe wheel has an API. See [guide](guide.md).\n")
    monkeypatch.chdir(root)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    assert main(["init"]) == 0
    return root


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_index_search_related_list_gc_and_check_speak_json(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    indexed = asked(capsys, "docs", "index")
    assert (indexed["added"], indexed["skipped"]) == (2, [])
    found = asked(capsys, "docs", "search", "install", "wheel", "--max-chunks-per-doc", "2")
    assert found["matches"][0]["document"]["path"] == "docs/guide.md"
    assert {"score", "relevance", "confidence", "rank"} <= set(found["matches"][0])
    related = asked(capsys, "docs", "related", "docs/guide.md")
    assert [one["document"]["path"] for one in related] == ["docs/api.md"]
    assert [one["access_count"] for one in asked(capsys, "docs", "list", "--label", "doc")] == [1, 1]
    assert asked(capsys, "docs", "gc", "--dry-run")["stale"] == []
    checked = asked(capsys, "docs", "check")
    assert checked["broken"] == [{"path": "docs/guide.md", "line": 5, "target": "gone.md", "problem": "leads nowhere"}]


def test_people_are_told_in_lines(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "docs/bad.md").write_bytes(b"\0")
    assert main(["docs", "index", "docs"]) == 0
    told = capsys.readouterr().out
    assert "2 added, 0 updated, 0 removed, 0 unchanged." in told
    assert "skipped docs/bad.md: binary" in told
    assert main(["docs", "search", "wheel", "--explain", "--no-track"]) == 0
    assert "docs/guide.md:1-5" in capsys.readouterr().out
    assert main(["docs", "search", "nothing like this"]) == 0
    assert main(["docs", "related", "docs/api.md"]) == 0
    assert main(["docs", "list"]) == 0
    assert main(["docs", "gc"]) == 0


def test_check_says_by_its_exit_code_that_something_was_found(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["docs", "index"])
    assert main(["docs", "check"]) == 1
    (project / "docs/gone.md").write_text("# Gone\n\nBack.\n")
    main(["docs", "index"])
    assert main(["docs", "check"]) == 0
    change = project / "cyberk-flow/changes/x/specs/auth/spec.md"
    spec = project / "cyberk-flow/specs/auth/spec.md"
    for file, text in ((change, "must not"), (spec, "must")):
        file.parent.mkdir(parents=True)
        file.write_text(f"## ADDED Requirements\n\n### Requirement: {text}\nThe client {text} retry a login.\n")
    assert main(["docs", "check", "x"]) == 1
    assert "reject" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["docs", "index", "nowhere"], 3),
        (["docs", "related", "nothing.md"], 3),
        (["docs", "check", "nothing"], 3),
        (["docs", "search", "x", "--mode", "psychic"], 2),
        (["docs", "search", "x", "--limit", "0"], 2),
        (["docs", "check", "--between", "a.md", "b.md"], 3),
    ],
)
def test_user_errors_have_their_exit_codes(project: Path, words: list[str], code: int) -> None:
    assert main(words) == code


def test_a_search_shows_a_document_once_unless_told_so(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = "".join(f"## Part {n}\n\nThe granite wheel number {n} turns granite into dust.\n\n" for n in range(5))
    (project / "docs/long.md").write_text(f"# Long\n\n{parts}")
    asked(capsys, "docs", "index")

    def times(*words: str) -> int:
        found = asked(capsys, "docs", "search", "granite", "wheel", "dust", *words)["matches"]
        return sum(one["document"]["path"] == "docs/long.md" for one in found)

    assert times("--max-chunks-per-doc", "1") == 1
    assert times("--no-dedupe") == 5
