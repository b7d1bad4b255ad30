"""A memory as the moments of an agent's work see it: few fields, light to make, the same in hook and library."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Known:
    """What is known about something, with what decides whether an agent is told unasked. Never changed once made.

    A plain class: the hook process has no time for dataclasses.
    """

    __slots__ = (
        "at", "attributes", "citation", "confidence", "content", "files", "id", "kind", "modules", "payload", "pinned",
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
        citation: str = "",
        session: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        payload: Mapping[str, Any] | None = None,
        relevance: float = 0.0,
    ) -> None:
        self.id = id
        self.kind = kind
        self.content = content
        self.confidence = confidence  # as of now, faded
        self.source = source
        self.status = status
        self.files = files
        self.modules = modules
        self.at = at  # milliseconds since 1970: when it happened, or was written
        self.verified = verified
        self.pinned = pinned
        self.seen = seen  # sessions that taught or confirmed it
        self.citation = citation
        self.session = session
        self.attributes = attributes or {}
        self.payload = payload or {}
        self.relevance = relevance  # to what was asked, from 0 to 1
        self.tainted = bool(self.attributes.get("tainted"))

    def __repr__(self) -> str:
        return f"Known({self.id!r}, {self.kind!r}, {self.content[:40]!r})"
