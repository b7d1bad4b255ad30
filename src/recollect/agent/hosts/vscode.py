"""VS Code with Copilot: the server, hooks, and instructions, because a prompt takes no context there. Calls its servers
`servers`, and lists hooks below their events without groups."""

from __future__ import annotations

from pathlib import Path

from recollect.agent.hosts.hooks import SECONDS
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.plugin import text
from recollect.agent.hosts.rules import rules
from recollect.agent.hosts.wishes import Members, Whole, Wish

_EVENTS = "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop".split()
_HEAD = '---\ndescription: Long-term memory\napplyTo: "**"\n---\n\n'


def wishes(place: Place) -> list[Wish]:
    hook = {"type": "command", "command": place.line("vscode"), "timeout": SECONDS}
    hooks = {"hooks": {event: [hook] for event in _EVENTS}}
    server = {"type": "stdio", "command": place.recollect, "args": ["mcp"]}
    if place.scope == "project":
        servers = place.project / ".vscode" / "mcp.json"
        hooked = place.project / ".github" / "hooks" / "recollect.json"
        told = place.project / ".github" / "instructions" / "recollect.instructions.md"
    else:
        profile = _profile(place)
        servers = profile / "mcp.json"
        hooked = place.home / ".copilot" / "hooks" / "recollect.json"
        told = profile / "prompts" / "recollect.instructions.md"
    return [
        Members(servers, members=((("servers", "recollect"), server),)),
        Whole(hooked, text(hooks)),
        Whole(told, _HEAD + rules()),
    ]


def hints(place: Place) -> list[str]:
    told = ["Start the server `recollect` once from the MCP view; VS Code asks whether you trust it."]
    if place.scope == "project":
        told.append("The new files name programs of this machine: keep them out of version control.")
    return told


def _profile(place: Place) -> Path:
    portable = place.environment.get("VSCODE_PORTABLE")
    if portable:
        return Path(portable) / "user-data" / "User"
    if place.platform == "win32":
        return place.folder("APPDATA", "AppData/Roaming") / "Code" / "User"
    if place.platform == "darwin":
        return place.home / "Library" / "Application Support" / "Code" / "User"
    return place.folder("XDG_CONFIG_HOME", ".config") / "Code" / "User"
