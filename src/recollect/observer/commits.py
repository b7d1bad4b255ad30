"""Commit messages that state a decision or a fix, as candidates for a person to look at.

Whoever wrote a commit may have written anything into its message, so it is data: never told unasked before a person
confirmed it. Few are taken at a time, the newest first, so that the review queue stays one a person reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.chores import Done, Plan, Step, WorkBudget
from recollect.core.drafts import Draft
from recollect.core.errors import RecollectError
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.scope import Source, Status
from recollect.core.text import counted, excerpt
from recollect.files.git import CommitMessage
from recollect.observer.context import ACTOR, ObserverContext

MAX_CANDIDATES = 10  # that one run adds
CONFIDENCE = 0.5  # a message says what its author thought, once
_SEEN = "commits_seen"  # the newest commit that was looked at
_MAX_CHARS = 400  # of a message that are kept
_MIN_WORDS = 5  # below which a message states nothing
_FIXES = Lazy(r"(?i)^(?:fix|bugfix|hotfix)(?:es|ed)?\b|^revert\b|\bfix(?:es|ed) (?:a|an|the)\b|\bregression\b")
_DECIDES = Lazy(
    r"(?i)\bdecid(?:e|ed|es)\b|\binstead of\b|\brather than\b|\bno longer\b|\bin favou?r of\b|\bbecause\b|\bso that\b"
)


def draft_commit(commit: CommitMessage) -> Draft | None:
    """The candidate a commit's message makes; nothing when it states neither a decision nor a fix."""
    subject, _, body = commit.text.strip().partition("\n")
    paragraph = " ".join(body.strip().split("\n\n", 1)[0].split())
    text = f"{subject.rstrip('.')}. {paragraph}" if paragraph else subject
    if len(text.split()) < _MIN_WORDS:
        return None
    if _FIXES.search(subject[:200]):
        kind = Kind.ERROR_PATTERN
    elif _DECIDES.search(text[:_MAX_CHARS]):
        kind = Kind.DECISION
    else:
        return None
    return Draft(
        excerpt(text, _MAX_CHARS),
        kind=kind,
        confidence=CONFIDENCE,
        source=Source.COMMIT_AUTO,
        status=Status.CANDIDATE,
        needs_review=True,
        event_at=commit.at,
        commit=commit.id,
        skip_conflict_check=True,
        why=f"the message of commit {commit.id[:12]}",
    )


@dataclass(frozen=True, slots=True)
class CommitsChore:
    """Looks once a night at the commits since the last time."""

    context: ObserverContext
    name: str = "commits"

    def plan(self, now: datetime, *, due: bool) -> Plan:
        fresh = self._fresh() if due and self.context.snapshots is not None else ()
        steps = tuple(Step(one.id[:12], excerpt(one.text, 60)) for one in fresh[:MAX_CANDIDATES])
        return Plan(self.name, steps, len(fresh))

    def apply(self, plan: Plan, budget: WorkBudget) -> Done:
        fresh, snapshots = self._fresh(), self.context.snapshots
        if not fresh or snapshots is None:
            return Done(self.name)
        drafts = [draft for commit in fresh if (draft := draft_commit(commit)) is not None]
        added, notes = 0, []
        for draft in drafts[:MAX_CANDIDATES]:
            try:
                added += self.context.writer.remember([draft], actor=ACTOR)[0].verdict != "same"
            except RecollectError as error:  # rejected or forgotten before: it stays away
                notes.append(str(error))
        with self.context.writer.transaction():
            snapshots.write(_SEEN, fresh[0].id)
        budget.take(len(fresh))
        left = max(0, len(drafts) - MAX_CANDIDATES)
        if left:
            notes.append(f"{counted(left, 'older message')} left out: {MAX_CANDIDATES} a run are enough to review")
        return Done(self.name, len(fresh), 0, tuple(notes), {"memories": added})

    def _fresh(self) -> Sequence[CommitMessage]:
        """The commits that were not looked at yet, the newest first."""
        snapshots = self.context.snapshots
        seen = None if snapshots is None else snapshots.read(_SEEN)
        fresh: list[CommitMessage] = []
        for commit in self.context.messages():
            if commit.id == seen:
                break
            fresh.append(commit)
        return fresh
