"""import_chase: three or more files were read one after the other, each imported by the one before.

An import is recognised by the name of the file or its folder in an import line of what was just read. An edit ends
the chain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.core.lazy import Lazy
from recollect.observer import gate
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult
from recollect.observer.signals.note import MARKS, Note, Signal, note, signal

_IMPORT = Lazy(r"\b(?:import|from|include|require|use|mod)\b")
_NAMES = Lazy(r"\w{1,80}")
_LINES, _KEPT = 60, 120  # lines of a file in which imports stand, and names that are kept


@dataclass(slots=True)
class ImportChase:
    name: ClassVar[str] = "import_chase"
    notes: dict[str, Note] = field(default_factory=dict)
    chain: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    call: str = ""

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            if event.action is ActionType.READ and event.paths:
                self._read(event.paths[0], event)
            elif event.action is ActionType.EDIT:
                self.chain, self.imported = [], []
        elif isinstance(event, ToolResult) and event.call_id == self.call and not event.error:
            self.imported = imports(event.text)

    def _read(self, path: str, event: ToolCall) -> None:
        parts = path.casefold().split("/")
        names = {parts[-1].split(".", 1)[0], *parts[-2:-1]}
        follows = bool(names & set(self.imported)) and path not in self.chain
        self.chain = [*self.chain, path][-MARKS:] if follows else [path]
        self.imported, self.call = [], event.call_id
        if len(self.chain) >= gate.CHAIN:
            kept = note(self.notes, f"{self.chain[0]} → {path}")
            kept.mark(event.step)
            kept.name(*self.chain)
            kept.measure = float(len(self.chain))

    def found(self, session: str) -> list[Signal]:
        return [signal(self.name, session, ends, kept) for ends, kept in self.notes.items()]


def imports(text: str) -> list[str]:
    """The names in the import lines atop a file, lower case; a block of imports counts to its closing bracket."""
    names: dict[str, None] = {}
    block = False
    for line in text.split("\n", _LINES)[:_LINES]:
        if block or _IMPORT.search(line[:300]):
            names.update(dict.fromkeys(found.group().casefold() for found in _NAMES.finditer(line[:300])))
            block = (block or line.rstrip().endswith(("(", "{"))) and ")" not in line and "}" not in line
    return list(names)[:_KEPT]
