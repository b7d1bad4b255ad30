"""The fingerprint of an error: the same for the same trouble in another file, at another line, in another process.

Paths, numbers, addresses and quoted values are taken out; what remains is the shape. Every pattern is linear.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from recollect.core.lazy import Lazy

READ = 4000  # characters of an error that are looked at
SHAPE = 240  # characters of a shape that count

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
    shape = normal(line)
    return Fingerprint(
        hashlib.blake2b(shape.encode("utf-8", "replace"), digest_size=8).hexdigest(), shape, line[:SHAPE]
    )


def normal(line: str) -> str:
    """The shape of one line of an error."""
    for pattern, mark in _RULES:
        line = pattern.sub(mark, line)
    return " ".join(line.casefold().split())[:SHAPE]


def telling_line(text: str) -> str:
    """The line that says what went wrong: the first exact one, else a summary, else the first that says anything."""
    plain = _TAGS.sub(" ", _ESCAPES.sub("", text[:READ]))
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
