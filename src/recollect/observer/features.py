"""How a call looks: what it runs or touches, and the state the session is in when it does.

A feature is what calls that fail alike have in common. Pure and quick: a few set look-ups per call, so that a hook can
afford it. It knows neither errors nor statistics.
"""

from __future__ import annotations

from collections import namedtuple
from functools import lru_cache

from recollect.core.lazy import Lazy
from recollect.observer.events import ActionType, ToolCall, ToolResult, UserText
from recollect.observer.tool_calls import command_name, is_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container
    from typing import NamedTuple, Protocol

    from recollect.observer.events import Event

    class Notes(Protocol):
        """Where a session's state is kept: numbers by kind and name, -1 where nothing was put."""

        def get(self, kind: str, name: str) -> int: ...

        def put(self, kind: str, name: str, value: int) -> object: ...


COMMANDS = 6  # commands of one line that are looked at
READ = 6000  # characters of a text in which paths are noticed
SEEN = 10_000  # paths that a session remembers as seen
_SUBJECT, _LINE = 80, 160  # characters of a subject, and of a shell line, that make a feature
_OPEN = 64  # calls whose answer is awaited

_QUOTED = Lazy(r"'[^']*'|\"[^\"]*\"|<<[\s\S]*", 0)
_REDIRECTED = Lazy(r"\d?>&\d|&>\S*|\d?>{1,2}\s*\S+", 0)
_BETWEEN = Lazy(r"(&&|\|\||;|\n|\|)", 0)
_LITERAL, _JOINING = frozenset("'\"<"), frozenset("&|;\n")  # without these signs there is nothing to find
_PATHS = Lazy(r"(?<![\w.@~/-])(?:[\w.@~-]*(?:/[\w.@-]+)+|[\w-]+\.\w+)", 0)
RUN_STATES = ("first", "edited again", "edited failed", "same again", "same failed")  # of a command or a line
_HIDING = frozenset({"|", "||", ";"})  # what follows a command whose failure nobody is told of


if TYPE_CHECKING:

    class Feature(NamedTuple):
        """What calls have in common: `sort` and `what` name it, `state` is how the session stood."""

        sort: str
        what: str
        state: str = ""
else:
    Feature = namedtuple("Feature", "sort what state", defaults=("",))  # a hook process has no time for `typing`


