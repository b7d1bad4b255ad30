from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from recollect.graph.walk import walk

Edge = tuple[int, int, str, float]

edges = st.lists(
    st.tuples(
        st.integers(0, 12), st.integers(0, 12), st.sampled_from(["calls", "imports"]), st.sampled_from([0.5, 0.8, 1.0])
    ),
    max_size=60,
)


def plain(edges: list[Edge], seeds: set[int], depth: int) -> dict[int, int]:
    """The textbook: a queue and a set."""
    found = dict.fromkeys(seeds, 0)
    waiting = deque(seeds)
    while waiting:
        node = waiting.popleft()
        if found[node] == depth:
            continue
        for near, far, _, _ in edges:
            if near == node and far not in found:
                found[far] = found[node] + 1
                waiting.append(far)
    return {node: distance for node, distance in found.items() if distance > 0}


def strongest(edges: list[Edge], distances: dict[int, int], seeds: set[int]) -> dict[int, float]:
    """By trying every shortest way."""
    best = dict.fromkeys(seeds, 1.0)
    for distance in sorted(set(distances.values())):
        for node in (one for one, d in distances.items() if d == distance):
            ways = [
                best[near] * weight
                for near, far, _, weight in edges
                if far == node and near in best and (distances.get(near, 0) == distance - 1)
            ]
            best[node] = max(ways)
    return best


@given(edges, st.sets(st.integers(0, 12), min_size=1, max_size=3), st.integers(0, 5))
def test_a_walk_equals_a_plain_breadth_first_search(edges: list[Edge], seeds: set[int], depth: int) -> None:
    walked = walk(seeds, lambda level: [e for e in edges if e[0] in set(level)], depth=depth, limit=10**6)
    distances = plain(edges, seeds, depth)
    assert {step.node: step.depth for step in walked.steps} == distances
    best = strongest(edges, distances, seeds)
    for step in walked.steps:
        assert abs(step.strength - best[step.node]) < 1e-9
        way = walked.way(step)
        assert len(way) == step.depth
        assert way[0].before in seeds
        for one in way:
            assert any(e[:3] == (one.before, one.node, one.type) for e in edges)
    assert walked.left_out == 0


@given(edges, st.integers(0, 12), st.integers(0, 12))
def test_a_cap_gives_a_prefix_of_the_whole_answer_and_says_so(edges: list[Edge], seed: int, most: int) -> None:
    def links(level: object) -> list[Edge]:
        return [e for e in edges if e[0] in set(level)]  # type: ignore[call-overload]

    whole = walk([seed], links, depth=4, limit=10**6)
    capped = walk([seed], links, depth=4, limit=most)
    assert capped.steps == whole.steps[:most]
    assert (capped.left_out > 0) == (len(whole.steps) > most)


def test_the_stronger_of_two_equally_short_ways_is_told() -> None:
    links = [(0, 1, "a", 0.2), (0, 2, "a", 0.9), (1, 3, "a", 1.0), (2, 3, "b", 1.0)]
    walked = walk([0], lambda level: [e for e in links if e[0] in level], depth=2, limit=9)
    last = next(step for step in walked.steps if step.node == 3)
    assert (last.before, last.type) == (2, "b")
