"""Gemini CLI: an extension for the person, hooks and server in the project's settings for a project. Its timeouts are
in milliseconds. `PreCompress` fires on every turn and `BeforeTool` cannot add context, so neither is asked for."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from recollect.agent.hosts.hooks import SECONDS, groups
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.plugin import text
from recollect.agent.hosts.wishes import Members, Trace, Whole, Wish

_EVENTS = "SessionStart BeforeAgent AfterTool AfterAgent SessionEnd".split()


def wishes(place: Place) -> list[Wish]:
    server = {"command": place.recollect, "args": ["mcp"]}
    hooks = groups(_EVENTS, _hook(place), matcher="*")
    if place.scope == "project":
        items = tuple((("hooks", event), group[0]) for event, group in hooks.items())
        settings = place.project / ".gemini" / "settings.json"
        approved = Trace(_home(place) / "trusted_hooks.json", (str(place.project),), lines=True)
        return [Members(settings, members=((("mcpServers", "recollect"), server),), items=items), approved]
    folder = _home(place) / "extensions" / "recollect"
    about = {"name": "recollect", "version": place.version, "mcpServers": {"recollect": server}}
    return [
        Whole(folder / "gemini-extension.json", text(about)),
        Whole(folder / "hooks" / "hooks.json", text({"hooks": hooks})),
    ]


def hints(place: Place) -> list[str]:
    told = ["`gemini extensions list` shows us."] if place.scope == "user" else []
    return [*told, "Gemini CLI runs hooks only in folders it trusts; it asks the first time."]


def _home(place: Place) -> Path:
    return place.folder("GEMINI_CLI_HOME", ".") / ".gemini"


def _hook(place: Place) -> dict[str, Any]:
    return {"type": "command", "name": "recollect", "command": _line(place), "timeout": SECONDS * 1000}


def _line(place: Place) -> str:
    """Look for the program first, then put it in the shell's place.

    Gemini CLI stops the agent at any exit code above 1, such as a shell's for a program that is gone, and ends a hook
    that hangs by ending the shell.
    """
    plain = place.line("gemini")
    return plain if place.platform == "win32" else f"[ -x {shlex.quote(place.hook)} ] || exit 0; exec {plain}"
