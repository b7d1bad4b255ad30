"""A language model, embedder and reranker on loopback that are none: each answer follows from the question alone.

Prints its port, then serves until stdin ends. `{"pause": 0.5}` makes every chat answer wait so many seconds.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = 16


def vector(text: str, model: str) -> list[float]:
    """Numbers between -1 and 1 that only the text and the model's name decide."""
    digest = hashlib.sha256(f"{model} {text}".encode()).digest()
    return [byte / 128 - 1 for byte in digest[:DIMENSIONS]]


def answer(path: str, asked: dict[str, Any]) -> dict[str, Any]:
    if path.endswith("/embeddings"):
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        return {"data": [{"index": n, "embedding": vector(text, asked["model"])} for n, text in enumerate(texts)]}
    if path.endswith("/rerank"):
        return {"results": [{"index": n, "relevance_score": 0.5} for n in range(len(asked["documents"]))]}
    said = {"role": "assistant", "content": "Understood."}
    return {
        "choices": [{"message": said, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 3},
    }


@contextmanager
def fake_model(pause: float = 0.0) -> Iterator[int]:
    """The port of a model on this machine, in a process of its own: whoever asks may fork."""
    with subprocess.Popen(
        [sys.executable, __file__, json.dumps({"pause": pause})],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield int(server.stdout.readline())
        finally:
            server.stdin.close()


def serve(pause: float = 0.0) -> None:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if "chat" in self.path:
                time.sleep(pause)
            body = json.dumps(answer(self.path, asked)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *words: Any) -> None:
            """Silence: nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)  # noqa: T201
    sys.stdin.read()


if __name__ == "__main__":
    serve(**json.loads(sys.argv[1]))
