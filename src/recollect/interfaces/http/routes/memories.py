"""Routes of single memories and lists of them: find, read, add, change, take back."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature
from typing import Annotated, Any, Literal

from pydantic import Field, create_model

from recollect.app import Recollect
from recollect.core.errors import RecollectError, RequestRefused
from recollect.core.fields import BY_NAME
from recollect.core.forms import CHOICES, parse_form
from recollect.core.query import DEFAULT_K, MODES, Filter
from recollect.core.records import Memory
from recollect.core.scope import SHOWN, CorrectionReason, Phase, Source
from recollect.interfaces.http import READ, WRITE
from recollect.interfaces.http.endpoint import (
    MAX_QUERY,
    MOST,
    Answer,
    Body,
    Call,
    Count,
    Endpoint,
    Flag,
    Json,
    Limit,
    Moment,
    Params,
    Share,
    SomeTexts,
    Texts,
    Why,
    field_type,
)
from recollect.interfaces.payloads.memories import (
    account_json,
    entry_json,
    forgotten_json,
    found_json,
    listed_json,
    receipt_json,
    undone_json,
)
from recollect.interfaces.payloads.store import facets_json
from recollect.interfaces.shapes.base import WholeMemory
from recollect.interfaces.shapes.memories import (
    AccountShape,
    BatchShape,
    ForgottenShape,
    FoundMemories,
    HistoryShape,
    MemoryPage,
    RememberedShape,
    UndoneShape,
)
from recollect.interfaces.shapes.store import FacetsShape

_TAG = "memories"
_FADING_DAYS = range(0, 181, 15)  # half a year: by then the slowest curve shows


def _some(choices: str) -> Any:
    """Some words out of a closed list."""
    word: Any = Literal[tuple(str(one) for one in CHOICES[choices])]
    return Annotated[list[word], Field(default_factory=list)]


class FilterParams(Params):
    """Which memories are meant. What can be repeated means any of the values."""

    kind: SomeTexts
    source: _some("Source")  # type: ignore[valid-type]
    scope: _some("Scope")  # type: ignore[valid-type]
    visibility: _some("Visibility")  # type: ignore[valid-type]
    status: Annotated[_some("Status"), Field(description="By default active and disputed.")]  # type: ignore[valid-type]
    file: SomeTexts
    module: SomeTexts
    tag: SomeTexts
    session: SomeTexts
    entity: SomeTexts
    document: SomeTexts
    since: Moment | None = None
    until: Moment | None = None
    min_confidence: Share = 0.0
    needs_review: Flag | None = None
    pinned: Flag | None = None
    as_of: Annotated[Moment | None, Field(description="What held then, superseded since or not.")] = None
    user: Annotated[str | None, Field(max_length=1_000, description="As this user of an assistant sees it.")] = None

    def filter(self, call: Call) -> Filter:
        return Filter(
            kinds=self.kind,
            sources=self.source,
            scopes=self.scope,
            visibilities=call.visibilities(self.visibility),
            statuses=self.status or SHOWN,
            files=self.file,
            modules=self.module,
            tags=self.tag,
            sessions=self.session,
            entities=self.entity,
            documents=self.document,
            since=self.since,
            until=self.until,
            min_confidence=self.min_confidence,
            needs_review=self.needs_review,
            pinned=self.pinned,
            as_of=self.as_of,
            user=call.user(self.user),
        )


class ListParams(FilterParams):
    order: Literal["newest", "oldest", "confidence", "accessed"] = "newest"
    limit: Limit = 50
    cursor: Annotated[str | None, Field(max_length=1_000, description="That of the page before.")] = None
    skip: Annotated[Count, Field(ge=0, le=10_000_000, description="To jump; a cursor is steadier.")] = 0
    total: Annotated[Flag, Field(description="Count all that the filter lets through.")] = False


class SearchParams(FilterParams):
    q: Annotated[str, Field(min_length=1, max_length=MAX_QUERY, description="A question or key words.")]
    limit: Annotated[Count, Field(ge=1, le=200, description="At most this many.")] = DEFAULT_K
    mode: Literal[MODES] = "hybrid"  # type: ignore[valid-type]
    phase: Literal[tuple(str(one) for one in Phase)] | None = None  # type: ignore[valid-type]
    about: Annotated[SomeTexts, Field(description="Files in play: what is known of them weighs more.")]


class HistoryParams(Params):
    limit: Limit = 50


class FacetParams(FilterParams):
    limit: Annotated[Count, Field(ge=1, le=200, description="Values of each facet.")] = 50


_AGAIN: Any = Annotated[bool, Field(description="Even if it was rejected or forgotten before.")]
_REMEMBERED = [name for name in signature(Recollect.remember).parameters if name not in ("self", "content", "again")]
_EDITED = [name for name in signature(Recollect.edit).parameters if name in BY_NAME and name != "id"]
_DECIDED = ("source", "status", "needs_review", "source_role")  # decided by the door, not by the request


def _optional(names: Iterable[str]) -> Any:
    return {name: (field_type(name) | None, None) for name in names}


def _changeable(names: Iterable[str]) -> Any:
    """What is not named stays, so None is only what a field that may be empty can be given."""
    return {name: (field_type(name), None) for name in names}


NewMemory = create_model(
    "NewMemory",
    __base__=Body,
    __doc__="A statement to remember, with what is known about it.",
    content=(field_type("content"), ...),
    again=(_AGAIN, False),
    **_optional(name for name in _REMEMBERED if name not in _DECIDED),
)
MemoryChanges = create_model(
    "MemoryChanges",
    __base__=Body,
    __doc__="The fields to change; what is not named stays.",
    why=(Why, ""),
    **_changeable(_EDITED),
)


class Reasoned(Body):
    """An act, and why."""

    why: Why = ""


_REASON: Any = Literal[tuple(str(one) for one in CorrectionReason)]


class CorrectionBody(Body):
    """What is wrong with a memory, and the better words where there are any."""

    content: Annotated[str | None, Field(min_length=1, description="The better statement.")] = None
    reason: Annotated[_REASON, Field(description="What is wrong decides what happens to the old one.")] = "inaccurate"
    duplicate_of: Annotated[str | None, Field(max_length=200, description="The memory that stays.")] = None
    until: Annotated[Moment | None, Field(description="Until when an outdated one held.")] = None
    files: Annotated[Texts | None, Field(description="The files one that is too specific holds in.")] = None
    modules: Texts | None = None
    why: Why = ""


class UndoBody(Body):
    memory: Annotated[
        str | None, Field(max_length=200, description="The last change to this one, whoever made it.")
    ] = None
    act: Annotated[
        str | None, Field(max_length=200, description="Exactly this change, by its id; refused if it is not the last.")
    ] = None
    why: Why = ""


class Batch(Body):
    """One act on many memories."""

    act: Literal["confirm", "reject", "dispute", "pin", "unpin", "forget"]
    ids: Annotated[list[Annotated[str, Field(max_length=200)]], Field(min_length=1, max_length=MOST)]
    why: Why = ""


def _shown(call: Call, memory: Memory) -> Answer:
    return Answer(listed_json(memory, call.memory.confidence(memory)), memory.revision)


def list_memories(call: Call) -> Json:
    """Memories by filter, without a question, a page at a time."""
    asked: ListParams = call.query
    if asked.cursor is not None and asked.skip:
        raise RequestRefused("Give either cursor or skip", status=422)
    wanted = asked.filter(call)
    page = call.memory.list(wanted, order=asked.order, limit=asked.limit, skip=asked.skip, cursor=asked.cursor)
    value: Json = {
        "memories": [listed_json(memory, call.memory.confidence(memory)) for memory in page],
        "cursor": page.cursor,
        "damaged": list(page.damaged),
    }
    return {**value, "total": call.memory.count(wanted)} if asked.total else value


def search_memories(call: Call) -> Json:
    """The right few memories for a question, best first, with what ranked them."""
    asked: SearchParams = call.query
    found = call.memory.recall(
        asked.q,
        k=asked.limit,
        filter=asked.filter(call),
        phase=asked.phase,
        files=asked.about,
        mode=asked.mode,
        track=not call.is_person,  # a person who looks around does not use what they see
    )
    hits = [found_json(hit, asked.q) for hit in found.hits]
    return {"query_type": found.query_type, "notes": list(found.notes), "hits": hits}


def count_facets(call: Call) -> Json:
    """How many memories of a filter there are of each kind, source, tag, file and the like."""
    asked: FacetParams = call.query
    return facets_json(call.memory.overview.facets(asked.filter(call), limit=asked.limit))


def get_memory(call: Call) -> Answer:
    """One memory, whole. Its ETag is what an edit must name in If-Match."""
    return _shown(call, call.find(call.path["id"]))


def remember_memory(call: Call) -> Answer:
    """Remember one statement. It is on disk when this answers."""
    given = {name: value for name, value in _values(call.body).items() if value is not None}
    content = given.pop("content")
    source = Source.USER_TAUGHT if call.is_person else Source.AGENT_EXPLICIT
    receipt = call.memory.remember(content, source=source, **given)
    value = receipt_json(receipt)
    value["memory"] = listed_json(receipt.memory, call.memory.confidence(receipt.memory))
    return Answer(value, receipt.memory.revision, status=200 if receipt.verdict == "same" else 201)


def edit_memory(call: Call) -> Answer:
    """Change fields of a memory in place. If-Match says which revision was read: nobody overwrites another's edit."""
    given = _values(call.body)
    why = given.pop("why", "")
    return _shown(call, call.memory.edit(call.id(), why=why, if_revision=call.revision, **given))


