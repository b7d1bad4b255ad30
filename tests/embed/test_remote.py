"""Embedders over HTTP, against loopback servers that speak OpenAI's and Ollama's protocol, well and badly."""

from __future__ import annotations

import json
import math
import socket
import time
from email.utils import formatdate
from typing import Any

import numpy as np
import pytest

from embed.embed_tools import Answer, Reply, meaning, ollama_answer, openai_answer, serving, told
from recollect.embed.port import Embedder, EmbedderDown, EmbedderWrong
from recollect.embed.remote import (
    RemoteEmbedder,
    choose_qwen,
    cut_to_limit,
    find_prompts,
    find_server,
    full_name,
    list_pulled,
    measure_free_memory,
    ollama_embedder,
    openai_embedder,
    qwen_for_memory,
    split_requests,
)
from recollect.net.http import Caller, RetryPolicy

QUICK = RetryPolicy(tries=4, timeout=0.4, deadline=5.0, first_pause=0.01)


def openai_at(url: str, *, dims: int | None = 8, key: str = "sk-secret", retry: RetryPolicy = QUICK) -> RemoteEmbedder:
    return openai_embedder("some-model", dims=dims, url=f"{url}/v1", key=key, documents=retry, questions=retry)


def ollama_at(url: str, model: str = "nomic-embed-text") -> RemoteEmbedder:
    return ollama_embedder(model, url=url, documents=QUICK, questions=QUICK)


def rows(vectors: Any) -> Reply:
    return Reply(json.dumps({"data": [{"index": i, "embedding": v} for i, v in enumerate(vectors)]}).encode())


def failing(answer: Answer, *first: Reply) -> Answer:
    """The given replies, then the right answers."""
    left = list(first)
    return lambda *request: left.pop(0) if left else answer(*request)


# --- OpenAI's protocol ---------------------------------------------------------------------------------------------


def test_vectors_come_back_in_order_at_length_one_with_key_model_and_dimensions_sent() -> None:
    texts = [f"text {n}" for n in range(300)]
    with serving(openai_answer()) as there:
        found = openai_at(there.url, dims=16).embed_documents(texts)
    wanted = np.array([meaning(text, 16) for text in texts])
    np.testing.assert_allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)
    assert [len(body["input"]) for _, body, _ in there.seen] == [128, 128, 44]
    assert {(body["model"], body["dimensions"]) for _, body, _ in there.seen} == {("some-model", 16)}
    assert {headers["Authorization"] for _, _, headers in there.seen} == {"Bearer sk-secret"}


def test_blank_texts_are_not_sent_and_get_no_direction() -> None:
    with serving(openai_answer()) as there:
        found = openai_at(there.url).embed_documents(["", "word", " \n"])
        assert np.linalg.norm(found, axis=1).round(5).tolist() == [0, 1, 0]
        assert openai_at(there.url).embed_query("").tolist() == [0] * 8
    assert [body["input"] for _, body, _ in there.seen] == [["word"]]


def test_a_query_of_ten_thousand_words_is_cut_to_what_a_model_can_take() -> None:
    with serving(openai_answer()) as there:
        openai_at(there.url).embed_query("слово " * 10_000)
    sent = there.seen[0][1]["input"][0]
    assert 7_000 < len(sent.encode()) <= 8_000
    assert "\ufffd" not in sent


def test_without_dimensions_none_are_asked_for_and_the_first_answer_decides() -> None:
    with serving(openai_answer(dims=12)) as there:
        embedder = openai_at(there.url, dims=None, key="")
        assert embedder.dims == 12
        assert embedder.embed_documents([]).shape == (0, 12)
    assert "dimensions" not in there.seen[0][1]
    assert "Authorization" not in there.seen[0][2]


