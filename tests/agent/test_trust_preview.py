"""What each level of trust makes of what agents were told lately."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import recollect
from recollect.agent.ingest import ToldMemory
from recollect.agent.trust import LEVELS
from recollect.agent.trust_preview import preview_levels
from recollect.core.summary import MemorySummary
from recollect.store.codec import to_ms

NOW = datetime(2026, 3, 1, tzinfo=UTC)
MAY_TELL = dict.fromkeys(LEVELS, 0)


def told(id: str, moment: str = "prompt") -> ToldMemory:
    return ToldMemory(id, moment, NOW, "s1", "claude-code")


def known(id: str, confidence: float) -> MemorySummary:
    return MemorySummary(
        id, "gotcha", "A composed fact.", confidence=confidence, source="observer_inferred", seen=3,
        attributes={"composed": True},
    )  # fmt: skip


def test_a_more_careful_level_withholds_what_is_less_sure() -> None:
    levels = preview_levels(
        [told("sure"), told("fair")], {"sure": known("sure", 0.9), "fair": known("fair", 0.6)}, MAY_TELL
    )
    assert [(one.level, one.told, [gone.id for gone in one.withheld]) for one in levels] == [
        ("cautious", 1, ["fair"]),
        ("standard", 1, ["fair"]),
        ("confident", 2, []),
        ("autonomous", 2, []),
    ]


def test_nothing_below_the_bar_for_interrupting_would_have_interrupted_at_any_level() -> None:
    levels = preview_levels([told("fair", "step")], {"fair": known("fair", 0.6)}, MAY_TELL)
    assert {one.told for one in levels} == {0}


def test_what_is_gone_or_tells_no_memory_is_withheld_by_no_level() -> None:
    levels = preview_levels([told("gone"), told("")], {}, MAY_TELL)
    assert {one.told for one in levels} == {2}


def test_only_what_was_told_in_the_last_days_is_judged(memory: recollect.Recollect) -> None:
    id = memory.remember("Granite is hard.").id
    now = memory.writer.now()
    for session, ago in (("new", 1), ("old", 9)):
        memory._rooms.injections().record_session(
            session,
            host="codex",
            arm="full",
            began=now,
            told=[(id, "prompt", to_ms(now - timedelta(days=ago)))],
            outcome="",
        )
    week, fortnight = memory.compare_trust(), memory.compare_trust(days=14)
    assert (week.told, fortnight.told) == (1, 2)
    assert week.memories == 1
