"""Anthropic's memory tool, against the SDK's own tool on a directory: the same commands, the same words."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from recollect.app import Recollect

anthropic = pytest.importorskip("anthropic")

from anthropic.lib.tools import ToolError  # noqa: E402
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool  # noqa: E402

from recollect.adapters.anthropic_memory import AsyncMemoryTool, MemoryTool  # noqa: E402

STORY: list[dict[str, Any]] = [
    {"command": "view", "path": "/memories"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "alpha\nbeta\n\ngamma\n"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "again"},
    {"command": "create", "path": "/memories/work/deep/plan.txt", "file_text": "no newline at the end"},
    {"command": "create", "path": "/memories/work/.hidden", "file_text": "x"},
    {"command": "create", "path": "/memories/empty.txt", "file_text": ""},
    {"command": "create", "path": "/memories/big.txt", "file_text": "é" * 3000},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/work"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "view", "path": "/memories/notes.md", "view_range": [2, 3]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/missing.md"},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "beta", "new_str": "BETA\nmore"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "absent", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "a", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/work", "old_str": "a", "new_str": "x"},
    {"command": "str_replace", "path": "/memories/missing.md", "old_str": "a", "new_str": "x"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 0, "insert_text": "top\n"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 2, "insert_text": "middle"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 99, "insert_text": "x"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": -1, "insert_text": "x"},
    {"command": "insert", "path": "/memories/empty.txt", "insert_line": 0, "insert_text": "first"},
    {"command": "insert", "path": "/memories/missing.md", "insert_line": 0, "insert_text": "x"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "view", "path": "/memories/empty.txt"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/big.txt"},
    {"command": "rename", "old_path": "/memories/missing.md", "new_path": "/memories/other.md"},
    {"command": "rename", "old_path": "/memories/work", "new_path": "/memories/archive/work"},
    {"command": "rename", "old_path": "/memories", "new_path": "/memories/x"},
    {"command": "view", "path": "/memories/archive/work/deep/plan.txt"},
    {"command": "view", "path": "/memories/work/deep/plan.txt"},
    {"command": "delete", "path": "/memories/archive"},
    {"command": "delete", "path": "/memories/archive"},
    {"command": "delete", "path": "/memories"},
    {"command": "delete", "path": "/memories/big.txt"},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "create", "path": "/memories/a/../../../b", "file_text": "x"},
    {"command": "create", "path": "/memories/crlf.txt", "file_text": "one\r\ntwo\r\n"},
    {"command": "insert", "path": "/memories/crlf.txt", "insert_line": 1, "insert_text": "between"},
    {"command": "view", "path": "/memories/crlf.txt"},
]


def said(tool: Any, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error}"


def without_directory_sizes(text: str) -> str:
    """A directory of a file system has a size of its own; ours weighs what is in it."""
    return re.sub(r"^\S+\t(?=/memories(?:/work)?$|.*/$)", "SIZE\t", text, flags=re.MULTILINE)


def test_every_answer_reads_as_the_sdks_own_tool_would_give_it(memory: Recollect, tmp_path: Path) -> None:
    theirs, ours = BetaLocalFilesystemMemoryTool(str(tmp_path)), MemoryTool(memory)
    for command in STORY:
        expected, given = said(theirs, command), said(ours, command)
        assert without_directory_sizes(given) == without_directory_sizes(expected), command


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../x",
        "/memories/a/../../x",
        "/memories/./../../x",
        "/memoriesx/a",
        "memories/a",
        "",
        "/",
        "/memories/..",
    ],
)
def test_no_path_leads_out(memory: Recollect, path: str) -> None:
    for command in (
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "view", "path": path},
        {"command": "rename", "old_path": "/memories/a", "new_path": path},
    ):
        assert said(MemoryTool(memory), command).startswith("error: Path")
    assert memory.count() == 0


def test_a_file_is_not_a_directory(memory: Recollect) -> None:
    tool = MemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
    for path in ("/memories/a/b", "/memories/a/b/c"):
        assert said(tool, {"command": "create", "path": path, "file_text": "y"}).endswith("is not a directory.")
    assert "into itself" in said(tool, {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/a/b"})


def test_what_claude_wrote_down_is_recalled_like_anything_else(memory: Recollect) -> None:
    MemoryTool(memory).call(
        {"command": "create", "path": "/memories/db.md", "file_text": "The staging database resets every night."}
    )
    hit = memory.recall("why is my staging data gone?").hits[0]
    assert "staging database" in hit.memory.content
    assert hit.memory.source == "agent_explicit"


def test_a_deleted_file_is_out_of_the_memory(memory: Recollect) -> None:
    tool = MemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/db.md", "file_text": "The staging database resets."})
    tool.call({"command": "delete", "path": "/memories/db.md"})
    assert memory.count() == 0


def test_a_secret_in_a_file_is_redacted(memory: Recollect) -> None:
    tool = MemoryTool(memory)
    tool.call({"command": "create", "path": "/memories/k", "file_text": "key AKIAIOSFODNN7QWERTZU end"})
    assert "AKIAIOSFODNN7QWERTZU" not in said(tool, {"command": "view", "path": "/memories/k"})


def test_trouble_in_the_memory_is_a_failure_of_the_tool_and_not_of_the_run(memory: Recollect) -> None:
    tool = MemoryTool(memory)
    too_large = {"command": "create", "path": "/memories/k", "file_text": "x" * 2_000_000}
    assert "error: " in said(tool, too_large)
    memory.close()
    assert said(tool, {"command": "view", "path": "/memories"}).startswith("error: ")


def test_the_asynchronous_tool_says_the_same(memory: Recollect) -> None:
    async def story() -> list[str]:
        tool = AsyncMemoryTool(memory)
        return [
            str(await tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})),
            str(await tool.call({"command": "insert", "path": "/memories/a", "insert_line": 1, "insert_text": "y"})),
            str(await tool.call({"command": "str_replace", "path": "/memories/a", "old_str": "x", "new_str": "z"})),
            str(await tool.call({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"})),
            str(await tool.call({"command": "view", "path": "/memories/b"})),
            str(await tool.call({"command": "delete", "path": "/memories/b"})),
            str(await tool.clear_all_memory()),
        ]

    edited = "     1\tz\n     2\ty\n     3\t"
    assert asyncio.run(story()) == [
        "File created successfully at: /memories/a",
        "The file /memories/a has been edited.",
        f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{edited}",
        "Successfully renamed /memories/a to /memories/b",
        f"Here's the content of /memories/b with line numbers:\n{edited}",
        "Successfully deleted /memories/b",
        "All memory cleared",
    ]


def test_the_tool_introduces_itself_by_its_type(memory: Recollect) -> None:
    assert MemoryTool(memory).to_dict() == {"type": "memory_20250818", "name": "memory"}
