"""The closed words a memory is placed with: where it holds, who sees it, where it came from, what became of it.

Adding a word here is a schema decision. Plugins may add kinds (see `kinds`), never these.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.ranking import SHOWN_STATUSES


class Scope(StrEnum):
    """Where a memory holds."""

    GLOBAL = "global"
    MODULE = "module"
    WORK_UNIT = "work_unit"
    SESSION = "session"


class Visibility(StrEnum):
    """Who may see it. Personal never leaves the machine."""

    PERSONAL = "personal"
    PROJECT = "project"
    TEAM = "team"
    ORGANIZATION = "organization"


class Source(StrEnum):
    """How it was learnt. Set by the code path that writes, never by the text."""

    USER_TAUGHT = "user_taught"
    AGENT_EXPLICIT = "agent_explicit"
    QA_AUTO = "qa_auto"
    MCP_AUTO = "mcp_auto"
    COMMIT_AUTO = "commit_auto"
    OBSERVER_INFERRED = "observer_inferred"
    INDEXED = "indexed"  # a passage of a document or of source code
    SAID = "said"  # an episode: somebody said it in a conversation
    EXTRACTED = "extracted"  # a fact drawn from what was said


# How far each source is believed, as a factor on the score of a recalled memory.
TRUST: dict[Source, float] = {
    Source.USER_TAUGHT: 1.4,
    Source.AGENT_EXPLICIT: 1.2,
    Source.QA_AUTO: 1.1,
    Source.MCP_AUTO: 1.0,
    Source.COMMIT_AUTO: 1.0,
    Source.OBSERVER_INFERRED: 0.85,
    Source.INDEXED: 1.0,
    Source.SAID: 1.0,
    Source.EXTRACTED: 0.95,
}


class Status(StrEnum):
    """What became of it. Default recall shows active and disputed only."""

    CANDIDATE = "candidate"
    ACTIVE = "active"
    DISPUTED = "disputed"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    EXPIRED = "expired"


OPEN = frozenset({Status.CANDIDATE, Status.ACTIVE, Status.DISPUTED})
SHOWN = frozenset(map(Status, SHOWN_STATUSES))


class Relation(StrEnum):
    """How one memory bears on another memory or on a file."""

    REQUIRED_WITH = "required_with"
    CONFLICTS_WITH = "conflicts_with"
    VALIDATES = "validates"
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"


class CorrectionReason(StrEnum):
    """What is wrong with a memory that a person or its own agent corrects."""

    INACCURATE = "inaccurate"  # it was never right
    OUTDATED = "outdated"  # it was right until some moment
    TOO_SPECIFIC = "too_specific"  # it holds more generally, or only in some place
    DUPLICATE = "duplicate"  # another memory says the same


class Phase(StrEnum):
    """The six universal phases every methodology maps onto."""

    DEFINE = "define"
    IMPLEMENT = "implement"
    VALIDATE = "validate"
    REFINE = "refine"
    EXPLORE = "explore"
    REFLECT = "reflect"


Choice = TypeVar("Choice", bound=StrEnum)


def choose(options: type[Choice], given: str, field: str) -> Choice:
    """The member that `given` names, or an error that lists what may be said."""
    try:
        return options(given)
    except ValueError:
        raise UnknownChoice(field, given, [str(option) for option in options]) from None


def share(value: float, field: str) -> float:
    """A number from 0 to 1, or an error that names the field. NaN is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise InvalidField(field, f"{value!r} is not a number from 0 to 1")
    return float(value)
