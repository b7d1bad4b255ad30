"""The hosts' hook protocols as tables: what each calls its events, which it lets us answer, and in which shape.

Everything else about a hook is the same for all hosts. Light to load.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Shape = Callable[[str, str], dict[str, Any]]


def _specific(name: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _flat(name: str, text: str) -> dict[str, Any]:
    return {"additional_context": text}


class Host:
    """One host's protocol. `events` maps its names to ours, `answered` are those of its names it takes text for."""

    __slots__ = ("answered", "events", "letters", "shape", "steps_after_tool")

    def __init__(
        self,
        events: Mapping[str, str],
        answered: frozenset[str],
        *,
        shape: Shape = _specific,
        letters: int = 9_000,
        steps_after_tool: bool = True,
    ) -> None:
        self.events = events
        self.answered = answered
        self.shape = shape
        self.letters = letters  # the most it takes in one answer before it cuts or spills to a file
        self.steps_after_tool = steps_after_tool  # it has no event between steps, so tool results serve


_CLAUDE = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before",
    "PostToolUse": "after",
    "PostToolUseFailure": "failed",
    "PostToolBatch": "step",
    "PreCompact": "compact",
    "PostCompact": "heard",
    "Stop": "stop",
    "SubagentStop": "stop",
    "SessionEnd": "end",
}
_GEMINI = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "BeforeTool": "before",
    "AfterTool": "after",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
_CURSOR = {
    "sessionStart": "start",
    "beforeSubmitPrompt": "prompt",
    "preToolUse": "before",
    "postToolUse": "after",
    "postToolUseFailure": "failed",
    "afterShellExecution": "heard",
    "afterMCPExecution": "heard",
    "afterFileEdit": "heard",
    "preCompact": "compact",
    "stop": "stop",
    "sessionEnd": "end",
}
_WINDSURF = {
    "post_write_code": "heard",
    "post_run_command": "heard",
    "post_mcp_tool_use": "heard",
    "post_cascade_response": "stop",
}
_ALL = frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"})

HOSTS: Mapping[str, Host] = {
    "claude-code": Host(_CLAUDE, _ALL | {"PostToolBatch"}, steps_after_tool=False),
    "codex": Host(_CLAUDE, _ALL - {"PostToolUseFailure"}, letters=8_000),
    "gemini": Host(_GEMINI, frozenset({"SessionStart", "BeforeAgent", "AfterTool"})),
    "vscode": Host(_CLAUDE, _ALL - {"UserPromptSubmit", "PostToolUseFailure"}),
    "cursor": Host(_CURSOR, frozenset({"sessionStart", "postToolUse"}), shape=_flat),
    "windsurf": Host(_WINDSURF, frozenset()),
    # Our own plugin speaks for it, in Claude Code's words; it can place text before every request.
    "opencode": Host(_CLAUDE, _ALL | {"PostToolBatch"}, steps_after_tool=False),
}
EVENT = ("hook_event_name", "hookEventName", "agent_action_name")
