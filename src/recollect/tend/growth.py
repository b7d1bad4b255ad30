"""How near a store is to what one file is good for, and the way on once a limit is passed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recollect.core.query import ANY_USER, Filter, Query
from recollect.recall.reader import Reader
from recollect.store.store import Store
from recollect.tend import policy


@dataclass(frozen=True, slots=True)
class Growth:
    """One figure beside its limit."""

    name: str
    value: float
    limit: float

    @property
    def is_passed(self) -> bool:
        return self.value > self.limit

    def describe(self) -> str:
        """The figure beside its limit, for people."""
        return _WORDS[self.name].format(value=self.value, limit=self.limit)

    @property
    def advice(self) -> str:
        """What to do about it, for people; nothing before it is passed."""
        if not self.is_passed:
            return ""
        return f"Past what one file is good for: {self.describe()}. Move it to PostgreSQL: `recollect migrate . DSN`."


_WORDS = {
    "nodes": "{value:,.0f} of {limit:,.0f} code nodes",
    "bytes": "{value:,.0f} of {limit:,.0f} bytes",
    "p99_ms": "{value:,.1f} of {limit:,.0f} ms for a recall (p99)",
}


def measure_growth(store: Store, reader: Reader) -> tuple[Growth, ...]:
    """Code nodes, bytes, and the p99 of recalls in this process once enough were timed. Only a file has such limits."""
    if store.engine.folder is None:
        return ()
    found = [
        Growth("nodes", store.graph.counts()[1], policy.MAX_NODES),
        Growth("bytes", store.engine.size(), policy.MAX_BYTES),
    ]
    timings = reader.timings()
    if len(timings) >= policy.ENOUGH_TIMINGS:
        p99 = sorted(timings)[int(len(timings) * 0.99)]
        found.append(Growth("p99_ms", round(p99 * 1000, 1), policy.MAX_P99_MS))
    return tuple(found)


def time_recalls(reader: Reader, timer: Callable[[], float]) -> None:
    """Recall what the newest memories say, often enough to know the p99. In a small store every recall is quick."""
    everybody = Filter(user=ANY_USER)
    if reader.count(everybody) < policy.WORTH_TIMING:
        return
    ends = timer() + policy.TIMING_SECONDS
    for memory in reader.list(everybody, limit=policy.ENOUGH_TIMINGS).memories:
        if timer() < ends:
            reader.recall(Query(memory.content[: policy.TIMED_CHARS], filter=everybody))
