"""`recollect demo`: the whole loop on a store of its own, which is removed at the end."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

from recollect.core.errors import ExtraMissing
from recollect.interfaces.cli.console import FINE, Console
from recollect.interfaces.cli.demo_material import DECISIONS, copy_source, prompt_event, write_transcripts

_HOOK = (sys.executable, "-m", "recollect.interfaces.hook", "claude-code")
_VIEWS = {"home": "/", "memories": "/memories?kind=decision", "map": "/map"}
_OWN = ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")  # nothing of the person is read or kept


def arguments_demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--panel", action="store_true", help="end in the web panel: take pictures, open a browser")
    parser.add_argument("--pictures", metavar="FOLDER", help="where the pictures go (default: a new folder)")


def run_demo(args: argparse.Namespace, console: Console) -> int:
    if args.panel and find_spec("uvicorn") is None:
        raise ExtraMissing("The panel", package="uvicorn", extra="server")
    with tempfile.TemporaryDirectory(prefix="recollect-demo-") as made:
        demo = Demo(Path(made), console)
        demo.decisions()
        demo.corrections()
        demo.source()
        demo.sessions()
        pictures = (
            demo.panel(Path(args.pictures or tempfile.mkdtemp(prefix="recollect-pictures-"))) if args.panel else []
        )
    if console.json:
        console.value({"commands": demo.count, "failed": demo.failed, "pictures": [str(one) for one in pictures]})
    else:
        console.line()
        console.line("That was Recollect: one file, no server, no key. The store of this demo is removed.")
        console.line("Start your own: `recollect init`, then `recollect install claude-code`.")
    return FINE


class Demo:
    """Runs real commands in a folder of its own and shows them with what they answer."""

    def __init__(self, made: Path, console: Console) -> None:
        self._folder = made / "project"
        self._folder.mkdir()
        self._console = console
        self._env = {**os.environ, **{name: str(made / name.lower()) for name in _OWN}}
        self.count = 0
        self.failed = 0

    def decisions(self) -> None:
        self._title("1. A project learns its decisions")
        self._run("init", "--project", "demo")
        self._run("remember", "--jsonl", "--as-person", given=DECISIONS.read_text(encoding="utf-8"))
        self._run("recall", "why not the sqlite3 module of the standard library?", "-k", "2")

    def corrections(self) -> None:
        self._title("2. Corrections stick, secrets do not")
        self._run("remember", "The API listens on port 8080.", "--kind", "fact", "--as-person")
        self._run("remember", "The API now listens on port 9090.", "--kind", "fact", "--as-person")
        self._run("recall", "API port")
        secret = "ghp_" + "x7K2m9Q4" * 4 + "Zr81"
        self._run("remember", f"CI uses token {secret} for releases.", "--as-person", hidden=secret)

    def source(self) -> None:
        self._title("3. Recollect's own source code: what breaks if I change this?")
        copy_source(self._folder)
        self._run("code", "index", str(self._folder))
        self._run("code", "impact", "src/recollect/recall/score.py")

    def sessions(self) -> None:
        self._title("4. Three sessions meet the same trouble, a person confirms the lesson, the next session is told")
        self._run("observe", *map(str, write_transcripts(self._folder)))
        self._run("review", "--all-confirm", "--as-person")
        self._line("$ recollect-hook claude-code   # as Claude Code calls it when a prompt is sent")
        event = prompt_event("session-4", self._folder, "npm run lint fails, what now?")
        self._call(_HOOK, event, env={"RECOLLECT_ARM": "full"})
        self._run("told")

    def panel(self, folder: Path) -> list[Path]:
        """Pictures of three views where there is a browser, and the panel itself at a terminal."""
        from recollect.interfaces.http.pictures import Chromium, photograph, serving, why_not

        self._title("5. The same memory in the web panel")
        self._line("$ recollect panel")
        missing, made = why_not(), list[Path]()
        if missing:
            self._line(missing)
        else:
            folder.mkdir(parents=True, exist_ok=True)
            with serving(self._folder, self._env) as link, Chromium() as browser:
                made = photograph(browser, link, folder, _VIEWS)
            for file in made:
                self._line(str(file))
        if sys.stdin.isatty() and not self._console.json:
            with serving(self._folder, self._env) as link:
                self._browse(link)
        return made

    def _browse(self, link: str) -> None:
        import webbrowser

        if not webbrowser.open(link):
            self._line(f"Open {link}")
        input("The panel is open in your browser. Press Enter to end the demo. ")

    # --- showing ---------------------------------------------------------------------------------------------------

    def _run(self, *words: str, given: str | None = None, hidden: str = "") -> None:
        shown = shlex.join(word for word in words if word != "--as-person").replace(str(self._folder), ".")
        self._line(f"$ recollect {shown.replace(hidden, '…') if hidden else shown}")
        self._call((sys.executable, "-m", "recollect", *words, "--store", str(self._folder)), given)

    def _call(self, command: tuple[str, ...], given: str | None, env: dict[str, str] | None = None) -> None:
        done = subprocess.run(
            command, input=given, text=True, capture_output=True, env={**self._env, **(env or {})}, check=False
        )
        self.count += 1
        self.failed += done.returncode != 0
        for line in (done.stdout + done.stderr).strip().replace(str(self._folder), ".").splitlines():
            self._line(f"  {line}")

    def _title(self, text: str) -> None:
        self._line()
        self._line(f"\033[1m{text}\033[0m" if sys.stdout.isatty() else text)

    def _line(self, text: str = "") -> None:
        if not self._console.json:
            self._console.line(text)
            sys.stdout.flush()
