"""What was answered under a key is kept for a day, for so many keys, and without the words of what was forgotten."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from recollect.app import Recollect
from recollect.store import replies
from recollect.store.replies import StoredReply

pytestmark = pytest.mark.both_engines
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_a_key_is_claimed_once_and_then_answers(memory: Recollect) -> None:
    kept = memory.store.replies
    assert kept.claim("k", "request", NOW) is None
    assert kept.claim("k", "request", NOW) == StoredReply("request", None)
    kept.keep("k", status=201, revision=3, answer="{}")
    assert kept.claim("k", "another", NOW) == StoredReply("request", 201, 3, "{}")


def test_a_key_that_came_to_nothing_is_free_again(memory: Recollect) -> None:
    kept = memory.store.replies
    kept.claim("k", "request", NOW)
    kept.release("k")
    assert kept.claim("k", "other", NOW) is None


def test_keys_go_after_a_day_and_the_oldest_when_there_are_too_many(
    memory: Recollect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replies, "MOST", 3)
    kept = memory.store.replies
    for number in range(4):
        kept.claim(f"k{number}", "request", NOW + timedelta(seconds=number))
    assert kept.claim("k3", "request", NOW + timedelta(seconds=5)) is not None
    assert kept.claim("k0", "request", NOW + timedelta(seconds=6)) is None
    assert kept.claim("k3", "request", NOW + timedelta(days=1, seconds=60)) is None


def test_forgetting_takes_the_words_out_of_every_answer(memory: Recollect) -> None:
    id = memory.remember("Granite is hard.").id
    memory.store.replies.claim("k", "request", NOW)
    memory.store.replies.keep("k", status=200, revision=1, answer='{"content":"Granite is hard."}')
    memory.forget(id)
    assert memory.store.replies.claim("k", "request", NOW) == StoredReply("request", 200, 1, None)


def test_erasing_takes_the_words_out_of_every_answer(memory: Recollect) -> None:
    memory.remember("Anna Berg likes granite.")
    memory.store.replies.claim("k", "request", NOW)
    memory.store.replies.keep("k", status=200, revision=1, answer='{"content":"Anna Berg likes granite."}')
    memory.erase(subject="Anna Berg")
    known = memory.store.replies.claim("k", "request", NOW)
    assert known is None or known.answer is None
