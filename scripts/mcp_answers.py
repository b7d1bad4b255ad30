"""Make the answers to a host's first words that `recollect mcp` gives without the SDK: asked of the SDK itself, for
every profile, with and without writing, in every revision of the protocol. `--check` only compares."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from pathlib import Path
from typing import Any, BinaryIO, cast

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.mcp.greeting import LISTS, META
from recollect.interfaces.mcp.handle import MemoryHandle
from recollect.interfaces.mcp.server import build
from recollect.interfaces.mcp.stdio import HostInput, HostOutput, serve_wire
from recollect.version import __version__

FOLDER = Path(__file__).parents[1] / "src" / "recollect" / "interfaces" / "mcp" / "answers"
_CLIENT = {"name": "recollect", "version": "1"}
Json = dict[str, Any]


class _Host:
    """Both wires of a host that hangs up when it has had so many answers."""

    def __init__(self, awaited: int) -> None:
        self.heard = b""
        self._awaited = awaited
        self._done = threading.Event()

    def readline(self) -> bytes:
        self._done.wait(timeout=120)
        return b""

    def write(self, data: bytes) -> int:
        self.heard += data
        if self.heard.count(b"\n") == self._awaited:
            self._done.set()
        return len(data)

    def flush(self) -> None:
        """Nothing is kept back."""


def requests(revision: str) -> list[Json]:
    """The usual first requests of a host."""
    if revision in MODERN_PROTOCOL_VERSIONS:
        meta = {f"{META}protocolVersion": revision, f"{META}clientInfo": _CLIENT, f"{META}clientCapabilities": {}}
        return [{"method": method, "params": {"_meta": meta}} for method in ("server/discover", *LISTS)]
    hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": _CLIENT}
    return [{"method": "initialize", "params": hello}, *({"method": method} for method in ("ping", *LISTS))]


def ask(profile: str, *, read_only: bool, revision: str) -> Json:
    """What the SDK answers to each of them."""
    asked = [{"jsonrpc": "2.0", "id": n, **request} for n, request in enumerate(requests(revision))]
    lines = [json.dumps(one).encode() + b"\n" for one in asked]
    if revision not in MODERN_PROTOCOL_VERSIONS:
        lines.insert(1, b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    host = _Host(len(asked))
    wire = cast(BinaryIO, host)
    serve_wire(build(MemoryHandle(read_only=read_only), profile=profile), HostInput(wire, lines), HostOutput(wire))
    answers = [json.loads(line) for line in host.heard.splitlines()]
    found = {asked[answer["id"]]["method"]: answer["result"] for answer in answers if "result" in answer}
    if len(found) != len(asked):
        raise SystemExit(f"{profile}, {revision}: not everything was answered: {answers}")
    return found


def stored(profile: str, *, read_only: bool) -> str:
    """The answers of every revision as they are stored; where one answers as another does, the name of that one."""
    told: dict[str, Json] = {}
    for revision in (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS):
        answers = ask(profile, read_only=read_only, revision=revision)
        answers = json.loads(json.dumps(answers).replace(f'"{revision}"', '"<revision>"'))
        told[revision] = {
            method: next((other for other, earlier in told.items() if earlier.get(method) == result), result)
            for method, result in answers.items()
        }
    text = json.dumps(told, ensure_ascii=False, indent=1, sort_keys=True)
    return text.replace(f'"{__version__}"', '"<version>"') + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a stored answer differs")
    check, wrong = parser.parse_args().check, []
    FOLDER.mkdir(exist_ok=True)
    for profile in PROFILES:
        for read_only in (False, True):
            path = FOLDER / (f"{profile}_read_only.json" if read_only else f"{profile}.json")
            text = stored(profile, read_only=read_only)
            if check and (not path.exists() or path.read_text(encoding="utf-8") != text):
                wrong.append(path.name)
            elif not check:
                path.write_text(text, encoding="utf-8")
    if wrong:
        print(f"Out of date: {', '.join(wrong)}. Run scripts/mcp_answers.py.", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
