"""Pictures of the panel: `make pictures` makes the four in the README and the docs; `make demo` takes some of its own.

The store is made from this repository: its decisions, documents and source, and three small sessions that stumble over
the same stone. The server is the real one, the browser a real Chromium.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from demo import parts

import recollect
from recollect.core.scope import Source
from recollect.interfaces.cli.demo_material import prompt_event, write_transcripts
from recollect.interfaces.http.pictures import take, why_not

HERE = Path(__file__).resolve().parents[1]
PICTURES = HERE / "docs" / "pictures"
_NAMED = re.compile(r"[a-z_]{3,20}(?:/[a-z_0-9]{1,20}){0,4}(?:\.py|/)")  # a file or folder of the source, in a sentence


def main() -> int:
    missing = why_not()
    if missing:
        print(missing, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="recollect-pictures-") as made:
        for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):  # nothing of whoever runs it is shown
            os.environ[name] = str(Path(made) / name.lower())
        folder = Path(made) / "recollect"
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


def fill(folder: Path) -> str:
    """A store of this repository as it may look after some weeks. The id of one decision is returned."""
    now = datetime.now(UTC)
    moment = [now - timedelta(days=27)]
    copy_repository(folder)
    with recollect.open(folder, project="recollect", clock=lambda: moment[0]) as memory:
        for page in sorted(HERE.glob("docs/decisions/*.md")):
            for draft in parts(page):
                words = str(draft["content"])
                memory.remember(words, kind="decision", files=[str(page.relative_to(HERE)), *named_files(words)])
            moment[0] = min(now, moment[0] + timedelta(hours=22))
        moment[0] = now - timedelta(hours=9)
        memory.observer.replay(write_transcripts(folder, until=now))
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
        moment[0] = now
        memory.docs.index([folder / "docs"])
        memory.code.index(folder, passages=False)
        memory.maintenance.backup()
        asked = memory.recall("SQLite file, one driver, apsw", filter=recollect.Filter(kinds="decision"), track=False)
        card = str(asked.hits[0].id)
    for number, prompt in enumerate(("why apsw and not sqlite3?", "which port does the panel listen on?"), start=4):
        tell_agent(f"session-{number}", folder, prompt)
    return card


def copy_repository(folder: Path) -> None:
    """The documents and the source, with their history where this is a checkout: the map shows what changes often."""
    if (HERE / ".git").exists() and shutil.which("git"):
        subprocess.run(["git", "clone", "--quiet", "--depth", "300", f"file://{HERE}", str(folder)], check=True)
        for other in ("tests", "benchmarks", "panel"):
            shutil.rmtree(folder / other)
        return
    for name in ("docs", "src"):
        shutil.copytree(HERE / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "panel"))


def named_files(words: str) -> list[str]:
    """The files of the source that a sentence names; of a folder, the first module."""
    found: list[str] = []
    for name in _NAMED.findall(words):
        path = HERE / "src" / "recollect" / name
        modules = sorted(path.glob("[a-z]*.py")) if path.is_dir() else [path]
        found += [str(one.relative_to(HERE)) for one in modules[:1] if one.is_file()]
    return list(dict.fromkeys(found))


def tell_agent(session: str, folder: Path, prompt: str) -> None:
    """What the hook tells an agent for a prompt, as it happens in a session."""
    hook = [sys.executable, "-m", "recollect.interfaces.hook", "claude-code"]
    env = {**os.environ, "RECOLLECT_ARM": "full"}
    event = prompt_event(session, folder, prompt)
    subprocess.run(hook, input=event, text=True, check=True, env=env, capture_output=True, timeout=60)


if __name__ == "__main__":
    sys.exit(main())
