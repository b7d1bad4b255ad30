"""One event of a host's hook, whichever host: what it says in our words, what is answered, what is kept of it.

The same for the hook process and for the warm server that hosts may ask instead. An event is kept and answered once,
because several hosts may read the same settings and call for the same event. Light to load.
"""

from __future__ import annotations

import os

from recollect.agent.experiment import NAME as ARM
from recollect.agent.experiment import chosen_arm
from recollect.agent.inject import Teller
from recollect.agent.moments import BEFORE, FIRST_MESSAGE, PROMPT, STEP, SYSTEM_PROMPT, TOOL_RESULT, rendered, speaks
from recollect.agent.spool import Spool, Story
from recollect.agent.trust import NAME as LEVEL
from recollect.agent.trust import known_level
from recollect.core.digest import short_digest
from recollect.core.lazy import Lazy
from recollect.files.root import FOLDER, STORE, root_of, user_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from recollect.agent.inject import Search
    from recollect.agent.moments import Moment
    from recollect.core.summary import MemorySummary
    from recollect.observer.events import ToolCall
    from recollect.store.sqlite.hook_reader import HookReader

    Open = Callable[..., HookReader]

_SESSION = ("session_id", "sessionId", "conversation_id", "trajectory_id")
_TURN = ("prompt_id", "turn_id", "generation_id", "execution_id")
_CALL = ("tool_use_id", "toolUseId", "tool_call_id", "callID")
_FOLDERS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")  # hosts name the project here
_CUT_OFF = frozenset({"compact", "clear"})  # ways to start after which the host's context is empty
_SPOKEN = ("user", "sdk", "")  # who a prompt must come from to be one
_AGAIN = "tool_calls"  # a batch tells its calls a second time
_OWN = 3  # of the person's own memories beside the project's
# Hosts without an event for failures tell the exit code of a command in its text.
_EXITED = Lazy(r"\bexit(?:ed with)?(?: code| status)?[: ]{1,3}[1-9]\d{0,2}\b|\bprocess exited with code [1-9]")
_SAID = ("error", "stderr", "stdout", "llmContent", "text", "content", "output", "result", "message", "returnDisplay")
_ENDS = 400  # characters at either end of a result that such a code is looked for in
_RESULT_READ = 20_000  # characters of a result that are looked at


class Heard:
    """One event: which session, which of our events, and what it carries."""

    __slots__ = (
        "answers",
        "calls",
        "event",
        "folder",
        "host",
        "key",
        "named",
        "payload",
        "prompt",
        "session",
        "source",
    )

    def __init__(self, host: str, event: str, payload: Mapping[str, Any], folder: str) -> None:
        self.host = host
        self.event = event
        self.payload = payload
        self.folder = folder
        self.session = text_of(payload, *_SESSION)
        self.prompt = text_of(payload, "prompt", "user_prompt", "userPrompt")
        self.source = text_of(payload, "source")
        roots = {root_of(folder), os.path.abspath(folder)}
        told = _told_calls(payload, event)
        self.calls = tuple(_call(one, event, folder, roots) for one in told)
        self.answers = tuple(_result(one, failed=event == "failed") for one in told)  # of each call: text, failed
        turn = text_of(payload, *_TURN) if event == "prompt" else ""
        ids = turn or ",".join(filter(None, (text_of(one, *_CALL) for one in told)))
        self.named = bool(ids)
        what = ids or f"{self.source}|{self.prompt}|{[(one.tool, one.subject, one.paths) for one in self.calls]}"
        self.key = short_digest(f"{self.session}\x1f{event}\x1f{what}")