class MemoryNotes:
    """Notes in memory."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: dict[tuple[str, str], int] = {}

    def get(self, kind: str, name: str) -> int:
        return self._held.get((kind, name), -1)

    def put(self, kind: str, name: str, value: int) -> None:
        self._held[kind, name] = value


class FeatureState:
    """What a session has read, changed, run and seen so far; enough to tell how a call stands.

    All of it is in its notes, so that a session may be followed by one process after another.
    """

    __slots__ = ("_asked", "_known", "_notes")

    def __init__(self, known: Container[str] = (), *, notes: Notes | None = None) -> None:
        """`known` holds the files and folders that earlier sessions found to exist."""
        self._known = known
        self._notes: Notes = MemoryNotes() if notes is None else notes
        self._asked: dict[str, ToolCall] = {}

    def see(self, event: Event) -> None:
        """Take one event in; a call after its features were asked for."""
        if isinstance(event, ToolCall):
            self.called()
            if len(self._asked) >= _OPEN:
                del self._asked[next(iter(self._asked))]
            self._asked[event.call_id] = event
        elif isinstance(event, ToolResult):
            self.answered(self._asked.pop(event.call_id, None), event.text, error=event.error, rejected=event.rejected)
        elif isinstance(event, UserText):
            self.spoken(event.text)

    def called(self) -> None:
        """A call was made."""
        self._notes.put("count", "calls", self._calls + 1)

    def answered(self, call: ToolCall | None, text: str, *, error: bool, rejected: bool) -> None:
        """A call was answered, one that is known unless it was too long ago."""
        self._notice(text)
        if call is not None and not rejected:
            self._done(call, error=error)

    def spoken(self, text: str) -> None:
        """A person said something."""
        self._notice(text)

    @property
    def _calls(self) -> int:
        return max(0, self._notes.get("count", "calls"))

    def features(self, call: ToolCall) -> tuple[Feature, ...]:
        """The features of a call that is about to be made, the broadest first; none where nothing tells it apart."""
        if is_shell(call.tool):
            return self._running(call)
        if call.paths and call.action in (ActionType.READ, ActionType.EDIT):
            path = call.paths[0]
            state = call.disk or (
                self._editing(path, call.tool) if call.action is ActionType.EDIT else self._standing(path)
            )
            return Feature("state", state), Feature("file", path, state)
        if call.inside:
            state = call.disk or self._standing(call.inside)
            return Feature("state", state), Feature("file", call.inside, state)
        if call.subject and call.action is ActionType.OTHER:
            return (Feature("subject", call.subject[:_SUBJECT]),)
        return ()

    def _running(self, call: ToolCall) -> tuple[Feature, ...]:
        if call.action in (ActionType.SEARCH, ActionType.LIST) or not call.subject:
            return ()  # of those only what they look for is known
        changed = self._notes.get("count", "changed")
        found = [
            Feature("command", name, f"{'told' if told else 'hidden'} {self._ran(name, changed)}")
            for name, told in split_commands(call.subject)
        ]
        line = plain_line(call.subject)
        return (*found, Feature("line", line, self._ran(line, changed)))

    def _ran(self, name: str, changed: int) -> str:
        """How did the last run end, and was anything edited since?"""
        ran = self._notes.get("ran", name)
        if ran < 0:
            return "first"
        return f"{'edited' if changed > ran else 'same'} {'failed' if self._notes.get('failed', name) > 0 else 'again'}"

    def _editing(self, path: str, tool: str) -> str:
        """Was it opened in this session with the host's own tools? Some hosts insist on that, some sessions show that
        this one does not."""
        if self._notes.get("opened", path) >= 0:
            return "read"
        return "unread before" if self._notes.get("unread", tool) > 0 else "unread"

    def _standing(self, path: str) -> str:
        if any(self._notes.get(kind, path) >= 0 for kind in ("seen", "opened")):
            return "seen"
        return "known" if path in self._known else "new"

    def _done(self, call: ToolCall, *, error: bool) -> None:
        calls, shell = self._calls, is_shell(call.tool)
        if shell and call.subject and call.action not in (ActionType.SEARCH, ActionType.LIST):
            for name in (*(name for name, _ in split_commands(call.subject)), plain_line(call.subject)):
                self._notes.put("ran", name, calls)
                self._notes.put("failed", name, int(error))
        if call.action not in (ActionType.READ, ActionType.EDIT):
            return
        edits = call.action is ActionType.EDIT
        if edits and not shell and call.paths and self._notes.get("opened", call.paths[0]) < 0:
            self._notes.put("unread", call.tool, int(not error))
        if error:
            return
        for path in call.paths:
            self._notes.put("seen" if shell else "opened", path, calls)
        if edits:
            self._notes.put("count", "changed", calls)

    def _notice(self, text: str) -> None:
        """Remember the paths of a text, and the folders they stand in."""
        noticed = max(0, self._notes.get("count", "seen"))
        named = " ".join(word for word in text[:READ].split() if "/" in word or "." in word)
        if not named or noticed >= SEEN:
            return
        before = noticed
        for found in sorted(set(_PATHS.pattern.findall(named))):
            for path in with_folders(found.removeprefix("./")):
                if self._notes.get("seen", path) >= 0:
                    break  # and so are the folders it stands in
                self._notes.put("seen", path, 0)
                noticed += 1
        if noticed > before:
            self._notes.put("count", "seen", noticed)


def with_folders(path: str) -> list[str]:
    """A path and every folder it stands in."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]


def plain_line(line: str) -> str:
    """A shell line by which it is known again."""
    return " ".join(line.replace("2>&1", "").split())[:_LINE]


@lru_cache(maxsize=256)
def split_commands(line: str) -> tuple[tuple[str, bool], ...]:
    """The commands of a shell line by name, each with whether its failure would be told; none that a pipe feeds."""
    # Most commands are one plain line: a hook should not compile patterns for what is not there.
    plain = line if _LITERAL.isdisjoint(line) else _QUOTED.pattern.sub(" … ", line)
    plain = _REDIRECTED.pattern.sub(" ", plain) if ">" in plain else plain
    parts = [plain] if _JOINING.isdisjoint(plain) else _BETWEEN.pattern.split(plain)
    found: dict[tuple[str, bool], None] = {}
    for place in range(0, len(parts), 2):
        name = command_name(parts[place].strip()) if parts[place].strip() else ""
        if name and (place == 0 or parts[place - 1] != "|"):
            found[(name, place + 1 >= len(parts) or parts[place + 1] not in _HIDING)] = None
    return tuple(found)[:COMMANDS]
