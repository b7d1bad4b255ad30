"""What an agent without Recollect should know, as a section of CLAUDE.md or AGENTS.md within a token budget.

Such a file is taken for orders, so only a person's word goes into it: what they taught, said or confirmed, and what
Recollect composed of local facts. The choice and the order follow from the memories alone, not from how often they were
read: the same memories give the same bytes, and a change of one is a change of one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING

from recollect.core.doors import COMPOSED, TAINTED
from recollect.core.errors import InvalidField
from recollect.core.kinds import Kind
from recollect.core.query import Filter
from recollect.core.records import Memory
from recollect.core.scope import Scope, Status, Visibility
from recollect.core.text import printable
from recollect.core.tokens import ESTIMATE
from recollect.files.plain import read_plain_file
from recollect.portable.export import ExportReport
from recollect.remember.agents import is_persons
from recollect.remember.screen import screen_memory
from recollect.store.contents import Contents

if TYPE_CHECKING:
    from recollect.store.store import Store

BUDGET = 2_000  # tokens
BEGIN, END = "<!-- recollect:begin -->", "<!-- recollect:end -->"
_INTRO = "Written by `recollect export --format claude`. Change the memories, not this section."
# Sections in the order they stand; a kind that is not here tells nothing without the rest of the store.
_SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Requirements": (Kind.REQUIREMENT,),
    "Preferences": (Kind.PREFERENCE,),
    "Decisions": (Kind.DECISION,),
    "Gotchas": (Kind.GOTCHA, Kind.ERROR_PATTERN, Kind.DEAD_END),
    "Patterns": (Kind.PATTERN, Kind.CAUSAL_DEPENDENCY),
    "Commands and procedures": (Kind.WORKFLOW_RECIPE,),
    "Modules": (Kind.MODULE_INSIGHT,),
    "Facts": (Kind.FACT,),
}
_ORDER = {kind: place for place, kinds in enumerate(_SECTIONS.values()) for kind in kinds}
_TITLE = {kind: title for title, kinds in _SECTIONS.items() for kind in kinds}
_IMPORT = re.compile(r"(?<![\w`])@(?=[\w~./\\])")  # hosts take @path for a file to include
_LONGEST = 1_200  # characters of one statement
_FILE_LIMIT = 4 * 2**20


def write_briefing(
    store: Store,
    stream: IO[bytes],
    name: str,
    *,
    filter: Filter | None,
    personal: bool,
    budget: int | None,
    now: datetime,
) -> ExportReport:
    """Write the section, in place of an earlier one where the file has that already."""
    allowed = BUDGET if budget is None else budget
    if allowed < 1:
        raise InvalidField("budget", f"{allowed} is no number of tokens")
    told = [memory for memory in _worth_telling(store, filter or Filter()) if not _has_ended(memory, now)]
    shared = [memory for memory in told if personal or memory.visibility is not Visibility.PERSONAL]
    chosen, redacted = _choose(shared, allowed)
    text = _text(chosen)
    stream.write(_placed(name, text).encode("utf-8"))
    counts = {"memory": len(chosen), "left out for the budget": len(shared) - len(chosen)}
    return ExportReport(name, "claude", counts, len(told) - len(shared), redacted)


def _worth_telling(store: Store, filter: Filter) -> Iterator[Memory]:
    for page in Contents(store).memories(filter):
        for kept in page:
            memory = kept.memory
            ours = is_persons(memory) or memory.attributes.get(COMPOSED) is True
            tainted = bool(memory.attributes.get(TAINTED)) and not memory.verified
            settled = memory.status is Status.ACTIVE and not memory.needs_review and memory.user is None
            placed = memory.kind in _ORDER and memory.scope in (Scope.GLOBAL, Scope.MODULE)
            if placed and settled and ours and not tainted:
                yield memory


def _has_ended(memory: Memory, now: datetime) -> bool:
    return memory.valid_until is not None and memory.valid_until <= now


def _choose(memories: Sequence[Memory], budget: int) -> tuple[list[tuple[Memory, str]], int]:
    """The surest that fit, in the order they are written."""
    chosen: list[tuple[Memory, str]] = []
    left = budget - ESTIMATE.count(_text([]))
    redacted = 0
    titles: set[str] = set()
    for memory in sorted(memories, key=_rank):
        safe, rules = screen_memory(memory)
        line = _line(safe)
        title = _TITLE[memory.kind]
        cost = ESTIMATE.count(line) + 1 + (0 if title in titles else ESTIMATE.count(f"\n## {title}\n\n"))
        if cost <= left:
            left -= cost
            titles.add(title)
            chosen.append((memory, line))
            redacted += bool(rules)
    chosen.sort(key=lambda one: (_ORDER[one[0].kind], one[0].created_at, one[0].id))
    return chosen, redacted


def _rank(memory: Memory) -> tuple[object, ...]:
    return (
        not memory.pinned,
        not memory.verified,
        -memory.confidence,
        _ORDER[memory.kind],
        memory.created_at,
        memory.id,
    )


def _line(memory: Memory) -> str:
    """One statement as a bullet: nothing in it can end the section, include a file or pass for a heading."""
    text = printable(memory.content)[:_LONGEST].replace("<!--", "<! --").replace("-->", "-- >")
    text = _IMPORT.sub("`@`", text)
    words = " ".join(text.split())
    about = ", ".join(f"`{printable(file)}`" for file in memory.files[:3] if file not in words and "`" not in file)
    return f"- {words}{f' ({about})' if about else ''}"


def _text(chosen: Sequence[tuple[Memory, str]]) -> str:
    lines = [BEGIN, "# What this project remembers", "", f"<!-- {_INTRO} -->"]
    title = ""
    for memory, line in chosen:
        if _TITLE[memory.kind] != title:
            title = _TITLE[memory.kind]
            lines += ["", f"## {title}", ""]
        lines.append(line)
    return "\n".join([*lines, END, ""])


def _placed(name: str, section: str) -> str:
    """The whole file: what a person wrote around the section stays as it is."""
    path = Path(name)
    if name == "-" or not path.exists():
        return section
    data = read_plain_file(name, max_bytes=_FILE_LIMIT)
    if data is None:
        raise InvalidField(name, "it is no plain file, or too large")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidField(name, f"byte {error.start} is not UTF-8") from None
    before, found, rest = text.partition(BEGIN)
    if not found:
        return f"{text.rstrip()}\n\n{section}" if text.strip() else section
    _, ended, after = rest.partition(END)
    if not ended:
        raise InvalidField(name, f"its section begins with {BEGIN} and has no end")
    return f"{before}{section.rstrip()}{after}"