def test_the_model_id_tells_server_model_and_dimensions_but_no_password() -> None:
    assert openai_embedder("text-embedding-3-small", dims=256).model == "openai:text-embedding-3-small:256"
    assert openai_embedder("text-embedding-3-large").model == "openai:text-embedding-3-large:3072"
    assert openai_embedder("m", url="http://me:pw@host:8080/v1/").model == "host:8080:m"


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (rows([meaning("x", 7)]), "7 dimensions, not 8"),
        (rows([]), "0 vectors"),
        (rows([meaning("x", 8)] * 2), "2 vectors"),
        (rows([[math.nan] + [1.0] * 7]), "NaN"),
        (rows([[math.inf] + [1.0] * 7]), "NaN or infinity"),
        (rows([[None] + [1.0] * 7]), "NaN"),
        (rows([[1e308] * 8]), "no direction"),
        (rows([[0.0] * 8]), "no direction"),
        (rows([["a"] * 8]), "something else than numbers"),
        (rows([[]]), "empty"),
        (rows([[[1.0]]]), "nested"),
        (rows([{"a": 1}]), "numbers"),
        (Reply(b"<html>welcome</html>"), "not JSON"),
        (Reply(b""), "not JSON"),
        (Reply(b"\xff\xfe{"), "not JSON"),
        (Reply(b"[]"), "no `data`"),
        (Reply(b'{"data": null}'), "no `data`"),
        (Reply(b'{"data": [{"index": 0}]}'), "no `data`"),
        (Reply(json.dumps({"data": [{"index": 1, "embedding": [1.0] * 8}]}).encode()), "numbers the vectors wrongly"),
    ],
)
def test_an_answer_that_is_not_the_vectors_asked_for_is_refused_and_not_repeated(reply: Reply, problem: str) -> None:
    with serving(told([reply])) as there, pytest.raises(EmbedderWrong, match=problem) as raised:
        openai_at(there.url).embed_query("x")
    assert raised.value.hint
    assert len(there.seen) == 1


def test_vectors_of_different_length_are_refused() -> None:
    with serving(told([rows([[1.0] * 8, [1.0] * 7])])) as there, pytest.raises(EmbedderWrong, match="differ in length"):
        openai_at(there.url).embed_documents(["a", "b"])


# --- trouble that passes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        [Reply(status=500), Reply(status=502), Reply(status=503)],
        [Reply(b'{"error": {"code": "rate_limit_exceeded"}}', status=429)],
        [Reply(pause=0.6)],
        [Reply(b'{"data": [', claim=5000)],
    ],
)
def test_trouble_that_passes_is_waited_out(first: list[Reply]) -> None:
    with serving(failing(openai_answer(), *first)) as there:
        assert openai_at(there.url).embed_query("x").shape == (8,)
    assert len(there.seen) == len(first) + 1


def test_pauses_double_with_chance_in_them_and_retry_after_is_obeyed() -> None:
    slept: list[float] = []
    caller = Caller("m", {}, EmbedderDown, EmbedderWrong, sleep=slept.append, chance=lambda: 1.0)
    busy = [Reply(status=503), Reply(status=503), Reply(status=429, headers={"Retry-After": "3"}), Reply(status=500)]
    with serving(failing(openai_answer(), *busy)) as there:
        caller.post(
            f"{there.url}/v1/embeddings", {"model": "m", "input": ["x"]}, RetryPolicy(9, 1.0, 60.0, first_pause=0.5)
        )
    assert slept == [0.5, 1.0, 3.0, 4.0]


def test_retry_after_may_be_a_date() -> None:
    slept: list[float] = []
    first = Reply(status=429, headers={"Retry-After": formatdate(time.time() + 30, usegmt=True)})
    with serving(failing(openai_answer(), first)) as there:
        body = {"model": "m", "input": ["x"]}
        Caller("m", {}, EmbedderDown, EmbedderWrong, sleep=slept.append).post(
            f"{there.url}/v1/embeddings", body, RetryPolicy(2, 1.0, 60.0)
        )
    assert 25 < slept[0] <= 30


