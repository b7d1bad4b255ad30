"""The verb tend, told as a story: due chores under a lease → plan → apply → a report in the log.

The one place where any exception of a chore is caught: it is written down with its reason, the chore rests, and the
others go on. A report that says nothing new is not written twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from recollect.core.chores import Done, Plan, WorkBudget
from recollect.core.errors import RecollectError, UnknownChoice
from recollect.core.log import Change
from recollect.core.ports import Chore, Clock, Identity, quiet
from recollect.privacy.scan import redact
from recollect.privacy.values import redact_value
from recollect.store.jobs import Job
from recollect.store.store import Store
from recollect.tend.policy import LEASE, LONGEST_RETRY, RETRY_AFTER, SCHEDULE, USUAL, is_due


@dataclass(frozen=True, slots=True)
class Tended:
    """What one run did, chore by chore. With `plans`, it was a dry run and nothing was done."""

    reports: tuple[Done, ...] = ()
    plans: tuple[Plan, ...] = ()
    skipped: tuple[str, ...] = ()  # held by another process, or resting after a failure

    def report(self, chore: str) -> Done | None:
        return next((report for report in self.reports if report.chore == chore), None)

    @property
    def model(self) -> str | None:
        """The embedding model that vectors were made with; nothing when there is none."""
        model: str | None = self._vectors.get("model")
        return model

    @property
    def embedded(self) -> int:
        return int(self._vectors.get("embedded", 0))

    @property
    def waiting(self) -> int:
        """Memories without a vector."""
        return int(self._vectors.get("waiting", 0))

    @property
    def switched(self) -> bool:
        """Did a new model take over?"""
        return bool(self._vectors.get("switched", False))

    @property
    def _vectors(self) -> Any:
        found = self.report("vectors")
        return {} if found is None else found.details


@dataclass(frozen=True, slots=True)
class TendRun:
    """One run: who runs it, by which clock, and how much it may do."""

    store: Store
    clock: Clock
    identity: Identity
    actor: str
    job: str | None = None
    dry_run: bool = False
    most: int | None = None
    seconds: float | None = None
    progress: Callable[[int, int], None] = quiet
    zone: tzinfo | None = None
    holder: str = ""


def tend(chores: Sequence[Chore], run: TendRun) -> Tended:
    """Run what is due, or one job whether due or not."""
    names = [chore.name for chore in chores]
    if run.job is not None and run.job not in names:
        raise UnknownChoice("job", run.job, names)
    wanted = [chore for chore in chores if run.job in (None, chore.name)]
    if run.dry_run:
        return Tended(plans=tuple(chore.plan(run.clock(), due=_is_due(chore, run)) for chore in wanted))
    ends = None if run.seconds is None else time.monotonic() + run.seconds
    reports, skipped = [], []
    for chore in wanted:
        result = _run(chore, run, WorkBudget(run.most, ends, run.progress))
        if isinstance(result, str):
            skipped.append(result)
        elif result is not None:
            reports.append(result)
    return Tended(tuple(reports), skipped=tuple(skipped))


def _is_due(chore: Chore, run: TendRun) -> bool:
    if run.job is not None:
        return True
    last = run.store.jobs.get(chore.name).ran_at
    return is_due(SCHEDULE.get(chore.name, USUAL), last=last, now=run.clock(), zone=run.zone)


def _run(chore: Chore, run: TendRun, budget: WorkBudget) -> Done | str | None:
    """The report of one chore; why it was skipped; nothing when there was nothing to do and no hour struck."""
    now, due = run.clock(), _is_due(chore, run)
    before, always = run.store.jobs.get(chore.name), SCHEDULE.get(chore.name, USUAL).hour is None
    if run.job is None and not always and (rest := _resting(before, now)):
        return f"{chore.name}: {rest}"
    try:
        plan = chore.plan(now, due=due)
    except Exception as error:  # a chore is a room's code: whatever it raises, the others still run
        return _closed(chore, run, before, now, _failure(chore, error), due=due)
    if not plan and not due:
        return None
    holder = run.holder or f"{os.getpid()}@{run.identity('act', now)}"
    if not run.store.jobs.claim(chore.name, holder=holder, now=now, lease=LEASE):
        return f"{chore.name}: another process is at it"
    try:
        done = (
            chore.apply(plan, budget) if plan or always else Done(chore.name, notes=(plan.note,) if plan.note else ())
        )
    except Exception as error:  # the same; what it did before is committed and stays
        done = _failure(chore, error)
    return _closed(chore, run, before, now, done, due=due, holder=holder)


def _closed(
    chore: Chore, run: TendRun, before: Job, now: datetime, done: Done, *, due: bool, holder: str | None = None
) -> Done:
    """Give the chore back and write down what it did, unless that is what was written last."""
    outcome = "failed" if done.failed else "stopped" if done.waiting or not due else "done"
    done = replace(done, notes=redact_value(done.notes))
    note = "; ".join(done.notes)
    store = run.store
    if holder is None:
        holder = f"{os.getpid()}@plan"
        if not store.jobs.claim(chore.name, holder=holder, now=now, lease=LEASE):
            return done
    with store.engine.write():
        store.jobs.release(chore.name, holder=holder, ran=now, outcome=outcome, note=note)
        repeats = (outcome, note) == (before.outcome, before.note)
        if done.done or (note and not repeats):
            change = Change("tend", None, f"{chore.name}: {note}" if note else chore.name, None, _told(done, outcome))
            store.log.append([change], act=run.identity("act", now), actor=run.actor, at=now)
    return done


def _told(done: Done, outcome: str) -> dict[str, Any]:
    return {
        "job": done.chore,
        "outcome": outcome,
        "done": done.done,
        "waiting": done.waiting,
        "details": dict(done.details),
        "notes": list(done.notes),
    }


def _failure(chore: Chore, error: Exception) -> Done:
    said = str(error) or type(error).__name__
    reason = redact(said if isinstance(error, RecollectError) else f"{type(error).__name__}: {said}").text
    return Done(chore.name, notes=(reason,), failed=True)


def _resting(job: Job, now: datetime) -> str:
    """Why a chore that failed is not tried yet, or nothing."""
    if job.outcome != "failed" or job.failed_at is None or job.failed_at > now:
        return ""
    rest = min(RETRY_AFTER * 2 ** min(job.failures - 1, 20), LONGEST_RETRY)
    until = job.failed_at + rest
    return (
        f"failed {job.failures} × ({job.note}), tried again from {until.isoformat(timespec='minutes')}"
        if now < until
        else ""
    )
