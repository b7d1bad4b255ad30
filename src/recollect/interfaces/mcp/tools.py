"""The tools of each profile. Each parses, calls one method of the memory and answers with the shared JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import ConfigDict, Field

from recollect.core.errors import InvalidField, PersonOnly, UnknownChoice
from recollect.core.query import Filter
from recollect.core.scope import Source
from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.mcp.handle import CheckedTool, MemoryHandle, fenced, guarded, tool_result
from recollect.interfaces.payloads.memories import briefing_json, forgotten_json, memory_json, receipt_json
from recollect.interfaces.payloads.rooms import checked_json, code_hit_json, impact_json, matches_json
from recollect.interfaces.payloads.store import check_json, status_json
from recollect.interfaces.shapes.base import MemoryShape
from recollect.interfaces.shapes.memories import BriefingShape, ForgottenShape, FoundShape, ReceiptShape, UpdatedShape
from recollect.interfaces.shapes.rooms import CodeFoundShape, DocsCheckedShape, MatchesShape, ReachShape
from recollect.interfaces.shapes.store import BackupShape, CheckShape, StatusShape
from recollect.privacy.fence import defuse
from recollect.recall.pack import as_hit

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.dialogue.tools import Tool as Plain

NOTHING = "Nothing is remembered about that."
ALWAYS_LOADED = {"anthropic/alwaysLoad": True}  # the two tools a host should not hide behind a search for tools
MOST = 50  # hits in one answer: more do not fit what hosts hand to a model

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

Id = Annotated[str, Field(description="The id of a memory; its last letters suffice.")]
Why = Annotated[str, Field(description="The reason, for the log.")]
Files = Annotated[list[str] | None, Field(description="Paths, relative to the project.")]
Kinds = Annotated[
    list[str] | None, Field(description="Only these kinds: gotcha, decision, preference, fact, error_pattern …")
]


class Tools:
    """The default tools, as functions the server wraps."""

    def __init__(self, handle: MemoryHandle) -> None:
        self._handle = handle

    def every(self) -> list[Tool]:
        return [
            made(self.search, READS, meta=ALWAYS_LOADED),
            made(self.context, READS, meta=ALWAYS_LOADED),
            made(self.add, ADDS),
            made(self.get, READS),
            made(self.update, CHANGES),
            made(self.forget, REMOVES),
            made(self.feedback, CHANGES),
            made(self.status, READS),
        ]

    def search(
        self,
        query: Annotated[str, Field(description="A question or key words; names of files and symbols count.")],
        limit: Annotated[int, Field(ge=1, le=MOST, description="At most this many.")] = 8,
        kinds: Kinds = None,
        tags: Annotated[list[str] | None, Field(description="Only with one of these tags.")] = None,
        files: Files = None,
        recent_calls: Annotated[
            list[str] | None,
            Field(max_length=50, description="Tools you used just before; after `impact` or `deps`, files count more."),
        ] = None,
    ) -> Annotated[CallToolResult, FoundShape]:
        """Find what is remembered about something, best first. Use it before you say that you do not know."""
        memory = self._handle.open()
        wanted = Filter(kinds=frozenset(kinds or ()), tags=frozenset(tags or ()))
        found = memory.recall(query, k=limit, filter=wanted, files=files or (), recent_calls=recent_calls or ())
        value = briefing_json(found)
        del value["text"], value["tokens"]  # those of a briefing
        return tool_result(value, text=fenced(found.hits, found.notes, none=NOTHING))

    def context(
        self,
        task: Annotated[str, Field(description="What you are about to do, in a sentence.")],
        files: Files = None,
        phase: Annotated[
            Literal["define", "implement", "validate", "refine", "explore", "reflect"] | None,
            Field(description="Where the work stands; it decides what weighs more."),
        ] = None,
        budget: Annotated[int | None, Field(ge=1, le=20_000, description="At most so many tokens.")] = None,
    ) -> Annotated[CallToolResult, BriefingShape]:
        """A briefing before you work: what is known about the task and its files, packed into a budget of tokens."""
        briefing = self._handle.open().brief(task, files=files or (), phase=phase, budget=budget)
        value = briefing_json(briefing)
        value["ids"] = [hit["id"] for hit in value.pop("hits")]  # their text is in the briefing already
        told = [briefing.text.rstrip("\n") or NOTHING, *(f"({note})" for note in briefing.notes)]
        return tool_result(value, text="\n".join(told))

    def add(
        self,
        content: Annotated[str, Field(description="One self-contained statement, with names instead of pronouns.")],
        kind: Annotated[
            str,
            Field(description="fact, preference, decision, requirement, gotcha, error_pattern, dead_end, pattern …"),
        ] = "fact",
        tags: Annotated[list[str] | None, Field(description="A few words to find it by.")] = None,
        files: Files = None,
        why: Why = "",
    ) -> Annotated[CallToolResult, ReceiptShape]:
        """Remember one statement that will matter later, as yours. Durable when this returns; secrets are taken out."""
        receipt = self._handle.open(create=True).remember(
            content, kind=kind, tags=tags or (), files=files or (), why=why, source=Source.AGENT_EXPLICIT
        )
        return tool_result(receipt_json(receipt))

    def get(self, id: Id) -> Annotated[CallToolResult, MemoryShape]:
        """One memory, whole."""
        memory = self._handle.open()
        found = memory.reader.get(id, user=None)
        notes = memory.notices if memory.is_foreign else ()
        return tool_result(memory_json(found), text=fenced([as_hit(found, memory.confidence(found))], notes, none=""))

    def update(
        self,
        id: Id,
        content: Annotated[
            str | None, Field(description="The better statement: it takes the place of the old one, which is kept.")
        ] = None,
        kind: Annotated[str | None, Field(description="Another kind.")] = None,
        confidence: Annotated[float | None, Field(ge=0, le=1, description="How sure it is.")] = None,
        tags: Annotated[list[str] | None, Field(description="Replaces all tags.")] = None,
        files: Annotated[list[str] | None, Field(description="Replaces all files.")] = None,
        reason: Annotated[
            Literal["inaccurate", "outdated", "too_specific", "duplicate"] | None,
            Field(description="What is wrong with it: inaccurate, if you do not say."),
        ] = None,
        duplicate_of: Annotated[str | None, Field(description="For a duplicate: the memory that stays.")] = None,
        why: Why = "",
        if_revision: Annotated[int | None, Field(description="Only if nobody changed it since.")] = None,
    ) -> Annotated[CallToolResult, UpdatedShape]:
        """Correct a memory by a better statement (`content`), or edit its kind, confidence, tags or files in place.
        What the user taught or confirmed keeps its words: a better statement is proposed to them."""
        changes = _given(kind=kind, confidence=confidence, tags=tags, files=files)
        corrects = content is not None or reason is not None or duplicate_of is not None
        if corrects == bool(changes):
            raise InvalidField(
                "update",
                "give either content or a reason, or some of kind, confidence, tags and files",
                hint="Correct the statement first; then edit the memory that took its place.",
            )
        memory = self._handle.open()
        if not corrects:
            edited = memory.edit(visible(memory, id), why=why, if_revision=if_revision, **changes)
            return tool_result({"id": edited.id, "memory": memory_json(edited)})
        old = memory.get(visible(memory, id))
        receipt = memory.correct(
            old.id,
            content,
            reason=reason or "inaccurate",
            duplicate_of=None if duplicate_of is None else visible(memory, duplicate_of),
            why=why,
            if_revision=if_revision,
        )
        replaced = old.id if receipt.id != old.id and receipt.verdict in ("supersedes", "same") else None
        value = {"id": receipt.id, "supersedes": replaced, "memory": memory_json(receipt.memory)}
        return tool_result({**value, "notes": list(receipt.notes)})

    def forget(self, id: Id, why: Why = "") -> Annotated[CallToolResult, ForgottenShape]:
        """Remove a memory that agents wrote for good, beyond undo. The user's own are theirs to forget."""
        memory = self._handle.open()
        return tool_result(forgotten_json(memory.forget(visible(memory, id), why=why), memory.path))

    def feedback(
        self,
        id: Id,
        verdict: Annotated[
            Literal["confirm", "reject", "dispute"],
            Field(description="reject: what agents wrote is wrong; dispute: it is doubted; confirm: asks the user."),
        ],
        why: Why = "",
    ) -> Annotated[CallToolResult, MemoryShape]:
        """Say what a memory is worth: it is wrong and must not come back, or in doubt. Only the user can confirm."""
        memory = self._handle.open()
        act = {"confirm": memory.confirm, "reject": memory.reject, "dispute": memory.dispute}[verdict]
        judged = act(visible(memory, id), why=why)
        if verdict == "confirm" and not judged.verified:
            return tool_result(memory_json(judged), text=str(PersonOnly("confirm a memory")))
        return tool_result(memory_json(judged))

    def status(self) -> Annotated[CallToolResult, StatusShape]:
        """How things stand: how much is remembered, sessions, jobs, what language models cost."""
        return tool_result(status_json(self._handle.open(), limit=5))


