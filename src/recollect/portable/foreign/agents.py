"""Memories that agents and assistants keep: Codex's SQLite database, claude.ai's memories.json, Letta's agent files,
and LangGraph's SQLite store. Rules and notes in Markdown have a way in of their own: `recollect import rules`."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.core.errors import InvalidField
from recollect.core.given_json import parse_given_json
from recollect.core.kinds import Kind
from recollect.portable.foreign.base import (
    ForeignMemory,
    LeftOut,
    has_table,
    labels_of,
    moment_of,
    object_of,
    peek_json,
    read_json_file,
    text_in,
)
from recollect.store.sqlite.foreign import ForeignDatabase

_MEMORIES = "memories.json"
_MEMBER_LIMIT = 64 * 2**20


class CodexReader:
    """What Codex drew from its sessions."""

    name = "codex"
    about = "Codex: its SQLite database of memories (~/.codex/memories_1.sqlite)"

    def recognises(self, path: Path) -> bool:
        return has_table(path, "stage1_outputs", "thread_id", "raw_memory")

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        with ForeignDatabase(path) as found:
            for row in found.rows("stage1_outputs"):
                thread = str(row.get("thread_id"))
                at = moment_of(row.get("generated_at")) or moment_of(row.get("source_updated_at"))
                told = [(name, text) for name in ("raw_memory", "rollout_summary") if (text := text_in(row.get(name)))]
                if not told:
                    left_out["threads without a memory"] += 1
                for name, text in told:
                    yield ForeignMemory(
                        text,
                        id=f"{thread}:{name}",
                        place=f"{path.name}: {thread}",
                        kind=Kind.FACT if name == "raw_memory" else Kind.WORK_UNIT_OUTCOME,
                        created_at=at,
                        session=f"codex:{thread}",
                        attributes={"slug": slug} if (slug := text_in(row.get("rollout_slug"))) else {},
                    )


class ClaudeMemoriesReader:
    """What claude.ai remembers of a person and of their projects, out of an export."""

    name = "claude-memories"
    about = "claude.ai: memories.json of an export (the file, its folder or the zip)"

    def recognises(self, path: Path) -> bool:
        try:
            rows = _claude_rows(path, peek=True)
        except InvalidField:
            return False
        return bool(rows) and isinstance(rows[0], dict) and "conversations_memory" in rows[0]

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        for number, row in enumerate(_claude_rows(path), start=1):
            if not isinstance(row, dict):
                continue
            yield from _paragraphs(text_in(row.get("conversations_memory")), f"{number}", f"{_MEMORIES}: {number}", {})
            for project, text in object_of(row.get("project_memories")).items():
                place = f"{_MEMORIES}: project {project}"
                yield from _paragraphs(text_in(text), f"{number}:{project}", place, {"project": str(project)[:200]})
            if row.get("memory_files"):
                left_out["memory files"] += len(row["memory_files"]) if isinstance(row["memory_files"], list) else 1
        if path.is_dir() or path.suffix == ".zip":
            left_out["conversations: `recollect import --format claude` takes them in"] += 1


def _claude_rows(path: Path, *, peek: bool = False) -> list[Any]:
    if path.is_dir():
        path = path / _MEMORIES
    if path.suffix == ".zip" and path.is_file():
        value = _zipped(path)
    elif path.name.endswith(".json") and path.is_file():
        value = peek_json(path) if peek else read_json_file(path)
    else:
        return []
    rows = [value] if isinstance(value, dict) else value
    return rows if isinstance(rows, list) else []


def _zipped(path: Path) -> Any:
    """The memories of an export's zip; nothing is unpacked to disk, and no more than a limit is read."""
    try:
        with zipfile.ZipFile(path) as found:
            info = next((one for one in found.infolist() if one.filename.rpartition("/")[2] == _MEMORIES), None)
            if info is None:
                return []
            with found.open(info) as member:
                data = member.read(_MEMBER_LIMIT + 1)
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InvalidField(str(path), f"it cannot be read ({error})") from None
    if len(data) > _MEMBER_LIMIT:
        raise InvalidField(str(path), f"its {_MEMORIES} is larger than {_MEMBER_LIMIT >> 20} MB")
    return parse_given_json(io.TextIOWrapper(io.BytesIO(data), "utf-8-sig", "replace").read(), _MEMORIES)


def _paragraphs(text: str, id: str, place: str, marks: Mapping[str, str]) -> Iterator[ForeignMemory]:
    """A long account as one memory a paragraph, each under its heading."""
    heading = ""
    for number, part in enumerate(text.replace("\r\n", "\n").split("\n\n"), start=1):
        words = part.strip()
        lines = words.split("\n")
        if len(lines) == 1 and (words.startswith("#") or (words.startswith("**") and words.endswith("**"))):
            heading = words.strip("#* ")
        elif words:
            content = f"{heading}: {words}" if heading else words
            yield ForeignMemory(content, id=f"{id}:{number}", place=f"{place}, paragraph {number}", attributes=marks)


class LettaReader:
    """The memory blocks of a Letta agent file."""

    name = "letta"
    about = "Letta: an agent file (.af)"

    def recognises(self, path: Path) -> bool:
        if path.suffix not in (".af", ".json") or not path.is_file():
            return False
        value = peek_json(path)
        return isinstance(value, dict) and bool(_blocks(value)) and ("agents" in value or "core_memory" in value)

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        value = read_json_file(path)
        if not isinstance(value, dict):
            raise InvalidField(path.name, "it is no agent file")
        for number, block in enumerate(_blocks(value), start=1):
            text, label = text_in(block.get("value")), text_in(block.get("label")) or "block"
            if not text:
                left_out["empty memory blocks"] += 1
                continue
            yield ForeignMemory(
                f"{label}: {text}",
                id=str(block.get("id") or f"{label}:{number}"),
                place=f"{path.name}: block {label}",
                created_at=moment_of(block.get("created_at")),
                tags=labels_of([label]),
                attributes={"description": about} if (about := text_in(block.get("description"))) else {},
            )
        agents = [one for one in value.get("agents", [value]) if isinstance(one, dict)]
        messages = sum(len(one["messages"]) for one in agents if isinstance(one.get("messages"), list))
        if messages:
            left_out["messages of agents"] += messages
        if isinstance(value.get("tools"), list) and value["tools"]:
            left_out["tools of agents"] += len(value["tools"])


def _blocks(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = value.get("blocks") or value.get("core_memory") or []
    return [one for one in found if isinstance(one, dict) and "value" in one] if isinstance(found, list) else []


class LangGraphReader:
    """The items of LangGraph's SQLite store."""

    name = "langgraph"
    about = "LangGraph: its SQLite store"

    def recognises(self, path: Path) -> bool:
        return has_table(path, "store", "prefix", "key", "value")

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        with ForeignDatabase(path) as found:
            for row in found.rows("store"):
                value = object_of(row.get("value"))
                name = f"{row.get('prefix')}/{row.get('key')}"
                if row.get("expires_at") is not None:
                    left_out["expiry dates"] += 1
                yield ForeignMemory(
                    _said(value) or json.dumps(value, ensure_ascii=False, sort_keys=True),
                    id=name,
                    place=f"{path.name}: {name}",
                    created_at=moment_of(row.get("created_at")),
                    tags=labels_of(value.get("tags")),
                    attributes={"namespace": str(row.get("prefix")), "key": str(row.get("key"))},
                )


def _said(value: Any) -> str:
    """The statement inside an item, where one of the usual names has it."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        for name in ("memory", "content", "text", "data"):
            if name in value and (found := _said(value[name])):
                return found
    return ""
