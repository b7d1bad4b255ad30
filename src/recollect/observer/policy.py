"""Every number the observer decides by, named with its unit and reason: what calibration has to look at is here.

How much is read or kept of a thing is said where it is read; format versions too. Light to load: a hook's matcher asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from recollect.observer.events import Value

# --- what an event may cost -----------------------------------------------------------------------------------------

SLOW_EVENT_SECONDS = 0.002  # an event that takes longer to watch is counted as slow
COLLECTOR_BYTES = 50_000_000  # estimated, that the signals of one session may take
FILLED_SHARE = 0.8  # of these bytes that is left filled after forgetting
ID_SHARE = 0.36  # of these bytes that goes to the ids that recognise a replay: 100,000 events
SEEN_AGAIN_VALUE, SEEN_AGAIN_TIMES = 0.05, 4  # value of a note for each time seen, and times that count
SESSION_IDLE_SECONDS = 30 * 60.0  # without a new line after which a session is taken to be over
SPOOL_KEPT_SECONDS = 24 * 3600.0  # that a spool file is kept after it was learnt from: its session may be resumed

# --- detectors ------------------------------------------------------------------------------------------------------

TOGETHER_STEPS = 3  # between two files that count as used together
REEDIT_STEPS = 5  # within which a second edit means the first was wrong
HARD_TO_READ_READS = 4  # of a file without an edit that mean it is hard to read
RETRY_STEPS = 5  # within which the same call again is a retry
REMEDY_STEPS = 12  # after a failure within which the same thing going well is its remedy
LIKE_COMMAND_OVERLAP = 0.5  # share of common words above which another command is a second try of the one that failed
REPEATED_SEARCHES = 3  # times the same pattern is searched before its answer is worth keeping
SEQUENCE, SEQUENCE_TOOLS, SEQUENCES = 4, 3, 3  # tools in a sequence; different ones; times it must be repeated
CHAIN_FILES = 3  # files in a chain of imports
CONFIG_REACH_STEPS = 10  # around a configuration edit in which other edits belong to it
REFERENCE_REACH_STEPS = 10  # after an outside page in which an edit used it
STEPS_PER_PLANNED_ITEM = 12  # that one is expected to take: a first guess, calibration replaces it
OVERRUN_RATIO = 1.5  # steps taken over steps expected that count as an overrun
SPIKE_TOKENS, SPIKE_RATIO = 8000, 4.0  # tokens of one answer, and times the session's mean, that count as a spike
DWELL_SECONDS, DWELL_RATIO = 120.0, 4.0  # seconds over one file, and times the mean, that count as an anomaly
MAX_OFFERED_FILES = 40  # of one listing that are followed up
ALIKE_OVERLAP = 0.85  # share of common words above which two sentences of different agents are the same finding
SENTENCE_SIGNALS = frozenset(
    {"said", "self_correction"}
)  # whose subject is a sentence, which two agents word differently
UI_RETRY_CALLS = 12  # after a failure in which the same action of a user interface counts as its second try
UI_STEPS_TOLD = 2  # between the two that are told
EARLY_ERRORS = 2  # different errors of one session that are worth a note before it ends
EARLY_CHANGED_FILES = 3  # files, the configuration included, that make a change of settings worth one
EARLY_URGENCY: Mapping[str, float] = MappingProxyType(
    {"said": 0.95, "self_correction": 0.9, "repeated_grep": 0.8, "error_retry": 0.75, "config_touch": 0.7}
)  # signals worth noting before a session ends, and how urgently

# --- rules ----------------------------------------------------------------------------------------------------------

DOUBT_OCCASIONS = 2  # on which it did not hold that are added to every share: three of three may be chance
TIED_SHARE = 0.6  # of one file's changes that come with the other's, above which the two belong together
CHANCE_RATIO = 3.0  # times as often as chance would have it that two things must go together (decision 12)
DIFFERENT_DAYS = 2  # on which it must have held: several sessions of one day are often one piece of work
USUAL_SHARE = 0.5  # of the occasions on which something must hold to be told as the usual case
ALWAYS_SHARE, OFTEN_SHARE = 0.8, 0.5  # of a folder's sessions that use a file always, or often
MIN_MODULE_SESSIONS = 5  # of a folder before its usual files are told
PUT_RIGHT_SESSIONS = 2  # in which one command put another right before that is told
REFUSED_SESSIONS = 2  # in which people refused a command before that is told
SAID_IN_SESSIONS = 2  # sessions in which a person said it that leave no doubt that it holds beyond the day
SAID_AGAIN_OF_FEWER, SAID_AGAIN_OF_ALL = 0.75, 0.5  # of the telling words that two sayings of one rule share

# --- synthesis ------------------------------------------------------------------------------------------------------

SYNTHESIS_STAGES = (5, 10, 20, 50, 100)  # sessions of a module at which it is looked at as a whole
SYNTHESIS_HUNCHES = 5  # of one look at a module
WEEKLY_PAIRS = 20  # of one weekly look across modules
COUPLED_SHARE = 0.7  # of the less used file's sessions, with doubt, in which the other was used close by
DIRECTED_SHARE = 0.7  # of those in which the same one came first
SHARED_SESSIONS = 3  # that two files must share

# --- promotion ------------------------------------------------------------------------------------------------------

DIAGNOSTIC, CROSS_SESSION, PRECISION = 0.5, 0.3, 0.2  # shares of a signal's value
MIN_WORTH = 0.4  # value below which a signal is dropped before promotion
HELD_PART, STRENGTH_PART = 0.8, 0.2  # of the rank of a hunch: that it held at all, and how often it did
TAINTED_FACTOR = 0.7  # on the confidence of what was learned after reaching outside
SPOKEN_CONFIDENCE = 0.8  # of what a person said: their word is sure, that it holds beyond the day is a guess
FINDING_CONFIDENCE = 0.8  # of a grave finding of a review
OBSERVATION_CONFIDENCE = 0.75  # of what driving a user interface taught
NEAREST_COMPARED = 5  # memories that a hunch is compared with
SHARED_NAMES, SHARED_OF_ALL_NAMES = (
    0.5,
    0.3,
)  # of the fewer names, and of all, that two statements about one thing share
SAME_COSINE = 0.88  # above which a new statement is one that is known already
SAME_OVERLAP = 0.75  # share of common words that means the same where there are no vectors
LONG_PLAN_ITEMS = 5  # above which what was validated is promoted as it comes
SHOWN_SESSIONS, SHOWN_CONFIDENCE = 3, 0.65  # from which a local fact is shown without a review: the level standard
TAINTED_TIMES = 2  # the sessions it takes, where some are tainted and some are not
MIN_REVIEWS = 5  # of a signal's memories before their verdicts count as its error rate
MAX_PROMOTED: Mapping[str, int] = MappingProxyType(
    {"build": 20, "insights": 5, "roadmap": 3, "terminal": 3, "changelog": 0, "spec": 3, "pr_review": 8}
)  # memories one session of a kind may add
ASKED_SIGNALS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "insights": frozenset({"said", "co_access", "self_correction", "repeated_grep"}),
        "roadmap": frozenset({"said", "self_correction"}),
        "terminal": frozenset({"said", "error_retry", "tool_sequence", "self_correction"}),
        "spec": frozenset({"said", "file_access", "self_correction"}),
        "pr_review": frozenset({"said", "error_retry", "self_correction"}),
    }
)  # that a kind of session is asked for; a kind that is not here is asked for all

# --- prediction of failures -----------------------------------------------------------------------------------------

THRESHOLDS = (0.20, 0.25, 0.30, 0.35, 0.40, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70)  # likelihoods; the last is always told
LEAST_LIFT = 8.0  # times as likely as calls here usually fail, to be worth a warning
USUAL_FAILURES, USUAL_CALLS = 0.04, 300  # share of calls that fail in any project, and the calls that this counts as
WARNINGS_PER_HUNDRED_CALLS = 1.0  # at most
SURE = 0.5  # likelihood from which a warning is repeated in a session
THRESHOLD_SESSIONS = 40  # the threshold is chosen on: the last ones, projects change
FADING = 0.97  # of every count is left after one more session: half after twenty-three
PULL: Mapping[str, float] = MappingProxyType(
    {"state": 10.0, "command": 6.0, "line": 4.0, "subject": 1.0, "file": 2.0}
)  # calls that what is usual elsewhere counts as
STATE_PULL = 5.0  # … and that a command counts as for one of its states
RECURRING_SESSIONS = 2  # that a trouble must have been seen in before it can be foreseen
LEARNT_SESSIONS = 150  # older ones have faded to a hundredth

# --- prediction of files --------------------------------------------------------------------------------------------

PAST_SESSIONS = 200  # that are looked at
TERMS = 100  # words of a prompt that are looked for in earlier ones: those that the fewest hold
ALIKE_SESSIONS = 10  # that count as alike, and leaders whose company is asked for
FRESH_SESSIONS, FRESH_BRANCH_SESSIONS = 5.0, 3.0  # after which a file is no longer fresh in mind; of one branch
OFTEN_SESSIONS = 10.0  # after which having been touched counts a third
BM25_K1, BM25_B, BM25_B_FILE = 1.2, 0.75, 0.5  # the usual ones; what is said of one file varies in length
NAMED_PRIOR = 2.0  # prompts that named a file, half of them in vain, that are assumed before any did
UNUSED_PART = 0.5  # of what shared words say that is left where no session ever used the file
COMMITTED_SESSIONS = 5  # that what was committed counts as
FILE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "lately": 1.05,
        "often": 0.17,
        "much": 0.34,
        "read": 0.27,
        "alike": 0.4,
        "worked_on": 0.7,
        "words": 1.25,
        "covered": 2.2,
        "named": 3.2,
        "branch": 1.5,
        "together": 0.7,
    }
)  # what each hint counts: log-odds, fitted on twelve projects; each was left out in turn to report

# --- what each signal is worth --------------------------------------------------------------------------------------


class Grade(Value):
    """A signal's diagnostic score, the sessions it must recur in, and whether it counts without another signal."""

    __slots__ = ("alone", "score", "sessions")

    def __init__(self, score: float, sessions: int, *, alone: bool = True) -> None:
        self.score = score
        self.sessions = sessions
        self.alone = alone


GRADES: Mapping[str, Grade] = MappingProxyType(
    {
        "said": Grade(0.92, 1),
        "co_access": Grade(0.91, 3),
        "self_correction": Grade(0.88, 1),
        "error_retry": Grade(0.85, 2),
        "parallel_conflict": Grade(0.82, 1),
        "read_abandon": Grade(0.79, 3),
        "repeated_grep": Grade(0.76, 2),
        "test_order": Grade(0.74, 3),
        "tool_sequence": Grade(0.73, 3),
        "file_access": Grade(0.72, 3),
        "step_overrun": Grade(0.71, 3),
        "backtrack": Grade(0.68, 2),
        "config_touch": Grade(0.66, 2),
        "glob_ignore": Grade(0.64, 2),
        "context_token_spike": Grade(0.63, 3),
        "external_reference": Grade(0.61, 3),
        "import_chase": Grade(0.52, 4),
        "time_anomaly": Grade(0.48, 3, alone=False),
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
    return worth(name, sessions=sessions, false_positives=false_positives) >= MIN_WORTH
