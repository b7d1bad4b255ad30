"""BERT's uncased WordPiece: text into token ids, with nothing but the vocabulary.

It gives the ids the `tokenizers` package gives for the same vocabulary (BertNormalizer, BertPreTokenizer, WordPiece).
Known difference: that package knows the punctuation and accents of Unicode 8, Python those of its own, newer Unicode.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

PAD, UNKNOWN, CLS, SEP = "[PAD]", "[UNK]", "[CLS]", "[SEP]"
_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_RUN = re.compile(r"[^ \t\n\r]+")
_CONTINUED = "##"
_LONGEST_WORD = 100  # characters; the reference takes longer words as unknown
_LONGEST_RUN = 65_536  # characters; beyond this a text without spaces is cut before it is read
_CACHED_WORDS = 100_000  # some 20 MB; the cache then starts again
_CACHED_LENGTH = 40  # characters; longer words seldom come twice
_SPACES = frozenset("\t\n\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))))
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """One vocabulary. Safe to share between threads: the only state is a cache of words."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {token: place for place, token in enumerate(vocabulary)}
        self._cache: dict[str, tuple[int, ...]] = {}
        self.size = len(vocabulary)
        self.pad, self.unknown = self._ids.get(PAD, 0), self._ids[UNKNOWN]
        self._frame = (self._ids.get(CLS, self.unknown), self._ids.get(SEP, self.unknown))

    @classmethod
    def from_file(cls, path: Path) -> WordPiece:
        """From a `vocab.txt` (one token a line) or a `tokenizer.json`."""
        return cls(read_vocabulary(path.read_bytes()))

    def encode(self, text: str, *, limit: int = 512, framed: bool = True) -> list[int]:
        """At most `limit` ids; framed by [CLS] and [SEP], which count, unless told otherwise."""
        room = max(limit - 2, 0) if framed else limit
        ids: list[int] = []
        cache = self._cache
        for match in _RUN.finditer(text):
            run = match.group()
            found = cache.get(run)
            ids += self._read(run) if found is None else found
            if len(ids) >= room:
                del ids[room:]
                break
        return [self._frame[0], *ids, self._frame[1]] if framed else ids

    def encode_batch(self, texts: Sequence[str], *, limit: int = 512, framed: bool = True) -> list[list[int]]:
        return [self.encode(text, limit=limit, framed=framed) for text in texts]

    def _read(self, run: str) -> tuple[int, ...]:
        ids = tuple(self._ids_of(run[:_LONGEST_RUN]))
        if len(run) <= _CACHED_LENGTH:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache = {}
            self._cache[run] = ids
        return ids

    def _ids_of(self, run: str) -> Iterator[int]:
        for part in _SPECIAL.split(run) if "[" in run else (run,):
            if _SPECIAL.fullmatch(part):
                yield self._ids.get(part, self.unknown)
            else:
                for word in part.translate(_NORMAL).split(" "):
                    yield from self._pieces(word)

    def _pieces(self, word: str) -> Sequence[int]:
        """The longest pieces from the left; unknown as a whole when one is missing."""
        if not word:
            return ()
        whole = self._ids.get(word)
        if whole is not None:
            return (whole,)
        if len(word) > _LONGEST_WORD:
            return (self.unknown,)
        pieces: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                id = self._ids.get(prefix + word[start:end])
                if id is not None:
                    break
            else:
                return (self.unknown,)
            pieces.append(id)
            start, prefix = end, _CONTINUED
        return pieces


def read_vocabulary(data: bytes) -> list[str]:
    """The tokens in the order of their ids, out of a `vocab.txt` or a `tokenizer.json`."""
    if not data.lstrip().startswith(b"{"):
        return data.decode("utf-8").replace("\r\n", "\n").removesuffix("\n").split("\n")
    import json

    ids = json.loads(data)["model"]["vocab"]
    return sorted(ids, key=ids.__getitem__)


class _Normal(dict[int, str]):
    """How one character reads: lower case, without accent, punctuation and ideographs set apart by spaces.

    Filled as characters are met, so `str.translate` runs at full speed on what has been seen before.
    """

    def __missing__(self, code: int) -> str:
        self[code] = reading = _reading(chr(code))
        return reading


def _reading(char: str) -> str:
    if char in _SPACES:
        return " "
    if char == "\ufffd" or unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs"):
        return ""
    bare = (part.lower() for part in unicodedata.normalize("NFD", char) if unicodedata.category(part) != "Mn")
    if _stands_alone(char):
        return f" {''.join(bare)} "
    return "".join(f" {part} " if _is_punctuation(part) else part for part in bare)


def _stands_alone(char: str) -> bool:
    return any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)


def _is_punctuation(char: str) -> bool:
    return unicodedata.category(char[:1] or "a").startswith("P") or (char.isascii() and not char.isalnum())


_NORMAL = _Normal()
