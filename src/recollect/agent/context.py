"""What an agent's session works with, handed in by the composition root. Nothing here knows the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from recollect.agent.ingest import InjectionIngest
from recollect.agent.methodology import Methodology
from recollect.files.mark import StoreOrigin
from recollect.observer.api import Observer
from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.store.hook_reader import HookReader


@dataclass(frozen=True, slots=True)
class AgentContext:
    """Everything a part of the agent loop may need. Cheap to make: models load when recall first asks for them."""

    reader: Reader
    writer: Writer
    injections: InjectionIngest  # what each session was told, brought into the store
    hook_reader: Callable[[], HookReader]  # the store read the lean way, as of now
    methodology: Methodology
    origin: StoreOrigin  # of a foreign store nothing is told
    root: Path | None = None  # the project's directory, where there is one
    observer: Observer | None = None  # watches, foresees and learns
