"""Requests and memories that speak of the same thing, and those that do not."""

from __future__ import annotations

import time

from recollect.core.aptness import APT, WeighedRequest, split_request, telling_words, weigh_stem


def relevance(request: str, memory: str, *, rows: dict[str, int] | None = None, total: int = 500) -> float:
    segments = split_request(request)
    words = {word for segment in segments for word in segment.words}
    weights = {word: weigh_stem(word, (rows or {}).get(word, 1), total) for word in words}
    parts = [(segment.words, segment.share) for segment in segments]
    return WeighedRequest(parts, weights, length=len(request.split())).relevance(frozenset(telling_words(memory)))


MEMORY = "The uploader retries a chunk three times; the retry budget lives in uploader.toml."
APT_SENTENCE = "The uploader gives up on a chunk too early, look at the retry budget."
OTHER = (
    "On the invoices page the totals are rounded in a strange way and customers from Norway complained last week. "
    "The designer wants the table to be wider and the header to stay visible while people scroll. "
)


def test_what_else_a_request_says_does_not_hide_the_sentence_that_is_apt() -> None:
    assert relevance(APT_SENTENCE, MEMORY) >= APT
    assert relevance(OTHER + APT_SENTENCE, MEMORY) >= APT
    assert relevance(OTHER, MEMORY) < APT


def test_both_topics_of_a_request_are_seen() -> None:
    invoices = "Invoice totals are rounded per line, because customers in Norway add them up themselves."
    assert relevance(OTHER + APT_SENTENCE, invoices) >= APT
    assert relevance(OTHER + APT_SENTENCE, MEMORY) >= APT


def test_words_that_everybody_says_are_no_reason_to_speak() -> None:
    assert (
        relevance("please fix the tests and commit, then open a pull request", "Run the tests before a commit.") < APT
    )
    assert relevance("continue", MEMORY) == 0


def test_one_shared_word_is_not_enough_unless_it_is_a_rare_one_or_a_name() -> None:
    request = "why does the uploader stop in Norway"
    assert relevance(request, "An uploader is a program.", rows={"uploader": 90}) == 0
    assert relevance("look at uploader_settings.toml", "Keep uploader_settings.toml sorted.") >= APT


def test_pasted_output_counts_less_than_what_somebody_wrote() -> None:
    pasted = "[12:01:44.030] [uploader] chunk=17 retry=3 budget=0 -> {code: 500}"
    assert relevance(pasted, MEMORY) < relevance("the uploader has no retry budget for a chunk", MEMORY)


def test_a_request_of_any_length_is_split_in_little_time() -> None:
    start = time.process_time()
    segments = split_request("a.b " * 200_000 + "word. " * 100_000)
    assert len(segments) <= 61
    assert time.process_time() - start < 0.5
