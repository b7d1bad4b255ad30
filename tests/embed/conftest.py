"""Where the real model packs are, for the few tests that run them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Read before any test changes the environment: tests themselves never see the packs of whoever runs them.
_DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
_PACKS = Path(os.environ.get("RECOLLECT_MODELS") or _DATA / "recollect" / "models")


@pytest.fixture(autouse=True)
def no_services(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the keys, servers or packs of whoever runs it."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST", "RECOLLECT_MODELS", "RECOLLECT_EMBED_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def real_packs() -> Path:
    return _PACKS
