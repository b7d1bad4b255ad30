"""What words tell: that an agent was wrong, and which trouble an error is.

Patterns are short, bounded and linear. A correction is kept as the sentence it stands in, because a sentence can be
shown; an error is known by its fingerprint, the same in another file, at another line, in another process.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

from recollect.core.lazy import Lazy

MAX_AGENT_CHARS = 2000  # characters at each end of an agent's text that are looked at
MAX_SENTENCE_CHARS = 300  # characters of a sentence that are kept


class Correction(StrEnum):
    """What kind of turn a sentence marks."""

    OWN = "own correction"
    DEAD_END = "dead end"


@dataclass(frozen=True, slots=True)
class SaidWrong:
    """A turn, and the sentence that marks it."""

    turn: Correction
    sentence: str


_OWN = (
    Lazy(r"\bI was (?:wrong|mistaken|incorrect)\b"),
    Lazy(r"\bmy (?:mistake|bad|earlier assumption|previous assumption|assumption was)\b"),
    Lazy(r"\b(?:let me|I (?:should|need to|have to)) (?:reconsider|rethink|correct (?:that|this|myself))\b"),
    Lazy(r"\bI (?:initially|originally|first|previously|wrongly) (?:thought|assumed|believed|expected)\b"),
    Lazy(r"(?:^|[.!?\n] {0,3})correction\s{0,3}[:—-]"),
    Lazy(r"(?:^|[.!?\n] {0,3})(?:oh )?wait[,.!—-]{1,3} {0,2}(?:that|this|it|I|the|no|actually|there)\b"),
    Lazy(r"\bactually,? [^.\n]{1,120} (?:not|instead of|rather than) "),
    Lazy(r"\bturns out\b[^.\n]{0,120}\b(?:not|isn't|doesn't|wasn't|already|actually|instead)\b"),
)
_DEAD_END = (
    Lazy(r"\bthis (?:approach|way|method|path|fix) (?:won't|will not|cannot|can't|doesn't|does not) work\b"),
    Lazy(r"\b(?:abandon|give up on|back out of|scrap) (?:this|that|the) (?:approach|idea|change|path|plan)\b"),
    Lazy(r"\b(?:let me|let's|I'll|I need to) (?:try|take|use) (?:a different|another) (?:approach|way|route|method)\b"),
    Lazy(r"\b(?:is|are|it's) (?:not available|unavailable) in (?:this|the|test|ci|production)\b"),
    Lazy(r"\b(?:dead end|going in circles|no way to make this work)\b"),
    Lazy(r"\b(?:that|this) (?:didn't|did not) (?:work|help)\b"),
)


def find_agent_correction(text: str) -> SaidWrong | None:
    """The first correction or dead end in what an agent said, or None."""
    ends = text if len(text) <= 2 * MAX_AGENT_CHARS else f"{text[:MAX_AGENT_CHARS]}\n{text[-MAX_AGENT_CHARS:]}"
    return _first(ends, _OWN, Correction.OWN) or _first(ends, _DEAD_END, Correction.DEAD_END)


def _first(text: str, patterns: tuple[Lazy, ...], turn: Correction) -> SaidWrong | None:
    looked = text.replace("’", "'")
    places = [match.start() for pattern in patterns if (match := pattern.search(looked))]
    return SaidWrong(turn, _sentence(looked, min(places))) if places else None


def _sentence(text: str, place: int) -> str:
    while place < len(text) - 1 and not text[place].isalnum():
        place += 1
    start = max(text.rfind(mark, 0, place) for mark in (". ", "! ", "? ", "\n", "\0"))
    ends = [found for mark in (". ", "! ", "? ", "\n") if (found := text.find(mark, place)) >= 0]
    end = min(ends) + 1 if ends else len(text)
    return " ".join(text[start + 1 : end].split())[:MAX_SENTENCE_CHARS]


_HOST_SAID = ("<local-command", "<command-", "[Request interrupted", "<task-notification", "<system-reminder", "<bash-")


def is_request(text: str) -> bool:
    """Does a person ask for something? What a host puts in a person's place is no request."""
    return bool(text.strip()) and not text.lstrip().startswith(_HOST_SAID)


# --- errors --------------------------------------------------------------------------------------------------------


MAX_ERROR_CHARS = 4000  # characters of an error that are looked at
MAX_SHAPE_CHARS = 240  # characters of a shape that count

_TELLING = Lazy(
    r"\b(?:\w{0,40}(?:error|exception)|fail(?:ed|ure|s)?|fatal|panic|denied|cannot|can't|not found|no such"
    r"|undefined|unrecognized|unknown|invalid|missing|refused|rejected|timed? ?out|has not been)\b"
)
_SUMMARY = Lazy(r"\btask failed$|^found \d{1,6} error|^error: script |^make: \*\*\*|^FAIL$|\[build failed\]$")
_ESCAPES = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_TAGS = re.compile(r"</?[a-z_]{1,40}>")
_RULES = (
    (re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"), "<id>"),
    (re.compile(r"\b0x[0-9a-fA-F]{1,32}\b"), "<address>"),
    (re.compile(r"\"[^\"\n]{0,200}\"|`[^`\n]{0,200}`|(?<!\w)'[^'\n]{1,200}'(?!\w)"), "<value>"),
    (re.compile(r"(?<![\w.@+~/-])(?:[A-Za-z]:)?[~.]{0,2}[/\\]?(?:[\w.@+-]{1,80}[/\\]){1,40}[\w.@+-]{0,80}"), "<path>"),
    (
        re.compile(r"(?<![\w.])[\w-]{1,80}\.(?:py|go|ts|tsx|js|jsx|rs|java|c|h|cpp|rb|md|json|toml|ya?ml|sh|sql)\b"),
        "<path>",
    ),
    (re.compile(r"\b(?=[a-f]{0,40}[0-9])[0-9a-f]{7,64}\b"), "<hash>"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "<n>"),
)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """`key` identifies the trouble; `shape` and `line` let a person recognise it."""

    key: str
    shape: str
    line: str


def fingerprint(text: str) -> Fingerprint:
    """The fingerprint of an error's text."""
    line = telling_line(text)
    shape = error_shape(line)
    return Fingerprint(
        hashlib.blake2b(shape.encode("utf-8", "replace"), digest_size=8).hexdigest(), shape, line[:MAX_SHAPE_CHARS]
    )


def error_shape(line: str) -> str:
    """The shape of one line of an error."""
    for pattern, mark in _RULES:
        line = pattern.sub(mark, line)
    return " ".join(line.casefold().split())[:MAX_SHAPE_CHARS]


def telling_line(text: str) -> str:
    """The line that says what went wrong: the first exact one, else a summary, else the first that says anything."""
    plain = _TAGS.sub(" ", _ESCAPES.sub("", text[:MAX_ERROR_CHARS]))
    lines = [stripped for line in plain.splitlines() if (stripped := line.strip())]
    spoken = [line for line in lines if not _bare_code(line)] or lines
    if spoken and text.lstrip().startswith("<tool_use_error>"):
        return spoken[0][:400]  # what follows is the agent's own text, quoted back
    telling = [line for line in spoken if _TELLING.search(line[:400])]
    exact = (line for line in telling if "│" not in line and not _SUMMARY.search(line[:400]))
    return next(exact, (telling or spoken or [""])[0])[:400]


def _bare_code(line: str) -> bool:
    return line.casefold().startswith(
        ("exit code", "$ ", "process exited", "wall time", "chunk id", "=== run", "original token", "output:")
    )
