"""The hunch of a signal that several sessions gave for the same subject. Knows nothing of what the signal means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recollect.core.kinds import Kind
from recollect.core.observed import SignalSeen
from recollect.observer.hunch import Hunch, Sighting


def recurring(
    signal: str,
    subject: str,
    kind: Kind,
    text: str,
    seen: Sequence[tuple[str, SignalSeen]],
    files: tuple[str, ...] = (),
    *,
    strength: float = 1.0,
    payload: Mapping[str, Any] | None = None,
) -> Hunch:
    """What `text` says of `subject`, borne by the sessions that saw it; its files are what brings it back."""
    return Hunch(
        signal=signal,
        subject=subject,
        kind=kind,
        text=text,
        sightings=tuple(Sighting(session, one.steps, one.taint, one.agents) for session, one in seen),
        files=files,
        strength=strength,
        trigger={"files": list(files)},
        payload=payload,
    )
