"""Recollect: long-term memory for AI agents, in one file.

    memory = recollect.open()
    memory.remember("The staging database resets every night.", kind="gotcha")
    for hit in memory.recall("why is my staging data gone?"):
        print(hit.memory.content, hit.citation)

Names load on first use, so importing the package costs next to nothing.
"""

from __future__ import annotations

from recollect.version import __version__

TYPE_CHECKING = False  # what `typing` would say; loading it costs a hook process a tenth of its time
if TYPE_CHECKING:
    from typing import Any

    from recollect import aio as aio
    from recollect.app import Recollect
    from recollect.core.drafts import Draft, Receipt
    from recollect.core.errors import RecollectError
    from recollect.core.kinds import Kind
    from recollect.core.query import Briefing, Filter, Hit, Query
    from recollect.core.records import Memory
    from recollect.core.scope import Phase, Relation, Scope, Source, Status, Visibility
    from recollect.wiring import open

_HOME = {
    "Recollect": "recollect.app",
    "RecollectError": "recollect.core.errors",
    "Kind": "recollect.core.kinds",
    "Briefing": "recollect.core.query",
    "Filter": "recollect.core.query",
    "Hit": "recollect.core.query",
    "Query": "recollect.core.query",
    "Draft": "recollect.core.drafts",
    "Memory": "recollect.core.records",
    "Receipt": "recollect.core.drafts",
    "Phase": "recollect.core.scope",
    "Relation": "recollect.core.scope",
    "Scope": "recollect.core.scope",
    "Source": "recollect.core.scope",
    "Status": "recollect.core.scope",
    "Visibility": "recollect.core.scope",
    "open": "recollect.wiring",
}

__all__ = [
    "Briefing",
    "Draft",
    "Filter",
    "Hit",
    "Kind",
    "Memory",
    "Phase",
    "Query",
    "Receipt",
    "Recollect",
    "RecollectError",
    "Relation",
    "Scope",
    "Source",
    "Status",
    "Visibility",
    "__version__",
    "open",
]


def __getattr__(name: str) -> Any:
    if name == "aio":
        import recollect.aio

        return recollect.aio
    if name not in _HOME:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value
