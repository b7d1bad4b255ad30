"""The jobs table: when each chore ran, how it went, and who is at it now. Many short processes share it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine, Row

_NAMES = "name, ran_at, outcome, note, failures, failed_at, holder, lease_until"


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of one chore's runs."""

    name: str
    ran_at: datetime | None = None  # the start of the last run that went through
    outcome: str | None = None  # done, stopped or failed
    note: str = ""
    failures: int = 0  # in a row
    failed_at: datetime | None = None  # the last of them
    holder: str | None = None
    lease_until: datetime | None = None


class Jobs:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _GET = f"select {_NAMES} from jobs where project = :project and name = :name"

    def get(self, name: str) -> Job:
        """What is known of a chore; a chore that never ran has a blank page."""
        row = self._engine.row(self._GET, {"project": self._project, "name": name})
        return Job(name) if row is None else _job(row)

    _EVERY = f"select {_NAMES} from jobs where project = :project order by name"

    def every(self) -> list[Job]:
        return [_job(row) for row in self._engine.rows(self._EVERY, {"project": self._project})]

    _ENSURE = "insert into jobs (project, name, failures) values (:project, :name, 0) on conflict do nothing"
    _CLAIM = """
        update jobs set holder = :holder, lease_until = :until
         where project = :project and name = :name
           and (holder is null or holder = :holder or lease_until < :now or lease_until > :absurd)
    """

    def claim(self, name: str, *, holder: str, now: datetime, lease: timedelta) -> bool:
        """Take a chore for the length of a lease. False while another holds it.

        A lease that ends further ahead than any lease can was written before the clock was set back: it holds nobody.
        """
        with self._engine.write(durable=False):
            self._engine.execute(self._ENSURE, {"project": self._project, "name": name})
            times = {"now": to_ms(now), "until": to_ms(now + lease), "absurd": to_ms(now + 2 * lease)}
            return (
                self._engine.execute(self._CLAIM, {"project": self._project, "name": name, "holder": holder, **times})
                == 1
            )

    _RELEASE = """
        update jobs set holder = null, lease_until = null, outcome = :outcome, note = :note,
                        failures = case when :outcome = 'failed' then failures + 1 else 0 end,
                        failed_at = case when :outcome = 'failed' then cast(:ran as bigint) else null end,
                        ran_at = case when :outcome = 'done' then cast(:ran as bigint) else ran_at end
         where project = :project and name = :name and holder = :holder
    """

    def release(self, name: str, *, holder: str, ran: datetime, outcome: str, note: str) -> None:
        """Give a chore back with what became of it. One that was taken over meanwhile stays with its new holder."""
        params = {
            "project": self._project,
            "name": name,
            "holder": holder,
            "ran": to_ms(ran),
            "outcome": outcome,
            "note": note,
        }
        self._engine.execute(self._RELEASE, params)


def _job(row: Row) -> Job:
    name, ran_at, outcome, note, failures, failed_at, holder, lease_until = row
    return Job(
        name=name,
        ran_at=None if ran_at is None else from_ms(ran_at),
        outcome=outcome,
        note=note or "",
        failures=failures,
        failed_at=None if failed_at is None else from_ms(failed_at),
        holder=holder,
        lease_until=None if lease_until is None else from_ms(lease_until),
    )
