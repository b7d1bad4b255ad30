"""Does a call look like calls that failed before? The matcher of the gate before an action, and the snapshot a hook
reads.

A pattern is a feature with the troubles such calls met and how likely this very call fails, by the state of the
session. The snapshot is a projection, rewritten whenever a session was learnt from. Pure; light to load.
"""

from __future__ import annotations

import json

from recollect.core.digest import short_digest
from recollect.core.plain import holds_plain_names, is_plain_name
from recollect.observer import policy
from recollect.observer.events import Value
from recollect.observer.features import FeatureState

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from typing import Any

    from recollect.observer.events import ToolCall


class Trouble(Value):
    """What such calls met: the fingerprint of the error, how it reads, what helped, and the memory that tells of it."""

    __slots__ = ("fingerprint", "memory", "remedy", "text")

    def __init__(self, fingerprint: str, text: str = "", remedy: str = "", memory: str = "") -> None:
        self.fingerprint = fingerprint
        self.text = text
        self.remedy = remedy
        self.memory = memory


class Pattern(Value):
    """Calls of `tool` with a feature, and how likely they fail: by state, and in states never met."""

    __slots__ = ("odds", "sessions", "sort", "tool", "troubles", "usual", "what")

    def __init__(
        self,
        tool: str,
        sort: str,
        what: str,
        usual: float,
        odds: Mapping[str, float],
        troubles: tuple[Trouble, ...] = (),
        sessions: int = 0,
    ) -> None:
        self.tool = tool
        self.sort = sort
        self.what = what
        self.usual = usual
        self.odds = odds
        self.troubles = troubles
        self.sessions = sessions  # in which such calls failed

    @property
    def id(self) -> str:
        """The same for the same feature of the same tool, whatever was learnt since."""
        return short_digest("\x1f".join(self.name))

    @property
    def name(self) -> tuple[str, str, str]:
        return self.tool, self.sort, self.what

    @property
    def most(self) -> float:
        """How likely such a call fails in the worst state."""
        return max((self.usual, *self.odds.values()))

    def likelihood(self, state: str) -> float:
        """How likely such a call fails in a state."""
        return self.odds.get(state, self.usual)

    @property
    def fingerprints(self) -> frozenset[str]:
        return frozenset(trouble.fingerprint for trouble in self.troubles)


NARROW = frozenset({"line", "file"})  # sorts that stand for the broader thing they belong to, where they know a state


class Match(Value):
    """A pattern that a call meets, and how likely it fails as calls like it did."""

    __slots__ = ("likelihood", "pattern", "state")

    def __init__(self, pattern: Pattern, likelihood: float, state: str = "") -> None:
        self.pattern = pattern
        self.likelihood = likelihood
        self.state = state

    @property
    def is_sure(self) -> bool:
        """Will the call more probably fail than not? Then it is told again."""
        return self.likelihood >= policy.SURE


def match_patterns(
    call: ToolCall,
    patterns: Sequence[Pattern],
    *,
    feature_state: FeatureState | None = None,
    threshold: float = policy.THRESHOLDS[0],
    given: Collection[str] = (),
    told: Collection[str] = (),
) -> list[Match]:
    """The patterns a call meets at or above the threshold, the likeliest first.

    What is known of the very line or file stands for what is known of its command or state. Left out is what is no news
    to a session that was `given` the ids of patterns and `told` fingerprints.
    """
    features = (feature_state or FeatureState()).features(call)
    if not features:
        return []
    states = {(feature.sort, feature.what): feature.state for feature in features}
    met = {
        (pattern.sort, pattern.what): Match(pattern, pattern.likelihood(states[pattern.sort, pattern.what]),
                                            states[pattern.sort, pattern.what])
        for pattern in patterns
        if pattern.tool == call.tool and (pattern.sort, pattern.what) in states
    }  # fmt: skip
    last = features[-1]
    narrow = met.get((last.sort, last.what)) if last.sort in NARROW else None
    if narrow is not None and last.state in narrow.pattern.odds:
        met = {(last.sort, last.what): narrow}
    found = [match for match in met.values() if match.likelihood >= threshold and is_news(match, given, told)]
    return sorted(found, key=lambda match: (-match.likelihood, match.pattern.name))


