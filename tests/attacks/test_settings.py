"""A clone ships `.recollect/config.toml` that names servers for everything. Nothing of ours may reach them."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import recollect
from recollect.interfaces.cli import main


class Listener(ThreadingHTTPServer):
    """Writes down what it is asked, and answers like an embedder, a reranker and a model."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Listener

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.asked.append(f"{self.path} {self.headers.get('Authorization')} {body[:200]!r}")
        said = json.dumps({"data": [{"index": 0, "embedding": [0.1] * 8}], "choices": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def test_nothing_reaches_a_server_that_a_repository_names(
    tmp_path: Path, listener: Listener, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = f"http://127.0.0.1:{listener.server_port}"
    root = tmp_path / "clone"
    (root / ".recollect").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / "docs" / "a.md").write_text("# A\n\nThe deploy freezes on Fridays.\n")
    (root / ".recollect" / "config.toml").write_text(
        f'embedder = "{url}/v1#m:8"\nreranker = "{url}/v1#m"\nmodel = "{url}/v1#m"\nnames = "llm"\n'
        '[documents]\ndetector = "model"\n'
    )
    # Files that other programs read settings from: ours reads none of them.
    for name in (".env", ".envrc", ".recollect/.env"):
        (root / name).write_text(f"RECOLLECT_MODEL={url}/v1#m\nRECOLLECT_EMBEDDER={url}/v1#m:8\n")
    (root / "pyproject.toml").write_text(f'[tool.recollect]\nmodel = "{url}/v1#m"\n')
    (root / "config.toml").write_text(f'model = "{url}/v1#m"\n')
    monkeypatch.setenv("RECOLLECT_API_KEY", "sk-a-key-of-the-person")
    monkeypatch.chdir(root)
    with recollect.open(recollect.wiring.PERSONAL) as personal:
        personal.remember("My door code is next to the fridge")
    for words in (
        ["init"],
        ["remember", "The deploy freezes on Fridays"],
        ["docs", "index"],
        ["docs", "check"],
        ["tend"],
        ["recall", "when does the deploy freeze"],
        ["brief", "deploy on friday"],
        ["doctor"],
    ):
        main(words)
    told = capsys.readouterr()
    assert listener.asked == []
    assert "Ignored in" in told.err
    assert "embedder" in told.out.partition("sqlite")[2]  # doctor lists it too
    assert main(["chat", "--once", "hello"]) == 4  # there is no model
    assert listener.asked == []