_CONFIRM = "confirm a memory"


def confirm_memory(call: Call) -> Answer:
    """A person stands behind it. An agent cannot confirm: 403."""
    call.require_person(_CONFIRM)
    return _shown(call, call.memory.confirm(call.id(), why=call.body.why, if_revision=call.revision))


def reject_memory(call: Call) -> Answer:
    """It is wrong and must not come back."""
    return _shown(call, call.memory.reject(call.id(), why=call.body.why, if_revision=call.revision))


def dispute_memory(call: Call) -> Answer:
    """It is doubted: it stays, marked, at a lower weight."""
    return _shown(call, call.memory.dispute(call.id(), why=call.body.why, if_revision=call.revision))


def pin_memory(call: Call) -> Answer:
    """A pinned memory never fades."""
    return _shown(call, call.memory.pin(call.id(), if_revision=call.revision))


def unpin_memory(call: Call) -> Answer:
    """Let it fade again."""
    return _shown(call, call.memory.pin(call.id(), pinned=False, if_revision=call.revision))


def correct_memory(call: Call) -> Answer:
    """Correct a memory that is inaccurate, outdated, too specific or a duplicate, by better words or without any."""
    asked: CorrectionBody = call.body
    receipt = call.memory.correct(
        call.id(),
        asked.content,
        reason=asked.reason,
        duplicate_of=asked.duplicate_of,
        until=asked.until,
        files=asked.files,
        modules=asked.modules,
        why=asked.why,
        if_revision=call.revision,
    )
    value = receipt_json(receipt)
    value["memory"] = listed_json(receipt.memory, call.memory.confidence(receipt.memory))
    return Answer(value, receipt.memory.revision)


