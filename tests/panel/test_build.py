"""The panel can be built on other systems than the one its lock file was written on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

LOCK = Path(__file__).resolve().parents[2] / "panel" / "package-lock.json"


@pytest.mark.parametrize("system", ["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64", "win32-x64"])
def test_the_lock_file_names_the_programs_of_every_system(system: str) -> None:
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    for program in ("@rolldown/binding-", "lightningcss-", "@typescript/typescript-"):
        found = [one for name, one in packages.items() if name.startswith(f"node_modules/{program}{system}")]
        assert found, f"{program}{system}"
        assert all(one["optional"] and one["integrity"] for one in found)


def test_every_optional_program_of_the_lock_file_has_the_version_its_owner_asks_for() -> None:
    packages = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    wanted = {
        (name, version)
        for one in packages.values()
        for name, version in one.get("optionalDependencies", {}).items()
        if version[0].isdigit()
    }
    wrong = [
        (name, version)
        for name, version in wanted
        if (found := packages.get(f"node_modules/{name}")) and found["version"] != version
    ]
    assert len(wanted) > 20
    assert wrong == []
