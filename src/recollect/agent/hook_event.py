"""One event of a host's hook in our words: which session, which tool calls, how they were answered.

Hosts spell their fields differently; what is not understood is left out. The disk is asked one thing about a call that
is about to be made: does its path exist, is the text it replaces there? Knows no store; light to load.
"""

from __future__ import annotations

import os
import stat

from recollect.core.digest import short_digest
from recollect.core.lazy import Lazy
from recollect.files.project import find_root_path
from recollect.files.session_file import spell_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from recollect.observer.events import ToolCall

_SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "trajectory_id")
_TURN_KEYS = ("prompt_id", "turn_id", "generation_id", "execution_id")
_CALL_KEYS = ("tool_use_id", "toolUseId", "tool_call_id", "callID")
_FOLDERS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")  # hosts name the project here
_SPOKEN = ("user", "sdk", "")  # who a prompt must come from to be one
_BATCH = "tool_calls"  # a batch tells its calls a second time
_MAX_BATCH = 50  # calls of a batch that are looked at
# Hosts without an event for failures tell the exit code of a command in its text.
_EXITED = Lazy(r"\bexit(?:ed with)?(?: code| status)?[: ]{1,3}[1-9]\d{0,2}\b|\bprocess exited with code [1-9]")
_SAID = ("error", "stderr", "stdout", "llmContent", "text", "content", "output", "result", "message", "returnDisplay")
_EXIT_CHARS = 400  # at either end of a result that such a code is looked for in
_RESULT_CHARS = 20_000  # of a result that are looked at
_KEPT_CHARS = 8_000  # of one string in a kept event, its two ends
_KEPT_ITEMS = 200  # of one list


class HookEvent:
    """One event. `key` is the same whoever tells it again; `answers` are text and failure of each of its calls."""

    __slots__ = (
        "answers", "calls", "event", "folder", "host", "is_named", "key", "payload", "prompt", "session", "source",
    )  # fmt: skip

    def __init__(self, host: str, event: str, payload: Mapping[str, Any], folder: str) -> None:
        self.host = host
        self.event = event
        self.payload = payload
        self.folder = folder
        self.session = spell_name(first_text(payload, *_SESSION_KEYS))
        self.source = first_text(payload, "source")
        prompt = first_text(payload, "prompt", "user_prompt", "userPrompt")
        told = _told_calls(payload, event)
        roots = {find_root_path(folder), os.path.abspath(folder)}
        self.calls = tuple(_read_call(one, event, folder, roots) for one in told)
        self.answers = tuple(_read_answer(one, failed=event == "failed") for one in told)
        turn = first_text(payload, *_TURN_KEYS) if event == "prompt" else ""
        ids = turn or ",".join(filter(None, (first_text(one, *_CALL_KEYS) for one in told)))
        self.is_named = bool(ids)
        what = ids or f"{self.source}|{prompt}|{[(call.tool, call.subject, call.paths) for call in self.calls]}"
        self.key = short_digest(f"{self.session}\x1f{event}\x1f{what}")
        self.prompt = _own_words(prompt) if event == "prompt" and self.source in _SPOKEN else ""

    @property
    def is_spoken(self) -> bool:
        """Did a person write the prompt?"""
        return self.event == "prompt" and self.source in _SPOKEN

    def kept_payload(self) -> dict[str, Any]:
        """What is kept of it: long texts lose their middle, and what we told is left out."""
        return {str(name)[:200]: _clipped(value) for name, value in self.payload.items() if name != _BATCH}

    @property
    def disk(self) -> str:
        """What the disk says of the call that is about to be made."""
        return next((call.disk for call in self.calls), "")


def first_text(payload: Mapping[str, Any], *names: str) -> str:
    """The first of some fields that is text."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def find_folder(payload: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The project directory: as the host's environment says, else where the event happened, else where we are."""
    named = [environment.get(name, "") for name in _FOLDERS]
    roots = payload.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        named.append(roots[0])
    named += [first_text(payload, "cwd", "project_dir", "directory"), os.getcwd()]
    return next(folder for folder in named if folder and os.path.isdir(folder))


# --- calls and their answers ------------------------------------------------------------------------------------------


def _told_calls(payload: Mapping[str, Any], event: str) -> list[Mapping[str, Any]]:
    if event == "step":
        calls: Any = payload.get(_BATCH)
        return [call for call in calls[:_MAX_BATCH] if isinstance(call, dict)] if isinstance(calls, list) else []
    return [payload] if event in ("before", "after", "failed") else []


