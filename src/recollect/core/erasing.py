"""What was erased, known by keyed digests only: runs of words, sessions, users, projects, or everything.

Whoever holds these marks can recognise in an older copy what must not come back, and cannot read it from them. Words
count, not their spelling: case, width and the signs between them do not matter. Pure.
"""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from recollect.core.digest import blake2b
from recollect.core.text import is_unspaced, split_runs

ERASED = "[erased]"
EVERYTHING = "everything"
_OF = "@"  # stands between a mark and the copy it was made in
_RUN_WORDS = 12  # words of a long text by which it is recognised
_TELLING = 12  # characters: a shorter text is only recognised when it is all there is
_LONGEST_WHOLE = 64  # characters of a text that may be one of the short ones, with its signs and spaces
_FIRST = 4  # letters of the digest of a run's first word: one word in 65,536 is looked at in vain
_WORDS_KEPT = 200_000
_MARK = re.compile(
    r"(?:words-[0-9]{1,3}-[0-9a-f]{24}-[0-9a-f]{4}|(?:whole|session|user|project)-[0-9a-f]{24}|everything)@[^@\s]{1,100}"
)
_LETTERS = re.compile(r"[^\W_]+")


def split_words(text: str) -> list[str]:
    """The words of a text as they are compared; of scripts without spaces, each character."""
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    found = _LETTERS.findall(folded)
    return found if folded.isascii() else [word for one in found for word in _pieces(one)]


def _pieces(word: str) -> Iterator[str]:
    if not is_unspaced(word):
        yield word
        return
    for piece in split_runs(word):
        yield from piece if is_unspaced(piece) else (piece,)


