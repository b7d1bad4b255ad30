from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

from recollect.agent.spool import Spool, clipped, read_story
from recollect.privacy.fence import block, item


def test_a_named_event_is_taken_once_and_a_nameless_one_once_in_a_while(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "s")
    assert spool.first("k", "after", 1_000, named=True) is not None
    assert not spool.first("k", "after", 999_000, named=True)
    assert spool.first("n", "start", 1_000, named=False)
    assert not spool.first("n", "start", 2_000, named=False)
    assert spool.first("n", "start", 9_000, named=False)


def test_a_memory_is_claimed_once_until_the_context_is_emptied(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "s")
    assert spool.claim(["a", "b"], "step", 1) == ["a", "b"]
    assert spool.claim(["b", "c"], "step", 2) == ["c"]
    spool.begin_anew(3)
    assert spool.claim(["a"], "step", 4) == ["a"]
    story = spool.story()
    assert story.given == {"a"}
    assert [memory for memory, _, _ in story.told] == ["a", "b", "c", "a"]


def _claims(folder: str, found: list[int]) -> None:
    spool = Spool(folder, "s")
    won = sum(len(spool.claim([f"m{n}"], "step", 1)) for n in range(40))
    found.append(won)


def test_processes_at_once_never_claim_the_same_memory(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Manager() as shared:
        found = shared.list()
        runs = [context.Process(target=_claims, args=(str(tmp_path), found)) for _ in range(3)]
        for run in runs:
            run.start()
        for run in runs:
            run.join(60)
        assert sum(found) == 40


def test_what_we_told_and_the_middle_of_long_texts_are_not_kept(tmp_path: Path) -> None:
    ours = block([item(1, "gotcha", "never learn this again")], nonce="0123456789abcdef")
    spool = Spool(str(tmp_path), "s")
    spool.capture("gemini", {"prompt": f"{ours}fix the bug", "tool_response": {"text": "y" * 5_000_000}}, 1_000)
    (line,) = Path(spool.events).read_text().splitlines()
    kept = json.loads(line)
    assert (kept["v"], kept["host"], kept["at"], kept["payload"]["prompt"]) == (1, "gemini", 1.0, "fix the bug")
    assert len(line) < 10_000


def test_a_structure_without_end_is_cut() -> None:
    deep: list[object] = []
    for _ in range(100):
        deep = [deep]
    assert len(json.dumps(clipped({"a": deep}))) < 200


def test_a_line_that_was_cut_off_swallows_nothing(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), "s")
    spool.claim(["a"], "step", 1)
    with open(spool.seen, "a") as file:
        file.write("g\tb")
    assert spool.claim(["c"], "step", 2) == ["c"]
    assert read_story(spool.seen).given == {"a", "c"}
