"""How much a request and a memory speak of the same thing, by their words.

A request is judged part by part, sentences and passages of a few, so that its length and its other topics do not
matter: words that are rare in the store and not in everybody's mouth have to be shared, seen from both sides. Pure, and
light: hook processes load it.
"""

from __future__ import annotations

import math
from itertools import pairwise

from recollect.core.common_stems import COMMON_STEMS, PROJECTS
from recollect.core.text import SILENT_WORDS, name_pieces, names, split_terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

# What follows is chosen by benchmarks/moment.py, leaving whole projects out (results/learning.md).
APT = 0.5  # relevance from which a memory is told unasked
MAX_CHARS = 4_000  # of a request or a memory that words are taken from
_THRESHOLD = 0.168  # agreement that makes a relevance of one half
_OTHER_WORDS = 6.5  # that either side could have said as well: short sentences agree by chance
_LENGTH, _SHORTEST = 40, 20  # words: the longer a request, the more of it agrees with something by luck
_RARE = 30  # a word in fewer than one of so many memories is rare; how much fewer tells nothing
_UNSEEN = 50  # memories that a small store does not hold yet
_NAME = 1.25  # what an identifier or a path weighs against a word
_ALONE = 0.88  # weight from which one shared word is enough
_CLOSE = 0.9  # share of the agreement that is asked for, below which a memory is not looked at closely
_FAINT = 0.05  # weight below which a shared word is none
_WINDOW, _STEP = 24, 12  # words of a sentence that is longer, looked at in overlapping parts
_PASSAGE = 48  # words of neighbouring sentences that are also looked at together
_SHORT = 5  # words below which a sentence belongs to the next
_MAX_SENTENCES = 60
_SENTENCE_ENDS = ".!?;:"
_PASTED = 0.5  # what agreement with pasted output or code counts
_PROSE = 0.8  # share of letters and spaces in a line that somebody wrote


class Segment:
    """A part of a request: its words in plain spelling (is it an identifier?), and how much agreement with it
    counts."""

    __slots__ = ("length", "share", "words")

    def __init__(self, words: dict[str, bool], share: float, length: int) -> None:
        self.words = words
        self.share = share
        self.length = length


def telling_words(text: str) -> dict[str, bool]:
    """The words that say what a text is about, and the names in it whole and in pieces: is each an identifier?"""
    plain, _, found = split_terms(text, max_chars=MAX_CHARS)
    words = dict.fromkeys(filter(_is_telling, plain), False)
    for name in found:
        is_code = _is_code(name)
        for piece, is_whole in name_pieces(name):
            if _is_telling(piece):
                words[piece] = words.get(piece, False) or (is_whole and is_code)
    return words


def _is_telling(word: str) -> bool:
    return len(word) > 1 and word not in SILENT_WORDS and not word.isdigit()


def _is_code(name: str) -> bool:
    """Is it an identifier or a path, not words with a hyphen between them as in `dry-run`?"""
    return any(mark in name for mark in "_/\\.:") or any(
        letter.islower() and following.isupper() for letter, following in pairwise(name)
    )


def name_parts(text: str) -> dict[str, set[str]]:
    """The names in a text, and their longer pieces, each with the parts that say nothing more when it is shared."""
    parts: dict[str, set[str]] = {}
    for name in names(text[:MAX_CHARS]):
        pieces = name_pieces(name)
        shorter = {piece for piece, is_whole in pieces if not is_whole}
        for number, (piece, is_whole) in enumerate(pieces):
            if is_whole:
                rest = {other for other, _ in pieces} if number == 0 else shorter
                parts.setdefault(piece, set()).update(rest - {piece})
    return parts