class ErasureMarks:
    """What to erase, by digests under `key`: the name of the store's copy, which its backups share."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.sessions: set[str] = set()
        self.users: set[str] = set()
        self.projects: set[str] = set()
        self.everything = False
        self._runs: dict[int, set[str]] = defaultdict(set)  # by number of words: a digest and that of the first word
        self._wholes: set[str] = set()  # short texts, recognised when they are all there is
        self._firsts: set[str] = set()
        self._short: dict[str, bool] = {}  # short texts that were looked at
        self._may_begin: dict[str, bool] = {}  # words that were met: does a run begin with one?

    def __bool__(self) -> bool:
        return bool(self.everything or self.has_words or self.sessions or self.users or self.projects)

    @property
    def has_words(self) -> bool:
        return bool(self._firsts or self._wholes)

    # --- what is marked -------------------------------------------------------------------------------------------

    def add_name(self, name: str) -> None:
        """A name, also written as one word."""
        words = split_words(name)
        if words:
            self._add_run(words)
            self._add_run(["".join(words)])

    def add_text(self, text: str) -> None:
        """The words of a text, by how it begins."""
        words = split_words(text)
        if len(text.strip()) < _TELLING or not words:
            self._wholes.add(self._digest("whole", " ".join(words) or text.strip()))
            self._forget_answers()
        else:
            self._add_run(words[:_RUN_WORDS])

    def _add_run(self, words: Sequence[str]) -> None:
        self._runs[len(words)].add(self._run(words))
        self._firsts.add(self._first(words[0]))
        self._forget_answers()

    def _forget_answers(self) -> None:
        self._may_begin.clear()
        self._short.clear()

    def add_session(self, session: str) -> None:
        self.sessions.add(self._digest("session", session))

    def add_user(self, user: str) -> None:
        self.users.add(self._digest("user", user))

    def add_project(self, project: str) -> None:
        self.projects.add(self._digest("project", project))

    # --- what they say of something -------------------------------------------------------------------------------

    def has_session(self, session: str | None) -> bool:
        return session is not None and bool(self.sessions) and self._digest("session", session) in self.sessions

    def has_user(self, user: str | None) -> bool:
        return user is not None and bool(self.users) and self._digest("user", user) in self.users

    def has_project(self, project: str) -> bool:
        return self.everything or (bool(self.projects) and self._digest("project", project) in self.projects)

    def hold(self, text: str) -> bool:
        """Does a text hold one of the runs, or is it one of the short texts?"""
        if not self.has_words:
            return False
        if len(text) > _LONGEST_WHOLE:
            return self._hold_run(split_words(text))
        known = self._short.get(text)  # names of fields, kinds, states: the same few again and again
        if known is None:
            words = split_words(text)
            whole = bool(self._wholes) and self._digest("whole", " ".join(words) or text.strip()) in self._wholes
            known = whole or self._hold_run(words)
            if len(self._short) > _WORDS_KEPT:
                self._short.clear()
            self._short[text] = known
        return known

    def _hold_run(self, words: Sequence[str]) -> bool:
        may_begin = self._may_begin
        for start, word in enumerate(words):
            begins = may_begin.get(word)
            if begins is None:
                begins = self._learn(word)
            if begins and self._begins_at(words, start):
                return True
        return False

    def _learn(self, word: str) -> bool:
        if len(self._may_begin) > _WORDS_KEPT:
            self._may_begin.clear()
        begins = self._may_begin[word] = self._first(word) in self._firsts
        return begins

    def _begins_at(self, words: Sequence[str], start: int) -> bool:
        return any(
            self._run(words[start : start + size]) in digests
            for size, digests in self._runs.items()
            if start + size <= len(words)
        )

    def hold_any(self, value: Any) -> bool:
        """The same for any text in a value as JSON has them, names of fields included."""
        if isinstance(value, str):
            return self.hold(value)
        if isinstance(value, dict):
            return any(self.hold(str(key)) or self.hold_any(inner) for key, inner in value.items())
        return isinstance(value, list | tuple) and any(map(self.hold_any, value))

    def blank_value(self, value: Any, name: Callable[[str], str] = lambda text: ERASED) -> Any:
        """A value without the texts that hold something, which `name` gives their new words; the very same one when
        none does."""
        if isinstance(value, str):
            return name(value) if self.hold(value) else value
        if isinstance(value, dict):
            new = {self.blank_value(str(key), name): self.blank_value(inner, name) for key, inner in value.items()}
            return value if new == value else new
        if isinstance(value, list | tuple):
            items = [self.blank_value(inner, name) for inner in value]
            return value if items == list(value) else items
        return value

    def _run(self, words: Sequence[str]) -> str:
        return f"{self._digest('words', ' '.join(words))}-{self._first(words[0])}"

    def _first(self, word: str) -> str:
        """A few letters that tell most words apart, and no word from its digest."""
        return self._digest("first", word)[:_FIRST]

    def _digest(self, sort: str, text: str) -> str:
        told = f"{sort}\0{text}".encode("utf-8", "surrogatepass")
        return str(blake2b(told, key=self.key.encode()[:64], digest_size=12).hexdigest())

    # --- as keys of tombstones ------------------------------------------------------------------------------------

    def as_keys(self) -> list[str]:
        """The marks as texts that can be kept anywhere: each names the copy under whose name it is a digest."""
        kept = [f"words-{size}-{digest}" for size, digests in self._runs.items() for digest in digests]
        kept += [f"whole-{digest}" for digest in self._wholes]
        kept += [f"session-{digest}" for digest in self.sessions]
        kept += [f"user-{digest}" for digest in self.users]
        kept += [f"project-{digest}" for digest in self.projects]
        return sorted(f"{mark}{_OF}{self.key}" for mark in [*kept, *([EVERYTHING] if self.everything else [])])

    def add_key(self, kept: str) -> None:
        """Take a mark back from its text; one that nobody knows says nothing."""
        mark = kept.partition(_OF)[0]
        sort, _, digest = mark.partition("-")
        self._forget_answers()
        if mark == EVERYTHING:
            self.everything = True
        elif sort == "words":
            size, _, run = digest.partition("-")
            if size.isdigit():
                self._runs[int(size)].add(run)
                self._firsts.add(run.rpartition("-")[2])
        elif sort in ("whole", "session", "user", "project"):
            sets = {"whole": self._wholes, "session": self.sessions, "user": self.users, "project": self.projects}
            sets[sort].add(digest)


def blank_text(text: str, marks: ErasureMarks, name: Callable[[str], str]) -> str:
    """A stored text without what is marked: JSON leaf by leaf, anything else whole. `name` gives each its new words;
    what was different must stay different, because some texts are keys."""
    if text[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = text
        if not isinstance(value, str):
            new = marks.blank_value(value, name)
            return text if new is value else json.dumps(new, ensure_ascii=False, separators=(",", ":"))
    return name(text) if marks.hold(text) else text


def is_mark(kept: str) -> bool:
    """Is it a mark as `as_keys` tells them?"""
    return _MARK.fullmatch(kept) is not None


def copy_of_mark(kept: str) -> str:
    """The name of the copy in which a mark was made; empty when it names none."""
    return kept.partition(_OF)[2]


def marks_from(key: str, kept: Iterable[str]) -> ErasureMarks:
    """Marks of one copy as `as_keys` told them."""
    marks = ErasureMarks(key)
    for one in kept:
        marks.add_key(one)
    return marks


def marks_by_copy(kept: Iterable[str]) -> list[ErasureMarks]:
    """Marks as `as_keys` told them, of whichever copies: a store that was moved has those of the one it came from."""
    found: dict[str, ErasureMarks] = {}
    for one in kept:
        key = copy_of_mark(one)
        found.setdefault(key, ErasureMarks(key)).add_key(one)
    return list(found.values())


# --- looking for bytes ------------------------------------------------------------------------------------------------

_WINDOW = 8  # bytes; a text of twice as many, less one, holds a whole window at any alignment
_LEAST = 4  # bytes: shorter ones stand in any file by chance


class BytePattern:
    """Some texts as bytes in every way they may be written, and whether blocks of bytes hold one. Many are looked for
    at once: every aligned window of a block is compared with all windows of the texts."""

    def __init__(self, texts: Sequence[str], plain: Iterable[str] = ()) -> None:
        """`plain` are looked for only as they are written, in UTF-8 and as JSON: for many of them."""
        self._of: dict[bytes, str] = {}
        for text in texts:
            for spelling in dict.fromkeys((text, text.lower(), text.casefold(), text.upper())):
                for encoded in _encodings(spelling):
                    if len(text.encode("utf-8", "surrogatepass")) >= _LEAST:
                        self._of.setdefault(encoded, text)
        for text in plain:
            self._of.setdefault(text.encode("utf-8", "surrogatepass"), text)
            self._of.setdefault(json.dumps(text)[1:-1].encode(), text)
        self._short = [one for one in self._of if len(one) < 2 * _WINDOW - 1]
        self._long: dict[int, list[bytes]] = defaultdict(list)
        for one in self._of:
            for start in range(_WINDOW if len(one) >= 2 * _WINDOW - 1 else 0):  # one of these is aligned
                self._long[int.from_bytes(one[start : start + _WINDOW], sys.byteorder)].append(one)
        self._windows = frozenset(self._long)
        self.longest = max(map(len, self._of), default=0)
        self.skipped = tuple(text for text in texts if len(text.encode("utf-8", "surrogatepass")) < _LEAST)

    def __bool__(self) -> bool:
        return bool(self._of)

    def find(self, blocks: Iterable[bytes]) -> dict[str, int]:
        """How often each text stands in bytes that come block by block; those that do not are left out. A text that
        lies across two blocks is found, one that stands in the overlap of both counts once or twice."""
        found: dict[str, int] = defaultdict(int)
        rest = b""
        for block in blocks:
            self._count(rest + block, found)
            rest = block[-self.longest :] if self.longest else b""
        return dict(found)

    def _count(self, data: bytes, found: dict[str, int]) -> None:
        for one in self._short:
            if times := data.count(one):
                found[self._of[one]] += times
        if self._windows:
            whole = len(data) // _WINDOW * _WINDOW
            windows = self._windows.intersection(memoryview(data)[:whole].cast("Q"))
            for one in {one for window in windows for one in self._long[window]}:
                if times := data.count(one):
                    found[self._of[one]] += times


def _encodings(text: str) -> Iterator[bytes]:
    """A text as UTF-8, UTF-16 of both orders, and escaped as JSON does it with and without plain letters."""
    yield text.encode("utf-8", "surrogatepass")
    yield text.encode("utf-16-le", "surrogatepass")
    yield text.encode("utf-16-be", "surrogatepass")
    yield json.dumps(text)[1:-1].encode()
    yield json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass")
