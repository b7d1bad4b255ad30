"""Routes about who said, did and was told what: conversations, entities, observed sessions, what agents were told; and
the review queue."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.core.entities import EntityType
from recollect.core.errors import InvalidField
from recollect.core.ids import MemoryId
from recollect.core.query import Filter
from recollect.core.review import DECISIONS, GROUPINGS, ReviewQuestion
from recollect.interfaces.http import READ, WRITE
from recollect.interfaces.http.endpoint import Body, Call, Count, Endpoint, Json, Limit, Params, Why
from recollect.interfaces.http.routes.memories import FilterParams
from recollect.interfaces.payloads.memories import listed_json
from recollect.interfaces.payloads.people import (
    known_entity_json,
    observer_json,
    seen_session_json,
    session_json,
    session_work_json,
    told_json,
)
from recollect.interfaces.payloads.review import (
    decided_json,
    review_evidence_json,
    review_groups_json,
    review_page_json,
)
from recollect.interfaces.shapes.memories import MemoriesShape
from recollect.interfaces.shapes.people import (
    EntitiesShape,
    EntityShape,
    ObserverShape,
    ProfileShape,
    SessionsShape,
    SessionStoryShape,
    ToldListShape,
)
from recollect.interfaces.shapes.review import DecidedShape, ReviewEvidenceShape, ReviewGroupsShape, ReviewPageShape

_Name = Annotated[str, Field(min_length=1, max_length=1_000)]
_Skip = Annotated[Count, Field(ge=0, le=10_000_000)]
_User = Annotated[str | None, Field(max_length=1_000, description="As this user of an assistant sees it.")]
_QUESTION: Any = Literal[tuple(str(one) for one in ReviewQuestion)]
_GROUPING: Any = Literal[GROUPINGS]
_DECISION: Any = Literal[DECISIONS]
_ENTITY: Any = Literal[tuple(str(one) for one in EntityType)]


class SessionsParams(Params):
    limit: Limit = 50
    skip: _Skip = 0
    user: _User = None


class EpisodesParams(Params):
    session: _Name
    limit: Limit = 200
    user: _User = None


class FactsParams(Params):
    session: Annotated[str | None, Field(max_length=1_000)] = None
    limit: Limit = 50
    user: _User = None


class EntitiesParams(SessionsParams):
    type: _ENTITY | None = None


class EntityParams(Params):
    name: Annotated[_Name, Field(description="A name, an alias or an id.")]
    type: _ENTITY | None = None
    limit: Limit = 20
    user: _User = None


class MergeBody(Body):
    """Two names for one."""

    keep: _Name
    other: _Name
    why: Why = ""


class SplitBody(Body):
    """One name for two."""

    name: _Name
    alias: _Name
    why: Why = ""


class ToldParams(Params):
    session: Annotated[str | None, Field(max_length=1_000)] = None
    limit: Limit = 50


class OneSessionParams(Params):
    session: _Name


class ReviewParams(FilterParams):
    question: _QUESTION | None = None
    by: Annotated[_GROUPING | None, Field(description="Only one group: by what.")] = None
    group: Annotated[str | None, Field(max_length=1_000, description="Only one group: its name.")] = None
    limit: Limit = 50
    cursor: Annotated[str | None, Field(max_length=1_000, description="That of the page before.")] = None


class GroupsParams(FilterParams):
    by: _GROUPING = "question"


class Decision(Body):
    """What a person decides about a memory that waits. `seen` is the `revisions` of the item as it was shown."""

    decision: _DECISION
    content: Annotated[str | None, Field(min_length=1, description="The better words, for `edit`.")] = None
    seen: Annotated[dict[str, int] | None, Field(max_length=100)] = None
    why: Why = ""


def list_sessions(call: Call) -> Json:
    """Conversations, the one spoken in last first."""
    asked: SessionsParams = call.query
    found = call.memory.sessions.list(limit=asked.limit, skip=asked.skip, user=asked.user)
    return {"sessions": [session_json(session) for session in found]}


def list_episodes(call: Call) -> Json:
    """What was said in a conversation, by event time; the last of it."""
    asked: EpisodesParams = call.query
    found = call.memory.sessions.episodes(asked.session, limit=asked.limit, user=asked.user)
    return {"memories": [listed_json(one, call.memory.confidence(one)) for one in found]}


def list_facts(call: Call) -> Json:
    """Facts drawn from conversations, newest first; of one session where it is named."""
    asked: FactsParams = call.query
    wanted = Filter(user=call.user(asked.user))
    found = call.memory.sessions.facts(session=asked.session, filter=wanted, limit=asked.limit)
    return {"memories": [listed_json(one, call.memory.confidence(one)) for one in found]}


def list_entities(call: Call) -> Json:
    """Who and what is spoken of, the most mentioned first."""
    asked: EntitiesParams = call.query
    found = call.memory.sessions.entities(type=asked.type, limit=asked.limit, skip=asked.skip, user=asked.user)
    return {"entities": [known_entity_json(one) for one in found]}


def get_entity(call: Call) -> Json:
    """All that is known of one entity, by name, alias or id."""
    asked: EntityParams = call.query
    profile = call.memory.sessions.entity(asked.name, type=asked.type, limit=asked.limit, user=asked.user)
    return {
        "entity": known_entity_json(profile.entity),
        "merged": [known_entity_json(one) for one in profile.merged],
        "memories": [listed_json(one, call.memory.confidence(one)) for one in profile.memories],
    }


def merge_entities_of(call: Call) -> Json:
    """Two names for one."""
    asked: MergeBody = call.body
    return known_entity_json(call.memory.sessions.merge_entities(asked.keep, asked.other, why=asked.why))


def split_entity_of(call: Call) -> Json:
    """One name for two."""
    asked: SplitBody = call.body
    return known_entity_json(call.memory.sessions.split_entity(asked.name, asked.alias, why=asked.why))


def list_told(call: Call) -> Json:
    """What agents were told unasked, the latest first; of one session where it is named."""
    asked: ToldParams = call.query
    return {"told": [told_json(one) for one in call.memory.told(session=asked.session, limit=asked.limit)]}


def read_observer(call: Call) -> Json:
    """How much was observed, and the latest sessions of agents."""
    return observer_json(call.memory.observer, limit=50)


def read_observed_session(call: Call) -> Json:
    """One observed session: what it did, what it was told and when, what was learnt from it."""
    id = call.query.session
    wanted = Filter(sessions=id, user=call.user(None))
    learned = call.memory.list(wanted, order="oldest", limit=200)
    work = call.memory.observer.work_of(id)
    told = call.memory.told(session=id, limit=500)
    about: dict[str, tuple[str, ...]] = {
        one.id: one.files for one in call.memory.reader.get_many([one.id for one in told if one.id])
    }
    worked_on = {one.path for one in work.files}
    return {
        "session": seen_session_json(work.session),
        **session_work_json(work),
        "told": [
            {**told_json(one), "touched": [file for file in about.get(one.id, ()) if file in worked_on]} for one in told
        ],
        "saved_tokens": call.memory.review.saved([one.id for one in told]),
        "learned": [listed_json(one, call.memory.confidence(one)) for one in learned],
    }


def list_review(call: Call) -> Json:
    """What waits for a person, best first, with the other side of each contradiction."""
    asked: ReviewParams = call.query
    if (asked.by is None) != (asked.group is None):
        raise InvalidField("group", "`by` and `group` belong together")
    group = None if asked.by is None or asked.group is None else (str(asked.by), asked.group)
    page = call.memory.review.list(
        limit=asked.limit, cursor=asked.cursor, question=asked.question, group=group, filter=asked.filter(call)
    )
    return review_page_json(page)


def group_review(call: Call) -> Json:
    """The queue by question, subject, file, module or kind."""
    asked: GroupsParams = call.query
    return review_groups_json(call.memory.review.groups(asked.by, filter=asked.filter(call)))


def review_evidence(call: Call) -> Json:
    """What speaks for and against a memory that waits: where it was seen, both sides, sources, history."""
    return review_evidence_json(call.memory.review.evidence(call.id()))


_AGENTS_DECISIONS = ("reject", "dispute")


def decide_review(call: Call) -> Json:
    """Decide about a memory that waits. Each decision is one act, and undo takes it back whole. An agent can reject and
    dispute; the rest is a person's to decide: 403."""
    asked: Decision = call.body
    if asked.decision not in _AGENTS_DECISIONS:
        call.require_person("confirm a memory or settle a contradiction")
    seen = None if asked.seen is None else {MemoryId(id): revision for id, revision in asked.seen.items()}
    done = call.memory.review.decide(call.id(), asked.decision, content=asked.content, why=asked.why, seen=seen)
    return decided_json(done)


