"""Answering one event of a host's hook: what the agent is told, what is noted in the session's file.

The same for the hook process and for the warm server that hosts may ask instead. An event is kept and answered once,
because several hosts may read the same settings and call for the same event. Light to load.
"""

from __future__ import annotations

import os

from recollect.agent.injection import (
    ARM_META,
    BEFORE,
    FIRST_MESSAGE,
    PROMPT,
    STEP,
    SYSTEM_PROMPT,
    TOOL_RESULT,
    InjectionSelector,
    choose_arm,
    reads_like_orders,
    render_block,
)
from recollect.agent.trust import CAUTIOUS, LEVEL_META, known_level
from recollect.files.former_names import FormerNames
from recollect.files.mark import StoreOrigin, foreign_notice
from recollect.files.plain import require_own_folder
from recollect.files.project import FOLDER, FOLLOWED, STORE, find_root_path, user_folder
from recollect.files.session_file import SessionFile
from recollect.privacy.glance import may_hold_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Any

    from recollect.agent.hook_event import HookEvent
    from recollect.agent.injection import Moment, Search
    from recollect.core.summary import MemorySummary
    from recollect.files.session_file import ToldRecord
    from recollect.observer.events import ToolCall
    from recollect.observer.failure_patterns import Match
    from recollect.store.hook_reader import HookReader

    OpenReader = Callable[..., HookReader]


def open_reader(path: str, *, now: int) -> HookReader:
    """The store in a file, read the lean way."""
    from recollect.store.sqlite.hook_file import open_hook_reader  # an event that is only kept does without

    return open_hook_reader(path, now=now)


def is_store_of(folder: str, store: str) -> bool:
    """Is it the store of the project that a folder belongs to?"""
    found = os.path.join(find_root_path(folder), FOLDER, STORE)
    return os.path.realpath(found) == os.path.realpath(store)


_CUT_OFF = frozenset({"compact", "clear"})  # ways to start after which the host's context is empty
_SHOWN, _SHOWN_CHARS = 3, 60  # of what was told that the person is shown: memories, and characters of each
_PERSONAL = 3  # of the person's own memories beside the project's
_ANSWER_COST, _ITEM_COST = 200, 260  # characters around an answer, and around each item of it
WARNING_HEAD = "failed before"


