"""How much a request and a memory speak of the same thing, by their words.

A request is judged sentence by sentence, so that its length and its other topics do not matter: words that are rare in
the store and not in everybody's mouth have to be shared, seen from both sides. Pure, and light: hook processes load it.
"""

from __future__ import annotations

import math

from recollect.core.common_stems import COMMON_STEMS, PROJECTS
from recollect.core.text import is_small_talk, is_telling, name_pieces, split_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

APT = 0.5  # relevance from which a memory is told unasked
MAX_CHARS = 4_000  # of a request or a memory that words are taken from
_THRESHOLD = 0.15  # agreement that makes a relevance of one half
_OTHER_WORDS = 6.5  # that either side could have said as well: short sentences agree by chance
_LENGTH, _SHORTEST = 40, 20  # words: the longer a request, the more of it agrees with something by luck
_RARE = 0.88  # weight from which one shared word is enough
_LEAST = 0.8  # weight of all that a request and a memory share, below which no sentence can agree enough
_UNSEEN = 50  # memories that a small store does not hold yet
_FAINT = 0.05  # weight below which a shared word is none
_WINDOW, _STEP = 24, 12  # words of a sentence that is longer, looked at in overlapping parts
_SHORT = 5  # words below which a sentence belongs to the next
_MAX_SEGMENTS = 60
_SENTENCE_ENDS = ".!?;:"
_PASTED = 0.5  # what agreement with pasted output or code counts
_PROSE = 0.8  # share of letters and spaces in a line that somebody wrote


class Segment:
    """A part of a request: its words in plain spelling (is it a name?), and how much agreement with it counts."""

    __slots__ = ("share", "words")

    def __init__(self, words: dict[str, bool], share: float) -> None:
        self.words = words
        self.share = share


def telling_words(text: str) -> dict[str, bool]:
    """The words that say what a text is about, and the names in it whole and in pieces: is each a whole name?"""
    plain, _, names = split_terms(text, max_chars=MAX_CHARS)
    found = dict.fromkeys(filter(_is_telling, plain), False)
    for name in names:
        for piece, is_whole in name_pieces(name):
            if _is_telling(piece):
                found[piece] = found.get(piece, False) or is_whole
    return found


def _is_telling(word: str) -> bool:
    return len(word) > 1 and not word.isdigit() and is_telling(word) and not is_small_talk(word)


def split_request(text: str) -> list[Segment]:
    """The sentences of a request, long ones in overlapping parts, and the request as a whole."""
    text = text[:MAX_CHARS]
    parts: list[tuple[str, float]] = []
    is_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
            continue
        share = _PASTED if is_code or not _is_prose(line) else 1.0
        parts += [(part, share) for part in _sentences(line.split())]
    if len(parts) > _MAX_SEGMENTS:
        parts = [*parts[: _MAX_SEGMENTS // 2], *parts[-_MAX_SEGMENTS // 2 :]]
    if len(parts) != 1:
        parts.append((text, 1.0))
    return [Segment(words, share) for part, share in parts if (words := telling_words(part))]


def _is_prose(line: str) -> bool:
    return sum(letter.isalpha() or letter == " " for letter in line) >= _PROSE * len(line)


def _sentences(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    begun = 0
    for place, word in enumerate(words, 1):
        ends = word[-1] in _SENTENCE_ENDS and place - begun >= _SHORT
        if not ends and place < len(words):
            continue
        sentence = words[begun:place]
        last = max(1, len(sentence) - _STEP) if len(sentence) > _WINDOW else 1
        found += [" ".join(sentence[start : start + _WINDOW]) for start in range(0, last, _STEP)]
        begun = place
    return found


def weigh_stem(stem: str, rows: int, total: int) -> float:
    """How much a stem tells, up to 1: rare in the store, and not in everybody's mouth. A store of a few memories is
    taken for a part of a larger one: that both of two say a word does not make it common."""
    total += _UNSEEN
    return _uncommon(stem) * math.log(1 + total / max(rows, 1)) / math.log(1 + total)


def _uncommon(stem: str) -> float:
    return 1 - max(0, COMMON_STEMS.get(stem, 1) - 1) / PROJECTS


class WeighedRequest:
    """A request as the index spells it: stems by segment, their weights, and which of them are names."""

    __slots__ = ("_luck", "_segments", "_weights")

    def __init__(
        self, segments: Sequence[tuple[Mapping[str, bool], float]], weights: Mapping[str, float], *, length: int
    ) -> None:
        self._weights = weights
        self._segments = [
            (stems, share, sum(weights[stem] for stem in stems) + _OTHER_WORDS) for stems, share in segments
        ]
        self._luck = math.sqrt(max(length, _SHORTEST) / _LENGTH)

    def relevance(self, stems: Collection[str]) -> float:
        """How much a memory of these stems speaks of what one part of the request does; APT and more is enough."""
        shared = [stem for stem in stems if stem in self._weights]
        held = sum(_uncommon(stem) for stem in stems) + _OTHER_WORDS
        best = max((self._agreement(part, shared, held) for part in self._segments), default=0.0) / self._luck
        return best / (best + _THRESHOLD)

    def may_agree(self, stems: Collection[str]) -> bool:
        """Could a memory of these words be apt at all, whatever else it says? Most are not worth a closer look."""
        return sum(weight for stem, weight in self._weights.items() if stem in stems) >= _LEAST

    def _agreement(
        self, segment: tuple[Mapping[str, bool], float, float], held_stems: Collection[str], held: float
    ) -> float:
        stems, share, said = segment
        shared = [stem for stem in held_stems if stem in stems]
        if not shared:
            return 0.0
        weights = [self._weights[stem] for stem in shared]
        telling = sum(weight > _FAINT for weight in weights)
        if telling < 2 and not (telling and (max(weights) >= _RARE or any(stems[stem] for stem in shared))):
            return 0.0
        return share * sum(weights) ** 2 / math.sqrt(said * held)
