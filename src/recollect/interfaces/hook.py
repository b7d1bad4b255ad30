"""`recollect-hook HOST`: one event of a host's hook on stdin, the host's answer (or nothing) on stdout.

Whatever happens, the host goes on: exit 0, within a hard deadline, no word on stderr; the reason is in the log. Loads
the standard library and the store's driver, nothing else.
"""

from __future__ import annotations

import _thread
import gc
import json
import os
import sys
import time

from recollect.agent.hooked import Heard, Hook, folder_of, text_of
from recollect.files.root import FOLDER, STORE, root_of, state_folder
from recollect.interfaces.protocols import EVENT, HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from recollect.agent.hooked import Open
    from recollect.agent.inject import Search
    from recollect.store.sqlite.hook_reader import HookReader

# Seconds before the process ends itself, whatever it is doing: a host waits for a hook at every tool call, and gives
# the last one of a session little more than a second.
_DEADLINES = {"start": 1.0, "prompt": 1.0, "end": 0.8, "compact": 0.8}
_DEADLINE = 0.5
_READING = 1.0  # … while the event is not yet known
_LONGEST = 3.0
_MOST_STDIN = 64_000_000  # bytes
_LOG = "hook.log"
_LOG_KEPT = 512_000  # bytes; then it is put aside once


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one event. Never raises, always 0."""
    words = list(sys.argv[1:] if argv is None else argv)
    host = words[0] if words else ""
    watch = _Watch(_READING, host)
    try:
        answer = run(host, sys.stdin.buffer.read(_MOST_STDIN + 1), os.environ, watch=watch)
        watch.stop()
        if answer:
            sys.stdout.write(answer)
            sys.stdout.flush()
    except BaseException as trouble:  # a host must not see it, whatever it is
        log(host, f"{type(trouble).__name__}: {trouble}")
    finally:
        watch.stop()
    return 0


def run(host: str, given: bytes, environment: Mapping[str, str], *, watch: _Watch | None = None) -> str:
    """The host's answer to an event as it was given; empty when there is nothing to say."""
    if host not in HOSTS:
        log(host, f"no such host; there are {', '.join(sorted(HOSTS))}")
        return ""
    payload = _payload(given)
    if payload is None:
        log(host, f"{len(given)} bytes that are no JSON object")
        return ""
    return answered(host, payload, environment, watch=watch)


def answered(
    host: str,
    payload: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    watch: _Watch | None = None,
    read: Open | None = None,
    search: Search | None = None,
) -> str:
    """The answer to an event of a known host. A warm process may hand in its own reading and its better search."""
    protocol = HOSTS[host]
    name = text_of(payload, *EVENT)
    event = protocol.events.get(name)
    if event is None:
        return ""  # one we have no use for
    if watch is not None:
        watch.allow(_seconds(environment, _DEADLINES.get(event, _DEADLINE)), f"{host} {name}")
    heard = Heard(host, event, payload, folder_of(payload, environment))
    hook = Hook(
        now=int(time.time() * 1000),
        read=read or _read,
        nonce=lambda: os.urandom(8).hex(),
        letters=protocol.letters,
        steps_after_tool=protocol.steps_after_tool,
        search=search,
        arm=environment.get("RECOLLECT_ARM"),
    )
    text, troubles = hook.hear(heard, answers=name in protocol.answered)
    for trouble in troubles:
        log(host, f"{name}: {trouble}")
    if event == "end":
        learn(root_of(heard.folder), environment)
    return json.dumps(protocol.shape(name, text), ensure_ascii=True) if text else ""


def _payload(given: bytes) -> dict[str, Any] | None:
    if len(given) > _MOST_STDIN:
        return None
    try:
        payload = json.loads(given.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _read(path: str, *, now: int) -> HookReader:
    from recollect.store.sqlite.hook_reader import open_hook_reader

    return open_hook_reader(path, now=now)


def _seconds(environment: Mapping[str, str], usual: float) -> float:
    try:
        return min(_LONGEST, max(0.05, float(environment["RECOLLECT_HOOK_DEADLINE"])))
    except (KeyError, ValueError):
        return usual


class _Watch:
    """Ends the process when its time is up. A thread, because a call into a hung store heeds no signal."""

    def __init__(self, seconds: float, what: str) -> None:
        self._until = time.monotonic() + seconds
        self._what = what
        self._done = False
        _thread.start_new_thread(self._wait, ())

    def allow(self, seconds: float, what: str) -> None:
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


def learn(root: str, environment: Mapping[str, str]) -> None:
    """Start learning from what was kept, in a process of its own that outlives the host."""
    store = os.path.join(root, FOLDER, STORE)
    if environment.get("RECOLLECT_HOOK_LEARN") == "off" or not os.path.exists(store):
        return
    command = [sys.executable, "-m", "recollect", "observe", "--spool", "--store", store]
    try:
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
        os.posix_spawn(sys.executable, command, dict(environment), file_actions=quiet, setsid=True)
    except (AttributeError, NotImplementedError):
        from subprocess import DEVNULL, Popen

        Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True, env=dict(environment))
    except OSError as trouble:
        log("learn", str(trouble))


def log(who: str, what: str) -> None:
    """Write down why nothing was said. Where even that fails there is nobody left to tell."""
    try:
        folder = state_folder()
        os.makedirs(folder, mode=0o700, exist_ok=True)
        path = os.path.join(folder, _LOG)
        if os.path.exists(path) and os.path.getsize(path) > _LOG_KEPT:
            os.replace(path, f"{path}.1")
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {who} {what}".replace("\n", " ")[:600]
        with open(path, "a", encoding="utf-8", errors="replace") as file:
            file.write(line + "\n")
    except OSError:
        pass


def entry() -> None:
    """The program. Ends at once: taking an interpreter down in good order takes longer than some hosts' patience."""
    gc.disable()
    code = main()
    sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    entry()
