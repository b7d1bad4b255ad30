"""The static table: mean of known tokens, length one, read from a mapped safetensors file."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from embed.embed_tools import TOKENS, pack_of, put, table_file
from recollect.embed.packs import EMBEDDERS, is_installed
from recollect.embed.port import PackCorrupt, PackMissing
from recollect.embed.static import StaticEmbedder, mean_rows, read_table

TABLE = np.random.default_rng(7).normal(size=(len(TOKENS), 4)).astype(np.float32)


@pytest.fixture
def embedder(tmp_path: Path) -> StaticEmbedder:
    weights = table_file(TABLE)
    pack = pack_of(weights)
    put(pack, tmp_path, weights)
    return StaticEmbedder(pack, tmp_path)


def test_a_text_is_the_normalised_mean_of_its_known_tokens(embedder: StaticEmbedder) -> None:
    mean = TABLE[[TOKENS.index(token) for token in ("red", "fox", "fox")]].mean(axis=0)
    found = embedder.embed_documents(["red unheardof fox FOX"])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], mean / np.linalg.norm(mean), rtol=1e-5)


def test_a_text_with_no_known_token_is_zero_and_its_neighbours_are_not(embedder: StaticEmbedder) -> None:
    lengths = np.linalg.norm(embedder.embed_documents(["red", "", "unheardof", "fox"]), axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 0, 1], rtol=1e-5)


def test_thousands_of_texts_come_back_in_their_order(embedder: StaticEmbedder) -> None:
    texts = ["red fox", "the", "jumped"] * 1000
    found = embedder.embed_documents(texts)
    assert found.shape == (3000, 4)
    np.testing.assert_array_equal(found[2997], embedder.embed_query("red fox"))


def test_no_texts_give_no_rows(embedder: StaticEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 4)


def test_a_pack_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(PackMissing) as raised:
        StaticEmbedder(pack_of(b""), tmp_path).embed_query("red")
    assert "recollect models install tiny" in raised.value.hint


@pytest.mark.parametrize(
    "weights",
    [
        b"",
        b"\xff" * 64,
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 400) + b'{"embeddings": ',
        table_file(TABLE)[:-4],
        table_file(TABLE).replace(b"F32", b"F16"),
        table_file(TABLE[:, :3]),
        table_file(TABLE[:5]),
    ],
)
def test_a_file_that_is_not_the_table_is_refused_clearly(tmp_path: Path, weights: bytes) -> None:
    pack = pack_of(weights)
    put(pack, tmp_path, weights)
    with pytest.raises(PackCorrupt):
        StaticEmbedder(pack, tmp_path).embed_query("red")


def test_other_tensors_in_the_file_do_not_disturb(tmp_path: Path) -> None:
    first, second = np.ones((2, 2), np.float32), TABLE
    spans = [(0, first.nbytes), (first.nbytes, first.nbytes + second.nbytes)]
    header = json.dumps(
        {
            name: {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": list(span)}
            for name, tensor, span in zip(("other", "embeddings"), (first, second), spans, strict=True)
        }
    ).encode()
    path = tmp_path / "two.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + first.tobytes() + second.tobytes())
    np.testing.assert_array_equal(read_table(path, pack="two"), TABLE)


def test_the_mean_of_nothing_is_zero() -> None:
    np.testing.assert_array_equal(mean_rows(TABLE, [[], [3], []]), [[0] * 4, TABLE[3], [0] * 4])


def test_the_real_table_knows_what_is_alike(real_packs: Path) -> None:
    if not is_installed(EMBEDDERS["potion"], real_packs):
        pytest.skip("the potion pack is not installed: RECOLLECT_MODELS names no folder that holds it")
    embedder = StaticEmbedder(EMBEDDERS["potion"], real_packs)
    near, far = embedder.embed_documents(["The cat sat on the sofa.", "Interest rates rose by half a point."])
    question = embedder.embed_query("Where is the kitten?")
    assert question @ near > question @ far + 0.1
