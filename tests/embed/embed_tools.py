"""Servers on loopback that speak the real protocols, model packs made in the test, and embedders that count."""

from __future__ import annotations

import hashlib
import json
import struct
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embed.packs import VOCABULARY, Pack, PackFile

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "red", "fox", "jump", "##ed", "##s", ",", "!", "é", "世"]


@dataclass(slots=True)
class Reply:
    """What a server says: a status, a body, and how it misbehaves while saying it."""

    body: bytes = b"{}"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0.0  # seconds before a word is said
    trickle: float = 0.0  # seconds between single bytes
    claim: int | None = None  # a Content-Length other than the truth


Answer = Callable[[str, Any, Mapping[str, str]], Reply]


@dataclass(slots=True)
class Server:
    url: str
    seen: list[tuple[str, Any, Mapping[str, str]]]


@contextmanager
def serving(answer: Answer) -> Iterator[Server]:
    """An HTTP server on a free loopback port, for as long as the block lasts."""
    seen: list[tuple[str, Any, Mapping[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self._reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

        def do_GET(self) -> None:
            self._reply(None)

        def _reply(self, body: Any) -> None:
            seen.append((self.path, body, dict(self.headers)))
            try:
                self._say(answer(self.path, body, dict(self.headers)))
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _say(self, reply: Reply) -> None:
            time.sleep(reply.pause)
            self.send_response(reply.status)
            self.send_header("Content-Length", str(len(reply.body) if reply.claim is None else reply.claim))
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.end_headers()
            step = 1 if reply.trickle else len(reply.body) or 1
            for start in range(0, len(reply.body), step):
                self.wfile.write(reply.body[start : start + step])
                time.sleep(reply.trickle)

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{server.server_address[1]}", seen)
        finally:
            server.shutdown()
            thread.join()


def told(replies: Sequence[Reply]) -> Answer:
    """Says one reply after the other, then the last one for ever."""
    left = list(replies)
    return lambda *_: left.pop(0) if len(left) > 1 else left[0]


def meaning(text: str, dims: int) -> list[float]:
    """A vector that depends on every letter of the text; not of length one, as servers need not normalise."""
    bits = hashlib.sha256(text.encode()).digest() * (dims // 32 + 1)
    return [float(byte) - 127.5 for byte in bits[:dims]]


def openai_answer(dims: int = 8) -> Answer:
    """The embeddings endpoint as OpenAI documents it, in reverse order to hold us to `index`."""

    def answer(path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        if path != "/v1/embeddings":
            return Reply(b'{"error": {"message": "Invalid URL"}}', status=404)
        size = body.get("dimensions", dims)
        rows = [
            {"object": "embedding", "index": place, "embedding": meaning(text, size)}
            for place, text in enumerate(body["input"])
        ]
        whole = {"object": "list", "data": rows[::-1], "model": body["model"], "usage": {"total_tokens": 1}}
        return Reply(json.dumps(whole).encode())

    return answer


def ollama_answer(models: Sequence[str], dims: int = 8) -> Answer:
    """`/api/tags` and `/api/embed` as Ollama documents them."""

    def answer(path: str, body: Any, headers: Mapping[str, str]) -> Reply:
        if path == "/api/tags":
            return Reply(json.dumps({"models": [{"name": name, "size": 1} for name in models]}).encode())
        if body["model"] not in models:
            return Reply(b'{"error": "model not found, try pulling it first"}', status=404)
        rows = [meaning(text, dims) for text in body["input"]]
        return Reply(json.dumps({"model": body["model"], "embeddings": rows, "total_duration": 1}).encode())

    return answer


# --- packs ---------------------------------------------------------------------------------------------------------


def vocabulary(tokens: Sequence[str] = TOKENS) -> bytes:
    return "".join(f"{token}\n" for token in tokens).encode()


def table_file(table: Vectors) -> bytes:
    """A safetensors file with the one matrix of a static model."""
    data = table.astype("<f4").tobytes()
    tensor = {"dtype": "F32", "shape": list(table.shape), "data_offsets": [0, len(data)]}
    header = json.dumps({"__metadata__": {"format": "pt"}, "embeddings": tensor}).encode()
    return struct.pack("<Q", len(header)) + header + data


def pack_of(weights: bytes, *, name: str = "tiny", file: str = "model.safetensors", dims: int = 4, **more: Any) -> Pack:
    """A pack whose pins are those of the given bytes."""
    files = tuple(
        PackFile(name, hashlib.sha256(data).hexdigest(), len(data), f"sub/{name}", also)
        for name, data, also in ((file, weights, ()), (VOCABULARY, vocabulary(), ("tokenizer.json",)))
    )
    return Pack(name, f"{name}-1", dims, "made in a test", "none", files, more.pop("hub", ""), (), **more)


def put(pack: Pack, folder: Path, weights: bytes) -> None:
    """Install a pack by hand."""
    (folder / pack.name).mkdir(parents=True, exist_ok=True)
    (folder / pack.name / pack.files[0].name).write_bytes(weights)
    (folder / pack.name / VOCABULARY).write_bytes(vocabulary())


def wheel(path: Path, members: Mapping[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


class CountingEmbedder:
    """Vectors from the letters of the text, and a list of what it was asked."""

    model, dims, at_hand = "counting", 8, True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        rows = np.array([meaning(text, self.dims) for text in texts], dtype=np.float32).reshape(-1, self.dims)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def embed_query(self, text: str) -> Vectors:
        return self.embed_documents([f"query: {text}"])[0]
