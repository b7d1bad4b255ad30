"""How an installation is doing: is our part there and up to date, can its programs be started, does Codex trust its
hooks, how long does a hook take, does the server answer. Looks and measures; changes nothing."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recollect.agent.hosts.catalog import PLUGIN_ID
from recollect.agent.hosts.install import is_installed, load_record, plan_install, record_path
from recollect.agent.hosts.target import HOOK_PROGRAM, InstallTarget
from recollect.core.errors import RecollectError

_SPAWNS = 9  # real starts of the hook; the first one is not counted
_TIMEOUT = 20.0  # seconds a program may take before it counts as hung
_PROTOCOL = "2025-06-18"  # of the Model Context Protocol; any server may answer with a newer one


def installed_state(host: str, target: InstallTarget) -> str:
    """One of: absent, current, outdated, broken."""
    try:
        if not is_installed(host, target):
            return "absent"
        return "outdated" if plan_install(host, target).changed else "current"
    except RecollectError:
        return "broken"


@dataclass(frozen=True, slots=True)
class HostReport:
    """What is to be told of one installation, and what is wrong with it."""

    host: str
    scope: str
    facts: tuple[str, ...]
    worries: tuple[str, ...]


def check_host(host: str, target: InstallTarget) -> HostReport | None:
    """The host's files and programs. None where nothing is installed."""
    now = installed_state(host, target)
    if now == "absent":
        return None
    facts, worries = [now], []
    again = f"`recollect install {host}{' --project' if target.scope == 'project' else ''}`"
    if now == "outdated":
        worries.append(f"{host}: its files are not what this Recollect would write. Run {again}.")
    if now == "broken":
        worries.append(f"{host}: a settings file cannot be read. {again} names it.")
    record = load_record(record_path(target, host))
    if record is not None and not os.access(record.hook, os.X_OK):
        worries.append(f"{host}: {record.hook} is gone or cannot be started. Run {again}.")
    if host == "codex":
        trust, trouble = _codex_trust(target)
        facts += trust
        worries += trouble
    return HostReport(host, target.scope, tuple(facts), tuple(worries))


# --- trust -----------------------------------------------------------------------------------------------------------


def _codex_trust(target: InstallTarget) -> tuple[list[str], list[str]]:
    program = shutil.which("codex", path=target.environment.get("PATH"))
    if program is None:
        return ["trust unknown: no codex on the path"], []
    hooks = codex_hooks(program, target)
    if hooks is None:
        return ["trust unknown: codex did not say"], []
    ours = [hook for hook in hooks if hook.get("pluginId") == PLUGIN_ID or HOOK_PROGRAM in str(hook.get("command"))]
    waiting = [hook for hook in ours if hook.get("trustStatus") not in ("trusted", "managed")]
    facts = [f"{len(ours) - len(waiting)} of {len(ours)} hooks trusted"]
    if ours and not waiting:
        return facts, []
    return facts, ["codex: hooks wait for your approval and are skipped until then. Open `codex`, type /hooks."]


def codex_hooks(program: str, target: InstallTarget) -> list[dict[str, Any]] | None:
    """What Codex itself says of its hooks, trust included; None when it does not answer."""
    asked = {"id": 2, "method": "hooks/list", "params": {"cwds": [str(target.project)]}}
    about = {"name": "recollect", "version": target.version}
    hello = {"id": 1, "method": "initialize", "params": {"clientInfo": about}}
    answers = converse(
        [program, "app-server"], [hello, {"method": "initialized"}, asked], environment=target.environment
    )
    answer = answers.get(2, {}).get("result")
    if not isinstance(answer, dict):
        return None
    return [hook for folder in answer.get("data", []) for hook in folder.get("hooks", [])]


# --- programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Latency:
    """Wall time of real starts of the hook, in milliseconds."""

    p50: float
    p95: float
    n: int
    failed: int


def hook_latency(hook: str, *, folder: Path, environment: dict[str, str], spawns: int = _SPAWNS) -> Latency:
    """Start the hook as a host does, with an event that asks for nothing and leaves nothing behind."""
    payload = json.dumps({"hook_event_name": "Notification", "session_id": "recollect-doctor", "cwd": str(folder)})
    times: list[float] = []
    failed = 0
    for _ in range(spawns + 1):
        start = time.perf_counter()
        try:
            done = subprocess.run(
                [hook, "claude-code"], input=payload.encode(), capture_output=True, env=environment, timeout=_TIMEOUT
            )
            failed += done.returncode != 0
        except (OSError, subprocess.TimeoutExpired):
            failed += 1
        times.append((time.perf_counter() - start) * 1000)
    kept = sorted(times[1:])
    return Latency(kept[len(kept) // 2], kept[min(len(kept) - 1, round(0.95 * len(kept)))], len(kept), failed)


def server_handshake(recollect: str, *, folder: Path, environment: dict[str, str]) -> tuple[float, int] | None:
    """Milliseconds to the answer to `initialize` over stdio, and the number of tools; None when it does not answer."""
    about = {"name": "recollect-doctor", "version": "1"}
    hello = {"protocolVersion": _PROTOCOL, "capabilities": {}, "clientInfo": about}
    sent: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    start = time.perf_counter()
    answers = converse([recollect, "mcp"], sent, environment=environment, folder=folder)
    if "result" not in answers.get(1, {}) or "result" not in answers.get(2, {}):
        return None
    return (answers[1]["at"] - start) * 1000, len(answers[2]["result"].get("tools", []))


def converse(
    command: Sequence[str],
    messages: Sequence[dict[str, Any]],
    *,
    environment: Any,
    folder: Path | None = None,
    timeout: float = _TIMEOUT,
) -> dict[int, dict[str, Any]]:
    """Say the messages to a program that speaks JSON lines, each request after the answer to the one before."""
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            cwd=folder,
            text=True,
            encoding="utf-8",
        )
    except OSError:
        return {}
    heard: queue.Queue[dict[str, Any] | None] = queue.Queue()
    listener = threading.Thread(target=_listen, args=(process.stdout, heard), daemon=True)
    listener.start()
    answers: dict[int, dict[str, Any]] = {}
    until = time.monotonic() + timeout
    try:
        assert process.stdin is not None
        for message in messages:
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            while "id" in message and message["id"] not in answers:
                answer = heard.get(timeout=max(0.0, until - time.monotonic()))
                if answer is None:
                    return answers
                if isinstance(answer.get("id"), int) and "method" not in answer:
                    answers[answer["id"]] = {**answer, "at": time.perf_counter()}
    except (OSError, queue.Empty):
        return answers
    finally:
        process.kill()
        process.wait()
        listener.join(timeout=1)  # it ends with the program, unless that left children behind
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):  # what is left unsaid in a pipe cannot be said any more
                if pipe is not None:
                    pipe.close()
    return answers


def _listen(pipe: Any, heard: queue.Queue[dict[str, Any] | None]) -> None:
    try:
        for line in pipe:
            try:
                message = json.loads(line)
            except ValueError:
                continue  # a program that also chats on this channel
            if isinstance(message, dict):
                heard.put(message)
    except ValueError:
        pass  # the pipe was closed under us: whoever asked has gone
    heard.put(None)
