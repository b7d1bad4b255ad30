"""Which files will a session touch, and which go together? From prompts, sessions and commits. Reads, never writes.

Several weak hints add up: sessions that were asked alike, files the prompt names in full or in part, words it shares
with what a file was worked on for, what was touched lately and often, and where the same branch was left.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.observer import policy
from recollect.observer.context import CoChanged
from recollect.store.observed import Observed

PROMPT = 6000  # characters of a prompt that are looked at
MAIN = frozenset({"", "main", "master", "trunk", "develop"})  # branches that everything happens on

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[a-z]+|[0-9]+")
_NAMES = re.compile(r"[\w@.-]+(?:/[\w@.-]+)*")
_ENDINGS = ("ing", "ed", "es", "s")


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSession:
    """An earlier session: what it was asked, what it edited and read."""

    prompt: str
    edited: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    branch: str = ""


@dataclass(frozen=True, slots=True)
class PredictedFile:
    """A file a session will probably touch, and why."""

    path: str
    score: float
    because: tuple[str, ...] = ()


def predict_files(
    prompt: str,
    past: Sequence[PastSession],
    *,
    k: int = 10,
    branch: str = "",
    files: Iterable[str] = (),
    together: Mapping[str, Mapping[str, float]] | None = None,
    weights: Mapping[str, float] = policy.FILE_WEIGHTS,
) -> list[PredictedFile]:
    """The `k` files a session beginning with `prompt` will most probably touch, the surest first.

    `past` is in time order; `files` are files of the project that no session need have touched; `together` tells for a
    file which go with it and how surely, by commits or co-access.
    """
    past = past[-policy.PAST_SESSIONS :]
    asked = prompt[:PROMPT]
    scores = _Scores()
    terms = frozenset(words(asked))
    _by_sessions(scores, terms, past, weights)
    _by_files(scores, terms, past, weights)
    _by_time(scores, past, branch, weights)
    _by_name(scores, asked, terms, {*files, *(path for one in past for path in (*one.edited, *one.read))}, weights)
    if together:
        _by_company(scores, together, weights)
    ranked = sorted(scores.total.items(), key=lambda item: (-item[1], item[0]))
    return [PredictedFile(path, round(score, 4), scores.why(path)) for path, score in ranked[:k] if score > 0]


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, names taken apart and endings cut."""
    parts = _WORD.findall(_HUMP.sub(" ", text).lower())
    return tuple(_stem(part) for part in parts if len(part) > 1)


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


class _Scores:
    """What each file got, and from which hint."""

    def __init__(self) -> None:
        self.total: dict[str, float] = {}
        self._parts: dict[str, dict[str, float]] = {}

    def add(self, path: str, hint: str, score: float) -> None:
        if score > 0:
            self.total[path] = self.total.get(path, 0.0) + score
            parts = self._parts.setdefault(path, {})
            parts[hint] = parts.get(hint, 0.0) + score

    def why(self, path: str) -> tuple[str, ...]:
        parts = self._parts[path]
        return tuple(sorted(parts, key=lambda hint: (-parts[hint], hint))[:3])


def _by_sessions(
    scores: _Scores, terms: frozenset[str], past: Sequence[PastSession], weights: Mapping[str, float]
) -> None:
    likeness = _ranked(terms, [Counter(words(one.prompt[:PROMPT])) for one in past], b=policy.BM25_B)
    order = sorted((place for place, like in enumerate(likeness) if like > 0), key=lambda at: (-likeness[at], -at))
    if not order:
        return
    best, near = likeness[order[0]], order[: policy.ALIKE_SESSIONS]
    sharp = sum((likeness[place] / best) ** policy.SHARPNESS for place in order)
    flat = sum(likeness[place] for place in near)
    for place in order:
        share = 0.5 * (likeness[place] / best) ** policy.SHARPNESS / sharp
        share += 0.5 * likeness[place] / flat if place in near else 0.0
        for path in past[place].edited:
            scores.add(path, "a session was asked alike", weights["alike"] * share)
    for place in near:
        for path in (*past[place].edited, *past[place].read):
            scores.add(path, "a session that was asked alike read it", weights["read_alike"] * likeness[place] / flat)


def _by_files(
    scores: _Scores, terms: frozenset[str], past: Sequence[PastSession], weights: Mapping[str, float]
) -> None:
    """What a file was worked on for: the words of every prompt that led to it."""
    said: dict[str, Counter[str]] = {}
    for one in past:
        counted = Counter(words(one.prompt[:PROMPT]))
        for path in one.edited:
            said.setdefault(path, Counter()).update(counted)
    fits = _ranked(terms, list(said.values()), b=policy.BM25_B_FILE)
    best = max(fits, default=0.0)
    for path, fit in zip(said, fits, strict=True):
        if best:
            scores.add(path, "it was worked on for such words", weights["worked_on"] * fit / best)


