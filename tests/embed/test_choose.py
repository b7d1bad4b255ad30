"""Choosing an embedder: a setting is obeyed or reported, `auto` stays local, and nothing ever raises."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embed.embed_tools import Reply, ollama_answer, serving, told
from recollect.embed.choose import Environment, choose_embedder
from recollect.embed.fastembed import FastEmbedder
from recollect.embed.packs import EMBEDDERS
from recollect.embed.port import Embedder, EmbedderDown, EmbedderWrong

NOBODY = {"OLLAMA_HOST": "http://127.0.0.1:9"}


@pytest.fixture
def here(tmp_path: Path) -> Environment:
    return Environment(tmp_path, variables=NOBODY, has_module=lambda _: True, free_memory=lambda: 1 << 30)


def pretend(folder: Path, *names: str) -> None:
    """Files of the right size: choosing looks no closer."""
    for name in names:
        for file in EMBEDDERS[name].files:
            path = folder / name / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as stream:
                stream.truncate(file.size)


def model(embedder: Embedder | None) -> str | None:
    return None if embedder is None else embedder.model


def test_none_means_none_without_a_word(here: Environment) -> None:
    assert choose_embedder("none", here) == choose_embedder(" none ", here)
    assert (choose_embedder("none", here).embedder, choose_embedder("none", here).notes) == (None, ())


def test_auto_takes_the_best_pack_that_is_installed_and_can_run(here: Environment) -> None:
    pretend(here.folder, "potion")
    assert model(choose_embedder("auto", here).embedder) == "potion-base-8M"
    pretend(here.folder, "arctic")
    assert model(choose_embedder("auto", here).embedder) == "arctic-embed-s-int8"
    choice = choose_embedder("auto", replace(here, has_module=lambda name: name != "onnxruntime"))
    assert model(choice.embedder) == "potion-base-8M"
    assert "recollect[onnx]" in choice.notes[0]


def test_auto_with_nothing_installed_says_how_to_get_a_model(here: Environment) -> None:
    choice = choose_embedder("auto", here)
    assert choice.embedder is None
    assert "`recollect models install`" in choice.notes[0]


def test_auto_asks_no_server_even_if_one_is_there(here: Environment) -> None:
    with serving(ollama_answer(["qwen3-embedding:0.6b"])) as there:
        environment = {"OLLAMA_HOST": there.url, "OPENAI_API_KEY": "k"}
        assert choose_embedder("auto", replace(here, variables=environment)).embedder is None
    assert there.seen == []


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("pack:arctic", "recollect models install arctic"),
        ("pack:nonsense", "arctic, potion"),
        ("pack:", "no model pack"),
        ("ollama", "ollama serve"),
        ("ollama:nomic-embed-text", "ollama serve"),
        ("openai:text-embedding-3-small:256", "OPENAI_API_KEY"),
        ("http://127.0.0.1:9/v1", "lacks an address or a model"),
        ("http://#m", "lacks an address"),
        ("http://[half/v1#m", "lacks an address"),
        ("nonsense", "Use auto"),
        ("", "Use auto"),
        ("none:really", "Use auto"),
    ],
)
def test_a_configured_embedder_that_cannot_work_is_reported_and_never_replaced(
    here: Environment, setting: str, word: str
) -> None:
    pretend(here.folder, "potion")
    choice = choose_embedder(setting, here)
    assert choice.embedder is None
    assert word in choice.notes[0]


def test_a_configured_pack_without_its_runtime_names_the_extra(here: Environment) -> None:
    pretend(here.folder, "arctic", "potion")
    choice = choose_embedder("pack:arctic", replace(here, has_module=lambda name: name != "onnxruntime"))
    assert (choice.embedder, "recollect[onnx]" in choice.notes[0]) == (None, True)


def test_fastembed_without_the_package_names_the_extra(here: Environment) -> None:
    assert "recollect[fastembed]" in choose_embedder("fastembed", replace(here, has_module=lambda _: False)).notes[0]
    assert model(choose_embedder("fastembed", here).embedder) == "fastembed:BAAI/bge-small-en-v1.5"


def test_openai_is_taken_with_model_and_dimensions_and_without_asking_anyone(here: Environment) -> None:
    keyed = replace(here, variables={"OPENAI_API_KEY": "k"})
    found = choose_embedder("openai:text-embedding-3-large:1024", keyed).embedder
    assert found is not None
    assert (found.model, found.dims) == ("openai:text-embedding-3-large:1024", 1024)
    assert model(choose_embedder("openai", keyed).embedder) == "openai:text-embedding-3-small:1536"


def test_an_address_is_taken_with_a_tagged_model_and_never_gets_openais_key(here: Environment) -> None:
    with serving(told([Reply(b'{"data": [{"index": 0, "embedding": [1.0, 2.0]}]}')])) as there:
        environment = {"OPENAI_API_KEY": "sk-openai", "RECOLLECT_EMBED_KEY": "mine"}
        choice = choose_embedder(f"{there.url}/v1#qwen:0.6b:2", replace(here, variables=environment))
        assert choice.embedder is not None
        assert choice.embedder.dims == 2
        choice.embedder.embed_query("x")
    path, body, headers = there.seen[0]
    assert (path, body["model"], headers["Authorization"]) == ("/v1/embeddings", "qwen:0.6b", "Bearer mine")


def test_ollama_is_probed_for_what_it_has(here: Environment) -> None:
    with serving(ollama_answer(["qwen3-embedding:0.6b", "qwen3-embedding:8b", "nomic-embed-text:latest"])) as there:
        at = replace(here, variables={"OLLAMA_HOST": there.url})
        assert model(choose_embedder("ollama", at).embedder) == "ollama:qwen3-embedding:0.6b"
        roomy = replace(at, free_memory=lambda: 64 << 30)
        assert model(choose_embedder("ollama", roomy).embedder) == "ollama:qwen3-embedding:8b"
        assert model(choose_embedder("ollama:nomic-embed-text", at).embedder) == "ollama:nomic-embed-text:latest"
        assert "ollama pull mxbai-embed-large" in choose_embedder("ollama:mxbai-embed-large", at).notes[0]
    with serving(ollama_answer([])) as there:
        choice = choose_embedder("ollama", replace(here, variables={"OLLAMA_HOST": there.url}))
        assert "ollama pull qwen3-embedding:0.6b" in choice.notes[0]


def test_the_ladder_goes_down_in_its_order(here: Environment, tmp_path: Path) -> None:
    everything: dict[str, str] = {
        "OPENAI_API_KEY": "k",
        "RECOLLECT_EMBED_URL": "http://127.0.0.1:9/v1#m:8",
        "FASTEMBED_CACHE_PATH": str(tmp_path / "cache"),
    }
    (tmp_path / "cache" / "models--Qdrant--bge-small-en-v1.5-onnx-Q").mkdir(parents=True)
    pretend(here.folder, "arctic")
    found: list[str | None] = []
    with serving(ollama_answer(["qwen3-embedding:0.6b"])) as there:
        found.append(
            model(choose_embedder("ladder", replace(here, variables={**everything, "OLLAMA_HOST": there.url})).embedder)
        )
    left = {**everything, **NOBODY}
    for name in ("OPENAI_API_KEY", "RECOLLECT_EMBED_URL", "FASTEMBED_CACHE_PATH", "nothing"):
        found.append(model(choose_embedder("ladder", replace(here, variables=left)).embedder))
        left.pop(name, None)
        left.setdefault("FASTEMBED_CACHE_PATH", str(tmp_path / "empty"))
    assert found == [
        "ollama:qwen3-embedding:0.6b",
        "openai:text-embedding-3-small:1536",
        "127.0.0.1:9:m:8",
        "fastembed:BAAI/bge-small-en-v1.5",
        "arctic-embed-s-int8",
    ]


def test_the_ladder_with_no_rung_left_tells_what_each_lacks(here: Environment, tmp_path: Path) -> None:
    bare = replace(here, variables={**NOBODY, "FASTEMBED_CACHE_PATH": str(tmp_path)})
    notes = " ".join(choose_embedder("ladder", bare).notes)
    assert all(word in notes for word in ("ollama serve", "OPENAI_API_KEY", "recollect models install"))


def test_a_port_that_takes_calls_but_never_answers_does_not_hold_anyone_up(here: Environment) -> None:
    with serving(told([Reply(pause=2.0)])) as there:
        started = time.monotonic()
        assert choose_embedder("ladder", replace(here, variables={"OLLAMA_HOST": there.url})).embedder is None
        assert time.monotonic() - started < 1.0


def test_choosing_loads_neither_numpy_nor_a_runtime() -> None:
    program = (
        "import sys; from pathlib import Path; from recollect.embed.choose import Environment, choose_embedder\n"
        "import recollect.embed.cached, recollect.embed.install, recollect.embed.static\n"
        "here = Environment(Path('nowhere')); choose_embedder('auto', here); choose_embedder('fastembed', here)\n"
        "print(sorted({'numpy', 'onnxruntime', 'fastembed'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- fastembed, as far as it goes without a hub --------------------------------------------------------------------


class FakeTextEmbedding:
    def __init__(self, rows: Any) -> None:
        self.rows, self.asked = rows, []

    def embed(self, texts: list[str]) -> Any:
        self.asked += texts
        if isinstance(self.rows, Exception):
            raise self.rows
        return iter(self.rows[: len(texts)])


def test_fastembed_is_loaded_once_normalised_and_given_the_prefix_for_questions_only() -> None:
    fake = FakeTextEmbedding(np.full((9, 3), 2.0))
    loads: list[str] = []
    embedder = FastEmbedder("BAAI/bge-small-en-v1.5", dims=3, load=lambda name: loads.append(name) or fake)
    assert np.linalg.norm(embedder.embed_documents(["a", "b"]), axis=1).round(5).tolist() == [1, 1]
    embedder.embed_query("c")
    assert embedder.embed_documents([]).shape == (0, 3)
    assert loads == ["BAAI/bge-small-en-v1.5"]
    assert fake.asked == ["a", "b", "Represent this sentence for searching relevant passages: c"]


def test_fastembed_that_could_not_be_loaded_is_not_tried_again() -> None:
    loads: list[str] = []

    def load(name: str) -> Any:
        loads.append(name)
        raise EmbedderDown(name, "no hub")

    embedder = FastEmbedder("m", load=load)
    for _ in range(3):
        with pytest.raises(EmbedderDown, match="no hub"):
            embedder.embed_query("x")
    assert loads == ["m"]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        (np.ones((1, 2)), EmbedderWrong),
        (np.full((1, 3), np.nan), EmbedderWrong),
        (RuntimeError("broken"), EmbedderDown),
    ],
)
def test_fastembed_that_misbehaves_is_an_error_of_ours(rows: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        FastEmbedder("m", dims=3, load=lambda _: FakeTextEmbedding(rows)).embed_query("x")