class Hook:
    """Answers events of one host at one moment. `now` is milliseconds since 1970, `max_chars` the most the host takes;
    `read` opens a store, and a warm process may bring a better `search`."""

    def __init__(
        self,
        *,
        now: int,
        read: OpenReader,
        nonce: Callable[[], str],
        max_chars: int,
        steps_after_tool: bool,
        search: Search | None = None,
        arm: str | None = None,
        shows: bool = False,
    ) -> None:
        self._now = now
        self._read = read
        self._nonce = nonce
        self._max_chars = max_chars
        self._steps_after_tool = steps_after_tool
        self._search = search
        self._arm = arm
        self._shows = shows  # whether the person sees what the agent is told
        self.notice = ""  # what the person, not the agent, should be told

    def take(self, event: HookEvent, *, answers: bool) -> tuple[str, list[str]]:
        """Take an event in, once: what the agent is told, and what went wrong on the way."""
        folder = os.path.join(find_root_path(event.folder), FOLDER)
        store = os.path.join(folder, STORE)
        if not event.session:
            return "", ["the event names no session"]
        if not os.path.exists(store):
            return "", [f"no store for {event.folder}"]
        require_own_folder(folder)  # a link would lead to another project's
        payload, session = screen_event(event)
        file = SessionFile.of(folder, session, host=event.host)
        if not file.take_event(event.key, event.event, self._now, named=event.is_named):
            return "", []
        text, troubles = "", []
        try:  # before the answer, which may run out of time
            file.append_event(event.host, payload, self._now, disk=event.disk)
        except (OSError, ValueError, RecursionError) as trouble:
            troubles.append(f"not kept: {trouble}")
        if event.event == "start" and event.source in _CUT_OFF:
            file.empty_context(self._now)
        if answers:
            try:
                text = self._answer(event, file, store)
            except Exception as trouble:  # never into the host
                troubles.append(f"no answer: {type(trouble).__name__}: {trouble}")
        try:
            follow(event.event, file, calls=event.calls, answers=event.answers, prompt=event.prompt)
        except (OSError, ValueError) as trouble:  # the next warnings go without: they trust no file that missed one
            troubles.append(f"not followed: {trouble}")
        return text, troubles

    def _answer(self, event: HookEvent, file: SessionFile, store: str) -> str:
        moment = _moment_of(event, file)
        if moment is None:
            return ""
        reader = self._read(store, now=self._now)
        if doubt := StoreOrigin(store, reader.file_meta).doubt:
            if file.warn("foreign", ("foreign",), self._now):  # once a session
                self.notice = foreign_notice(doubt)
            return self._tell_personal(event, moment, file)
        if not moment.speaks(choose_arm(self._arm or reader.meta(ARM_META), event.session, reader.project)):
            return ""
        reader.former_names = FormerNames(find_root_path(event.folder), reader.meta(FOLLOWED)).add_to
        if not file.is_seeded:
            file.seed(reader.told_in(event.session), self._now)
        level = known_level(reader.meta(LEVEL_META))
        selector = InjectionSelector(reader, session=event.session, level=level, given=file, search=self._search)
        chosen = self._choose(event, selector, moment, file)
        if moment in (SYSTEM_PROMPT, FIRST_MESSAGE, PROMPT):
            chosen += self._choose_personal(event, moment, level, file)
        text = self._render(chosen, moment, file)
        if text or moment is not BEFORE or not event.calls or level == CAUTIOUS:
            return text
        # Nobody confirmed what follows, so careful projects are not told.
        match = foresee_failure(event.calls[0], reader, file, now=self._now)
        warning = note_warning(match, file, now=self._now)
        if warning and self._shows:
            self.notice = self.notice or describe_warning(warning)
        return render_warning(warning, nonce=self._nonce())

    def _tell_personal(self, event: HookEvent, moment: Moment, file: SessionFile) -> str:
        """Nothing of a foreign store, not even how careful it wants to be; what the person taught for themselves."""
        if moment not in (SYSTEM_PROMPT, FIRST_MESSAGE, PROMPT) or not moment.speaks(
            choose_arm(self._arm, event.session, "")
        ):
            return ""
        return self._render(self._choose_personal(event, moment, CAUTIOUS, file), moment, file)

    def _render(self, chosen: Sequence[MemorySummary], moment: Moment, file: SessionFile) -> str:
        chosen = _fit(chosen, moment, self._max_chars)
        claimed = set(file.claim([memory.id for memory in chosen], moment.name, self._now)) if chosen else set()
        told = [memory for memory in chosen if memory.id in claimed]
        if told and self._shows:
            self.notice = self.notice or describe_told(told)
        return render_block(told, moment, nonce=self._nonce())

    def _choose(
        self, event: HookEvent, selector: InjectionSelector, moment: Moment, file: SessionFile
    ) -> list[MemorySummary]:
        if moment is SYSTEM_PROMPT:
            return selector.at_start()
        if moment in (FIRST_MESSAGE, PROMPT):
            patterns = selector.prefetch(event.prompt)[:1] if moment is FIRST_MESSAGE else []
            return [*selector.for_prompt(event.prompt, first=moment is FIRST_MESSAGE), *patterns]
        if moment is STEP:
            return selector.for_step(event.calls, step=file.count("step"), since=file.began)
        found: list[MemorySummary] = []
        for call, (text, failed) in zip(event.calls, event.answers, strict=True):
            found += selector.for_action(call) if moment is BEFORE else selector.for_result(call, text, failed=failed)
        if moment is TOOL_RESULT and self._steps_after_tool and not found:
            done = file.count("after") + file.count("failed")
            found = selector.for_step(event.calls, step=done, since=file.began)
        return found[: moment.limit]

    def _choose_personal(self, event: HookEvent, moment: Moment, level: str, file: SessionFile) -> list[MemorySummary]:
        """What the person taught for themselves, whatever the project."""
        path = os.path.join(user_folder(), STORE)
        if not os.path.exists(path):
            return []
        reader = self._read(path, now=self._now)
        selector = InjectionSelector(reader, session=event.session, level=level, given=file)
        found = selector.at_start() if moment is SYSTEM_PROMPT else selector.for_prompt(event.prompt, first=False)
        return found[:_PERSONAL]


def describe_told(told: Sequence[MemorySummary]) -> str:
    """One line for the person on what the agent was told."""
    from recollect.core.text import excerpt, one_line

    shown = [excerpt(one_line(memory.content), _SHOWN_CHARS) for memory in told[:_SHOWN]]
    more = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    number = "1 memory" if len(told) == 1 else f"{len(told)} memories"
    return f"told the agent {number}: {'; '.join(shown)}{more} (see `recollect told`)"


def describe_warning(warning: str) -> str:
    """One line for the person on what the agent was warned of."""
    from recollect.core.text import excerpt, one_line

    return f"warned the agent: {excerpt(one_line(warning), _SHOWN * _SHOWN_CHARS)} (see `recollect told`)"


