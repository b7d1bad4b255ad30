"""What checkers of an agent's work report, and what driving a user interface teaches; both become drafts here.

Findings of a review are believed at once when they are grave; observations of a user interface come from a page, so
they are reviewed. Who reports is known by the code path, never by the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from recollect.core.drafts import Draft, Receipt
from recollect.core.errors import InvalidField, UnknownChoice
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.scope import Scope, Source, Status
from recollect.core.text import clean, excerpt
from recollect.observer import policy
from recollect.observer.context import ACTOR, ObserverContext
from recollect.observer.events import Event, ToolCall, ToolResult
from recollect.observer.language import telling_line
from recollect.observer.recorder import module_of
from recollect.observer.signals.base import make_room
from recollect.observer.tool_calls import relative_path

Severity: TypeAlias = Literal["critical", "high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("critical", "high", "medium", "low")
SERIOUS = frozenset({"critical", "high"})


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a review found."""

    text: str
    severity: str = "high"
    files: tuple[str, ...] = ()


def note_findings(findings: Sequence[Finding], context: ObserverContext, *, session: str | None) -> list[Receipt]:
    """Critical and high findings become memories, active at once; the others are the session's own affair."""
    for finding in findings:
        if finding.severity not in SEVERITIES:
            raise UnknownChoice("severity", finding.severity, SEVERITIES)
    drafts = [
        Draft(
            finding.text,
            kind=Kind.ERROR_PATTERN,
            confidence=policy.FINDING_CONFIDENCE,
            source=Source.QA_AUTO,
            files=finding.files,
            session=session,
            modules=tuple(dict.fromkeys(module_of(path) for path in finding.files)),
            attributes={"severity": finding.severity, "trigger": {"files": list(finding.files)}},
        )
        for finding in findings
        if finding.severity in SERIOUS
    ]
    return note_drafts(drafts, context)


def note_drafts(drafts: Sequence[Draft], context: ObserverContext) -> list[Receipt]:
    """Remember what was reported, tied to the commit of its files."""
    return context.writer.remember(drafts, actor=ACTOR)


# --- reading a report ----------------------------------------------------------------------------------------------


_SEVERITIES: Mapping[str, Severity] = {
    "critical": "critical", "blocker": "critical", "high": "high", "severe": "high", "major": "high", "error": "high",
    "medium": "medium", "moderate": "medium", "warning": "medium",
    "low": "low", "minor": "low", "info": "low", "note": "low", "trivial": "low",
}  # fmt: skip
MAX_FINDING_CHARS = 600  # characters of a finding that are kept
MAX_FINDINGS = 200  # critical and high findings of one report

_SAID = ("title", "message", "issue", "problem", "summary", "description")
_MORE = ("description", "detail", "details", "message")
_MENDED = ("fix", "suggestion", "recommendation", "remedy", "resolution", "fix_required")
_PLACES = ("files", "paths", "locations")
_PLACE = ("file", "path", "file_path", "filename", "location")


def read_report(given: object) -> list[Finding]:
    """Read a list of findings, or an object that holds one. A finding that cannot be read is named in the error."""
    found: list[Finding] = []
    for number, item in enumerate(_listed(given)):
        if not isinstance(item, Mapping):
            raise InvalidField(f"findings[{number}]", f"expected an object, not {type(item).__name__}")
        found.append(_finding(item, f"findings[{number}]"))
    grave = sum(one.severity in SERIOUS for one in found)
    if grave > MAX_FINDINGS:
        hint = "Nothing was changed. Hand in those that matter, in several reports if need be."
        raise InvalidField(
            "findings", f"{grave} grave ones; at most {MAX_FINDINGS} of a report become memories", hint=hint
        )
    return found


def _listed(given: object) -> Sequence[object]:
    if isinstance(given, Mapping):
        held = next((given[key] for key in ("findings", "issues", "results") if isinstance(given.get(key), list)), None)
        if held is None:
            raise InvalidField("findings", "expected a list of findings, or an object with one under `findings`")
        return list(held)
    if not isinstance(given, list):
        raise InvalidField("findings", f"expected a list of findings, not {type(given).__name__}")
    return given


