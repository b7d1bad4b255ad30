"""The ONNX cross-encoder on a small model written here, byte by byte, and on the real pack where it is installed."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from embed.embed_tools import TOKENS, pack_of, put
from embed.test_onnx import FLOAT, INT64, constant, field, integer, node, value
from recollect.embed.onnx import pad_batch
from recollect.embed.packs import RERANKERS, Pack, is_installed
from recollect.embed.port import PackCorrupt, PackMissing
from recollect.embed.wordpiece import WordPiece
from recollect.models.rerank import OnnxReranker, RerankerDown, RerankerWrong, encode_pair, marks_from_logits

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'recollect[onnx]'")

WORDS = WordPiece(TOKENS)
TABLE = np.random.default_rng(7).normal(size=(len(TOKENS), 1)).astype(np.float32)


def cross_encoder(table: np.ndarray) -> bytes:
    """logit = Σ table[token] over the second text: blind to the question, but not to which text is which."""
    graph = (
        node("Gather", ["table", "input_ids"], "each")
        + node("Mul", ["attention_mask", "token_type_ids"], "read")
        + node("Cast", ["read"], "mask", integer("to", FLOAT))
        + node("Unsqueeze", ["mask", "last"], "column")
        + node("Mul", ["each", "column"], "kept")
        + node("ReduceSum", ["kept", "middle"], "logits", integer("keepdims", 0))
        + field(2, "tiny")
        + constant("table", FLOAT, table.shape, table.astype("<f4").tobytes())
        + constant("last", INT64, (1,), struct.pack("<q", 2))
        + constant("middle", INT64, (1,), struct.pack("<q", 1))
        + value(11, "input_ids", INT64, 2)
        + value(11, "attention_mask", INT64, 2)
        + value(11, "token_type_ids", INT64, 2)
        + value(12, "logits", FLOAT, 2)
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def tiny(folder: Path, table: np.ndarray = TABLE) -> Pack:
    weights = cross_encoder(table)
    pack = pack_of(weights, file="model.onnx", dims=1, max_tokens=12)
    put(pack, folder, weights)
    return pack


def test_each_text_gets_the_mark_the_model_gives_its_pair(tmp_path: Path) -> None:
    texts = ["the red fox", "jumped", "", "fox fox fox , !", "jumps the"] * 5
    marks = OnnxReranker(tiny(tmp_path), tmp_path, threads=3).rerank("the fox", texts)
    for text, mark in zip(texts, marks, strict=True):
        ids, kinds = encode_pair(WORDS, "the fox", text, limit=12)
        logit = sum(TABLE[id, 0] for id, kind in zip(ids, kinds, strict=True) if kind)
        assert mark == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-5)


def test_two_logits_are_read_as_no_and_yes(tmp_path: Path) -> None:
    table = np.random.default_rng(8).normal(size=(len(TOKENS), 2)).astype(np.float32)
    red, fox = OnnxReranker(tiny(tmp_path, table), tmp_path).rerank("the", ["red", "fox"])
    ends = table[WORDS.encode("", limit=2)[1]]
    for mark, word in ((red, "red"), (fox, "fox")):
        no, yes = table[TOKENS.index(word)] + ends
        assert mark == pytest.approx(np.exp(yes) / (np.exp(yes) + np.exp(no)), abs=1e-5)


def test_a_pair_fits_and_neither_text_is_lost() -> None:
    ids, kinds = encode_pair(WORDS, "the " * 50, "fox " * 50, limit=12)
    assert (len(ids), kinds.count(0), kinds.count(1)) == (12, 6, 6)
    ids, kinds = encode_pair(WORDS, "the " * 50, "fox", limit=12)
    assert (ids.count(TOKENS.index("the")), ids.count(TOKENS.index("fox"))) == (8, 1)
    ids, _ = encode_pair(WORDS, "the", "fox " * 50, limit=12)
    assert (ids.count(TOKENS.index("the")), ids.count(TOKENS.index("fox"))) == (1, 8)
    assert [TOKENS[id] for id in encode_pair(WORDS, "the", "fox", limit=12)[0]] == [
        "[CLS]",
        "the",
        "[SEP]",
        "fox",
        "[SEP]",
    ]


def test_padding_is_masked() -> None:
    fed = pad_batch([[2, 3], [2, 5, 3]], pad=9, types=[[0, 1], [0, 0, 1]])
    assert fed["input_ids"].tolist() == [[2, 3, 9], [2, 5, 3]]
    assert fed["attention_mask"].tolist() == [[1, 1, 0], [1, 1, 1]]
    assert fed["token_type_ids"].tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("shape", [(3, 1), (2, 3), (2, 1, 1), ()])
def test_an_output_of_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(RerankerWrong, match="shape"):
        marks_from_logits(np.zeros(shape, np.float32), name="x", count=2)


def test_marks_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    broken = np.full_like(TABLE, np.nan)
    with pytest.raises(RerankerWrong, match="NaN"):
        OnnxReranker(tiny(tmp_path, broken), tmp_path).rerank("the", ["fox", "red"])


def test_extreme_logits_stay_between_0_and_1() -> None:
    assert marks_from_logits(np.array([[1e30], [-1e30]], np.float32), name="x", count=2).tolist() == pytest.approx(
        [1, 0]
    )


def test_a_pack_that_is_missing_or_changed_is_told_apart(tmp_path: Path) -> None:
    pack = tiny(tmp_path)
    with pytest.raises(PackMissing):
        OnnxReranker(pack, tmp_path / "elsewhere").rerank("the", ["fox"])
    (tmp_path / pack.name / "model.onnx").write_bytes(b"\0" * pack.files[0].size)
    with pytest.raises(PackCorrupt):
        OnnxReranker(pack, tmp_path).rerank("the", ["fox"])


def test_a_model_that_wants_other_inputs_is_down(tmp_path: Path) -> None:
    weights = cross_encoder(TABLE[:3])  # token ids reach beyond its table
    pack = pack_of(weights, file="model.onnx", dims=1)
    put(pack, tmp_path, weights)
    with pytest.raises(RerankerDown, match="onnxruntime failed"):
        OnnxReranker(pack, tmp_path).rerank("the", ["fox"])


def test_the_real_cross_encoder_knows_an_answer_when_it_reads_one(real_packs: Path) -> None:
    pack = RERANKERS["marco"]
    if not is_installed(pack, real_packs):
        pytest.skip("the pack marco is not installed: recollect models install marco")
    texts = ["Berlin has a population of 3.7 million people.", "New York is known for its museums."]
    good, bad = OnnxReranker(pack, real_packs).rerank("How many people live in Berlin?", texts)
    assert good > 0.9 > 0.1 > bad
