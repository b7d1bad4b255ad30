"""What each signal is worth: its score, the sessions it must be seen in, and every number the detectors use.

Numbers live here with their unit and reason, so that calibration has one place to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from recollect.core.kinds import Kind

DIAGNOSTIC, CROSS_SESSION, PRECISION = 0.5, 0.3, 0.2  # shares of a signal's value
WORTHLESS = 0.4  # value below which a signal is dropped before promotion
TAINTED = 0.7  # factor on the confidence of what was learned after reaching outside

TOGETHER = 3  # steps between two files that count as used together
REEDIT = 5  # steps within which a second edit means the first was wrong
REREAD = 4  # reads of a file without an edit that mean it is hard to read
RETRY = 5  # steps within which the same deed again is a retry
REMEDY = 12  # steps after a failure within which the same thing going well is its remedy
LIKE_COMMAND = 0.5  # share of common words above which another command is a second try of the one that failed
SEARCHES = 3  # times the same pattern is searched before its answer is worth keeping
SEQUENCE, SEQUENCE_TOOLS, SEQUENCES = 4, 3, 3  # tools in a sequence; different ones; times it must be repeated
CHAIN = 3  # files in a chain of imports
CONFIG_REACH = 10  # steps around a configuration edit in which other edits belong to it
REFERENCE_REACH = 10  # steps after an outside page in which an edit used it
PLANNED_STEPS = 12  # steps one planned item is expected to take: a first guess, calibration replaces it
OVERRUN = 1.5  # steps taken over steps expected that count as an overrun
SPIKE_TOKENS, SPIKE_TIMES = 8000, 4.0  # tokens of one answer, and times the session's mean, that count as a spike
TOKEN = 4  # characters per token, the usual estimate
DWELL_SECONDS, DWELL_TIMES = 120.0, 4.0  # seconds over one file, and times the mean, that count as an anomaly
ALIKE = 0.85  # share of common words above which two sentences of different agents are the same finding
SPOKEN = frozenset({"self_correction"})  # signals whose subject is a sentence, which two agents word differently
DOUBT = 2  # occasions on which it did not hold that are added to every share: three of three may be chance
TIED = 0.6  # share of one file's changes that come with the other's, above which the two belong together
MOSTLY = 0.5  # share of the occasions on which something must hold to be told as the usual case
ALWAYS, OFTEN = 0.8, 0.5  # share of a folder's sessions that use a file always, or often
MODULE_SESSIONS = 5  # sessions of a folder before its usual files are told
PREVAILS = 2  # times as often as its reverse an order must be seen
OFFERED = 40  # files of one listing that are followed up

SAME = 0.88  # cosine above which a new statement is one that is known already
SAME_WORDS = 0.75  # share of common words that means the same where there are no vectors
SPOKEN_CONFIDENCE = 0.8  # of what a person said: their word is sure, what it applies to is a guess
SUBTASKS = 5  # planned items above which what was validated is promoted as it comes
SHOWN_AFTER = 2  # times the sessions it took to promote something after which it is shown without a review
REVIEWS = 5  # reviewed memories of a signal before their verdicts count as its error rate

PROMOTED: Mapping[str, int] = MappingProxyType(
    {"build": 20, "insights": 5, "roadmap": 3, "terminal": 3, "changelog": 0, "spec": 3, "pr_review": 8}
)  # memories one session of a kind may add
PRIMARY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "insights": frozenset({"co_access", "self_correction", "repeated_grep"}),
        "roadmap": frozenset({"self_correction"}),
        "terminal": frozenset({"error_retry", "tool_sequence", "self_correction"}),
        "spec": frozenset({"file_access", "self_correction"}),
        "pr_review": frozenset({"error_retry", "self_correction"}),
    }
)  # signals a kind of session is asked for; a kind that is not here is asked for all
EARLY: Mapping[str, float] = MappingProxyType(
    {"self_correction": 0.9, "repeated_grep": 0.8, "error_retry": 0.75, "config_touch": 0.7}
)  # signals worth noting before a session ends, and how urgently


@dataclass(frozen=True, slots=True)
class Grade:
    """A signal's diagnostic score, the sessions it must recur in, and the kinds it can become."""

    score: float
    sessions: int
    becomes: tuple[Kind, ...]
    alone: bool = True


GRADES: Mapping[str, Grade] = MappingProxyType(
    {
        "co_access": Grade(0.91, 3, (Kind.CAUSAL_DEPENDENCY, Kind.PREFETCH_PATTERN)),
        "self_correction": Grade(0.88, 1, (Kind.GOTCHA, Kind.MODULE_INSIGHT)),
        "error_retry": Grade(0.85, 2, (Kind.ERROR_PATTERN, Kind.GOTCHA)),
        "parallel_conflict": Grade(0.82, 1, (Kind.GOTCHA,)),
        "read_abandon": Grade(0.79, 3, (Kind.GOTCHA,)),
        "repeated_grep": Grade(0.76, 2, (Kind.MODULE_INSIGHT, Kind.GOTCHA)),
        "test_order": Grade(0.74, 3, (Kind.TASK_CALIBRATION,)),
        "tool_sequence": Grade(0.73, 3, (Kind.WORKFLOW_RECIPE,)),
        "file_access": Grade(0.72, 3, (Kind.PREFETCH_PATTERN,)),
        "step_overrun": Grade(0.71, 3, (Kind.TASK_CALIBRATION,)),
        "backtrack": Grade(0.68, 2, (Kind.GOTCHA,)),
        "config_touch": Grade(0.66, 2, (Kind.CAUSAL_DEPENDENCY,)),
        "glob_ignore": Grade(0.64, 2, (Kind.GOTCHA,)),
        "context_token_spike": Grade(0.63, 3, (Kind.CONTEXT_COST,)),
        "external_reference": Grade(0.61, 3, (Kind.MODULE_INSIGHT,)),
        "import_chase": Grade(0.52, 4, (Kind.CAUSAL_DEPENDENCY,)),
        "time_anomaly": Grade(0.48, 3, (), alone=False),
    }
)


def value(*, diagnostic: float, cross_session: float, false_positives: float) -> float:
    """The value of a signal from its three parts, each between 0 and 1."""
    return DIAGNOSTIC * diagnostic + CROSS_SESSION * cross_session + PRECISION * (1.0 - false_positives)


def worth(name: str, *, sessions: int, false_positives: float | None = None) -> float:
    """The value of a signal seen in so many sessions; until reviews tell, it errs as often as its score leaves room."""
    grade = GRADES[name]
    wrong = 1.0 - grade.score if false_positives is None else false_positives
    return value(diagnostic=grade.score, cross_session=min(1.0, sessions / grade.sessions), false_positives=wrong)


def kept(name: str, *, sessions: int, false_positives: float | None = None) -> bool:
    """Is the signal worth looking at further?"""
    return worth(name, sessions=sessions, false_positives=false_positives) >= WORTHLESS
