"""Last stage of recall: what people said or confirmed goes before what agents say about the same,
and of agents' statements that say nearly the same one is enough. Pure.

However often and however aptly an agent words something, that makes it no truer: without this, ten statements made to
fit a question would take the places of everything else that is known about it. Episodes and passages are evidence, not
statements, and keep their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from recollect.core.kinds import Kind
from recollect.core.likeness import overlap
from recollect.core.query import Candidate
from recollect.core.records import Memory
from recollect.core.scope import Source, Visibility
from recollect.core.text import words

_AGENTS = frozenset({Source.AGENT_EXPLICIT, Source.MCP_AUTO, Source.QA_AUTO, Source.COMMIT_AUTO})
_EVIDENCE = frozenset({Kind.EPISODE, Kind.PASSAGE})
_AS_APT = 0.4  # share of an agent's relevance from which a person's statement goes before it
_ALIKE, _ENOUGH = 0.5, 6  # share of the fewer telling words from which two statements say nearly the same, if so many
_SHARED = 2  # telling words of a question from which a statement speaks to it: one alone says little
_LETTERS = 3  # shorter words tell little
_BELOW = 0.999  # of the score of what goes before


def put_people_first(ranking: Sequence[Candidate], *, question: str) -> tuple[list[Candidate], int]:
    """The ranking with people's statements before agents' on the same, and how many near repeats were left out."""
    agents = [one for one in ranking if one.memory is not None and _is_agents(one.memory)]
    if not agents:
        return list(ranking), 0
    people = [one for one in ranking if one.memory is not None and _is_persons(one.memory)]
    lowered = {one.id: replace(one, score=_lowered(one, people)) for one in agents}
    ordered = sorted((lowered.get(one.id, one) for one in ranking), key=lambda one: (-one.score, one.id))
    answered = any(one.score < before.score for one, before in zip(lowered.values(), agents, strict=True))
    asked = _telling(question) if answered or _leads(ordered, people) else frozenset()
    repeats = _find_repeats([one for one in ordered if one.id in lowered], asked)
    return [one for one in ordered if one.id not in repeats], len(repeats)


def put_own_first(ranking: Sequence[Candidate]) -> list[Candidate]:
    """The ranking with a person's own memory just before what others share about the same, where it is newer and at
    least as sure. Both stay: which of them holds is the reader's to judge."""
    own = [one for one in ranking if one.memory is not None and one.memory.visibility is Visibility.PERSONAL]
    shared = [one for one in ranking if one.memory is not None and _is_shared(one.memory)]
    raised = {one.id: replace(one, score=score) for one in own if (score := _raised(one, shared)) > one.score}
    if not raised:
        return list(ranking)
    return sorted((raised.get(one.id, one) for one in ranking), key=lambda one: (-one.score, one.id))


def _raised(one: Candidate, shared: Sequence[Candidate]) -> float:
    mine = one.memory
    assert mine is not None  # only those that were read come here
    said, sure = _telling(mine.content), one.factors.get("confidence", mine.confidence)
    beaten = [
        other.score
        for other in shared
        if other.memory is not None
        and mine.happened_at > other.memory.happened_at
        and sure >= other.factors.get("confidence", other.memory.confidence)
        and overlap(said, _telling(other.memory.content)) >= _ALIKE
    ]
    return max(beaten, default=0.0) / _BELOW


def _is_shared(memory: Memory) -> bool:
    return memory.visibility is not Visibility.PERSONAL and memory.kind not in _EVIDENCE


def _leads(ordered: Sequence[Candidate], people: Sequence[Candidate]) -> bool:
    return bool(people) and ordered[0].id in {one.id for one in people}


def _lowered(one: Candidate, people: Sequence[Candidate]) -> float:
    relevance = one.factors.get("relevance", one.score)
    apt = [other.score for other in people if other.factors.get("relevance", other.score) >= _AS_APT * relevance]
    return min(one.score, _BELOW * max(apt)) if apt else one.score


def _find_repeats(agents: Sequence[Candidate], question: frozenset[str]) -> set[str]:
    """Those that say nearly what a better one of an agent says already. Where a person has answered the question, that
    is everything that speaks to it: agents have one place beside the answer."""
    kept: list[tuple[frozenset[str], bool]] = []
    repeats: set[str] = set()
    for one in agents:
        said = _telling("" if one.memory is None else one.memory.content)
        fitted = len(question & said) >= _SHARED
        if any((fitted and other_fitted) or _are_alike(said, other) for other, other_fitted in kept):
            repeats.add(one.id)
        else:
            kept.append((said, fitted))
    return repeats


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return min(len(one), len(other)) >= _ENOUGH and overlap(one, other) >= _ALIKE


def _telling(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if len(word) > _LETTERS)


def _is_agents(memory: Memory) -> bool:
    """A statement of an agent that nobody confirmed; a record that a framework keeps under a key is none."""
    stated = memory.kind not in _EVIDENCE and "record" not in memory.attributes
    return stated and memory.source in _AGENTS and not memory.verified


def _is_persons(memory: Memory) -> bool:
    return (memory.verified or memory.source is Source.USER_TAUGHT) and memory.kind not in _EVIDENCE
