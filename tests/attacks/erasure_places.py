"""Puts marked names into every kind of place that Recollect writes to, and looks for their bytes afterwards."""

from __future__ import annotations

import json
import random
import re
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw

from recollect import Recollect
from recollect.core.conversations import Call, Turn
from recollect.core.entities import Entity, EntityId, EntityType
from recollect.dialogue.episodes import Message
from recollect.interfaces.hook import answer, log

AT = datetime(2026, 3, 1, tzinfo=UTC)
HOOK_SESSION = "hooked"
_MARKED = re.compile(rb"xa[0-9a-f]{16}")  # as `canaries` makes them, in small letters
_QUIET = {"RECOLLECT_HOOK_LEARN": "off"}


def canaries(count: int, seed: int) -> list[str]:
    """Names that nobody has, each of one word."""
    chance = random.Random(seed)
    return [f"Xa{chance.getrandbits(64):016x}" for _ in range(count)]


class Places:
    """One project and every way to put a name into it."""

    def __init__(self, memory: Recollect, project: Path) -> None:
        self.memory = memory
        self.project = project
        self._number = 0
        self.put: dict[str, str] = {}  # canary → place

    @property
    def kinds(self) -> dict[str, Callable[[str], None]]:
        return {name.removeprefix("in_"): getattr(self, name) for name in dir(self) if name.startswith("in_")}

    def fill(self, names: list[str]) -> None:
        kinds = sorted(self.kinds.items())
        for number, name in enumerate(names):
            kind, put = kinds[number % len(kinds)]
            put(name)
            self.put[name] = kind
        self.memory.docs.index()
        self.memory.code.index()
        for number in range(60):
            self.memory.remember(f"Filler statement {number} of hall {number * 7} stays where it is.")

    def _next(self) -> int:
        self._number += 1
        return self._number

    # --- memories -------------------------------------------------------------------------------------------------

    def in_content(self, name: str) -> None:
        self.memory.remember(f"{name} prefers valve {self._next()} on the left.")

    def in_tag(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} was opened by hand.", tags=[f"by-{name}"])

    def in_file(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} is described elsewhere.", files=[f"notes/{name}.md"])

    def in_module(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} belongs to a module.", modules=[f"src/{name}"])

    def in_citation(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} is cited.", citation=f"see {name}")

    def in_session_name(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} came up in talk.", session=f"chat with {name}")

    def in_attribute(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} has a note.", attributes={"note": f"says {name}"})

    def in_attribute_key(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} has a named note.", attributes={name: 1})

    def in_payload(self, name: str) -> None:
        steps = [{"description": f"ask {name} first"}]
        payload = {"task_pattern": f"valve {self._next()}", "steps": steps}
        self.memory.remember(f"How valve {self._next()} is opened.", kind="workflow_recipe", payload=payload)

    def in_reason(self, name: str) -> None:
        self.memory.remember(f"Valve {self._next()} is stuck.", why=f"{name} said so")

    def in_old_words(self, name: str) -> None:
        id = self.memory.remember(f"Valve {self._next()} is owned by {name} and nobody else.").id
        self.memory.edit(id, content=f"Valve {self._next()} is owned by nobody.", why=f"{name} left")

    def in_corrected_words(self, name: str) -> None:
        id = self.memory.remember(f"Valve {self._next()} was built by {name}.").id
        self.memory.correct(id, f"Valve {self._next()} was bought.")

    def in_rejected_words(self, name: str) -> None:
        self.memory.reject(self.memory.remember(f"Valve {self._next()} leaks because of {name}.").id, why=f"not {name}")

    def in_forgotten_words(self, name: str) -> None:
        self.memory.forget(self.memory.remember(f"Valve {self._next()} hides {name}.").id)

    def in_link(self, name: str) -> None:
        id = self.memory.remember(f"Valve {self._next()} is tested.").id
        self.memory.relate(id, "validates", file=f"tests/{name}_test.py")

    def in_entity(self, name: str) -> None:
        self._entity(f"{name} Works", summary="A firm.")

    def in_alias(self, name: str) -> None:
        self._entity(f"Firm {self._next()}", aliases=(f"{name} Ltd",))

    def in_summary(self, name: str) -> None:
        self._entity(f"Firm {self._next()}", summary=f"Run by {name} since 1990.")

    def _entity(self, name: str, **more: Any) -> None:
        id = EntityId(f"ent_{self._next():06d}")
        entity = Entity(id, self.memory.project, name, EntityType.ORGANIZATION, AT, **more)
        self.memory.writer.put_entities("find_entity", [entity])
        self.memory.remember(f"Valve {self._next()} was delivered.", entities=[id])

    def in_actor(self, name: str) -> None:
        writer = self.memory.writer
        writer.remember([_draft(f"Valve {self._next()} was noted down.")], actor=f"user {name}")

    # --- conversations, chats, work -------------------------------------------------------------------------------

    def in_episode(self, name: str) -> None:
        self.memory.sessions.capture_all([Message(f"I am {name} and I like tea {self._next()}.", "talk", "user")])

    def in_turn(self, name: str) -> None:
        turn = f"turn_{self._next()}"
        self.memory.store.turns.put(Turn(turn, "s", "w", "recency", "m", AT, f"I am {name}.", f"Hello {name}!"))
        self.memory.store.turns.put_call(turn, 0, Call("a", "look", json.dumps({"who": name}), f"found {name}"))

    def in_working_memory(self, name: str) -> None:
        self.memory.store.working.put(f"section {self._next()}", [f"ask {name}", "other"], at=AT)

    def in_observed_session(self, name: str) -> None:
        session = f"work {self._next()}"
        _event(self.project, session, "SessionStart", source="startup")
        _event(self.project, session, "UserPromptSubmit", prompt=f"Never call {name} before noon, always write.")
        call = {"tool_name": "Bash", "tool_use_id": f"t{self._next()}", "tool_input": {"command": f"make {name}"}}
        _event(self.project, session, "PreToolUse", **call)
        _event(self.project, session, "PostToolUseFailure", **call, error=f"ImportError: no module named {name}")
        path = {"file_path": str(self.project / f"{name}.py")}
        edit = {"tool_name": "Edit", "tool_use_id": f"e{self._next()}", "tool_input": path}
        _event(self.project, session, "PreToolUse", **edit)
        _event(self.project, session, "PostToolUse", **edit, tool_response={"ok": True})
        _event(self.project, session, "SessionEnd", reason="exit")
        self.memory.observer.drain()

    def in_spool(self, name: str) -> None:
        _event(self.project, HOOK_SESSION, "UserPromptSubmit", prompt=f"please ask {name} about {self._next()}")

    def in_hook_log(self, name: str) -> None:
        log("claude-code", f"ValueError: {name} {self._next()}")

    # --- documents and code ---------------------------------------------------------------------------------------

    def in_passage(self, name: str) -> None:
        self._document(
            f"d{self._next()}.md", f"# Plan\n\nThe hall is cleaned by {name} at night.\n\n## Rest\n\nNothing."
        )

    def in_document_title(self, name: str) -> None:
        self._document(f"d{self._next()}.md", f"# Letters of {name}\n\nNothing but paper.\n")

    def in_document_path(self, name: str) -> None:
        self._document(f"{name}.md", f"# Plain {self._next()}\n\nNothing here.\n")

    def _document(self, file: str, text: str) -> None:
        (self.project / "docs").mkdir(exist_ok=True)
        (self.project / "docs" / file).write_text(text)

    def in_code(self, name: str) -> None:
        (self.project / "src").mkdir(exist_ok=True)
        (self.project / "src" / f"m{self._next()}.py").write_text(f"def greet_{name}():\n    return call_{name}()\n")

    def remove_own_files(self) -> None:
        """What a person's own files say stays theirs, and is not looked for."""
        for folder in ("docs", "src"):
            for path in (self.project / folder).glob("*") if (self.project / folder).is_dir() else ():
                path.unlink()


