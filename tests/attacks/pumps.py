"""Texts that are hostile to one regular expression, made from the expression itself.

For every repeat of a pattern: what leads up to it, its body pumped, and an end that fits nothing. For every pattern:
the letters that most of its repeats accept, alone and in turns.
"""

from __future__ import annotations

import re
import re._constants as codes
import re._parser as parser
from typing import Any

LETTERS = " a0A\n\t.-_/\\:=,;\"'`<>()[]{}|*#@!$%&+~^?é東\u0301\u2028\0x1Z"
_MANY = 8  # a repeat that may come so often is worth pumping
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def pumped(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Hostile texts as (what stands first, what is repeated), each once."""
    found: dict[tuple[str, str], None] = {}
    for unit, lead in _units(pattern):
        found["", unit] = None
        if lead:
            found[lead, unit] = None
            found["", lead + unit] = None
            found["", lead + unit * max(1, 60 // len(unit))] = None
    return list(found)


def _units(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """(what to pump, what leads up to it) for every repeat of the pattern."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    found: dict[tuple[str, str], None] = {}
    repeats: list[tuple[str, Any]] = []
    _walk(tree, "", repeats)
    sets = [body for _, body in repeats]
    liked = sorted(LETTERS, key=lambda letter: -sum(_accepts(body, letter) for body in sets))
    for lead, body in repeats:
        letters = [letter for letter in liked if _accepts(body, letter)][:4]
        for letter in letters:
            found[letter, lead] = None
        whole = _sample(body)
        if len(whole) > 1:
            found[whole, lead] = None
        if len(letters) > 1:
            found[letters[0] + letters[1], lead] = None
    whole = _sample(tree)
    if whole:
        found[whole[:400], ""] = None
        found[whole[: len(whole) // 2][:400] or whole[:1], ""] = None
    return list(found)


def _walk(tree: Any, lead: str, repeats: list[tuple[str, Any]]) -> str:
    """Note every repeat below `tree` with what leads up to it; a sample of the whole."""
    text = ""
    for code, given in tree:
        if code in _REPEATS:
            least, most, body = given
            if most is codes.MAXREPEAT or int(most) >= _MANY:
                repeats.append(((lead + text)[-400:], body))
            _walk(body, lead + text, repeats)
            text += _sample(body) * min(int(least), 40)
        elif code is codes.SUBPATTERN:
            text += _walk(given[3], lead + text, repeats)
        elif code is codes.ATOMIC_GROUP:
            text += _walk(given, lead + text, repeats)
        elif code is codes.BRANCH:
            samples = [_walk(branch, lead + text, repeats) for branch in given[1]]
            text += samples[0]
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            _walk(given[1], lead + text, repeats)
        else:
            text += _one(code, given)
    return text


def _sample(tree: Any) -> str:
    return _walk(tree, "", [])


def _one(code: Any, given: Any) -> str:
    if code is codes.LITERAL:
        return chr(given)
    if code is codes.NOT_LITERAL:
        return "a" if given != ord("a") else "b"
    if code is codes.ANY:
        return "a"
    if code is codes.IN:
        return next((letter for letter in "a0 A-_.:/\n" + LETTERS if _in(given, letter)), chr(_first(given)))
    return ""


def _first(given: Any) -> int:
    for code, value in given:
        if code is codes.LITERAL:
            return int(value)
        if code is codes.RANGE:
            return int(value[0])
    return ord("a")


def _accepts(body: Any, letter: str) -> bool:
    """Can the body of a repeat begin with this letter?"""
    for code, given in body:
        if code in _REPEATS:
            if _accepts(given[2], letter):
                return True
            if int(given[0]) > 0:
                return False
        elif code is codes.SUBPATTERN:
            return _accepts(given[3], letter)
        elif code is codes.ATOMIC_GROUP:
            return _accepts(given, letter)
        elif code is codes.BRANCH:
            return any(_accepts(branch, letter) for branch in given[1])
        elif code is codes.LITERAL:
            return chr(given) == letter
        elif code is codes.NOT_LITERAL:
            return chr(given) != letter
        elif code is codes.ANY:
            return letter != "\n"
        elif code is codes.IN:
            return _in(given, letter)
    return False


def _in(given: Any, letter: str) -> bool:
    negated = given[0][0] is codes.NEGATE
    for code, value in given[negated:]:
        if code is codes.LITERAL and chr(value) == letter:
            return not negated
        if code is codes.RANGE and value[0] <= ord(letter) <= value[1]:
            return not negated
        if code is codes.CATEGORY and _category(value, letter):
            return not negated
    return bool(negated)


def _category(value: Any, letter: str) -> bool:
    name = str(value).rpartition("_")[2]
    fits = {"DIGIT": letter.isdigit(), "SPACE": letter.isspace(), "WORD": letter.isalnum() or letter == "_"}[name]
    return fits != ("NOT" in str(value))
