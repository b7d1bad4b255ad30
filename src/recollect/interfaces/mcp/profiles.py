"""What each profile adds to, or has instead of, the default tools: assistant, code, docs, admin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import ConfigDict, Field

from recollect.core.errors import UnknownChoice
from recollect.interfaces.mcp import PROFILES, shapes
from recollect.interfaces.mcp.door import Door, answer, guarded
from recollect.interfaces.mcp.tools import ADDS, CHANGES, MOST, READS, Tools, made, readers
from recollect.interfaces.payloads import checked_json
from recollect.interfaces.reports import check_json, code_hit_json, impact_json, matches_json

if TYPE_CHECKING:
    from recollect.dialogue.tools import Tool as Plain

_ASSISTANT: Mapping[str, ToolAnnotations] = {
    "search_memory": READS,
    "remember_fact": ADDS,
    "correct_fact": CHANGES,
    "confirm_fact": CHANGES,
    "memory_stats": READS,
    "get_entity_info": READS,
}
_FIRST = "remember_fact"  # may make the store

Target = Annotated[str, Field(description="FILE or FILE:SYMBOL; the end of a path suffices.")]
Depth = Annotated[int, Field(ge=1, le=20, description="How many edges far.")]
Most = Annotated[int, Field(ge=1, le=1_000, description="At most this many nodes.")]
Limit = Annotated[int, Field(ge=1, le=MOST, description="At most this many.")]
Question = Annotated[str, Field(description="A question or key words.")]


def tools_of(profile: str, door: Door) -> list[Tool]:
    """The tools of a profile; of a memory opened read-only those that change nothing."""
    match profile:
        case "default":
            tools = Tools(door).every()
        case "assistant":
            tools = _assistant(door)
        case "code":
            room = _CodeTools(door)
            tools = [
                *Tools(door).every(),
                made(room.impact, READS, name="code_impact"),
                made(room.deps, READS, name="code_deps"),
                made(room.search, READS, name="code_search"),
            ]
        case "docs":
            library = _DocsTools(door)
            tools = [
                *Tools(door).every(),
                made(library.search, READS, name="docs_search"),
                made(library.check, READS, name="docs_check"),
            ]
        case "admin":
            care = _CareTools(door)
            tools = [*Tools(door).every(), made(care.check, READS), made(care.backup, ADDS)]
        case _:
            raise UnknownChoice("profile", profile, PROFILES)
    return readers(tools) if door.read_only else tools


def _assistant(door: Door) -> list[Tool]:
    from recollect.dialogue.tools import agent_tools

    return [_plain(one, door) for one in agent_tools(lambda: door.open().dialogue)]


class _CodeTools:
    def __init__(self, door: Door) -> None:
        self._door = door

    def impact(self, target: Target, depth: Depth = 3, most: Most = 50) -> Annotated[CallToolResult, shapes.ReachShape]:
        """What breaks if this file or symbol changes: dependents, tests, files that changed together, memories."""
        return answer(impact_json(self._door.open().code.impact(target, depth=depth, most=most)))

    def deps(self, target: Target, depth: Depth = 3, most: Most = 50) -> Annotated[CallToolResult, shapes.ReachShape]:
        """What this file or symbol needs."""
        return answer(impact_json(self._door.open().code.deps(target, depth=depth, most=most)))

    def search(self, query: Question, limit: Limit = 8) -> Annotated[CallToolResult, shapes.CodeFoundShape]:
        """Passages of the project's source code for a question, best first."""
        hits = self._door.open().code.search(query, k=limit)
        return answer({"hits": [code_hit_json(hit) for hit in hits]})


class _DocsTools:
    def __init__(self, door: Door) -> None:
        self._door = door

    def search(
        self,
        query: Question,
        limit: Limit = 8,
        label: Annotated[str | None, Field(description="Only documents of this label.")] = None,
    ) -> Annotated[CallToolResult, shapes.MatchesShape]:
        """The best passages of the project's documents for a question."""
        return answer(matches_json(self._door.open().docs.search(query, limit=limit, label=label)))

    def check(
        self,
        change: Annotated[str | None, Field(description="A change: its directory or name; else all of them.")] = None,
    ) -> Annotated[CallToolResult, shapes.DocsCheckedShape]:
        """Contradictions between a change and the specs that hold, and broken links."""
        return answer(checked_json(self._door.open().docs.check(change)))


class _CareTools:
    def __init__(self, door: Door) -> None:
        self._door = door

    def check(
        self, quick: Annotated[bool, Field(description="Leave out comparing the indexes with the rows.")] = False
    ) -> Annotated[CallToolResult, shapes.CheckShape]:
        """Is every row sound, does every index match?"""
        from recollect.store.check import check

        return answer(check_json(check(self._door.open().store, quick=quick)))

    def backup(self) -> Annotated[CallToolResult, shapes.BackupShape]:
        """Copy the store into `backups/` beside it, verified."""
        from recollect.store.backup import make_backup

        made_at = make_backup(self._door.open().store.engine)
        return answer({"path": None if made_at is None else str(made_at)})


class Given(ArgModelBase):
    """Arguments as they came: the plain tool checks them against its own schema."""

    model_config = ConfigDict(extra="allow")

    def model_dump_one_level(self) -> dict[str, Any]:
        return {"given": dict(self.model_extra or {})}


def _plain(tool: Plain, door: Door) -> Tool:
    """A tool that has its schema already."""

    @guarded
    def call(given: dict[str, Any]) -> CallToolResult:
        door.open(create=tool.name == _FIRST)
        return answer(dict(tool(**given)))

    return Tool(
        fn=call,
        name=tool.name,
        title=None,
        context_kwarg=None,
        description=tool.description,
        parameters=dict(tool.parameters),
        fn_metadata=FuncMetadata(arg_model=Given, output_schema={"type": "object", "additionalProperties": True}),
        is_async=False,
        annotations=_ASSISTANT[tool.name],
    )
