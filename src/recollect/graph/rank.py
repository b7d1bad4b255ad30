"""PageRank over a sparse list of edges. Pure; every round is a few passes over the edges, whatever the number of nodes.

Nodes are numbered from 0. Parallel edges count once each; a node that points nowhere gives its share to all alike.
"""

from __future__ import annotations

from collections.abc import Sequence

DAMPING = 0.85
TOLERANCE = 1e-6  # of the sum of all changes in one round
MAX_ROUNDS = 50


def pagerank(
    nodes: int,
    edges: Sequence[tuple[int, int]],
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    max_rounds: int = MAX_ROUNDS,
) -> list[float]:
    """The rank of each node, all of them summing to 1."""
    if nodes == 0:
        return []
    import numpy as np

    flat = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    sources, targets = flat[:, 0], flat[:, 1]
    out = np.bincount(sources, minlength=nodes)
    dangling = out == 0
    share = 1.0 / np.maximum(out, 1)
    rank = np.full(nodes, 1.0 / nodes)
    for _ in range(max_rounds):
        given = rank * share
        received = np.bincount(targets, weights=given[sources], minlength=nodes)
        lost = float(rank[dangling].sum())
        fresh = (1.0 - damping) / nodes + damping * (received + lost / nodes)
        moved = float(np.abs(fresh - rank).sum())
        rank = fresh
        if moved < tolerance:
            break
    ranks: list[float] = rank.tolist()
    return ranks


def normalised(ranks: Sequence[float]) -> list[float]:
    """Ranks as shares of the highest one: 1 for the most referred-to node."""
    top = max(ranks, default=0.0)
    return [rank / top if top > 0 else 0.0 for rank in ranks]