def screen_event(event: HookEvent) -> tuple[dict[str, Any], str]:
    """What is kept of an event, and the name of its session, without secrets: nothing else is written of it."""
    from json import dumps

    kept = event.kept_payload()
    # The folder is in every event: a project called `auth` must not load the rules each time.
    told = dumps({**kept, "session": event.session}, ensure_ascii=False).replace(event.folder, "")
    if not may_hold_secret(told):
        return kept, event.session
    from recollect.privacy.values import redact_name, redact_value  # few events need the rules

    return redact_value(kept), redact_name(event.session)


# --- what calls like this one met before ------------------------------------------------------------------------------


def foresee_failure(call: ToolCall, reader: HookReader, file: SessionFile, *, now: int) -> Match | None:
    """The failure to warn of before a call, claimed for this process.

    The same matcher over the same patterns as in a warm process; only where the session's state is kept differs.
    What is missing or cannot be relied on means that nothing is said.
    """
    found = reader.outlook(call.tool)
    if found is None or not file.is_followed:
        return None  # … because it missed something, or another hook is about to note it
    from recollect.observer.failure_patterns import match_patterns, unpack_patterns
    from recollect.observer.features import FeatureState

    threshold, packed = found
    state = FeatureState(_ExistingPaths(reader), notes=file)
    matches = match_patterns(call, unpack_patterns(call.tool, packed), feature_state=state, threshold=threshold)
    return claim_warning(matches, file, now=now)


def claim_warning(matches: Iterable[Match], record: ToldRecord, *, now: int) -> Match | None:
    """The likeliest failure that the session was not warned of yet or is sure to meet again, noted as told."""
    for match in matches:
        if record.warn(match.pattern.id, match.pattern.fingerprints, now, again=match.is_sure):
            return match
    return None


def note_warning(match: Match | None, record: ToldRecord, *, now: int) -> str:
    """The words of a warning, noted for the person as told; nothing when they read like orders to a model."""
    if match is None:
        return ""
    from recollect.observer.failure_patterns import format_warning

    text = format_warning(match)
    if reads_like_orders(text):
        return ""
    record.note_warning(text, BEFORE.name, now)
    return text


def render_warning(warning: str, *, nonce: str) -> str:
    """The warning as the agent is given it."""
    from recollect.privacy.fence import block, item

    return block([item(1, WARNING_HEAD, warning, limit=BEFORE.item_chars)], nonce=nonce) if warning else ""


def follow(
    event: str,
    file: SessionFile,
    *,
    calls: Sequence[ToolCall] = (),
    answers: Sequence[tuple[str, bool]] = (),
    prompt: str = "",
) -> None:
    """Note in the session's file what an event did: constant work, however long the session is. `answers` are, for each
    call, what its tool said and whether the host says it failed."""
    with file.follow(last=event == "end") as notes:
        if event not in ("before", "after", "failed", "prompt"):
            return
        from recollect.observer.features import FeatureState
        from recollect.observer.tool_calls import RESULT_HEAD, RESULT_TAIL, clip_middle, judge_answer

        state = FeatureState(notes=notes)
        if prompt:
            state.spoken(prompt)
        for call, (answer, failed) in zip(calls, answers, strict=True):
            if event == "before":
                state.called()
            else:
                error, rejected = judge_answer(answer, error=failed)
                text = clip_middle(answer, RESULT_HEAD, RESULT_TAIL)
                state.answered(call, text, error=error, rejected=rejected)


class _ExistingPaths:
    """The files and folders that earlier sessions found to exist, asked for one at a time."""

    def __init__(self, reader: HookReader) -> None:
        self._reader = reader

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._reader.exists(path)


# --- small decisions --------------------------------------------------------------------------------------------------


def _moment_of(event: HookEvent, file: SessionFile) -> Moment | None:
    match event.event:
        case "start":
            return SYSTEM_PROMPT
        case "prompt" if event.is_spoken:
            return FIRST_MESSAGE if file.count("prompt") <= 1 else PROMPT
        case "before":
            return BEFORE
        case "after" | "failed":
            return TOOL_RESULT
        case "step":
            return STEP
    return None


def _fit(chosen: Sequence[MemorySummary], moment: Moment, max_chars: int) -> list[MemorySummary]:
    """As many as the host takes."""
    kept: list[MemorySummary] = []
    room = max_chars - _ANSWER_COST
    for memory in chosen:
        room -= min(len(memory.content), moment.item_chars) + _ITEM_COST
        if room < 0:
            break
        kept.append(memory)
    return kept
