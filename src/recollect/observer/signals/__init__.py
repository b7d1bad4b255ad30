"""The seventeen detectors, one module each, in the order of their scores."""

from __future__ import annotations

from recollect.observer.signals.backtrack import Backtrack
from recollect.observer.signals.co_access import CoAccess
from recollect.observer.signals.config_touch import ConfigTouch
from recollect.observer.signals.context_token_spike import ContextTokenSpike
from recollect.observer.signals.error_retry import ErrorRetry
from recollect.observer.signals.external_reference import ExternalReference
from recollect.observer.signals.file_access import FileAccess
from recollect.observer.signals.glob_ignore import GlobIgnore
from recollect.observer.signals.import_chase import ImportChase
from recollect.observer.signals.note import Detector
from recollect.observer.signals.parallel_conflict import ParallelConflict
from recollect.observer.signals.read_abandon import ReadAbandon
from recollect.observer.signals.repeated_grep import RepeatedGrep
from recollect.observer.signals.self_correction import SelfCorrection
from recollect.observer.signals.step_overrun import StepOverrun
from recollect.observer.signals.test_order import TestOrder
from recollect.observer.signals.time_anomaly import TimeAnomaly
from recollect.observer.signals.tool_sequence import ToolSequence

DETECTORS: tuple[type[Detector], ...] = (
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
