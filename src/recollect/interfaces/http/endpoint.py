"""What a route is: a method, a path, a scope, what it takes and what it answers. One declaration is both what requests
are checked against and what the OpenAPI document says, so the two cannot differ.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from recollect.app import Recollect
from recollect.core.errors import InvalidField, MemoryNotFound, PersonOnly, RequestRefused
from recollect.core.fields import BY_NAME, DRAFTED
from recollect.core.forms import CHOICES
from recollect.core.given_json import parse_given_json
from recollect.core.ids import in_utc
from recollect.core.query import ANY_USER
from recollect.core.records import Memory
from recollect.core.scope import Visibility
from recollect.interfaces.http.access import ApiCaller

MOST = 500  # items on one page
MAX_TEXT = 20_000  # characters of a question in a body
MAX_QUERY = 2_000  # … in a URL, which servers and proxies keep short
Json: TypeAlias = dict[str, Any]


class Params(BaseModel):
    """The query of a URL. A misspelt name is an error, never silence."""

    model_config = ConfigDict(extra="forbid")

    store: Annotated[
        Literal["project", "personal"], Field(description="Whose memories: the project's, or the person's own.")
    ] = "project"


class Body(BaseModel):
    """A JSON object. Values have the type they should have: a number in quotes is no number."""

    model_config = ConfigDict(extra="forbid", strict=True)


def _plain_flag(value: Any) -> Any:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value, value + " is neither true nor false")
    return value


def _plain_number(value: Any) -> Any:
    if isinstance(value, str) and not value.removeprefix("-").isdigit():
        raise ValueError("it is not a whole number")
    return value


def _moment(value: datetime) -> datetime:
    return in_utc(value, "date")


def _iso_text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("write a date as text, like 2026-03-01T12:00:00Z")
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("it is not a date: write 2026-03-01T12:00:00Z") from None


Flag = Annotated[bool, BeforeValidator(_plain_flag)]
Count = Annotated[int, BeforeValidator(_plain_number)]
Moment = Annotated[datetime, BeforeValidator(_iso_text), AfterValidator(_moment)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Limit = Annotated[Count, Field(ge=1, le=MOST, description="At most this many.")]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Why = Annotated[str, Field(max_length=2_000, description="The reason, for the log.")]
Texts = Annotated[list[Annotated[str, Field(max_length=1_000)]], Field(max_length=100)]
SomeTexts = Annotated[list[Annotated[str, Field(max_length=1_000)]], Field(max_length=100, default_factory=list)]


class UnitOfWork(Body):
    """The piece of work a memory belongs to."""

    methodology: str
    hierarchy: list[str]
    label: str


_FORMS: Mapping[str, Any] = {
    "text": str,
    "name": str,
    "labels": Texts,
    "real": Share,
    "count": int,
    "flag": bool,
    "moment": Moment,
    "decay": str,
    "work_unit": UnitOfWork,
    "payload": Json,
    "object": Json,
}


def field_type(name: str) -> Any:
    """What a body may say for a field of a memory, as the table of fields has it."""
    found = BY_NAME.get(name) or next(one for one in DRAFTED if one.name == name)
    plain = Literal[tuple(str(one) for one in CHOICES[found.choices])] if found.choices else _FORMS[found.form]
    described = Annotated[plain, Field(description=found.about)] if found.about else plain
    return described | None if found.optional else described


@dataclass(frozen=True, slots=True)
class Call:
    """One request, parsed: the memory as the caller may use it, and what they gave."""

    memory: Recollect
    caller: ApiCaller
    path: Mapping[str, str] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    revision: int | None = None  # of If-Match
    server: Any = None  # what the server itself knows

    @property
    def is_person(self) -> bool:
        return self.caller.door.is_persons

    def require_person(self, what: str) -> None:
        """Refuse what only a person can do."""
        if not self.is_person:
            raise PersonOnly(what)

    @property
    def is_keeper(self) -> bool:
        """Is it the person whose store it is? Members see nothing of the users that an assistant has."""
        return self.is_person and self.caller.member is None

    def user(self, given: str | None) -> str | None:
        """Whose memories are meant where nobody is named: everybody's for the owner, nobody's in particular for an
        agent."""
        if given is None:
            return ANY_USER if self.is_keeper else None
        if given == ANY_USER and not self.is_keeper:
            raise InvalidField("user", "only a person may ask for everybody's")
        return given

    def find(self, id: str) -> Memory:
        """A memory by its id, as the caller may see it: personal ones do not exist for an agent's token."""
        memory = self.memory.reader.get(id, user=self.user(None))
        if not self.may_see(memory):
            raise MemoryNotFound(id)
        return memory

    def may_see(self, memory: Memory) -> bool:
        """Is it none of a person's own, nor of an assistant's user, or is the caller a person?"""
        return self.is_person or (memory.visibility is not Visibility.PERSONAL and memory.user is None)

    def visibilities(self, given: Sequence[str]) -> Collection[str]:
        """For whom memories may be that the caller asks for: an agent's token is shown nothing personal."""
        if self.is_person:
            return given
        if Visibility.PERSONAL in given:
            raise PersonOnly("look at personal memories here")
        return given or [one for one in Visibility if one is not Visibility.PERSONAL]

    def id(self) -> str:
        """The full id of the memory that the path names, as the caller may see it."""
        return self.find(self.path["id"]).id


