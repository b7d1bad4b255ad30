"""claude-mem: observations and summaries of coding sessions, out of its SQLite database (`~/.claude-mem`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.core.kinds import Kind
from recollect.portable.foreign.base import ForeignMemory, LeftOut, has_table, labels_of, moment_of, text_in
from recollect.store.sqlite.foreign import ForeignDatabase

# What it calls an observation, and what that is here. Everything it keeps is a model's account of a session.
_KINDS = {
    "decision": Kind.DECISION,
    "bugfix": Kind.ERROR_PATTERN,
    "discovery": Kind.MODULE_INSIGHT,
    "refactor": Kind.MODULE_INSIGHT,
    "feature": Kind.WORK_UNIT_OUTCOME,
    "change": Kind.WORK_UNIT_OUTCOME,
}
_SUMMARY = ("request", "investigated", "learned", "completed", "next_steps", "notes")
_MOST_FILES = 50


class ClaudeMemReader:
    """The observations and session summaries of claude-mem."""

    name = "claude-mem"
    about = "claude-mem: its SQLite database (~/.claude-mem/claude-mem.db)"

    def recognises(self, path: Path) -> bool:
        return has_table(path, "observations", "project", "type", "created_at_epoch")

    def read(self, path: Path, left_out: LeftOut) -> Iterator[ForeignMemory]:
        with ForeignDatabase(path) as found:
            for row in found.rows("observations"):
                if (memory := _observation(row, path)) is None:
                    left_out["observations without a text"] += 1
                else:
                    yield memory
            for row in found.rows("session_summaries"):
                if (memory := _summary(row, path)) is not None:
                    yield memory
            prompts = sum(1 for _ in found.rows("user_prompts", ("id",)))
            if prompts:
                left_out["prompts: import the chats themselves with `recollect observe`"] += prompts


def _observation(row: Mapping[str, Any], path: Path) -> ForeignMemory | None:
    title, subtitle = text_in(row.get("title")), text_in(row.get("subtitle"))
    body = text_in(row.get("narrative")) or text_in(row.get("text"))
    facts = [fact for fact in labels_or_texts(row.get("facts")) if fact not in body]
    heading = ". ".join(part.rstrip(".") for part in (title, subtitle) if part and part not in body)
    content = "\n".join(part for part in (heading, body, *(f"- {fact}" for fact in facts)) if part)
    if not content:
        return None
    type = text_in(row.get("type"))
    return ForeignMemory(
        content,
        id=f"observation:{row.get('id')}",
        place=f"{path.name}: observation {row.get('id')}",
        kind=_KINDS.get(type, Kind.MODULE_INSIGHT),
        created_at=moment_of(row.get("created_at_epoch")) or moment_of(row.get("created_at")),
        tags=labels_of(row.get("concepts")),
        files=tuple(
            dict.fromkeys([*labels_or_texts(row.get("files_modified")), *labels_or_texts(row.get("files_read"))])
        )[:_MOST_FILES],
        session=text_in(row.get("memory_session_id")) or None,
        attributes={"project": text_in(row.get("project")), "type": type},
    )


def _summary(row: Mapping[str, Any], path: Path) -> ForeignMemory | None:
    parts = [(name, text_in(row.get(name))) for name in _SUMMARY]
    content = "\n".join(f"{name.replace('_', ' ').capitalize()}: {text}" for name, text in parts if text)
    if not content:
        return None
    return ForeignMemory(
        content,
        id=f"summary:{row.get('id')}",
        place=f"{path.name}: summary {row.get('id')}",
        kind=Kind.WORK_UNIT_OUTCOME,
        created_at=moment_of(row.get("created_at_epoch")) or moment_of(row.get("created_at")),
        session=text_in(row.get("memory_session_id")) or None,
        attributes={"project": text_in(row.get("project")), "type": "summary"},
    )


def labels_or_texts(value: Any) -> list[str]:
    """A list of texts as JSON, however long each is."""
    import json

    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return [one.strip() for one in value if isinstance(one, str) and one.strip()] if isinstance(value, list) else []