def test_a_wait_longer_than_the_deadline_is_not_begun() -> None:
    started = time.monotonic()
    with (
        serving(told([Reply(status=429, headers={"Retry-After": "3600"})])) as there,
        pytest.raises(EmbedderDown, match="429"),
    ):
        openai_at(there.url).embed_query("x")
    assert time.monotonic() - started < 2
    assert len(there.seen) == 1


def test_tries_are_counted_and_told() -> None:
    with serving(told([Reply(b"overloaded", status=503)])) as there, pytest.raises(EmbedderDown) as raised:
        openai_at(there.url).embed_query("x")
    assert "status 503, overloaded (tried 4 ×)" in str(raised.value)


def test_a_server_that_trickles_is_cut_off_at_the_deadline() -> None:
    retry = RetryPolicy(tries=3, timeout=0.3, deadline=0.6, first_pause=0.01)
    started = time.monotonic()
    with serving(told([Reply(b" " * 400, trickle=0.02)])) as there, pytest.raises(EmbedderDown, match=r"slowly|time"):
        openai_at(there.url, retry=retry).embed_query("x")
    assert time.monotonic() - started < 3


# --- trouble that stays --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        (Reply(b'{"error": {"message": "Incorrect API key provided: sk-secret"}}', status=401), "key"),
        (Reply(b'{"error": {"message": "The model does not exist"}}', status=404), "name of the model"),
        (Reply(b'{"error": {"message": "dimensions not supported"}}', status=400), "dimensions"),
        (Reply(b'{"error": {"code": "insufficient_quota"}}', status=429), "credit"),
        (Reply(status=302, headers={"Location": "http://127.0.0.1:9/steal"}), "address"),
    ],
)
def test_a_refusal_is_final_says_what_to_do_and_never_repeats_the_key(reply: Reply, hint: str) -> None:
    with serving(told([reply])) as there, pytest.raises(EmbedderDown) as raised:
        openai_at(there.url).embed_query("x")
    assert len(there.seen) == 1
    assert hint in raised.value.hint
    assert "sk-secret" not in str(raised.value)


def test_a_refused_connection_is_told_at_once() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        started = time.monotonic()
        with pytest.raises(EmbedderDown, match="refused") as raised:
            openai_at(f"http://127.0.0.1:{taken.getsockname()[1]}").embed_query("x")
    assert time.monotonic() - started < 1
    assert "Is a server running at http://127.0.0.1" in raised.value.hint


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "http://[half", "nonsense://x", "http://no.such.invalid"])
def test_an_address_that_leads_nowhere_is_an_error_of_ours(url: str) -> None:
    with pytest.raises(EmbedderDown):
        Caller("m", {}, EmbedderDown, EmbedderWrong).get(url, QUICK)


def test_a_proxy_in_the_environment_is_not_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with serving(openai_answer()) as there:
        assert openai_at(there.url).embed_query("x").shape == (8,)


# --- Ollama's protocol ---------------------------------------------------------------------------------------------


def test_ollama_gives_unit_vectors_with_the_prefixes_its_model_wants() -> None:
    with serving(ollama_answer(["nomic-embed-text"])) as there:
        embedder: Embedder = ollama_at(there.url)
        assert np.linalg.norm(embedder.embed_documents(["a", "b"]), axis=1).round(5).tolist() == [1, 1]
        embedder.embed_query("c")
        assert embedder.dims == 8
    assert [body["input"] for _, body, _ in there.seen] == [
        ["search_document: a", "search_document: b"],
        ["search_query: c"],
    ]
    assert embedder.model == "ollama:nomic-embed-text:latest"


def test_a_model_ollama_has_not_pulled_is_told() -> None:
    with serving(ollama_answer(["other"])) as there, pytest.raises(EmbedderDown, match="try pulling it"):
        ollama_at(there.url).embed_query("x")


