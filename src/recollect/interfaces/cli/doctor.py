"""What `recollect doctor` looks at: versions, the file, a real write and read, indexes, backups, lock, hosts."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.app import Recollect
from recollect.core.errors import RecollectError, StoreError
from recollect.files.project import user_store_path
from recollect.files.root import state_folder
from recollect.interfaces.cli.console import open_from
from recollect.store.backup import list_backups
from recollect.store.check import check
from recollect.store.sqlite.connection import sqlite_version
from recollect.version import __version__
from recollect.wiring import locate

_LARGE_LOG = 64 * 2**20  # bytes: a log beyond this means that some reader never ends


def examine(args: argparse.Namespace) -> tuple[dict[str, Any], list[str]]:
    """Facts to show and worries to act on. Never raises for a broken store: that is what it is there to tell."""
    path = locate(args.store)
    facts: dict[str, Any] = {
        "recollect": __version__,
        "python": platform.python_version(),
        "sqlite": sqlite_version(),
        "store": str(path),
    }
    worries: list[str] = []
    try:
        with open_from(args) as memory:
            _store(memory, facts, worries)
    except RecollectError as error:
        worries.append(f"{error} {error.hint}")
    if path is not None and path.parent.is_dir():
        _surroundings(path, facts, worries)
    _hosts(facts, worries)
    return facts, worries


def _store(memory: Recollect, facts: dict[str, Any], worries: list[str]) -> None:
    store = memory.store
    facts["project"] = memory.project
    facts["schema"] = store.engine.schema()
    facts["memories"] = ", ".join(f"{n:,} {status}" for status, n in store.memories.tally().items()) or "none"
    if (space := store.vectors.active()) is not None:
        facts["vectors"] = f"{space.model}, {store.vectors.waiting(space):,} memories waiting"
    if not store.engine.read_only:
        facts["round trip"] = _round_trip(memory)
    worries += [f"{finding.area}: {finding.problem}" for finding in check(store, quick=True).findings]


def _round_trip(memory: Recollect) -> str:
    """Write something and read it back, through the real engine: 'healthy' must not mean 'nobody tried'."""
    stamp = datetime.now(UTC).isoformat()
    with memory.store.engine.write():
        memory.store.set_meta("doctor", stamp)
    if memory.store.meta("doctor") != stamp:
        raise StoreError("A write was acknowledged but cannot be read back.", hint="Run `recollect check`.")
    return "ok"


def _hosts(facts: dict[str, Any], worries: list[str]) -> None:
    """Where it is installed, for the person and for the project; if anywhere, hook and server are tried."""
    from recollect.agent.hosts.catalog import HOSTS
    from recollect.agent.hosts.check import check_host, hook_latency, server_handshake
    from recollect.agent.hosts.target import current_target

    try:
        targets = [current_target("user"), current_target("project")]
    except RecollectError as error:
        facts["hosts"] = []
        if any((user_store_path().parent / "hosts" / "installed").glob("*.json")):
            worries.append(f"{error} {error.hint}")
        return
    found = [checked for target in targets for host in HOSTS if (checked := check_host(host, target)) is not None]
    facts["hosts"] = [f"{one.host} ({one.scope}): {', '.join(one.facts)}" for one in found]
    worries += [worry for one in found for worry in one.worries]
    if not found:
        return
    target = targets[0]
    environment = dict(os.environ)
    took = hook_latency(target.hook, folder=Path.cwd(), environment=environment)
    facts["hook"] = f"p50 {took.p50:.0f} ms, p95 {took.p95:.0f} ms over {took.n} starts"
    if took.failed:
        worries.append(f"The hook failed in {took.failed} of {took.n + 1} starts; its log is in {state_folder()}.")
    answer = server_handshake(target.recollect, folder=Path.cwd(), environment=environment)
    facts["server"] = "no answer" if answer is None else f"answered in {answer[0]:.0f} ms with {answer[1]} tools"
    if answer is None:
        worries.append("The MCP server does not answer. Is the extra there? `pip install 'recollect[mcp]'`.")


def _surroundings(path: Path, facts: dict[str, Any], worries: list[str]) -> None:
    facts["size"] = f"{path.stat().st_size / 2**20:.1f} MB" if path.exists() else "no file"
    log = Path(f"{path}-wal")
    if log.exists() and log.stat().st_size > _LARGE_LOG:
        worries.append(f"The log has grown to {log.stat().st_size / 2**20:.0f} MB: some process reads without end.")
    facts["backups"] = [f"{one.path.name} ({one.memories:,} memories)" for one in list_backups(path.parent)]
    quarantine = path.parent / "quarantine"
    facts["quarantine"] = sorted(entry.name for entry in quarantine.iterdir()) if quarantine.is_dir() else []
    holder = _lock_holder(Path(f"{path}-lock"))
    facts["lock"] = f"held by process {holder}" if holder else "free"


def _lock_holder(lock: Path) -> int | None:
    """The process that holds the writers' lock, where the system tells (Linux)."""
    try:
        wanted = f":{lock.stat().st_ino}"
        lines = Path("/proc/locks").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    for line in lines:
        parts = line.split()
        if "FLOCK" in parts and parts[5].endswith(wanted) and int(parts[4]) != os.getpid():
            return int(parts[4])
    return None
