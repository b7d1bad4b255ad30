"""Keeping the graph in step while people type: look, wait until it is quiet, read again.

Looking means comparing sizes and times, so it works on every file system, containers and network drives included. The
pause between two looks grows with what a look costs: watching never takes more than a small share of one core.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Event

from recollect.code.index import Indexed
from recollect.code.survey import survey
from recollect.store.store import Store

DEBOUNCE = 0.5  # seconds of quiet before files are read: an editor writes several at once
_SHARE = 10  # the pause is so many times as long as a look takes
LEAST_PAUSE = 0.25  # seconds

Seen = frozenset[tuple[str, int, int]]


def watch(
    root: Path,
    store: Store,
    reindex: Callable[[Sequence[str]], Indexed],
    *,
    stop: Event,
    debounce: float = DEBOUNCE,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Indexed]:
    """Yield after every index that a change brought about, until `stop` is set. Edges go stale at once."""
    pending: Seen = frozenset()
    quiet_since = clock()
    while not stop.is_set():
        began = clock()
        now = changes(root, store)
        if now != pending:
            stale = {path for path, _, _ in now - pending}
            with store.engine.write():
                store.graph.mark_stale(stale)
            pending, quiet_since = now, clock()
        elif pending and clock() - quiet_since >= debounce:
            done = reindex(sorted({path for path, _, _ in pending}))
            pending = changes(root, store)
            quiet_since = clock()
            if done.changed:
                yield done
        stop.wait(max(LEAST_PAUSE, _SHARE * (clock() - began)) if not pending else LEAST_PAUSE)


def changes(root: Path, store: Store) -> Seen:
    """What differs from the graph right now: (file, time, size); a file that is gone has neither."""
    seen = survey(root, store.graph.files())
    return frozenset(
        [(one.relative, one.mtime_ns, one.size) for one in seen.changed]
        + [(one.path, one.mtime, one.size) for one in seen.rules]
        + [(path, 0, 0) for path in seen.gone]
    )
