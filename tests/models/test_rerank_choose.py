"""Which reranker a setting means, and that a store opens and answers whatever it says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import recollect
from embed.embed_tools import Reply, serving
from models.test_rerank_remote import cohere_answer
from recollect.config import Settings
from recollect.embed.choose import Environment
from recollect.embed.packs import EMBEDDERS, RERANKERS
from recollect.models.rerank import choose_reranker
from recollect.testing.fakes import FunctionReranker


def here(folder: Path, environment: Mapping[str, str] | None = None) -> Environment:
    return Environment(folder, environment or {})


@pytest.mark.parametrize(
    ("setting", "environment", "name"),
    [
        ("ollama", {}, "ollama:qwen3-reranker"),
        ("ollama:my/reranker:q8", {}, "ollama:my/reranker:q8"),
        ("cohere", {"COHERE_API_KEY": "k"}, "cohere:rerank-v3.5"),
        ("cohere:rerank-v4.0-fast", {"CO_API_KEY": "k"}, "cohere:rerank-v4.0-fast"),
        ("http://me:pw@host:8080/v1#jina-reranker", {}, "host:8080:jina-reranker"),
        ("https://host/rerank", {}, "host"),
    ],
)
def test_a_setting_names_its_reranker(tmp_path: Path, setting: str, environment: dict[str, str], name: str) -> None:
    choice = choose_reranker(setting, here(tmp_path, environment))
    assert choice.reranker is not None
    assert choice.reranker.name == name
    assert choice.notes == ()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("onnx", "not installed: `recollect models install marco`"),
        ("onnx:nope", "no reranker pack 'nope'"),
        ("cohere", "COHERE_API_KEY"),
        ("http://", "no address"),
        ("http://[::1", "no address"),
        ("magic", "no reranker 'magic'"),
        ("", "no reranker ''"),
        ("none:x", "no reranker"),
    ],
)
def test_a_setting_that_cannot_be_had_says_what_to_do(tmp_path: Path, setting: str, said: str) -> None:
    choice = choose_reranker(setting, here(tmp_path))
    assert choice.reranker is None
    assert said in choice.notes[0]


def test_an_installed_pack_without_the_runtime_says_so(tmp_path: Path) -> None:
    pack = RERANKERS["marco"]
    (tmp_path / "marco").mkdir()
    for file in pack.files:
        with (tmp_path / "marco" / file.name).open("wb") as out:
            out.truncate(file.size)
    missing = Environment(tmp_path, {}, has_module=lambda name: False)
    assert "onnxruntime" in choose_reranker("onnx", missing).notes[0]
    assert choose_reranker("onnx", here(tmp_path)).reranker is not None


def test_packs_of_rerankers_and_embedders_share_no_name() -> None:
    assert not set(RERANKERS) & set(EMBEDDERS)


def test_a_configured_reranker_decides_the_order_and_shows_on_the_hit() -> None:
    with serving(cohere_answer) as there, opened(f"{there.url}#m") as memory:
        teach(memory)
        best = memory.recall("what does the deploy need?").hits
    assert best[0].memory.content == "the deploy does need a token what"
    assert best[0].factors["rerank"] == max(hit.factors["rerank"] for hit in best)


def test_a_reranker_that_is_down_costs_a_note_and_not_the_answer() -> None:
    with serving(lambda *_: Reply(b"{}", status=404)) as there, opened(f"{there.url}#m") as memory:
        teach(memory)
        found = memory.recall("what does the deploy need?")
    assert len(found.hits) == 3
    assert any("does not answer: status 404" in note for note in found.notes)


def test_a_reranker_that_cannot_be_had_is_named_with_every_answer() -> None:
    with opened("cohere") as memory:
        teach(memory)
        assert any("COHERE_API_KEY" in note for note in memory.recall("deploy").notes)


def test_a_reranker_can_be_handed_in() -> None:
    marker = FunctionReranker(lambda question, text: float("weekly" in text))
    with recollect.open(":memory:", settings=Settings(embedder="none"), reranker=marker) as memory:
        teach(memory)
        assert memory.recall("what does the deploy need?").hits[0].memory.content.endswith("weekly")


def opened(setting: str) -> recollect.Recollect:
    return recollect.open(":memory:", settings=Settings(embedder="none", reranker=setting))


def teach(memory: recollect.Recollect) -> None:
    memory.remember("the deploy does need a token what")
    memory.remember("a deploy to production happens weekly")
    memory.remember("deploy scripts live in ops/")


def test_without_a_reranker_none_of_its_modules_is_loaded() -> None:
    program = (
        "import sys, recollect; from recollect.config import Settings\n"
        "with recollect.open(':memory:', settings=Settings(embedder='none')) as memory: memory.recall('x')\n"
        "print([name for name in sys.modules if name.startswith('recollect.models')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
