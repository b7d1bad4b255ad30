"""One run of one real client with Recollect installed: a home and a project of its own, the fake model, and a hook
that is the real one or one that echoes, hangs or crashes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosts.clients import CACHE, Client, Run
from hosts.model import FakeModel

PROMPT = "How do we deploy the harbour service?"
COMMANDS = ["echo alpha-output", "cat ops/quay.py", "echo omega-output"]
_STRANGE = {
    "echo": """
event = payload.get("hook_event_name", "")
print(json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": "HEARD-" + event}}))
""",
    "hang": "import time\ntime.sleep(3600)\n",
    "crash": 'print("this is { not json")\nraise RuntimeError("as a bug would")\n',
    "flood": 'sys.stdout.write("x" * 2_000_000)\n',
}


@dataclass(slots=True)
class Scene:
    """Where everything of one run lies."""

    client: Client
    root: Path
    run: Run | None = None
    model: FakeModel | None = None

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def heard(self) -> list[dict[str, Any]]:
        """What the echoing hook was told, in order."""
        log = self.root / "bin" / "heard.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []

    def environment(self) -> dict[str, str]:
        """What `recollect` itself is run with: the home of the scene, and the client's own variables."""
        path = f"{self.client.path().parent}{os.pathsep}{os.environ['PATH']}"
        base = {"PATH": path, "HOME": str(self.home), "XDG_DATA_HOME": str(self.home / ".local/share")}
        return {**base, **self.client.settings(self.home, 1)}

    def recollect(self, *words: str) -> Any:
        """The real command line, as JSON."""
        program = Path(sys.executable).parent / "recollect"
        done = subprocess.run(
            [str(program), "--json", *words],
            cwd=self.project,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)

    def install(self, *options: str, strange: str = "") -> None:
        """Through the real command; then, for a strange hook, the real one is replaced where the host will find it."""
        self.recollect("install", self.client.host, *options)
        if strange:
            self._replace(strange)

    def ask(self, prompt: str = PROMPT, commands: list[str] | None = None) -> None:
        with FakeModel(COMMANDS if commands is None else commands) as model:
            self.model = model
            self.run = self.client.run(prompt, home=self.home, project=self.project, port=model.port)

    def turns(self) -> list[str]:
        """What the model was sent, one text per call of the agent."""
        assert self.model is not None
        return [json.dumps(body, ensure_ascii=False) for body in self.model.turns()]

    def files(self) -> dict[str, bytes]:
        """Every file of the home and the project, apart from our own data and the project's memory."""
        return {
            str(path.relative_to(self.root)): path.read_bytes()
            for folder in (self.home, self.project)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "/share/recollect/" not in str(path) and "/.recollect/" not in str(path)
        }

    def left_over(self) -> list[int]:
        """Strange hooks that are still running."""
        pids = [int(one.name) for one in (self.root / "bin").glob("[0-9]*")]
        return [pid for pid in pids if _is_running(pid)]

    def _replace(self, strange: str) -> None:
        folder = self.root / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "recollect-hook"
        if strange != "missing":
            program.write_text(
                f"#!{sys.executable}\nimport json, os, sys\nfolder = os.path.dirname(os.path.abspath(__file__))\n"
                "open(os.path.join(folder, str(os.getpid())), 'w').close()\n"
                "payload = json.load(sys.stdin)\n"
                "with open(os.path.join(folder, 'heard.jsonl'), 'a') as log:\n"
                "    log.write(json.dumps(payload) + '\\n')\n" + _STRANGE[strange],
                encoding="utf-8",
            )
            program.chmod(0o755)
        real = str(Path(sys.executable).parent / "recollect-hook")
        for path in [*self.home.rglob("*.json"), *self.home.rglob("recollect.js")]:
            text = path.read_text(encoding="utf-8", errors="replace")
            if real in text and "/installed/" not in str(path):
                path.write_text(text.replace(real, str(program)), encoding="utf-8")


@contextmanager
def scene(client: Client) -> Iterator[Scene]:
    """A fresh home and project. Not below the system's temporary folder: Codex refuses to live there."""
    (CACHE / "scenes").mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix=f"{client.host}-", dir=CACHE / "scenes"))
    made = Scene(client, root)
    made.home.mkdir()
    (made.project / "ops").mkdir(parents=True)
    (made.project / "ops" / "quay.py").write_text("PORT = 8080\n", encoding="utf-8")
    subprocess.run(["git", "init", "-q", str(made.project)], check=True)
    client.settings(made.home, 1)
    try:
        yield made
    finally:
        for pid in made.left_over():
            os.kill(pid, signal.SIGKILL)
        if not os.environ.get("RECOLLECT_HOSTS_KEEP"):
            shutil.rmtree(root, ignore_errors=True)


def _is_running(pid: int) -> bool:
    try:
        return b"recollect-hook" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