def _by_time(scores: _Scores, past: Sequence[PastSession], branch: str, weights: Mapping[str, float]) -> None:
    times: Counter[str] = Counter()
    last: dict[str, int] = {}
    for place, one in enumerate(past):
        times.update(one.edited)
        last.update(dict.fromkeys(one.edited, place))
    for path, n in times.items():
        scores.add(
            path, "touched lately", weights["lately"] * math.exp((last[path] + 1 - len(past)) / policy.FRESH_SESSIONS)
        )
        scores.add(path, "touched often", weights["often"] * math.log1p(n) / math.log1p(len(past)))
    if branch in MAIN:
        return
    same = [one for one in past if one.branch == branch]
    left: dict[str, int] = {}
    for place, one in enumerate(same):
        left.update(dict.fromkeys(one.edited, place))
    for path, place in left.items():
        scores.add(
            path,
            f"work on {branch}",
            weights["branch"] * math.exp((place + 1 - len(same)) / policy.FRESH_BRANCH_SESSIONS),
        )


def _by_name(scores: _Scores, asked: str, terms: frozenset[str], paths: set[str], weights: Mapping[str, float]) -> None:
    low = asked.lower()
    names = {name.strip(".-") for name in _NAMES.findall(low)}
    names |= {part for name in names for part in name.split("/")}
    parts = {path: frozenset(words(path.rpartition("/")[2].rpartition(".")[0])) for path in paths}
    rarity = {
        word: math.log(1 + len(paths) / n) for word, n in Counter(w for held in parts.values() for w in held).items()
    }
    shared = {path: sum(rarity[word] for word in held & terms) for path, held in parts.items()}
    most = max(shared.values(), default=0.0)
    for path in sorted(paths):
        name = path.rpartition("/")[2].lower()
        stem = name.partition(".")[0]
        sure = (
            policy.NAMED_IN_FULL if path.lower() in low
            else policy.NAMED_BY_FILE if len(name) > policy.MIN_NAME_CHARS and name in names
            else policy.NAMED_IN_PART if len(stem) >= policy.MIN_NAME_CHARS and stem in names
            else 0.0
        )  # fmt: skip
        scores.add(path, "the prompt names it", weights["named"] * sure)
        if most:
            scores.add(path, "its name shares words with the prompt", weights["words"] * shared[path] / most)


def _by_company(scores: _Scores, together: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]) -> None:
    leaders = sorted(scores.total.items(), key=lambda item: (-item[1], item[0]))[: policy.ALIKE_SESSIONS]
    for leader, score in leaders:
        for path, surely in together.get(leader, {}).items():
            scores.add(path, f"goes with {leader}", weights["together"] * surely * min(1.0, score))


def _ranked(terms: frozenset[str], texts: Sequence[Counter[str]], *, b: float) -> list[float]:
    """How well each text fits the terms (BM25)."""
    lengths = [text.total() for text in texts]
    usual = sum(lengths) / len(texts) if texts else 1.0
    held = Counter(word for text in texts for word in text.keys() & terms)
    rarity = {word: math.log(1 + (len(texts) - n + 0.5) / (n + 0.5)) for word, n in held.items()}
    return [
        sum(
            rarity[word]
            * text[word]
            * (policy.BM25_K1 + 1)
            / (text[word] + policy.BM25_K1 * (1 - b + b * length / (usual or 1.0)))
            for word in text.keys() & terms
        )
        for text, length in zip(texts, lengths, strict=True)
    ]


# --- files that change together ------------------------------------------------------------------------------------


_MOST_FILES = 20  # files that are asked about


class ObservedCoChange:
    """Files that change together: by what agents were seen to do, and before anyone was watched by commits.

    Commits count as a few sessions would, so they are the first word and lose it as sessions speak.
    """

    def __init__(self, observed: Observed, cochanged: CoChanged) -> None:
        self._observed = observed
        self._cochanged = cochanged

    def changing_with(self, files: Sequence[str]) -> Mapping[str, float]:
        """Files that go with some of `files`, each with how surely."""
        wanted = list(dict.fromkeys(files))[:_MOST_FILES]
        found: dict[str, float] = {}
        for near in self.together(wanted).values():
            for other, weight in near.items():
                if other not in wanted:
                    found[other] = max(weight, found.get(other, 0.0))
        return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))

    def together(self, files: Sequence[str]) -> dict[str, dict[str, float]]:
        """For each file, which go with it: the share of its sessions that used them close by."""
        pairs = self._observed.pairs(touching=files)
        sessions = {file.path: file.sessions for file in self._observed.files(paths=files)} if pairs else {}
        shared: dict[str, dict[str, int]] = {path: {} for path in files}
        for pair in pairs:
            for mine, other in ((pair.one, pair.other), (pair.other, pair.one)):
                if mine in shared:
                    shared[mine][other] = pair.sessions
        return {path: _blended(shared[path], sessions.get(path, 0), self._committed(path)) for path in files}

    def _committed(self, path: str) -> dict[str, float]:
        return {other: weight for other, weight, _ in self._cochanged([path])}


def _blended(shared: Mapping[str, int], sessions: int, committed: Mapping[str, float]) -> dict[str, float]:
    prior = policy.COMMITTED_SESSIONS if committed else 0
    return {
        other: round(min(1.0, (shared.get(other, 0) + prior * committed.get(other, 0.0)) / max(1, sessions + prior)), 4)
        for other in {*shared, *committed}
    }
