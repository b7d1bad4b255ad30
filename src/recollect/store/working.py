"""The working memory of a project's agents: a few short lists under fixed names. Decides nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from recollect.core.digest import checksum
from recollect.core.errors import StoreDamaged
from recollect.store.codec import to_ms
from recollect.store.engine import Engine


class WorkingMemory:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _SECTIONS = "select project, section, items, updated_at, checksum from working_memory where project = :project"

    def sections(self) -> dict[str, tuple[str, ...]]:
        """What is kept in mind, by section."""
        found: dict[str, tuple[str, ...]] = {}
        for row in self._engine.rows(f"{self._SECTIONS} order by section", {"project": self._project}):
            if checksum(row[:-1]) != row[-1]:
                raise StoreDamaged(self._engine.location, f"the working memory ({row[1]}) does not match its checksum")
            found[row[1]] = tuple(json.loads(row[2]))
        return found

    _PUT = """
        insert into working_memory (project, section, items, updated_at, checksum) values (?, ?, ?, ?, ?)
            on conflict (project, section) do update set
            items = excluded.items, updated_at = excluded.updated_at, checksum = excluded.checksum
    """

    def put(self, section: str, items: Sequence[str], *, at: datetime) -> None:
        """Replace what one section holds. Durable when this returns."""
        row = (self._project, section, json.dumps(list(items), ensure_ascii=False), to_ms(at))
        with self._engine.write():
            self._engine.execute_many(self._PUT, [(*row, checksum(row))])

    _EVERY = "select project, section, items, updated_at, checksum from working_memory order by project, section"

    def damaged(self) -> list[str]:
        return [
            f"the working memory of {row[0]} ({row[1]})"
            for row in self._engine.rows(self._EVERY)
            if checksum(row[:-1]) != row[-1]
        ]

    def forget(self, texts: Sequence[str]) -> None:
        """Drop items that say one of some texts. Joins the caller's write."""
        gone = {text.strip() for text in texts}
        with self._engine.write():
            for project, section, items, at, _ in self._engine.rows(self._EVERY):
                known = json.loads(items)
                kept = [item for item in known if item.strip() not in gone]
                if kept != known:
                    row = (project, section, json.dumps(kept, ensure_ascii=False), at)
                    self._engine.execute_many(self._PUT, [(*row, checksum(row))])
