"""Routes for work at hand: briefings and answers, documents, the code."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.code.modules import module_path
from recollect.core.query import DEFAULT_K, Filter
from recollect.core.scope import Phase
from recollect.interfaces.http import READ
from recollect.interfaces.http.endpoint import (
    MAX_QUERY,
    MAX_TEXT,
    Body,
    Call,
    Count,
    Endpoint,
    Json,
    Params,
    SomeTexts,
)
from recollect.interfaces.http.routes.memories import FilterParams
from recollect.interfaces.payloads.memories import answer_json, briefing_json, found_json
from recollect.interfaces.payloads.rooms import (
    checked_json,
    code_hit_json,
    document_json,
    impact_json,
    map_json,
    matches_json,
)
from recollect.interfaces.shapes.memories import AnswerShape, PackedBriefing
from recollect.interfaces.shapes.rooms import (
    CodeFoundShape,
    DocsCheckedShape,
    DocumentLinksShape,
    DocumentsShape,
    MapShape,
    MatchesShape,
    ReachShape,
    RelatedDocumentsShape,
)

_PHASE: Any = Literal[tuple(str(one) for one in Phase)]
_Question = Annotated[str, Field(min_length=1, max_length=MAX_QUERY)]
_Few = Annotated[Count, Field(ge=1, le=100, description="At most this many.")]


class BriefParams(FilterParams):
    q: Annotated[_Question, Field(description="What is about to be done, in a sentence.")]
    about: Annotated[SomeTexts, Field(description="Files in play.")]
    phase: _PHASE | None = None
    budget: Annotated[Count | None, Field(ge=1, le=20_000, description="At most so many tokens.")] = None


class QuestionBody(Body):
    """A question. With `write`, the configured language model writes an answer, each sentence with its memories."""

    question: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    limit: Annotated[int, Field(ge=1, le=50)] = DEFAULT_K
    write: bool = False
    kinds: Annotated[list[str], Field(max_length=50, default_factory=list)]
    user: Annotated[str | None, Field(max_length=1_000)] = None


class DocsParams(Params):
    label: str | None = None
    type: Literal["semantic", "procedural"] | None = None


class DocsSearchParams(DocsParams):
    q: _Question
    limit: _Few = 8


class PathParams(Params):
    path: Annotated[str, Field(min_length=1, max_length=1_000)]
    limit: _Few = 5


class CheckParams(Params):
    change: Annotated[str | None, Field(max_length=1_000, description="A change: its directory or name.")] = None


class TargetParams(Params):
    target: Annotated[str, Field(min_length=1, max_length=1_000, description="FILE or FILE:SYMBOL.")]
    depth: Annotated[Count, Field(ge=1, le=20, description="How many edges far.")] = 3
    limit: Annotated[Count, Field(ge=1, le=1_000, description="At most this many nodes.")] = 50


class CodeSearchParams(Params):
    q: _Question
    limit: _Few = 8


def make_briefing(call: Call) -> Json:
    """What an agent is given before it works: packed into a budget of tokens, fenced, cited."""
    asked: BriefParams = call.query
    briefing = call.memory.brief(
        asked.q,
        phase=asked.phase,
        files=asked.about,
        budget=asked.budget,
        filter=asked.filter(call),
        track=not call.is_person,
    )
    return {**briefing_json(briefing), "hits": [found_json(hit, asked.q) for hit in briefing.hits]}


def ask_memory(call: Call) -> Json:
    """What is remembered about a question, and a written answer where a language model is configured."""
    asked: QuestionBody = call.body
    wanted = Filter(kinds=asked.kinds, user=call.user(asked.user))
    answer = call.memory.ask(asked.question, k=asked.limit, filter=wanted, write=asked.write, track=not call.is_person)
    return answer_json(answer)


def list_documents(call: Call) -> Json:
    """The documents that are indexed, by path, with how far each is trusted now."""
    docs = call.memory.docs
    found = docs.list(label=call.query.label, type=call.query.type)
    return {"documents": [{**document_json(one), "confidence_now": docs.confidence(one)} for one in found]}


def search_documents(call: Call) -> Json:
    """The best passages of the project's documents for a question."""
    asked: DocsSearchParams = call.query
    found = call.memory.docs.search(
        asked.q, limit=asked.limit, label=asked.label, type=asked.type, track=not call.is_person
    )
    return matches_json(found)


