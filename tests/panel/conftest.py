"""One server and one browser for the panel's tests of a worker, closed after them: a running browser holds the thread's
event loop. A fresh page for each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from panel_server import CHROMIUM, PanelServer, serving
from recollect.interfaces.http.app import PANEL_FOLDER

_WAIT_MS = 20_000  # how long a busy machine may take; no claim about speed
expect.set_options(timeout=_WAIT_MS)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium; scripts/setup.sh installs it where it can")
    if not (PANEL_FOLDER / "index.html").is_file():
        pytest.skip("the panel is not built; `make panel` does it")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="package")
def server(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PanelServer]:
    folder: Path = tmp_path_factory.mktemp("panel")
    with serving(folder) as found:
        yield found


@pytest.fixture
def page(browser: Browser, server: PanelServer) -> Iterator[Page]:
    """A page that is logged in. What it reports as wrong fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", reduced_motion="reduce")
    context.set_default_timeout(_WAIT_MS)
    found = context.new_page()
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    server.open(found)
    yield found
    context.close()
    assert wrong == []
