"""What an installation leaves in the files of each host, as approved, and what `doctor` says of it in each state."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.hosts.test_install import AT, BOTH, lived_in, put, target, tree
from approval import approve
from recollect.agent.hosts import check
from recollect.agent.hosts.catalog import HOSTS
from recollect.agent.hosts.check import check_host
from recollect.agent.hosts.install import plan_install, plan_uninstall, record_path, uninstall
from recollect.agent.hosts.target import InstallTarget

__all__ = ["target"]  # the fixture


@pytest.mark.parametrize(("host", "scope"), BOTH)
def test_an_installation_leaves_the_approved_files(target: InstallTarget, host: str, scope: Any) -> None:
    target = replace(target, scope=scope)
    lived_in(target)
    before = tree(target)
    done = put(host, target)
    root = target.home.parent
    after = {
        path.removeprefix(f"{root}/"): (data or b"").decode()
        for path, data in tree(target).items()
        if data is not None and before.get(path) != data
    }
    value = {
        "files": {path: text.replace(str(root), "ROOT").splitlines() for path, text in after.items()},
        "told": [str(one).replace(str(root), "ROOT") for one in getattr(done, "notes", ())],
        "doctor": str(check_host(host, target)).replace(str(root), "ROOT"),
    }
    approve(f"host-{host}-{scope}", value)


@pytest.mark.parametrize("host", HOSTS)
def test_doctor_tells_an_installation_that_is_absent_current_outdated_broken_or_without_its_hook(
    target: InstallTarget, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_codex_trust", lambda target: ([], []))
    assert check_host(host, target) is None
    put(host, target)
    current = check_host(host, target)
    assert current is not None
    assert (current.host, current.scope, current.facts[0], current.worries) == (host, "user", "current", ())
    newer = check_host(
        host, replace(target, version="9.9.9", recollect="/elsewhere/recollect", hook="/elsewhere/recollect-hook")
    )
    assert newer is not None
    assert newer.facts[0] == "outdated"
    assert f"`recollect install {host}`" in newer.worries[0]
    (target.home.parent / "bin" / "recollect-hook").chmod(0o644)
    gone = check_host(host, target)
    assert gone is not None
    assert [worry for worry in gone.worries if "recollect-hook is gone or cannot be started" in worry]
    uninstall(plan_uninstall(host, target), target, at=AT)
    assert check_host(host, target) is None


def test_a_broken_settings_file_is_told_with_the_command_that_names_it(target: InstallTarget) -> None:
    target = replace(target, scope="project")
    put("gemini", target)
    for change in plan_install("gemini", target).changes:
        if change.path.suffix == ".json":
            change.path.write_text('{"half": ')
    report = check_host("gemini", target)
    assert report is not None
    assert report.facts[0] == "broken"
    assert report.worries[0] == (
        "gemini: a settings file cannot be read. `recollect install gemini --project` names it."
    )


@pytest.mark.parametrize(
    ("hooks", "facts", "waits"),
    [
        (None, "trust unknown: codex did not say", False),
        ([], "0 of 0 hooks trusted", True),
        ([{"command": "/x/recollect-hook codex", "trustStatus": "trusted"}], "1 of 1 hooks trusted", False),
        ([{"command": "/x/recollect-hook codex", "trustStatus": "managed"}], "1 of 1 hooks trusted", False),
        ([{"command": "/x/recollect-hook codex", "trustStatus": "untrusted"}], "0 of 1 hooks trusted", True),
        ([{"command": "say done", "trustStatus": "trusted"}], "0 of 0 hooks trusted", True),
    ],
)
def test_hooks_that_codex_does_not_trust_yet_are_a_worry(
    target: InstallTarget, monkeypatch: pytest.MonkeyPatch, hooks: list[dict[str, str]] | None, facts: str, waits: bool
) -> None:
    codex = target.home.parent / "bin" / "codex"
    assert check._codex_trust(target) == (["trust unknown: no codex on the path"], [])
    codex.write_text("#!/bin/sh\n")
    codex.chmod(0o755)
    monkeypatch.setattr(check, "codex_hooks", lambda program, asked: hooks)
    told, worries = check._codex_trust(target)
    assert told == [facts]
    assert bool(worries) is waits


def test_installations_in_two_projects_are_recorded_apart_and_a_persons_own_once(target: InstallTarget) -> None:
    here, there = (replace(target, project=target.home.parent / name) for name in ("project", "other"))
    assert record_path(here, "cursor") == record_path(there, "cursor")
    paths = {record_path(replace(one, scope="project"), "cursor") for one in (here, there)}
    assert len(paths | {record_path(here, "cursor")}) == 3
    assert record_path(here, "cursor") != record_path(here, "gemini")
