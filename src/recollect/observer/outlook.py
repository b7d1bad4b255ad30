"""What is known to fail, packed into one small text for the hook process to read. Pure; light to load.

The store keeps it as a projection: it is written anew whenever a session was learnt, from what was observed. Only what
could be warned of at the bar that holds is in it, the likeliest first, and never more than a reader has time for.
"""

from __future__ import annotations

import json

from recollect.observer.foresee import Pattern, Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

NAME = "outlook"  # where the store keeps it
KNOWN = "outlook_files"  # … and the files and folders that are known to exist
MOST = 600  # patterns that are kept
_VERSION = 1
_WORDED = 2  # troubles of a pattern that a warning tells; of the others only the fingerprint counts
_TEXT = 300  # letters of a trouble's text, and of its remedy
_PATHS = 30_000  # paths that are kept
MORE = "\x01"  # stands among the paths when there were more


def packed(patterns: Sequence[Pattern], bar: float) -> str:
    """The patterns that could warn, by tool, and the bar."""
    tools: dict[str, dict[str, Any]] = {}
    for one in [pattern for pattern in patterns if pattern.most >= bar][:MOST]:
        tool = tools.setdefault(one.tool, {"troubles": {}, "patterns": []})
        for place, trouble in enumerate(one.troubles):
            said = [trouble.text[:_TEXT], trouble.remedy[:_TEXT]] if place < _WORDED else []
            if said or trouble.fingerprint not in tool["troubles"]:
                tool["troubles"][trouble.fingerprint] = said
        marks = [trouble.fingerprint for trouble in one.troubles]
        tool["patterns"].append([one.sort, one.what, one.usual, dict(one.odds), marks, one.sessions])
    whole = {"v": _VERSION, "bar": bar, "tools": tools}
    return json.dumps(whole, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def unpacked(tool: str, text: str) -> list[Pattern]:
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


def packed_paths(paths: Iterable[str]) -> str:
    """Paths, one a line, so that one can be looked for in the text. Ends with a mark when some had to be left out."""
    listed = sorted(path for path in paths if "\n" not in path)
    more = [MORE] if len(listed) > _PATHS else []
    return "\n".join(["", *listed[:_PATHS], *more, ""])