def forget_memory(call: Call) -> Json:
    """Remove a memory for good, from every file of the store. It cannot be undone; rejecting can. A token that is not
    a person's removes only what was written with it."""
    gone = call.memory.forget(call.id(), why=call.query.why, if_revision=call.revision)
    return forgotten_json(gone, call.memory.path)


class ForgetParams(Params):
    why: Why = ""


def act_on_many(call: Call) -> Json:
    """One act on many memories. Each succeeds or fails by itself; the answer says which."""
    return {"results": [_act_on(call, id) for id in dict.fromkeys(call.body.ids)]}


def _act_on(call: Call, given: str) -> Json:
    memory, why = call.memory, call.body.why
    try:
        id = call.find(given).id
        match call.body.act:
            case "forget":
                memory.forget(id, why=why)
                return {"id": given, "ok": True}
            case "pin" | "unpin":
                changed = memory.pin(id, pinned=call.body.act == "pin")
            case act:
                if act == "confirm":
                    call.require_person(_CONFIRM)
                changed = getattr(memory, act)(id, why=why)
    except RecollectError as error:
        return {"id": given, "ok": False, "code": error.code, "detail": str(error)}
    return {"id": given, "ok": True, "revision": changed.revision}


def undo_change(call: Call) -> Json:
    """Take back your own last change, the last one to a memory, or exactly the one that is named."""
    asked: UndoBody = call.body
    return undone_json(call.memory.undo(asked.memory, act=asked.act, why=asked.why, if_revision=call.revision))


