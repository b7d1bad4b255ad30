"""Rules about what went wrong: errors that tell what to do otherwise, what people refuse, what agents found wrong.

An agent's own correction is told only when the sentence stands on its own: it names something and says what it really
is. What people say is kept by the rule in `said`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution, ErrorSeen, SignalSeen
from recollect.observer import policy
from recollect.observer.history import History
from recollect.observer.hunch import Evidence, Hunch, code, describe_files, describe_remedy, plain_command, quote
from recollect.observer.recorder import SAME_FILE, THEN
from recollect.observer.signals.work import AFTER_FAILURE
from recollect.observer.tool_calls import command_name, is_shell

_PASSING = Lazy(
    r"---? ?FAIL|^FAIL\b|\bundefined:|\[build failed\]|\[setup failed\]|^# |automatic merge failed|conflict \(|warning"
    r"|\bWARN\b|panic:|assert|expected|\bdeclared and not used|cannot use |does not compile|syntax error|TS\d{4}"
    r"|HTTP [45]\d\d|ENOENT.{0,300}spawn|timed? ?out|killed|connection refused|sibling tool call"
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


def misuse(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Errors that tell what to do otherwise."""
    for (tool, words, print_), occurrences in past.troubles().items():
        newest = occurrences[-1][1]
        remedy = _remedy([one for _, one in occurrences], newest)
        text = _describe_trouble(tool, words, newest, remedy, len(occurrences))
        if text:
            least = 1 if newest.times >= policy.OFTEN_IN_ONE_SESSION else None
            yield _hunch(text, f"{tool} {words} {print_}", occurrences, past, remedy, least=least)


