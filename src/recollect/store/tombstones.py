"""The tombstones table: fingerprints of statements that must not come back. No content, ever."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from recollect.core.digest import blake2b, checksum
from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine, chunks

ERASED_REASON = "erased"
ERASED_ELSEWHERE = "erased elsewhere"  # in a store that nobody proved to be this person's: counts for its copies only


@dataclass(frozen=True, slots=True)
class Tombstone:
    fingerprint: str
    reason: str  # rejected, forgotten, or erased (elsewhere): then the fingerprint is a mark of `core.erasing`
    at: datetime


def tombstone_key(fingerprint: str, user: str | None) -> str:
    """What a tombstone stands under. What one user had rejected stays away from that user only, under a digest of both,
    so that the table names nobody."""
    if user is None:
        return fingerprint
    return blake2b(f"{user}\0{fingerprint}".encode(), digest_size=16).hexdigest()


class Tombstones:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _PUT = """
        insert into tombstones (fingerprint, project, reason, at, checksum) values (?, ?, ?, ?, ?)
            on conflict (fingerprint, project) do update
            set reason = excluded.reason, at = excluded.at, checksum = excluded.checksum
    """

    def put(self, fingerprints: Sequence[str], *, reason: str, at: datetime) -> None:
        rows = [(one, self._project, reason, to_ms(at)) for one in dict.fromkeys(fingerprints)]
        self._engine.execute_many(self._PUT, [(*row, checksum(row)) for row in rows])

    _FIND = "select fingerprint, reason, at from tombstones where project = :project and fingerprint = any(:prints)"

    def find(self, fingerprints: Sequence[str]) -> dict[str, Tombstone]:
        """The tombstones among some fingerprints."""
        found: dict[str, Tombstone] = {}
        for some in chunks(fingerprints):
            asked = {"prints": some, "project": self._project}
            for fingerprint, reason, at in self._engine.rows(self._FIND, asked):
                found[fingerprint] = Tombstone(fingerprint, reason, from_ms(at))
        return found

    _LIFT = "delete from tombstones where fingerprint = :fingerprint and project = :project"

    def lift(self, fingerprint: str) -> None:
        """Let a statement be said again."""
        self._engine.execute(self._LIFT, {"fingerprint": fingerprint, "project": self._project})

    _ALL = "select project, fingerprint, reason, at from tombstones"

    def every(self) -> dict[tuple[str, str], Tombstone]:
        """All of the file, by project and fingerprint."""
        return {
            (project, fingerprint): Tombstone(fingerprint, reason, from_ms(at))
            for project, fingerprint, reason, at in self._engine.rows(self._ALL)
        }

    _EVERY = "select fingerprint, project, reason, at, checksum from tombstones"

    def damaged(self) -> list[str]:
        """The fingerprints whose checksum does not match."""
        return [row[0] for row in self._engine.rows(self._EVERY) if checksum(row[:-1]) != row[-1]]
