"""The Claude Agent SDK with memory, as hooks.

Nothing of the SDK is imported unless you want its options filled: its wheel brings a whole program along, so it is
never a dependency of ours. A hook takes the host's JSON and answers with its JSON, whoever calls it. Claude Code keeps
what it was told in its own transcript, so each thing is said once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from recollect.adapters.bridge import AgentBridge, AgentBridges
from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.observer.events import Outcome

_HOST = "claude-agent"

Hook = Callable[[Any, str | None, Any], Awaitable[dict[str, Any]]]


class ClaudeMemory:
    """`ClaudeAgentOptions(hooks=ClaudeMemory(memory).hooks())`. A session goes on until `close`."""

    def __init__(self, memory: Recollect, *, capture: bool = True, arm: str | None = None) -> None:
        self._bridges = AgentBridges(memory, host=_HOST, capture=capture, arm=arm)
        self._opened: set[str] = set()
        self._moments: Mapping[str, Callable[[AgentBridge, Mapping[str, Any]], str]] = {
            "UserPromptSubmit": self._asked,
            "PreToolUse": _calls,
            "PostToolUse": _answered,
            "PostToolUseFailure": _failed,
            "PostToolBatch": _between,
            "Stop": _stopped,
        }

    def hooks(self, matcher: Callable[..., Any] | None = None) -> dict[str, list[Any]]:
        """The hooks by event, in the SDK's own HookMatcher."""
        made = matcher or _matcher()
        return {event: [made(matcher=None, hooks=[self.hook])] for event in self._moments}

    async def hook(self, given: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        """One hook for every event: what memory has to add, or nothing. Never raises."""
        return await asyncio.to_thread(self._answer, given)

    def close(self, session: str | None = None, outcome: str = Outcome.UNKNOWN) -> None:
        """A session is over; without a name, all of them."""
        if session is None:
            self._bridges.end_all()
        else:
            self._bridges.end(session, outcome)

    @property
    def notes(self) -> tuple[str, ...]:
        """What went wrong and was passed over."""
        return self._bridges.notes

    def _answer(self, given: Any) -> dict[str, Any]:
        event = given.get("hook_event_name") if isinstance(given, Mapping) else None
        moment = self._moments.get(str(event))
        session = given.get("session_id") if isinstance(given, Mapping) else None
        if moment is None or not isinstance(session, str) or not session:
            return {}
        said = moment(self._bridges.get(session), given)
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": said}} if said else {}

    def _asked(self, beside: AgentBridge, given: Mapping[str, Any]) -> str:
        prompt = str(given.get("prompt") or "")
        standing = "" if beside.session in self._opened else beside.system(prompt)
        self._opened.add(beside.session)
        return standing + beside.speak(prompt)


def _calls(beside: AgentBridge, given: Mapping[str, Any]) -> str:
    beside.observe_call(str(given.get("tool_name")), given.get("tool_input"), str(given.get("tool_use_id")))
    return beside.due()


def _answered(beside: AgentBridge, given: Mapping[str, Any]) -> str:
    beside.observe_result(str(given.get("tool_use_id")), _text(given.get("tool_response")))
    return beside.due()


def _failed(beside: AgentBridge, given: Mapping[str, Any]) -> str:
    beside.observe_result(str(given.get("tool_use_id")), str(given.get("error")), error=True)
    return beside.due()


def _between(beside: AgentBridge, given: Mapping[str, Any]) -> str:
    beside.observe_answer("")
    return beside.speak()


def _stopped(beside: AgentBridge, given: Mapping[str, Any]) -> str:
    """What was said last is kept. To add anything here would set the agent going again."""
    said = str(given.get("last_assistant_message") or "")
    beside.observe_answer(said)
    beside.conclude(said)
    return ""


def _text(response: Any) -> Any:
    """The words of a structured answer, such as those of a shell."""
    if isinstance(response, Mapping) and isinstance(response.get("stdout"), str):
        return "\n".join(part for part in (response["stdout"], str(response.get("stderr") or "")) if part)
    return response


def _matcher() -> Callable[..., Any]:
    try:
        from claude_agent_sdk import HookMatcher
    except ImportError as error:
        raise RecollectError(
            "Making hooks for the Claude Agent SDK needs the Python package claude-agent-sdk.",
            hint="Run `pip install claude-agent-sdk`; it is large, so no extra of ours brings it along.",
        ) from error
    made: Callable[..., Any] = HookMatcher
    return made
