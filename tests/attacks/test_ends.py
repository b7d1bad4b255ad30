"""How programs end: Ctrl-C at any moment, a reader of our output that leaves, a host that dies, a killed parent.

No traceback, the right exit code, nothing half written, and no process that outlives the one it was started for.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import recollect
from faults.fault_tools import report, size
from recollect.files.learning_turn import LEARNING, LearningTurn
from recollect.interfaces.hook import start_learning

CLI = [sys.executable, "-m", "recollect"]
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
posix = pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / ".recollect").mkdir(parents=True)
    with recollect.open(root) as memory:
        for number in range(40):
            memory.remember(f"Pump {number} of hall {number % 7} needs oil in spring.")
    return root


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids: list[int], seconds: float) -> list[int]:
    until = time.monotonic() + seconds
    while (left := [pid for pid in pids if is_alive(pid)]) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def heed_interrupts() -> None:
    """A runner in the background ignores interrupts, and what it starts inherits that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@posix
def test_an_interrupt_at_any_moment_ends_with_130_and_without_a_traceback(project: Path) -> None:
    words = (["list"], ["remember", "Something new about halls."], ["check"], ["recall", "pump"], ["tend"])
    ended: dict[int, int] = {}
    for number in range(size(24, 400)):
        command = subprocess.Popen(
            [*CLI, *words[number % len(words)]],
            cwd=project,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            preexec_fn=heed_interrupts,
        )
        time.sleep(0.06 + (number % 12) * 0.04)
        command.send_signal(signal.SIGINT)
        _, said = command.communicate(timeout=30)
        ended[command.returncode] = ended.get(command.returncode, 0) + 1
        # Before our first line runs, while Python itself starts, the interpreter's own words are all there can be.
        frames = [line for line in said.splitlines() if line.lstrip().startswith(b"File ")]
        assert not [line for line in frames if b"recollect" in line and b"__main__.py" not in line], said.decode()
    assert set(ended) <= {0, 130, 1, -2}, ended
    report(f"interrupts: {sum(ended.values())}, exit codes {ended}, no traceback of ours")
    with recollect.open(project) as memory:
        assert memory.maintenance.check().ok


def test_nothing_of_weight_is_loaded_before_interrupts_are_heeded() -> None:
    source = Path(recollect.__file__).parents[1]
    program = (
        f"import sys; sys.path.insert(0, {str(source)!r}); before = set(sys.modules)\n"
        "import recollect.interfaces.start\nprint(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split()) - {
        "os",
        "posixpath",
        "ntpath",
        "genericpath",
        "stat",
        "_stat",
        "_collections_abc",
    }
    assert loaded == {
        "__future__",
        "recollect",
        "recollect.version",
        "recollect.interfaces",
        "recollect.interfaces.start",
        *(loaded & {"abc", "_abc", "os.path"}),
    }


