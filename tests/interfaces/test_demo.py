"""`recollect demo` shows the whole loop on a store of its own and leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from recollect.core.kinds import Kind
from recollect.interfaces.cli.demo_material import DECISIONS


def test_every_command_of_the_demo_works_and_nothing_of_it_stays(tmp_path: Path) -> None:
    temporary, home = tmp_path / "temporary", tmp_path / "home"
    temporary.mkdir()
    home.mkdir()
    env = {**os.environ, "TMPDIR": str(temporary), "HOME": str(home)}
    env = {name: value for name, value in env.items() if not name.startswith("XDG_")}
    command = [sys.executable, "-m", "recollect", "demo"]
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=home, check=False)
    assert done.returncode == 0, done.stderr
    assert "Remembered, superseding" in done.stdout
    assert "1 learnt" in done.stdout
    assert "told the agent 1 memory: When `npm run lint` fails" in done.stdout
    assert "recollect:" not in done.stdout  # how an error begins
    assert [*temporary.iterdir(), *home.rglob("*")] == []


def test_what_the_demo_teaches_is_about_files_that_exist() -> None:
    package = Path(sys.modules["recollect"].__file__ or "").parents[1]
    drafts = [json.loads(line) for line in DECISIONS.read_text(encoding="utf-8").splitlines()]
    assert len(drafts) >= 12
    assert {draft["kind"] for draft in drafts} <= set(Kind)
    files = {file.removeprefix("src/") for draft in drafts for file in draft["files"]}
    assert [file for file in sorted(files) if not (package / file).is_file()] == []
