"""The meta table: facts about the store itself, such as whose it is. Each has a checksum: a flipped letter in the
project's name would make every memory vanish."""

from __future__ import annotations

from collections.abc import Callable

from recollect.core.digest import checksum
from recollect.core.errors import StoreDamaged
from recollect.store.port import Engine

FILE = ""  # the project of facts about the whole file


class Meta:
    """Facts of one project; those about the whole file, such as whose it is, belong to the project FILE."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _GET = "select value, checksum from meta where project = :project and name = :name"

    def get(self, name: str) -> str | None:
        row = self._engine.row(self._GET, {"project": self._project, "name": name})
        if row is None:
            return None
        if checksum([self._project, name, row[0]]) != row[1]:
            raise StoreDamaged(self._engine.location, f"what it says of its {name} does not match its checksum")
        return str(row[0])

    _PUT = """
        insert into meta (project, name, value, checksum) values (:project, :name, :value, :checksum)
            on conflict (project, name) do update set value = excluded.value, checksum = excluded.checksum
    """

    def put(self, name: str, value: str) -> None:
        sum = checksum([self._project, name, value])
        self._engine.execute(self._PUT, {"project": self._project, "name": name, "value": value, "checksum": sum})

    _REMOVE = "delete from meta where project = :project and name = :name"

    def remove(self, name: str) -> None:
        """Take a fact back."""
        self._engine.execute(self._REMOVE, {"project": self._project, "name": name})

    _OWN = "select name, value from meta where project = :project"

    def drop_holding(self, holds: Callable[[str], bool]) -> int:
        """Take back the facts whose value holds something; how many. All of a project's can be worked out again."""
        gone = [name for name, value in self._engine.rows(self._OWN, {"project": self._project}) if holds(value)]
        for name in gone:
            self.remove(name)
        return len(gone)

    _EVERY = "select project, name, value, checksum from meta"

    def damaged(self) -> list[str]:
        """The names of facts whose checksum does not match."""
        return [row[1] for row in self._engine.rows(self._EVERY) if checksum(row[:3]) != row[3]]
