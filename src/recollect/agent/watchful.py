"""The learnt odds at the gate of a hook: what calls like the one about to be made met before, and following a session.

The same matcher over the same patterns as in a warm process; only where the session's situation is kept differs. What
is missing or cannot be relied on means that nothing is said. Light to load.
"""

from __future__ import annotations

import os

from recollect.agent.moments import BEFORE, commands
from recollect.agent.slate import Slate
from recollect.agent.trust import CAUTIOUS
from recollect.privacy.fence import block, item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.agent.spool import Spool, Story
    from recollect.observer.events import ToolCall
    from recollect.observer.failure_patterns import Match
    from recollect.store.sqlite.hook_reader import HookReader

HEAD = "failed before"


def foreseen(call: ToolCall, reader: HookReader, spool: Spool, story: Story, *, level: str, now: int) -> Match | None:
    """The failure to warn of before a call, claimed for this process. Nobody confirmed it, so careful projects are not
    told."""
    if level == CAUTIOUS:
        return None
    found = reader.outlook(call.tool)
    if found is None or not os.path.exists(spool.slate):
        return None
    from recollect.observer.failure_patterns import match_patterns, unpack_patterns
    from recollect.observer.features import FeatureState

    bar, packed = found
    with Slate(spool.slate) as slate:
        if slate.events + 1 != story.events:
            return None  # it missed something, or another hook is about to note it
        situation = FeatureState(_Known(reader), notes=slate)
        matches = match_patterns(
            call,
            unpack_patterns(call.tool, packed),
            situation=situation,
            bar=bar,
            given=story.warned,
            told=story.feared,
        )
    for match in matches[:1]:
        if spool.warn(match.pattern.id, match.pattern.fingerprints, now):
            return match
    return None


def told(match: Match, *, nonce: str) -> str:
    """The warning as the agent is given it; nothing when it reads like orders to a model."""
    from recollect.observer.failure_patterns import format_warning

    text = format_warning(match)
    return "" if commands(text) else block([item(1, HEAD, text, limit=BEFORE.text)], nonce=nonce)


def follow(
    event: str, calls: Sequence[ToolCall], answers: Sequence[tuple[str, bool]], prompt: str, spool: Spool, story: Story
) -> None:
    """Note an event in the session's slate: constant work, however long the session is. `answers` are, for each call,
    what its tool said and whether the host says it failed."""
    slate = Slate(spool.slate)
    if story.events == 1:
        slate.begin()
    if event == "end":
        spool.wipe()
    if not os.path.exists(spool.slate):
        return
    with slate as notes:
        if event in ("before", "after", "failed", "prompt"):
            from recollect.observer.features import FeatureState
            from recollect.observer.tool_calls import RESULT_HEAD, RESULT_TAIL, clip_middle, judge_answer

            situation = FeatureState(notes=notes)
            if event == "prompt" and prompt:
                situation.spoken(prompt)
            for call, (answer, failed) in zip(calls, answers, strict=True):
                if event == "before":
                    situation.called()
                else:
                    error, rejected = judge_answer(answer, error=failed)
                    text = clip_middle(answer, RESULT_HEAD, RESULT_TAIL)
                    situation.answered(call, text, error=error, rejected=rejected)
        notes.heard()


class _Known:
    """The files and folders that earlier sessions found to exist, asked for one at a time."""

    def __init__(self, reader: HookReader) -> None:
        self._reader = reader

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and self._reader.exists(path)
