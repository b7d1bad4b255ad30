"""Where the words of a question stand in a text, for those who show it to people. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORD = re.compile(r"\w+")
_STEM = 5  # letters that two forms of one word share
_MOST = 50  # places in one text
_MAX_CHARS = 100_000  # of a text that are looked through


def find_highlights(words: Iterable[str], content: str) -> list[tuple[int, int]]:
    """The places of words of the question, or of other forms of them, as begin and end of each."""
    wanted = {word.casefold() for word in words}
    stems = {word[:_STEM] for word in wanted if len(word) >= _STEM}
    found = []
    for match in _WORD.finditer(content[:_MAX_CHARS]):
        word = match[0].casefold()
        if word in wanted or (len(word) >= _STEM and word[:_STEM] in stems):
            found.append(match.span())
            if len(found) == _MOST:
                break
    return found
