"""Every number of maintenance, named, with its unit and reason."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from recollect.tend.schedule import ALWAYS, When

# When each chore's hour comes, in local time. Enrichment first, so that consolidation sees the names it finds; decay
# after both, so that what was said again today is not pruned tonight.
SCHEDULE: Mapping[str, When] = {
    "vectors": ALWAYS,
    "evict": ALWAYS,
    "settle": ALWAYS,
    "enrich": When(hour=2),
    "consolidate": When(hour=3),
    "reflect": When(hour=3, weekday=6),
    "synthesise": When(hour=3),
    "causes": When(hour=3, weekday=6),
    "prune": When(hour=4),
}
USUAL = When(hour=4)  # a chore nobody listed

LEASE = timedelta(minutes=15)  # a chore is held; a process that died gives it back after this
RETRY_AFTER = timedelta(minutes=10)  # a failed chore rests; doubles with each failure
LONGEST_RETRY = timedelta(hours=6)

# --- decay and prune ---
FADED = 0.05  # effective confidence below which a fact has expired
HALF_LIVES = 3  # unused, after which anything else has expired
KEPT_EXPIRED = timedelta(days=30)  # before an expired memory is deleted
NEVER_DELETED = frozenset(
    {"episode", "fact", "reflection"}
)  # conversational evidence goes only when somebody erases it
NEVER_EXPIRED = frozenset({"episode", "reflection", "passage"})  # evidence, and what documents keep track of themselves
