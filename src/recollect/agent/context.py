"""What an agent's session works with, handed in by the composition root. Nothing here knows the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect.agent.methodology import Methodology
from recollect.observer.api import Observer
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.store.injections import Injections
from recollect.store.sqlite.hook_reader import HookReader


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Everything a part of the agent loop may need. Cheap to make: models load when recall first asks for them."""

    reader: Reader
    writer: Writer
    injections: Injections  # what each session was told
    hook_reader: Callable[[], HookReader]  # the store read the lean way, as of now
    setting: Callable[[str], str | None]  # what the store keeps under a name: the arm, the level of trust
    ingest: Callable[[], object]  # brings in what hooks and other processes were told
    methodology: Methodology
    folder: str | None = None  # where the files of sessions are; none for a store that lives in memory
    root: Path | None = None  # the project's directory, where there is one
    observer: Observer | None = None  # watches, foresees and learns
