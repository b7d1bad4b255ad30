"""Working memory: goals, facts, projects and contacts that an agent keeps in mind from turn to turn and day to day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

from recollect.agent.providers import ProviderContext
from recollect.core.errors import UnknownChoice
from recollect.core.text import clean, excerpt, require_storable
from recollect.dialogue.tools import Tool
from recollect.privacy.fence import own_words
from recollect.privacy.scan import redact

Section: TypeAlias = Literal["goals", "facts", "projects", "contacts"]
SECTIONS: tuple[str, ...] = get_args(Section)
MAX_ITEMS = 20  # of one section: what is kept in mind is short, or it is no longer working memory
MAX_ITEM_CHARS = 300  # characters


class WorkingMemoryEditor:
    """Reads and changes what is kept in mind. Items are screened for secrets and for what we injected ourselves."""

    def __init__(self, context: ProviderContext) -> None:
        self._kept = context.working
        self._writer = context.writer

    def text(self) -> str | None:
        """All of it for a prompt; nothing when nothing is kept."""
        kept = self._kept.sections()
        parts = [
            f"{section.capitalize()}:\n" + "\n".join(f"- {item}" for item in kept[section])
            for section in SECTIONS
            if kept.get(section)
        ]
        return "\n".join(parts) or None

    def update(self, section: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()) -> tuple[str, ...]:
        """Change one section and return what it holds now. The newest items stay when there are too many."""
        if section not in SECTIONS:
            raise UnknownChoice("section", section, SECTIONS)
        gone = {_folded(item) for item in remove}
        fresh = [item for text in add if (item := _item(text))]
        with self._writer.transaction():
            kept = [item for item in self._kept.sections().get(section, ()) if _folded(item) not in gone]
            unique = {_folded(item): item for item in [*kept, *fresh]}
            items = tuple(unique.values())[-MAX_ITEMS:]
            self._kept.put(section, items, at=self._writer.now())
        return items

    def tool(self) -> Tool:
        return Tool(
            "update_working_memory",
            "Keep something short in mind for every later turn, or let go of it: goals, facts, projects, contacts.",
            self._keep_in_mind,
        )

    def _keep_in_mind(self, section: Section, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Mapping[str, Any]:
        return {"section": section, "items": len(self.update(section, add=add, remove=remove))}


def _item(text: str) -> str:
    return excerpt(redact(clean(own_words(require_storable(text, "item")))[0]).text, MAX_ITEM_CHARS)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