def is_news(match: Match, given: Collection[str], told: Collection[str]) -> bool:
    """Was the session not warned of it yet, or is it sure to fail again?"""
    if match.is_sure:
        return True
    return match.pattern.id not in given and not all(trouble.fingerprint in told for trouble in match.pattern.troubles)


def choose_threshold(
    sessions: Sequence[tuple[int, int, Sequence[int]]], *, budget: float = policy.WARNINGS_PER_HUNDRED_CALLS
) -> float:
    """How likely a failure must be to be worth a warning: so many times as likely as calls here usually fail, and more
    where that would have gone over the budget in the last sessions, each as its calls, errors and `raised`."""
    lately = sessions[-policy.THRESHOLD_SESSIONS :]
    calls, errors = sum(calls for calls, _, _ in lately), sum(errors for _, errors, _ in lately)
    usual = (errors + policy.USUAL_FAILURES * policy.USUAL_CALLS) / (calls + policy.USUAL_CALLS)
    least = min(policy.THRESHOLDS[-1], policy.LEAST_LIFT * usual)
    asked = [(calls, raised) for calls, _, raised in lately if len(raised) == len(policy.THRESHOLDS)]
    room = budget * (sum(calls for calls, _ in asked) + policy.USUAL_CALLS) / 100
    kept = (
        threshold
        for place, threshold in enumerate(policy.THRESHOLDS)
        if threshold >= least and sum(raised[place] for _, raised in asked) <= room
    )
    return next(kept, policy.THRESHOLDS[-1])


def format_warning(match: Match, *, most: int = 2) -> str:
    """The warning in one sentence, as a colleague would say it: what failed, how often, which sort of trouble it was
    and what to do instead. All of it is ours; what the tool printed is not repeated."""
    pattern = match.pattern
    what = {
        "command": f"`{pattern.what}`",
        "line": f"`{pattern.what}`",
        "file": f"{pattern.tool} on {pattern.what}",
        "state": f"{pattern.tool} of {_STATES.get(pattern.what, 'a file like this')}",
        "subject": f"{pattern.tool} {pattern.what}",
    }.get(pattern.sort, pattern.tool)
    troubles = pattern.troubles[:most]
    sorts = list(dict.fromkeys(sort for trouble in troubles if (sort := sort_of_trouble(trouble.text))))
    if not (is_plain_name(pattern.tool) and (pattern.sort == "state" or is_plain_name(pattern.what))):
        what = "A call like this"
    times = f"{pattern.sessions} earlier session{'s' * (pattern.sessions != 1)}"
    named = f": {'; '.join(sorts)}" if sorts else ""
    return f"{what} failed in {times} here{named}{_advice(match, troubles)}"


def _advice(match: Match, troubles: Sequence[Trouble]) -> str:
    """What to do instead: what helped, what the state asks for, or to change something before trying again."""
    state = match.pattern.what if match.pattern.sort == "state" else match.state
    helped = next((trouble.remedy for trouble in troubles if trouble.remedy and _is_plain(trouble.remedy)), "")
    if state not in _MENDED and helped:
        return f" (what helped: {helped})"
    instead = _INSTEAD.get(state) or (_RUN_AGAIN if state.endswith("same failed") else "")
    return f"; {instead}" if instead else ""


def _is_plain(text: str) -> bool:
    """Does it hold plain names only?"""
    return holds_plain_names(text)


def sort_of_trouble(text: str) -> str:
    """What sort of trouble an error tells of, in our words; nothing for one of no known sort."""
    said = text.casefold()
    return next((sort for signs, sort in _SORTS if any(sign in said for sign in signs)), "")


