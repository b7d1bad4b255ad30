"""Who is meant by a name: every name and e-mail address the store knows them by, and those that are only like it.

Only reads. What is merely alike is shown to a person and never taken for the one they named.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from recollect.core.entities import Entity, EntityType, entity_key
from recollect.core.erasing import split_words
from recollect.core.errors import EntityNotFound, InvalidField
from recollect.core.likeness import containment, jaccard
from recollect.core.query import Filter
from recollect.core.scope import Status
from recollect.store.store import Store

_ALIKE = 0.45  # share of letter triples two names have in common: "Ana Berg" and "Anna Berg" have 0.5
_MOST_NEAR = 20
_LEAST_LETTERS = 2  # of a name: a single letter stands in every text


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A name like the one that was given, why it may be the same, and how many memories mention it."""

    name: str
    why: str
    mentions: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The one a name stands for: all names they go by, and near misses, the likeliest first."""

    given: str
    names: tuple[str, ...]
    entities: tuple[str, ...]  # ids of what the store keeps under those names
    near: tuple[NearMiss, ...]


def find_subject(stores: Sequence[Store], given: str) -> Subject:
    """Find a subject by name, alias, e-mail address or id (`ent_…`) in some stores."""
    if len("".join(split_words(given))) < _LEAST_LETTERS:
        raise InvalidField("subject", f"{given!r} is no name", hint="Give a name of two letters or more.")
    exact: dict[str, Entity] = {}
    others: dict[str, Entity] = {}
    for store in stores:
        known = store.entities.every()
        matching = {entity.id for entity in known if _goes_by(entity, given)}
        roots = matching | {entity.merged_into for entity in known if entity.id in matching and entity.merged_into}
        for entity in known:
            taken = entity.id in roots or entity.merged_into in roots
            (exact if taken else others)[entity.id] = entity
    if given.startswith("ent_") and not exact:
        raise EntityNotFound(given)
    own = () if given.startswith("ent_") else (given,)
    names = _unlike([*own, *(name for entity in exact.values() for name in (entity.name, *entity.aliases))])
    near = [*_near_entities(names, others.values()), *_near_users(names, stores)]
    return Subject(given, tuple(names), tuple(exact), tuple(near[:_MOST_NEAR]))


def _goes_by(entity: Entity, given: str) -> bool:
    key = entity_key(given)
    return entity.id == given or key in {entity_key(name) for name in (entity.name, *entity.aliases)}


def _unlike(names: Sequence[str]) -> list[str]:
    """The names whose words differ, each once."""
    return list({tuple(split_words(name)): name for name in reversed(names) if split_words(name)}.values())[::-1]


def _near_entities(names: Sequence[str], others: Iterable[Entity]) -> list[NearMiss]:
    found: dict[str, tuple[float, NearMiss]] = {}
    for entity in others:
        for name in (entity.name, *entity.aliases):
            for share, why in _reasons(names, name, entity.type):
                if name not in found or share > found[name][0]:
                    found[name] = (share, NearMiss(name, why, entity.mentions))
    return [miss for _, miss in sorted(found.values(), key=lambda one: (-one[0], one[1].name))]


def _reasons(names: Sequence[str], name: str, type: EntityType) -> Iterator[tuple[float, str]]:
    words = set(split_words(name))
    for known in names:
        wanted = set(split_words(known))
        if words != wanted and _without_accents(name) == _without_accents(known):
            yield 1.0, f"is {known!r} with other accents"
        elif type is EntityType.EMAIL and containment(wanted, words) == 1.0:
            yield 1.0, f"an e-mail address with the words of {known!r}"
        elif containment(wanted, words) == 1.0 or containment(words, wanted) == 1.0:
            yield 0.9, f"shares words with {known!r}"
        elif (share := jaccard(_triples(known), _triples(name))) >= _ALIKE:
            yield share, f"is spelt like {known!r}"


def _near_users(names: Sequence[str], stores: Sequence[Store]) -> list[NearMiss]:
    """Users of an assistant whose ids hold the words of a name: their memories are erased by `--user`."""
    wanted = [set(split_words(name)) for name in names]
    users = dict.fromkeys(user for store in stores for user in store.memories.users())
    return [
        NearMiss(user, "a user of that name; erase what is theirs with --user", _count(stores, user))
        for user in users
        if any(containment(words, set(split_words(user))) == 1.0 for words in wanted)
    ]


def _count(stores: Sequence[Store], user: str) -> int:
    theirs = [store.memories.count(Filter(user=user, statuses=Status)) for store in stores]
    nobodys = [store.memories.count(Filter(statuses=Status)) for store in stores]
    return sum(theirs) - sum(nobodys)


_LETTERS = str.maketrans({"ø": "o", "æ": "ae", "œ": "oe", "ß": "ss", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"})


def _without_accents(name: str) -> str:
    apart = unicodedata.normalize("NFKD", " ".join(split_words(name))).translate(_LETTERS)
    return "".join(sign for sign in apart if not unicodedata.combining(sign))


def _triples(name: str) -> set[str]:
    text = f"  {_without_accents(name)} "
    return {text[start : start + 3] for start in range(len(text) - 2)}
