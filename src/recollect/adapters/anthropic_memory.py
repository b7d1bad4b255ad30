"""Anthropic's memory tool (`memory_20250818`) on a memory instead of a directory: the extra `anthropic`.

Claude sees the files it knows under /memories, with the words its tool was trained on; each file is a record that
can be recalled like anything else. No path reaches a file system.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from recollect.adapters.records import Record, RecordStore
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing, RecollectError

try:
    from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
except ImportError as error:
    raise ExtraMissing("Anthropic's memory tool", package="anthropic", extra="anthropic") from error

ROOT = "/memories"
_MOST_LINES = 999_999
_WIDTH = len(str(_MOST_LINES))
_AROUND = 2  # lines shown on either side of a change
_DEPTH = 2  # levels of a directory that are listed

Path = tuple[str, ...]


class MemoryTool(BetaAbstractMemoryTool):
    """Give it to `client.beta.messages.run_tools`, or call `execute` with the tool's input yourself."""

    def __init__(self, memory: Recollect, **options: Any) -> None:
        super().__init__(**options)
        self._files = _Files(memory)

    def view(self, command: Any) -> str:
        return _told(self._files.view, command)

    def create(self, command: Any) -> str:
        return _told(self._files.create, command)

    def str_replace(self, command: Any) -> str:
        return _told(self._files.str_replace, command)

    def insert(self, command: Any) -> str:
        return _told(self._files.insert, command)

    def delete(self, command: Any) -> str:
        return _told(self._files.delete, command)

    def rename(self, command: Any) -> str:
        return _told(self._files.rename, command)

    def clear_all_memory(self) -> str:
        return _told(lambda _: self._files.clear(), None)


class AsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same for the asynchronous client; the work is done on threads."""

    def __init__(self, memory: Recollect, **options: Any) -> None:
        super().__init__(**options)
        self._files = _Files(memory)

    async def view(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self._files.view, command)

    async def create(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self._files.create, command)

    async def str_replace(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self._files.str_replace, command)

    async def insert(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self._files.insert, command)

    async def delete(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self._files.delete, command)

    async def rename(self, command: Any) -> str:
        return await asyncio.to_thread(_told, self._files.rename, command)

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(_told, lambda _: self._files.clear(), None)


class _Files:
    """The files under /memories. A directory is there as long as a file is in it; the root always is."""

    def __init__(self, memory: Recollect) -> None:
        self._records = RecordStore(memory, "anthropic-memory")

    def view(self, command: Any) -> str:
        path = _path(command.path)
        known = self._records.get(path) if path else None
        if known is not None:
            return _numbered(_text(known), command)
        inside = self._inside(path)
        if path and not inside:
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        header = f"Here're the files and directories up to 2 levels deep in {command.path}, excluding hidden items:"
        lines = [f"{_size(sum(inside.values()))}\t{command.path}"]
        lines += [f"{_size(size)}\t{command.path}/{name}" for name, size in _listed(inside, _DEPTH)]
        return f"{header}\n" + "\n".join(lines)

    def create(self, command: Any) -> str:
        path = _path(command.path)
        if not path or self._records.get(path) is not None or self._inside(path):
            raise ToolError(f"File {command.path} already exists")
        self._refuse_file_above(path)
        self._keep(path, command.file_text)
        return f"File created successfully at: {command.path}"

    def str_replace(self, command: Any) -> str:
        path, text = self._file(command)
        old, new = command.old_str, command.new_str or ""
        places = _places(text, old)
        if not places:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {command.path}.")
        lines = [text[:place].count("\n") + 1 for place in places]
        if text.count(old) > 1:
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{', '.join(map(str, lines))}. Please ensure it is unique"
            )
        changed = text.replace(old, new)
        self._keep(path, changed)
        first = max(0, lines[0] - 1 - _AROUND)
        shown = changed.split("\n")[first : lines[0] + _AROUND]
        return "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n" + (
            _with_numbers(shown, first + 1)
        )

    def insert(self, command: Any) -> str:
        path, text = self._file(command)
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        changed = "\n".join(lines)
        self._keep(path, changed if changed.endswith("\n") else changed + "\n")
        return f"The file {command.path} has been edited."

    def delete(self, command: Any) -> str:
        path = _path(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        if not self._records.clear(self._at_or_below(path)):
            raise ToolError(f"The path {command.path} does not exist")
        return f"Successfully deleted {command.path}"

    def rename(self, command: Any) -> str:
        old, new = _path(command.old_path), _path(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        if not new or self._records.get(new) is not None or self._inside(new):
            raise ToolError(f"The destination {command.new_path} already exists")
        moved = list(self._at_or_below(old))
        if not moved:
            raise ToolError(f"The path {command.old_path} does not exist")
        if new[: len(old)] == old:
            raise ToolError(f"The path {command.old_path} cannot be moved into itself")
        self._refuse_file_above(new)
        for one in moved:
            self._keep((*new, *one.key[len(old) :]), _text(one))
        self._records.clear(moved)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    def clear(self) -> str:
        self._records.clear(self._records.under())
        return "All memory cleared"

    def _file(self, command: Any) -> tuple[Path, str]:
        path = _path(command.path)
        known = self._records.get(path) if path else None
        if known is not None:
            return path, _text(known)
        if path and not self._inside(path):
            raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
        raise ToolError(f"The path {command.path} is not a file.")

    def _at_or_below(self, path: Path) -> Iterator[Record]:
        return (one for one in self._records.under() if one.key[: len(path)] == path)

    def _inside(self, path: Path) -> dict[str, int]:
        """The files below a directory by their paths from there, each with its size in bytes."""
        found = (one for one in self._at_or_below(path) if len(one.key) > len(path))
        return {"/".join(one.key[len(path) :]): len(_text(one).encode()) for one in found}

    def _keep(self, path: Path, text: str) -> None:
        name = "/".join((ROOT, *path))
        self._records.put(path, {"text": text}, text=f"{name}\n{text}")

    def _refuse_file_above(self, path: Path) -> None:
        for depth in range(1, len(path)):
            if self._records.get(path[:depth]) is not None:
                raise ToolError(f"The path {'/'.join((ROOT, *path[:depth]))} is not a directory.")


def _told(act: Any, command: Any) -> str:
    """What the act says; what went wrong in the memory is told to the model like any other failure of the tool."""
    try:
        said: str = act(command)
    except RecollectError as error:
        raise ToolError(str(error)) from error
    return said


def _path(given: str) -> Path:
    """The parts below the root. Nothing leads out of it, not even on the way back in."""
    if given != ROOT and not given.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {given}")
    parts: list[str] = []
    for part in given[len(ROOT) :].split("/"):
        if part == ".." and not parts:
            raise ToolError(f"Path {given} would escape /memories directory")
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts)


def _text(record: Record) -> str:
    return str(record.value["text"])


def _numbered(text: str, command: Any) -> str:
    lines = text.split("\n")
    if len(lines) > _MOST_LINES:
        raise ToolError(f"File {command.path} exceeds maximum line limit of 999,999 lines.")
    first, last = 0, len(lines)
    if command.view_range and len(command.view_range) == 2:
        first = max(1, command.view_range[0]) - 1
        last = last if command.view_range[1] == -1 else command.view_range[1]
    return f"Here's the content of {command.path} with line numbers:\n" + _with_numbers(lines[first:last], first + 1)


def _with_numbers(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first))


def _places(text: str, part: str) -> list[int]:
    """Where a part begins, overlaps included."""
    found, place = [], text.find(part)
    while place >= 0 and part:
        found.append(place)
        place = text.find(part, place + 1)
    return found


def _listed(inside: dict[str, int], depth: int) -> list[tuple[str, int]]:
    """Names and sizes, each directory before what is in it, without what begins with a dot."""
    tops: dict[str, dict[str, int]] = {}
    for name, size in inside.items():
        top, _, rest = name.partition("/")
        tops.setdefault(top, {})[rest] = size
    lines: list[tuple[str, int]] = []
    for top, below in sorted(tops.items()):
        if top.startswith("."):
            continue
        if "" in below:
            lines.append((top, below[""]))
            continue
        lines.append((f"{top}/", sum(below.values())))
        if depth > 1:
            lines += [(f"{top}/{name}", size) for name, size in _listed(below, depth - 1)]
    return lines


def _size(number: int) -> str:
    if number == 0:
        return "0B"
    power = min((number.bit_length() - 1) // 10, 3)
    share = number / 1024**power
    return f"{int(share)}{'BKMG'[power]}" if share == int(share) else f"{share:.1f}{'BKMG'[power]}"