def visible(memory: Recollect, id: str) -> str:
    """The full id of a memory of nobody in particular: an agent at work is not one user of an assistant."""
    return memory.reader.get(id, user=None).id


def made(tool: Any, annotations: ToolAnnotations, *, name: str | None = None, meta: Any = None) -> Tool:
    """A function as a tool. Its user errors become results; an argument it does not know is refused."""
    ready = CheckedTool.from_function(
        guarded(tool), name=name, annotations=annotations, meta=meta, structured_output=True
    )
    arguments = ready.fn_metadata.arg_model
    arguments.model_config = ConfigDict(**{**arguments.model_config, "extra": "forbid"})
    arguments.model_rebuild(force=True)
    ready.parameters = arguments.model_json_schema(by_alias=True)
    return ready


def readers(tools: Sequence[Tool]) -> list[Tool]:
    """Those that change nothing: all there is when the memory is opened read-only."""
    return [tool for tool in tools if tool.annotations is not None and tool.annotations.read_only_hint]


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


# --- what each profile adds to the default tools, or has instead -----------------------------------------------------


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


def tools_of(profile: str, handle: MemoryHandle) -> list[Tool]:
    """The tools of a profile; of a memory opened read-only those that change nothing."""
    match profile:
        case "default":
            tools = Tools(handle).every()
        case "assistant":
            tools = _assistant(handle)
        case "code":
            room = _CodeTools(handle)
            tools = [
                *Tools(handle).every(),
                made(room.impact, READS, name="code_impact"),
                made(room.deps, READS, name="code_deps"),
                made(room.search, READS, name="code_search"),
            ]
        case "docs":
            library = _DocsTools(handle)
            tools = [
                *Tools(handle).every(),
                made(library.search, READS, name="docs_search"),
                made(library.check, READS, name="docs_check"),
            ]
        case "admin":
            care = _CareTools(handle)
            tools = [*Tools(handle).every(), made(care.check, READS), made(care.backup, ADDS)]
        case _:
            raise UnknownChoice("profile", profile, PROFILES)
    return readers(tools) if handle.read_only else tools