@pytest.mark.parametrize("reply", [Reply(b"[]"), Reply(b'{"embedding": [1]}'), Reply(b'{"embeddings": [[1], [2]]}')])
def test_an_answer_of_ollama_that_is_not_vectors_is_refused(reply: Reply) -> None:
    with serving(told([reply])) as there, pytest.raises(EmbedderWrong):
        ollama_at(there.url).embed_query("x")


def test_known_models_have_their_dimensions_before_any_answer() -> None:
    assert ollama_embedder("qwen3-embedding:0.6b").dims == 1024
    with (
        serving(ollama_answer(["qwen3-embedding:0.6b"], dims=8)) as there,
        pytest.raises(EmbedderWrong, match="not 1024"),
    ):
        ollama_at(there.url, "qwen3-embedding:0.6b").embed_query("x")


def test_what_is_pulled_is_asked_and_nobody_there_is_no_error() -> None:
    with serving(ollama_answer(["b:latest", "a:1b"])) as there:
        assert list_pulled(there.url) == ["a:1b", "b:latest"]
    assert list_pulled("http://127.0.0.1:9") is None
    for bad in (Reply(b"{}"), Reply(b"[1]"), Reply(b"no"), Reply(status=500), Reply(pause=1.0)):
        with serving(told([bad])) as there:
            assert list_pulled(there.url) is None


def test_the_model_is_the_largest_pulled_one_that_fits_the_memory() -> None:
    every = ["qwen3-embedding:0.6b", "qwen3-embedding:4b", "qwen3-embedding:8b"]
    gb = 1 << 30
    assert choose_qwen(every, free=33 * gb) == qwen_for_memory(33 * gb) == "qwen3-embedding:8b"
    assert choose_qwen(every, free=32 * gb) == "qwen3-embedding:4b"
    assert choose_qwen(every, free=0) == qwen_for_memory(0) == "qwen3-embedding:0.6b"
    assert choose_qwen(every[:1], free=99 * gb) == "qwen3-embedding:0.6b"
    assert choose_qwen(["llama3:8b"], free=99 * gb) is None


def test_free_memory_that_comes_and_goes_does_not_change_the_model_of_a_store() -> None:
    every = ["qwen3-embedding:0.6b", "qwen3-embedding:8b"]
    assert choose_qwen(every, free=0, stored="ollama:qwen3-embedding:8b") == "qwen3-embedding:8b"
    assert choose_qwen(every[:1], free=0, stored="ollama:qwen3-embedding:8b") == "qwen3-embedding:0.6b"


def test_free_memory_is_read_where_the_system_tells_it(tmp_path: Any) -> None:
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   2048 kB\n")
    assert measure_free_memory(tmp_path / "meminfo") == 2048 * 1024
    assert measure_free_memory(tmp_path / "nothing") >= 0


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("box:8000", "http://box:8000"),
        ("https://box/", "https://box"),
        ("box", "http://box:11434"),
    ],
)
def test_ollama_is_looked_for_where_its_own_tools_look(host: str, url: str) -> None:
    assert find_server({"OLLAMA_HOST": host}) == url


def test_a_name_without_a_tag_means_latest() -> None:
    assert [full_name(name) for name in ("a", "a:1b", "me/a", "host:5000/me/a")] == [
        "a:latest",
        "a:1b",
        "me/a:latest",
        "host:5000/me/a:latest",
    ]


# --- sizes and prefixes --------------------------------------------------------------------------------------------


def test_requests_are_bounded_by_count_and_by_size() -> None:
    assert [len(batch) for batch in split_requests(["x" * 8000] * 70)] == [31, 31, 8]
    assert [len(batch) for batch in split_requests(["x"] * 129)] == [128, 1]
    assert cut_to_limit("é" * 5000) == "é" * 4000


def test_the_more_exact_name_decides_the_prefix() -> None:
    assert find_prompts("snowflake-arctic-embed2:568m").query == "query: "
    assert find_prompts("BAAI/bge-small-en-v1.5").query.startswith("Represent this sentence")
    assert find_prompts("bge-m3").query == ""
    assert find_prompts("text-embedding-3-small").query == ""
