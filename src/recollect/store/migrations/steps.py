"""The steps, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recollect.store.migrations.m0001_foundation import foundation
from recollect.store.migrations.m0002_vectors import vectors
from recollect.store.migrations.m0003_cache import cache
from recollect.store.migrations.m0004_documents import documents
from recollect.store.migrations.m0005_code import code
from recollect.store.migrations.m0006_dialogue import dialogue
from recollect.store.migrations.m0007_no_outbox import no_outbox
from recollect.store.migrations.m0008_turns import turns
from recollect.store.migrations.m0009_observer import observer
from recollect.store.migrations.m0010_injections import injections
from recollect.store.migrations.m0012_fields_and_log import fields_and_log
from recollect.store.observed import TABLES as OBSERVED
from recollect.store.port import Engine


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. It runs inside a transaction and must keep what `migrate.digest` covers."""

    number: int
    name: str
    apply: Callable[[Engine], None]
    canonical: tuple[str, ...] = ()  # the tables it makes that no later step may lose a row of
    renamed: tuple[str, str] | None = None  # a canonical table it gives a new name, and may add rows to


MIGRATIONS: tuple[Migration, ...] = (
    Migration(1, "foundation", foundation, ("memories", "links", "tombstones", "ledger")),
    Migration(2, "vectors", vectors),
    Migration(3, "cache", cache),
    Migration(4, "documents", documents, ("documents", "document_pairs")),
    Migration(5, "code", code),
    Migration(6, "dialogue", dialogue, ("entities", "spend")),
    Migration(7, "no outbox", no_outbox),
    Migration(8, "turns", turns, ("turns", "turn_calls", "working_memory")),
    Migration(9, "observer", observer, OBSERVED),
    Migration(10, "injections", injections, ("agent_sessions", "injections")),
    Migration(11, "store port", lambda engine: None),
    Migration(12, "fields and log", fields_and_log, renamed=("ledger", "log")),
)