def _assistant(handle: MemoryHandle) -> list[Tool]:
    from recollect.dialogue.tools import agent_tools

    return [_plain(agent_tool, handle) for agent_tool in agent_tools(lambda: handle.open().dialogue)]


class _CodeTools:
    def __init__(self, handle: MemoryHandle) -> None:
        self._handle = handle

    def impact(self, target: Target, depth: Depth = 3, most: Most = 50) -> Annotated[CallToolResult, ReachShape]:
        """What breaks if this file or symbol changes: dependents, tests, files that changed together, memories."""
        return tool_result(impact_json(self._handle.open().code.impact(target, depth=depth, limit=most)))

    def deps(self, target: Target, depth: Depth = 3, most: Most = 50) -> Annotated[CallToolResult, ReachShape]:
        """What this file or symbol needs."""
        return tool_result(impact_json(self._handle.open().code.deps(target, depth=depth, limit=most)))

    def search(self, query: Question, limit: Limit = 8) -> Annotated[CallToolResult, CodeFoundShape]:
        """Passages of the project's source code for a question, best first."""
        hits = self._handle.open().code.search(query, k=limit)
        return tool_result({"hits": [code_hit_json(hit) for hit in hits]})


class _DocsTools:
    def __init__(self, handle: MemoryHandle) -> None:
        self._handle = handle

    def search(
        self,
        query: Question,
        limit: Limit = 8,
        label: Annotated[str | None, Field(description="Only documents of this label.")] = None,
    ) -> Annotated[CallToolResult, MatchesShape]:
        """The best passages of the project's documents for a question."""
        return tool_result(matches_json(self._handle.open().docs.search(query, limit=limit, label=label)))

    def check(
        self,
        change: Annotated[str | None, Field(description="A change: its directory or name; else all of them.")] = None,
    ) -> Annotated[CallToolResult, DocsCheckedShape]:
        """Contradictions between a change and the specs that hold, and broken links."""
        return tool_result(checked_json(self._handle.open().docs.check(change)))


class _CareTools:
    def __init__(self, handle: MemoryHandle) -> None:
        self._handle = handle

    def check(
        self, quick: Annotated[bool, Field(description="Leave out comparing the indexes with the rows.")] = False
    ) -> Annotated[CallToolResult, CheckShape]:
        """Is every row sound, does every index match?"""
        return tool_result(check_json(self._handle.open().maintenance.check(quick=quick)))

    def backup(self) -> Annotated[CallToolResult, BackupShape]:
        """Copy the store into `backups/` beside it, verified."""
        made_at = self._handle.open().maintenance.backup()
        return tool_result({"path": None if made_at is None else str(made_at)})


class Given(ArgModelBase):
    """Arguments as they came: the plain tool checks them against its own schema."""

    model_config = ConfigDict(extra="allow")

    def model_dump_one_level(self) -> dict[str, Any]:
        return {"given": dict(self.model_extra or {})}


def _plain(tool: Plain, handle: MemoryHandle) -> Tool:
    """A tool that has its schema already."""

    @guarded
    def call(given: dict[str, Any]) -> CallToolResult:
        handle.open(create=tool.name == _FIRST)
        value = dict(tool(**given))
        block = value.get("memory")
        return tool_result(value, text=_beside_block(value, block) if isinstance(block, str) else None)

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


def _beside_block(value: Mapping[str, Any], block: str) -> str:
    """What a tool answers, its fenced block of memories after the rest: defused once more, it would fence nothing."""
    rest = {name: told for name, told in value.items() if name != "memory" and told}
    return "\n".join(part for part in (defuse(json.dumps(rest, ensure_ascii=False)) if rest else "", block) if part)
