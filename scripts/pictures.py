"""Pictures of the panel: `make pictures` makes the four in the README and the docs; `make demo` takes some of its own.

The store is made from this repository: its decisions, documents and source, and three small sessions that stumble over
the same stone. The server is the real one, the browser a real Chromium.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from demo import parts, transcript

import recollect
from recollect.core.scope import Source
from recollect.interfaces.http.app import PANEL_FOLDER

HERE = Path(__file__).resolve().parents[1]
PICTURES = HERE / "docs" / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SIZE = {"width": 1280, "height": 800}
_WAIT_MS = 30_000


def main() -> int:
    missing = why_not()
    if missing:
        print(missing, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="recollect-pictures-") as made:
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):  # nothing of whoever runs it is shown
            os.environ[name] = str(Path(made) / name.lower())
        folder = Path(made) / "recollect"
        folder.mkdir()
        card = fill(folder)
        views = {
            "panel-home": "/",
            "panel-memory": f"/memories/{card}?kind=decision",
            "panel-review": "/review",
            "panel-map": "/map?module=src/recollect/recall/",
        }
        for file in take(folder, PICTURES, views):
            print(f"{file.relative_to(HERE)}: {file.stat().st_size / 1000:.0f} kB")
    return 0


def why_not() -> str:
    """What is missing to take pictures; empty when nothing is."""
    if not any(map(shutil.which, BROWSERS)):
        return "There is no Chromium to take pictures with; scripts/setup.sh installs it where it can."
    if not (PANEL_FOLDER / "index.html").is_file():
        return "The panel is not built: `make panel` does it."
    return ""


def fill(folder: Path) -> str:
    """A store of this repository as it may look after some weeks. The id of one decision is returned."""
    now = datetime.now(UTC)
    moment = [now - timedelta(days=27)]
    with recollect.open(folder, project="recollect", clock=lambda: moment[0]) as memory:
        for page in sorted(HERE.glob("docs/decisions/*.md")):
            for draft in parts(page):
                memory.remember(str(draft["content"]), kind="decision", files=[str(page.relative_to(HERE))])
            moment[0] = min(now, moment[0] + timedelta(hours=22))
        for number in range(1, 4):
            moment[0] = now - timedelta(days=4 - number)
            file = folder.parent / f"session-{number}.jsonl"
            file.write_text(transcript(f"day-{number}", folder), encoding="utf-8")
            memory.observer.replay([file])
        moment[0] = now - timedelta(hours=3)
        memory.remember("The panel listens on port 7737.", kind="fact", tags=["server"])
        memory.remember("The panel listens on port 8080.", kind="fact", source=Source.AGENT_EXPLICIT)
        for words in (
            "Run `make docs` after changing a docstring; the reference is checked.",
            "Tests that open a browser need `make panel` first.",
            "The hook must not import numpy: it would cost every call 80 ms.",
        ):
            memory.remember(words, kind="gotcha", source=Source.AGENT_EXPLICIT, status="candidate", confidence=0.6)
        memory.remember(
            "A pool of connections for the file engine was slower than one writer and readers of their own.",
            kind="dead_end",
            files=["src/recollect/store/sqlite/engine.py"],
        )
        for name in ("docs", "src"):
            ignored = shutil.ignore_patterns("__pycache__", "panel", "pictures")
            shutil.copytree(HERE / name, folder / name, ignore=ignored)
        memory.docs.index([folder / "docs"])
        memory.code.index(folder, passages=False)
        memory.maintenance.backup()
        asked = memory.recall("SQLite file, one driver, apsw", filter=recollect.Filter(kinds="decision"), track=False)
        return str(asked.hits[0].id)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The real server on a store, and the address that opens its panel once."""
    command = [
        sys.executable,
        "-m",
        "recollect",
        "serve",
        "--store",
        str(folder),
        "--port",
        "0",
        "--as-person",
        "--no-tend",
    ]
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["panel"]
    finally:
        process.terminate()
        process.wait(20)


def take(folder: Path, out: Path, views: Mapping[str, str]) -> list[Path]:
    """Start the server, take one picture of each view, stop it."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    made: list[Path] = []
    with served(folder) as link, sync_playwright() as playwright:
        program = next(found for name in BROWSERS if (found := shutil.which(name)))
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport=_SIZE, locale="en-GB", color_scheme="light", reduced_motion="reduce")  # type: ignore[arg-type]
        page.set_default_timeout(_WAIT_MS)
        page.goto(link)
        page.wait_for_selector("main > *:not(.skeleton)")
        root = re.sub(r"/#.*", "", link)
        for name, path in views.items():
            page.goto(root + path)
            page.wait_for_selector("main > *:not(.skeleton)")
            page.wait_for_selector(".skeleton", state="detached")
            page.screenshot(path=out / f"{name}.png")
            made.append(out / f"{name}.png")
        browser.close()
    return made


if __name__ == "__main__":
    sys.exit(main())
