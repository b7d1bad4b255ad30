"""A chat server on loopback that speaks OpenAI's protocol and says what its script tells it: for tests and demos.

No model is behind it. A script is a list of answers, or a function of the request; each answer is a text, a `Calls`
(tools to be called), or an `Outage`. Streaming requests are answered in pieces.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias


@dataclass(frozen=True, slots=True)
class Calls:
    """An answer that asks for tools: pairs of a name and its arguments, an object or a text as it stands."""

    calls: Sequence[tuple[str, Any]]
    said: str = ""


@dataclass(frozen=True, slots=True)
class Outage:
    """An answer that is none: a status, or a stream that breaks off after so many pieces."""

    status: int = 503
    message: str = "overloaded"
    after: int | None = None
    pause: float = 0.0  # seconds between the pieces of a stream, before it breaks off
    said: str = "This sentence will not be finished."


Answer: TypeAlias = str | Calls | Outage
Script: TypeAlias = Sequence[Answer] | Callable[[dict[str, Any]], Answer]


@dataclass(slots=True)
class ChatServer:
    """A running server: where it is, and the requests it saw."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def setting(self) -> str:
        """The value for the setting `model`."""
        return f"{self.url}/v1#scripted"

    def texts(self, request: int = -1) -> str:
        """All that one request said, as one text."""
        return "\n".join(str(request.get("content") or "") for request in self.requests[request]["messages"])


@contextmanager
def chat_server(script: Script) -> Iterator[ChatServer]:
    """A server on a free loopback port, for as long as the block lasts. A list that ran out repeats its last one."""
    waiting = [] if callable(script) else list(script)

    def answer(request: dict[str, Any]) -> Answer:
        if callable(script):
            return script(request)
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]

    class Door(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(body)
            if not self.path.endswith("/chat/completions"):
                self._whole({"error": {"message": f"no such path: {self.path}"}}, 404)
                return
            try:
                self._say(answer(body), body)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _say(self, told: Answer, body: dict[str, Any]) -> None:
            if isinstance(told, Outage) and told.after is None:
                self._whole({"error": {"message": told.message}}, told.status)
            elif body.get("stream"):
                self._stream(told, body)
            else:
                finish = "tool_calls" if isinstance(told, Calls) else "stop"
                choice = {"index": 0, "message": _message(told), "finish_reason": finish}
                self._whole({"choices": [choice], "usage": _usage(body, told)})

        def _whole(self, value: Any, status: int = 200) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, told: Answer, body: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            for place, piece in enumerate(_pieces(told)):
                if isinstance(told, Outage) and place >= (told.after or 0):
                    return
                self._event({"choices": [{"index": 0, "delta": piece}]})
                time.sleep(told.pause if isinstance(told, Outage) else 0)
            if body.get("stream_options", {}).get("include_usage"):
                self._event({"choices": [], "usage": _usage(body, told)})
            self.wfile.write(b"data: [DONE]\n\n")

        def _event(self, value: Any) -> None:
            self.wfile.write(f"data: {json.dumps(value)}\n\n".encode())
            self.wfile.flush()

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Door) as listening:
        listening.daemon_threads = True
        server = ChatServer(f"http://127.0.0.1:{listening.server_address[1]}")
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listening.shutdown()
            thread.join()


def _message(told: Answer) -> dict[str, Any]:
    if isinstance(told, Calls):
        calls = [
            {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": _text(arguments)}}
            for place, (name, arguments) in enumerate(told.calls)
        ]
        return {"role": "assistant", "content": told.said or None, "tool_calls": calls}
    return {"role": "assistant", "content": told.said if isinstance(told, Outage) else told}


def _pieces(told: Answer) -> Iterator[dict[str, Any]]:
    """An answer as servers stream it: word by word, and the arguments of a call in halves."""
    yield {"role": "assistant", "content": ""}
    message = _message(told)
    for place, word in enumerate((message["content"] or "").split(" ")):
        yield {"content": f" {word}" if place else word}
    for place, call in enumerate(message.get("tool_calls", ())):
        function = call["function"]
        half = len(function["arguments"]) // 2
        first = {"name": function["name"], "arguments": function["arguments"][:half]}
        yield {"tool_calls": [{"index": place, "id": call["id"], "type": "function", "function": first}]}
        yield {"tool_calls": [{"index": place, "function": {"arguments": function["arguments"][half:]}}]}


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _usage(body: dict[str, Any], told: Answer) -> dict[str, int]:
    asked = sum(len(str(one.get("content") or "")) for one in body["messages"]) // 4 + 1
    return {"prompt_tokens": asked, "completion_tokens": len(str(told)) // 4 + 1}