class Hook:
    """Answers events of one host at one moment. `now` is milliseconds since 1970, `letters` the most the host takes;
    `read` opens a store, and a warm process may bring a better `search`."""

    def __init__(
        self,
        *,
        now: int,
        read: Open,
        nonce: Callable[[], str],
        letters: int,
        steps_after_tool: bool,
        search: Search | None = None,
        arm: str | None = None,
    ) -> None:
        self._now = now
        self._read = read
        self._nonce = nonce
        self._letters = letters
        self._steps_after_tool = steps_after_tool
        self._search = search
        self._arm = arm

    def hear(self, heard: Heard, *, answers: bool) -> tuple[str, list[str]]:
        """Take an event in, once: what the agent is told, and what went wrong on the way."""
        folder = os.path.join(root_of(heard.folder), FOLDER)
        store = os.path.join(folder, STORE)
        if not heard.session:
            return "", ["the event names no session"]
        if not os.path.exists(store):
            return "", [f"no store for {heard.folder}"]
        spool = Spool(folder, heard.session)
        story = spool.first(heard.key, heard.event, self._now, named=heard.named, host=heard.host)
        if story is None:
            return "", []
        text, troubles = "", []
        if heard.event == "start" and heard.source in _CUT_OFF:
            spool.begin_anew(self._now)
            story.given.clear()
        if answers:
            try:
                text = self._answer(heard, spool, story, store)
            except Exception as trouble:  # an answer that fails must not lose the event
                troubles.append(f"no answer: {type(trouble).__name__}: {trouble}")
        try:
            self._follow(heard, spool, story)
        except (OSError, ValueError) as trouble:  # the next warnings go without: they trust no slate that missed one
            troubles.append(f"not followed: {trouble}")
        try:
            kept = {name: value for name, value in heard.payload.items() if name != _AGAIN}
            spool.capture(heard.host, kept, self._now, disk=next((call.disk for call in heard.calls), ""))
        except (OSError, ValueError, RecursionError) as trouble:
            troubles.append(f"not kept: {trouble}")
        return text, troubles

    def _answer(self, heard: Heard, spool: Spool, story: Story, store: str) -> str:
        moment = _moment(heard, story)
        if moment is None:
            return ""
        reader = self._read(store, now=self._now)
        arm = chosen_arm(self._arm or reader.meta(ARM), heard.session, reader.project)
        if not speaks(moment, arm):
            return ""
        given = story.given | reader.told_in(heard.session)
        level = known_level(reader.meta(LEVEL))
        teller = Teller(reader, session=heard.session, level=level, given=given, search=self._search)
        chosen = self._chosen(heard, teller, moment, story)
        if moment in (SYSTEM_PROMPT, FIRST_MESSAGE, PROMPT):
            chosen += self._personal(heard, moment, level, given)
        chosen = _fitting(chosen, moment, self._letters)
        claimed = set(spool.claim([known.id for known in chosen], moment.name, self._now)) if chosen else set()
        text = rendered([known for known in chosen if known.id in claimed], moment, nonce=self._nonce())
        return text or (self._foreseen(heard, reader, spool, story, level) if moment is BEFORE else "")

    def _foreseen(self, heard: Heard, reader: HookReader, spool: Spool, story: Story, level: str) -> str:
        """A warning from what calls like this met before."""
        from recollect.agent.watchful import foreseen, told

        for call in heard.calls[:1]:
            match = foreseen(call, reader, spool, story, level=level, now=self._now)
            if match is not None:
                return told(match, nonce=self._nonce())
        return ""

    def _follow(self, heard: Heard, spool: Spool, story: Story) -> None:
        from recollect.agent.watchful import follow

        spoken = own(heard.prompt) if heard.event == "prompt" and heard.source in _SPOKEN else ""
        follow(heard.event, heard.calls, heard.answers, spoken, spool, story)

    def _chosen(self, heard: Heard, teller: Teller, moment: Moment, story: Story) -> list[MemorySummary]:
        began, counts = story.began or self._now, story.counts
        if moment is SYSTEM_PROMPT:
            return teller.at_start()
        if moment in (FIRST_MESSAGE, PROMPT):
            asked = own(heard.prompt)
            patterns = teller.prefetch(asked)[:1] if moment is FIRST_MESSAGE else []
            return [*teller.for_prompt(asked, first=moment is FIRST_MESSAGE), *patterns]
        if moment is STEP:
            return teller.for_step(heard.calls, step=counts.get("step", 0), since=began)
        found: list[MemorySummary] = []
        for call, (text, failed) in zip(heard.calls, heard.answers, strict=True):
            if moment is BEFORE:
                found += teller.for_action(call)
            else:
                found += teller.for_result(call, text, failed=failed)
        if moment is TOOL_RESULT and self._steps_after_tool and not found:
            done = counts.get("after", 0) + counts.get("failed", 0)
            found = teller.for_step(heard.calls, step=done, since=began)
        return found[: moment.most]

    def _personal(self, heard: Heard, moment: Moment, level: str, given: set[str]) -> list[MemorySummary]:
        """What the person taught for themselves, whatever the project."""
        path = os.path.join(user_folder(), STORE)
        if not os.path.exists(path):
            return []
        teller = Teller(self._read(path, now=self._now), session=heard.session, level=level, given=given)
        if moment is SYSTEM_PROMPT:
            return teller.at_start()[:_OWN]
        return teller.for_prompt(own(heard.prompt), first=False)[:_OWN]