def missing_files(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files and folders that agents keep looking for and that are not there."""
    mine = {path for error in seen.errors for path in _missing(error)}
    alike = (each for occurrences in past.troubles().values() for each in occurrences) if mine else ()
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


def is_passing(line: str) -> bool:
    """Is it trouble of the moment: a failing test, code that does not compile yet, a conflict, a network?"""
    return _PASSING.search(line[:300]) is not None


def _describe_trouble(tool: str, words: str, newest: ErrorSeen, remedy: str, sessions: int) -> str:
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
        return (
            f"When {what} fails, {describe_remedy(remedy)}: that has put it right before." if remedy and words else ""
        )
    if not _MISUSE.search(line[:300].casefold()) and not remedy:
        return ""
    message, advice = _sentences(line)
    ending = (
        f" What helped: {describe_remedy(remedy)}."
        if remedy and not advice and len(remedy) <= policy.MAX_REMEDY_CHARS
        else ""
    )
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


def _remedy(occurrences: Sequence[ErrorSeen], newest: ErrorSeen) -> str:
    """What helped most often; once is enough where the message itself says what was wrong. Trying the very same
    again, or working on this or that file, is no remedy."""
    told = Counter(found for occurrence in occurrences if (found := _general(occurrence)))
    if not told:
        return ""
    remedy, times = max(told.items(), key=lambda item: (item[1], -len(item[0])))
    if any(bad.group(1) in remedy for bad in _BLAMED.finditer(newest.example[:300])):
        return ""  # what was complained of stands in it
    return remedy if times > 1 or _MISUSE.search(newest.example[:300].casefold()) else ""


def _general(one: ErrorSeen) -> str:
    parts = []
    for action in one.resolution.split(THEN):
        tool, _, what = action.partition(" ")
        if one.words and tool in ("Read", "Grep", "Glob", "Edit", "Write", "MultiEdit"):
            if tool in ("Edit", "Write", "MultiEdit"):
                return ""  # the code was put right, which is work and no remedy
            continue
        if not one.words and what not in ("", SAME_FILE):
            continue
        parts.append(f"{tool} {_PLACE.sub('N', plain_command(what))}".strip() if one.words else action)
    ran = tuple(dict.fromkeys(parts))
    if one.words and len(ran) == 1 and command_name(ran[0].partition(" ")[2]) == one.words:
        same_words = ran[0].partition(" ")[2].removesuffix(" N") == one.words
        return "" if same_words or not _MISUSE.search(one.example[:300].casefold()) else ran[0]
    if not one.words and ran == (f"{one.tool} {SAME_FILE}",):
        return ""
    return THEN.join(ran[:3])


def _missing(one: ErrorSeen) -> list[str]:
    """The paths of a message that says something is not there, as the project knows them; of any other, none."""
    if not _MISSING.search(one.example[:300]) or is_passing(one.example):
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
    for action in reversed(one.resolution.split(THEN)):
        tool, _, what = action.partition(" ")
        if tool in ("Read", "Edit") and what not in ("", SAME_FILE, path) and what.rsplit("/", 1)[-1] == base:
            return what
    return ""


def _hunch(
    text: str,
    subject: str,
    occurrences: Sequence[tuple[str, ErrorSeen]],
    past: History,
    remedy: str,
    *,
    least: int | None = None,
    files: tuple[str, ...] = (),
) -> Hunch:
    newest = occurrences[-1][1]
    named = tuple(dict.fromkeys((*files, *(path for _, one in reversed(occurrences) for path in one.files))))
    return Hunch(
        signal="error_retry",
        subject=subject,
        kind=Kind.ERROR_PATTERN,
        text=text,
        evidence=tuple(past.evidence(session, one.steps) for session, one in occurrences),
        files=files if files or not newest.words else (),
        strength=sum(bool(one.resolution) for _, one in occurrences) / len(occurrences),
        least=least,
        trigger={
            "tool": newest.tool,
            "fingerprint": newest.fingerprint,
            "words": newest.words.split(),
            "files": list(named[:12]),
            "remedy": remedy,
        },
    )


# --- what was said -------------------------------------------------------------------------------------------------


_NAME = "self_correction"
_NAMES_SOMETHING = Lazy(
    r"`[^`\n]{2,80}`|\b[a-z]{2,40}[A-Z]\w{1,60}|\b\w{1,40}_\w{1,40}|\b\w{1,60}\(\)"
    r"|\b[\w-]{1,60}\.(?:py|go|ts|tsx|js|rs|java|rb|md|json|toml|ya?ml)\b",
    flags=0,  # upper case matters
)
_ADMITS = Lazy(
    r"\bI was (?:wrong|mistaken)|\bmistake\b|\b(?:initially|originally|first|wrongly) (?:thought|assumed)|\bturns out\b"
    r"|\bcorrection\b|\bwait\b|\bwon't work|\bdoesn't work|\bassumption"
)
_SAYS_WHAT = Lazy(r"\b(?:not|instead|rather than|needs? to|must|only|already|because|won't|doesn't|isn't|is wrong)\b")
_SAID_PASSING = Lazy(
    r"\blet me\b|\bI(?:'ll| will| need to| should)\b|\bjust (?:let me know|tell me|checking)|\bthis is fine\b"
    r"|\bthanks?\b|\bwrite the plan\b|\bgo ahead\b|\bcontinue\b|\bsays:|^\[|^<|\bnever mind\b"
)
_REFUSED = "refused: "


def own_corrections(seen: Contribution, past: History) -> Iterator[Hunch]:
    """What the agent itself found to be otherwise."""
    for turn in _turns(seen, "own correction"):
        if _own_stands(turn.subject):
            yield _said_hunch(
                seen,
                turn,
                Kind.MODULE_INSIGHT,
                f"Found out the hard way{describe_files(turn.paths)}: {quote(turn.subject)}",
            )


def refusals(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Commands that people refuse again and again, whatever reason they give."""
    again = past.signals(_NAME)
    for turn in _turns(seen, "refused by a person"):
        tool, _, what = turn.subject.removeprefix(_REFUSED).partition(" ")
        if is_shell(tool) and command_name(what):
            occurrences = tuple(Evidence(id, past_one.steps, past_one.taint) for id, past_one in again[turn.subject])
            text = f"People refuse {code(plain_command(what))} when an agent tries it: ask before running it."
            yield _said_hunch(seen, turn, Kind.GOTCHA, text, worded=False, evidence=occurrences, least=2)


def dead_ends(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Approaches that were given up, where what failed just before is known."""
    for turn in _turns(seen, "dead end"):
        failed = next((said.removeprefix(AFTER_FAILURE) for said in turn.words if said.startswith(AFTER_FAILURE)), "")
        tried, _, why = failed.partition(": ")
        if len(why.split()) < 3 or is_passing(why) or not is_shell(tried.split(" ", 1)[0]):
            continue  # a slip of an editing tool is no approach that failed
        tried = tried.partition(" ")[2]
        text = f"{code(tried)} led nowhere{describe_files(turn.paths)}: {quote(why)}. Then: {quote(turn.subject)}"
        payload = {"tried": tried, "why_it_failed": why, "alternative": turn.subject}
        yield _said_hunch(seen, turn, Kind.DEAD_END, text, payload=payload)


def _turns(seen: Contribution, hunch: str) -> list[SignalSeen]:
    return [signal for signal in seen.signals if signal.name == _NAME and signal.hunch == hunch]


def _own_stands(sentence: str) -> bool:
    return (
        len(sentence.split()) >= policy.MIN_OWN_WORDS
        and not sentence.endswith((":", "?"))
        and not _SAID_PASSING.search(sentence)
        and "|" not in sentence
        and bool(_ADMITS.search(sentence) and _NAMES_SOMETHING.search(sentence) and _SAYS_WHAT.search(sentence))
    )


def _said_hunch(
    seen: Contribution,
    one: SignalSeen,
    kind: Kind,
    text: str,
    *,
    worded: bool = True,
    evidence: tuple[Evidence, ...] = (),
    least: int | None = None,
    payload: dict[str, str] | None = None,
) -> Hunch:
    here = Evidence(seen.session.id, one.steps, one.taint, one.agents)
    return Hunch(
        signal=_NAME,
        subject=f"{one.hunch}: {one.subject}" if evidence else f"{one.hunch}: {one.subject} {' '.join(one.words)}",
        kind=kind,
        text=text,
        evidence=evidence or (here,),
        files=one.paths,
        worded=worded,
        least=least,
        payload=payload,
        trigger={"files": list(one.paths)},
    )
