"""`memory.observer`: watching agents at work, as a program meets it. The work is elsewhere.

While an agent works nothing is written: events go to a `SessionWatcher` in memory, or to a spool file. `finish` writes
once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from recollect.core.drafts import Receipt
from recollect.core.errors import SessionNotFound, UnknownChoice
from recollect.core.observed import Contribution, ObservedTally, SessionSeen
from recollect.core.ports import Chore
from recollect.core.review import ReviewItem
from recollect.observer import findings, policy
from recollect.observer.commands import NAME as COMMAND
from recollect.observer.commands import PURPOSES, KnownCommand, rank_commands
from recollect.observer.commits import CommitsChore
from recollect.observer.context import ObserverContext
from recollect.observer.events import ToolCall
from recollect.observer.failure_patterns import Match, Pattern
from recollect.observer.features import FeatureState
from recollect.observer.file_prediction import PredictedFile
from recollect.observer.findings import Finding, note_drafts, note_findings, read_report
from recollect.observer.predictor import Predictor
from recollect.observer.promotion import Learned, promote
from recollect.observer.replay import Begin, Progress, Replayed, drain, replay, transcripts
from recollect.observer.synthesis import CausesChore, SynthesiseChore
from recollect.observer.watcher import SessionWatcher
from recollect.review.api import Review

DEFAULT_KIND = "build"
_HANDED_IN = "told in a transcript an agent handed in"


class Observer:
    """Learns from what agents do."""

    def __init__(
        self,
        context: ObserverContext,
        *,
        folder: Path | None,
        is_persons: bool = True,
        ingest: Callable[[], object] = lambda: None,
    ) -> None:
        """`is_persons`: a person asks, so what a transcript calls a person's words counts as that. `ingest` brings in
        what the sessions of hooks were told, whenever their files are drained."""
        self._context = context
        self._folder = folder
        self._is_persons = is_persons
        self._ingest = ingest
        self._predictor = Predictor(context)

    # --- as it happens ----------------------------------------------------------------------------------------------

    def watch(self, session: str, *, host: str = "", kind: str = DEFAULT_KIND) -> SessionWatcher:
        """Begin to watch a session; feed it events, then `finish` it."""
        return SessionWatcher(session, host=host, kind=_kind(kind), predictor=self._predictor.for_session())

    def finish(self, watch: SessionWatcher) -> Learned:
        """The session is over: write what it adds to the statistics and what was learnt, in one transaction."""
        learned = self._learn(watch)
        self._predictor.publish()
        return learned

    def _learn(self, watch: SessionWatcher) -> Learned:
        learned = promote(watch.contribution(), self._context)
        if not learned.known:
            note_drafts(findings.draft_observations(watch.observations(), session=watch.session), self._context)
        return learned

    def subtask_done(self, watch: SessionWatcher) -> Learned | None:
        """A part of a long plan was validated: what was learnt so far is kept now. Nothing for a short plan."""
        return self.finish(watch) if watch.planned > policy.LONG_PLAN_ITEMS else None

    # --- afterwards -------------------------------------------------------------------------------------------------

    def replay(
        self,
        paths: Sequence[str | os.PathLike[str]],
        *,
        kind: str | None = None,
        progress: Progress = lambda done, of: None,
    ) -> Replayed:
        """Learn from transcripts: files, folders or patterns. Again, the same ones change nothing.

        Through an agent's door, what a transcript calls a person's words waits for review: anybody can write a file.
        """
        hearsay = "" if self._is_persons else _HANDED_IN
        done = replay(transcripts(paths), self._learn, begin=self._begin(kind), hearsay=hearsay, progress=progress)
        self._predictor.publish()
        return done

    def drain(self, *, idle: float = policy.SESSION_IDLE_SECONDS, kind: str | None = None) -> Replayed:
        """Learn from the sessions that hooks have written down and that are over, and count what they were told."""
        if self._folder is None:
            return Replayed()
        now = self._context.writer.clock().timestamp()
        done = drain(self._folder, self._learn, now=now, begin=self._begin(kind), idle=idle)
        if done.learned:
            self._predictor.publish()
        self._ingest()
        return done

    def _begin(self, kind: str | None) -> Begin:
        chosen = _kind(kind or DEFAULT_KIND)
        return lambda session, host: self.watch(session, host=host, kind=chosen)

    # --- what is to be expected -------------------------------------------------------------------------------------

    def foresee(self, prompt: str, *, k: int = 10, branch: str = "") -> list[PredictedFile]:
        """The files a session that begins with `prompt` will most probably touch, the surest first, with why."""
        return self._predictor.files(prompt, k=k, branch=branch)

    def commands(self, purpose: str | None = None, *, folder: str = "", k: int = 3) -> list[KnownCommand]:
        """The commands that work here, the surest first: those that test, lint, build or run the project.

        `folder` is where the work is: what runs in another folder counts less.
        """
        if purpose is not None and purpose not in PURPOSES:
            raise UnknownChoice("purpose", purpose, PURPOSES)
        observed = self._context.observed
        return rank_commands(observed.signals_named(COMMAND), observed.ids(), purpose=purpose, folder=folder, k=k)

    def warnings(
        self,
        call: ToolCall,
        *,
        feature_state: FeatureState | None = None,
        given: Collection[str] = (),
        told: Collection[str] = (),
    ) -> list[Match]:
        """What calls like this one met before, where that is likely enough to be worth a word.

        `feature_state` is what the session did so far, `given` and `told` the ids and fingerprints it was warned of.
        """
        return self._predictor.warnings(call, feature_state=feature_state, given=given, told=told)

    def patterns(self) -> list[Pattern]:
        """Everything that is known to fail here, the likeliest first."""
        return self._predictor.patterns()

    def threshold(self) -> float:
        """How likely a failure must be to be worth a warning here, chosen by what earlier sessions would have had."""
        return self._predictor.threshold()

    def feature_state(self) -> FeatureState:
        """Where a session stands that begins now: show it every event, ask it before every call."""
        return FeatureState(self._predictor.known())

    # --- what checkers report ---------------------------------------------------------------------------------------

    def findings(self, findings: Sequence[Finding], *, session: str | None = None) -> list[Receipt]:
        """Findings of a review: critical and high ones are remembered at once, without a review of their own."""
        return note_findings(findings, self._context, session=session)

    def qa(self, report: object, *, session: str | None = None) -> list[Receipt]:
        """A report of a review or test run as plain JSON: a list of findings, or an object that holds one."""
        return self.findings(read_report(report), session=session)

    def ui(self, told: object, *, session: str | None = None) -> list[Receipt]:
        """Observations of a user interface as plain JSON, to be reviewed: a list of objects with `text` and `type`.

        Types are precondition, timing, ui_behavior, test_sequence and mcp_gotcha.
        """
        return note_drafts(
            findings.draft_observations(findings.read_observations(told), session=session), self._context
        )

    # --- at night ---------------------------------------------------------------------------------------------------

    def chores(self) -> list[Chore]:
        """What the observer hands to `tend`."""
        return [SynthesiseChore(self._context), CausesChore(self._context), CommitsChore(self._context)]

    # --- looking back -----------------------------------------------------------------------------------------------

    def statistics(self) -> ObservedTally:
        """How much was observed."""
        return self._context.observed.tally()

    def session(self, id: str) -> SessionSeen:
        """One observed session."""
        found = self._context.observed.session(id)
        if found is None:
            raise SessionNotFound(id)
        return found

    def work_of(self, id: str) -> Contribution:
        """What one observed session did: its files, calls and errors."""
        found = self._context.observed.get(id)
        if found is None:
            raise SessionNotFound(id)
        return found

    def sessions(self) -> list[SessionSeen]:
        """Every observed session, the one that began first leading."""
        return self._context.observed.sessions()

    def waiting(self, *, limit: int = 50, skip: int = 0) -> list[ReviewItem]:
        """What waits for a person, by place instead of by cursor; `memory.review` has the rest."""
        queue = Review(self._context.reader, self._context.writer, self._context.observed)
        first = max(0, skip)
        return list(queue.list(limit=first + max(0, limit)).items[first:])


def _kind(kind: str) -> str:
    if kind not in policy.MAX_PROMOTED:
        raise UnknownChoice("type", kind, policy.MAX_PROMOTED)
    return kind
