"""What works here: the commands that test, check, build and run a project, learnt from those that went well.

A command is known by the words that choose what it does, without files, flags and values, and by the folder it runs in;
it is shown the way it was mostly written. What filters its output is no part of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from recollect.core.lazy import Lazy
from recollect.core.observed import SignalSeen
from recollect.observer.events import ActionType, ToolCall, ToolResult
from recollect.observer.file_changes import is_file_name
from recollect.observer.shell import UNKNOWN, ShellCommand, read_line
from recollect.observer.tool_calls import command_words

NAME = "command"  # of the signal that a session leaves for each
PURPOSES = ("test", "lint", "build", "run")
_WORDS = {
    "test": "test tests pytest vitest jest mocha rspec unittest tox nox ctest gotestsum nextest e2e playwright spec "
    "phpunit bats testing",
    "lint": "lint eslint biome ruff golangci clippy vet fmt format prettier gofmt gofumpt goimports mypy pyright ty "
    "typecheck types shellcheck markdownlint staticcheck govulncheck check stylelint rubocop black isort flake8 pylint "
    "oxlint verify",
    "build": "build compile tsc webpack rollup esbuild tsup assemble",
    "run": "dev serve start up preview",
}
_PURPOSE = {word: purpose for purpose, words in _WORDS.items() for word in words.split()}
_NOT_FOR_THIS = frozenset(
    "git gh grep rg cat ls find fd sed awk echo printf mkdir rm cp mv curl wget test which command type man tail "
    "head wc sort uniq jq kill pkill ps sleep ssh chmod touch diff cd export source set true false apt apt-get brew "
    "pip pip3 import from const open code vim nano tee xargs env lsof stat file du df less more tree perl "
    "apply_patch codex claude".split()
)
_SCRIPT_RUNNERS = frozenset({"bash", "sh", "zsh", "node", "python", "python3", "bun", "deno", "tsx", "pwsh"})
_FURTHER = frozenset({"check", "format", "run", "fix", "build", "lint", "fmt", "test"})
_MOST_WORDS = 5
_TOKEN = re.compile(r"[a-z0-9]+")
_PROGRAM = re.compile(r"(?!\.\./)[a-z.][a-z0-9_.+/-]{0,80}")  # of the project or of the path, in lower case
_FAILED = re.compile(
    r"\b[1-9]\d* (?:failed|failing|errors?\b|problems?\b)|^FAIL\b|^--- FAIL|BUILD FAILED|ELIFECYCLE|"
    r"[Ee]xit(?:ed with)? (?:status|code):? [1-9]|error TS\d|error\[E\d|^make: \*\*\*|^error: |command not found",
    re.MULTILINE,
)
_OPEN = 32  # calls whose answer is awaited
_IN = " in "  # stands in a signal's subject between a command and its folder
_KEPT = 60  # commands of one session that are kept
_LONGEST = 200  # characters of a command
DECAY = 0.95  # what a session's word is worth with every later one


@dataclass(frozen=True, slots=True)
class KnownCommand:
    """A command that works here: its name, how it is written, what it is for, where it runs, what speaks for it.

    `instead_of` names commands for the same purpose that failed before this one went well.
    """

    name: str
    command: str
    purpose: str
    folder: str = ""
    sessions: int = 0
    successes: int = 0
    failures: int = 0
    score: float = 0.0
    instead_of: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """As one would type it at the root of the project."""
        return f"cd {self.folder} && {self.command}" if self.folder else self.command


@dataclass(frozen=True, slots=True)
class NamedCommand:
    """One command of a line: its name, its purpose, where it runs, and how it was written."""

    name: str
    purpose: str
    folder: str
    written: str


def find_commands(line: str, folder: str = "") -> list[NamedCommand]:
    """The commands of a shell line that test, check, build or run something."""
    found: dict[tuple[str, str], NamedCommand] = {}
    for one in read_line(line, folder=folder):
        named = None if one.piped else name_command(one)
        if named is not None:
            found.setdefault((named.folder, named.name), named)
    return list(found.values())


def name_command(command: ShellCommand) -> NamedCommand | None:
    """The name and purpose of a command, or nothing when it is for none of these."""
    words = command.words
    while words[:1] == ["rtk"] or words[:2] == ["mise", "exec"]:  # they run what follows as it is
        words = words[words.index("--") + 1 :] if "--" in words and words[0] == "mise" else words[1:]
    name = words[0].rsplit("/", 1)[-1] if words else ""
    if name in _NOT_FOR_THIS or not _PROGRAM.fullmatch(words[0] if words else ""):
        return None
    folder, words = _own_folder(command.folder, words)
    core, purpose, after_flag = [words[0]], _purpose(name), False
    for word in words[1:]:
        if word.startswith("-") and word != "-m":
            after_flag = word != "--"
            continue
        meant = _purpose(word.rsplit("/", 1)[-1])
        script = len(core) == 1 and name in _SCRIPT_RUNNERS and is_file_name(word)
        if purpose:
            if word in _FURTHER and not after_flag:
                core.append(word)
            break
        if after_flag and not meant:
            after_flag = False
            continue
        if not script and not (word == "-m" or _is_plain(word)):
            continue
        core.append(word)
        purpose = meant
        if len(core) >= _MOST_WORDS:
            break
    if not purpose:
        return None
    written = " ".join(word for word in words if not any(sign in word for sign in "$\n `'\""))[:_LONGEST]
    return NamedCommand(" ".join(core)[:_LONGEST], purpose, "" if folder in (".", UNKNOWN) else folder, written)


_NO_PROGRAM = Lazy(r"command not found: ([\w.+-]{2,40})|\b([\w.+-]{2,40}): (?:command )?not found$")
_NOT_FOUND_CODE = Lazy(r"^exit(?:ed with)? (?:status|code):? 127\W*$")  # the shell's own


def find_missing_program(message: str, program: str) -> str:
    """The program that an error says is not there, when it is the one that was typed."""
    found = _NO_PROGRAM.search(message)
    named = next((group for group in found.groups() if group), "") if found else ""
    return program if named == program or (not named and _NOT_FOUND_CODE.match(message)) else ""


def stands_in(line: str, failed: str) -> bool:
    """Does a command do what another was meant to, whose program is not there? It is for the same purpose, or ends in
    the same words."""
    missing, other = command_words(failed), command_words(line)
    if not missing or len(other) < 2 or other[0] == missing[0] or other[0].rsplit("/", 1)[-1] in _NOT_FOR_THIS:
        return False
    if len(missing) > 1 and missing[-1] == other[-1]:
        return True
    meant, done = ({one.purpose for one in find_commands(each)} for each in (failed, line))
    return bool((meant & done) - {"run"})  # what is started may be anything


def _own_folder(folder: str, words: Sequence[str]) -> tuple[str, list[str]]:
    """Where a command runs that says so itself, and its words without that."""
    rest = list(words)
    for place, word in enumerate(rest[:-1]):
        if word in ("-C", "--prefix", "--cwd", "--dir") and not rest[place + 1].startswith(("-", "/", "$")):
            told = rest[place + 1].strip("./")
            return (f"{folder}/{told}" if folder and folder != UNKNOWN else told), rest[:place] + rest[place + 2 :]
    return folder, rest


def _purpose(word: str) -> str:
    tokens = _TOKEN.findall(word.lower())
    return next((_PURPOSE[token] for token in tokens if token in _PURPOSE), "")


def _is_plain(word: str) -> bool:
    return word[:1].isalpha() and not any(sign in word for sign in "=$(){}<>*,'\"` \n/") and not is_file_name(word)


def went_well(answer: ToolResult) -> bool:
    """Did a command go well? What hides its exit code does not hide what it printed."""
    return not answer.error and not answer.rejected and not _FAILED.search(answer.text[-4000:])


@dataclass(slots=True)
class _Seen:
    purpose: str
    successes: int = 0
    failures: int = 0
    steps: list[int] = field(default_factory=list)
    written: Counter[str] = field(default_factory=Counter)
    fixed: dict[str, None] = field(default_factory=dict)


class CommandRecorder:
    """Notes, event by event, which commands of a session went well."""

    def __init__(self) -> None:
        self._asked: dict[str, list[NamedCommand]] = {}
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._failing: dict[str, str] = {}  # purpose → the command that failed last

    def called(self, call: ToolCall) -> None:
        """A command was run."""
        if call.action is not ActionType.RUN or not call.subject:
            return
        found = find_commands(call.subject, call.folder)
        if found:
            if len(self._asked) >= _OPEN:
                del self._asked[next(iter(self._asked))]
            self._asked[call.call_id] = found

    def answered(self, answer: ToolResult) -> None:
        """A command has answered."""
        found = self._asked.pop(answer.call_id, [])
        if answer.rejected:
            return
        for named in found:
            if went_well(answer):
                self._note(named, answer.step, well=True)
            elif len(found) == 1:
                self._note(named, answer.step, well=False)

    def _note(self, named: NamedCommand, step: int, *, well: bool) -> None:
        key = (named.folder, named.name)
        seen = self._seen.get(key)
        if seen is None:
            if len(self._seen) >= _KEPT:
                return
            seen = self._seen[key] = _Seen(named.purpose)
        if not well:
            seen.failures += 1
            self._failing[named.purpose] = named.name
            return
        seen.successes += 1
        seen.steps = [*seen.steps[:11], step]
        seen.written[named.written] += 1
        failed = self._failing.pop(named.purpose, "")
        if failed and failed != named.name:
            seen.fixed[failed] = None

    def signals(self) -> tuple[SignalSeen, ...]:
        """One for each command: its name and folder, its purpose, how often it went well and how often not."""
        return tuple(
            SignalSeen(
                name=NAME,
                subject=f"{name}{_IN}{folder}" if folder else name,
                steps=tuple(one.steps),
                count=one.successes,
                paths=(folder,),
                words=(one.written.most_common(1)[0][0] if one.written else name, *list(one.fixed)[:5]),
                hunch=one.purpose,
                measure=float(one.failures),
            )
            for (folder, name), one in self._seen.items()
        )


def _usual_form(name: str, written: Sequence[str]) -> str:
    """How a command is mostly written, files and flags included; only its name where no form prevails."""
    form, times = Counter(written).most_common(1)[0] if written else (name, 0)
    return form if times > 1 and times * 2 > len(written) else name


def command_of(one: SignalSeen) -> tuple[str, str]:
    """The folder and the name of the command that a signal tells of."""
    folder = one.paths[0] if one.paths else ""
    return folder, one.subject.removesuffix(f"{_IN}{folder}") if folder else one.subject


def rank_commands(
    seen: Iterable[tuple[str, SignalSeen]], sessions: Sequence[str], *, purpose: str | None, folder: str, k: int
) -> list[KnownCommand]:
    """The commands that went well, the surest first: later sessions count more, what fails less."""
    age = {session: len(sessions) - 1 - place for place, session in enumerate(sessions)}
    groups: dict[tuple[str, str, str], list[tuple[str, SignalSeen]]] = {}
    for session, one in seen:
        if not purpose or one.hunch == purpose:
            groups.setdefault((one.hunch, *command_of(one)), []).append((session, one))
    found = []
    for (meant, place, name), sightings in groups.items():
        well = [(session, one) for session, one in sightings if one.count]
        if not well:
            continue
        score = sum(DECAY ** age.get(session, 0) * one.count / (one.count + one.measure) for session, one in well)
        if folder and place and not f"{folder}/".startswith(f"{place}/"):
            score /= 2
        found.append(
            KnownCommand(
                name=name,
                command=_usual_form(name, [one.words[0] for _, one in well if one.words]),
                purpose=meant,
                folder=place,
                sessions=len(well),
                successes=sum(one.count for _, one in well),
                failures=sum(int(one.measure) for _, one in sightings),
                score=round(score, 4),
                instead_of=tuple(dict.fromkeys(other for _, one in well for other in one.words[1:]))[:5],
            )
        )
    return sorted(found, key=lambda one: (-one.score, one.name, one.folder))[:k]
