"""The meta table: facts about the store itself, such as whose it is. Each has a checksum: a flipped letter in the
project's name would make every memory vanish."""

from __future__ import annotations

from recollect.core.digest import checksum
from recollect.core.errors import StoreDamaged
from recollect.store.port import Engine


class Meta:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    _GET = "select value, checksum from meta where name = :name"

    def get(self, name: str) -> str | None:
        row = self._engine.row(self._GET, {"name": name})
        if row is None:
            return None
        if checksum([name, row[0]]) != row[1]:
            raise StoreDamaged(self._engine.location, f"what it says of its {name} does not match its checksum")
        return str(row[0])

    _PUT = """
        insert into meta (name, value, checksum) values (:name, :value, :checksum)
            on conflict (name) do update set value = excluded.value, checksum = excluded.checksum
    """

    def put(self, name: str, value: str) -> None:
        self._engine.execute(self._PUT, {"name": name, "value": value, "checksum": checksum([name, value])})

    _EVERY = "select name, value, checksum from meta"

    def damaged(self) -> list[str]:
        """The names of facts whose checksum does not match."""
        return [row[0] for row in self._engine.rows(self._EVERY) if checksum(row[:2]) != row[2]]
