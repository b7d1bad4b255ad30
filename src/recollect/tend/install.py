"""Regular tending by the system's own scheduler: a line of cron, a systemd timer, a launchd agent. Texts only, except
for the one function that puts them in place; installing twice is the same as once."""

from __future__ import annotations

import shlex
import subprocess
import sys
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal, TypeAlias
from xml.sax.saxutils import escape

from recollect.core.errors import StoreError

Scheduler: TypeAlias = Literal["cron", "systemd", "launchd"]
EVERY = 15  # minutes; what is due is done, so the exact hour matters little
_BUDGET = 600  # seconds a run may take


@dataclass(frozen=True, slots=True)
class Installation:
    """What would be put where, and what has to be run to start it."""

    scheduler: Scheduler
    files: tuple[tuple[Path, str], ...]
    start: tuple[str, ...]
    line: str = ""  # of the crontab


def installation(scheduler: Scheduler, store: Path, *, home: Path, python: str = sys.executable) -> Installation:
    """The files and the command for one store."""
    name = f"recollect-tend-{blake2b(str(store).encode(), digest_size=4).hexdigest()}"
    command = [python, "-P", "-m", "recollect", "tend", "--store", str(store), "--seconds", str(_BUDGET)]
    if scheduler == "cron":
        line = f"*/{EVERY} * * * * {shlex.join(command)} >/dev/null 2>&1  # {name}"
        return Installation("cron", (), ("crontab", "-"), line.replace("%", "\\%"))
    if scheduler == "systemd":
        folder = home / ".config" / "systemd" / "user"
        files = ((folder / f"{name}.service", _service(command)), (folder / f"{name}.timer", _timer()))
        return Installation("systemd", files, ("systemctl", "--user", "enable", "--now", f"{name}.timer"))
    plist = home / "Library" / "LaunchAgents" / f"dev.recollect.{name}.plist"
    return Installation(
        "launchd", ((plist, _plist(f"dev.recollect.{name}", command)),), ("launchctl", "load", str(plist))
    )


def install(plan: Installation) -> None:
    """Put it in place and start it."""
    for path, text in plan.files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    try:
        if plan.scheduler == "cron":
            present = subprocess.run(["crontab", "-l"], capture_output=True, text=True, check=False).stdout
            subprocess.run(plan.start, input=with_line(present, plan.line), text=True, check=True, capture_output=True)
        else:
            subprocess.run(plan.start, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        raise StoreError(
            f"{plan.scheduler} did not take it: {str(said).strip()}.", hint=f"Run it yourself: {shlex.join(plan.start)}"
        ) from None


def with_line(crontab: str, line: str) -> str:
    """A crontab with our line once, whatever it held of it before."""
    mark = line.rpartition("# ")[2]
    kept = [one for one in crontab.splitlines() if not one.endswith(f"# {mark}")]
    return "\n".join([*kept, line]) + "\n"


def _service(command: list[str]) -> str:
    return (
        "[Unit]\nDescription=Recollect: tend the memory\n\n[Service]\nType=oneshot\nNice=10\n"
        f"ExecStart={' '.join(_quoted(word) for word in command)}\n"
    )


def _quoted(word: str) -> str:
    safe = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{safe}"'


def _timer() -> str:
    return (
        "[Unit]\nDescription=Recollect: tend the memory now and then\n\n[Timer]\n"
        f"OnCalendar=*:0/{EVERY}\nPersistent=true\nRandomizedDelaySec=60\n\n[Install]\nWantedBy=timers.target\n"
    )


def _plist(label: str, command: list[str]) -> str:
    words = "\n".join(f"    <string>{escape(word)}</string>" for word in command)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n'
        '<plist version="1.0"><dict>\n'
        f"  <key>Label</key><string>{escape(label)}</string>\n"
        f"  <key>ProgramArguments</key><array>\n{words}\n  </array>\n"
        f"  <key>StartInterval</key><integer>{EVERY * 60}</integer>\n"
        "  <key>LowPriorityIO</key><true/>\n</dict></plist>\n"
    )
