"""`recollect-hook HOST`: one event of a host's hook on stdin, the host's answer (or nothing) on stdout.

Whatever happens, the host goes on: exit 0, within a hard deadline, no word on stderr; the reason is in the log. Hosts
differ only in their protocol, a table. Loads the standard library and the store's driver, nothing else.
"""

from __future__ import annotations

import _thread
import gc
import json
import os
import sys
import time

from recollect.agent.hook import Hook, is_store_of, open_reader
from recollect.agent.hook_event import HookEvent, find_folder, first_text
from recollect.files.plain import make_own_folder, open_in_own_folder
from recollect.files.project import FOLDER, STORE, find_root_path, state_folder
from recollect.privacy.glance import may_hold_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from recollect.agent.hook import OpenReader
    from recollect.agent.injection import Search

    Shape = Callable[[str, str], dict[str, Any]]


def _specific(name: str, text: str) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _flat(name: str, text: str) -> dict[str, Any]:
    return {"additional_context": text}


class Host:
    """One host's protocol. `events` maps its names to ours, `answered` are those of its names it takes text for."""

    __slots__ = ("answered", "events", "max_chars", "shape", "steps_after_tool")

    def __init__(
        self,
        events: Mapping[str, str],
        answered: frozenset[str],
        *,
        shape: Shape = _specific,
        max_chars: int = 9_000,
        steps_after_tool: bool = True,
    ) -> None:
        self.events = events
        self.answered = answered
        self.shape = shape
        self.max_chars = max_chars  # the most it takes in one answer before it cuts or spills to a file
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
    "codex": Host(_CLAUDE, _ALL - {"PostToolUseFailure"}, max_chars=8_000),
    "gemini": Host(_GEMINI, frozenset({"SessionStart", "BeforeAgent", "AfterTool"})),
    "vscode": Host(_CLAUDE, _ALL - {"UserPromptSubmit", "PostToolUseFailure"}),
    "cursor": Host(_CURSOR, frozenset({"sessionStart", "postToolUse"}), shape=_flat),
    "windsurf": Host(_WINDSURF, frozenset()),
    # Our own plugin speaks for it, in Claude Code's words; it can place text before every request.
    "opencode": Host(_CLAUDE, _ALL | {"PostToolBatch"}, steps_after_tool=False),
}
EVENT = ("hook_event_name", "hookEventName", "agent_action_name")

# Seconds before the process ends itself, whatever it is doing: a host waits for a hook at every tool call, and gives
# the last one of a session little more than a second.
_DEADLINES = {"start": 1.0, "prompt": 1.0, "end": 0.8, "compact": 0.8}
_USUAL_DEADLINE = 0.5
_READING_DEADLINE = 1.0  # … while the event is not yet known
_MAX_DEADLINE = 3.0
_MAX_STDIN = 64_000_000  # bytes
_LOG = "hook.log"
_MAX_LINE = 2_000  # characters of what is logged that are looked at
_MAX_LOG = 512_000  # bytes; then it is put aside once


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one event. Never raises, always 0."""
    words = list(sys.argv[1:] if argv is None else argv)
    host = words[0] if words else ""
    deadline = Deadline(_READING_DEADLINE, host)
    try:
        said = run(host, sys.stdin.buffer.read(_MAX_STDIN + 1), os.environ, deadline=deadline)
        deadline.stop()
        if said:
            sys.stdout.write(said)
            sys.stdout.flush()
    except BaseException as trouble:  # a host must not see it, whatever it is
        log(host, f"{type(trouble).__name__}: {trouble}")
    finally:
        deadline.stop()
    return 0


def run(host: str, given: bytes, environment: Mapping[str, str], *, deadline: Deadline | None = None) -> str:
    """The host's answer to an event as it was given; empty when there is nothing to say."""
    if host not in HOSTS:
        log(host, f"no such host; there are {', '.join(sorted(HOSTS))}")
        return ""
    payload = _payload(given)
    if payload is None:
        log(host, f"{len(given)} bytes that are no JSON object")
        return ""
    return answer(host, payload, environment, deadline=deadline)


