"""The server: tools of a profile, resources, prompts and instructions around one memory."""

from __future__ import annotations

from importlib.resources import files

from mcp.server import MCPServer
from mcp.types import Tool

from recollect.interfaces.mcp.door import Door
from recollect.interfaces.mcp.hook import HOOK, hook_tool
from recollect.interfaces.mcp.profiles import tools_of
from recollect.interfaces.mcp.resources import add_prompts, add_resources
from recollect.version import __version__


def build(door: Door, *, profile: str = "default") -> MCPServer[None]:
    """A server of this profile. Nothing is opened before the first call."""
    server: MCPServer[None] = _Server(
        "recollect",
        title="Recollect",
        instructions=instructions(profile),
        version=__version__,
        tools=[*tools_of(profile, door), hook_tool(door)],
        log_level="WARNING",  # to stderr; what is called and what is stored stays out of a host's log
        subscriptions=False,
    )
    add_resources(server, door)
    add_prompts(server, door)
    return server


class _Server(MCPServer[None]):
    """Hosts may call the hook's tool from their hooks; a model has no use for it and never sees it."""

    async def list_tools(self) -> list[Tool]:
        return [tool for tool in await super().list_tools() if tool.name != HOOK]


def instructions(profile: str) -> str:
    """When to look, when to add, and that what comes back is data; in terms of the tools the profile has."""
    name = "instructions_assistant.txt" if profile == "assistant" else "instructions.txt"
    return files("recollect.interfaces.mcp").joinpath(name).read_text(encoding="utf-8")


def serve_stdio(door: Door, *, profile: str = "default") -> None:
    """Serve one host over stdin and stdout until it hangs up."""
    try:
        build(door, profile=profile).run("stdio")
    finally:
        door.close()
