"""The gate before an action: does something known to fail, or forbidden, match what an agent is about to do? Pure;
light to load.

One short warning at most. What the observer learnt carries a `trigger`; what people taught is matched by its files and
its words; what they forbade, by the words of the sentence that forbid it.
"""

from __future__ import annotations

from recollect.core.lazy import Lazy
from recollect.core.likeness import containment
from recollect.core.text import SILENT_WORDS, split_terms
from recollect.observer.tool_calls import all_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from recollect.core.summary import MemorySummary
    from recollect.observer.events import ToolCall

GATED_ACTIONS = frozenset({"edit", "run"})  # reading harms nobody
_MIN_TRIGGER_SHARE = 0.6  # share of a trigger's words that a command must hold
_MIN_RELEVANCE = 0.5  # share of a command's words that a memory without trigger must speak of
_MAX_COMMAND_CHARS = 2_000  # characters of a command


def find_matches(call: ToolCall, candidates: Iterable[MemorySummary]) -> list[tuple[MemorySummary, float]]:
    """Those that match, the firmest first."""
    found = [(known, strength) for known in candidates if (strength := _match_strength(call, known)) > 0]
    return sorted(found, key=lambda pair: (-pair[1], -pair[0].confidence, pair[0].id))


def _match_strength(call: ToolCall, known: MemorySummary) -> float:
    trigger = known.attributes.get("trigger")
    if isinstance(trigger, dict) and any(trigger.values()):  # what people said has an empty one
        return _trigger_strength(call, trigger)
    touched = bool(set(known.files) & set(call.paths))
    if touched:
        return 0.8 + 0.2 * known.relevance
    return known.relevance if known.relevance >= _MIN_RELEVANCE and call.subject else 0.0


def _trigger_strength(call: ToolCall, trigger: Mapping[str, Any]) -> float:
    """What the observer learnt matches its own tool, and its files or most of its words."""
    tool = trigger.get("tool")
    if isinstance(tool, str) and tool and tool.casefold() != call.tool.casefold():
        return 0.0
    if set(_texts(trigger.get("files"))) & set(call.paths):
        return 1.0
    wanted = {word.lower() for word in _texts(trigger.get("words"))}
    if not wanted or not call.subject:
        return 0.0
    here = set(split_terms(call.subject, max_chars=_MAX_COMMAND_CHARS)[0])
    share = containment(wanted, here)
    return share if share >= _MIN_TRIGGER_SHARE and len(wanted & here) >= min(2, len(wanted)) else 0.0


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list | tuple) else []


# --- what a person forbade -------------------------------------------------------------------------------------------

_FORBIDS = Lazy(
    r"\b(?:never(?: ever)?|do not|don'?t|must not|mustn'?t|should not|shouldn'?t|may not|cannot|can'?t|avoid|stop"
    r"|no longer|instead of|rather than|no(?=\s)|ask (?:me |us |first )?before(?: you)?)\b"
)
_REASON = Lazy(
    r"[.,;:!?](?=\s|$)|[()\n]|\s[-–—]{1,2}\s|\b(?:because|since|otherwise|but|so that|and (?:use|run)|it|they|those"
    r"|these|that|which)\b"
)  # where what is forbidden ends and its reason or remedy begins
_TERM = Lazy(r"-{0,2}[\w@][\w./@+:-]{1,60}")
_CHANGES = Lazy(
    r"\b(?:touch|edit|chang|modif|writ|updat|alter|delet|remov|renam|mov|format|creat|add|put|fix|bump|overwrit|patch)"
    r"(?:e|es|ed|d|s|y|ing|ting|ying)?\b"
)
_FILLING = SILENT_WORDS | frozenset(
    "run running use using call calling execute invoke try start type ever again please just directly manually here "
    "there project repo repository codebase command commands tool program file files folder directory".split()
)  # beside what is forbidden
_MAX_LOOKED_UP = 6  # words of a call that rules are looked for with


def find_forbidding(call: ToolCall, rules: Iterable[MemorySummary]) -> list[MemorySummary]:
    """The rules that forbid what a call is about to do, the firmest first."""
    found = [(rule, strength) for rule in rules if (strength := _forbidding_strength(call, rule.content)) > 0]
    return [rule for rule, _ in sorted(found, key=lambda pair: (-pair[1], -pair[0].confidence, pair[0].id))]


def list_call_words(call: ToolCall) -> list[str]:
    """The words by which a rule would name what a call does: its programs and what they shall do, its files and
    folders."""
    words = [word for command in _commands(call) if command[0] != "cd" for word in _naming_words(command)]
    for path in _changed_paths(call):
        words += [part for part in reversed(path.split("/")) if len(part) > 2]
    return list(dict.fromkeys(words))[:_MAX_LOOKED_UP]


def _forbidding_strength(call: ToolCall, text: str) -> float:
    best = 0.0
    for clause in _forbidden_clauses(text):
        terms = _terms(clause)
        best = max([best, *(_command_share(terms, command) for command in _commands(call))])
        if _CHANGES.search(clause) and any(_names_path(terms, path) for path in _changed_paths(call)):
            return 1.0
    return best


def _forbidden_clauses(text: str) -> Iterator[str]:
    """What a sentence forbids, without its reason and its remedy."""
    plain = text.replace("’", "'").replace("`", " ")[:_MAX_COMMAND_CHARS]
    for found in _FORBIDS.finditer(plain):
        rest = plain[found.end() :]
        end = _REASON.search(rest)
        yield rest[: end.start()] if end else rest


def _terms(clause: str) -> frozenset[str]:
    words = (found.group().rstrip(".:/") for found in _TERM.finditer(clause.casefold()))
    return frozenset(word for word in words if word and word not in _FILLING)


def _command_share(terms: frozenset[str], command: Sequence[str]) -> float:
    """How much of what is forbidden a command is; nothing when that is not what it does but what it is about."""
    naming = set(_naming_words(command))
    flags = {word.split("=", 1)[0] for word in command[1:] if word.startswith("-")}
    held = terms & (naming | flags | {word.casefold() for word in command[1:] if " " not in word})
    if not held & naming and not held & flags:
        return 0.0
    share = containment(terms, held)
    return share if share >= _MIN_TRIGGER_SHARE else 0.0


def _naming_words(command: Sequence[str]) -> list[str]:
    """The program of a command and what it shall do."""
    plain = [word.casefold() for word in command if not word.startswith("-") and " " not in word]
    if not plain:
        return []
    runs_another = plain[1:2] in (["run"], ["exec"])  # `npm run build`
    return [plain[0].rsplit("/", 1)[-1], *plain[1 : 3 if runs_another else 2]]


def _names_path(terms: frozenset[str], path: str) -> bool:
    """Does it name a file, or a folder that holds it? One plain word is a folder only where nothing else is named."""
    whole = f"/{path.casefold()}/"
    named = [term for term in terms if not term.isalpha() and f"/{term.strip('./')}/" in whole]
    if any("/" in term or "." in term for term in named):
        return True
    others = [term for term in terms if not _CHANGES.search(term)]
    return len(others) == 1 and f"/{others[0]}/" in whole


def _commands(call: ToolCall) -> list[list[str]]:
    return all_commands(call.subject[:_MAX_COMMAND_CHARS]) if call.action == "run" and call.subject else []


def _changed_paths(call: ToolCall) -> tuple[str, ...]:
    return call.paths if call.action == "edit" else call.changed
