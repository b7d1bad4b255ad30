from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def hooked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project whose hooks log beside it, tell everything, and start no other process."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("RECOLLECT_ARM", "full")
    monkeypatch.setenv("RECOLLECT_HOOK_LEARN", "off")
    for name in ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return root
