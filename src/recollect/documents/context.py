"""What the documents room works with, handed in by the wiring."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.recall.reader import Reader
from recollect.remember.writer import Writer
from recollect.store.documents import Documents
from recollect.store.meta import Meta


@dataclass(frozen=True, slots=True)
class DocumentsContext:
    """The two doors to memories, and the room's own tables."""

    reader: Reader
    writer: Writer  # for passages
    documents: Documents
    meta: Meta  # notes of the room about itself
    teacher: Writer | None = None  # for what rules files teach: by the door of whoever brings them in

    def note(self, name: str) -> str | None:
        """What the room noted about this project."""
        return self.meta.get(name)

    def put_note(self, name: str, value: str) -> None:
        self.meta.put(name, value)
