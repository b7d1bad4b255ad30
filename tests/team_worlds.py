"""Random worlds of people, teams and memories, and every way in which one of them can ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from recollect.app import Recollect
from recollect.core.errors import RecollectError
from recollect.core.people import Member, Role
from recollect.core.query import ANY_USER, Filter
from recollect.core.scope import Status, Visibility

TEAMS = ("red", "green", "blue")
WORDS = "deploy staging cache login invoice queue retry schema token index batch quota".split()
PEOPLE = ("ann", "ben", "cyd", "dee")
PROJECT = "test"


@dataclass
class World:
    """What there is, and who should see what of it."""

    memory: Recollect
    members: list[Member]
    ids: dict[str, tuple[Visibility, str | None]] = field(default_factory=dict)  # of each memory, whom it is for
    words: dict[str, str] = field(default_factory=dict)  # a word that stands in no other memory

    def foreign(self, member: Member) -> set[str]:
        """Ids and words that must not reach a member."""
        hidden = {id for id, audience in self.ids.items() if not _sees(member, *audience)}
        return hidden | {self.words[id] for id in hidden}


def make_world(memory: Recollect, random: Random, *, size: int = 14) -> World:
    """People in some teams, and memories of every visibility that bear on one another."""
    world = World(memory, people(random))
    made: list[str] = []
    for number in range(size):
        word = f"zq{random.randrange(36**6):06x}{number}"
        visibility, team = random.choice(list(Visibility)), random.choice((*TEAMS, None))
        about = random.sample(WORDS, 3)
        options: dict[str, Any] = {}
        if made and random.random() < 0.3:
            options["derived_from"] = [random.choice(made)]
        if made and random.random() < 0.2:
            options["supersedes"] = random.choice(made)
        try:
            receipt = memory.remember(
                f"The {about[0]} needs {about[1]} before {about[2]}, says {word}",
                visibility=str(visibility),
                team=team if visibility is Visibility.TEAM else None,
                tags=[f"tag{word}"],
                files=[f"src/{about[0]}.py"],
                entities=[f"ent{word}"] if random.random() < 0.4 else [],
                session=f"s{random.randrange(3)}",
                confidence=random.choice((0.4, 0.7, 0.95)),
                pinned=random.random() < 0.2,
                **options,
            )
        except RecollectError:  # what it would replace was replaced already
            continue
        made.append(receipt.id)
        world.ids[receipt.id] = (visibility, team if visibility is Visibility.TEAM else None)
        world.words[receipt.id] = word
        if random.random() < 0.2:
            memory.dispute(receipt.id, why=f"doubted by {word}")
        if random.random() < 0.2 and len(made) > 1:
            memory.relate(receipt.id, "conflicts_with", to=random.choice(made[:-1]))
    return world


def people(random: Random) -> list[Member]:
    """Some people in some teams, some of which work on the project."""
    return [_member(name, random) for name in PEOPLE]


def _member(name: str, random: Random) -> Member:
    teams = frozenset(team for team in TEAMS if random.random() < 0.5)
    projects = frozenset({PROJECT} if random.random() < 0.6 else ())
    return Member(f"usr_{name}", name, random.choice(list(Role)), teams, projects)


def _sees(member: Member, visibility: Visibility, team: str | None) -> bool:
    """What the rules say, in other words than the conditions of the store."""
    if visibility is Visibility.PERSONAL:
        return False
    if visibility is Visibility.ORGANIZATION:
        return True
    if visibility is Visibility.TEAM and team is not None:
        return team in member.teams
    return PROJECT in member.projects


def everything_told(view: Recollect, world: World, random: Random, share: float) -> Iterator[tuple[str, Any]]:
    """Every way to read, or a share of them drawn at random, each with what it answers, errors too."""
    asked = list(world.ids)
    some = random.sample(asked, min(3, len(asked)))
    word = world.words[random.choice(asked)]
    every = Filter(statuses=list(Status), user=ANY_USER)
    ways: dict[str, Callable[[], Any]] = {
        "recall": lambda: view.recall(f"{random.choice(WORDS)} {word}", k=20),
        "recall all": lambda: view.recall(" ".join(WORDS), k=50, filter=every),
        "brief": lambda: view.brief(random.choice(WORDS)).text,
        "list": lambda: view.list(every, limit=100),
        "list by tag": lambda: view.list(replace(every, tags=frozenset({f"tag{word}"})), limit=10),
        "count": lambda: view.count(every),
        "history": lambda: view.history(limit=500),
        "entities": lambda: [(one.id, one.name, one.mentions) for one in view.sessions.entities(limit=100)],
        "entity": lambda: view.sessions.entity(f"ent{word}"),
        "sessions": lambda: view.sessions.list(),
        "docs": lambda: view.docs.list(),
        "code": lambda: view.code.counts(),
        "events": lambda: view.overview.events(type(view.overview.position())(0, 0)),
        "health": lambda: view.overview.health(),
        "facets": lambda: view.overview.facets(every),
        "review": lambda: view.review.list(),
        "told": lambda: view.told(),
        "welcome": lambda: view.team.welcome(),
        "status": lambda: view.team.status(),
    }
    for id in some:
        ways |= {
            f"get {id}": lambda id=id: view.get(id),
            f"get …{id[-6:]}": lambda id=id: view.get(id[-6:]),
            f"why {id}": lambda id=id: view.why(id),
            f"history {id}": lambda id=id: view.history(id),
            f"evidence {id}": lambda id=id: view.review.evidence(id),
            f"thread {id}": lambda id=id: view.team.thread(id),
        }
    for name, ask in ways.items():
        if random.random() >= share:
            continue
        try:
            yield name, ask()
        except RecollectError as error:
            told = f"{error} {error.hint or ''}"
            for given in (*some, *(id[-6:] for id in some), word):  # what the asker said may be repeated to them
                told = told.replace(given, "")
            yield name, told


def told_text(answer: Any) -> str:
    """All that an answer says, as text."""
    return repr(answer)


@contextmanager
def counting(view: Recollect) -> Iterator[list[str]]:
    """The statements that a view sends."""
    engine, sent = view.store.engine, list[str]()
    plain = engine.rows

    def rows(sql: str, params: Any = None) -> Any:
        sent.append(sql)
        return plain(sql, params)

    engine.rows = rows  # type: ignore[method-assign]
    try:
        yield sent
    finally:
        del engine.rows


def leaks(world: World, member: Member, random: Random, *, share: float = 1.0) -> Sequence[str]:
    """What a member is told and should not be."""
    view, hidden = world.memory.seen_by(member, door="http"), world.foreign(member)
    found = []
    for name, answer in everything_told(view, world, random, share):
        text = told_text(answer)
        found += [f"{name} tells {member.name} of {one}" for one in hidden if one in text]
    seen = {one.id for one in view.list(Filter(statuses=list(Status), user=ANY_USER), limit=500)}
    wanted = {id for id, audience in world.ids.items() if _sees(member, *audience)}
    found += [f"{member.name} misses {id}" for id in wanted - seen]
    return found
