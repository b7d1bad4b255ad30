"""Where an act comes in, and whose hand that is. Declared once: every act carries its door, and the log keeps it.

A door is a person's or an agent's. Which one decides what an act may do to trust; the text never does. An agent that
has a person's terminal or shell can do what the person can: no program can tell the two apart there.
"""

from __future__ import annotations

from typing import NamedTuple

from recollect.core.errors import UnknownChoice


class ActDoor(NamedTuple):  # a dataclass would cost every command 15 ms of imports
    """One way in. `is_persons`: what comes through it is a person's word. `is_ours`: our own code composes what comes
    through it, so it may mark what it wrote (`MARKS`); it is an agent's door all the same. `vouches`: the code that
    brings talk in by it knows who spoke."""

    name: str
    is_persons: bool = False
    is_ours: bool = False
    vouches: bool = False


# People's.
CLI_TERMINAL = ActDoor("cli-terminal", is_persons=True, vouches=True)  # a command at a terminal, or with --as-person
PYTHON = ActDoor("python", is_persons=True, vouches=True)  # the owner's program
PANEL = ActDoor("panel", is_persons=True, vouches=True)
SYNC = ActDoor("sync", is_persons=True, vouches=True)  # another copy of the memories, with a person's token

# Agents'.
CLI = ActDoor("cli")  # a command without a terminal: a script, or an agent's shell
MCP = ActDoor("mcp")
HTTP = ActDoor("http")  # a program with a token of its own
HOOK = ActDoor("hook")  # an agent at work, in its host or in a program
ADAPTER = ActDoor("adapter", vouches=True)  # a framework's agent
CHAT = ActDoor("chat", vouches=True)  # the tools of a model in a chat

# What we work out ourselves from what agents, documents and talk contain: no person's word either.
OBSERVER = ActDoor("observer", is_ours=True)
DOCUMENTS = ActDoor("documents", is_ours=True)
CODE = ActDoor("code", is_ours=True)
CONSOLIDATION = ActDoor("consolidation", is_ours=True)
TEND = ActDoor("tend", is_ours=True)
IMPORT = ActDoor("import")  # what other programs and strangers wrote down, however it came in

DOORS = {
    door.name: door
    for door in (
        CLI_TERMINAL, PYTHON, PANEL, SYNC, CLI, MCP, HTTP, HOOK, ADAPTER, CHAT, OBSERVER, DOCUMENTS, CODE,
        CONSOLIDATION, TEND, IMPORT,
    )
}  # fmt: skip

# What our own code notes in a memory's attributes about its words; nobody else may set, change or remove it.
COMPOSED = "composed"  # the text is ours and holds local facts only: paths, commands, counts
SPOKEN = "spoken"  # a person said it
TAINTED = "tainted"  # part of it came from outside
PROPOSES = "proposes"  # the person's memory it would replace, once a person confirms it
CORRECTS = "corrects"  # … which was wrong, not just outdated
HEARSAY = "hearsay"  # who said it is only claimed: an agent brought the talk in
FILES_BEFORE = "files_before"  # what its files were called before they were renamed, by their names now
FILES_GONE = "files_gone"  # which of its files were deleted, and what that did to it
OUTGROWN = "outgrown"  # the file that changed long after it was written
MARKS = frozenset({COMPOSED, SPOKEN, TAINTED, "taint", PROPOSES, CORRECTS, HEARSAY, FILES_BEFORE, FILES_GONE, OUTGROWN})
RECORD = "record"  # a framework keeps it under this key; set by its adapter only


def reserved_marks(door: ActDoor) -> frozenset[str]:
    """The attributes that an agent's door may not set, change or remove."""
    return MARKS if door.vouches else MARKS | {RECORD}


def find_door(name: str) -> ActDoor:
    """The door of this name; an unknown one is an error that lists all."""
    if name not in DOORS:
        raise UnknownChoice("door", name, DOORS)
    return DOORS[name]


def is_agents(name: str) -> bool:
    """Is it the name of an agent's door? What was written before doors were noted counts as a person's."""
    return name in DOORS and not DOORS[name].is_persons
