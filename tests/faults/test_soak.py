"""A memory that is used for long costs no more at the end than at the beginning, and nothing while it rests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from faults.fault_tools import SOAK, base_seed, environment, report, run_program, size

_HOUR = 3_600
_MOST_AN_HOUR = 2**20  # bytes of growth that a long run may show
_MOST_IN_SHORT = 4 * 2**20  # … and a run of seconds, in which allocators still settle
_LONG = 600  # seconds from which on growth is told from noise
_MOST_IDLE = 0.01  # of a core
_READERS = 8  # idle reading connections that an engine keeps
_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")


@needs_proc
def test_a_long_session_grows_neither_in_bytes_nor_in_handles_and_rests_without_cpu(quick_path: Path) -> None:
    seconds, seed = size(8, _HOUR), base_seed()
    quick_path.mkdir(exist_ok=True)
    told = run_program("soak", folder=quick_path, seed=seed, seconds=seconds)
    grown = max(0.0, told["grown"] * told["measured"])
    hourly = f"growth an hour: {told['grown'] * _HOUR / 2**20:.2f} MB, " if seconds >= _LONG else ""
    report(
        f"soak: {seconds} s, rounds: {told['rounds']}, growth: {grown / 2**20:.2f} MB, {hourly}"
        f"resident: {told['resident'] / 2**20:.0f} MB, more handles: {told['handles'][1] - told['handles'][0]}, "
        f"idle: {told['idle'] * 100:.2f} %, errors: 0"
    )
    assert told["handles"][1] <= told["handles"][0] + _READERS
    assert told["idle"] <= _MOST_IDLE
    if seconds >= _LONG:
        assert told["grown"] * _HOUR <= _MOST_AN_HOUR
    else:
        assert grown <= _MOST_IN_SHORT


@needs_proc
def test_a_server_that_nobody_talks_to_uses_no_cpu(tmp_path: Path) -> None:
    rest = 5.0 if SOAK else 1.5
    first = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": _HELLO}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "add", "arguments": {"content": "The crane rests at night."}}}  # fmt: skip
    with subprocess.Popen(
        [sys.executable, "-m", "recollect", "mcp", "--store", str(tmp_path / "memory.db")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(RECOLLECT_EMBEDDER="none"),
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        for line in (first, {"jsonrpc": "2.0", "method": "notifications/initialized"}, call):
            server.stdin.write(json.dumps(line) + "\n")
            server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        assert not answers[1]["result"].get("isError"), answers
        time.sleep(0.3)
        before = _ticks(server.pid)
        time.sleep(rest)
        used = (_ticks(server.pid) - before) / os.sysconf("SC_CLK_TCK") / rest
        server.stdin.close()
        assert server.wait(timeout=20) == 0
    report(f"idle server: {used * 100:.2f} %")
    assert used <= _MOST_IDLE


def _ticks(pid: int) -> int:
    """CPU ticks a process used, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
