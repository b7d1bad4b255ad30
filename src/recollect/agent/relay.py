"""What one stage of work hands to the next: planner to coder, coder to reviewer, reviewer to fixer.

Nothing is marked or moved: the next stage is given what earlier sessions of the work wrote down, as far as its
methodology lets that kind pass.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.agent.methodology import Methodology, Relay
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Source
from recollect.store.store import Store

MOST = 10  # memories of one hand-over
_LOOKED_AT = 60
_OWN = frozenset({Source.AGENT_EXPLICIT, Source.USER_TAUGHT, Source.QA_AUTO})  # what was said on purpose


def passing(memories: Sequence[Memory], relays: Sequence[Relay]) -> list[Memory]:
    """Those that some transition lets through; none when there is no transition."""
    return [memory for memory in memories if any(relay.passes(memory) for relay in relays)][:MOST]


def handed(
    store: Store, methodology: Methodology, stage: str, *, sessions: Sequence[str], source: str | None = None
) -> list[Memory]:
    """What earlier sessions wrote down that a stage should know, the newest first."""
    relays = methodology.relays_to(stage, source)
    if not relays or not sessions:
        return []
    written = Filter(sessions=frozenset(sessions), sources=_OWN)
    page = store.memories.page(written, order="newest", limit=_LOOKED_AT)
    kept = [memory for memory in page.memories if memory.kind not in ("episode", "passage", "work_state")]
    return passing([memory for memory in kept if not memory.attributes.get("tainted") or memory.verified], relays)
