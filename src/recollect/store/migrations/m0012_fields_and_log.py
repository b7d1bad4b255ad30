"""Fields that memories got after the first schema: whose of an assistant's users one is."""

from __future__ import annotations

from recollect.core.fields import FIELDS, column_ddl
from recollect.store.port import Engine


def fields_and_log(engine: Engine) -> None:
    for field in FIELDS:
        if field.since == 12:
            engine.execute(f"alter table memories add column {column_ddl(field)}")
