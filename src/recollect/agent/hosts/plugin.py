"""One folder that is a marketplace with one plugin in it, for Claude Code and for Codex alike: the hooks of each in
its own form, and the server they share. Rendered below our data; hosts are only told where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.agent.hosts.hooks import SECONDS, groups
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.wishes import Whole

MARKETPLACE, PLUGIN = "recollect-local", "recollect"
IDENTITY = f"{PLUGIN}@{MARKETPLACE}"
_CLAUDE = (
    "SessionStart UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PostToolBatch PreCompact Stop SessionEnd"
).split()
CODEX_EVENTS = "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact Stop SessionEnd".split()
_ABOUT = "Long-term memory: what was decided, learnt and broken before, when it matters."


def marketplace(place: Place) -> Path:
    return place.data / "marketplace"


def rendered(place: Place) -> list[Whole]:
    """The marketplace as files."""
    root = marketplace(place)
    listing = {
        "name": MARKETPLACE,
        "owner": {"name": "Recollect"},
        "plugins": [{"name": PLUGIN, "source": f"./plugins/{PLUGIN}", "description": _ABOUT}],
    }
    inside = [(f"plugins/{PLUGIN}/{name}", content) for name, content in contents(place)]
    return [Whole(root / name, text(one)) for name, one in [(".claude-plugin/marketplace.json", listing), *inside]]


def contents(place: Place) -> list[tuple[str, dict[str, Any]]]:
    """The plugin's own files. Claude Code starts a program with arguments; Codex takes one line."""
    about = {"name": PLUGIN, "version": place.version, "description": _ABOUT, "license": "Apache-2.0"}
    claude = {"type": "command", "command": place.hook, "args": ["claude-code"], "timeout": SECONDS}
    codex = codex_hook(place)
    server = {"command": place.recollect, "args": ["mcp"]}
    return [
        (".claude-plugin/plugin.json", {**about, "author": {"name": "Recollect"}}),
        (".codex-plugin/plugin.json", {**about, "mcpServers": "./.mcp.json", "hooks": "./hooks/codex-hooks.json"}),
        (".mcp.json", {"mcpServers": {"recollect": server}}),
        ("hooks/hooks.json", {"hooks": groups(_CLAUDE, claude)}),
        ("hooks/codex-hooks.json", {"hooks": groups(CODEX_EVENTS, codex)}),
    ]


def codex_hook(place: Place) -> dict[str, Any]:
    return {"type": "command", "command": place.line("codex"), "timeout": SECONDS}


def text(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
