"""Schema 7: the outbox goes. Nothing ever waited in it: what has no vector yet is found by its absence."""

from __future__ import annotations

from recollect.store.port import Engine

_DROP = "drop table outbox"


def no_outbox(engine: Engine) -> None:
    engine.execute(_DROP)
