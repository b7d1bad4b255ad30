from __future__ import annotations

import random

import pytest

from recollect.graph.rank import normalised, pagerank


def plain(nodes: int, edges: list[tuple[int, int]], rounds: int = 200) -> list[float]:
    """The definition, written out node by node."""
    rank = [1 / nodes] * nodes
    out = [sum(1 for source, _ in edges if source == node) for node in range(nodes)]
    for _ in range(rounds):
        lost = sum(rank[node] for node in range(nodes) if out[node] == 0)
        fresh = [0.15 / nodes + 0.85 * lost / nodes] * nodes
        for source, target in edges:
            fresh[target] += 0.85 * rank[source] / out[source]
        rank = fresh
    return rank


def test_what_many_refer_to_ranks_highest() -> None:
    ranks = pagerank(4, [(0, 3), (1, 3), (2, 3), (2, 0)])
    assert max(range(4), key=ranks.__getitem__) == 3
    assert sum(ranks) == pytest.approx(1.0)


def test_it_agrees_with_the_definition_on_random_graphs() -> None:
    chance = random.Random(7)
    for _ in range(20):
        nodes = chance.randrange(1, 12)
        edges = [(chance.randrange(nodes), chance.randrange(nodes)) for _ in range(chance.randrange(20))]
        assert pagerank(nodes, edges, tolerance=0, max_rounds=200) == pytest.approx(plain(nodes, edges))


def test_nodes_without_edges_share_evenly_and_no_nodes_have_no_ranks() -> None:
    assert pagerank(3, []) == pytest.approx([1 / 3] * 3)
    assert pagerank(0, []) == []


def test_normalised_ranks_are_shares_of_the_highest() -> None:
    assert normalised([0.1, 0.4, 0.2]) == pytest.approx([0.25, 1.0, 0.5])
    assert normalised([]) == []
    assert normalised([0.0, 0.0]) == [0.0, 0.0]
