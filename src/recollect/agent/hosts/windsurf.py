"""Windsurf: it shows a hook's words to the person only, so memory comes through the server and a rule."""

from __future__ import annotations

from recollect.agent.hosts.place import Place
from recollect.agent.hosts.rules import rules
from recollect.agent.hosts.wishes import Block, Members, Whole, Wish

_HEAD = "---\ntrigger: always_on\ndescription: Long-term memory of this project\n---\n\n"


def wishes(place: Place) -> list[Wish]:
    if place.scope == "project":
        return [Whole(place.project / ".windsurf" / "rules" / "recollect.md", _HEAD + rules())]
    folder = place.home / ".codeium" / "windsurf"
    server = {"command": place.recollect, "args": ["mcp"]}
    return [
        Members(folder / "mcp_config.json", members=((("mcpServers", "recollect"), server),)),
        Block(folder / "memories" / "global_rules.md", rules()),
    ]


def hints(place: Place) -> list[str]:
    if place.scope == "project":
        return ["Windsurf knows servers of a person only: `recollect install windsurf` adds ours."]
    return ["Press refresh in Windsurf's MCP panel."]
