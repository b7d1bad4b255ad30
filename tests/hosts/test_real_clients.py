"""The real Claude Code, Codex, Gemini CLI and opencode with Recollect installed, against a model that only notes what
it is sent. The claims are about those request bodies: what is not in them, no model would have read."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from hosts.clients import CLIENTS, Client
from hosts.model import LAST_WORD
from hosts.scene import PROMPT, Scene, scene
from recollect.files.session_file import session_files

pytestmark = pytest.mark.hosts
ALL = sorted(CLIENTS)

# Where a host lets us speak, and by which of its events.
POINTS = {
    "claude-code": {
        "session start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "before a tool": "PreToolUse",
        "after a tool": "PostToolUse",
        "between steps": "PostToolBatch",
    },
    "codex": {
        "session start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "before a tool": "PreToolUse",
        "after a tool": "PostToolUse",
    },
    "gemini": {"session start": "SessionStart", "prompt": "BeforeAgent", "after a tool": "AfterTool"},
    "opencode": {
        "session start": "SessionStart",
        "prompt": "UserPromptSubmit",
        "before a tool": "PreToolUse",
        "after a tool": "PostToolUse",
        "between steps": "PostToolBatch",
    },
}
_CASES = [(host, point) for host in ALL for point in POINTS[host]]

# What the real hook is to say, each at its own point, and the commands that bring the points about.
START = "Releases of this project are cut on Tuesdays only, STARTWORD."
ASKED = "The harbour service is deployed with the blue crane, never by hand, PROMPTWORD."
BEFORE = "The berthcheck tides command hangs unless TIDE_TABLE is set, BEFOREWORD."
AFTER = "ops/quay.py must keep 8080, the proxy expects it, AFTERWORD."
BETWEEN = "The lighthouse keeper rotates the certificates, STEPWORD."
_WORDS = {
    "session start": "STARTWORD",
    "prompt": "PROMPTWORD",
    "before a tool": "BEFOREWORD",
    "after a tool": "AFTERWORD",
    "between steps": "STEPWORD",
}


def _commands() -> list[str]:
    recollect = Path(sys.executable).parent / "recollect"
    return [
        "echo berthcheck tides",
        "cat ops/quay.py",
        f"{recollect} remember --kind gotcha '{BETWEEN}'",
        "echo four",
        "echo five",
        "echo six",
        "echo seven",
    ]


@pytest.fixture(scope="module", autouse=True)
def _fetched() -> None:
    for client in CLIENTS.values():
        client.fetch()


class _Cast:
    """Scenes that several claims are about, each played once."""

    def __init__(self) -> None:
        self._open: list[object] = []
        self.play = lru_cache(maxsize=None)(self._play)

    def _play(self, host: str, kind: str) -> Scene:
        opened = scene(CLIENTS[host])
        made = opened.__enter__()
        self._open.append(opened)
        _prepare(made, kind)
        return made

    def close(self) -> None:
        for opened in self._open:
            opened.__exit__(None, None, None)  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def cast() -> Iterator[_Cast]:
    made = _Cast()
    yield made
    made.close()


def _prepare(made: Scene, kind: str) -> None:
    if kind == "real":
        made.recollect("init")
        made.recollect("remember", "--kind", "preference", START)
        made.recollect("remember", "--kind", "fact", ASKED)
        made.recollect("remember", "--kind", "error_pattern", BEFORE)
        made.recollect("remember", "--kind", "gotcha", "--file", "ops/quay.py", AFTER)
        made.install()
        made.ask(commands=_commands())
    elif kind == "none":
        made.ask()
    else:
        made.install(strange=kind)
        made.ask()


def _finished(made: Scene) -> None:
    assert made.run is not None
    assert made.run.code == 0, made.run.said[-3000:]
    assert LAST_WORD in made.run.said, made.run.said[-3000:]


# --- our words reach the model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("host", "point"), _CASES)
def test_what_a_hook_answers_is_in_the_request_the_model_gets(cast: _Cast, host: str, point: str) -> None:
    made = cast.play(host, "echo")
    _finished(made)
    word = f"HEARD-{POINTS[host][point]}"
    turns, events = made.turns(), [one["hook_event_name"] for one in made.heard]
    if point in ("session start", "prompt"):
        assert word in turns[0], events
    else:
        assert word not in turns[0]
        assert word in turns[1], events


@pytest.mark.parametrize(("host", "point"), [case for case in _CASES if case[1] != "between steps"])
def test_the_right_memory_is_in_the_request_the_model_gets(cast: _Cast, host: str, point: str) -> None:
    made = cast.play(host, "real")
    _finished(made)
    turns = made.turns()
    if point in ("session start", "prompt"):
        assert _WORDS[point] in turns[0], _log(made)
    else:
        assert _WORDS[point] not in turns[0]
        assert _WORDS[point] in turns[-1], _log(made)


@pytest.mark.parametrize("host", ALL)
def test_what_is_learnt_meanwhile_arrives_between_steps(cast: _Cast, host: str) -> None:
    """Where a host has no such event, the result of the tool before carries it."""
    made = cast.play(host, "real")
    said = [turn for turn in made.turns() if "lighthouse keeper rotates the certificates, STEPWORD.\n" in _fenced(turn)]
    assert said, _log(made)


@pytest.mark.parametrize("host", ALL)
def test_nothing_is_told_twice_in_a_session(cast: _Cast, host: str) -> None:
    made = cast.play(host, "real")
    last = made.turns()[-1]
    assert {word: _fenced(last).count(word) for word in _WORDS.values() if word in _fenced(last)} == {
        word: 1 for point, word in _WORDS.items() if point in POINTS[host] or point == "between steps"
    }


@pytest.mark.parametrize("host", ALL)
def test_the_server_is_connected_and_its_tools_are_offered(cast: _Cast, host: str) -> None:
    """By name at least: some hosts keep the descriptions back until a model looks for them."""
    made = cast.play(host, "real")
    assert any("recollect" in turn and "feedback" in turn for turn in made.turns())


# --- capture ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ALL)
def test_every_call_and_the_prompt_are_captured_once(cast: _Cast, host: str) -> None:
    made = cast.play(host, "real")
    kept = _captured(made)
    prompts = [one for one in kept if PROMPT in str(one.get("prompt", "")) and "prompt_response" not in one]
    assert len(prompts) == 1
    for command in _commands():
        calls = [one for one in kept if _command(one) == command]
        assert len(calls) == 1, (command, len(calls))


@pytest.mark.parametrize("host", ALL)
def test_what_we_told_is_not_captured_as_if_it_had_been_said(cast: _Cast, host: str) -> None:
    made = cast.play(host, "real")
    whole = json.dumps(_captured(made))
    assert "STARTWORD" not in whole
    assert "PROMPTWORD" not in whole


@pytest.mark.parametrize("host", ALL)
def test_installed_for_person_and_project_an_event_still_counts_once(host: str) -> None:
    with scene(CLIENTS[host]) as made:
        made.recollect("init")
        made.recollect("remember", "--kind", "preference", START)
        made.install()
        made.install("--project")
        made.ask()
        _finished(made)
        kept = _captured(made)
        assert sum(_command(one) == "echo alpha-output" for one in kept) == 1
        assert _fenced(made.turns()[-1]).count("STARTWORD") == 1


# --- trouble ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ALL)
@pytest.mark.parametrize("trouble", ["crash", "missing", "flood"])
def test_a_broken_hook_does_not_break_the_host(cast: _Cast, host: str, trouble: str) -> None:
    made = cast.play(host, trouble)
    _finished(made)
    assert "alpha-output" in made.turns()[-1]
    assert "omega-output" in made.turns()[-1]


@pytest.mark.parametrize("host", ALL)
def test_a_hung_hook_delays_the_host_by_its_timeout_at_most(cast: _Cast, host: str) -> None:
    """Each event waits two seconds for us and goes on; what the host itself takes is known from a run without us."""
    made, without = cast.play(host, "hang"), cast.play(host, "none")
    _finished(made)
    assert made.run is not None
    assert without.run is not None
    assert len(made.heard) >= 4
    assert made.run.seconds < 3 * without.run.seconds + 2.5 * (len(made.heard) + 1) + 5
    assert "omega-output" in made.turns()[-1]


@pytest.mark.parametrize("host", ALL)
@pytest.mark.parametrize("fault", ["no store", "damaged store", "hanging store", "blocked spool"])
def test_a_store_in_trouble_does_not_break_the_host(host: str, fault: str) -> None:
    with scene(CLIENTS[host]) as made:
        made.recollect("init")
        folder = made.project / ".recollect"
        made.install()
        if fault == "no store":
            for file in folder.glob("memory.db*"):
                file.unlink()
        elif fault == "damaged store":
            (folder / "memory.db").write_bytes(b"not a database at all" * 500)
        elif fault == "hanging store":
            (folder / "memory.db").unlink()
            os.mkfifo(folder / "memory.db")  # whoever opens it waits for ever, but for the hook's own deadline
        else:
            (folder / "spool").write_text("a file where a folder should be", encoding="utf-8")
        made.ask()
        _finished(made)
        assert "omega-output" in made.turns()[-1]
        assert _log(made), "the reason is nowhere to be read"


# --- and out again ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ALL)
@pytest.mark.parametrize("scope", ["--user", "--project"])
def test_after_a_real_session_uninstalling_restores_every_file(host: str, scope: str) -> None:
    with scene(CLIENTS[host]) as made:
        made.recollect("init")
        made.ask()  # the host's own first-run files are there before us
        before = made.files()
        made.install(scope)
        installed = made.files()
        assert installed != before
        made.install(scope)
        assert made.files() == installed, "a second installation changed something"
        made.ask()
        assert _captured(made), "installed, and not heard"
        made.recollect("uninstall", host, scope)
        after = made.files()
        ours = {name for name in installed if installed[name] != before.get(name)}
        assert {name: after.get(name) for name in ours} == {name: before.get(name) for name in ours}
        assert not [name for name, text in after.items() if b"recollect-hook" in text and not _is_history(name)]


def test_codex_skips_our_hooks_until_a_person_trusts_them_and_doctor_says_so() -> None:
    codex = CLIENTS["codex"]
    with scene(codex) as made:
        made.recollect("init")
        made.recollect("remember", "--kind", "preference", START)
        made.install()
        careful = Client(
            codex.host, codex.package, codex.version, codex.program, False, codex.settings, _without_bypass(codex)
        )
        Scene(careful, made.root).ask()
        assert not (made.project / ".recollect" / "spool").exists()
        told = made.recollect("doctor")
        assert any("codex" in worry and "/hooks" in worry for worry in told["worries"]), told


# --- reading what happened -------------------------------------------------------------------------------------------


def _captured(made: Scene) -> list[dict[str, object]]:
    """Every event the hook kept, of all sessions."""
    files = session_files(str(made.project / ".recollect"))
    return [json.loads(line)["payload"] for file in files for line in file.events()]


def _command(payload: dict[str, object]) -> str:
    if not ("tool_response" in payload or "tool_output" in payload):
        return ""
    given = payload.get("tool_input")
    return str(given.get("command", "")) if isinstance(given, dict) else ""


def _fenced(turn: str) -> str:
    """Only what stands inside our blocks."""
    text = turn.replace("\\n", "\n").replace('\\"', '"').replace("&lt;", "<")
    pieces, _, rest = [], *text.partition("<recollect")[1:]
    while rest:
        inside, _, rest = rest.partition("</recollect")
        pieces.append(inside)
        rest = rest.partition("<recollect")[2]
    return "\n".join(pieces)


def _log(made: Scene) -> str:
    log = made.home / ".local" / "state" / "recollect" / "hook.log"
    return log.read_text(encoding="utf-8") if log.exists() else ""


def _is_history(name: str) -> bool:
    """Files in which a host notes what happened: transcripts, logs, its own backups and databases."""
    return any(part in name for part in ("projects/", "sessions/", "sqlite", "/log", "history", "tmp/", "storage"))


def _without_bypass(client: Client):  # type: ignore[no-untyped-def]
    return lambda prompt, port: [word for word in client.command(prompt, port) if "bypass" not in word]
