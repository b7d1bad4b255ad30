"""Which names of files say something that lasts: no scratch, no plans of the day, nothing that every change touches.

By name alone; what most sessions change in fact is told apart by counting.
"""

from __future__ import annotations

import re

from recollect.core.lazy import Lazy

# Outside the project, scratch, plans and notes of one piece of work, and names that carry a day, a ticket or a hash.
_PASSING = Lazy(
    r"(?:^|[ =])[~/]|(?:^|/)\.\./|^[A-Za-z]:"
    r"|(?:^|[/ ])(?:tmp|temp|scratch|scratchpad|playground|sandbox|logs?|plans?|todos?|phases?)/"
    r"|\.[\w-]{0,20}plan\w{0,8}/"
    r"|\b(?:19|20)\d\d-?[01]\d-?[0-3]\d\b|\b[0-9a-f]{12,64}\b|\b[A-Z]{2,8}-\d{1,6}\b"
    r"|\.(?:log|tmp|bak|orig|rej|patch|diff|swp|pid|sock|lock)$|(?:^|/)\.git/",
    flags=0,
)
# What every change touches whatever it is about: the ledger of changes, locked versions, lists of what is to be done.
_LEDGER = Lazy(
    r"(?:^|/)(?:CHANGE(?:LOG|S)|HISTORY|NEWS|RELEASES?|TODO|STATE|ROADMAP|PROGRESS|PLAN|NOTES|MEMORY|LICENSE|README"
    r"|CLAUDE|AGENTS|GEMINI)[^/.]{0,40}(?:\.(?:mdx?|txt|rst|adoc))?$"
    r"|[.-]lock(?:\.\w{1,8})?$|(?:^|/)(?:go\.sum|poetry\.lock|shrinkwrap\.ya?ml|\.gitignore)$|[.-]lock\.(?:json|ya?ml)$"
    r"|(?:^|/)(?:dist|build|generated|__generated__|vendor|node_modules|target|coverage)/|\.(?:min\.\w{2,4}|snap|map)$"
    r"|(?:^|/)[\w-]{0,60}(?:\.pb|_pb2|\.gen|\.generated|_generated)\.\w{1,5}$"
)
_TESTING = Lazy(r"(?:[._-](?:test|tests|spec|e2e)\b)|(?:\btest_)|(?:(?:^|/)(?:tests?|__tests__|spec|e2e)/)")
_TEST_WORDS = frozenset({"test", "tests", "spec", "e2e"})
_PARTS = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_TYPES = Lazy(r"(?:^|/)(?:types?|typings|interfaces?)(?:/|\.\w{1,4}$)|\.d\.ts$")
_INDEX = frozenset({"index", "mod", "__init__", "main", "lib", "types", "exports"})


def is_passing_place(path: str) -> bool:
    """Is it a place of one day, one machine or one piece of work?"""
    return _PASSING.search(path[:400]) is not None


def is_ledger(path: str) -> bool:
    """Is it changed with everything, or made from other files?"""
    return _LEDGER.search(path[:400]) is not None


def names_a_test(path: str) -> bool:
    return _TESTING.search(path[:400]) is not None


def folder(path: str) -> str:
    return path.rpartition("/")[0]


def goes_without_saying(one: str, other: str) -> bool:
    """Do their names say that the two belong together? A file and its test, a test beside it, two tests; code and the
    types of its folder; in one folder, names that begin with the same word, and the folder's index."""
    tests = names_a_test(one) + names_a_test(other)
    mine, theirs = _words(one), _words(other)
    if tests == 2:
        return True
    if tests == 1 and (mine[: len(theirs)] == theirs or theirs[: len(mine)] == mine):
        return True
    if _types_the_other(one, other) or _types_the_other(other, one):
        return True
    if folder(one) != folder(other):
        return False
    return tests == 1 or mine[:1] == theirs[:1] or not _INDEX.isdisjoint((*mine[:1], *theirs[:1]))


def _types_the_other(types: str, user: str) -> bool:
    """Is the first the file of types for the second's folder, or for a file of its name?"""
    if not _TYPES.search(types):
        return False
    named = types.rsplit("/", 1)[-1].lstrip(".").split(".", 1)[0]
    return named in folder(user).split("/") or named == user.rsplit("/", 1)[-1].split(".", 1)[0]


def _words(path: str) -> list[str]:
    """The words of a file's name, without those that make it a test."""
    base = path.rsplit("/", 1)[-1].lstrip(".").split(".", 1)[0]
    return [word for part in _PARTS.split(base) if (word := part.casefold()) and word not in _TEST_WORDS] or [base]


def is_namesake(one: str, other: str) -> bool:
    """Are both called the same, in different folders?"""
    return _words(one) == _words(other)


def is_noise(one: str, other: str) -> bool:
    """Is there nothing to learn from two files going together?"""
    return any(is_ledger(path) or is_passing_place(path) for path in (one, other)) or goes_without_saying(one, other)
