"""The texts a memory is embedded as. Pure.

Naming the subject in the embedded text is worth more than any model: who says it, which file and kind it is about. What
surrounds a statement goes into a view of its own, because mixed into one text it blurs both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import blake2b

from recollect.core.records import Memory
from recollect.core.text import ROLES
from recollect.store.nearby import Said

# Characters of one text view, and how many views a memory may have. What people say is full of asides, which a vector
# of the whole turn hides: by sentences LongMemEval gains .015 of recall at ten and .02 of the reciprocal rank with
# arctic-embed-s; LoCoMo gains .003 and loses .006 (benchmarks/results/lived_in.md). Passages and what machines say keep
# to one subject: paragraphs do there, with a quarter of the vectors.
SENTENCE, _MOST_SENTENCES = 160, 40
PARAGRAPH, _MOST_PARAGRAPHS = 700, 8
_MACHINES = ROLES - {"user"}
_BEFORE, _OWN = 200, 600  # characters of the turn before and of the memory itself in the context view
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


def embedding_texts(memory: Memory, before: Said | None) -> list[str]:
    """The memory's own text in pieces, and last the same with its context."""
    name = f"{memory.source_role}: " if memory.source_role else ""
    long = memory.span is not None or memory.source_role in _MACHINES
    size, most = (PARAGRAPH, _MOST_PARAGRAPHS) if long else (SENTENCE, _MOST_SENTENCES)
    texts = [f"{name}{piece}" for piece in pieces(memory.content, size=size)[:most]]
    return [*texts, f"{_context(memory, before)}{name}{memory.content[:_OWN]}"]


def stamp(texts: Sequence[str]) -> str:
    """A digest of what was embedded, to notice when it would be something else."""
    return blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


def pieces(text: str, *, size: int) -> list[str]:
    """A text in pieces of about `size` characters, cut between sentences; one of twice the size is cut itself."""
    found = [""]
    for sentence in _SENTENCE.split(text):
        for start in range(0, len(sentence := sentence.strip()), 2 * size):
            part = sentence[start : start + 2 * size]
            if found[-1] and len(found[-1]) + len(part) > size:
                found.append("")
            found[-1] = f"{found[-1]} {part}".strip()
    return found


def _context(memory: Memory, before: Said | None) -> str:
    if before is not None:
        who = f"{before.role}: " if before.role else ""
        return f"{who}{before.content[-_BEFORE:]}\n"
    if memory.span is not None and memory.span.context:
        return f"{memory.span.context}\n"
    about = [*memory.files[:3], *memory.modules[:2], *([] if memory.session else [memory.kind.replace("_", " ")])]
    return f"{' | '.join(about)}\n" if about else ""
