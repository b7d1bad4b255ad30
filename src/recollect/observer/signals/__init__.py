"""The eighteen detectors, in the order of their scores."""

from __future__ import annotations

from recollect.observer.signals.base import Detector
from recollect.observer.signals.files import (
    Backtrack,
    CoAccess,
    ConfigTouch,
    FileAccess,
    GlobIgnore,
    ImportChase,
    ParallelConflict,
    ReadAbandon,
    RepeatedGrep,
    TimeAnomaly,
)
from recollect.observer.signals.said import PersonSaid
from recollect.observer.signals.work import (
    ContextTokenSpike,
    ErrorRetry,
    ExternalReference,
    SelfCorrection,
    StepOverrun,
    TestOrder,
    ToolSequence,
)

DETECTORS: tuple[type[Detector], ...] = (
    PersonSaid,
    CoAccess,
    SelfCorrection,
    ErrorRetry,
    ParallelConflict,
    ReadAbandon,
    RepeatedGrep,
    TestOrder,
    ToolSequence,
    FileAccess,
    StepOverrun,
    Backtrack,
    ConfigTouch,
    GlobIgnore,
    ContextTokenSpike,
    ExternalReference,
    ImportChase,
    TimeAnomaly,
)


def detectors() -> list[Detector]:
    """One fresh detector of each signal."""
    return [detector() for detector in DETECTORS]
