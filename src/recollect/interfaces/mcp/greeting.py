"""The first words with a host, answered without the SDK: who we are and what we offer.

Hosts ask this at every start, and often nothing else. The answers are stored with the package: `scripts/mcp_answers.py`
makes them with the SDK and a test compares them. What is not asked in the usual way is left to the SDK, which hears
then how the conversation began.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, BinaryIO, TypeAlias

from recollect.version import __version__

Json: TypeAlias = dict[str, Any]

MODERN = "2026-07-28"  # from this revision on every request tells its version, and there is no handshake
META = "io.modelcontextprotocol/"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
_MODERN_META = {f"{META}{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities")}
_LONGEST = 100_000  # bytes of a line that is looked at here


class Handover:
    """How a conversation began, for whoever goes on with it: the lines to hear, and the request in them that has been
    answered already."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.answered: int | str | None = None


def load_answers(profile: str, *, read_only: bool) -> Json:
    """The stored answers: of each revision, the result of each method. Where one answers as another does, that one is
    named."""
    name = f"{profile}_read_only.json" if read_only else f"{profile}.json"
    text = files("recollect.interfaces.mcp").joinpath("answers").joinpath(name).read_text(encoding="utf-8")
    stored: Json = json.loads(text.replace("<version>", __version__))
    return {
        revision: {
            method: stored[result][method] if isinstance(result, str) else result for method, result in results.items()
        }
        for revision, results in stored.items()
    }


def greet(wire: BinaryIO, out: BinaryIO, answers: Json) -> Handover | None:
    """Answer until something else is asked; the opening, with that line as its last. None when the host hung up."""
    opening, revision = Handover(), ""
    for line in _lines(wire):
        message = _read(line)
        asked = _revision(message, revision)
        result = answers.get(asked, {}).get(message.get("method")) if _is_usual(message, asked) else None
        if message == {"jsonrpc": "2.0", "method": "notifications/initialized"} and revision:
            opening.lines.append(line)
        elif result is None or (revision and (asked != revision or message["method"] == "initialize")):
            opening.lines.append(line)
            return opening
        else:
            if not revision:
                revision, opening.answered = asked, message["id"]
                opening.lines.append(line)
            _say(out, message["id"], result, asked)
    return None


def _lines(wire: BinaryIO) -> Iterator[bytes]:
    while line := wire.readline():
        if line.strip():
            yield line


def _read(line: bytes) -> Json:
    """The message of a line; empty when it is none, or too long to be one of the first."""
    if len(line) > _LONGEST:
        return {}
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _revision(message: Json, spoken: str) -> str:
    """The revision a request is made in: what it says itself, else what the handshake settled."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    said = meta.get(f"{META}protocolVersion") if isinstance(meta, dict) else None
    said = params.get("protocolVersion") if message.get("method") == "initialize" else said or spoken
    return said if isinstance(said, str) else ""


def _is_usual(message: Json, revision: str) -> bool:
    """Is it a request in the form that every host uses? Pages and odd values are the SDK's."""
    if set(message) - {"params"} != {"jsonrpc", "id", "method"} or message["jsonrpc"] != "2.0":
        return False
    if not isinstance(message["method"], str) or not isinstance(message["id"], int | str):
        return False
    params = message.get("params", {})
    if not isinstance(params, dict) or isinstance(message["id"], bool):
        return False
    if message["method"] == "initialize":
        return set(params) == {"protocolVersion", "capabilities", "clientInfo"} and _is_client(
            params["clientInfo"], params["capabilities"]
        )
    meta = params.get("_meta", {})
    if set(params) - {"_meta"} or not isinstance(meta, dict):
        return False
    if revision != MODERN:
        return not any(str(name).startswith(META) for name in meta)
    return set(meta) == _MODERN_META and _is_client(meta[f"{META}clientInfo"], meta[f"{META}clientCapabilities"])


def _is_client(about: Any, capabilities: Any) -> bool:
    named = isinstance(about, dict) and all(isinstance(about.get(name), str) for name in ("name", "version"))
    return named and isinstance(capabilities, dict)


def _say(out: BinaryIO, id: int | str, result: Json, revision: str) -> None:
    told = json.dumps(result, ensure_ascii=False, separators=(",", ":")).replace('"<revision>"', json.dumps(revision))
    out.write(f'{{"jsonrpc":"2.0","id":{json.dumps(id)},"result":{told}}}\n'.encode())
    out.flush()
