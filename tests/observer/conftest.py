"""What the observer's tests share: learning from sessions that are told in short calls."""

from __future__ import annotations

import pytest

from observer_session import Learn, Session
from recollect.app import Recollect
from recollect.observer.promotion import Learned


@pytest.fixture
def learn(memory: Recollect) -> Learn:
    """Watches a session from its first event to its last and learns from it."""

    def learnt(session: Session, *, kind: str = "build") -> Learned:
        watch = memory.observer.watch(session.name, kind=kind)
        for event in session.events:
            watch.feed(event)
        assert not watch.troubles
        return memory.observer.finish(watch)

    return learnt
