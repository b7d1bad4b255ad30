"""Two homes and one `recollect serve`, as people use it: on a file and on PostgreSQL, the server killed in between."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.both_engines


class Home:
    """A person's machine: a home of its own, and the command line."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "work"
        self.project.mkdir(parents=True)
        self.environment = {
            **os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder / "data"),
            "XDG_STATE_HOME": str(folder / "state"), "XDG_CONFIG_HOME": str(folder / "config"),
            "RECOLLECT_EMBEDDER": "none",
        }  # fmt: skip

    def run(self, *words: str, fine: tuple[int, ...] = (0,)) -> Any:
        """What a command says as JSON."""
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recollect", "--json", "--as-person", *words],
            cwd=self.project, env=self.environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode in fine, f"{words}: {done.returncode} {done.stdout}{done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else json.loads(done.stderr)

    def said(self) -> set[str]:
        return {one["content"] for one in self.run("list")["memories"]}


@contextmanager
def serving(home: Home, store: str, port: int) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "recollect", "--json", "--store", store, "serve", f"--port={port}", "--no-tend"],
        cwd=home.project, env=home.environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["url"], process
    finally:
        process.kill()
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def test_two_homes_and_a_server_that_dies(tmp_path: Path, place: Path | str) -> None:
    server, anna, ben = (Home(tmp_path / name) for name in ("server", "anna", "ben"))
    store = str(place)
    server.run("--store", store, "init")
    token = {name: server.run("token", "create", name, "--for-person")["token"] for name in ("anna", "ben")}
    anna.run("init")
    ben.run("init")
    with serving(server, store, 0) as (url, process):
        port = int(url.rstrip("/").rpartition(":")[2])
        for name, home in (("anna", anna), ("ben", ben)):
            folder = Path(home.environment["XDG_CONFIG_HOME"]) / "recollect"
            folder.mkdir(parents=True)
            settings = f'sync_server = "{url}"\nsync_token = "{token[name]}"\n'
            (folder / "config.toml").write_text(settings)
        id = anna.run("remember", "Granite is hard.", "--tag", "stone")["memory"]["id"]
        anna.run("remember", "I hum.", "--visibility", "personal")
        assert anna.run("sync", "--dry-run", fine=(0, 4)).get("sent", 0) in (0, 1)
        assert anna.run("sync", "--link")["stayed"] == {"personal": 1}
        assert ben.run("sync", "--link")["fetched"] == 1
        anna.run("edit", id, "Granite is very hard.")
        ben.run("edit", id, "Granite is brittle.")
        anna.run("sync")
        assert len(ben.run("sync", fine=(1,))["conflicts"]) == 1
        os.kill(process.pid, signal.SIGKILL)
    anna.run("remember", "Said while nobody served.")
    told = anna.run("sync", fine=(5,))
    assert told["error"]["code"] == "sync-offline", told
    assert anna.run("sync", "--status")["waiting"] == 1
    with serving(server, store, port):
        anna.run("sync")
        ben.run("sync")
        ben.run("forget", id, "--yes")
        ben.run("sync")
        anna.run("sync")
    expected = {"Granite is brittle.", "Said while nobody served."}
    assert (anna.said(), ben.said()) == (expected | {"I hum."}, expected)
    shown = {one["content"] for one in server.run("--store", store, "list")["memories"]}
    assert shown == expected
    for home in (anna, ben):
        assert home.run("check")["ok"] is True
