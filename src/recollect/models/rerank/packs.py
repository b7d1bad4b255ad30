"""The cross-encoders that run here, as model packs: pinned like those of the embedders, installed by the same command.

No package of a registry carries one that helps, so their bytes come from the model hub or from a file.
"""

from __future__ import annotations

from collections.abc import Mapping

from recollect.embed.packs import PACKS as EMBEDDERS
from recollect.embed.packs import VOCABULARY, Pack, PackFile

DEFAULT = "marco"

PACKS: Mapping[str, Pack] = {
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
            longest=256,  # memories are short; twice the tokens cost twice the wait
        ),
    )
}

EVERY: Mapping[str, Pack] = {**EMBEDDERS, **PACKS}
