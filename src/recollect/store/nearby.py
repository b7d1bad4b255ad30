"""What was said around a memory in its session: its neighbours by turn, just their words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from recollect.store.port import Engine

_Turn: TypeAlias = tuple[str, int]  # a session and an ordinal in it


class Said(NamedTuple):
    """A memory as a neighbour of another: just its words and who said them."""

    id: str
    content: str
    role: str | None


@dataclass(frozen=True, slots=True)
class Nearby:
    """What was said around some memories."""

    _turns: Mapping[str, _Turn]
    _said: Mapping[_Turn, Said]

    def __contains__(self, id: str) -> bool:
        """Was this memory said in a session?"""
        return id in self._turns

    def __iter__(self) -> Iterator[Said]:
        """Everything said in reach of any of them, they themselves included."""
        return iter(self._said.values())

    def beside(self, id: str, step: int) -> Said | None:
        """What was said so many turns after a memory in its session; before it, for a negative step."""
        turn = self._turns.get(id)
        return None if turn is None else self._said.get((turn[0], turn[1] + step))


_NEARBY = """
    select session, ordinal, id, content, source_role from memories where seq in (
        select other.seq from memories own join memories other on other.project = own.project
           and other.session = own.session and other.ordinal between own.ordinal - :reach and own.ordinal + :reach
         where own.id = any(:ids) and own.project = :project)
"""


def find_nearby(engine: Engine, project: str, ids: Sequence[str], *, reach: int) -> Nearby:
    """What was said around some memories, so many turns to either side."""
    rows = engine.rows(_NEARBY, {"ids": list(ids), "reach": reach, "project": project}) if ids else []
    wanted = set(ids)
    turns = {id: (session, ordinal) for session, ordinal, id, _, _ in rows if id in wanted}
    return Nearby(turns, {(session, ordinal): Said(*said) for session, ordinal, *said in rows})
