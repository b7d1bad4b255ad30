"""Whose words are these: what a session took in from outside, kept so that its words can be known again.

Taint follows the text, not the clock. Of each result that came from outside (a page, a search, an MCP server, a command
that reaches a network) the digests of its runs of words are kept, within a bound; a text that holds one of them holds
words from outside. What is made of local facts alone holds none, whatever ran before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any
from zlib import crc32

from recollect.observer.events import ActionType, ToolCall
from recollect.observer.tool_calls import all_commands

_WORD = re.compile(r"\w{1,40}")
_RUN = 3  # words in a row …
_TELLING, _LONG = 2, 4  # … of which so many have so many letters: two texts do not share them by chance
_ERROR_SHARE = 0.3  # of the runs of an error that must be from outside before its words count as such
_MOST_RUNS = 12_000  # of one session; the oldest go first
_MOST_WORDS = 3_000  # of one result
_REACHING = frozenset("curl wget gh glab lynx w3m http https nc ncat".split())
_PACKAGE_TOOLS = frozenset("npm pnpm yarn bun pip pip3 uv cargo gem go brew apt apt-get".split())
_PACKAGE_VERBS = frozenset("install add ci i get view info show audit update upgrade fetch search publish".split())


def reaches_outside(call: ToolCall) -> bool:
    """May what answers this call be worded by somebody outside the project?"""
    return call.action is ActionType.EXTERNAL or any(_reaches(words) for words in all_commands(call.subject))


def _reaches(words: list[str]) -> bool:
    if not words:
        return False
    name = words[0].rsplit("/", 1)[-1]
    return name in _REACHING or (name in _PACKAGE_TOOLS and not _PACKAGE_VERBS.isdisjoint(words[1:4]))


class ExternalText:
    """The words that came from outside, as digests of runs of them, each with where it came from."""

    def __init__(self, known: Mapping[str, str] | None = None) -> None:
        self._runs: dict[int, str] = {int(run): where for run, where in (known or {}).items()}

    def add(self, text: str, where: str) -> None:
        """Take in a result that came from `where`."""
        for run in _runs(text):
            self._runs.pop(run, None)
            self._runs[run] = where
        for run in list(islice(self._runs, max(0, len(self._runs) - _MOST_RUNS))):
            del self._runs[run]

    def find(self, texts: Iterable[str]) -> str:
        """Where words of these texts came from, if any came from outside."""
        if not self._runs:
            return ""
        return next((self._runs[run] for text in texts for run in _runs(text) if run in self._runs), "")

    def holds(self, text: str) -> bool:
        """Does a good part of a text consist of words from outside?"""
        runs = set(_runs(text)) if self._runs else set()
        return bool(runs) and sum(run in self._runs for run in runs) >= _ERROR_SHARE * len(runs)

    def to_json(self) -> dict[str, Any]:
        return {str(run): where for run, where in self._runs.items()}

    def __len__(self) -> int:
        return len(self._runs)


def _runs(text: str) -> Iterator[int]:
    words = [found.group().casefold() for found in islice(_WORD.finditer(text), _MOST_WORDS)]
    for place in range(len(words) - _RUN + 1):
        run = words[place : place + _RUN]
        if sum(len(word) >= _LONG for word in run) >= _TELLING:
            yield crc32(" ".join(run).encode("utf-8", "replace"))
