"""What the observer works with, handed in by the wiring: reader, writer, its own tables, a few facts of other rooms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from recollect.files.git import CommitMessage
from recollect.models.port import Model
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.store.observed import Observed

ACTOR = "observer"  # who the log says added what was observed

CoChanged = Callable[[Sequence[str]], Iterable[tuple[str, float, int]]]  # files committed with some, weight, commits


@dataclass(frozen=True, slots=True)
class Snapshots:
    """Where the texts are kept that hook processes warn from, by name."""

    read: Callable[[str], str | None]
    write: Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class ObserverContext:
    """Everything a part of the observer may need. Cheap to make: a model loads when first asked."""

    reader: Reader
    writer: Writer
    observed: Observed
    snapshots: Snapshots | None = None  # none where no hook reads this project
    project_files: Callable[[], Sequence[str]] = tuple  # those the code room knows
    cochanged: CoChanged = lambda files: ()
    model: Model | None = None
    messages: Callable[[], Sequence[CommitMessage]] = tuple  # of the last commits, newest first
