"""Which files the people of a project do not want read: git's ignore rules, without asking git. Pure but for `read`.

A rule file speaks for the directory it lies in; the last rule that fits decides, and deeper files overrule shallower
ones. Patterns are compiled so that no spelling of them can take more than linear time in the length of a name.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

RULE_FILES = (".gitignore", ".recollectignore")
NEVER = frozenset({".git", ".hg", ".svn", ".recollect"})  # no rule brings these back: they are machinery
USUAL = ("node_modules/", "__pycache__/", ".venv/", ".tox/", ".*_cache/")  # others' words; a project may want them
_MOST_BYTES = 5_000_000  # of one rule file
_MOST_PATTERN = 1_000  # characters of one rule
_MOST_RULES = 5_000  # of one file, and
_MOST_CHARS = 60_000  # characters of them all: compiling more takes longer than the files are worth
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "digit": "0-9", "lower": "a-z", "space": "\\s",
    "upper": "A-Z", "xdigit": "0-9a-fA-F", "punct": "!-/:-@\\[-`{-~",
}  # fmt: skip
_NAMED_CLASS = re.compile(r"\[:(\w{1,10}):\]")


@dataclass(frozen=True, slots=True)
class Level:
    """The rules of one directory, grouped: runs of rules of the same sense are one expression."""

    base: str  # the directory below the root, "" for the root itself, ending in "/" otherwise
    above: str  # for rules from above the root: the way from their directory down to it, ending in "/"
    groups: tuple[tuple[bool, re.Pattern[str]], ...]  # (ignores?, expression), the last rule first

    def says(self, path: str) -> bool | None:
        """Whether `path` (a directory ends in "/") is ignored; nothing when no rule fits."""
        below = self.above + path[len(self.base) :]
        return next((sense for sense, expression in self.groups if expression.match(below)), None)


@dataclass(frozen=True, slots=True)
class Ignores:
    """The rules in force in some directory."""

    levels: tuple[Level, ...] = ()  # the deepest first

    def with_rules(self, base: str, lines: Iterable[str], *, above: str = "") -> Ignores:
        """These rules and, overruling them, those of a rule file in `base`, or so far above the root. Lines past the
        limits are left out: `limit_rules` says which."""
        groups = tuple(_grouped(limit_rules(lines)[0]))
        return Ignores((Level(base, above, groups), *self.levels)) if groups else self

    def ignored(self, path: str) -> bool:
        """Whether a path below the root is to be left alone. Its directories are known to be wanted."""
        for level in self.levels:
            verdict = level.says(path)
            if verdict is not None:
                return verdict
        return False


def read_rule_file(file: Path) -> tuple[list[str], str]:
    """The rules of a file, none when it cannot be read; and what was left out of it, in words, if anything."""
    try:
        with open(file, "rb", opener=open_without_following) as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                return [], "not a regular file"
            data = opened.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        return [], error.strerror or type(error).__name__
    kept, note = limit_rules(data[:_MOST_BYTES].decode("utf-8", "replace").splitlines())
    return kept, note or (
        f"more than {_MOST_BYTES // 1_000_000} MB: the rest was left out" if data[_MOST_BYTES:] else ""
    )


def open_without_following(path: str, flags: int) -> int:
    """Open for reading without waiting for a pipe and, where the system can, without following a link put there."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def limit_rules(lines: Iterable[str]) -> tuple[list[str], str]:
    """The rules among some lines, as many as are kept; and what was left out, in words, if anything."""
    kept: list[str] = []
    chars = too_long = too_many = 0
    for line in lines:
        rule = _without_trailing_blanks(line)
        if not rule or rule.startswith("#"):
            continue
        if len(rule) > _MOST_PATTERN:
            too_long += 1
        elif len(kept) == _MOST_RULES or chars + len(rule) > _MOST_CHARS:
            too_many += 1
        else:
            kept.append(rule)
            chars += len(rule)
    notes = []
    if too_many:
        notes.append(f"kept the first {len(kept):,} rules and left out {too_many:,}")
    if too_long:
        notes.append(f"left out {too_long:,} of more than {_MOST_PATTERN:,} characters")
    return kept, "; ".join(notes)


