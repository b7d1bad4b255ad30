"""The eight tools every agent gets. Each parses, calls one method of the memory and answers with the shared JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp.types import CallToolResult, ToolAnnotations
from pydantic import ConfigDict, Field

from recollect.core.errors import InvalidField
from recollect.core.query import Filter
from recollect.core.scope import Source
from recollect.interfaces.mcp import shapes
from recollect.interfaces.mcp.door import Door, answer, fenced, guarded
from recollect.interfaces.payloads import briefing_json, memory_json, receipt_json
from recollect.interfaces.reports import forgotten_json, standing
from recollect.recall.pack import as_hit

NOTHING = "Nothing is remembered about that."
ALWAYS_LOADED = {"anthropic/alwaysLoad": True}  # the two tools a host should not hide behind a search for tools
MOST = 50  # hits in one answer: more do not fit what hosts hand to a model

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
REMOVES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)

Id = Annotated[str, Field(description="The id of a memory; its last letters suffice.")]
Why = Annotated[str, Field(description="The reason, for the ledger.")]
Files = Annotated[list[str] | None, Field(description="Paths, relative to the project.")]
Kinds = Annotated[
    list[str] | None, Field(description="Only these kinds: gotcha, decision, preference, fact, error_pattern …")
]


class Tools:
    """The default tools, as functions the server wraps."""

    def __init__(self, door: Door) -> None:
        self._door = door

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
    ) -> Annotated[CallToolResult, shapes.FoundShape]:
        """Find what is remembered about something, best first. Use it before you say that you do not know."""
        memory = self._door.open()
        for kind in kinds or ():
            memory.store.kinds.rule(kind)
        wanted = Filter(kinds=frozenset(kinds or ()), tags=frozenset(tags or ()))
        found = memory.recall(query, k=limit, filter=wanted, files=files or ())
        value = briefing_json(found)
        del value["text"], value["tokens"]  # those of a briefing
        return answer(value, text=fenced(found.hits, found.notes, none=NOTHING))

    def context(
        self,
        task: Annotated[str, Field(description="What you are about to do, in a sentence.")],
        files: Files = None,
        phase: Annotated[
            Literal["define", "implement", "validate", "refine", "explore", "reflect"] | None,
            Field(description="Where the work stands; it decides what weighs more."),
        ] = None,
        budget: Annotated[int | None, Field(ge=1, le=20_000, description="At most so many tokens.")] = None,
    ) -> Annotated[CallToolResult, shapes.BriefingShape]:
        """A briefing before you work: what is known about the task and its files, packed into a budget of tokens."""
        briefing = self._door.open().brief(task, files=files or (), phase=phase, budget=budget)
        value = briefing_json(briefing)
        value["ids"] = [hit["id"] for hit in value.pop("hits")]  # their text is in the briefing already
        told = [briefing.text.rstrip("\n") or NOTHING, *(f"({note})" for note in briefing.notes)]
        return answer(value, text="\n".join(told))

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
    ) -> Annotated[CallToolResult, shapes.ReceiptShape]:
        """Remember one statement that will matter later. Durable when this returns; secrets are taken out of it."""
        receipt = self._door.open(create=True).remember(
            content, kind=kind, tags=tags or (), files=files or (), why=why, source=Source.AGENT_EXPLICIT
        )
        return answer(receipt_json(receipt))

    def get(self, id: Id) -> Annotated[CallToolResult, shapes.MemoryShape]:
        """One memory, whole."""
        memory = self._door.open()
        found = memory.get(id)
        return answer(memory_json(found), text=fenced([as_hit(found, memory.confidence(found))], none=""))

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
        why: Why = "",
        if_revision: Annotated[int | None, Field(description="Only if nobody changed it since.")] = None,
    ) -> Annotated[CallToolResult, shapes.UpdatedShape]:
        """Correct a memory by a better statement (`content`), or edit its kind, confidence, tags or files in place."""
        changes = _given(kind=kind, confidence=confidence, tags=tags, files=files)
        if (content is None) == (not changes):
            raise InvalidField(
                "update",
                "give either content, or some of kind, confidence, tags and files",
                hint="Correct the statement first; then edit the memory that took its place.",
            )
        memory = self._door.open()
        if content is None:
            edited = memory.edit(id, why=why, if_revision=if_revision, **changes)
            return answer({"id": edited.id, "memory": memory_json(edited)})
        if if_revision is not None:
            raise InvalidField("if_revision", "a correction makes a new memory; only an edit can take it")
        old = memory.get(id)
        receipt = memory.correct(old.id, content, why=why)
        return answer({"id": receipt.id, "supersedes": old.id, "memory": memory_json(receipt.memory)})

    def forget(self, id: Id, why: Why = "") -> Annotated[CallToolResult, shapes.ForgottenShape]:
        """Remove a memory for good, beyond undo. Only when the user asks for that; else use `feedback` reject."""
        memory = self._door.open()
        return answer(forgotten_json(memory.forget(id, why=why), memory.path))

    def feedback(
        self,
        id: Id,
        verdict: Annotated[
            Literal["confirm", "reject", "dispute"],
            Field(description="confirm: the user stands behind it; reject: it is wrong; dispute: it is doubted."),
        ],
        why: Why = "",
    ) -> Annotated[CallToolResult, shapes.MemoryShape]:
        """Say what a memory is worth: the user confirmed it, it is wrong and must not come back, or it is in doubt."""
        memory = self._door.open()
        act = {"confirm": memory.confirm, "reject": memory.reject, "dispute": memory.dispute}[verdict]
        return answer(memory_json(act(id, why=why)))

    def status(self) -> Annotated[CallToolResult, shapes.StatusShape]:
        """How things stand: how much is remembered, sessions, jobs, what language models cost."""
        return answer(standing(self._door.open(), limit=5))


def made(tool: Any, annotations: ToolAnnotations, *, name: str | None = None, meta: Any = None) -> Tool:
    """A function as a tool. Its user errors become results; an argument it does not know is refused."""
    ready = Tool.from_function(guarded(tool), name=name, annotations=annotations, meta=meta, structured_output=True)
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