def _draft(content: str) -> Any:
    from recollect import Draft

    return Draft(content)


def _event(project: Path, session: str, name: str, **fields: Any) -> None:
    answer("claude-code", {"hook_event_name": name, "session_id": session, "cwd": str(project), **fields}, _QUIET)


def files_with(names: list[str], *folders: Path) -> dict[str, list[str]]:
    """The names whose bytes stand in a file, its name, or in what it holds compressed; with the files' names."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        for path in (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
            data = path.read_bytes() + path.name.encode() + b"\0".join(_compressed(path))
            plain = data.lower() + b"\n" + data.lower().replace(b"\0", b"")  # UTF-16 without its zeros
            marked = set(_MARKED.findall(plain))
            for name in names:
                sought = name.lower().encode()
                if sought in marked if _MARKED.fullmatch(sought) else sought in plain:
                    found.setdefault(name, []).append(str(path))
    return found


def _compressed(path: Path) -> Iterator[bytes]:
    """What the code graph of a store keeps packed."""
    if path.suffix != ".db":
        return
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        for (packed,) in connection.execute("select outline from code_files where outline is not null"):
            yield zlib.decompress(packed)
    finally:
        connection.close()


def told_by_every_reader(memory: Recollect, names: list[str]) -> str:
    """What the reading methods of a memory answer."""
    from recollect import Filter, Status

    parts = [
        memory.list(Filter(statuses=frozenset(Status), user="*"), limit=10**6),
        memory.history(limit=10**6),
        memory.sessions.list(limit=10**6),
        memory.sessions.entities(limit=10**6),
        memory.sessions.facts(),
        memory.chats.turns(limit=10**6),
        memory.store.working.sections(),
        memory.observer.sessions(),
        memory.observer.patterns(),
        memory.docs.list(),
        memory.told(limit=10**6),
        memory.maintenance.status(),
        *(memory.recall(name, track=False) for name in names[:: max(1, len(names) // 40)]),
        *(memory.code.search(name) for name in names[:3] if memory.store.has_code()),
    ]
    return "\n".join(map(repr, parts))
