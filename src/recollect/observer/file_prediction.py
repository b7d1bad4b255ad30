"""Which files will a session touch, and which go together? From prompts, sessions and commits. Reads, never writes.

Several weak hints add up: what was touched lately and often, files the prompt names or shares words with, sessions that
were asked alike, what a file was worked on for, where the same branch was left. A word that every prompt of the project
holds says nothing, and naming a file counts by what naming it led to before.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from recollect.observer import policy
from recollect.observer.context import CoChanged
from recollect.store.observed import Observed

PROMPT = 6000  # characters of a prompt that are looked at
MAIN = frozenset({"", "main", "master", "trunk", "develop"})  # branches that everything happens on

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[a-z0-9]+")
_ENDINGS = ("ing", "ed", "es", "s")

Together: TypeAlias = Callable[[Sequence[str]], Mapping[str, Mapping[str, float]]]  # for each file, which go with it
Hints: TypeAlias = dict[str, dict[str, float]]  # by name, what each says of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSession:
    """An earlier session: what it was asked, what it edited, how often each, and what it only read."""

    prompt: str
    edited: tuple[str, ...] = ()
    edits: tuple[int, ...] = ()  # of each edited file; one where nothing is told
    read: tuple[str, ...] = ()
    branch: str = ""


@dataclass(frozen=True, slots=True)
class PredictedFile:
    """A file a session will probably touch, and why."""

    path: str
    score: float
    because: tuple[str, ...] = ()


_BECAUSE: Mapping[str, str] = {
    "lately": "touched lately",
    "often": "touched often",
    "much": "changed many times",
    "read": "read lately",
    "alike": "a session was asked alike",
    "worked_on": "it was worked on for such words",
    "words": "its name shares words with the prompt",
    "covered": "its name shares words with the prompt",
    "named": "the prompt names it",
    "branch": "work on the same branch",
    "together": "goes with the others",
}


def predict_files(
    prompt: str,
    past: Sequence[PastSession],
    *,
    k: int = 10,
    branch: str = "",
    files: Iterable[str] = (),
    together: Together | None = None,
    weights: Mapping[str, float] = policy.FILE_WEIGHTS,
) -> list[PredictedFile]:
    """The `k` files a session beginning with `prompt` will most probably touch, the surest first.

    `past` is in time order; `files` are files of the project that no session need have touched; `together` tells for
    some files which go with each and how surely, by commits or co-access.
    """
    hints = gather_hints(prompt, past, branch=branch, files=files)
    if together is not None:
        hints["together"] = _by_company(_add_up(hints, weights), together)
    ranked = _leaders(_add_up(hints, weights), k)
    return [PredictedFile(path, round(score, 4), _explain(path, hints, weights)) for path, score in ranked if score > 0]


def gather_hints(prompt: str, past: Sequence[PastSession], *, branch: str = "", files: Iterable[str] = ()) -> Hints:
    """What each hint says of each file, mostly from 0 to 1."""
    past = past[-policy.PAST_SESSIONS :]
    asked = prompt[:PROMPT]
    terms = frozenset(words(asked))
    used = {path for one in past for path in (*one.edited, *one.read)}
    known = sorted(used.union(files))
    hints = {**_by_time(past, branch), **_by_prompts(terms, past), **_by_words(terms, past, known)}
    for name in ("words", "covered"):
        hints[name] = {path: v if path in used else policy.UNUSED_PART * v for path, v in hints[name].items()}
    hints["named"] = _by_name(asked.lower(), past, known)
    return hints


@lru_cache(maxsize=1024)
def words(text: str) -> tuple[str, ...]:
    """The words of a text, names taken apart and endings cut."""
    parts = _WORD.findall(_HUMP.sub(" ", text).lower())
    return tuple(_stem(part) for part in parts if len(part) > 1)


@lru_cache(maxsize=1024)
def _counted(text: str) -> Counter[str]:
    return Counter(words(text))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def _add_up(hints: Hints, weights: Mapping[str, float]) -> dict[str, float]:
    total: dict[str, float] = {}
    for name, values in hints.items():
        for path, value in values.items():
            total[path] = total.get(path, 0.0) + weights[name] * value
    return total


def _leaders(total: Mapping[str, float], k: int) -> list[tuple[str, float]]:
    return sorted(total.items(), key=lambda item: (-round(item[1], 9), item[0]))[:k]


def _explain(path: str, hints: Hints, weights: Mapping[str, float]) -> tuple[str, ...]:
    parts = {name: weights[name] * values.get(path, 0.0) for name, values in hints.items()}
    told = sorted((name for name in parts if parts[name] > 0), key=lambda name: (-parts[name], name))
    return tuple(dict.fromkeys(_BECAUSE[name] for name in told))[:3]


def _by_time(past: Sequence[PastSession], branch: str) -> Hints:
    """How lately and how often: by sessions that changed something, not by days."""
    hints: Hints = {"lately": {}, "often": {}, "much": {}, "read": {}, "branch": {}}
    times: Counter[str] = Counter()
    age = 0
    for back, one in enumerate(reversed(past)):
        for path in one.edited:
            hints["lately"].setdefault(path, math.exp(-age / policy.FRESH_SESSIONS))
            hints["often"][path] = hints["often"].get(path, 0.0) + math.exp(-age / policy.OFTEN_SESSIONS)
        for path, n in zip(one.edited, one.edits or (1,) * len(one.edited), strict=True):
            times[path] += n
        for path in one.read:
            hints["read"][path] = hints["read"].get(path, 0.0) + math.exp(-back / policy.FRESH_SESSIONS)
        age += bool(one.edited)
    hints["much"] = {path: math.log1p(n) for path, n in times.items()}
    same = [one for one in past if branch not in MAIN and one.branch == branch and one.edited]
    for back, one in enumerate(reversed(same)):
        for path in one.edited:
            hints["branch"].setdefault(path, math.exp(-back / policy.FRESH_BRANCH_SESSIONS))
    return hints


def _by_prompts(terms: frozenset[str], past: Sequence[PastSession]) -> Hints:
    """What the sessions asked most alike used, and which files were worked on for such words."""
    said = [_counted(one.prompt[:PROMPT]) for one in past]
    holding = Counter(word for text in said for word in text.keys() & terms)
    terms = frozenset(sorted(holding, key=lambda word: (holding[word], word))[: policy.TERMS])
    held = [{word: text[word] for word in text.keys() & terms} for text in said]
    lengths = [text.total() for text in said]
    likeness = _fits(held, lengths, b=policy.BM25_B)
    near = sorted((at for at, like in enumerate(likeness) if like > 0), key=lambda at: (-likeness[at], -at))
    alike: dict[str, float] = {}
    for at in near[: policy.ALIKE_SESSIONS]:
        for path in (*past[at].edited, *past[at].read):
            alike[path] = alike.get(path, 0.0) + likeness[at]
    of_file: dict[str, dict[str, int]] = {}
    length: Counter[str] = Counter()
    for one, found, long in zip(past, held, lengths, strict=True):
        for path in one.edited:
            mine = of_file.setdefault(path, {})
            length[path] += long
            for word, n in found.items():
                mine[word] = mine.get(word, 0) + n
    fits = _fits(list(of_file.values()), [length[path] for path in of_file], b=policy.BM25_B_FILE)
    return {"alike": _scaled(alike), "worked_on": _scaled(dict(zip(of_file, fits, strict=True)))}


def _by_words(terms: frozenset[str], past: Sequence[PastSession], paths: Sequence[str]) -> Hints:
    """Words that a path shares with the prompt: rare ones among paths count, and those few prompts hold."""
    prompts = Counter(word for one in past for word in _counted(one.prompt[:PROMPT]).keys() & terms)
    most = _rarity(0, len(past))
    telling = {word: _rarity(prompts[word], len(past)) / most for word in terms}
    parts = {path: frozenset(words(path)) for path in paths}
    rarity = {
        word: math.log(1 + len(paths) / n) for word, n in Counter(w for held in parts.values() for w in held).items()
    }
    met = {
        path: sum(rarity[word] * telling[word] for word in sorted(held & terms))
        for path, held in parts.items()
        if held & terms
    }
    return {
        "words": _scaled({path: score / math.sqrt(len(parts[path])) for path, score in met.items()}),
        "covered": {path: score / sum(rarity[word] for word in sorted(parts[path])) for path, score in met.items()},
    }


def _by_name(asked: str, past: Sequence[PastSession], paths: Sequence[str]) -> dict[str, float]:
    """Files the prompt names in full: how often a session whose prompt named one came to edit it."""
    named = [path for path in paths if path.lower() in asked]
    before = [(one.prompt.lower(), one.edited) for one in past] if named else []
    found: dict[str, float] = {}
    for path in named:
        naming = [edited for prompt, edited in before if path.lower() in prompt]
        kept = sum(path in edited for edited in naming)
        found[path] = (kept + policy.NAMED_PRIOR / 2) / (len(naming) + policy.NAMED_PRIOR)
    return found


def _by_company(total: Mapping[str, float], together: Together) -> dict[str, float]:
    """What goes with the leaders, each of which counts by how surely it leads."""
    leaders = [(path, score) for path, score in _leaders(total, policy.ALIKE_SESSIONS) if score > 0]
    near = together([path for path, _ in leaders])
    sure = {path: math.exp(score - leaders[0][1]) for path, score in leaders}
    whole = sum(sure.values())
    found: dict[str, float] = {}
    for leader, _ in leaders:
        for path, surely in near.get(leader, {}).items():
            found[path] = found.get(path, 0.0) + surely * sure[leader] / whole
    return found


def _rarity(holding: int, texts: int) -> float:
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _scaled(values: dict[str, float]) -> dict[str, float]:
    most = max(values.values(), default=0.0)
    return {path: value / most for path, value in values.items() if value > 0}


def _fits(texts: Sequence[Mapping[str, int]], lengths: Sequence[int], *, b: float) -> list[float]:
    """How well each text fits what is asked (BM25); of each only the words that are asked for."""
    usual = sum(lengths) / len(texts) if texts else 1.0
    rarity = {word: _rarity(n, len(texts)) for word, n in Counter(word for text in texts for word in text).items()}
    return [
        sum(
            rarity[word]
            * text[word]
            * (policy.BM25_K1 + 1)
            / (text[word] + policy.BM25_K1 * (1 - b + b * length / (usual or 1.0)))
            for word in sorted(text)
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
