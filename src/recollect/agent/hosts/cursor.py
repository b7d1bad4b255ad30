"""Cursor: hooks, the server, and for a project a rule, because Cursor takes no context with a prompt."""

from __future__ import annotations

from recollect.agent.hosts.hooks import SECONDS
from recollect.agent.hosts.place import Place
from recollect.agent.hosts.rules import rules
from recollect.agent.hosts.wishes import Members, Whole, Wish

_EVENTS = (
    "sessionStart beforeSubmitPrompt preToolUse postToolUse postToolUseFailure preCompact stop sessionEnd"
).split()


def wishes(place: Place) -> list[Wish]:
    folder = (place.project if place.scope == "project" else place.home) / ".cursor"
    hook = {"command": place.line("cursor"), "timeout": SECONDS}
    server = {"command": place.recollect, "args": ["mcp"]}
    wanted: list[Wish] = [
        Members(
            folder / "hooks.json",
            needs=(("version", 1),),
            items=tuple((("hooks", event), hook) for event in _EVENTS),
        ),
        Members(folder / "mcp.json", members=((("mcpServers", "recollect"), server),)),
    ]
    if place.scope == "project":
        head = "---\ndescription: Long-term memory of this project\nglobs:\nalwaysApply: true\n---\n\n"
        wanted.append(Whole(folder / "rules" / "recollect.mdc", head + rules()))
    return wanted


def hints(place: Place) -> list[str]:
    told = ["Switch the server `recollect` on in Cursor's settings under MCP, if Cursor asks."]
    if place.scope == "user":
        told.append(
            "Cursor reads rules from projects only: `recollect install cursor --project` adds one to a project."
        )
    return told
