"""What went wrong and how it was put right: commands used wrongly, files that are not there, checks and their remedy.

An error is worth telling when its message says what was done wrong, or when the same remedy helped more than once. A
failing test, a compile error of code under work or a merge conflict says nothing about the next session.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution, ErrorSeen
from recollect.observer.hunch import Hunch
from recollect.observer.past import Past
from recollect.observer.record import SAME_FILE, THEN
from recollect.observer.tool_calls import command_name
from recollect.observer.wording import code, deeds, plain_command, quote

_LONG_REMEDY = 140  # characters; what is longer holds for one occasion only
_OFTEN = 3  # times in one session that make an error worth telling at once
_PASSING = Lazy(
    r"---? ?FAIL|^FAIL\b|\bundefined:|\[build failed\]|\[setup failed\]|^# |automatic merge failed|conflict \(|warning"
    r"|\bWARN\b|panic:|assert|expected|\bdeclared and not used|cannot use |does not compile|syntax error|TS\d{4}"
    r"|HTTP [45]\d\d|ENOENT.*spawn|timed? ?out|killed|connection refused|sibling tool call"
)
_MISUSE = Lazy(
    r"unknown (?:flag|option|command|subcommand|skill|argument|shorthand|agent|tool)|unrecogni[sz]ed"
    r"|unexpected argument|illegal option|invalid option|no such (?:option|command|subcommand)"
    r"|script not found|command not found|missing script|not a valid|has not been read|to replace not found"
    r"|matches of the string|exceeds maximum"
    r"|illegal operation on a directory|modified since read|unexpectedly modified|are exactly the same"
    r"|validation error|failed to parse|permission denied|not permitted|no tests? (?:found|matched)"
)
_MISSING = Lazy(r"does not exist|no such file or directory|directory not found|not a directory|cannot find the path")
_PARTICULAR = re.compile(r" of `[^`]{1,80}`| \(line \d{1,6}\)")  # what a finding says of one place only
_PLACE = re.compile(r"(?<= )(?:\d{2,12}|[0-9a-f]{7,40})(?= |$)")  # a number or hash that holds for one occasion
_ADVICE = Lazy(r"^(?:to |please |use |read |set |did you mean|try |run )")
_GENERIC = Lazy(r"task failed|exited with code|^found \d+ error|^exit code|^error$|^failed$|command failed")
_FINDING = Lazy(r"^[\w./@-]{1,200}:\d+(?::\d+)?:? (.{8,200}?) ?\(([a-z][\w-]{1,40})\)$")
_BLAMED = Lazy(r"(?:argument|option|flag):? {0,2}['\"]?(-{1,2}[\w-]{1,40})")
_MEANT = Lazy(r"did you mean ([\w@./-]{3,200}?)\?")
_PATH = Lazy(r"(?:[\w@~.-]{1,60}/){0,12}[\w@.-]{1,80}/?")
_OLD_PATHS = ("/", "~")


def misuse(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Errors that tell what to do otherwise."""
    for (tool, words, print_), sightings in past.troubles().items():
        newest = sightings[-1][1]
        remedy = _remedy([one for _, one in sightings], newest)
        text = _told(tool, words, newest, remedy, len(sightings))
        if text:
            least = 1 if newest.times >= _OFTEN else None
            yield _hunch(text, f"{tool} {words} {print_}", sightings, past, remedy, least=least)


def missing_files(seen: Contribution, past: Past) -> Iterator[Hunch]:
    """Files and folders that agents keep looking for and that are not there."""
    mine = {path for one in seen.errors for path in _missing(one)}
    alike = (sighting for sightings in past.troubles().values() for sighting in sightings) if mine else ()
    looked_for: dict[str, dict[str, ErrorSeen]] = {}
    for session, one in (*past.troubles_about(mine), *alike):
        for path in _missing(one):
            if path in mine:
                looked_for.setdefault(path, {})[session] = one
    for path, seen_in in looked_for.items():
        if seen.session.id not in seen_in or past.was_changed(path):
            continue  # what was changed is there, seen from another folder
        same = [*((id, one) for id, one in seen_in.items() if id != seen.session.id),
                (seen.session.id, seen_in[seen.session.id])]  # fmt: skip
        instead = next((found for _, one in reversed(same) if (found := _used_instead(one, path))), "")
        ending = f" It is {code(instead)}." if instead else ""
        text = f"There is no {code(path)} here, though agents keep looking for it.{ending}"
        yield _hunch(text, f"missing {path}", same, past, "", files=tuple(one for one in (instead,) if one))


def passes(line: str) -> bool:
    """Is it trouble of the moment: a failing test, code that does not compile yet, a conflict, a network?"""
    return _PASSING.search(line[:300]) is not None


