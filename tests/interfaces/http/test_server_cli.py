"""`recollect serve`, `panel` and `token` as a person meets them."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest

import recollect
from faults.fault_tools import environment
from recollect.interfaces.cli import main
from recollect.interfaces.http.background import ServerNote, store_key
from recollect.interfaces.http.server import ServerOptions, listen


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    recollect.open(root).close()
    return root


def run(*words: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "recollect", *words, "--json"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
        stdin=subprocess.DEVNULL,
    )
    return json.loads(done.stdout)


def test_the_panel_starts_a_server_once_opens_with_a_code_and_stops_it(project: Path) -> None:
    first = run("--as-person", "panel", "--no-browser", "--port", "0")
    try:
        assert first["started"] is True
        again = run("--as-person", "panel", "--no-browser")
        assert (again["started"], again["url"], again["pid"]) == (False, first["url"], first["pid"])
        url, _, code = again["panel"].partition("#code=")
        origin = {"Origin": url.rstrip("/")}
        with httpx2.Client(base_url=url, headers=origin) as browser:
            assert browser.get("/v1/memories").status_code == 401
            assert browser.post("/v1/session", headers={"Authorization": f"Code {code}"}).status_code == 204
            kept = browser.post("/v1/memories", json={"content": "Granite is hard."})
            assert kept.json()["memory"]["source"] == "user_taught"
        note = ServerNote.read(store_key(None))
        assert note is not None
        assert note.is_up
        assert run("status")["memories"] == {"active": 1}
    finally:
        assert run("panel", "--stop") == {"stopped": True}
    ended = ServerNote.read(store_key(None))
    assert ended is not None
    assert (ended.pid, ended.is_up, ended.url) == (None, False, first["url"])
    assert run("panel", "--stop") == {"stopped": False}


def test_an_agent_without_a_terminal_cannot_open_the_panel(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["panel", "--no-browser"]) == 4
    assert "Only a person" in capsys.readouterr().err
    assert main(["serve", "--open"]) == 4
    assert main(["token", "create", "bot"]) == 4
    assert main(["token", "create", "bot", "--scope", "read", "--for-person"]) == 4


@pytest.mark.parametrize(
    "words",
    [
        ("--host", "0.0.0.0"), ("--host", "192.0.2.1"), ("--host", "example.org"), ("--port", "99999"),
        ("--port", "-5"),
        ("--tls-cert", "cert.pem"), ("--tls-key", "key.pem"),
        ("--host", "0.0.0.0", "--tls-cert", "cert.pem", "--tls-key", "key.pem"),
    ],
)  # fmt: skip
def test_what_would_let_strangers_in_is_refused_before_anything_is_opened(
    project: Path, words: tuple[str, ...]
) -> None:
    assert main(["serve", *words]) == 2


def test_a_server_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["serve"]) == 5
    done = subprocess.run(
        [sys.executable, "-m", "recollect", "--as-person", "panel", "--no-browser"],
        capture_output=True, text=True, check=False, env=environment(), stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 4
    assert "The server did not start" in done.stderr
    assert "recollect init" in done.stderr


def test_tokens_are_made_listed_and_revoked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--as-person", "token", "create", "bot", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["token"].startswith("rcl_")
    assert main(["token", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["scope"], listed["person"]) == ("bot", "write", False)
    assert main(["token", "revoke", "bot"]) == 0
    assert main(["token", "revoke", "bot"]) == 3


def test_a_note_of_a_process_that_is_no_more_counts_for_nothing(project: Path) -> None:
    note = ServerNote.write("key", url="http://127.0.0.1:1/", port=1)
    assert note.is_up
    assert not ServerNote("key", note.url, 1, note.pid, "another start").is_up
    assert not ServerNote("key", note.url, 1, None).is_up
    state = Path(os.environ["XDG_STATE_HOME"]) / "recollect" / "servers" / "key.json"
    assert state.stat().st_mode & 0o077 == 0
    state.write_text("{")
    assert ServerNote.read("key") is None


def test_answers_do_not_wait_for_the_clients_acknowledgement() -> None:
    with listen(ServerOptions(port=0), None) as listening, socket.create_connection(listening.getsockname()):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