def _read_call(told: Mapping[str, Any], event: str, folder: str, roots: set[str]) -> ToolCall:
    tool = first_text(told, "tool_name", "toolName", "tool", "name")[:80] or "?"
    given = told.get("tool_input", told.get("toolInput", told.get("tool_info", told.get("args"))))
    if isinstance(given, str) and given[:1] in "{[":
        given = _parsed(given)
    from recollect.observer.tool_calls import is_shell, read_tool_call  # a prompt does without

    call = read_tool_call(tool, given, None, folder=first_text(told, "cwd"))
    touched = next(iter(call.paths), call.inside)
    if event == "before" and touched and isinstance(given, dict) and not is_shell(tool):
        call.disk = look_at_disk(touched, given, folder=folder, roots=roots)
    call.paths = tuple(dict.fromkeys(path for named in call.paths if (path := _inside(named, roots))))
    call.changed = tuple(dict.fromkeys(path for named in call.changed if (path := _inside(named, roots))))
    call.folder = _inside(call.folder, roots) if call.folder else ""
    call.inside = _inside(call.inside, roots) if call.inside else ""
    return call


def _inside(path: str, roots: set[str]) -> str:
    """A path as the project spells it, wherever the agent's working copy is."""
    plain = path.replace("\\", "/")
    if not os.path.isabs(plain):
        return plain
    for root in sorted(roots, key=len, reverse=True):
        base = root.replace("\\", "/").rstrip("/") + "/"
        if plain.startswith(base):
            return plain[len(base) :]
    return ""


def _read_answer(told: Mapping[str, Any], *, failed: bool) -> tuple[str, bool]:
    """The text of a result, its two ends, and whether it failed."""
    answer = told.get("tool_response", told.get("tool_output", told.get("error", told.get("toolResponse"))))
    if isinstance(answer, str) and answer[:1] == "{" and len(answer) < 200_000:
        answer = _parsed(answer)
    failed = failed or bool(told.get("error") or told.get("is_error"))
    if isinstance(answer, dict):
        failed = failed or bool(answer.get("is_error") or answer.get("isError") or answer.get("error"))
        file = answer.get("file")
        said = [answer.get(name) for name in _SAID] + [file.get("content") if isinstance(file, dict) else None]
        answer = "\n".join(part for part in map(_plain, said) if part)
    text = _plain(answer)
    ends = f"{text[:_EXIT_CHARS]}\n{text[-_EXIT_CHARS:]}"
    failed = failed or ("exit" in ends.casefold() and _EXITED.search(ends) is not None)
    if len(text) > _RESULT_CHARS:
        text = text[: _RESULT_CHARS // 2] + text[-_RESULT_CHARS // 2 :]
    return text, failed


def _plain(value: Any) -> str:
    """Text, plain or in blocks."""
    if isinstance(value, list):
        return "\n".join(part["text"] for part in value if isinstance(part, dict) and isinstance(part.get("text"), str))
    return value if isinstance(value, str) else ""


def _parsed(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _own_words(text: str) -> str:
    """A text without what we told: some hosts hand it back to us."""
    from recollect.privacy.fence import own_words

    return own_words(text)


def _clipped(value: Any, depth: int = 7) -> Any:
    """The same structure with every long text cut to its two ends and everything we told an agent taken out."""
    if isinstance(value, str):
        text = _own_words(value)
        half = _KEPT_CHARS // 2
        return text if len(text) <= _KEPT_CHARS else f"{text[:half]}\n…\n{text[-half:]}"
    if isinstance(value, dict):
        return {str(key)[:200]: _clipped(item, depth - 1) for key, item in value.items()} if depth else {}
    if isinstance(value, list):
        return [_clipped(item, depth - 1) for item in value[:_KEPT_ITEMS]] if depth else []
    return value


# --- what the disk says -----------------------------------------------------------------------------------------------

MISSING, ABSENT, SEVERAL = "missing", "absent", "several"  # no such path; text not in the file; more than once in it
_OLD_KEYS = ("old_string", "old_str", "oldString", "old_text")
_ALL_KEYS = ("replace_all", "replaceAll", "expected_replacements", "allow_multiple")  # then several are what is wanted
_MAX_FILE_BYTES = 1_000_000  # of a file that is looked into


def look_at_disk(path: str, given: Mapping[str, Any], *, folder: str, roots: Iterable[str]) -> str:
    """The word for a call that touches `path`; nothing when all is as it should be, or it is none of our business.

    One look at one file, only inside the project, links followed and checked; what is read is compared and let go. The
    word is kept with the event, so that it is learnt whether such calls fail here.
    """
    try:
        whole = os.path.realpath(os.path.join(folder, path))
        if not any(_is_within(whole, os.path.realpath(root)) for root in roots):
            return ""
        found = os.stat(whole)
        old = next((value for name in _OLD_KEYS if isinstance(value := given.get(name), str) and value), "")
        if not old or not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_FILE_BYTES:
            return ""
        with open(whole, "rb") as file:
            text = file.read(_MAX_FILE_BYTES + 1).replace(b"\r\n", b"\n")
    except FileNotFoundError:
        return MISSING
    except (OSError, ValueError):
        return ""
    times = text.count(old.replace("\r\n", "\n").encode("utf-8", "replace"))
    wanted = any(given.get(name) for name in _ALL_KEYS)
    return ABSENT if times == 0 else SEVERAL if times > 1 and not wanted else ""


def _is_within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)
