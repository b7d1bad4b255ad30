"""A short digest of a text for names and keys. Light to load: `hashlib` brings a whole cryptographic library along."""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found,unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found,unused-ignore]  # its name before Python 3.12
    except ImportError:
        from hashlib import sha256


def digest(text: str) -> str:
    """The first sixteen hexadecimal letters of the text's SHA-256."""
    return str(sha256(text.encode("utf-8", "replace")).hexdigest())[:16]
