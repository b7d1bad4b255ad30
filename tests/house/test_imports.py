"""Who may import whom: the contracts of pyproject.toml, and that none of them was dropped."""

from __future__ import annotations

import tomllib
from pathlib import Path

from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
CONTRACTS = {
    "Imports go down only",
    "Rooms never import one another",
    "Doors never import the store",
    "The house never imports its fakes",
}


def test_every_import_contract_is_kept(monkeypatch: object) -> None:
    assert lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_no_import_contract_was_dropped() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert {contract["name"] for contract in settings["tool"]["importlinter"]["contracts"]} >= CONTRACTS
