"""The ONNX embedder on a small encoder written here, byte by byte, and on the real pack where it is installed."""

from __future__ import annotations

import struct
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from embed.embed_tools import TOKENS, pack_of, put
from recollect.embed.onnx import Encoder, OnnxEmbedder, first_token_states, pad_batch
from recollect.embed.packs import EMBEDDERS, Pack, is_installed
from recollect.embed.port import EmbedderDown, EmbedderWrong, PackCorrupt

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'recollect[onnx]'")

TABLE = np.random.default_rng(5).normal(size=(len(TOKENS), 4)).astype(np.float32)
FLOAT, INT64 = 1, 7


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a protobuf message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def node(kind: str, inputs: list[str], output: str, *attributes: bytes) -> bytes:
    named = b"".join(field(1, name) for name in inputs)
    return field(
        1, named + field(2, output) + field(4, kind) + b"".join(field(5, attribute) for attribute in attributes)
    )


def integer(name: str, value: int) -> bytes:
    return field(1, name) + field(3, value) + field(20, 2)


def constant(name: str, kind: int, shape: tuple[int, ...], data: bytes) -> bytes:
    return field(5, b"".join(field(1, side) for side in shape) + field(2, kind) + field(8, name) + field(9, data))


def value(number: int, name: str, kind: int, sides: int) -> bytes:
    shape = b"".join(field(1, field(2, f"{name}_{side}")) for side in range(sides))
    return field(number, field(1, name) + field(2, field(1, field(1, kind) + field(2, shape))))


def encoder(table: Any) -> bytes:
    """hidden[t] = table[t] + Σ table[tokens that are not padding]: the first token knows the whole text."""
    graph = (
        node("Gather", ["table", "input_ids"], "each")
        + node("Cast", ["attention_mask"], "mask", integer("to", FLOAT))
        + node("Unsqueeze", ["mask", "last"], "column")
        + node("Mul", ["each", "column"], "kept")
        + node("ReduceSum", ["kept", "middle"], "sum", integer("keepdims", 1))
        + node("Add", ["each", "sum"], "last_hidden_state")
        + field(2, "tiny")
        + constant("table", FLOAT, table.shape, table.astype("<f4").tobytes())
        + constant("last", INT64, (1,), struct.pack("<q", 2))
        + constant("middle", INT64, (1,), struct.pack("<q", 1))
        + value(11, "input_ids", INT64, 2)
        + value(11, "attention_mask", INT64, 2)
        + value(12, "last_hidden_state", FLOAT, 3)
    )
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def tiny(folder: Path, weights: bytes, **more: Any) -> Pack:
    pack = pack_of(weights, file="model.onnx", **more)
    put(pack, folder, weights)
    return pack


def expected(*tokens: str) -> Any:
    rows = TABLE[[TOKENS.index(token) for token in ("[CLS]", *tokens, "[SEP]")]]
    vector = rows[0] + rows.sum(axis=0)
    return vector / np.linalg.norm(vector)


@pytest.mark.parametrize("batch", [1, 8])
def test_each_text_is_the_unit_state_of_its_first_token_whatever_it_is_batched_with(tmp_path: Path, batch: int) -> None:
    embedder = OnnxEmbedder(tiny(tmp_path, encoder(TABLE)), tmp_path, threads=2, batch=batch)
    found = embedder.embed_documents(["red", "the red fox jumped", "", "fox"] * 5)
    np.testing.assert_allclose(found[0], expected("red"), rtol=1e-5)
    np.testing.assert_allclose(found[17], expected("the", "red", "fox", "jump", "##ed"), rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)


def test_only_questions_get_the_prefix(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny(tmp_path, encoder(TABLE), prefix="the "), tmp_path)
    np.testing.assert_allclose(embedder.embed_query("fox"), expected("the", "fox"), rtol=1e-5)
    np.testing.assert_allclose(embedder.embed_documents(["fox"])[0], expected("fox"), rtol=1e-5)


def test_a_text_is_cut_at_what_the_model_can_read(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny(tmp_path, encoder(TABLE), max_tokens=4), tmp_path)
    np.testing.assert_allclose(embedder.embed_documents(["red fox " * 9999])[0], expected("red", "fox"), rtol=1e-5)


def test_threads_may_share_an_embedder_from_its_first_text_on(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tiny(tmp_path, encoder(TABLE)), tmp_path, threads=2)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(lambda _: embedder.embed_documents(["red", "fox"]), range(40)):
            np.testing.assert_allclose(found, [expected("red"), expected("fox")], rtol=1e-5)


def test_no_texts_give_no_rows(tmp_path: Path) -> None:
    assert OnnxEmbedder(tiny(tmp_path, encoder(TABLE)), tmp_path).embed_documents([]).shape == (0, 4)


def test_bytes_changed_after_installing_are_named_as_such(tmp_path: Path) -> None:
    weights = encoder(TABLE)
    pack = tiny(tmp_path, weights)
    (tmp_path / pack.name / "model.onnx").write_bytes(b"\xff" * len(weights))
    with pytest.raises(PackCorrupt, match="have changed"):
        OnnxEmbedder(pack, tmp_path).embed_query("red")


def test_vectors_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    broken = TABLE.copy()
    broken[TOKENS.index("fox")] = np.nan
    embedder = OnnxEmbedder(tiny(tmp_path, encoder(broken)), tmp_path)
    assert np.isfinite(embedder.embed_query("red")).all()
    with pytest.raises(EmbedderWrong, match="NaN"):
        embedder.embed_documents(["red", "fox"])


def test_a_model_with_other_dimensions_than_its_pack_says_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderWrong, match="shape"):
        OnnxEmbedder(tiny(tmp_path, encoder(TABLE), dims=5), tmp_path).embed_query("red")


def test_padding_is_masked_and_the_first_token_is_taken() -> None:
    fed = pad_batch([[7, 8, 9], [5]], pad=0)
    assert fed["input_ids"].tolist() == [[7, 8, 9], [5, 0, 0]]
    assert fed["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    hidden = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert first_token_states(hidden).tolist() == [[0, 1], [6, 7]]


def test_the_real_model_puts_the_answer_first_and_gives_a_text_one_vector(real_packs: Path) -> None:
    if not is_installed(EMBEDDERS["arctic"], real_packs):
        pytest.skip("the arctic pack is not installed: RECOLLECT_MODELS names no folder that holds it")
    embedder = OnnxEmbedder(EMBEDDERS["arctic"], real_packs, threads=1)
    texts = ["Melanie ran a charity race in May.", "The build fails without make gen.", "Tea is grown in Assam."]
    found = embedder.embed_documents(texts)
    question = embedder.embed_query("When did Melanie do the run for a good cause?")
    assert int(np.argmax(found @ question)) == 0
    np.testing.assert_array_equal(embedder.embed_documents(texts[1:2])[0], found[1])


def test_a_session_that_fails_is_told_with_the_name_of_the_model(tmp_path: Path) -> None:
    class Broken:
        def run(self, *_: object) -> None:
            raise RuntimeError("out of arena")

    encoder = Encoder(next(iter(EMBEDDERS.values())), tmp_path, name="small-model", down=EmbedderDown)
    encoder._loaded = (None, Broken(), frozenset())  # type: ignore[assignment]
    with pytest.raises(EmbedderDown, match=r"small-model.*: onnxruntime failed \(out of arena\)"):
        encoder.run({})