def answer(
    host: str,
    payload: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    deadline: Deadline | None = None,
    read: OpenReader | None = None,
    search: Search | None = None,
    only: str | None = None,
) -> str:
    """The answer to an event of a known host. A warm process may hand in its own reading and its better search, and
    takes events of the project of `only`, its store, alone."""
    protocol = HOSTS[host]
    name = first_text(payload, *EVENT)
    event = protocol.events.get(name)
    if event is None:
        return ""  # one we have no use for
    if deadline is not None:
        deadline.extend(_allowed_seconds(environment, _DEADLINES.get(event, _USUAL_DEADLINE)), f"{host} {name}")
    taken = HookEvent(host, event, payload, find_folder(payload, environment))
    if only is not None and not is_store_of(taken.folder, only):
        log(host, f"{name}: an event of another project than the one served")
        return ""
    hook = Hook(
        now=int(time.time() * 1000),
        read=read or open_reader,
        nonce=lambda: os.urandom(8).hex(),
        max_chars=protocol.max_chars,
        steps_after_tool=protocol.steps_after_tool,
        search=search,
        arm=environment.get("RECOLLECT_ARM"),
        shows=environment.get("RECOLLECT_HOOK_SHOW") != "off",
    )
    text, troubles = hook.take(taken, answers=name in protocol.answered)
    for trouble in troubles:
        log(host, f"{name}: {trouble}")
    if event == "end":
        start_learning(find_root_path(taken.folder), environment)
    answer = protocol.shape(name, text) if text else {}
    if hook.notice and protocol.shape is _specific:  # such hosts show a message to the person
        answer["systemMessage"] = f"Recollect: {hook.notice}"
    return json.dumps(answer, ensure_ascii=True) if answer else ""


def _payload(given: bytes) -> dict[str, Any] | None:
    if len(given) > _MAX_STDIN:
        return None
    try:
        payload = json.loads(given.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _allowed_seconds(environment: Mapping[str, str], usual: float) -> float:
    try:
        return min(_MAX_DEADLINE, max(0.05, float(environment["RECOLLECT_HOOK_DEADLINE"])))
    except (KeyError, ValueError):
        return usual


class Deadline:
    """Ends the process when its time is up. A thread, because a call into a hung store heeds no signal."""

    def __init__(self, seconds: float, what: str) -> None:
        self._until = time.monotonic() + seconds
        self._what = what
        self._done = False
        _thread.start_new_thread(self._wait, ())

    def extend(self, seconds: float, what: str) -> None:
        self._until = time.monotonic() + seconds
        self._what = what

    def stop(self) -> None:
        """The answer is ready: from here on nothing waits for anything."""
        self._done = True

    def _wait(self) -> None:
        while (left := self._until - time.monotonic()) > 0:
            time.sleep(min(left, 0.02))
        if not self._done:
            log(self._what, "out of time")
            os._exit(0)


def start_learning(root: str, environment: Mapping[str, str]) -> None:
    """Start learning from what was kept, in a process of its own that outlives the host."""
    store = os.path.join(root, FOLDER, STORE)
    if environment.get("RECOLLECT_HOOK_LEARN") == "off" or not os.path.exists(store):
        return
    from recollect.files.learning_turn import LEARNING, LearningTurn  # at the end of a session only

    command = [sys.executable, "-P", "-m", "recollect", "observe", "--spool", "--store", store]
    try:
        turn = LearningTurn.take(store)
        if turn is None:
            return  # one is learning; it looks again before it ends
        with turn as told:
            _spawn(command, {**environment, LEARNING: told})
    except OSError as trouble:
        log("learn", str(trouble))


def _spawn(command: list[str], environment: Mapping[str, str]) -> None:
    try:
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        os.posix_spawn(command[0], command, environment, file_actions=quiet, setsid=True)
    except (AttributeError, NotImplementedError):
        from subprocess import DEVNULL, Popen

        Popen(
            command,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
            env=environment,
            close_fds=False,  # the turn to learn is an open file
        )


def log(who: str, what: str) -> None:
    """Write down why nothing was said. Where even that fails there is nobody left to tell."""
    try:
        folder = state_folder()
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        make_own_folder(folder)
        path = os.path.join(folder, _LOG)
        if os.path.exists(path) and os.path.getsize(path) > _MAX_LOG:
            os.replace(path, f"{path}.1")
        if may_hold_secret(what):
            from recollect.privacy.scan import redact

            what = redact(what[:_MAX_LINE]).text
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {who} {what}".replace("\n", " ")[:600]
        handle = open_in_own_folder(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with open(handle, "a", encoding="utf-8", errors="replace") as file:
            file.write(line + "\n")
    except OSError:
        pass


def entry() -> None:
    """The program. Ends at once: taking an interpreter down in good order takes longer than some hosts wait."""
    gc.disable()
    code = main()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    entry()
