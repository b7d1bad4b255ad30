"""Digests that the hook process computes too: a short name for a text, and the checksum that guards every stored row.

Light to load: `hashlib` would bring a whole cryptographic library along, so the modules below it are asked directly.
"""

from __future__ import annotations

from json.encoder import JSONEncoder

from recollect.core.fields import FIRST_COLUMNS

try:
    from _blake2 import blake2b  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    from hashlib import blake2b
try:
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]  # its name before Python 3.12
    except ImportError:
        from hashlib import sha256

__all__ = ("blake2b", "checksum", "sha256", "short_digest")

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def short_digest(text: str) -> str:
    """The first sixteen hexadecimal letters of the text's SHA-256."""
    return str(sha256(text.encode("utf-8", "replace")).hexdigest())[:16]


_encode = JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def checksum(values: Sequence[object]) -> int:
    """A 63-bit digest of the values of a row: positive, so that every engine keeps it in a big integer."""
    return int.from_bytes(blake2b(_encode(values).encode(errors="surrogatepass"), digest_size=8).digest()) >> 1


def row_checksum(row: Sequence[object]) -> int:
    """The checksum of a memory's row. Columns of later schemas count up to the last that holds something, so that a row
    from before them keeps its checksum."""
    end = len(row)
    while end > FIRST_COLUMNS and row[end - 1] is None:
        end -= 1
    return checksum(row[:end])