def _told(tool: str, words: str, newest: ErrorSeen, remedy: str, sessions: int) -> str:
    line = newest.example.strip()
    finding = _FINDING.search(line[:400])
    if finding and words:
        if sessions <= 2:
            return ""
        rule, found = finding.group(2), _PARTICULAR.sub("", finding.group(1))
        return f"{code(words)} keeps finding the same thing ({rule}): {quote(found)}. Mind it while writing."
    if _MISSING.search(line[:300]) or (_PASSING.search(line[:300]) and not _MISUSE.search(line[:300])):
        return ""
    what = code(_program(words, line)) if words else f"The {tool} tool"
    if _GENERIC.search(line[:200].casefold()) or len(line.split()) < 2:
        return f"When {what} fails, {deeds(remedy)}: that has put it right before." if remedy and words else ""
    if not _MISUSE.search(line[:300].casefold()) and not remedy:
        return ""
    message, advice = _sentences(line)
    ending = f" What helped: {deeds(remedy)}." if remedy and not advice and len(remedy) <= _LONG_REMEDY else ""
    return f"{what} fails here with {quote(message)}.{f' {advice}.' if advice else ''}{ending}"


def _program(words: str, line: str) -> str:
    """The program that complained, which in a chain of commands need not be the first."""
    name, colon, _ = line.partition(": ")
    return name if colon and name.isalpha() and name.islower() and name not in ("error", "fatal") else words


def _sentences(line: str) -> tuple[str, str]:
    """What a message says, and what it advises if it does."""
    for opening in ("error: ", "Error: ", "fatal: "):
        line = line.removeprefix(opening)
    said, _, more = line.partition(". ")
    advice = more.split(". ", 1)[0].rstrip(".") if _ADVICE.search(more) else ""
    return said.rstrip("."), advice


def _remedy(sightings: Sequence[ErrorSeen], newest: ErrorSeen) -> str:
    """What helped most often; once is enough where the message itself says what was wrong. Trying the very same
    again, or working on this or that file, is no remedy."""
    told = Counter(found for one in sightings if (found := _general(one)))
    if not told:
        return ""
    remedy, times = max(told.items(), key=lambda item: (item[1], -len(item[0])))
    if any(bad.group(1) in remedy for bad in _BLAMED.finditer(newest.example[:300])):
        return ""  # what was complained of stands in it
    return remedy if times > 1 or _MISUSE.search(newest.example[:300].casefold()) else ""


def _general(one: ErrorSeen) -> str:
    parts = []
    for deed in one.resolution.split(THEN):
        tool, _, what = deed.partition(" ")
        if one.words and tool in ("Read", "Grep", "Glob", "Edit", "Write", "MultiEdit"):
            if tool in ("Edit", "Write", "MultiEdit"):
                return ""  # the code was put right, which is work and no remedy
            continue
        if not one.words and what not in ("", SAME_FILE):
            continue
        parts.append(f"{tool} {_PLACE.sub('N', plain_command(what))}".strip() if one.words else deed)
    ran = tuple(dict.fromkeys(parts))
    if one.words and len(ran) == 1 and command_name(ran[0].partition(" ")[2]) == one.words:
        same_words = ran[0].partition(" ")[2].removesuffix(" N") == one.words
        return "" if same_words or not _MISUSE.search(one.example[:300].casefold()) else ran[0]
    if not one.words and ran == (f"{one.tool} {SAME_FILE}",):
        return ""
    return THEN.join(ran[:3])


def _missing(one: ErrorSeen) -> list[str]:
    """The paths of a message that says something is not there, as the project knows them; of any other, none."""
    if not _MISSING.search(one.example[:300]) or passes(one.example):
        return []
    named = [*one.files, *_in_message(one.example)]
    clean = (path.removeprefix("./").rstrip("/.,:'\"") for path in named)
    return [
        path
        for path in dict.fromkeys(clean)
        if path and not path.startswith(_OLD_PATHS) and ("/" in path or "." in path[1:]) and len(path) > 3
    ]


def _in_message(line: str) -> list[str]:
    place = _MISSING.search(line[:300])
    if place is None:
        return []
    before, after = line[: place.start()], line[place.end() : 300]
    words = [*after.strip(" :").split()[:1], *before.replace(":", " ").split()[-1:]]
    return [word.strip("'\"`(),:") for word in words if "/" in word and _PATH.search(word)]


def _used_instead(one: ErrorSeen, path: str) -> str:
    """What the message proposes, or a file of the same name that was used when the missing one was given up."""
    if meant := _MEANT.search(one.example[:300]):
        return meant.group(1)
    base = path.rsplit("/", 1)[-1]
    for deed in reversed(one.resolution.split(THEN)):
        tool, _, what = deed.partition(" ")
        if tool in ("Read", "Edit") and what not in ("", SAME_FILE, path) and what.rsplit("/", 1)[-1] == base:
            return what
    return ""


def _hunch(
    text: str,
    subject: str,
    sightings: Sequence[tuple[str, ErrorSeen]],
    past: Past,
    remedy: str,
    *,
    least: int | None = None,
    files: tuple[str, ...] = (),
) -> Hunch:
    newest = sightings[-1][1]
    named = tuple(dict.fromkeys((*files, *(path for _, one in reversed(sightings) for path in one.files))))
    return Hunch(
        signal="error_retry",
        subject=subject,
        kind=Kind.ERROR_PATTERN,
        text=text,
        sightings=tuple(past.sighting(session, one.steps) for session, one in sightings),
        files=files if files or not newest.words else (),
        strength=sum(bool(one.resolution) for _, one in sightings) / len(sightings),
        least=least,
        trigger={
            "tool": newest.tool,
            "fingerprint": newest.fingerprint,
            "words": newest.words.split(),
            "files": list(named[:12]),
            "remedy": remedy,
        },
    )
