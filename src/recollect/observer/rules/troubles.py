"""Rules about what went wrong: commands that do not exist here, commands that put others right, files that are
elsewhere, commands that people refuse.

Each says what to do instead, in a sentence of ours made of names that were typed and of how the calls ended. What a
tool printed is read for the name it complains of and never quoted. Troubles of the agent's own tools, of the moment
(failing tests, code that does not compile, a network, a lock) and of commands every agent knows are no lessons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.observed import Contribution, ErrorSeen
from recollect.core.plain import is_plain_name
from recollect.observer import policy
from recollect.observer.commands import find_missing_program
from recollect.observer.history import History
from recollect.observer.hunch import Evidence, Hunch, code, plain_command
from recollect.observer.recorder import SAME_FILE, THEN
from recollect.observer.rules.places import is_passing_place
from recollect.observer.tool_calls import command_name, command_words, is_shell

# What an error says is not there: the name stands in the group.
_NO_COMMAND = Lazy(
    r"(?:unknown|unrecogni[sz]ed|no such|invalid) (?:sub)?command:? {0,2}['\"`]?([\w.:-]{2,40})"
    r"|script not found:? {0,2}['\"`]?([\w.:-]{2,40})|missing script:? {0,2}['\"`]?([\w.:-]{2,40})"
    r"|no rule to make target {0,2}['\"`]?([\w.:-]{2,40})|no task {0,2}['\"`]?([\w.:-]{2,40})['\"`]? found"
)
_NO_FLAG = Lazy(
    r"(?:unknown|unrecogni[sz]ed|unexpected|invalid|illegal|no such) (?:shorthand )?(?:flag|option|argument)s?:?"
    r" {0,2}['\"`]?(-{1,2}[A-Za-z][\w-]{0,40})"
)
_MISSING = Lazy(r"does not exist|no such file or directory|directory not found|not a directory|cannot find the path")
_OF_THE_MOMENT = Lazy(r"ENOENT.{0,300}spawn|timed? ?out|killed|connection refused|sibling tool call|\.lock\b")
_MEANT = Lazy(r"did you mean ([\w@./-]{3,200}?)\?")
_PATH = Lazy(r"(?:[\w@~.-]{1,60}/){0,12}[\w@.-]{1,80}/?")
_EVERYWHERE = frozenset(
    "awk basename bash cat cd chmod cp curl cut date diff dirname du echo egrep env fd fgrep file find fish gh git "
    "glab grep head jq kill less ln ls lsof mkdir more mv nl od open perl pgrep pkill printf ps pwd rg rm rmdir sed "
    "sh sleep sort stat tail tar tee test time timeout touch tr tree true uniq unzip wc wget which xargs xxd zip "
    "zsh".split()
)  # programs of every machine: their failures and uses say nothing about this project
_ASKING = frozenset({"--help", "-h", "help", "--version", "version", "status", "list", "show", "doctor"})


def misuse(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Commands that do not exist here with what was run instead, and commands that put others right."""
    failed: dict[tuple[str, str], list[tuple[str, ErrorSeen]]] = {}
    for (tool, words, _), occurrences in past.troubles().items():
        if is_shell(tool) and words and words.split()[0] not in _EVERYWHERE:
            failed.setdefault((tool, words), []).extend(occurrences)
    for (_, words), occurrences in sorted(failed.items()):
        yield from _does_not_exist(words, occurrences, past)
        yield from _put_right(words, occurrences, past)


def _does_not_exist(words: str, occurrences: Sequence[tuple[str, ErrorSeen]], past: History) -> Iterator[Hunch]:
    named: dict[tuple[str, str], list[tuple[str, ErrorSeen]]] = {}
    for session, one in occurrences:
        if missing := _what_is_missing(words, one.example):
            named.setdefault(missing, []).append((session, one))
    for (sort, name), same in sorted(named.items()):
        ran = [_ran_instead(one, without=name if sort == "flag" else words) for _, one in same]
        instead = _usual_stand_in(ran) if sort == "program" else _most_frequent(iter(ran))
        if not instead:
            continue
        says = {
            "program": f"{code(name)} is not found here",
            "command": f"{code(words)} does not exist here",
            "flag": f"{code(words)} knows no {code(name)} here",
        }[sort]
        held = len({session for session, _ in same})
        yield _hunch(f"{says}: run {code(instead)} instead.", f"no {sort} {name}: {words}", same, past, held, held)


def _put_right(words: str, occurrences: Sequence[tuple[str, ErrorSeen]], past: History) -> Iterator[Hunch]:
    sessions = {session for session, _ in occurrences}
    helped: dict[str, set[str]] = {}
    for session, one in occurrences:
        ran = _ran_instead(one, without=words)
        if ran and not _what_is_missing(words, one.example) and ran.split()[0] == words.split()[0]:
            helped.setdefault(ran, set()).add(session)
    for remedy, ids in sorted(helped.items()):
        share = len(ids) / (len(sessions) + policy.DOUBT_OCCASIONS)
        if len(ids) < policy.PUT_RIGHT_SESSIONS or share < policy.USUAL_SHARE:
            continue
        text = f"When {code(words)} fails, run {code(remedy)}: that has put it right in most sessions."
        same = [(session, one) for session, one in occurrences if session in ids]
        yield _hunch(text, f"{words} put right by {remedy}", same, past, len(ids), len(sessions))


def _what_is_missing(words: str, message: str) -> tuple[str, str] | None:
    """What an error says does not exist: a program, a command or script of it, a flag. It must be what was typed, not
    something that what was typed ran in turn."""
    line = message[:300]
    typed = words.split()
    if (program := find_missing_program(line, typed[0])) and is_plain_name(program):
        return "program", program
    for sort, pattern in (("command", _NO_COMMAND), ("flag", _NO_FLAG)):
        found = pattern.search(line)
        name = next((group for group in found.groups() if group), "") if found else ""
        if not name or not is_plain_name(name):
            continue
        if sort == "flag" or name in typed:
            return sort, name
    return None


