"""A language model that is not one: it speaks the four wire protocols of the hosts under test on a loopback port,
asks for a fixed number of shell commands, then says a last word. Every request body is kept, for that is what a model
would read."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

LAST_WORD = "All done, nothing more to do."


@dataclass(slots=True)
class FakeModel:
    """Serves until closed. `commands` are asked for one after another, each once the result of the one before is in."""

    commands: list[str]
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    def __enter__(self) -> FakeModel:
        model = self

        class Door(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                path = self.path.partition("?")[0]
                model.requests.append((path, body))
                kind, text = model.answer(path, body)
                self._send(200, kind, text)

            def do_GET(self) -> None:
                self._send(200, "application/json", '{"data": [], "object": "list"}')

            def do_HEAD(self) -> None:
                self._send(200, "application/json", "")

            def _send(self, status: int, kind: str, text: str) -> None:
                payload = text.encode()
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, format: str, *args: Any) -> None:
                """Silence: the requests are kept instead."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.server_address[1])

    def turns(self) -> list[dict[str, Any]]:
        """The bodies of the agent's own calls: those that offer tools, not those that ask for a title."""
        return [body for path, body in self.requests if body.get("tools") and "count" not in path.lower()]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[str, str]:
        if path.endswith(("/count_tokens", ":countTokens")):
            return "application/json", '{"input_tokens": 10, "totalTokens": 10}'
        if path.endswith("/messages"):
            return _anthropic(body, self._next(body, _anthropic_results(body)))
        if path.endswith("/responses"):
            return _responses(self._next(body, _responses_results(body)))
        if "GenerateContent" in path or "generateContent" in path:
            return _gemini(self._next(body, _gemini_results(body)), streamed="stream" in path)
        if path.endswith("/chat/completions"):
            return _completions(body, self._next(body, _completions_results(body)))
        return "application/json", "{}"

    def _next(self, body: dict[str, Any], results: int) -> str | None:
        """The command to ask for now; None when it is time for the last word."""
        if not body.get("tools") or results >= len(self.commands):
            return None
        return self.commands[results]


# --- how many tool results a request carries -------------------------------------------------------------------------


def _blocks(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, dict))


def _anthropic_results(body: dict[str, Any]) -> int:
    return sum(block.get("type") == "tool_result" for block in _blocks(body.get("messages", [])))


def _responses_results(body: dict[str, Any]) -> int:
    return sum(str(item.get("type", "")).endswith("_call_output") for item in body.get("input", []))


def _gemini_results(body: dict[str, Any]) -> int:
    return sum("functionResponse" in part for one in body.get("contents", []) for part in one.get("parts", []))


def _completions_results(body: dict[str, Any]) -> int:
    return sum(message.get("role") == "tool" for message in body.get("messages", []))


# --- the four shapes of an answer ------------------------------------------------------------------------------------


def _number(command: str) -> str:
    return f"{zlib.crc32(command.encode()):012d}"


def _events(events: list[dict[str, Any]], *, named: bool) -> tuple[str, str]:
    lines = [f"{'event: ' + event['type'] + chr(10) if named else ''}data: {json.dumps(event)}\n\n" for event in events]
    return "text/event-stream", "".join(lines)


def _anthropic(body: dict[str, Any], command: str | None) -> tuple[str, str]:
    usage = {"input_tokens": 10, "output_tokens": 5}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"), "content": []}
    reason = "end_turn" if command is None else "tool_use"
    if command is None:
        block: dict[str, Any] = {"type": "text", "text": ""}
        whole = {"type": "text", "text": LAST_WORD}
        delta = {"type": "text_delta", "text": LAST_WORD}
    else:
        call = f"toolu_{_number(command)}"
        given = {"command": command, "description": "look"}
        block = {"type": "tool_use", "id": call, "name": "Bash", "input": {}}
        whole = {**block, "input": given}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(given)}
    if not body.get("stream"):
        answer = {**message, "content": [whole], "stop_reason": reason, "stop_sequence": None, "usage": usage}
        return "application/json", json.dumps(answer)
    events = [
        {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": 5},
        },
        {"type": "message_stop"},
    ]
    return _events(events, named=True)


def _responses(command: str | None) -> tuple[str, str]:
    if command is None:
        content = [{"type": "output_text", "text": LAST_WORD, "annotations": []}]
        item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
    else:
        number = _number(command)
        arguments = json.dumps({"cmd": command, "command": ["bash", "-lc", command]})
        item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
        item |= {"name": "exec_command", "arguments": arguments}
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    events = [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]
    return _events(events, named=True)


def _gemini(command: str | None, *, streamed: bool) -> tuple[str, str]:
    if command is None:
        part: dict[str, Any] = {"text": LAST_WORD}
    else:
        part = {"functionCall": {"name": "run_shell_command", "args": {"command": command}}}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    content = {"role": "model", "parts": [part]}
    answer = {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
    if streamed:
        return _events([answer], named=False)
    return "application/json", json.dumps(answer)


def _completions(body: dict[str, Any], command: str | None) -> tuple[str, str]:
    if command is None:
        delta: dict[str, Any] = {"role": "assistant", "content": LAST_WORD}
        reason = "stop"
    else:
        arguments = json.dumps({"command": command, "description": "look"})
        call = {"index": 0, "id": f"call_{_number(command)}", "type": "function"}
        delta = {"role": "assistant", "tool_calls": [{**call, "function": {"name": "bash", "arguments": arguments}}]}
        reason = "tool_calls"
    base = {"id": "c_1", "object": "chat.completion.chunk", "created": 1, "model": body.get("model", "fake")}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    if not body.get("stream"):
        choice = {"index": 0, "message": delta, "finish_reason": reason}
        return "application/json", json.dumps(
            {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        )
    chunks = [
        {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage},
    ]
    kind, text = _events(chunks, named=False)
    return kind, text + "data: [DONE]\n\n"
