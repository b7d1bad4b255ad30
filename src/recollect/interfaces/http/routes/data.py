"""Routes by which data leaves for good: export, and erasing in two steps."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import Field

from recollect.core.errors import InvalidField, PersonOnly, RequestRefused
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status
from recollect.interfaces.http import ADMIN
from recollect.interfaces.http.endpoint import Body, Call, Count, Endpoint, Flag, Json, Moment, Texts
from recollect.interfaces.http.routes.memories import FilterParams
from recollect.interfaces.payloads.memories import listed_json
from recollect.interfaces.payloads.store import erasure_json
from recollect.interfaces.shapes.store import ErasureShape

_ERASE_SECONDS = 600.0  # every file of the store is read and rewritten
_SHOWN = 200  # memories of a dry run that are told whole
_Name = Annotated[str | None, Field(min_length=1, max_length=1_000)]


class ExportParams(FilterParams):
    """What goes out. Without a filter everything does, with history and tombstones."""

    format: Annotated[
        Literal["jsonl", "archive", "markdown", "claude"], Field(description="Markdown comes as a zip of its folder.")
    ] = "jsonl"
    personal: Annotated[Flag, Field(description="Personal memories too; only a person may ask.")] = False
    budget: Annotated[Count | None, Field(ge=1, le=1_000_000, description="Tokens of the claude form.")] = None

    def exported(self, call: Call) -> Filter | None:
        """The filter that was asked for; nothing when none was and everything may go."""
        if self.personal and not call.is_person:
            raise PersonOnly("export personal memories")
        asked = self.model_fields_set - {"store", "format", "personal", "budget"}
        if not asked:
            shown = self.format in ("markdown", "claude")  # forms for reading hold what holds now
            return None if call.is_person else Filter(user=None) if shown else Filter(statuses=Status, user=None)
        if not self.status:
            self.status = [str(status) for status in Status]
        return self.filter(call)


class ErasedFilter(Body):
    """Which memories to erase. What is named several times means any of the values."""

    kinds: Texts = Field(default_factory=list)
    sources: Texts = Field(default_factory=list)
    tags: Texts = Field(default_factory=list)
    files: Texts = Field(default_factory=list)
    sessions: Texts = Field(default_factory=list)
    since: Moment | None = None
    until: Moment | None = None


class EraseBody(Body):
    """What to erase: exactly one of subject, session, user, filter, project and everything. A dry run shows it and
    gives the digest that the erasure itself must name."""

    subject: Annotated[_Name, Field(description="A name, an alias or an e-mail address of a person.")] = None
    also: Annotated[Texts, Field(description="Further names of the subject.")] = Field(default_factory=list)
    except_names: Annotated[Texts, Field(description="Names of the subject to leave alone.")] = Field(
        default_factory=list
    )
    session: _Name = None
    user: _Name = None
    filter: ErasedFilter | None = None
    project: bool = False
    everything: bool = False
    backups: Annotated[Literal["list", "rewrite", "delete"], Field(description="What becomes of copies.")] = "list"
    exports: Annotated[bool, Field(description="Delete the exports that were written.")] = False
    dry_run: bool = True
    digest: Annotated[str | None, Field(max_length=64, description="That of the dry run.")] = None


def erase_data(call: Call) -> Json:
    """Erase a subject, a session, a user, some memories, the project or everything from every file. First as a dry run;
    then with its digest, which holds as long as exactly the same would go."""
    if not call.is_person:
        raise PersonOnly("erase")
    asked: EraseBody = call.body
    given = _given(asked)
    plan = call.memory.erase(**given, dry_run=True)
    digest = _digest(asked, [(one.id, one.revision) for one in plan.memories], plan.counts)
    shown = [listed_json(one, call.memory.confidence(one)) for one in plan.memories[:_SHOWN]]
    if asked.dry_run:
        return {**erasure_json(plan), "digest": digest, "shown": shown}
    if asked.digest != digest:
        raise RequestRefused(
            "What would be erased has changed since" if asked.digest else "Erasing needs the digest of a dry run",
            status=409 if asked.digest else 428,
            hint="Send it with dry_run, look at what would go, and send the digest that comes back.",
        )
    done = call.memory.erase(**given)
    return {**erasure_json(done), "digest": digest, "shown": []}


def _given(asked: EraseBody) -> dict[str, Any]:
    """What was asked for, as `Recollect.erase` takes it."""
    named = [asked.subject, asked.session, asked.user, asked.filter, asked.project or None, asked.everything or None]
    if sum(one is not None for one in named) != 1:
        raise InvalidField("body", "name exactly one of subject, session, user, filter, project and everything")
    filter = None
    if asked.filter is not None:
        chosen = {name: getattr(asked.filter, name) for name in asked.filter.model_fields_set}
        if not any(chosen.values()):
            raise InvalidField("filter", "it lets everything through", hint="Use `project` or `everything` for that.")
        filter = Filter(**chosen, statuses=Status, user=ANY_USER)
    return {
        "subject": asked.subject,
        "also": asked.also,
        "except_names": asked.except_names,
        "session": asked.session,
        "user": asked.user,
        "filter": filter,
        "project": asked.project,
        "everything": asked.everything,
        "backups": asked.backups,
        "exports": asked.exports,
    }


def _digest(asked: EraseBody, memories: list[tuple[str, int]], counts: dict[str, int]) -> str:
    """What was asked for and what would go, in a few letters."""
    told = [asked.model_dump_json(exclude={"dry_run", "digest"}), sorted(memories), sorted(counts.items())]
    return sha256(json.dumps(told).encode()).hexdigest()[:32]


ENDPOINTS = (
    Endpoint("POST", "/erase", erase_data, ADMIN, ErasureShape, "store", body=EraseBody, seconds=_ERASE_SECONDS,
             repeats=False, is_keepers=True),
)  # fmt: skip
