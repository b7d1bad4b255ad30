"""The pipeline: which finders run under which strategy. `fast` is for the hot path, `accurate` for the night."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from recollect.core.entities import Mention
from recollect.entities.regex import shaped_mentions
from recollect.entities.resolve import without_overlaps
from recollect.entities.rules import named_mentions

Strategy: TypeAlias = Literal["fast", "accurate"]
Finder: TypeAlias = Callable[[str], Iterable[Mention]]

# Characters of one text that are searched for names: who matters is named early, and the rest is often data.
MOST_READ: Mapping[Strategy, int] = {"fast": 4_000, "accurate": 20_000}


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Finders by name, in two strategies. A finder beyond the two that ship makes `accurate` more than `fast`."""

    added: Mapping[str, Finder] = field(default_factory=dict)

    @property
    def names(self) -> str:
        """What the accurate strategy consists of: a memory is searched again when this changes."""
        return "+".join(["regex", "rules", *self.added])

    def find(self, text: str, strategy: Strategy = "fast") -> list[Mention]:
        """The names in a text, without overlaps."""
        read = text[: MOST_READ[strategy]]
        finders: Sequence[Finder] = (shaped_mentions, named_mentions)
        if strategy == "accurate":
            finders = (*finders, *self.added.values())
        return without_overlaps(mention for finder in finders for mention in finder(read))
