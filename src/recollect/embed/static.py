"""A static table: each token has one vector, a text is their mean. No network, no runtime, some 50 µs a question.

The semantics are model2vec's: tokens without [CLS] and [SEP], cut at 512, unknown ones dropped, plain mean, length one.
The weighting by word frequency is already in the table.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from recollect.embed.packs import VOCABULARY, Pack, locate_pack
from recollect.embed.port import PackCorrupt, unit_rows
from recollect.embed.wordpiece import WordPiece

if TYPE_CHECKING:
    from recollect.embed.port import Vectors

_AT_ONCE = 1024  # texts; bounds the memory of one gather
_TENSOR = "embeddings"
_LARGEST_HEADER = 1 << 20  # bytes; a header beyond this is no header


class StaticEmbedder:
    """A pack with a table. The table stays on disk and is mapped, so the first question pays only for its own rows."""

    def __init__(self, pack: Pack, folder: Path) -> None:
        self._pack, self._folder = pack, folder
        self._lock = Lock()
        self._loaded: tuple[WordPiece, Vectors] | None = None

    @property
    def model(self) -> str:
        return self._pack.model

    @property
    def dims(self) -> int:
        return self._pack.dims

    @property
    def at_hand(self) -> bool:
        return self._loaded is not None

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_documents([self._pack.prefix + text])[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        words, table = self._ready()
        out = np.zeros((len(texts), self.dims), dtype=np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            encoded = words.encode_batch(texts[start : start + _AT_ONCE], limit=self._pack.max_tokens, framed=False)
            known = [[id for id in ids if id != words.unknown] for ids in encoded]
            out[start : start + len(known)] = mean_rows(table, known)
        return unit_rows(out)

    def _ready(self) -> tuple[WordPiece, Vectors]:
        with self._lock:
            if self._loaded is None:
                home = locate_pack(self._pack, self._folder)
                words = WordPiece.from_file(home / VOCABULARY)
                name = self._pack.files[0].name
                table = read_table(home / name, pack=self._pack.name)
                if table.shape != (words.size, self.dims):
                    problem = f"a table of {table.shape} does not fit {words.size} tokens × {self.dims}"
                    raise PackCorrupt(self._pack.name, name, problem, where=str(home))
                self._loaded = (words, table)
            return self._loaded


def mean_rows(table: Vectors, texts: Sequence[Sequence[int]]) -> Vectors:
    """The mean of the rows each text names; zeros for a text that names none."""
    import numpy as np

    out = np.zeros((len(texts), table.shape[1]), dtype=np.float32)
    filled = [place for place, ids in enumerate(texts) if ids]
    if not filled:
        return out
    lengths = np.array([len(texts[place]) for place in filled])
    rows = table[np.concatenate([np.asarray(texts[place], dtype=np.intp) for place in filled])]
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    out[filled] = np.add.reduceat(rows, starts, axis=0) / lengths[:, None]
    return out


def read_table(path: Path, *, pack: str) -> Vectors:
    """The one float32 matrix of a safetensors file, mapped, not read."""
    import numpy as np

    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        header = stream.read(length) if length <= _LARGEST_HEADER else b""
    try:
        tensor: dict[str, Any] = json.loads(header)[_TENSOR]
        rows, columns = (int(side) for side in tensor["shape"])
        first, last = (int(offset) for offset in tensor["data_offsets"])
        if tensor["dtype"] != "F32" or last - first != rows * columns * 4:
            raise ValueError("not a float32 matrix")
        return np.memmap(path, dtype="<f4", mode="r", offset=8 + length + first, shape=(rows, columns))
    except (ValueError, KeyError, TypeError) as error:
        raise PackCorrupt(pack, path.name, f"no table can be read from it ({error})", where=str(path)) from None