def _moment(heard: Heard, story: Story) -> Moment | None:
    match heard.event:
        case "start":
            return SYSTEM_PROMPT
        case "prompt" if heard.source in _SPOKEN:
            return FIRST_MESSAGE if story.counts.get("prompt", 0) <= 1 else PROMPT
        case "before":
            return BEFORE
        case "after" | "failed":
            return TOOL_RESULT
        case "step":
            return STEP
    return None


def _fitting(chosen: Sequence[MemorySummary], moment: Moment, letters: int) -> list[MemorySummary]:
    """As many as the host takes; an item costs its text and some two hundred letters around it."""
    kept: list[MemorySummary] = []
    room = letters - 200
    for known in chosen:
        room -= min(len(known.content), moment.text) + 260
        if room < 0:
            break
        kept.append(known)
    return kept


def own(text: str) -> str:
    """A prompt without what we told: some hosts hand it back to us."""
    from recollect.privacy.fence import own_words

    return own_words(text)


def text_of(payload: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def folder_of(payload: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """The project directory: as the host's environment says, else where the event happened, else where we are."""
    named = [environment.get(name, "") for name in _FOLDERS]
    roots = payload.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        named.append(roots[0])
    named += [text_of(payload, "cwd", "project_dir", "directory"), os.getcwd()]
    return next(one for one in named if one and os.path.isdir(one))


def _told_calls(payload: Mapping[str, Any], event: str) -> list[Mapping[str, Any]]:
    if event == "step":
        calls: Any = payload.get("tool_calls")
        return [one for one in calls[:50] if isinstance(one, dict)] if isinstance(calls, list) else []
    if event in ("before", "after", "failed"):
        return [payload]
    return []


def _call(told: Mapping[str, Any], event: str, folder: str, roots: set[str]) -> ToolCall:
    tool = text_of(told, "tool_name", "toolName", "tool", "name")[:80] or "?"
    given = told.get("tool_input", told.get("toolInput", told.get("tool_info", told.get("args"))))
    if isinstance(given, str) and given[:1] in "{[":
        given = _parsed(given)
    from recollect.observer.tool_calls import is_shell, read_tool_call  # a prompt does without

    call = read_tool_call(tool, given, None)
    touched = next(iter(call.paths), call.inside)
    if event == "before" and touched and isinstance(given, dict) and not is_shell(tool):
        from recollect.agent.disk import looked

        call.disk = looked(touched, given, folder=folder, roots=roots)
    call.paths = tuple(dict.fromkeys(path for one in call.paths if (path := _inside(one, roots))))
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


def _result(told: Mapping[str, Any], *, failed: bool) -> tuple[str, bool]:
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
    failed = failed or _EXITED.search(f"{text[:_ENDS]}\n{text[-_ENDS:]}") is not None
    return (text if len(text) <= _RESULT_READ else text[: _RESULT_READ // 2] + text[-_RESULT_READ // 2 :]), failed


def _plain(value: Any) -> str:
    """Text, plain or in blocks."""
    if isinstance(value, list):
        return "\n".join(one["text"] for one in value if isinstance(one, dict) and isinstance(one.get("text"), str))
    return value if isinstance(value, str) else ""


def _parsed(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
