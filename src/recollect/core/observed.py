"""What was observed: one session's contribution to the statistics, and what the contributions add up to.

Moments are seconds since 1970, steps count what the agent did. Values only; they know neither transcripts nor tables.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSeen:
    """One observed session. `prompt` is what it was asked first, clipped and without secrets."""

    id: str
    host: str = ""
    kind: str = "build"
    outcome: str = "unknown"
    started: float | None = None
    ended: float | None = None
    prompt: str = ""
    steps: int = 0
    calls: int = 0
    errors: int = 0
    tokens: int = 0  # of what its tools answered, estimated
    events: int = 0
    slow: int = 0  # events that took longer to watch than they may
    taint: str = ""  # where it first reached outside the project
    outside: int | None = None  # the step at which it did
    agents: tuple[str, ...] = ()
    planned: int = 0  # items of its longest plan
    branch: str = ""  # of the work tree when it began
    raised: tuple[int, ...] = ()  # warnings that each bar would have raised, knowing only the sessions before


@dataclass(frozen=True, slots=True, kw_only=True)
class FileSeen:
    """A file as one session used it."""

    path: str
    module: str
    reads: int = 0
    edits: int = 0
    first_step: int = 0
    last_step: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PairSeen:
    """Two files one session touched within a few steps of each other. `one` sorts before `other`."""

    one: str
    other: str
    forward: int = 0  # times `one` came first
    backward: int = 0
    steps: float = 0.0  # between them, mean
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorSeen:
    """A trouble of one session: the same fingerprint with the same tool and command is the same trouble."""

    tool: str
    words: str  # the command in its first words; nothing for other tools
    fingerprint: str
    shape: str
    example: str
    files: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    times: int = 1
    resolution: str = ""  # the next call of that tool on that file or command that went well


@dataclass(frozen=True, slots=True, kw_only=True)
class CallsSeen:
    """How often one session called a tool, or a command by its first words, and how often that failed."""

    tool: str
    words: str = ""
    times: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeatureSeen:
    """Calls of one session that looked alike in the same state, and the troubles they met, by fingerprint."""

    tool: str
    sort: str  # state, file, command, line, subject
    what: str
    state: str = ""
    times: int = 0
    clean: int = 0  # of these, that local facts alone tell of
    failed: tuple[str, ...] = ()  # one for each failure
    followed: tuple[str, ...] = ()  # in rows of earlier releases: troubles of such calls later in the session


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceSeen:
    """Tools in an order one session repeated."""

    tools: str
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalSeen:
    """A signal of one session, as its detector left it."""

    name: str
    subject: str
    steps: tuple[int, ...] = ()
    count: int = 1
    paths: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    hunch: str = ""
    measure: float = 0.0
    taint: str = ""
    agents: int = 1  # how many agents of the session saw it


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """Everything one session adds to the statistics."""

    session: SessionSeen
    files: tuple[FileSeen, ...] = ()
    pairs: tuple[PairSeen, ...] = ()
    errors: tuple[ErrorSeen, ...] = ()
    calls: tuple[CallsSeen, ...] = ()
    sequences: tuple[SequenceSeen, ...] = ()
    signals: tuple[SignalSeen, ...] = ()
    features: tuple[FeatureSeen, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FileCount:
    """A file across sessions; `last` is when a session that used it began."""

    path: str
    module: str
    sessions: int
    reads: int
    edits: int
    edited: int  # sessions that changed it
    last: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PairCount:
    """Two files across sessions. `led` sessions saw `one` first more often, `followed` saw `other` first."""

    one: str
    other: str
    sessions: int
    led: int
    followed: int
    steps: float
    seconds: float
    last: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCount:
    """A trouble across sessions, with what resolved it, the most frequent remedy first."""

    tool: str
    words: str
    fingerprint: str
    shape: str
    example: str  # of the newest session
    sessions: int
    times: int
    last: float | None
    files: tuple[str, ...]
    resolutions: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCount:
    """How often a tool, or a command by its first words, was called and failed across sessions."""

    tool: str
    words: str
    sessions: int
    times: int
    errors: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceCount:
    """Tools in an order that sessions repeated."""

    tools: str
    sessions: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCount:
    """A folder of the project across sessions."""

    module: str
    sessions: int
    last: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """A signal that became a memory, so that it never becomes a second one."""

    key: str
    memory: str
    session: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedTally:
    """How much was observed."""

    sessions: int = 0
    calls: int = 0
    errors: int = 0
    events: int = 0
    slow: int = 0
    tainted: int = 0  # sessions that reached outside
    promotions: int = 0
    last: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """Something that was synthesised, so that it never is again."""

    subject: str
    stage: str
    at: float
    memories: tuple[str, ...] = ()
    note: str = ""