# The sorts of trouble a warning can name. An error's own words are a tool's, and never told unasked.
_SORTS = (
    (("not found in file", "to replace not found", "no match"), "the text was not in the file"),
    (("matches of the string", "more than once", "multiple occurrences"), "the text was there more than once"),
    (("has not been read", "read it first", "before writing"), "the file had not been read"),
    (("modified since", "unexpectedly modified"), "the file had changed meanwhile"),
    (("no such file", "does not exist", "not a directory", "cannot find", "enoent"), "the path was not there"),
    (("is a directory", "eisdir"), "it was a folder"),
    (("command not found", "not recognized"), "the command was not there"),
    (("unknown option", "unknown flag", "unrecognized", "invalid option", "unexpected argument", "illegal option"),
     "an option it does not know"),
    (("unknown command", "unknown subcommand", "missing script", "script not found"), "a command it does not know"),
    (("permission denied", "not permitted", "eacces"), "it was not permitted"),
    (("timed out", "timeout"), "it took too long"),
    (("exceeds maximum", "too large", "token limit"), "it was too large"),
    (("modulenotfounderror", "no module named", "cannot find module", "importerror"), "a module was missing"),
    (("syntaxerror", "syntax error", "failed to parse"), "it did not parse"),
    (("connection refused", "econnrefused", "could not resolve"), "nothing answered"),
    (("assert", "failed", "error:"), "it reported a failure"),
)  # fmt: skip


_STATES = {
    "missing": "a path that does not exist (as this one)",
    "absent": "text that is not in the file (as here)",
    "several": "text that is in the file more than once (as here)",
    "new": "a file that is not known to exist",
    "unread": "a file that was not read in this session",
    "unread before": "a file that was not read in this session",
    "read": "a file that was already read",
}
_INSTEAD = {
    "missing": "look for the path first",
    "absent": "read those lines again and copy them with their spaces and tabs",
    "several": "give more of the lines around it",
    "new": "look for the path first",
    "unread": "read it first",
}
_MENDED = frozenset({"missing", "absent", "several"})  # states that say what is wrong better than what helped once
_RUN_AGAIN = "it failed in this session and nothing was edited since"


# --- the snapshot --------------------------------------------------------------------------------------------------


SNAPSHOT_NAME = "outlook"  # where the store keeps it
SNAPSHOT_FILES_NAME = "outlook_files"  # … and the files and folders that are known to exist
MAX_SNAPSHOT_PATTERNS = 600  # patterns that are kept
_VERSION = 1
_WORDED = 2  # troubles of a pattern that a warning tells; of the others only the fingerprint counts
_TEXT = 300  # letters of a trouble's text, and of its remedy
_PATHS = 30_000  # paths that are kept
MORE = "\x01"  # stands among the paths when there were more


def pack_patterns(patterns: Sequence[Pattern], threshold: float) -> str:
    """The likeliest patterns, by tool, and the threshold: those that could warn, and what stands for them."""
    tools: dict[str, dict[str, Any]] = {}
    wanted = [pattern for pattern in patterns if pattern.most >= threshold or pattern.sort in NARROW]
    for one in wanted[:MAX_SNAPSHOT_PATTERNS]:
        tool = tools.setdefault(one.tool, {"troubles": {}, "patterns": []})
        for place, trouble in enumerate(one.troubles):
            said = [trouble.text[:_TEXT], trouble.remedy[:_TEXT]] if place < _WORDED else []
            if said or trouble.fingerprint not in tool["troubles"]:
                tool["troubles"][trouble.fingerprint] = said
        marks = [trouble.fingerprint for trouble in one.troubles]
        tool["patterns"].append([one.sort, one.what, one.usual, dict(one.odds), marks, one.sessions])
    whole = {"v": _VERSION, "bar": threshold, "tools": tools}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def unpack_patterns(tool: str, text: str) -> list[Pattern]:
    """The patterns of one tool, from its part of what was packed; ValueError when it is not as it was packed."""
    try:
        part = json.loads(text)
        troubles = {mark: Trouble(mark, *said) for mark, said in part["troubles"].items()}
        return [
            Pattern(tool, sort, what, usual, odds, tuple(troubles[mark] for mark in marks), sessions)
            for sort, what, usual, odds, marks, sessions in part["patterns"]
        ]
    except (KeyError, TypeError, AttributeError) as trouble:
        raise ValueError(f"what is kept of {tool} is not as it was written: {trouble}") from trouble


def pack_paths(paths: Iterable[str]) -> str:
    """Paths, one a line, so that one can be looked for in the text. Ends with a mark when some had to be left out."""
    listed = sorted(path for path in paths if "\n" not in path)
    more = [MORE] if len(listed) > _PATHS else []
    return "\n".join(["", *listed[:_PATHS], *more, ""])
