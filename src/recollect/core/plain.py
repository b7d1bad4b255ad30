"""Names that are names: which parts of a sentence we composed may pass as a path or a command. Light to load.

A file, a branch or a command can be called anything, so a sentence made of local facts still holds words of whoever
named them. A name of a few short parts says what it names; one that reads like a sentence may say anything.
"""

from __future__ import annotations

import re

_QUOTED = re.compile(r"`([^`\n]{1,400})`")
_PARTS = re.compile(r"[^\W\d_]{2,}")  # runs of letters; digits and signs separate
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_CHARS = 160  # of one path or command
_MAX_WORDS = 6  # of letters in one part of a path, or one argument
_MAX_ARGUMENTS = 6  # words of one command
_SIGNS = frozenset("\"'<>|;&$(){}\\!?\n\t,")  # what no plain name and no plain command holds
_REACHING = frozenset("curl wget gh glab lynx w3m http https nc ncat ssh scp eval source".split())


def holds_plain_names(text: str) -> bool:
    """Is everything it quotes the plain name of a file, a folder, a command or a symbol?"""
    if "“" in text or "://" in text:
        return False
    return all(is_plain_name(name) for name in _QUOTED.findall(text)) and "`" not in _QUOTED.sub("", text)


def is_plain_name(name: str) -> bool:
    """Does it name something, rather than say something?"""
    if len(name) > _MAX_CHARS or not _SIGNS.isdisjoint(name) or not name.isprintable():
        return False
    words = name.split()
    if not words or len(words) > _MAX_ARGUMENTS or words[0].rsplit("/", 1)[-1].casefold() in _REACHING:
        return False
    if len(words) > 1 and sum(word.isalpha() for word in words) > 4:
        return False  # nothing but words is a sentence
    return all(len(_PARTS.findall(_HUMP.sub(" ", part))) <= _MAX_WORDS for word in words for part in word.split("/"))