ENDPOINTS = (
    Endpoint("GET", "/sessions", list_sessions, READ, SessionsShape, "sessions", query=SessionsParams),
    Endpoint("GET", "/sessions/episodes", list_episodes, READ, MemoriesShape, "sessions", query=EpisodesParams),
    Endpoint("GET", "/sessions/facts", list_facts, READ, MemoriesShape, "sessions", query=FactsParams),
    Endpoint("GET", "/entities", list_entities, READ, EntitiesShape, "sessions", query=EntitiesParams),
    Endpoint("GET", "/entities/profile", get_entity, READ, ProfileShape, "sessions", query=EntityParams),
    Endpoint("POST", "/entities/merge", merge_entities_of, WRITE, EntityShape, "sessions", body=MergeBody),
    Endpoint("POST", "/entities/split", split_entity_of, WRITE, EntityShape, "sessions", body=SplitBody),
    Endpoint("GET", "/told", list_told, READ, ToldListShape, "agents", query=ToldParams),
    Endpoint("GET", "/observer", read_observer, READ, ObserverShape, "agents"),
    Endpoint("GET", "/observer/session", read_observed_session, READ, SessionStoryShape, "agents",
             query=OneSessionParams),
    Endpoint("GET", "/review", list_review, READ, ReviewPageShape, "review", query=ReviewParams),
    Endpoint("GET", "/review/groups", group_review, READ, ReviewGroupsShape, "review", query=GroupsParams),
    Endpoint("GET", "/review/{id}/evidence", review_evidence, READ, ReviewEvidenceShape, "review"),
    Endpoint("POST", "/review/{id}/decide", decide_review, WRITE, DecidedShape, "review", body=Decision),
)  # fmt: skip