@dataclass(frozen=True, slots=True)
class Answer:
    """What a route answers: JSON, and the revision of the one memory it is about."""

    value: Any
    revision: int | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One route. `call` parses nothing and renders nothing: it calls one method and names the payload."""

    method: str
    path: str
    call: Callable[[Call], Answer | Json]
    scope: str
    answer: Any
    tag: str
    query: type[Params] | None = None
    body: type[Body] | None = None
    status: int = 200
    if_match: Literal["", "optional", "required"] = ""
    seconds: float = 30.0  # that an answer may take
    repeats: bool = True  # is its answer kept under an idempotency key?
    is_keepers: bool = False  # it is about the store or the machine, and no member's business
    compressed: bool = False  # bodies may come as gzip, and answers go so to who takes them

    @property
    def name(self) -> str:
        return self.call.__name__

    @property
    def about(self) -> str:
        return " ".join((self.call.__doc__ or "").split())

    def parse_query(self, pairs: list[tuple[str, str]]) -> Params:
        """What the query of a URL says."""
        model = self.query or Params
        lists = {name for name, one in model.model_fields.items() if "list" in str(one.annotation)}
        given: dict[str, Any] = {}
        for name, value in pairs:
            if name in lists:
                given.setdefault(name, []).append(value)
            elif name in given:
                raise InvalidField(name[:80], "it is given twice")
            else:
                given[name] = value
        found: Params = _checked(model, given)
        return found

    def parse_body(self, data: bytes, media: str) -> Body | None:
        """What the body says: a JSON object, or nothing where none is taken or needed."""
        if self.body is None:
            if data:
                raise RequestRefused("This takes no body", status=400)
            return None
        if not data:
            empty: Body = _checked(self.body, {})
            return empty
        if media.partition(";")[0].strip().lower() != "application/json":
            raise RequestRefused("The body must be application/json", status=415)
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RequestRefused(f"Byte {error.start} of the body is not UTF-8", status=400) from None
        value = parse_given_json(text, "body")
        if not isinstance(value, dict):
            raise InvalidField("body", "it must be a JSON object")
        found: Body = _checked(self.body, value)
        return found


_PLAINER = {"extra_forbidden": "there is no such field", "missing": "it is missing"}


def _checked(model: type[Any], given: Mapping[str, Any]) -> Any:
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        # A misspelt name also makes the right one missing: the first is what went wrong.
        first = min(found, key=lambda one: one["type"] != "extra_forbidden")
        name = ".".join(str(part) for part in first["loc"])[:80] or "body"
        told = _PLAINER.get(first["type"]) or first["msg"].removeprefix("Value error, ").rstrip(".")
        raise InvalidField(name, told) from None


def dump(value: Any) -> bytes:
    """JSON as it is sent. What cannot be spelt in UTF-8 is replaced."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
