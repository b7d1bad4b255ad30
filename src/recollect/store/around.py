"""What was said around some memories: the rows beside theirs, as far as they belong to the same session."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from recollect.store.engine import Engine


class Said(NamedTuple):
    """A memory as a neighbour of another: just its words and who said them, in which session."""

    session: str | None
    id: str
    content: str
    role: str | None


@dataclass(frozen=True, slots=True)
class Nearby:
    """Some memories in their places, and what was said around them."""

    places: Mapping[str, int]
    said: Mapping[int, Said]

    def beside(self, place: int, step: int) -> Said | None:
        """What was said so many steps after the memory in a place, if that was in the same session."""
        own, other = self.said.get(place), self.said.get(place + step)
        if own is None or other is None or own.session is None or own.session != other.session:
            return None
        return other


NOBODY = Nearby({}, {})
_SAID = """
    select seq, session, id, content, source_role from memories where seq in (select value from json_each(:seqs))
"""


def nearby(engine: Engine, places: Mapping[str, int], *, reach: int) -> Nearby:
    """What was said within reach of some rows, each named by the memory in it. One whose row holds another memory by
    now is left out."""
    if not places:
        return NOBODY
    wanted = sorted({place + step for place in places.values() for step in range(-reach, reach + 1)})
    around = said(engine, wanted)
    return Nearby({id: place for id, place in places.items() if place in around and around[place].id == id}, around)


def said(engine: Engine, seqs: Sequence[int]) -> dict[int, Said]:
    """Just the words in some rows and who said them, by row."""
    return {row[0]: Said(*row[1:]) for row in engine.rows(_SAID, {"seqs": json.dumps(list(seqs))})}