@posix
def test_an_interrupt_in_a_running_command_is_130(project: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "from recollect.interfaces import start\n"
        "import recollect.interfaces.cli.read as read\n"
        "def run_list(args, console):\n    os.kill(os.getpid(), signal.SIGINT)\n    return 0\n"
        "read.run_list = run_list\nsys.argv = ['recollect', 'list']\nstart.cli()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=heed_interrupts,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@posix
@pytest.mark.parametrize(
    ("words", "beside"), [(["list"], "40 of 40\n"), (["list", "--json"], ""), (["--help"], ""), (["history"], "")]
)
def test_a_reader_who_leaves_early_is_no_trouble(project: Path, words: list[str], beside: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        [*CLI, *words], cwd=project, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, env=plain
    )
    os.close(writing)
    assert done.returncode == 0
    assert done.stderr == beside  # what is told beside a list is told before anybody knows


@posix
def test_closed_streams_and_a_full_disk_behind_stdout_are_answered_in_a_line(project: Path) -> None:
    shell = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m recollect list >&- 2>&- <&-; echo $?"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert shell.stdout.strip() == "0"
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run(
                [*CLI, "list"], cwd=project, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
            )
        assert done.returncode == 5
        assert "Traceback" not in done.stderr
        assert "No space left" in done.stderr
    with recollect.open(project) as memory:
        assert memory.maintenance.check().ok


# --- a host and its server --------------------------------------------------------------------------------------------


@contextmanager
def serving(project: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """A server; what it said on stderr must hold no traceback, and it must have ended by itself."""
    pipe = subprocess.PIPE
    server = subprocess.Popen([*CLI, "mcp", *words], cwd=project, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        yield server
        assert server.wait(10) == 0
        assert server.stderr is not None
        said = server.stderr.read().decode()
        assert "Traceback" not in said, said
    finally:
        server.kill()
        for stream in (server.stdin, server.stdout, server.stderr):
            with suppress(BrokenPipeError):
                stream.close()  # type: ignore[union-attr]
        server.wait()


def send(server: subprocess.Popen[bytes], message: dict[str, Any] | str) -> None:
    assert server.stdin is not None
    text = message if isinstance(message, str) else json.dumps(message)
    server.stdin.write(text.encode() + b"\n")
    server.stdin.flush()


_heard: dict[tuple[int, int | None], dict[str, Any]] = {}  # by process and id: answers come in any order


def hear(server: subprocess.Popen[bytes], id: int | None) -> dict[str, Any]:
    assert server.stdout is not None
    while (server.pid, id) not in _heard:
        line = server.stdout.readline()
        assert line, server.stderr.read().decode() if server.stderr else ""
        message: dict[str, Any] = json.loads(line)
        _heard[server.pid, message.get("id", 0)] = message
    return _heard.pop((server.pid, id))


def greet(server: subprocess.Popen[bytes]) -> None:
    send(server, HELLO)
    hear(server, 1)
    send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})


def call(id: int, tool: str, arguments: str) -> str:
    return f'{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'


def test_every_line_of_a_host_is_answered_however_it_reads(project: Path) -> None:
    lines = [
        call(2, "add", '{"content": "bad \\ud800 text"}'),
        call(3, "add", '{"content": ' + "[" * 5_000 + "]" * 5_000 + "}"),
        call(4, "search", '{"query": "x", "limit": ' + "9" * 6_000 + "}"),
        call(5, "search", '{"query": "pump", "limit": NaN}'),
        call(6, "get", json.dumps({"id": "x" * 1_000_000})),
        call(7, "get", json.dumps({"id": "a\0b\nc"})),
        call(8, "search", '{"query": "pump", "query": "oil"}'),
        call(9, "add", '{"content": {"a": 1}}'),
    ]
    with serving(project) as server:
        greet(server)
        for line in lines:
            send(server, line)
        answers = {number: hear(server, number) for number in range(2, 10)}
        assert "Unicode" in answers[2]["error"]["message"]
        for id in (3, 4):
            assert answers[id]["error"]["code"] == -32700
        for id in (5, 6, 7, 9):
            assert answers[id]["result"]["isError"], answers[id]
            assert answers[id]["result"]["structuredContent"]["error"]["code"] != "internal-error"
            assert len(json.dumps(answers[id])) < 5_000  # what was sent is not sent back whole
        assert not answers[8]["result"].get("isError")
        for line in ("nonsense", "[]", "\x00\x01", '"text"', "7", '{"jsonrpc": "1.0", "id": 12}', '{"id": 12}'):
            send(server, line)
        assert hear(server, 12)["error"]["code"] == -32600
        assert hear(server, None)["error"]["code"] in (-32700, -32600)
        send(server, call(13, "status", "{}"))
        assert hear(server, 13)["result"]
        assert server.stdin is not None
        server.stdin.close()


def test_a_hook_over_mcp_answers_whatever_stands_beside_its_payload(project: Path) -> None:
    with serving(project, "--profile", "hooks") as server:
        greet(server)
        send(server, call(2, "hook", '{"host": 5, "payload": 7, "more": 3}'))
        send(server, call(3, "hook", '{"payload": "' + "[" * 100_000 + '"}'))
        for id in (2, 3):
            assert hear(server, id)["result"]["content"][0]["text"] == "{}"
        assert server.stdin is not None
        server.stdin.close()


@posix
@pytest.mark.parametrize("ends", ["stdout", "stdin", "both"])
def test_a_host_that_dies_in_the_middle_of_a_request_leaves_no_traceback(project: Path, ends: str) -> None:
    with serving(project) as server:
        greet(server)
        assert server.stdin is not None
        assert server.stdout is not None
        for number in range(20):
            send(server, call(100 + number, "search", '{"query": "pump oil"}'))
        if ends in ("stdout", "both"):
            server.stdout.close()
        if ends in ("stdin", "both"):
            server.stdin.close()
        else:
            with suppress(BrokenPipeError):
                for number in range(5):
                    send(server, call(200 + number, "search", '{"query": "pump"}'))


_PARENT = """
import json, subprocess, sys, time
child = subprocess.Popen(sys.argv[2:], cwd=sys.argv[1], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdin.write((json.dumps({hello!r}) + chr(10)).encode())
child.stdin.flush()
print(child.pid, flush=True)
time.sleep(60)
"""


@posix
def test_a_server_ends_within_two_seconds_of_its_parent(project: Path) -> None:
    slowest = 0.0
    for number in range(size(6, 200)):
        parent = subprocess.Popen(
            [sys.executable, "-c", _PARENT.replace("{hello!r}", repr(HELLO)), str(project), *CLI, "mcp"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.stdout.close()
        time.sleep((0.0, 0.1, 0.3, 0.6, 1.2, 2.5)[number % 6])
        (parent.terminate, parent.kill)[number % 2]()
        parent.wait()
        began = time.monotonic()
        assert not wait_until_gone([child], 4.0)
        slowest = max(slowest, time.monotonic() - began)
    report(f"servers whose parent died: {size(6, 200)}, survivors 0, the slowest ended after {slowest:.2f} s")


# --- learning in the background ---------------------------------------------------------------------------------------


@posix
def test_only_one_process_learns_from_a_store_however_many_sessions_end_at_once(project: Path) -> None:
    store = str(project / ".recollect" / "memory.db")
    first = LearningTurn.take(store)
    assert first is not None
    first.look()
    assert LearningTurn.take(store) is None
    assert first.look()  # the second asked it to look again
    assert not first.look()
    with first as number:
        assert LearningTurn.handed_over(store, number) is not None
        assert LearningTurn.handed_over(store, "99") is None
        assert LearningTurn.handed_over(store, "nonsense") is None
    again = LearningTurn.take(store)
    assert again is not None
    again.end()


@posix
@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
def test_a_hundred_sessions_that_end_at_once_start_one_learner(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RECOLLECT_HOOK_LEARN", raising=False)
    environment = {name: value for name, value in os.environ.items() if name != LEARNING}
    seen = 0
    for number in range(size(30, 100)):
        start_learning(str(project), environment)
        if number % 5 == 0:
            seen = max(seen, len(learners(project)))
    assert seen <= 1
    until = time.monotonic() + 30
    while learners(project) and time.monotonic() < until:
        seen = max(seen, len(learners(project)))
        time.sleep(0.05)
    assert seen <= 1
    assert not learners(project)


def learners(project: Path) -> list[int]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"--spool" in words and str(project).encode() in words:
            found.append(int(pid))
    return found
