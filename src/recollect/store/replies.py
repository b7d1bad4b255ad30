"""What was answered to requests that may be sent again, under digests of their keys: for a day, the newest 2,000.

A key is claimed before its request is done and gets its answer afterwards, so that one that was interrupted is not done
twice. Answers repeat what memories say: forgetting and erasing blank them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from recollect.store.codec import to_ms
from recollect.store.port import Engine

LIFETIME = timedelta(days=1)
MOST = 2_000  # keys of one project


@dataclass(frozen=True, slots=True)
class StoredReply:
    """What is known of a key: the digest of its request, and what was answered."""

    request: str
    status: int | None  # nothing while it is being done, and for ever when that was interrupted
    revision: int | None = None  # of the memory it was about
    answer: str | None = None  # nothing once a memory was forgotten


class StoredReplies:
    """The replies of one project. Each call is a transaction of its own."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    @property
    def is_kept(self) -> bool:
        """Can anything be kept here?"""
        return not self._engine.read_only

    _DROP_OLD = "delete from replies where project = :project and at < :oldest"
    _DROP_MORE = """
        delete from replies where project = :project and at <= (
            select at from replies where project = :project order by at desc limit 1 offset :most)
    """
    _GET = "select request, status, revision, answer from replies where project = :project and key = :key"
    _CLAIM = "insert into replies (project, key, request, at) values (:project, :key, :request, :at)"

    def claim(self, key: str, request: str, at: datetime) -> StoredReply | None:
        """Claim a key for a request; what is known of it when it was claimed before."""
        own = {"project": self._project}
        with self._engine.write(durable=False):
            self._engine.execute(self._DROP_OLD, {**own, "oldest": to_ms(at - LIFETIME)})
            self._engine.execute(self._DROP_MORE, {**own, "most": MOST - 1})
            row = self._engine.row(self._GET, {**own, "key": key})
            if row is not None:
                return StoredReply(*row)
            self._engine.execute(self._CLAIM, {**own, "key": key, "request": request, "at": to_ms(at)})
        return None

    _KEEP = """
        update replies set status = :status, revision = :revision, answer = :answer
         where project = :project and key = :key
    """

    def keep(self, key: str, *, status: int, revision: int | None, answer: str) -> None:
        """The answer to the request that claimed a key."""
        told = {"status": status, "revision": revision, "answer": answer}
        with self._engine.write(durable=False):
            self._engine.execute(self._KEEP, {"project": self._project, "key": key, **told})

    _RELEASE = "delete from replies where project = :project and key = :key"

    def release(self, key: str) -> None:
        """The request came to nothing: the next one with this key is a first one."""
        with self._engine.write(durable=False):
            self._engine.execute(self._RELEASE, {"project": self._project, "key": key})


_BLANK = "update replies set answer = null where answer is not null"


def blank_answers(engine: Engine) -> None:
    """Take out what was answered, in every project; that it was done stays known. Runs inside the current write."""
    engine.execute(_BLANK)
