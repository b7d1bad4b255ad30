"""What the demonstrations show: decisions of this project, its own source code as it is installed, and three sessions
of an agent that meet the same trouble."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import recollect

DECISIONS = Path(__file__).with_name("demo.jsonl")
ROOMS = ("core", "graph", "recall", "remember", "store", "tend")  # of the source: enough for a map, quick to read
SESSIONS = 3  # that meet the trouble: the second time it is a lesson


def copy_source(folder: Path, rooms: Iterable[str] = ROOMS) -> None:
    """The source code of the installed package, or of some rooms of it, as a project would have it."""
    installed = Path(recollect.__file__).parent
    for room in rooms:
        target = folder / "src" / "recollect" / room
        shutil.copytree(installed / room, target, ignore=shutil.ignore_patterns("__pycache__"))


def write_transcripts(folder: Path, *, until: datetime | None = None) -> list[Path]:
    """Sessions as Claude Code writes them down, one a day up to yesterday, in `folder`/transcripts."""
    last = (until or datetime.now(UTC)) - timedelta(hours=20)
    target = folder / "transcripts"
    target.mkdir()
    made: list[Path] = []
    for number in range(1, SESSIONS + 1):
        begins = last - timedelta(days=SESSIONS - number)
        made.append(target / f"session-{number}.jsonl")
        made[-1].write_text(transcript(f"session-{number}", folder, begins), encoding="utf-8")
    return made


def transcript(session: str, folder: Path, begins: datetime) -> str:
    """The linter fails, the fixer puts it right, the work goes on."""
    file = str(folder / "src/recollect/recall/reader.py")
    steps: list[tuple[str, dict[str, str], str, bool]] = [
        ("Read", {"file_path": file}, "class Reader: ...", False),
        ("Bash", {"command": "npm run lint"}, "error: script lint exited with code 1", True),
        ("Bash", {"command": "npm run lint:fix"}, "3 files changed", False),
        ("Bash", {"command": "npm run lint"}, "no problems", False),
        ("Edit", {"file_path": file, "old_string": "a", "new_string": "b"}, "ok", False),
        ("Bash", {"command": "pytest tests/recall"}, "41 passed", False),
    ]
    common = {"sessionId": session, "cwd": str(folder), "version": "2.1.0"}
    lines: list[dict[str, object]] = []

    def line(role: str, content: object) -> None:
        at = (begins + timedelta(minutes=len(lines))).isoformat(timespec="seconds")
        body = {"role": role, "content": content}
        lines.append({**common, "type": role, "uuid": f"{session}-{len(lines)}", "timestamp": at, "message": body})

    line("user", f"Make recall faster, part {session[-1]}.")
    for number, (tool, given, answer, is_error) in enumerate(steps):
        call = f"{session}-call-{number}"
        line("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": given}])
        line("user", [{"type": "tool_result", "tool_use_id": call, "content": answer, "is_error": is_error}])
    return "\n".join(map(json.dumps, lines))


def prompt_event(session: str, folder: Path, prompt: str) -> str:
    """A prompt as Claude Code hands it to a hook."""
    event = {"session_id": session, "cwd": str(folder), "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    return json.dumps(event)
