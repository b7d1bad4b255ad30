"""One row of the secret rules, and the character classes that rows are written with. Light to load: hooks need it."""

from __future__ import annotations

import re
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    # What a value must be like: a token is believed by its prefix, a literal unless it is a common word, the rest when
    # they look generated or stand where a password stands.
    Shape = Literal[
        "token", "random", "service", "block", "password", "literal", "argument", "option", "statement", "encoded",
        "chosen", "line", "spoken", "sure", "keyed", "called", "certain", "server",
    ]  # fmt: skip


# Two gates that are no substrings: the text holds a digit, or an option as commands have them.
A_DIGIT = "\0digit"
AN_OPTION = "\0option"


class Rule:
    """One kind of secret. The value is the last group that matched, or the whole match when there is none."""

    __slots__ = ("ahead", "anchors", "back", "entropy", "everywhere", "gate", "name", "pattern", "shape", "shown")

    def __init__(
        self,
        name: str,
        anchors: tuple[str, ...],
        pattern: str,
        shape: Shape = "token",
        entropy: float = 0.0,
        *,
        back: tuple[int, ...] = (0,),
        shown: int = 0,
        everywhere: bool = False,
        gate: tuple[str, ...] = (),
        ahead: str = "",
    ) -> None:
        self.name = name
        self.anchors = anchors  # lower-case literals, one of which stands in every secret of this kind
        self.pattern = pattern
        self.shape = shape
        self.entropy = entropy  # bits per character the value must reach
        self.back = back  # how many characters before the anchor the pattern begins, each possibility
        self.shown = shown  # how many leading characters of the value are public and may stay in the placeholder
        self.everywhere = everywhere  # anchors are looked for in the whole text, not only in its long unbroken runs
        self.gate = gate  # one of these stands in every text that holds such a secret: cheaper to ask first
        self.ahead = ahead  # a small pattern that holds at the anchor of every such secret: cheaper to compile


# A token starts after anything but a letter or digit; an escaped newline or a percent code also counts as a start.
EDGE = r"(?:(?<![A-Za-z0-9\\])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
STOP = r"(?![A-Za-z0-9])"
ALNUM = "[A-Za-z0-9]"
WORD = "[A-Za-z0-9_]"
URLSAFE = "[A-Za-z0-9_-]"
HEX = "[A-Fa-f0-9]"
BASE64 = "[A-Za-z0-9+/=]"
ANY64 = "[A-Za-z0-9+/_=.-]"
UUID = "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

SHOWN_MOST = 4
RANDOM_ENTROPY = 2.8  # bits per character: ten random letters and digits hold about 3.1
HEADER_ENTROPY = 2.75


# A prefix that needs no edge before it: long, closed by a sign, and the end of no word, so that a letter glued to it
# hides nothing. What follows must then look generated. `latest_` and `olive_` end like prefixes, and so do many words
# like the short ones.
GLUED_LEAST = 4
_ENDS_OF_WORDS = ("live_", "test_")


def _stands_alone(prefixes: tuple[str, ...], least: int, shape: Shape) -> bool:
    return (
        shape == "token"
        and least >= 20
        and all(
            len(one) >= GLUED_LEAST and (one[-1] in "_-." or len(one) >= 8) and one not in _ENDS_OF_WORDS
            for one in prefixes
        )
    )


def token(
    name: str, *prefixes: str, least: int, body: str = ALNUM, tail: str = "", shape: Shape = "token", most: str = ""
) -> Rule:
    """A token that announces itself: a public prefix, then at least `least` characters of body."""
    choice = "|".join(map(re.escape, prefixes))
    spelled = f"(?i:{choice})" if prefixes[0][-1] in "_-.~" else f"(?:{choice})"
    anchors = tuple(prefix.lower() for prefix in prefixes)
    shown = min(SHOWN_MOST, *map(len, prefixes))
    edge = "" if _stands_alone(prefixes, least, shape) else EDGE
    return Rule(name, anchors, f"{edge}{spelled}{body}{{{least},{most}}}+{tail}", shape, shown=shown)


def shaped(name: str, anchors: tuple[str, ...], pattern: str, *back: int, shown: int = 0) -> Rule:
    """A token whose parts have their own lengths, perhaps with its anchor further in."""
    return Rule(name, anchors, pattern, back=back or (0,), shown=shown)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, compiled when it is first needed."""
    return re.compile(pattern)
