"""A Filter as a SQL condition on `memories m`. Values are always bound; only our own words become SQL."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import TRUST
from recollect.store.codec import to_ms
from recollect.store.port import Value

# What a user may see: its own memories and those of nobody in particular. Where :user is null, only the latter.
SEEN = "(m.user_id is null or m.user_id = :user)"


def where(filter: Filter, project: str) -> tuple[str, dict[str, Value]]:
    """The condition and its parameters."""
    condition = _Condition()
    condition.add("m.project = :project", project=project)
    _standing(condition, filter)
    if filter.user != ANY_USER:
        condition.add(SEEN, user=filter.user)
    condition.one_of("m.kind", "kind", filter.kinds)
    condition.one_of("m.source", "source", filter.sources)
    condition.one_of("m.scope", "scope", filter.scopes)
    condition.one_of("m.visibility", "visibility", filter.visibilities)
    condition.facet("file", filter.files)
    condition.facet("module", filter.modules)
    condition.facet("document", filter.documents)
    condition.placed("label", filter.labels)
    condition.placed("type", filter.types)
    condition.facet("tag", [tag.casefold() for tag in filter.tags])
    condition.facet("entity", filter.entities)
    condition.one_of("m.session", "session", filter.sessions)
    condition.none_of("m.session", "other", filter.except_sessions)
    if filter.since is not None:
        condition.add("coalesce(m.event_at, m.created_at) >= :since", since=to_ms(filter.since))
    if filter.until is not None:
        condition.add("coalesce(m.event_at, m.created_at) < :until", until=to_ms(filter.until))
    if filter.min_confidence > 0:
        condition.add("m.confidence >= :least", least=filter.min_confidence)
    if filter.min_trust > 0:
        trusted = [source for source, trust in TRUST.items() if trust >= filter.min_trust]
        condition.one_of("m.source", "trusted", trusted or ["nobody"])
    if filter.needs_review is not None:
        condition.add(f"m.needs_review = {int(filter.needs_review)}")  # not bound: an index holds only those that wait
    if filter.pinned is not None:
        condition.add("m.pinned = :pinned", pinned=int(filter.pinned))
    return condition.sql, condition.params


# Closed statements that held until some moment, and so still answer for the time before it.
_ONCE_HELD = "m.status in ('superseded', 'expired') and m.valid_until > :as_of"


def _standing(condition: _Condition, filter: Filter) -> None:
    if filter.as_of is None:
        condition.one_of("m.status", "status", filter.statuses)
        return
    shown = {f"status{index}": str(status) for index, status in enumerate(sorted(filter.statuses))}
    listed = ", ".join(f":{name}" for name in shown) or "''"
    condition.add(
        f"(m.status in ({listed}) or {_ONCE_HELD}) and (m.valid_until is null or m.valid_until > :as_of) "
        "and coalesce(m.event_at, m.created_at) <= :as_of",
        as_of=to_ms(filter.as_of),
        **shown,
    )


class _Condition:
    """Grows a conjunction and its parameters together."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.params: dict[str, Value] = {}

    @property
    def sql(self) -> str:
        return " and ".join(self._parts)

    def add(self, sql: str, **params: Value) -> None:
        self._parts.append(sql)
        self.params.update(params)

    def one_of(self, column: str, name: str, values: Iterable[str]) -> None:
        if listed := sorted(str(value) for value in values):
            params = {f"{name}{index}": value for index, value in enumerate(listed)}
            self.add(f"{column} in ({', '.join(f':{key}' for key in params)})", **params)

    def none_of(self, column: str, name: str, values: Iterable[str]) -> None:
        if listed := sorted(values):
            params = {f"{name}{index}": value for index, value in enumerate(listed)}
            self.add(f"({column} is null or {column} not in ({', '.join(f':{key}' for key in params)}))", **params)

    def placed(self, column: str, values: Iterable[str]) -> None:
        """Passages of live documents whose label or type is one of some."""
        if listed := sorted(values):
            self.add(
                "m.seq in (select f.seq from documents d "
                "join facets f on f.project = :project and f.facet = 'document' and f.value = d.id "
                "where d.project = :project and d.state = 'live' "
                f"and d.{column} = any(:{column}_values))",
                **{f"{column}_values": listed},
            )

    def facet(self, facet: str, values: Iterable[str]) -> None:
        if listed := sorted(values):
            self.add(
                f"m.seq in (select seq from facets where project = :project and facet = '{facet}' "
                f"and value = any(:{facet}_values))",
                **{f"{facet}_values": listed},
            )
