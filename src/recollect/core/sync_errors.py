"""What can go wrong between a copy of the memories and the team's server; part of the one tree of `core.errors`."""

from __future__ import annotations

from collections.abc import Iterable

from recollect.core.errors import InvalidInput, Refused, StoreError


class SyncMessageTooLarge(InvalidInput):
    code = "sync-message-too-large"

    def __init__(self, limit: int) -> None:
        super().__init__(f"A batch holds at most {limit:,} bytes.", hint="Send less at a time. Nothing was changed.")


class SyncVersionUnknown(InvalidInput):
    """Two releases that speak no common version of the protocol."""

    code = "sync-version"

    def __init__(self, asked: str, spoken: Iterable[str]) -> None:
        versions = ", ".join(spoken)
        super().__init__(
            f"Sync speaks version {versions}, not {asked:.40}.", hint="Upgrade Recollect on the older side."
        )


class SyncOffline(StoreError):
    """The server did not answer. Everything stays as it is, and the next sync goes on from there."""

    code = "sync-offline"

    def __init__(self, server: str, problem: str, *, hint: str = "") -> None:
        super().__init__(
            f"{server} did not answer: {problem}.", hint=hint or "Changes wait here; the next sync sends them."
        )


class SyncServerRefused(Refused):
    """The server understood and said no."""

    code = "sync-refused"

    def __init__(self, server: str, said: str, *, hint: str = "") -> None:
        super().__init__(
            f"{server} refused: {said}", hint=hint or "Nothing was sent. `recollect sync --status` tells more."
        )


class SyncNotSet(Refused):
    """No server was named."""

    code = "sync-not-set"

    def __init__(self) -> None:
        super().__init__(
            "No server to sync with.",
            hint="Set `sync_server` and `sync_token` in your config.toml, or RECOLLECT_SYNC_SERVER and"
            " RECOLLECT_SYNC_TOKEN. A person makes the token on the server: `recollect token create NAME"
            " --for-person`.",
        )


class SyncNotLinked(Refused):
    """A project that nobody has linked to the one the server keeps."""

    code = "sync-not-linked"

    def __init__(self, project: str, theirs: str) -> None:
        super().__init__(
            f"This is the project {project!r}; the server keeps {theirs!r}.",
            hint="If they belong together, link them once: `recollect sync --link`.",
        )


class SyncMassDeletion(Refused):
    """More deletions at once than anybody follows without asking."""

    code = "sync-mass-deletion"

    def __init__(self, deleted: int, shared: int, *, here: bool) -> None:
        where = "here, and would go from the server too" if here else "from the server, and would go here too"
        super().__init__(f"{deleted:,} of {shared:,} shared memories were deleted {where}.", hint=_ALLOW)

    @classmethod
    def told(cls, said: str) -> SyncMassDeletion:
        """The same, in the words of a server."""
        error = cls(0, 0, here=True)
        error.args = (said,)
        return error


_ALLOW = "Look with `recollect sync --status`. If it is meant: `recollect sync --allow-deletions`."


class SyncBatchTaken(Refused):
    """A batch under a name that another act has."""

    code = "sync-batch-taken"

    def __init__(self, batch: str) -> None:
        super().__init__(f"{batch:.60} is the name of another act.", hint="Send it under a name of its own.")


class SyncBusy(Refused):
    code = "sync-busy"

    def __init__(self) -> None:
        super().__init__("Another process is syncing this project.", hint="Wait for it: `recollect sync --status`.")
