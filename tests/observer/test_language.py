"""Fingerprints, language and deeds: what is the same trouble, what is a turn, what a call amounts to."""

from __future__ import annotations

import pytest

from recollect.observer.events import ActionType
from recollect.observer.language import Correction, find_agent_correction, fingerprint
from recollect.observer.tool_calls import read_tool_call


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("src/a.go:12:3: undefined: foo", "cmd/x/b.go:991:17: undefined: foo"),
        ("KeyError: 'alpha'", "KeyError: 'beta'"),
        ("fatal: bad object 3f2a9c1d0", "fatal: bad object 99ab01cd2"),
        ("segfault error at 0x7ffe01", "segfault error at 0x10"),
        ("Exit code 1\nerror: port 80 refused", "Exit code 2\nerror: port 8080 refused"),
        ("<tool_use_error>File has not been read yet.</tool_use_error>", "File has not been read yet."),
        ("job 6b1f0c1e-1111-4222-8333-abcdefabcdef failed", "job 0b1f0c1e-9999-4222-8333-abcdefabcdef failed"),
    ],
)
def test_the_same_trouble_elsewhere_has_the_same_fingerprint(one: str, other: str) -> None:
    assert fingerprint(one).key == fingerprint(other).key


def test_text_a_tool_quotes_back_is_not_taken_for_the_trouble() -> None:
    told = "<tool_use_error>Found 2 matches of the string to replace.\nString: return fmt.Errorf(x)</tool_use_error>"
    assert fingerprint(told).line == "Found 2 matches of the string to replace."


def test_the_exact_line_is_told_before_a_summary() -> None:
    assert fingerprint("[lint] ERROR task failed\nx.go:3: error is not nil").line == "x.go:3: error is not nil"
    assert fingerprint("[lint] ERROR task failed").line == "[lint] ERROR task failed"


def test_other_troubles_have_other_fingerprints() -> None:
    texts = ["undefined: foo", "undefined: bar", "permission denied", "KeyError: 'x'", "ValueError: 'x'", ""]
    assert len({fingerprint(text).key for text in texts}) == len(texts)


@pytest.mark.parametrize(
    "text",
    [
        "I was wrong about the cache.",
        "My mistake, the path differs.",
        "Let me reconsider the design.",
        "I initially thought it was cached.",
        "Correction: it is per user.",
        "Wait, that isn't the handler.",
        "Actually, it reads the file, not the index of it.",
        "Turns out the flag is not used.",
    ],
)
def test_an_agent_correcting_itself_is_heard(text: str) -> None:
    said = find_agent_correction(f"Looking at the code. {text}")
    assert said is not None
    assert (said.turn, said.sentence) == (Correction.OWN, text)


@pytest.mark.parametrize(
    "text",
    [
        "This approach won’t work.",
        "I should abandon this approach.",
        "Let me try a different approach.",
        "Docker is not available in this sandbox.",
        "That is a dead end.",
        "That didn't work.",
    ],
)
def test_a_dead_end_is_heard(text: str) -> None:
    said = find_agent_correction(text)
    assert said is not None
    assert said.turn is Correction.DEAD_END


@pytest.mark.parametrize("text", ["", "no problem, go on", "thanks, now add a test", "wait for CI", "The tests pass."])
def test_ordinary_talk_is_no_turn(text: str) -> None:
    assert find_agent_correction(text) is None


@pytest.mark.parametrize(
    ("command", "act", "paths", "subject"),
    [
        ("cd /p && cat src/a.py | head", ActionType.READ, ("src/a.py",), None),
        ("sed -n '1,20p' /p/a.py", ActionType.READ, ("a.py",), None),
        ("sed -i 's/a b/c/' a.py", ActionType.EDIT, ("a.py",), None),
        ("rg -n 'func Foo|Bar' src", ActionType.SEARCH, (), "func Foo|Bar"),
        ("FOO=1 sudo curl https://x", ActionType.EXTERNAL, (), None),
        ("go test ./...", ActionType.RUN, (), "go test ./..."),
        ("echo 'never closed", ActionType.RUN, (), None),
        ("", ActionType.RUN, (), ""),
    ],
)
def test_a_shell_command_is_read_as_the_deed_it_is(
    command: str, act: ActionType, paths: tuple[str, ...], subject: str | None
) -> None:
    done = read_tool_call("Bash", {"command": command}, "/p")
    assert (done.action, done.paths) == (act, paths)
    assert subject is None or done.subject == subject


def test_a_patch_names_the_files_it_edits() -> None:
    patch = "*** Begin Patch\n*** Update File: /p/a.py\n@@\n*** Add File: b.py\n*** End Patch"
    assert read_tool_call("apply_patch", patch, "/p").paths == ("a.py", "b.py")


@pytest.mark.parametrize(
    ("tool", "given", "act"),
    [
        ("run_shell_command", {"command": "make test"}, "run"),
        ("run_shell_command", {"command": "cat a.py"}, "read"),
        ("replace", {"file_path": "/p/a.py"}, "edit"),
        ("search_file_content", {"pattern": "x"}, "search"),
        ("google_web_search", {"query": "x"}, "external"),
    ],
)
def test_the_tools_of_gemini_cli_are_understood(tool: str, given: dict[str, str], act: str) -> None:
    assert read_tool_call(tool, given, "/p").action == act
