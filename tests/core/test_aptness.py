"""Requests and memories that speak of the same thing, and those that do not."""

from __future__ import annotations

import time

from recollect.core.aptness import APT, WeighedRequest, name_parts, split_request, telling_words, weigh_stem


def weigh(request: str, rows: dict[str, int] | None = None, total: int = 500) -> WeighedRequest:
    segments = split_request(request)
    words: dict[str, bool] = {}
    for segment in segments:
        for word, is_name in segment.words.items():
            words[word] = words.get(word, False) or is_name
    return WeighedRequest(
        [(segment.words, segment.share) for segment in segments],
        {word: weigh_stem(word, (rows or {}).get(word, 1), total, is_name=name) for word, name in words.items()},
        names=name_parts(request),
        length=len(request.split()),
    )


def judge(request: str, *memories: str, rows: dict[str, int] | None = None, total: int = 500) -> list[float]:
    weighed = weigh(request, rows, total)
    agreements = [weighed.agreement(frozenset(telling_words(memory))) for memory in memories]
    return [relevance for relevance, _ in weighed.judge(agreements)]


def relevance(request: str, memory: str, *, rows: dict[str, int] | None = None, total: int = 500) -> float:
    return judge(request, memory, rows=rows, total=total)[0]


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


def test_a_second_topic_needs_to_beat_no_luck_once_the_first_is_apt() -> None:
    weak = "Ask the designer before people in Paris print letters or cards."
    request = f"{OTHER}{APT_SENTENCE} {OTHER * 3}"
    assert relevance(request, weak) < APT <= relevance(request, MEMORY)
    assert judge(request, MEMORY, weak)[1] >= APT
    better = "People scroll, says the designer: the header is visible."
    assert judge(request, MEMORY, weak, better)[1] < APT  # it is not what the sentence speaks of most


def test_sentences_that_follow_one_another_are_also_taken_together() -> None:
    request = "The uploader is slow today. It loses a chunk now and then. I think the budget is too small for it. "
    unrelated = "Nobody answers in the channel about holidays. " * 6
    assert relevance(unrelated + request, MEMORY) > max(
        relevance(unrelated + sentence, MEMORY) for sentence in request.split(". ")
    )


def test_a_name_and_its_parts_count_once() -> None:
    compound = relevance("is there a dry-run for it somewhere", "Use the dry-run before a release.")
    word = relevance("is there a rehearsal for it somewhere", "Use the rehearsal before a release.")
    assert compound <= word
    name = relevance("is retryBudget set for it somewhere", "Set retryBudget before a release.")
    assert word < name < relevance("is the retry budget set for it somewhere", "Set a retry budget before a release.")


def test_how_rare_a_rare_word_is_tells_nothing() -> None:
    once, often, everywhere = (weigh_stem("uploader", rows, 5_000, is_name=False) for rows in (1, 150, 600))
    assert once == often > everywhere


def test_a_memory_may_agree_by_a_name_that_the_index_holds_in_parts() -> None:
    weighed = weigh("use base_path as the field")
    assert weighed.may_agree({"base", "path", "hash"})
    assert not weighed.may_agree({"path", "hash"})


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
    assert len(segments) <= 121
    assert time.process_time() - start < 0.5
