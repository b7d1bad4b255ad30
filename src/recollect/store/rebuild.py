"""Repairing what is made from the rows: keyword index, facets, names, vectors. Changes no memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recollect.store.memories import facets
from recollect.store.store import Store

_SEQS = "select id, seq from memories"

_CLEAR_FACETS = "delete from facets"
_ADD_FACET = "insert into facets (project, facet, value, seq) values (?, ?, ?, ?) on conflict do nothing"


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What repairing did."""

    rebuilt: tuple[str, ...] = ()
    quarantined: Path | None = None
    salvaged: int = 0
    lost: tuple[str, ...] = ()
    tombstones: int = 0  # put back because the log knows of them and the rows did not


def rebuild(store: Store) -> RepairReport:
    """Rebuild every projection from the rows, in one transaction."""
    with store.engine.write():
        store.engine.keywords.rebuild()
        seqs: dict[str, int] = {row[0]: row[1] for row in store.engine.rows(_SEQS)}
        store.engine.execute(_CLEAR_FACETS)
        for page in store.memories.every():
            store.engine.execute_many(
                _ADD_FACET,
                [(m.project, facet, value, seqs[m.id]) for m in page.memories for facet, value in facets(m)],
            )
        store.documents.sweep()
        store.graph.mend()
        store.entities.rebuild_names()
        store.sessions.adopt()
    spaces = store.vectors.spaces()
    for space in spaces:
        store.vectors.rebuild(space)
    return RepairReport(rebuilt=("keywords", "facets", "names", *(["vectors"] if spaces else [])))