def _grouped(lines: Iterable[str]) -> Iterator[tuple[bool, re.Pattern[str]]]:
    rules = [rule for line in lines if (rule := _rule(line)) is not None]
    for sense, same in groupby(reversed(rules), key=lambda rule: rule[0]):
        yield sense, re.compile("|".join(expression for _, expression in same), re.DOTALL)


def expression(pattern: str) -> str | None:
    """A regular expression, without groups of its own, that matches the paths one pattern means; nothing when the
    pattern means none, or takes paths back in."""
    rule = _rule(pattern)
    return rule[1] if rule is not None and rule[0] else None


def _without_trailing_blanks(line: str) -> str:
    """`line` without its end and without blanks before it, but for one that is escaped."""
    whole = line.rstrip("\r\n")
    bare = whole.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1
    return f"{bare} " if escaped and len(bare) < len(whole) else bare


def _rule(line: str) -> tuple[bool, str] | None:
    """One line as (ignores?, expression over a path whose directories end in "/")."""
    pattern = _without_trailing_blanks(line)
    if not pattern or pattern.startswith("#"):
        return None
    sense = not pattern.startswith("!")
    pattern = pattern if sense else pattern[1:]
    only_folders = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    if not pattern or pattern == "/":
        return None
    anchored = "/" in pattern
    segments = pattern.removeprefix("/").split("/")
    body = _path(segments)
    if body is None:
        return None
    prefix = "" if anchored else r"(?>(?:[^/]+/(?=[^/]))*)"  # up to the last name, in one go
    return sense, f"{prefix}{body}{'/' if only_folders else '/?'}\\Z"


def _path(segments: Sequence[str]) -> str | None:
    """Names with "/" between them as an expression. What stands between two "**" matches as early as it can, once and
    for all, as the pieces between two stars do: the "**" behind it takes any directories that are left."""
    runs: list[str] = [""]
    last = len(segments) - 1
    for place, segment in enumerate(segments):
        if segment == "**" and place == last and place > 0:
            runs[-1] += r"[^/].*"
        elif segment == "**" and place < last:
            if runs[-1] or len(runs) == 1:  # a second "**" in a row says nothing more
                runs.append("")
        else:
            translated = _segment(segment)
            if translated is None:
                return None
            runs[-1] += translated + ("/" if place < last else "")
    head, *rest = runs
    if not rest:
        return head
    *middle, tail = rest
    return head + "".join(f"(?>(?:[^/]+/)*?{run})" for run in middle) + f"(?:[^/]+/)*?{tail}"


def _segment(glob: str) -> str | None:
    """One name with wildcards as an expression. All stars but the last match as little as they can, once and for all:
    that decides the same and cannot backtrack."""
    pieces: list[str] = [""]
    place = 0
    while place < len(glob):
        letter = glob[place]
        if letter == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            place += 1
        elif letter == "?":
            pieces[-1] += "[^/]"
            place += 1
        elif letter == "[":
            found = _class(glob, place)
            if found is None:
                return None  # git matches nothing with an unfinished class
            pieces[-1] += found[0]
            place = found[1]
        else:
            place += letter == "\\"
            if place >= len(glob):
                return None
            pieces[-1] += re.escape(glob[place])
            place += 1
    head, *rest = pieces
    if not rest:
        return head
    *middle, tail = rest
    return head + "".join(f"(?>[^/]*?{piece})" for piece in middle) + f"[^/]*{tail}"


def _class(glob: str, start: int) -> tuple[str, int] | None:
    """The bracket expression at `start` and where it ends."""
    place = start + 1
    negated = place < len(glob) and glob[place] in "!^"
    place += negated
    inside, first = "", True
    while place < len(glob) and (glob[place] != "]" or first):
        first = False
        named = _NAMED_CLASS.match(glob, place)
        if named:
            inside += _CLASSES.get(named[1], "")
            place = named.end()
            continue
        letter = glob[place]
        if letter == "\\" and place + 1 < len(glob):
            place += 1
            letter = glob[place]
        if letter == "-" and inside and place + 1 < len(glob) and glob[place + 1] != "]":
            inside += "-"
        else:
            inside += re.escape(letter)
        place += 1
    if place >= len(glob):
        return None
    expression = f"(?!/)[{'^' if negated else ''}{inside}]" if inside else "(?!)"
    try:
        re.compile(expression)
    except re.error:
        return None
    return expression, place + 1
