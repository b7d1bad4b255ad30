"""What was said around some memories: the turns beside theirs in the same session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from recollect.store.engine import Engine

_Turn: TypeAlias = tuple[str | None, int]  # a session and a position in it


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
    select session, seq, id, content, source_role from memories where seq in (
        select m.seq + step.value from memories m, json_each(:steps) step
         where m.id in (select value from json_each(:ids))
    )
"""


def nearby(engine: Engine, ids: Sequence[str], *, reach: int) -> Nearby:
    """What was said within reach of some memories."""
    params = {"ids": json.dumps(list(ids)), "steps": json.dumps(list(range(-reach, reach + 1)))}
    rows = engine.rows(_NEARBY, params) if ids else []
    wanted = set(ids)
    turns = {id: (session, seq) for session, seq, id, _, _ in rows if session is not None and id in wanted}
    return Nearby(turns, {(session, seq): Said(*said) for session, seq, *said in rows})


_SAID = """
    select m.id, m.content, m.source_role from json_each(:seqs) j cross join memories m on m.seq = j.value
     order by j.key
"""


def said(engine: Engine, seqs: Sequence[int]) -> list[Said]:
    """Just the words in some rows and who said them, in the order given."""
    return [Said(*row) for row in engine.rows(_SAID, {"seqs": json.dumps(list(dict.fromkeys(seqs)))})]
