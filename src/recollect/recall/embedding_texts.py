"""The texts a memory is embedded as. Pure.

Naming the subject in the embedded text is worth more than any model: who says it, which file and kind it is about. What
surrounds a statement goes into a view of its own, because mixed into one text it blurs both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from recollect.core.records import Memory
from recollect.store.nearby import Said

_CHUNK = 700  # characters of one text view: a longer statement gets several
_MOST_CHUNKS = 8
_BEFORE, _OWN = 200, 600  # characters of the turn before and of the memory itself in the context view
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def embedding_texts(memory: Memory, before: Said | None) -> list[str]:
    """The memory's own text in pieces, and last the same with its context."""
    name = f"{memory.source_role}: " if memory.source_role else ""
    texts = [f"{name}{piece}" for piece in pieces(memory.content)]
    return [*texts, f"{_context(memory, before)}{name}{memory.content[:_OWN]}"]


def stamp(texts: Sequence[str]) -> str:
    """A digest of what was embedded, to notice when it would be something else."""
    return blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


def pieces(text: str) -> list[str]:
    """A text in pieces of about 700 characters, cut between sentences where possible."""
    found = [""]
    for sentence in _SENTENCE.split(text):
        sentence = sentence.strip()
        if found[-1] and len(found[-1]) + len(sentence) > _CHUNK:
            found.append("")
        found[-1] = f"{found[-1]} {sentence}".strip()[: 2 * _CHUNK]
    return found[:_MOST_CHUNKS]


def _context(memory: Memory, before: Said | None) -> str:
    if before is not None:
        who = f"{before.role}: " if before.role else ""
        return f"{who}{before.content[-_BEFORE:]}\n"
    if memory.span is not None and memory.span.context:
        return f"{memory.span.context}\n"
    about = [*memory.files[:3], *memory.modules[:2], *([] if memory.session else [memory.kind.replace("_", " ")])]
    return f"{' | '.join(about)}\n" if about else ""
