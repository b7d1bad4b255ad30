"""A memory as an agent at work is told of it: few fields, light to make, the same in hook process and library."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final


class MemorySummary:
    """What is known about something, with what decides whether an agent is told unasked. Never changed once made.

    A plain class, because the hook process has no time for dataclasses; the type checker refuses any assignment.
    """

    __slots__ = (
        "accesses", "at", "attributes", "citation", "confidence", "content", "files", "id",
        "is_composed", "is_spoken", "kind", "modules", "payload", "pinned",
        "relevance", "seen", "session", "source", "status", "tainted", "verified",
    )  # fmt: skip

    def __init__(
        self,
        id: str,
        kind: str,
        content: str,
        *,
        confidence: float,
        source: str,
        status: str = "active",
        files: tuple[str, ...] = (),
        modules: tuple[str, ...] = (),
        at: int = 0,
        verified: bool = False,
        pinned: bool = False,
        seen: int = 1,
        accesses: int = 0,
        citation: str = "",
        session: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        payload: Mapping[str, Any] | None = None,
        relevance: float = 0.0,
    ) -> None:
        self.id: Final = id
        self.kind: Final = kind
        self.content: Final = content
        self.confidence: Final = confidence  # as of now, faded
        self.source: Final = source
        self.status: Final = status
        self.files: Final = files
        self.modules: Final = modules
        self.at: Final = at  # milliseconds since 1970: when it happened, or was written
        self.verified: Final = verified
        self.pinned: Final = pinned
        self.seen: Final = seen  # sessions that taught or confirmed it
        self.accesses: Final = accesses
        self.citation: Final = citation
        self.session: Final = session
        self.attributes: Final[Mapping[str, Any]] = attributes or {}
        self.payload: Final[Mapping[str, Any]] = payload or {}
        self.relevance: Final = relevance  # to what was asked, from 0 to 1
        self.tainted: Final = bool(self.attributes.get("tainted"))
        self.is_composed: Final = source == "observer_inferred" and self.attributes.get("composed") is True
        self.is_spoken: Final = source == "extracted" and self.attributes.get("spoken") is True

    def __repr__(self) -> str:
        return f"MemorySummary({self.id!r}, {self.kind!r}, {self.content[:40]!r})"
