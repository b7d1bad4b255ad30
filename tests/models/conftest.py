"""Where the real model packs are, and that no test sees the keys or servers of whoever runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Read before any test changes the environment.
_DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
_PACKS = Path(os.environ.get("RECOLLECT_MODELS") or _DATA / "recollect" / "models")


@pytest.fixture(autouse=True)
def no_services(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COHERE_API_KEY", "CO_API_KEY", "OLLAMA_HOST", "RECOLLECT_MODELS", "RECOLLECT_RERANK_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def real_packs() -> Path:
    return _PACKS
