"""Regular expressions that are compiled when first used: a one-shot command should not pay for those it never needs."""

from __future__ import annotations

import re
from collections.abc import Iterator


class Lazy:
    """A pattern, case-insensitive unless told otherwise, with the few methods the house uses."""

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: str, flags: int = re.IGNORECASE) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[str] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled

    def search(self, text: str) -> re.Match[str] | None:
        return self.pattern.search(text)

    def match(self, text: str) -> re.Match[str] | None:
        return self.pattern.match(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self.pattern.finditer(text)
