"""The shapes of what agents and programs are answered, for the output schemas of MCP and of the HTTP API. The values
are made by `payloads`.

Only what a caller may rely on is named; a shape is open, so a new field in a payload breaks nobody.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias

from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from recollect.core.fields import SHOWN
from recollect.core.forms import CHOICES

_OPEN = ConfigDict(extra="allow")


_TYPES = {"real": float, "count": int, "labels": list[str]}

if TYPE_CHECKING:
    MemoryShape: TypeAlias = dict[str, Any]
else:  # the fields an agent may rely on, as the table of fields has them
    MemoryShape = with_config(_OPEN)(
        TypedDict(
            "MemoryShape",
            {
                field.name: kind if field.promised else NotRequired[kind]
                for field in SHOWN
                if field.promised is not None
                for kind in [_TYPES.get(field.form, str)]
            },
        )
    )
    MemoryShape.__doc__ = "A memory. Empty fields are left out; times are ISO 8601 in UTC."


_WHOLE: dict[str, Any] = {
    "real": float,
    "count": int,
    "flag": bool,
    "labels": list[str],
    "moment": datetime,
    "payload": dict[str, Any],
    "object": dict[str, Any],
    "work_unit": dict[str, Any],
    "span": dict[str, Any],
}
_COUNTED = ("revision",)  # from 1
_NEVER_EMPTY = ("text", "choice", "moment", "real")

if TYPE_CHECKING:
    WholeMemory: TypeAlias = dict[str, Any]
else:  # every field that is shown, for the HTTP API and its typed client
    WholeMemory = with_config(_OPEN)(
        TypedDict(
            "WholeMemory",
            {
                **{
                    field.name: kind
                    if (field.form in _NEVER_EMPTY and not field.optional) or field.name in _COUNTED
                    else NotRequired[kind]
                    for field in SHOWN
                    for kind in [
                        Literal[tuple(str(one) for one in CHOICES[field.choices])]
                        if field.choices
                        else _WHOLE.get(field.form, str)
                    ]
                },
                "confidence_now": NotRequired[float],
            },
        )
    )
    WholeMemory.__doc__ = "A memory with every field. Empty fields are left out; times are ISO 8601 in UTC."


@with_config(_OPEN)
class HitShape(TypedDict):
    id: str
    score: float
    confidence: float
    citation: str
    reasons: list[str]
    doubts: list[str]
    memory: MemoryShape


@with_config(_OPEN)
class FoundShape(TypedDict):
    """What was found, best first; `notes` say what was skipped and why."""

    query_type: str
    notes: list[str]
    hits: list[HitShape]


@with_config(_OPEN)
class BriefingShape(TypedDict):
    """A briefing within its budget: fenced text, and the ids of what is in it."""

    text: str
    ids: list[str]
    tokens: int
    notes: list[str]


@with_config(_OPEN)
class ReceiptShape(TypedDict):
    """What became of a statement: new, same, supersedes or contradicts."""

    id: str
    verdict: str
    against: list[str]
    redacted: list[str]
    notes: list[str]
    durable: bool
    memory: MemoryShape


@with_config(_OPEN)
class UpdatedShape(TypedDict):
    """The memory as it is now; `supersedes` names the one it took the place of, nothing when it is only proposed."""

    id: str
    memory: MemoryShape
    supersedes: NotRequired[str | None]
    notes: NotRequired[list[str]]


@with_config(_OPEN)
class ForgottenShape(TypedDict):
    forgotten: str
    lingering: str
    backups: list[str]


@with_config(_OPEN)
class StatusShape(TypedDict):
    project: str
    memories: dict[str, int]
    sessions: dict[str, int]
    entities: dict[str, int]
    review: dict[str, Any]
    observer: dict[str, Any]
    latest: list[dict[str, Any]]
    spend: dict[str, Any]
    jobs: list[dict[str, Any]]


@with_config(_OPEN)
class ReachShape(TypedDict):
    """What a change reaches, or what something needs."""

    target: str
    direction: str
    nodes: list[dict[str, Any]]
    files: list[dict[str, Any]]
    tests: list[str]
    notes: list[str]


class CodeFoundShape(TypedDict):
    hits: list[dict[str, Any]]


class MatchesShape(TypedDict):
    matches: list[dict[str, Any]]
    notes: list[str]


@with_config(_OPEN)
class DocsCheckedShape(TypedDict):
    ok: bool
    conflicts: list[dict[str, Any]]
    broken: list[dict[str, Any]]
    notes: list[str]


class CheckShape(TypedDict):
    ok: bool
    memories: int
    findings: list[dict[str, Any]]


class BackupShape(TypedDict):
    path: str | None


# --- of the HTTP API only --------------------------------------------------------------------------------------------


@with_config(_OPEN)
class MemoryPage(TypedDict):
    """A page of memories. `cursor` leads to the page after it; `damaged` names rows that could not be read."""

    memories: list[WholeMemory]
    total: NotRequired[int]
    cursor: str | None
    damaged: list[str]


@with_config(_OPEN)
class FoundMemory(TypedDict):
    """A memory that was found, with what ranked it and where the words of the question stand in it."""

    id: str
    score: float
    confidence: float
    citation: str
    factors: dict[str, float]
    reasons: list[str]
    doubts: list[str]
    highlights: NotRequired[list[list[int]]]
    memory: WholeMemory


@with_config(_OPEN)
class FoundMemories(TypedDict):
    """What was found, best first; `notes` say what was skipped and why."""

    query_type: str
    notes: list[str]
    hits: list[FoundMemory]


@with_config(_OPEN)
class PackedBriefing(TypedDict):
    """A briefing within its budget: the fenced text and the memories in it."""

    query_type: str
    tokens: int
    notes: list[str]
    hits: list[FoundMemory]
    text: str


@with_config(_OPEN)
class RememberedShape(TypedDict):
    """What became of a statement: new, same, supersedes or contradicts."""

    id: str
    verdict: Literal["new", "same", "supersedes", "contradicts"]
    against: list[str]
    redacted: list[str]
    notes: list[str]
    durable: bool
    memory: WholeMemory


@with_config(_OPEN)
class EntryShape(TypedDict):
    """One change in the log: who, when, by which door, what and why."""

    number: int
    act: str
    at: datetime
    actor: NotRequired[str]
    door: NotRequired[str]
    action: str
    memory: NotRequired[str]
    why: NotRequired[str]
    before: NotRequired[dict[str, Any]]
    after: NotRequired[dict[str, Any]]
    undoes: NotRequired[str]
    erased: NotRequired[bool]


@with_config(_OPEN)
class HistoryShape(TypedDict):
    entries: list[EntryShape]


@with_config(_OPEN)
class LinkShape(TypedDict):
    source: str
    relation: str
    target: NotRequired[str]
    file: NotRequired[str]
    confidence: float
    automatic: NotRequired[bool]
    created_at: datetime


@with_config(_OPEN)
class FadingShape(TypedDict):
    """What the confidence will be worth in so many days if nobody uses the memory."""

    day: int
    confidence: float


@with_config(_OPEN)
class AccountShape(TypedDict):
    """How we came to believe something: the memory, its links both ways, all that happened to it."""

    memory: WholeMemory
    confidence_now: float
    points_at: list[LinkShape]
    pointed_at_by: list[LinkShape]
    history: list[EntryShape]
    fading: list[FadingShape]


class UndoneShape(TypedDict):
    """What was taken back."""

    act: str
    actions: list[str]
    memories: list[str]


@with_config(_OPEN)
class BatchResult(TypedDict):
    """What became of one of several: `ok`, or the code and words of the error."""

    id: str
    ok: bool
    code: NotRequired[str]
    detail: NotRequired[str]


class BatchShape(TypedDict):
    results: list[BatchResult]


class FacetValue(TypedDict):
    value: str
    count: int


class FacetsShape(TypedDict):
    """How many memories of a filter carry each value, the most frequent first."""

    total: int
    facets: dict[str, list[FacetValue]]


class ReasonShape(TypedDict):
    """Why points are missing, and the command that helps."""

    code: str
    points: int
    text: str
    action: str
    count: int


class GrowthShape(TypedDict):
    name: str
    value: float
    limit: float
    passed: bool


@with_config(_OPEN)
class HealthShape(TypedDict):
    """How healthy the store is, from 0 to 100, with the reason for every missing point."""

    score: int
    reasons: list[ReasonShape]
    total: int
    active: int
    to_review: int
    growth: list[GrowthShape]
    at: datetime


class DayShape(TypedDict):
    day: str
    name: str
    count: int


class ActivityShape(TypedDict):
    """What happened each day, in UTC: memories by kind and by source, acts, and what agents were told by moment."""

    since: str
    kinds: list[DayShape]
    sources: list[DayShape]
    acts: list[DayShape]
    told: list[DayShape]


class CitedSentenceShape(TypedDict):
    text: str
    memories: list[str]


@with_config(_OPEN)
class AnswerShape(TypedDict):
    """What is remembered about a question; `sentences` where a language model wrote an answer, each with what it rests
    on."""

    question: str
    model: str | None
    sentences: list[CitedSentenceShape]
    hits: list[FoundMemory]
    notes: list[str]


@with_config(_OPEN)
class ReviewItemShape(TypedDict):
    """A memory that waits for a person. `revisions` goes back with a decision, so that it holds for these words."""

    id: str
    question: Literal["contradiction", "dispute", "stale", "candidate", "tainted"]
    subject: str
    memory: WholeMemory
    rivals: list[WholeMemory]
    revisions: dict[str, int]
    sessions: list[str]
    steps: int
    saves_tokens: int
    tainted: bool
    spoken: bool
    in_others_words: bool


@with_config(_OPEN)
class ReviewPageShape(TypedDict):
    items: list[ReviewItemShape]
    total: int
    cursor: str | None
    damaged: list[str]


class ReviewGroupShape(TypedDict):
    by: str
    name: str
    count: int


class ReviewGroupsShape(TypedDict):
    groups: list[ReviewGroupShape]


@with_config(_OPEN)
class SightingShape(TypedDict):
    session: NotRequired[str]
    host: NotRequired[str]
    at: NotRequired[datetime]
    steps: NotRequired[list[int]]
    prompt: NotRequired[str]
    taint: NotRequired[str]


@with_config(_OPEN)
class ReviewEvidenceShape(TypedDict):
    """What speaks for and against an item, both sides of a contradiction included."""

    item: ReviewItemShape
    times: int
    sightings: list[SightingShape]
    sources: list[WholeMemory]
    history: list[EntryShape]
    rival_histories: dict[str, list[EntryShape]]


@with_config(_OPEN)
class DecidedShape(TypedDict):
    decision: str
    memory: WholeMemory
    settled: list[WholeMemory]
    waiting: int
    act: str  # undo it by this id; empty when nothing changed


@with_config(_OPEN)
class SessionShape(TypedDict):
    """A conversation: when, how much was said, how far its facts were drawn."""

    id: str
    state: Literal["open", "queued", "consolidated"]
    episodes: int
    seen_at: datetime
    last_at: datetime
    consolidated_at: datetime | None


class SessionsShape(TypedDict):
    sessions: list[SessionShape]


class MemoriesShape(TypedDict):
    memories: list[WholeMemory]


@with_config(_OPEN)
class EntityShape(TypedDict):
    id: str
    name: str
    type: str
    aliases: list[str]
    summary: str
    mentions: int


class EntitiesShape(TypedDict):
    entities: list[EntityShape]


@with_config(_OPEN)
class ProfileShape(TypedDict):
    """All that is known of one entity."""

    entity: EntityShape
    merged: list[EntityShape]
    memories: list[WholeMemory]


@with_config(_OPEN)
class ToldShape(TypedDict):
    """A memory that an agent was told unasked: when, where, and what became of it."""

    id: str
    at: datetime
    moment: str
    session: str
    host: str
    status: str
    content: str


class ToldListShape(TypedDict):
    told: list[ToldShape]


@with_config(_OPEN)
class SeenSessionShape(TypedDict):
    """An observed session of an agent, in figures."""

    id: str
    host: str
    kind: str
    outcome: str
    started: datetime | None
    ended: datetime | None
    prompt: str
    steps: int
    calls: int
    errors: int
    tokens: int
    taint: str
    branch: str


@with_config(_OPEN)
class ObserverShape(TypedDict):
    """How much was observed, and the latest sessions."""

    sessions: int
    calls: int
    errors: int
    events: int
    slow_events: int
    tainted_sessions: int
    promoted: int
    last: datetime | None
    latest: list[SeenSessionShape]


@with_config(_OPEN)
class SeenErrorShape(TypedDict):
    tool: str
    words: str
    example: str
    steps: list[int]
    times: int
    resolution: str


@with_config(_OPEN)
class SeenFileShape(TypedDict):
    path: str
    reads: int
    edits: int
    first: int
    last: int


@with_config(_OPEN)
class SeenToolShape(TypedDict):
    tool: str
    words: str
    times: int
    errors: int


@with_config(_OPEN)
class SessionStoryShape(TypedDict):
    """One observed session: what it did, what it was told and when, what was learnt from it."""

    session: SeenSessionShape
    told: list[ToldShape]
    saved_tokens: int
    learned: list[WholeMemory]
    errors: list[SeenErrorShape]
    files: list[SeenFileShape]
    tools: list[SeenToolShape]


@with_config(_OPEN)
class JobShape(TypedDict):
    name: str
    outcome: str | None
    note: str
    failures: int
    ran_at: datetime | None
    failed_at: datetime | None
    held_by: str | None
    next_at: datetime
    always: bool


class JobsShape(TypedDict):
    jobs: list[JobShape]


class JobReportShape(TypedDict):
    job: str
    done: int
    waiting: int
    failed: bool
    notes: list[str]


class JobPlanShape(TypedDict):
    job: str
    total: int
    note: str
    steps: list[dict[str, str]]


class TendedShape(TypedDict):
    """What a run did, or with `dry_run` what it would do."""

    reports: list[JobReportShape]
    plans: list[JobPlanShape]
    skipped: list[str]


@with_config(_OPEN)
class PackShape(TypedDict):
    name: str
    state: str
    model: str
    dims: int
    bytes: int
    licence: str
    path: str


@with_config(_OPEN)
class ModelsShape(TypedDict):
    """Which models answer here, and the packs there are."""

    embedder: str
    vectors: str | None
    waiting: int
    reranker: str
    model: str
    tokens_today: int
    tokens_per_day: int
    packs: list[PackShape]


@with_config(_OPEN)
class TrustLevelShape(TypedDict):
    level: Literal["cautious", "standard", "confident", "autonomous"]
    told: int


@with_config(_OPEN)
class TrustLevelsShape(TypedDict):
    """How many memories may be told unasked at each level, of how many."""

    memories: int
    levels: list[TrustLevelShape]


@with_config(_OPEN)
class HostShape(TypedDict):
    name: str
    state: Literal["absent", "current", "outdated", "broken"]


class HostsShape(TypedDict):
    hosts: list[HostShape]


@with_config(_OPEN)
class SavedShape(TypedDict):
    """About how many tokens agents saved by what they were told."""

    days: int
    told: int
    tokens: int


@with_config(_OPEN)
class TrustShape(TypedDict):
    """How much agents are told unasked, and what people did with what they were shown since."""

    level: Literal["cautious", "standard", "confident", "autonomous"]
    threshold: float
    offered: str | None
    sessions: int
    reviewed: int
    confirmed: int
    used: int
    corrected: int
    flagged: int


class SettingShape(TypedDict):
    name: str
    value: Any
    default: Any


class SettingsShape(TypedDict):
    """The settings that hold, and what was ignored."""

    settings: list[SettingShape]
    notice: str
    trust: TrustShape


@with_config(_OPEN)
class StoreShape(TypedDict):
    name: Literal["project", "personal"]
    project: NotRequired[str]
    path: str | None
    exists: bool
    foreign: NotRequired[bool]
    read_only: NotRequired[bool]
    memories: NotRequired[dict[str, int]]
    bytes: NotRequired[int]
    notices: NotRequired[list[str]]
    backups: NotRequired[list[dict[str, Any]]]


class StoresShape(TypedDict):
    stores: list[StoreShape]


class StateShape(TypedDict):
    """What a store is and holds now, in a few letters: adopting names it, so that nothing else is adopted."""

    state: str
    foreign: bool


class AdoptedShape(TypedDict):
    adopted: bool


@with_config(_OPEN)
class DocumentShape(TypedDict):
    id: str
    path: str
    title: NotRequired[str]
    label: NotRequired[str]
    type: NotRequired[str]
    confidence: float
    created_at: datetime
    updated_at: datetime
    accessed_at: NotRequired[datetime]
    access_count: NotRequired[int]
    sha256: NotRequired[str]
    size: NotRequired[int]
    passages: NotRequired[int]
    confidence_now: NotRequired[float]


class DocumentsShape(TypedDict):
    documents: list[DocumentShape]


class RelatedDocumentShape(TypedDict):
    document: DocumentShape
    count: int
    last: datetime


class RelatedDocumentsShape(TypedDict):
    related: list[RelatedDocumentShape]


@with_config(_OPEN)
class DocumentLinksShape(TypedDict):
    """What a document links to, what links to it, and its rank as a share of the highest."""

    rank: float
    links_to: list[str]
    linked_from: list[str]


@with_config(_OPEN)
class ModuleShape(TypedDict):
    path: str
    files: int
    symbols: int
    layer: int
    role: str
    needs: list[dict[str, Any]]
    needed_by: list[str]
    entries: list[str]
    changes: int
    memories: int


@with_config(_OPEN)
class MapShape(TypedDict):
    """The folders of the code, what they need, their layers, and where programs begin."""

    files: int
    nodes: int
    edges: int
    languages: dict[str, int]
    modules: list[ModuleShape]