def _finding(item: Mapping[str, Any], place: str) -> Finding:
    given = str(item.get("severity") or item.get("level") or "").strip().lower()
    if given not in _SEVERITIES:
        raise UnknownChoice(f"{place}.severity", given, _SEVERITIES)
    said = _text(item, _SAID)
    if not said:
        raise InvalidField(place, "says nothing", hint=f"Give it one of: {', '.join(_SAID)}.")
    more = _text(item, _MORE)
    text = said if not more or more in said else f"{said.rstrip('.')}. {more}"
    remedy = _text(item, _MENDED)
    if remedy:
        text = f"{text.rstrip('.')}. What mends it: {remedy}"
    return Finding(excerpt(text, MAX_FINDING_CHARS), _SEVERITIES[given], _files(item))


def _text(item: Mapping[str, Any], keys: Sequence[str]) -> str:
    found = next((value for key in keys if isinstance(value := item.get(key), str) and value.strip()), "")
    return clean(found)[0]


def _files(item: Mapping[str, Any]) -> tuple[str, ...]:
    named: list[object] = [item.get(key) for key in _PLACE]
    for key in _PLACES:
        held = item.get(key)
        named += held if isinstance(held, list) else []
    plain = [one.get("file") or one.get("path") if isinstance(one, Mapping) else one for one in named]
    texts = [one.partition(":")[0] if one[1:2] != ":" else one for one in plain if isinstance(one, str) and one]
    return tuple(dict.fromkeys(path for text in texts if (path := relative_path(text, None)) is not None))[:20]


# --- user interfaces -----------------------------------------------------------------------------------------------


LONGEST = 300  # characters of an observation
MOST = 20  # observations of one session
_OPEN = 64  # calls and failures that are awaited

_TOOLS = (
    "screenshot", "click", "fill", "page_structure", "snapshot", "navigate", "hover", "select_option", "press_key",
    "type_text", "drag", "wait_for", "browser_", "handle_dialog",
)  # fmt: skip
_LATE = Lazy(r"(?i)\btime(?:d )?\s?out|\btimeout|not (?:yet )?(?:visible|ready|loaded|attached)|still loading|detached")
_ABSENT = Lazy(
    r"(?i)no (?:element|node|such|match)|not found|cannot find|could not find|unknown (?:uid|ref)|log ?in|unauthori"
)
_BROKEN = Lazy(
    r"(?i)not connected|no (?:page|browser|session|target)|connection (?:refused|closed)|protocol error|stale snapshot"
)
_WAITS = ("wait", "sleep")


