"""The spend table: what every call of a language model was allowed and what it cost. Append, then settle."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine

_COST = "coalesce(used, reserved)"  # a call that never came back is charged what it was allowed


@dataclass(frozen=True, slots=True)
class Cost:
    """What one feature has cost."""

    feature: str
    calls: int
    tokens: int
    failures: int


class Spend:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _SPENT = f"select coalesce(sum({_COST}), 0) from spend where project = :project and at >= :since and at < :until"
    _SPENT_IN = f"select coalesce(sum({_COST}), 0) from spend where project = :project and session = :session"
    _RESERVE = """
        insert into spend (project, at, model, feature, session, reserved, outcome, note)
        values (:project, :at, :model, :feature, :session, :tokens, 'open', '') returning number
    """

    def reserve(
        self,
        tokens: int,
        *,
        model: str,
        feature: str,
        session: str | None,
        at: datetime,
        day: tuple[datetime, datetime],
        per_day: int,
        per_session: int,
    ) -> int | None:
        """Set tokens aside for one call; its number, or nothing when a cap would be passed. Safe among processes."""
        with self._engine.write():
            if self.spent(*day) + tokens > per_day:
                return None
            if session is not None and self.spent_in(session) + tokens > per_session:
                return None
            values = {"project": self._project, "at": to_ms(at), "model": model, "feature": feature, "session": session}
            return int(self._engine.rows(self._RESERVE, {**values, "tokens": tokens})[0][0])

    _SETTLE = "update spend set used = :used, outcome = :outcome, note = :note where number = :number"

    def settle(self, number: int, *, used: int, outcome: str, note: str = "") -> None:
        """What a call really cost, and how it ended: ok, wrong or down."""
        with self._engine.write():
            self._engine.execute(self._SETTLE, {"number": number, "used": used, "outcome": outcome, "note": note})

    def spent(self, since: datetime, until: datetime) -> int:
        row = self._engine.row(self._SPENT, {"project": self._project, "since": to_ms(since), "until": to_ms(until)})
        return int(row[0]) if row else 0

    def spent_in(self, session: str) -> int:
        row = self._engine.row(self._SPENT_IN, {"project": self._project, "session": session})
        return int(row[0]) if row else 0

    _RECENT = """
        select at, outcome from spend where project = :project and model = :model and outcome <> 'open'
         order by number desc limit :limit
    """

    def failures(self, model: str, *, limit: int) -> tuple[int, datetime | None]:
        """How many of the last calls failed in a row, and when the last of them was made."""
        count, last = 0, None
        for at, outcome in self._engine.rows(self._RECENT, {"project": self._project, "model": model, "limit": limit}):
            if outcome != "down":
                break
            count, last = count + 1, last or from_ms(at)
        return count, last

    _BY_FEATURE = f"""
        select feature, count(*), sum({_COST}), count(*) filter (where outcome <> 'ok' and outcome <> 'open') from spend
         where project = :project and at >= :since and at < :until group by feature order by feature
    """

    def by_feature(self, since: datetime, until: datetime) -> list[Cost]:
        rows = self._engine.rows(
            self._BY_FEATURE, {"project": self._project, "since": to_ms(since), "until": to_ms(until)}
        )
        return [Cost(feature, calls, int(tokens), int(failures)) for feature, calls, tokens, failures in rows]
