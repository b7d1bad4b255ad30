"""When a replica answers: it has what was written here, it is not far behind, and it did not just fail."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from recollect.core.errors import StoreUnreachable
from recollect.store.postgres.replica import LOOK_SECONDS, MOST_BEHIND, REST_SECONDS, ReplicaReads


class Copy:
    """A replica that says how far it is."""

    location = "postgresql://copy/db?tenant=t"

    def __init__(self) -> None:
        self.replayed = 100
        self.asked = 0
        self.is_down = False

    def row(self, sql: str) -> tuple[int]:
        self.asked += 1
        if self.is_down:
            raise StoreUnreachable(self.location, "it is down")
        return (self.replayed,)

    def close(self) -> None:
        pass


def make() -> tuple[Copy, ReplicaReads, Any]:
    copy, world = Copy(), SimpleNamespace(now=0.0, end=100)
    reads = ReplicaReads(lambda: copy, lambda: world.end, clock=lambda: world.now)  # type: ignore[arg-type, return-value]
    return copy, reads, world


def test_a_replica_without_ones_own_write_does_not_answer() -> None:
    copy, reads, _ = make()
    assert reads.engine_for(90) is copy
    assert reads.engine_for(101) is None
    copy.replayed = 101
    assert reads.engine_for(101) is copy


def test_a_replica_is_not_asked_how_far_it_is_for_every_question() -> None:
    copy, reads, world = make()
    for _ in range(50):
        reads.engine_for(90)
    assert copy.asked == 1
    world.now += LOOK_SECONDS * 2
    reads.engine_for(90)
    assert copy.asked == 2


def test_a_replica_far_behind_is_avoided_and_named_until_it_has_caught_up() -> None:
    copy, reads, world = make()
    world.end = 100 + MOST_BEHIND + 2**20
    assert reads.engine_for(90) is None
    assert "postgresql://copy/db?tenant=t is avoided: 17 MB behind" in reads.describe()
    copy.replayed = world.end
    assert reads.engine_for(90) is None  # it rests
    world.now += REST_SECONDS + 1
    assert reads.engine_for(90) is copy
    assert reads.describe() == "reads from the replica postgresql://copy/db?tenant=t"


def test_a_replica_that_fails_is_left_alone_for_a_moment() -> None:
    copy, reads, world = make()
    copy.is_down = True
    assert reads.engine_for(0) is None
    asked = copy.asked
    assert reads.engine_for(0) is None
    assert copy.asked == asked
    assert "it is down" in reads.describe()
    copy.is_down = False
    world.now += REST_SECONDS + 1
    assert reads.engine_for(0) is copy
