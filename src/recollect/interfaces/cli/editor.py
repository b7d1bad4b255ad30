"""`recollect edit --open`: memories as a text file in the person's editor, and what they changed in it written back.

What somebody else changed meanwhile is not overwritten: that memory is left alone, and the file is kept.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.errors import InvalidField, RecollectError
from recollect.core.records import Memory
from recollect.core.text import counted, excerpt
from recollect.interfaces.cli.console import FINE, FOUND, Console, open_from, require_person
from recollect.interfaces.payloads.memories import memory_json

if TYPE_CHECKING:
    from recollect.app import Recollect

_ABOUT = """\
# Change what you like, save and close. A memory you take out of this file stays as it is.
# Each begins with its id; kind, confidence, tags, files and modules follow, then an empty line and its text.
"""
_HEADER = re.compile(r"=== (\S+) @(\d+)")
_LISTS = ("tags", "files", "modules")


def edit_in_editor(args: argparse.Namespace, console: Console) -> int:
    """Let the person edit some memories; what became of each."""
    require_person(args, "edit in an editor")
    with open_from(args) as memory:
        chosen = [memory.get(id) for id in dict.fromkeys((args.id, *args.text))]
        shown = render(chosen)
        file = _write(shown)
        try:
            _run_editor(file)
            changes = parse(file.read_text(encoding="utf-8"), chosen)
            changed, refused = _apply(memory, chosen, changes, args.why)
        except (RecollectError, UnicodeDecodeError) as error:
            if file.read_bytes() == shown.encode():  # nothing was typed: no words are left lying about
                file.unlink()
                raise
            console.note(f"  ! nothing was changed; your text is kept in {file}")
            if isinstance(error, UnicodeDecodeError):
                raise InvalidField(str(file), "it is not UTF-8") from None
            raise
    if not refused:
        file.unlink()
    if console.json:
        told = {id: str(error) for id, error in refused.items()}
        console.value(
            {"changed": [memory_json(one) for one in changed], "refused": told, "kept": str(file) if told else ""}
        )
    else:
        for one in changed:
            console.line(f"Changed: {one.id}  {excerpt(one.content, 80)}")
        for id, problem in refused.items():
            console.note(f"  ! {id} was not changed: {problem}")
        if refused:
            console.note(f"  → Your text is kept in {file}.")
        console.note(f"{counted(len(changed), 'change')}.")
    return FOUND if refused else FINE


def render(memories: Sequence[Memory]) -> str:
    """Memories as the file in which they are edited."""
    parts = [_ABOUT]
    for memory in memories:
        fields = [f"kind: {memory.kind}", f"confidence: {memory.confidence:g}"]
        fields += [f"{name}: {', '.join(getattr(memory, name))}".rstrip() for name in _LISTS]
        text = "\n".join(_escaped(line) for line in memory.content.split("\n"))
        parts.append("\n".join([f"=== {memory.id} @{memory.revision}", *fields, "", text, ""]))
    return "\n".join(parts)


def parse(text: str, memories: Sequence[Memory]) -> dict[str, dict[str, Any]]:
    """What was changed in the file, by id. Anything that cannot be understood is an error before anything is done."""
    known = {memory.id: memory for memory in memories}
    found: dict[str, dict[str, Any]] = {}
    for id, lines in _sections(text, known).items():
        changes = _changes(known[id], lines)  # type: ignore[index]
        if changes:
            found[id] = changes
    return found


def _sections(text: str, known: Mapping[Any, Memory]) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] | None = None
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.fullmatch(line.rstrip())
        if header is None:
            if current is not None:
                current.append(line)
            elif line.strip() and not line.startswith("#"):
                raise InvalidField(f"line {number}", "it belongs to no memory; one begins with `=== ID @REVISION`")
            continue
        id, revision = header.groups()
        if id not in known or int(revision) != known[id].revision or id in sections:
            raise InvalidField(f"line {number}", f"{line.strip()!r} is none of the memories that were opened")
        current = sections[id] = []
    return sections


def _changes(memory: Memory, lines: Sequence[str]) -> dict[str, Any]:
    blank = next((place for place, line in enumerate(lines) if not line.strip()), len(lines))
    changes: dict[str, Any] = {}
    for line in lines[:blank]:
        name, colon, value = line.partition(":")
        value = value.strip()
        if not colon or name not in ("kind", "confidence", *_LISTS):
            raise InvalidField(memory.id, f"{line.strip()!r} is no field; kind, confidence, {', '.join(_LISTS)} are")
        if name in _LISTS:
            listed = [one.strip() for one in value.split(",") if one.strip()]
            if listed != list(getattr(memory, name)) and value != ", ".join(getattr(memory, name)):
                changes[name] = listed
        elif name == "kind" and value != memory.kind:
            changes[name] = value
        elif name == "confidence" and value != f"{memory.confidence:g}":
            changes[name] = _number(memory.id, value)
    content = "\n".join(line.removeprefix("\\") if line.startswith("\\") else line for line in lines[blank:]).strip()
    if not content:
        raise InvalidField(memory.id, "its text is empty", hint="`recollect forget ID` removes a memory.")
    return {**changes, "content": content} if content != memory.content.strip() else changes


def _escaped(line: str) -> str:
    """A line of a text that cannot pass for the beginning of a memory."""
    return f"\\{line}" if line.startswith(("===", "\\")) else line


def _number(id: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InvalidField(id, f"confidence: {value!r} is not a number") from None


def _apply(
    memory: Recollect, chosen: Sequence[Memory], changes: Mapping[str, Mapping[str, Any]], why: str
) -> tuple[list[Memory], dict[str, RecollectError]]:
    """Write the changes, each only if nobody changed the memory meanwhile; what changed, and what was refused."""
    changed: list[Memory] = []
    refused: dict[str, RecollectError] = {}
    for one in chosen:
        if one.id in changes:
            try:
                changed.append(memory.edit(one.id, why=why, if_revision=one.revision, **changes[one.id]))
            except RecollectError as error:
                refused[one.id] = error
    return changed, refused


def _write(text: str) -> Path:
    """A file of the person's alone."""
    handle, name = tempfile.mkstemp(prefix="recollect-", suffix=".md")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return Path(name)


def _run_editor(file: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or ("notepad" if os.name == "nt" else "vi")
    try:
        code = subprocess.run([*shlex.split(editor), str(file)], check=False).returncode
    except OSError as error:
        raise InvalidField("editor", f"{editor!r} cannot be run: {error.strerror}", hint="Set $EDITOR.") from None
    if code != 0:
        raise InvalidField("editor", f"{editor!r} ended with {code}")