class Sort(StrEnum):
    """What an observation is about."""

    PRECONDITION = "precondition"
    TIMING = "timing"
    UI_BEHAVIOR = "ui_behavior"
    TEST_SEQUENCE = "test_sequence"
    MCP_GOTCHA = "mcp_gotcha"


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Something seen while driving a user interface."""

    sort: Sort
    text: str
    tool: str = ""
    step: int = 0
    session: str | None = None


class UiWatcher:
    """Watches the UI tools of one session: a action that failed and then worked. Bounded; never raises."""

    def __init__(self) -> None:
        self._tries: dict[str, tuple[ToolCall, str, int]] = {}
        self._asked: dict[str, ToolCall] = {}
        self._done: list[ToolCall] = []
        self._count = 0
        self._found: dict[str, Observation] = {}

    def see(self, event: Event) -> None:
        """Take one event in."""
        if isinstance(event, ToolCall) and drives(event.tool):
            make_room(self._asked, _OPEN)
            self._asked[event.call_id] = event
        elif isinstance(event, ToolResult) and (call := self._asked.pop(event.call_id, None)) is not None:
            if event.error and not event.rejected:
                make_room(self._tries, _OPEN)
                self._tries.setdefault(_describe_action(call), (call, telling_line(event.text), self._count))
            elif not event.rejected:
                self._note_success(call)

    def observations(self) -> list[Observation]:
        """What was learnt so far."""
        return list(self._found.values())

    def _note_success(self, call: ToolCall) -> None:
        failed = self._tries.pop(_describe_action(call), None)
        if failed is not None and self._count - failed[2] <= policy.UI_RETRY_CALLS and len(self._found) < MOST:
            since = self._count - failed[2]
            seen = _describe_retry(failed[0], failed[1], self._done[len(self._done) - since :] if since else [])
            self._found.setdefault(seen.text, seen)
        self._count += 1
        self._done = [*self._done, call][-policy.UI_RETRY_CALLS :]


def watched(events: Iterable[Event]) -> list[Observation]:
    """What the UI tools of one session taught."""
    screen = UiWatcher()
    for event in events:
        screen.see(event)
    return screen.observations()


def read_observations(given: object) -> list[Observation]:
    """Observations told by another program: a list of objects with `type` and `text`."""
    held = given.get("observations") if isinstance(given, Mapping) else given
    if not isinstance(held, list):
        raise InvalidField("observations", "expected a list of objects with `type` and `text`")
    return [_read_observation(item, f"observations[{number}]") for number, item in enumerate(held)]


def draft_observations(found: Sequence[Observation], *, session: str | None = None) -> list[Draft]:
    """The memories of some observations; each waits for a review."""
    return [
        Draft(
            one.text,
            kind=Kind.E2E_OBSERVATION,
            confidence=policy.OBSERVATION_CONFIDENCE,
            source=Source.MCP_AUTO,
            scope=Scope.GLOBAL,
            tags=(f"ui:{one.sort}",),
            session=one.session or session,
            status=Status.CANDIDATE,
            needs_review=True,
            attributes={
                "observation": str(one.sort),
                "tainted": True,
                "trigger": {"tool": one.tool},
                "evidence": [{"session": one.session or session or "", "steps": [one.step]}],
            },
            why=f"seen while driving the user interface ({one.sort})",
        )
        for one in found
    ]


def drives(tool: str) -> bool:
    """Does the tool drive a user interface?"""
    name = tool.lower().rpartition("__")[2] if "__" in tool else tool.lower()
    return any(part in name for part in _TOOLS) and name not in ("type_text_file",)


def _describe_retry(call: ToolCall, line: str, between: Sequence[ToolCall]) -> Observation:
    action, trouble = _describe_action(call), excerpt(line, LONGEST // 2)
    waits = [one for one in between if any(part in one.tool.lower() for part in _WAITS)]
    others = [_describe_action(one) for one in between if one not in waits and _describe_action(one) != action][
        -policy.UI_STEPS_TOLD :
    ]
    if _BROKEN.search(line):
        sort, text = Sort.MCP_GOTCHA, f"{action} trips with “{trouble}”; it works when tried again"
    elif waits or (_LATE.search(line) and not others):
        sort, text = Sort.TIMING, f"{action} is too early at first (“{trouble}”): wait for the page before it"
    elif others and _ABSENT.search(line):
        sort, text = Sort.PRECONDITION, f"{action} needs {' and then '.join(others)} first, else “{trouble}”"
    elif len(others) >= policy.UI_STEPS_TOLD:
        sort, text = Sort.TEST_SEQUENCE, f"{action} works after {' and then '.join(others)}; before, “{trouble}”"
    else:
        sort, text = Sort.UI_BEHAVIOR, f"{action} answers “{trouble}” the first time and works the second"
    return Observation(sort=sort, text=f"{text}.", tool=call.tool, step=call.step, session=call.session)


def _describe_action(call: ToolCall) -> str:
    what = call.subject or call.inside or (call.paths[0] if call.paths else "")
    name = call.tool.rpartition("__")[2]
    return f"{name} {excerpt(what, 60)}".strip()


def _read_observation(item: object, place: str) -> Observation:
    if not isinstance(item, Mapping):
        raise InvalidField(place, f"expected an object, not {type(item).__name__}")
    given: Mapping[str, Any] = item
    sort = str(given.get("type") or given.get("sort") or "")
    if sort not in set(Sort):
        raise UnknownChoice(f"{place}.type", sort, list(Sort))
    text = clean(str(given.get("text") or given.get("content") or ""))[0]
    if not text:
        raise InvalidField(f"{place}.text", "says nothing")
    return Observation(sort=Sort(sort), text=excerpt(text, LONGEST), tool=str(given.get("tool") or "")[:80])
