"""The sentences a memory is told in when no language model writes them: what happened, where, what to do instead.

Plain functions of plain values. No counts and no dates: a sentence must stay true when it is seen again, and the
evidence beside it says how often.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.text import excerpt
from recollect.observer.record import SAME_FILE, THEN

QUOTED = 220  # characters of what was said or printed that are quoted
COMMAND = 120  # characters of a command


def code(text: str) -> str:
    """A name, file or command as it is typed."""
    return f"`{excerpt(text.replace('`', ''), COMMAND)}`"


def codes(texts: Sequence[str], *, most: int = 3) -> str:
    """A few names: `a`, `b` and `c`."""
    shown = [code(text) for text in texts[:most]]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def quote(text: str) -> str:
    return f"“{excerpt(text, QUOTED).strip('“”')}”"


def at(files: Sequence[str]) -> str:
    """Where the work was, or nothing."""
    return f" at work on {codes(files, most=2)}" if files else ""


def deeds(remedy: str) -> str:
    """A remedy in words: read the file, then run `x`."""
    first, *rest = [_deed(one) for one in remedy.split(THEN) if one] or [""]
    return ", then ".join([first, *(one.replace("the file", "it") if "the file" in first else one for one in rest)])


def _deed(deed: str) -> str:
    tool, _, what = deed.partition(" ")
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
