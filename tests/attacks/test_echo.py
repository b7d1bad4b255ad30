"""What an agent was told and says again is not learnt again: a told memory does not multiply by being told."""

from __future__ import annotations

from pathlib import Path

import recollect
from faults.fault_tools import report, size
from recollect.adapters.bridge import AgentBridge
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status

PAYLOAD = "The harbour crane is driven from the blue cabin on the northern quay."


def test_what_an_agent_repeats_of_what_it_was_told_is_not_kept_again(tmp_path: Path) -> None:
    sessions, told_in = size(8, 50), 0
    with recollect.open(tmp_path / "m.db") as memory:
        memory.remember(PAYLOAD, kind="gotcha")
        for number in range(sessions):
            bridge = AgentBridge(memory, f"e{number}", host="t", arm="full")
            told = bridge.system("the harbour crane") + bridge.speak("How is the harbour crane driven?")
            told_in += PAYLOAD in told
            bridge.observe_call("bash", {"command": "make"}, "1")
            bridge.observe_result("1", told)
            bridge.observe_answer(told)
            bridge.conclude(told)
            bridge.end()
        every = memory.list(Filter(statuses=frozenset(Status), user=ANY_USER), limit=10_000).memories
    copies = sum(PAYLOAD in one.content for one in every)
    report(f"echo: {sessions} sessions, {told_in} told, {copies} copies")
    assert told_in == sessions
    assert copies == 1
