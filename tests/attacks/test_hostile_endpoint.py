"""A model server that answers with nonsense, without end or not at all costs a note, never a hang, a crash or a row."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import recollect
from embed.embed_tools import Reply, serving
from faults.fault_tools import SOAK, assert_replays, environment, report
from recollect.config import Settings

_MOST_MEMORY = 2 * 2**30  # bytes of address space a command may take
_MOST_SECONDS = 90
_NAN = {
    "/embeddings": b'{"data": [{"index": 0, "embedding": [NaN, NaN, NaN, NaN, NaN, NaN, NaN, NaN]}]}',
    "/rerank": b'{"results": [{"index": 0, "relevance_score": NaN}]}',
}
_REPLIES: dict[str, Reply | None] = {
    "not a number": None,
    "too deep": Reply(b"[" * 200_000),
    "too large": Reply(b"[" * 64_000_000),
}
_SLOWER: dict[str, Reply | None] = {
    "not JSON": Reply(b"\x00\xff\xfe{{{"),
    "an empty object": Reply(b"{}"),
    "cut short": Reply(b'{"data": [', claim=100_000),
    "one byte at a time": Reply(b" " * 10_000, trickle=0.5),
    "negative usage": Reply(
        b'{"choices": [{"message": {"role": "assistant", "content": "ok"}}], "usage": {"prompt_tokens": -5}}'
    ),
}
if SOAK:
    _REPLIES |= _SLOWER


@pytest.mark.parametrize("how", _REPLIES)
def test_a_hostile_model_server_costs_a_note_and_nothing_else(tmp_path: Path, how: str) -> None:
    path, given = tmp_path / "memory.db", _REPLIES[how]

    def answer(asked: str, body: Any, headers: Mapping[str, str]) -> Reply:
        return given or Reply(next((reply for end, reply in _NAN.items() if asked.endswith(end)), b"{}"))

    with recollect.open(path, settings=Settings(embedder="none")) as memory:
        for text in ("The deploy freezes on Fridays.", "The pump needs oil."):
            memory.remember(text)
        before = {id: row.content for id, row in assert_replays(memory).items()}
    began = time.monotonic()
    with serving(answer) as server:
        address = server.url.rstrip("/")
        settings = {
            "RECOLLECT_EMBEDDER": f"{address}/v1#m:8", "RECOLLECT_RERANKER": f"{address}/v1#m",
            "RECOLLECT_MODEL": f"{address}/v1#m", "RECOLLECT_MODEL_TIMEOUT": "5",
        }  # fmt: skip
        for words in (["recall", "deploy pump oil"], ["tend"], ["chat", "--once", "hello"]):
            done = subprocess.run(
                [sys.executable, "-m", "recollect", *words, "--store", str(path)],
                env=environment(**settings), capture_output=True, text=True, check=False, timeout=_MOST_SECONDS,
                preexec_fn=_limit_memory,
            )  # fmt: skip
            assert done.returncode >= 0, f"{words} died of signal {-done.returncode}"
            assert "Traceback" not in done.stdout + done.stderr, done.stderr[-1500:]
            if words[0] == "recall":
                assert "deploy freezes" in done.stdout, "words are found without a model"
    with recollect.open(path, settings=Settings(embedder="none")) as memory:
        after = {id: row.content for id, row in assert_replays(memory).items()}
        assert before.items() <= after.items()
    report(f"hostile answers: 3, lost: 0, longest: {time.monotonic() - began:.0f} s")


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
