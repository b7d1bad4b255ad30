from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from recollect.interfaces.mcp import PROFILES
from recollect.interfaces.mcp.greeting import META, MODERN, Handover, greet, load_answers

ROOT = Path(__file__).parents[2]
CLIENT = {"name": "host", "version": "7", "title": "A host"}
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {"roots": {}}, "clientInfo": CLIENT}
BEGUN = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def request(id: int | str, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}


def modern(id: int, method: str, **more: Any) -> dict[str, Any]:
    meta = {f"{META}protocolVersion": MODERN, f"{META}clientInfo": CLIENT, f"{META}clientCapabilities": {}}
    return request(id, method, _meta=meta, **more)


def talk(*messages: dict[str, Any] | bytes) -> tuple[list[dict[str, Any]], Handover | None]:
    lines = [one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in messages]
    out = io.BytesIO()
    opening = greet(io.BytesIO(b"".join(lines)), out, load_answers("default", read_only=False))
    return [json.loads(line) for line in out.getvalue().splitlines()], opening


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("read_only", [False, True])
def test_the_stored_answers_are_the_ones_the_sdk_gives(
    profile: str, read_only: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    import mcp_answers

    name = f"{profile}_read_only.json" if read_only else f"{profile}.json"
    kept = (mcp_answers.FOLDER / name).read_text(encoding="utf-8")
    assert kept == mcp_answers.stored(profile, read_only=read_only), "run scripts/mcp_answers.py"


def test_a_handshake_is_answered_in_its_own_revision_without_the_sdk() -> None:
    hello = request("a", "initialize", **HELLO)
    answers, opening = talk(hello, BEGUN, request(1, "tools/list"), request(2, "ping"))
    assert opening is None, "the host hung up"
    assert [answer["id"] for answer in answers] == ["a", 1, 2]
    assert answers[0]["result"]["protocolVersion"] == "2025-06-18"
    assert {tool["name"] for tool in answers[1]["result"]["tools"]} > {"search", "add"}
    assert answers[2]["result"] == {}


def test_requests_without_a_handshake_are_answered_as_the_newest_revision_asks_them() -> None:
    answers, opening = talk(modern(1, "server/discover"), modern(2, "tools/list"), modern(3, "tools/call", name="x"))
    assert [answer["id"] for answer in answers] == [1, 2]
    assert opening is not None
    assert (len(opening.lines), opening.answered) == (2, 1)


def test_whoever_goes_on_hears_how_it_began_and_which_answer_was_given() -> None:
    hello, call = request(1, "initialize", **HELLO), request(3, "tools/call", name="search")
    answers, opening = talk(hello, BEGUN, request(2, "tools/list"), call, request(4, "ping"))
    assert [answer["id"] for answer in answers] == [1, 2]
    assert opening is not None
    assert [json.loads(line) for line in opening.lines] == [hello, BEGUN, call]
    assert opening.answered == 1


@pytest.mark.parametrize(
    "odd",
    [
        b"{", b"[1]\n", b"{}\n", b"\xff\xfe\n", b"[" * 5_000 + b"\n",
        {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
        request(1, "initialize", **{**HELLO, "protocolVersion": "1999-01-01"}),
        request(1, "initialize", **{**HELLO, "protocolVersion": 7}),
        request(1, "initialize", **{**HELLO, "clientInfo": {"name": "x"}}),
        request(1, "initialize", **{**HELLO, "capabilities": []}),
        request(True, "initialize", **HELLO),
        request(1, "tools/list"),
        request(1, "initialize", **{**HELLO, "clientInfo": {**CLIENT, "title": "x" * 200_000}}),
        {**request(1, "initialize", **HELLO), "jsonrpc": "1.0"},
        {**request(1, "initialize", **HELLO), "more": 1},
        modern(1, "tools/list", cursor="x"),
        BEGUN,
    ],
)  # fmt: skip
def test_what_is_not_the_usual_first_request_is_left_to_the_sdk(odd: dict[str, Any] | bytes) -> None:
    answers, opening = talk(odd)
    assert answers == []
    assert opening is not None
    assert (len(opening.lines), opening.answered) == (1, None)


@pytest.mark.parametrize(
    "odd",
    [request(2, "tools/list", cursor="x"), request(2, "initialize", **HELLO), modern(2, "tools/list"),
     request(2, "no/such"), {"jsonrpc": "2.0", "id": 2, "result": {}}, b"\x00\n"],
)  # fmt: skip
def test_what_is_unusual_after_the_handshake_is_left_to_the_sdk(odd: dict[str, Any] | bytes) -> None:
    answers, opening = talk(request(1, "initialize", **HELLO), BEGUN, odd)
    assert [answer["id"] for answer in answers] == [1]
    assert opening is not None
    assert len(opening.lines) == 3


def test_a_host_that_only_greets_loads_neither_the_sdk_nor_the_store(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "os._exit = lambda code: (print(*list(sys.modules), file=sys.stderr, flush=True), os.kill(os.getpid(), 9))\n"
        "from recollect.interfaces.start import cli\n"
        "sys.argv = ['recollect', 'mcp']\n"
        "cli()\n"
    )
    lines = [request(1, "initialize", **HELLO), BEGUN, request(2, "tools/list")]
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="".join(json.dumps(line) + "\n" for line in lines),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
        check=False,
    )
    assert len(done.stdout.splitlines()) == 2
    loaded = set(done.stderr.split())
    assert "recollect.interfaces.mcp.greeting" in loaded
    assert not loaded & {"mcp", "anyio", "pydantic", "recollect.app", "recollect.store.store", "apsw"}