def _ran_instead(one: ErrorSeen, *, without: str) -> str:
    """The command that went well after a failure, where it alone made the difference: no file was changed between, it
    is another command than the one that failed, and it does more than ask."""
    actions = one.resolution.split(THEN) if one.resolution else []
    if not actions or any(_is_edit(action) for action in actions):
        return ""
    tool, _, line = actions[-1].partition(" ")
    ran = plain_command(line)
    if not is_shell(tool) or not is_plain_name(ran) or ran.split()[0] in _EVERYWHERE:
        return ""
    typed = command_words(ran)
    if not typed or _ASKING & set(typed) or is_passing_place(ran):
        return ""
    if without.startswith("-"):
        return "" if without in typed or command_name(ran) != one.words else ran
    return "" if command_name(ran) == one.words or ran == without else ran


def _is_edit(action: str) -> bool:
    return action.split(" ", 1)[0] in ("Edit", "Write", "MultiEdit", "apply_patch", "edit", "write", "patch")


def _most_frequent(found: Iterator[str]) -> str:
    told = Counter(one for one in found if one)
    return min(told, key=lambda one: (-told[one], len(one), one)) if told else ""


def _usual_stand_in(ran: Sequence[str]) -> str:
    """What was run in most sessions that went on without a missing program, as it is mostly written; only the words
    that choose what it does where no form prevails. Nothing when sessions went different ways."""
    found = [one for one in ran if one]
    name, times = Counter(map(command_name, found)).most_common(1)[0] if found else ("", 0)
    if times < policy.PUT_RIGHT_SESSIONS or times * 2 <= len(found):
        return ""
    same = [one for one in found if command_name(one) == name]
    form, forms = Counter(same).most_common(1)[0]
    program = command_words(form)[0]
    return form if forms * 2 > len(same) else " ".join([program, *name.split()[1:]])


# --- files that are elsewhere --------------------------------------------------------------------------------------


def missing_files(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Files that agents look for in the wrong place, where the right one is known."""
    mine = {path for error in seen.errors for path in _missing(error)}
    alike = (each for occurrences in past.troubles().values() for each in occurrences) if mine else ()
    looked_for: dict[str, dict[str, ErrorSeen]] = {}
    for session, one in (*past.troubles_about(mine), *alike):
        for path in _missing(one):
            if path in mine:
                looked_for.setdefault(path, {})[session] = one
    for path, seen_in in sorted(looked_for.items()):
        if seen.session.id not in seen_in or past.was_changed(path):
            continue  # what was changed is there, seen from another folder
        same = [*((id, one) for id, one in seen_in.items() if id != seen.session.id),
                (seen.session.id, seen_in[seen.session.id])]  # fmt: skip
        instead = next((found for _, one in reversed(same) if (found := _used_instead(one, path))), "")
        if instead and not is_passing_place(instead):
            text = f"There is no {code(path)} here: what you look for is {code(instead)}."
            yield _hunch(text, f"missing {path}", same, past, len(same), len(same), files=(instead,))


def _missing(one: ErrorSeen) -> list[str]:
    """The paths of a message that says something is not there, as the project knows them; of any other, none."""
    if not _MISSING.search(one.example[:300]) or _OF_THE_MOMENT.search(one.example[:300]):
        return []
    named = [*one.files, *_in_message(one.example)]
    clean = (path.removeprefix("./").rstrip("/.,:'\"") for path in named)
    return [
        path
        for path in dict.fromkeys(clean)
        if path and not is_passing_place(path) and ("/" in path or "." in path[1:]) and len(path) > 3
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
    held: int,
    occasions: int,
    *,
    files: tuple[str, ...] = (),
) -> Hunch:
    newest = occurrences[-1][1]
    first = dict(reversed(occurrences))
    named = tuple(dict.fromkeys((*files, *(path for _, one in reversed(occurrences) for path in one.files))))
    return Hunch(
        signal="error_retry",
        subject=subject,
        kind=Kind.ERROR_PATTERN,
        text=text,
        evidence=tuple(
            past.evidence(session, first[session].steps) for session in dict.fromkeys(i for i, _ in occurrences)
        ),
        files=files,
        strength=held / (occasions + policy.DOUBT_OCCASIONS),
        trigger={
            "tool": newest.tool,
            "fingerprint": newest.fingerprint,
            "words": newest.words.split(),
            "files": list(named[:12]),
        },
    )


# --- what people refuse --------------------------------------------------------------------------------------------


_REFUSED = "refused: "


def refusals(seen: Contribution, past: History) -> Iterator[Hunch]:
    """Commands that people refuse again and again, whatever reason they give."""
    for subject, occurrences in past.signals("self_correction", hunch="refused by a person").items():
        tool, _, what = subject.removeprefix(_REFUSED).partition(" ")
        command = plain_command(what)
        if not is_shell(tool) or not command_name(what) or is_passing_place(command):
            continue
        yield Hunch(
            signal="self_correction",
            subject=f"refused by a person: {subject}",
            kind=Kind.GOTCHA,
            text=f"People refuse {code(command)} when an agent tries it: ask before running it.",
            evidence=tuple(Evidence(id, one.steps, one.taint) for id, one in occurrences),
            strength=len(occurrences) / (len(occurrences) + policy.DOUBT_OCCASIONS),
            least=policy.REFUSED_SESSIONS,
            trigger={"tool": tool, "words": list(command_words(command))},
        )
