"""The steps after the common schema, in order. Each is portable SQL and runs on every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recollect.store.migrations.m0012_fields_and_log import fields_and_log
from recollect.store.migrations.m0013_synced import add_synced
from recollect.store.migrations.m0014_lists_and_replies import add_lists_and_replies
from recollect.store.migrations.m0015_people import TABLES, people
from recollect.store.port import Engine


@dataclass(frozen=True, slots=True)
class Migration:
    """One step. It runs inside a transaction and must keep what `migrate.census` covers."""

    number: int
    name: str
    apply: Callable[[Engine], None]
    canonical: tuple[str, ...] = ()  # the tables it makes that no later step may lose a row of
    renamed: tuple[str, str] | None = None  # a canonical table it gives a new name, and may add rows to


MIGRATIONS: tuple[Migration, ...] = (
    Migration(12, "fields and log", fields_and_log, renamed=("ledger", "log")),
    Migration(13, "what is in step with a server", add_synced),
    Migration(14, "lists and replies", add_lists_and_replies),
    Migration(15, "people and teams", people, canonical=TABLES),
)