def split_request(text: str) -> list[Segment]:
    """The sentences of a request, long ones in overlapping parts, passages of a few, and the request as a whole."""
    parts: list[tuple[str, int, float, int]] = []  # words, how many are new, share, line
    is_code = False
    for number, line in enumerate(text[:MAX_CHARS].splitlines()):
        if line.lstrip().startswith("```"):
            is_code = not is_code
            continue
        share = _PASTED if is_code or not _is_prose(line) else 1.0
        parts += [(part, length, share, number) for part, length in _sentences(line.split())]
    if len(parts) > _MAX_SENTENCES:
        parts = [*parts[: _MAX_SENTENCES // 2], *parts[-_MAX_SENTENCES // 2 :]]
    sentences = [Segment(telling_words(part), share, length) for part, length, share, _ in parts]
    found = [*sentences, *_passages(sentences, [line for _, _, _, line in parts])]
    if len(sentences) > 1:
        found.append(_join(sentences, share=1.0))
    return [segment for segment in found if segment.words]


def _is_prose(line: str) -> bool:
    return sum(map(str.isalpha, line)) + line.count(" ") >= _PROSE * len(line)


def _sentences(words: Sequence[str]) -> list[tuple[str, int]]:
    """The sentences of a line, each with how many words it has beyond the one before."""
    found: list[tuple[str, int]] = []
    begun = 0
    for place, word in enumerate(words, 1):
        ends = word[-1] in _SENTENCE_ENDS and place - begun >= _SHORT
        if not ends and place < len(words):
            continue
        sentence = words[begun:place]
        last = max(1, len(sentence) - _STEP) if len(sentence) > _WINDOW else 1
        for start in range(0, last, _STEP):
            part = sentence[start : start + _WINDOW]
            found.append((" ".join(part), len(part) - (_WINDOW - _STEP if start else 0)))
        begun = place
    return found


def _passages(sentences: Sequence[Segment], lines: Sequence[int]) -> list[Segment]:
    """Neighbours on one line that together are no longer than a passage."""
    found: list[Segment] = []
    reached = 0
    for start in range(len(sentences)):
        end, length = start, 0
        while end < len(sentences) and lines[end] == lines[start] and length + sentences[end].length <= _PASSAGE:
            length += sentences[end].length
            end += 1
        if end - start > 1 and end > reached:
            found.append(_join(sentences[start:end], share=sentences[start].share))
            reached = end
    return found


def _join(parts: Iterable[Segment], *, share: float) -> Segment:
    words: dict[str, bool] = {}
    length = 0
    for part in parts:
        length += part.length
        for word, is_name in part.words.items():
            words[word] = words.get(word, False) or is_name
    return Segment(words, share, length)


def weigh_stem(stem: str, rows: int, total: int, *, is_name: bool) -> float:
    """How much a stem tells: rare in the store, and not in everybody's mouth. A store of a few memories is taken for a
    part of a larger one: that both of two say a word does not make it common."""
    rarity = math.log(1 + (total + _UNSEEN) / max(rows, 1)) / math.log(1 + _RARE)
    return _uncommon(stem) * min(1.0, rarity) * (_NAME if is_name else 1.0)


def _uncommon(stem: str) -> float:
    return 1 - max(0, COMMON_STEMS.get(stem, 1) - 1) / PROJECTS


class WeighedRequest:
    """A request as the index spells it: stems by part, which of them are names, their weights, and the parts of names
    that say nothing more when the name is shared."""

    __slots__ = ("_least", "_luck", "_names", "_segments", "_segments_of", "_weights")

    def __init__(
        self,
        segments: Sequence[tuple[Mapping[str, bool], float]],
        weights: Mapping[str, float],
        *,
        names: Mapping[str, Collection[str]],
        length: int,
    ) -> None:
        self._weights = weights
        self._names = names
        self._segments = [
            (stems, share, sum(weights[stem] for stem in stems) + _OTHER_WORDS) for stems, share in segments
        ]
        self._segments_of: dict[str, list[int]] = {}
        for number, (stems, _) in enumerate(segments):
            for stem in stems:
                self._segments_of.setdefault(stem, []).append(number)
        self._luck = math.sqrt(max(length, _SHORTEST) / _LENGTH)
        # What is shared at the least, when neither side says anything else: shared ** 2 / (shared + _OTHER_WORDS).
        asked = _CLOSE * _THRESHOLD * min(self._luck, 1.0)
        self._least = (asked + math.sqrt(asked * (asked + 4 * _OTHER_WORDS))) / 2

    def may_agree(self, stems: Collection[str]) -> bool:
        """Could a memory of these words be apt at all, whatever else it says? Most are not worth a closer look."""
        weights = self._weights
        if sum([weights[stem] for stem in stems if stem in weights]) >= self._least:
            return True
        # The index spells a name in its parts.
        return any(parts and all(part in stems for part in parts) for parts in self._names.values())

    def agreement(self, stems: Collection[str]) -> tuple[float, int]:
        """How much a memory of these stems agrees with the part of the request that it agrees with most, and which."""
        shared = {stem for stem in stems if stem in self._weights}
        for name in self._names.keys() & shared:
            shared.difference_update(self._names[name])
        found: dict[int, list[str]] = {}
        for stem in shared:
            for number in self._segments_of[stem]:
                found.setdefault(number, []).append(stem)
        common = sum([COMMON_STEMS[stem] - 1 for stem in stems if stem in COMMON_STEMS])
        held = len(stems) - common / PROJECTS + _OTHER_WORDS
        best, place = 0.0, -1
        for number, some in sorted(found.items()):
            segment, share, said = self._segments[number]
            weight = self._shared_weight(segment, some)
            agreement = share * weight * weight / math.sqrt(said * held)
            if agreement > best:
                best, place = agreement, number
        return best, place

    def _shared_weight(self, segment: Mapping[str, bool], shared: Sequence[str]) -> float:
        """Of the words that a part of the request shares; one common word is no reason to speak."""
        found = [self._weights[stem] for stem in shared]
        telling = sum([weight > _FAINT for weight in found])
        if telling < 2 and not (telling and (max(found) >= _ALONE or any(segment[stem] for stem in shared))):
            return 0.0
        return sum(found)

    def judge(self, agreements: Sequence[tuple[float, int]]) -> list[tuple[float, bool]]:
        """How relevant each memory is, APT and more is enough, and whether a part of the request speaks of it most.

        A long request agrees with something by luck, so more is asked of it. Once a memory is apt all the same, the
        request is about what the store knows, and what its other parts speak of most is held to no more than a short
        request would be.
        """
        most: dict[int, float] = {}
        for agreement, place in agreements:
            most[place] = max(agreement, most.get(place, 0.0))
        is_known = max(most.values(), default=0.0) / self._luck >= _THRESHOLD
        judged: list[tuple[float, bool]] = []
        for agreement, place in agreements:
            leads = 0.0 < agreement == most[place]
            left = agreement / (min(self._luck, 1.0) if is_known and leads else self._luck)
            judged.append((left / (left + _THRESHOLD), leads))
        return judged
