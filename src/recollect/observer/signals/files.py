"""Signals about files: which go together, which are read in vain, which are changed again or by several at once.

Each detector says in its docstring what it looks for. Notes are bounded, an event costs constant time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from recollect.core.lazy import Lazy
from recollect.observer import policy
from recollect.observer.events import ActionType, Event, ToolCall, ToolResult, UserText
from recollect.observer.signals.base import MAX_KEY_CHARS, MAX_MARKS, Detector, Note, make_room, note_for
from recollect.observer.tool_calls import relative_path

_LATELY = 8  # files that are remembered as touched lately
ARROW = " → "


@dataclass(slots=True)
class CoAccess(Detector):
    """co_access: two files were touched within three steps of each other.

    The pair has a direction, first touched to then touched; its measure is the mean time between, in seconds.
    """

    name: ClassVar[str] = "co_access"
    lately: dict[str, tuple[int, float]] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action not in (ActionType.READ, ActionType.EDIT):
            return
        at = event.at or 0.0
        for path in event.paths[:_LATELY]:
            for other, (step, moment) in self.lately.items():
                if other != path and 0 <= event.step - step <= policy.TOGETHER_STEPS:
                    self._pair(other, path, event.step, max(0.0, at - moment))
            self.lately.pop(path, None)
            self.lately[path] = (event.step, at)
            if len(self.lately) > _LATELY:
                del self.lately[next(iter(self.lately))]

    def _pair(self, first: str, then: str, step: int, gap: float) -> None:
        kept = note_for(self.notes, f"{first}{ARROW}{then}")
        kept.mark(step)
        kept.name(first, then)
        kept.measure += (gap - kept.measure) / kept.count


@dataclass(slots=True)
class FileAccess(Detector):
    """file_access: a project file was read or edited.

    Every file counts once a session; which files a kind of task always needs shows only across sessions. A file
    read four or more times and never edited is hard to read, which is its hunch.
    """

    name: ClassVar[str] = "file_access"

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action not in (ActionType.READ, ActionType.EDIT):
            return
        for path in event.paths:
            kept = note_for(self.notes, path)
            kept.mark(event.step)
            kept.name(path)
            if event.action is ActionType.EDIT:
                kept.hunch = "edited"
            elif kept.hunch != "edited":
                kept.measure += 1
                kept.hunch = "hard to read" if kept.measure >= policy.HARD_TO_READ_READS else ""


@dataclass(slots=True)
class ReadAbandon(Detector):
    """read_abandon: a file was read once, the agent went on searching at once, never came back, and edited something
    else.

    The file looked like the right place and was not. A file that is read again or edited later was not abandoned.
    """

    name: ClassVar[str] = "read_abandon"
    reading: str = ""
    edits: int = 0

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        if event.action in (ActionType.SEARCH, ActionType.LIST) and self.reading in self.notes:
            kept = self.notes[self.reading]
            kept.hunch = "the wrong place to look" if kept.count == 1 else ""
            kept.say(event.subject)
        self.reading = ""
        if event.action in (ActionType.READ, ActionType.EDIT):
            for path in event.paths:
                kept = note_for(self.notes, path)
                kept.mark(event.step)
                kept.name(path)
                kept.hunch = ""
            self.reading = event.paths[0] if event.action is ActionType.READ and event.paths else ""
            self.edits += event.action is ActionType.EDIT and bool(event.paths)

    def is_signal(self, note: Note) -> bool:
        return bool(self.edits and note.hunch)


@dataclass(slots=True)
class RepeatedGrep(Detector):
    """repeated_grep: the same pattern was searched three or more times in one session.

    Upper and lower case and surrounding blanks make no difference. What is looked for so often should be known; the
    files opened right after a search are where it was found.
    """

    name: ClassVar[str] = "repeated_grep"
    searched: str = ""

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall):
            return
        if event.action is ActionType.SEARCH and event.subject.strip():
            self.searched = event.subject.strip().casefold()[:MAX_KEY_CHARS]
            note_for(self.notes, self.searched).mark(event.step)
        elif event.action in (ActionType.READ, ActionType.EDIT) and event.paths:
            if self.searched in self.notes:
                self.notes[self.searched].name(event.paths[0])
            self.searched = ""

    def is_signal(self, note: Note) -> bool:
        return note.count >= policy.REPEATED_SEARCHES


_OFFERS = 2000  # files offered that are remembered
_OPEN = 32  # listings whose answer is awaited


@dataclass(slots=True)
class GlobIgnore(Detector):
    """glob_ignore: a listing offered files, and none of them was touched for the rest of the session.

    The pattern looked right and led nowhere. A listing of which one file is opened, or that found nothing, is none.
    """

    name: ClassVar[str] = "glob_ignore"
    offers: dict[str, str] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            if event.action is ActionType.LIST and event.subject:
                make_room(self.asked, _OPEN)
                self.asked[event.call_id] = event.subject[:MAX_KEY_CHARS]
            for path in event.paths:
                self._used(path)
        elif isinstance(event, ToolResult) and event.call_id in self.asked:
            pattern = self.asked.pop(event.call_id)
            if not event.error:
                self._offered(pattern, event)

    def _offered(self, pattern: str, event: ToolResult) -> None:
        names = [
            found
            for line in event.text.split("\n", policy.MAX_OFFERED_FILES)[: policy.MAX_OFFERED_FILES]
            if (found := _file(line))
        ]
        if not names:
            return
        kept = note_for(self.notes, pattern)
        kept.mark(event.step)
        kept.hunch = kept.hunch or "led nowhere"
        for found in names:
            kept.name(found)
            self.offers.pop(_tail(found), None)
            self.offers[_tail(found)] = pattern
            if len(self.offers) > _OFFERS:
                self._used(next(iter(self.offers)))  # no longer followed up, so it gets the benefit of the doubt

    def _used(self, path: str) -> None:
        pattern = self.offers.pop(_tail(path), None)
        if pattern in self.notes and pattern is not None:
            self.notes[pattern].hunch = "useful"

    def is_signal(self, note: Note) -> bool:
        return note.hunch == "led nowhere"


def _file(line: str) -> str | None:
    found = relative_path(line, None) if " " not in line.strip() else None
    return found if found and "." in found.rsplit("/", 1)[-1] else None


def _tail(path: str) -> str:
    """Listings are absolute or relative as the host likes, so names are compared: in doubt it was useful."""
    return path.rsplit("/", 1)[-1][-MAX_KEY_CHARS:]


_IMPORT = Lazy(r"\b(?:import|from|include|require|use|mod)\b")
_NAMES = Lazy(r"\w{1,80}")
_LINES, _KEPT = 60, 120  # lines of a file in which imports stand, and names that are kept


@dataclass(slots=True)
class ImportChase(Detector):
    """import_chase: three or more files were read one after the other, each imported by the one before.

    An import is recognised by the name of the file or its folder in an import line of what was just read. An edit ends
    the chain.
    """

    name: ClassVar[str] = "import_chase"
    chain: list[str] = field(default_factory=list)
    imported: list[str] = field(default_factory=list)
    call: str = ""

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            if event.action is ActionType.READ and event.paths:
                self._read(event.paths[0], event)
            elif event.action is ActionType.EDIT:
                self.chain, self.imported = [], []
        elif isinstance(event, ToolResult) and event.call_id == self.call and not event.error:
            self.imported = read_imports(event.text)

    def _read(self, path: str, event: ToolCall) -> None:
        parts = path.casefold().split("/")
        names = {parts[-1].split(".", 1)[0], *parts[-2:-1]}
        follows = bool(names & set(self.imported)) and path not in self.chain
        self.chain = [*self.chain, path][-MAX_MARKS:] if follows else [path]
        self.imported, self.call = [], event.call_id
        if len(self.chain) >= policy.CHAIN_FILES:
            kept = note_for(self.notes, f"{self.chain[0]} → {path}")
            kept.mark(event.step)
            kept.name(*self.chain)
            kept.measure = float(len(self.chain))


def read_imports(text: str) -> list[str]:
    """The names in the import lines atop a file, lower case; a block of imports counts to its closing bracket."""
    names: dict[str, None] = {}
    block = False
    for line in text.split("\n", _LINES)[:_LINES]:
        if block or _IMPORT.search(line[:300]):
            names.update(dict.fromkeys(found.group().casefold() for found in _NAMES.finditer(line[:300])))
            block = (block or line.rstrip().endswith(("(", "{"))) and ")" not in line and "}" not in line
    return list(names)[:_KEPT]


_BACKTRACK_LATELY = 12  # happenings that are remembered


@dataclass(slots=True)
class Backtrack(Detector):
    """backtrack: a file was edited again within five steps, and something in between says why.

    A failure in between means a wrong assumption, reading or searching means missing context, an edit elsewhere a
    cascading change. Edits that follow each other with nothing in between are one change in several parts.
    """

    name: ClassVar[str] = "backtrack"
    edited: dict[str, int] = field(default_factory=dict)
    lately: list[tuple[int, str, str]] = field(default_factory=list)
    order: int = 0

    def see(self, event: Event) -> None:
        self.order += 1
        if isinstance(event, ToolResult) and event.error and not event.rejected:
            self._happened("wrong assumption", "")
        elif isinstance(event, ToolCall) and event.action in (ActionType.READ, ActionType.SEARCH):
            self._happened("missing context", event.paths[0] if event.paths else "")
        elif isinstance(event, ToolCall) and event.action is ActionType.EDIT:
            for path in event.paths:
                self._edit(path, event.step)
                self._happened("cascading change", path)

    def _happened(self, cause: str, path: str) -> None:
        self.lately = [*self.lately, (self.order, cause, path)][-_BACKTRACK_LATELY:]

    def _edit(self, path: str, step: int) -> None:
        kept = note_for(self.notes, path)
        since = self.edited.pop(path, None)
        if since is not None and 0 <= step - kept.last <= policy.REEDIT_STEPS:
            between = [(cause, other) for order, cause, other in self.lately if order > since and other != path]
            causes = {cause for cause, _ in between}
            for cause in ("wrong assumption", "missing context", "cascading change"):
                if cause in causes:
                    kept.mark(step)
                    kept.name(path, *(other for named, other in between if named == cause and other))
                    kept.hunch = cause
                    break
        kept.last = step
        self.edited[path] = self.order
        if len(self.edited) > _BACKTRACK_LATELY:
            del self.edited[next(iter(self.edited))]

    def is_signal(self, note: Note) -> bool:
        return bool(note.count)


_ENDINGS = (".toml", ".yaml", ".yml", ".ini", ".cfg", ".conf", ".env", ".properties", ".lock", "rc", ".tf")
_CONFIG_TOUCH_NAMES = frozenset(
    "package.json tsconfig.json biome.json dockerfile makefile go.mod cargo.toml pom.xml build.gradle "
    "setup.py .env .gitignore .dockerignore jenkinsfile procfile settings.json config.json".split()
)


@dataclass(slots=True)
class ConfigTouch(Detector):
    """config_touch: a configuration file was edited, and other files within ten steps of it.

    The others are what the setting reaches. A configuration edited alone says nothing.
    """

    name: ClassVar[str] = "config_touch"
    edits: dict[str, int] = field(default_factory=dict)
    configs: dict[str, int] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if not isinstance(event, ToolCall) or event.action is not ActionType.EDIT:
            return
        for path in event.paths:
            config = is_config(path)
            near = self.edits if config else self.configs
            for other, step in near.items():
                if 0 <= event.step - step <= policy.CONFIG_REACH_STEPS:
                    self._reach(path if config else other, other if config else path, event.step)
            own = self.configs if config else self.edits
            own.pop(path, None)
            own[path] = event.step
            if len(own) > _LATELY:
                del own[next(iter(own))]

    def _reach(self, config: str, other: str, step: int) -> None:
        kept = note_for(self.notes, config)
        kept.mark(step)
        kept.name(config, other)


def is_config(path: str) -> bool:
    """Does the name of the file say that it holds settings?"""
    base = path.rsplit("/", 1)[-1].casefold()
    return base in _CONFIG_TOUCH_NAMES or base.endswith(_ENDINGS) or ".config." in base or base.startswith(".env")


_SIGNS = (
    "modified since",
    "has been modified externally",
    "changed on disk",
    "conflict (content)",
    "merge conflict in",
    "unmerged paths",
    "index.lock",
)


@dataclass(slots=True)
class ParallelConflict(Detector):
    """parallel_conflict: two agents of a session edited the same file, or a tool said it had changed underneath.

    A file that one agent edits however often is no conflict.
    """

    name: ClassVar[str] = "parallel_conflict"
    asked: dict[str, str] = field(default_factory=dict)

    def see(self, event: Event) -> None:
        if isinstance(event, ToolCall):
            self._called(event)
        elif isinstance(event, ToolResult):
            target = self.asked.pop(event.call_id, "")
            opening = event.text[:2000].casefold() if event.error else ""
            sign = next((sign for sign in _SIGNS if sign in opening), None)
            if sign:
                kept = note_for(self.notes, target or sign)
                kept.mark(event.step)
                kept.hunch = "changed underneath"

    def _called(self, event: ToolCall) -> None:
        make_room(self.asked, _OPEN)
        self.asked[event.call_id] = event.paths[0] if event.paths else ""
        for path in event.paths if event.action is ActionType.EDIT else ():
            kept = note_for(self.notes, path)
            kept.mark(event.step)
            kept.name(path)
            kept.say(event.agent or "main")
            if len(kept.words) > 1 and not kept.hunch:
                kept.hunch = "edited by several agents"

    def is_signal(self, note: Note) -> bool:
        return bool(note.hunch)


@dataclass(slots=True)
class TimeAnomaly(Detector):
    """time_anomaly: over one file the agent spent two minutes or more, and four times its mean over the others.

    Time runs from the reading of a file to the next call; while a person is awaited it does not count. It only counts
    together with another signal about the same file, which the collector sees to.
    """

    name: ClassVar[str] = "time_anomaly"
    reading: str = ""
    since: float = 0.0
    total: float = 0.0

    def see(self, event: Event) -> None:
        if isinstance(event, UserText):
            self.reading = ""
        if not isinstance(event, ToolCall) or event.at is None:
            return
        if self.reading:
            spent = max(0.0, event.at - self.since)
            note_for(self.notes, self.reading).measure += spent
            self.total += spent
        self.reading = event.paths[0] if event.action is ActionType.READ and event.paths else ""
        self.since = event.at
        if self.reading:
            kept = note_for(self.notes, self.reading)
            kept.mark(event.step)
            kept.name(self.reading)

    def is_signal(self, note: Note) -> bool:
        if len(self.notes) < 2 or note.measure < policy.DWELL_SECONDS:
            return False
        return note.measure >= policy.DWELL_RATIO * (self.total - note.measure) / (len(self.notes) - 1)
