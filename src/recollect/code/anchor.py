"""Memories anchored to symbols: does what they speak of still stand? Valid, moved or stale, by the symbol's text.

An anchor is `FILE:SYMBOL@DIGEST`, where the digest is of the symbol's text without its name and its layout, so that
renaming, moving and reformatting leave it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.code.impact import locate
from recollect.core.drafts import Draft
from recollect.core.ids import MemoryId
from recollect.core.ports import Standing
from recollect.core.records import Memory
from recollect.store.store import Store

CHANGED = 0.7  # what is left of a memory whose symbol reads otherwise now
GONE = 0.4  # and of one whose symbol is nowhere
_VALID = Standing("valid")


class CodeAnchors:
    """Looks symbols up in the graph."""

    def __init__(self, store: Store) -> None:
        self._graph = store.graph

    def standing(self, memories: Sequence[Memory]) -> dict[MemoryId, Standing]:
        """How each anchored memory stands. A passage is cut anew with its file, so it always stands."""
        found: dict[MemoryId, Standing] = {}
        for memory in memories:
            if memory.node is None:
                continue
            if memory.kind == "passage":
                found[memory.id] = _VALID
            else:
                found[memory.id] = self._stands(memory.node)
        return found

    def _stands(self, anchor: str) -> Standing:
        key, _, digest = anchor.partition("@")
        node = self._graph.node(key)
        if node is not None and (not digest or node.digest == digest):
            return _VALID
        elsewhere = [one for one in self._graph.hashed([digest]) if one.key != key] if digest else []
        if len(elsewhere) == 1:
            return Standing("moved", f"{key} is {elsewhere[0].key} now")
        if node is not None:
            return Standing("stale", f"{key} was changed since", CHANGED)
        return Standing("stale", f"{key} is gone", GONE)


def anchored(draft: Draft, store: Store) -> Draft:
    """A draft about a symbol, tied to the symbol's text as it is now. One about something unknown stays as it is."""
    if not draft.node or "@" in draft.node or draft.kind == "passage":
        return draft
    from recollect.core.errors import NotFound

    try:
        node = next(iter(locate(store.graph, draft.node).values()))
    except NotFound:
        return draft
    files = draft.files if not node.file or node.file in draft.files else (*draft.files, node.file)
    return replace(draft, node=f"{node.key}@{node.digest}" if node.digest else node.key, files=files)