def memory_history(call: Call) -> Json:
    """All that happened to one memory, oldest first. A forgotten one still has a history."""
    id = call.path["id"] if call.is_person else call.id()
    entries = call.memory.history(id, limit=call.query.limit)
    return {"entries": [entry_json(entry) for entry in entries]}


def memory_account(call: Call) -> Json:
    """How we came to believe something: the memory, its links both ways, its history."""
    account = call.memory.why(call.id())
    fading = call.memory.reader.fading(account.memory, days=_FADING_DAYS)
    return {
        **account_json(account),
        "memory": listed_json(account.memory, account.confidence),
        "fading": [{"day": day, "confidence": round(confidence, 4)} for day, confidence in fading],
    }


def list_changes(call: Call) -> Json:
    """The latest changes of all memories, newest first."""
    entries = call.memory.history(limit=call.query.limit)
    if not call.is_person:
        named = dict.fromkeys(entry.change.memory for entry in entries if entry.change.memory is not None)
        hidden = {one.id for one in call.memory.reader.get_many(list(named)).memories if not call.may_see(one)}
        entries = tuple(entry for entry in entries if entry.change.memory not in hidden)
    return {"entries": [entry_json(entry) for entry in entries]}


def _values(body: Any) -> Json:
    """What was given, as the verbs take it."""
    given: Json = {}
    for name in body.model_fields_set:
        value = getattr(body, name)
        if name in BY_NAME and value is not None and BY_NAME[name].form in ("work_unit", "decay"):
            told = value.model_dump() if BY_NAME[name].form == "work_unit" else value
            value = parse_form(BY_NAME[name], told)
        given[name] = value
    return given


_MEMORY, _RECEIPT = WholeMemory, RememberedShape
ENDPOINTS = (
    Endpoint("GET", "/memories", list_memories, READ, MemoryPage, _TAG, query=ListParams),
    Endpoint("POST", "/memories", remember_memory, WRITE, _RECEIPT, _TAG, body=NewMemory, status=201),
    Endpoint("GET", "/memories/search", search_memories, READ, FoundMemories, _TAG, query=SearchParams),
    Endpoint("GET", "/memories/facets", count_facets, READ, FacetsShape, _TAG, query=FacetParams),
    Endpoint("POST", "/memories/batch", act_on_many, WRITE, BatchShape, _TAG, body=Batch),
    Endpoint("GET", "/memories/{id}", get_memory, READ, _MEMORY, _TAG),
    Endpoint("PATCH", "/memories/{id}", edit_memory, WRITE, _MEMORY, _TAG, body=MemoryChanges, if_match="required"),
    Endpoint(
        "DELETE", "/memories/{id}", forget_memory, WRITE, ForgottenShape, _TAG, query=ForgetParams,
        if_match="optional",
    ),
    *(
        Endpoint("POST", f"/memories/{{id}}/{act}", call, WRITE, _MEMORY, _TAG, body=Reasoned, if_match="optional")
        for act, call in (
            ("confirm", confirm_memory), ("reject", reject_memory), ("dispute", dispute_memory), ("pin", pin_memory),
            ("unpin", unpin_memory),
        )
    ),
    Endpoint("POST", "/memories/{id}/correct", correct_memory, WRITE, _RECEIPT, _TAG, body=CorrectionBody,
             if_match="optional"),
    Endpoint("GET", "/memories/{id}/history", memory_history, READ, HistoryShape, _TAG, query=HistoryParams),
    Endpoint("GET", "/memories/{id}/why", memory_account, READ, AccountShape, _TAG),
    Endpoint("POST", "/undo", undo_change, WRITE, UndoneShape, _TAG, body=UndoBody, if_match="optional"),
    Endpoint("GET", "/changes", list_changes, READ, HistoryShape, _TAG, query=HistoryParams),
)  # fmt: skip
