"""The page docs/reference/mcp.md, asked from the servers themselves as a host would ask. Needs the extra `mcp`."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from mcp.types import Prompt, Tool

from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build, instructions

_INTRO = """# Model Context Protocol

What `recollect mcp --profile NAME` offers a host; how to start one: [MCP](../how-to/mcp.md). Tools that change
something are left out with `--read-only`.
"""


def mcp() -> str:
    """Profiles, tools with their arguments, resources, prompts and instructions."""
    return "\n".join(asyncio.run(_page()))


async def _page() -> list[str]:
    servers = {profile: build(MemoryHandle(), profile=profile) for profile in PROFILES}
    offered = {profile: await server.list_tools() for profile, server in servers.items()}
    usual = servers[PROFILES[0]]
    return [
        _INTRO,
        *_profiles(offered),
        *_tools(offered),
        "## Resources\n\n| address | type | |\n|---|---|---|",
        *(_resource(one.uri, one) for one in await usual.list_resources()),
        *(_resource(one.uri_template, one) for one in await usual.list_resource_templates()),
        "\n## Prompts\n\n| prompt | arguments | |\n|---|---|---|",
        *(_prompt(one) for one in await usual.list_prompts()),
        *_instructions(),
    ]


def _profiles(offered: Mapping[str, list[Tool]]) -> Iterator[str]:
    yield "## Profiles\n\n| profile | tools |\n|---|---|"
    for profile, tools in offered.items():
        yield f"| `{profile}` | {' '.join(f'`{tool.name}`' for tool in tools)} |"


def _tools(offered: Mapping[str, list[Tool]]) -> Iterator[str]:
    yield "\n## Tools\n"
    told: dict[str, Tool] = {}
    for tools in offered.values():
        told |= {tool.name: tool for tool in tools if tool.name not in told}
    for tool in told.values():
        yield f"### {tool.name}\n\n{(tool.description or '').strip()} ({_effect(tool)}.)\n"
        yield from _arguments(tool.input_schema)


def _effect(tool: Tool) -> str:
    hints = tool.annotations
    if hints is not None and hints.read_only_hint:
        return "Changes nothing"
    return "May change or remove what is there" if hints is None or hints.destructive_hint else "Only adds"


def _arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    if not schema["properties"]:
        return
    yield "| argument | type | default | |\n|---|---|---|---|"
    for name, shape in schema["properties"].items():
        usual = "required" if name in schema.get("required", ()) else _default(shape)
        yield f"| `{name}` | {_type(shape)} | {usual} | {shape.get('description', '')} |"
    yield ""


def _default(shape: Mapping[str, Any]) -> str:
    return "" if shape.get("default") in (None, "") else f"`{shape['default']}`"


def _type(shape: Mapping[str, Any]) -> str:
    if "anyOf" in shape:
        return " or ".join(_type(one) for one in shape["anyOf"] if one.get("type") != "null")
    if "enum" in shape:
        return ", ".join(f"`{one}`" for one in shape["enum"])
    if shape.get("type") == "array":
        return f"list of {_type(shape['items'])}s"
    edges = [f"{shape[edge]:g}" for edge in ("minimum", "maximum") if edge in shape]
    return f"{shape['type']} {' to '.join(edges)}".strip()


def _resource(address: str, one: Any) -> str:
    return f"| `{address}` | {one.mime_type} | {one.description} |"


def _prompt(one: Prompt) -> str:
    return f"| `{one.name}` | {' '.join(f'`{it.name}`' for it in one.arguments or ())} | {one.description} |"


def _instructions() -> Iterator[str]:
    yield "\n## Instructions\n\nWhat a model is told about the tools when a host connects.\n"
    told: dict[str, list[str]] = {}
    for profile in PROFILES:
        told.setdefault(instructions(profile).strip(), []).append(profile)
    for text, profiles in told.items():
        yield f"{', '.join(f'`{one}`' for one in profiles)}:\n\n```\n{text}\n```\n"
