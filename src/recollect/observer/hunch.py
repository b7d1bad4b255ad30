"""A hunch: an unproven finding on its way to becoming a memory, what speaks for it, and the words it is told in.

Sentences hold no counts and no dates: they must stay true when the same is seen again, and the evidence beside them
says how often. A language model may word them better; without one, or when it fails, they stay as they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recollect.core.errors import RecollectError
from recollect.core.kinds import Kind
from recollect.core.lazy import Lazy
from recollect.core.plain import holds_plain_names
from recollect.core.text import clean, excerpt
from recollect.observer import policy
from recollect.observer.context import ObserverContext
from recollect.observer.events import identity
from recollect.observer.recorder import SAME_FILE, THEN
from recollect.privacy.fence import defuse

MAX_EVIDENCE = 20  # evidence a memory carries; the newest are kept


@dataclass(frozen=True, slots=True)
class Evidence:
    """One session in which it was seen, at which steps, by how many agents, and what tainted it."""

    session: str
    steps: tuple[int, ...] = ()
    taint: str = ""
    agents: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunch:
    """What a memory would say, and everything that speaks for it. The newest evidence is last."""

    signal: str
    subject: str  # what recurs: two hunches of one signal and subject are the same
    kind: Kind
    text: str
    evidence: tuple[Evidence, ...]
    files: tuple[str, ...] = ()
    strength: float = 1.0  # share of the occasions on which it held, with doubt: how sure we are of it
    spoken: bool = False  # a person said it
    is_sure: bool = False  # … in words that leave little doubt that it holds beyond the day
    worded: bool = False  # in the words of a tool, an agent or a person, not in ours
    least: int | None = None  # sessions it takes, where the signal's own number does not fit
    trigger: Mapping[str, Any] = field(default_factory=dict)
    payload: Mapping[str, Any] | None = None
    parts: tuple[str, ...] = ()  # subjects of smaller findings that this one holds

    @property
    def key(self) -> str:
        """The same for the same finding, whatever words it is told in."""
        return identity(self.signal, self.kind, self.subject)

    @property
    def keys(self) -> tuple[str, ...]:
        """Its own key and those of the findings it holds: what was told of one of them is this, grown."""
        return (self.key, *(identity(self.signal, self.kind, part) for part in self.parts))

    @property
    def needed(self) -> int:
        """How many sessions it takes; half as many for what two agents of one session saw."""
        needed = policy.GRADES[self.signal].sessions if self.least is None else self.least
        return max(1, (needed + 1) // 2) if any(one.agents > 1 for one in self.evidence) else needed

    @property
    def clean(self) -> tuple[Evidence, ...]:
        """The evidence that nothing from outside had touched."""
        return tuple(one for one in self.evidence if not one.taint)

    @property
    def is_composed(self) -> bool:
        """Is the text ours, and does it hold local facts only: plain names of files and commands, counts?"""
        return not self.worded and not self.spoken and not self.taint and holds_plain_names(self.text)

    @property
    def taint(self) -> str:
        return next((one.taint for one in reversed(self.evidence) if one.taint), "")

    def evidence_json(self) -> list[dict[str, Any]]:
        """Where it was seen, as a memory carries it."""
        return [{"session": one.session, "steps": list(one.steps)} for one in self.evidence[-MAX_EVIDENCE:]]


def signal_tag(signal: str) -> str:
    """The tag by which memories of one signal are found."""
    return f"observed:{signal}"


# --- the words of a hunch ------------------------------------------------------------------------------------------


MAX_COMMAND_CHARS = 120  # characters of a command


def code(text: str) -> str:
    """A name, file or command as it is typed."""
    return f"`{excerpt(text.replace('`', ''), MAX_COMMAND_CHARS)}`"


def list_code(texts: Sequence[str], *, most: int = 3) -> str:
    """A few names: `a`, `b` and `c`."""
    shown = [code(text) for text in texts[:most]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def describe_remedy(remedy: str) -> str:
    """A remedy in words: read the file, then run `x`."""
    first, *rest = [_describe_action(one) for one in remedy.split(THEN) if one] or [""]
    return ", then ".join([first, *(one.replace("the file", "it") if "the file" in first else one for one in rest)])


def _describe_action(action: str) -> str:
    tool, _, what = action.partition(" ")
    if tool not in _VERBS:
        return f"call {tool}"
    verb = _VERBS[tool]
    if verb == "run":
        return f"run {code(plain_command(what))}" if what else "run the command again"
    return f"{verb} {'the file' if what in ('', SAME_FILE) else code(what)}"


_VERBS = {"Read": "read", "Edit": "edit", "Write": "write", "MultiEdit": "edit", "Grep": "search for", "Glob": "list",
          "Bash": "run", "shell": "run", "exec_command": "run", "run_in_terminal": "run"}  # fmt: skip


def plain_command(command: str) -> str:
    """A command without what only shapes its output."""
    for cut in (" 2>&1", " | tail", " | head", " | grep"):
        place = command.find(cut)
        if place > 0:
            command = command[:place]
    while command.startswith("cd ") and " && " in command:
        command = command.split(" && ", 1)[1]
    return command.strip()


# --- other words, by a language model ------------------------------------------------------------------------------


_PROMPT = Path(__file__).with_name("prompts") / "reword.txt"
_TOKENS = 1_500  # an answer may have; twenty memories of three sentences
_LONGEST = 500  # characters of one memory
_NAMED = Lazy(r"`([^`\n]{1,200})`")
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["number", "text"],
                "properties": {"number": {"type": "integer"}, "text": {"type": "string"}},
            },
        }
    },
}


def reword(hunches: Sequence[Hunch], context: ObserverContext, session: str) -> tuple[list[Hunch], str]:
    """The hunches, some in other words, and what to say when that failed. A model is shown local facts only, so it can
    pass on nobody else's words."""
    clean_ones = [number for number, one in enumerate(hunches) if one.is_composed]
    if context.model is None or not clean_ones:
        return list(hunches), ""
    lines = [f"{number}. ({hunches[number].kind}) {defuse(hunches[number].text)}" for number in clean_ones]
    try:
        model = context.model("observer", session)
        answer = model.object(
            "\n".join(lines), system=_PROMPT.read_text(encoding="utf-8"), schema=_SCHEMA, max_tokens=_TOKENS
        )
    except RecollectError as error:
        return list(hunches), f"{error} Told by rule instead."
    told = list(hunches)
    for item in answer.value["memories"]:
        number, text = item["number"], clean(str(item["text"]))[0]
        if number in clean_ones and _can_be_believed(text, hunches[number]):
            told[number] = replace(hunches[number], text=text)
    return told, ""


def _can_be_believed(text: str, hunch: Hunch) -> bool:
    given = {found.group(1) for found in _NAMED.finditer(hunch.text)} | set(hunch.files)
    return (
        0 < len(text) <= _LONGEST
        and "://" not in text
        and (not given or any(name in text for name in given))
        and {found.group(1) for found in _NAMED.finditer(text)} <= given
    )
