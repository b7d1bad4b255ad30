"""Pictures are taken with a browser of the machine and nothing else."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from panel_server import KEY, PanelServer
from recollect.core.errors import PictureFailed
from recollect.interfaces.http import pictures
from recollect.interfaces.http.pictures import Chromium, photograph


def test_a_view_becomes_a_picture_of_the_usual_size(server: PanelServer, tmp_path: Path) -> None:
    link = f"{server.url}/#code={server.access.make_code(KEY)}"
    with Chromium() as browser:
        (made,) = photograph(browser, link, tmp_path, {"memories": "/memories"})
    data = made.read_bytes()
    assert data.startswith(b"\x89PNG")
    assert struct.unpack(">II", data[16:24]) == (1280, 800)
    assert len(data) > 30_000  # an empty page is far smaller


def test_a_page_that_never_loads_is_told(server: PanelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_WAIT_SECONDS", 0.3)
    with Chromium() as browser, pytest.raises(PictureFailed, match="did not load"):
        browser.open(f"{server.url}/icon.svg")


def test_what_is_missing_for_a_picture_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no Chromium" in pictures.why_not()
