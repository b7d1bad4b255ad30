"""Files that go together: by what agents were seen to do, and before anyone was watched by what was committed.

Commits count as a few sessions would, so they are the first word and lose it as sessions speak. Reads, never writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recollect.store.store import Store

COMMITTED = 5  # sessions that what was committed counts as
_MOST_FILES = 20  # files that are asked about


class SeenTogether:
    """Companions by co-access, seeded by co-commits."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def companions(self, files: Sequence[str]) -> Mapping[str, float]:
        """Files that go with some of `files`, each with how surely."""
        wanted = list(dict.fromkeys(files))[:_MOST_FILES]
        found: dict[str, float] = {}
        for near in self.together(wanted).values():
            for other, weight in near.items():
                if other not in wanted:
                    found[other] = max(weight, found.get(other, 0.0))
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def together(self, files: Sequence[str]) -> dict[str, dict[str, float]]:
        """For each file, which go with it: the share of its sessions that used them close by."""
        observed = self._store.observed
        pairs = observed.pairs(touching=files)
        sessions = {one.path: one.sessions for one in observed.files(paths=files)} if pairs else {}
        shared: dict[str, dict[str, int]] = {path: {} for path in files}
        for pair in pairs:
            for mine, other in ((pair.one, pair.other), (pair.other, pair.one)):
                if mine in shared:
                    shared[mine][other] = pair.sessions
        return {path: _blended(shared[path], sessions.get(path, 0), self._committed(path)) for path in files}

    def _committed(self, path: str) -> dict[str, float]:
        return {other: weight for other, weight, _ in self._store.graph.cochanged([path])}


def _blended(shared: Mapping[str, int], sessions: int, committed: Mapping[str, float]) -> dict[str, float]:
    prior = COMMITTED if committed else 0
    return {
        other: round(min(1.0, (shared.get(other, 0) + prior * committed.get(other, 0.0)) / max(1, sessions + prior)), 4)
        for other in {*shared, *committed}
    }
