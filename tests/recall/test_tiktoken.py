"""Tokens are counted by the real tokenizer where it is at hand, and estimated where it is not; nothing is fetched."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

import recollect
from recollect import Draft
from recollect.core.tokens import ESTIMATE
from recollect.recall.tiktoken import BestTokenizer, find_vocabulary, load_encoding


def byte_encoding() -> object:
    """tiktoken itself, with a vocabulary of single bytes: every byte is a token."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([value]): value for value in range(256)}
    return tiktoken.Encoding("bytes", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise AssertionError("something wants to connect")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def test_the_real_tokenizer_counts_when_it_is_at_hand() -> None:
    tokenizer = BestTokenizer(byte_encoding)  # type: ignore[arg-type]
    assert tokenizer.exact
    assert [tokenizer.count(text) for text in ("", "pump", "ポンプ", "<|endoftext|>")] == [0, 4, 9, 13]


@pytest.mark.usefixtures("no_network")
@pytest.mark.parametrize("kept", [None, b"", b"not a vocabulary"])
def test_without_a_sound_vocabulary_the_estimate_counts_and_nothing_is_fetched(
    kept: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    if kept is not None:
        Path(find_vocabulary()).write_bytes(kept)
    assert load_encoding() is None
    tokenizer = BestTokenizer()
    assert not tokenizer.exact
    assert tokenizer.count("a pump in the hall") == ESTIMATE.count("a pump in the hall")
    assert kept is None or Path(find_vocabulary()).read_bytes() == kept


@pytest.mark.usefixtures("no_network")
def test_a_tokenizer_told_to_keep_nothing_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    assert find_vocabulary() == ""
    assert load_encoding() is None


def test_a_briefing_is_packed_by_the_tokenizer_and_a_plain_recall_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []

    class Counting:
        def encode_ordinary(self, text: str) -> list[int]:
            counted.append(text)
            return [0] * 100

    monkeypatch.setattr("recollect.recall.tiktoken.load_encoding", Counting)
    with recollect.open(":memory:") as memory:
        memory.remember_all(Draft(f"The pump number {n} is in hall {n}.", skip_conflict_check=True) for n in range(9))
        memory.recall("pump", track=False)
        assert counted == []
        briefing = memory.brief("pump", budget=600, track=False)
        assert (len(briefing), briefing.tokens) == (5, 560)  # 100 tokens and 12 of marks each
        assert counted