def related_documents(call: Call) -> Json:
    """The documents most often found together with one."""
    found = call.memory.docs.related(call.query.path, limit=call.query.limit)
    return {
        "related": [
            {"document": document_json(one.document), "count": one.count, "last": one.last.isoformat()} for one in found
        ]
    }


def document_links(call: Call) -> Json:
    """What a document links to, what links to it, and how high that ranks it among the others."""
    found = call.memory.docs.place(call.query.path)
    return {"rank": found.rank, "links_to": list(found.links_to), "linked_from": list(found.linked_from)}


def check_docs(call: Call) -> Json:
    """Contradictions between a change and the specs that hold, and broken links."""
    return checked_json(call.memory.docs.check(call.query.change))


def code_impact(call: Call) -> Json:
    """What breaks if a file or symbol changes: dependents, tests, files that changed together, memories."""
    asked: TargetParams = call.query
    return impact_json(call.memory.code.impact(asked.target, depth=asked.depth, limit=asked.limit))


def code_deps(call: Call) -> Json:
    """What a file or symbol needs."""
    asked: TargetParams = call.query
    return impact_json(call.memory.code.deps(asked.target, depth=asked.depth, limit=asked.limit))


def code_trace(call: Call) -> Json:
    """Where the data of a file or symbol goes: along calls and flows only."""
    asked: TargetParams = call.query
    return impact_json(call.memory.code.trace(asked.target, depth=asked.depth, limit=asked.limit))


def code_map(call: Call) -> Json:
    """The folders of the code, what they need, how often they change, how many memories are about their files."""
    found = map_json(call.memory.code.map())
    known: Counter[str] = Counter()
    for file, count in call.memory.overview.covered_files().items():
        known[module_path(file)] += count
    return {**found, "modules": [{**one, "memories": known[one["path"]]} for one in found["modules"]]}


def search_code(call: Call) -> Json:
    """Passages of the project's source code for a question, best first."""
    return {"hits": [code_hit_json(hit) for hit in call.memory.code.search(call.query.q, k=call.query.limit)]}


_REACH = ReachShape
ENDPOINTS = (
    Endpoint("GET", "/brief", make_briefing, READ, PackedBriefing, "memories", query=BriefParams),
    Endpoint("POST", "/ask", ask_memory, READ, AnswerShape, "memories", body=QuestionBody, seconds=120.0),
    Endpoint("GET", "/docs", list_documents, READ, DocumentsShape, "documents", query=DocsParams),
    Endpoint("GET", "/docs/search", search_documents, READ, MatchesShape, "documents", query=DocsSearchParams),
    Endpoint("GET", "/docs/related", related_documents, READ, RelatedDocumentsShape, "documents",
             query=PathParams),
    Endpoint("GET", "/docs/links", document_links, READ, DocumentLinksShape, "documents", query=PathParams),
    Endpoint("GET", "/docs/check", check_docs, READ, DocsCheckedShape, "documents", query=CheckParams,
             seconds=120.0),
    Endpoint("GET", "/code/impact", code_impact, READ, _REACH, "code", query=TargetParams),
    Endpoint("GET", "/code/deps", code_deps, READ, _REACH, "code", query=TargetParams),
    Endpoint("GET", "/code/trace", code_trace, READ, _REACH, "code", query=TargetParams),
    Endpoint("GET", "/code/map", code_map, READ, MapShape, "code"),
    Endpoint("GET", "/code/search", search_code, READ, CodeFoundShape, "code", query=CodeSearchParams),
)  # fmt: skip
