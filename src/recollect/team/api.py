"""The team of a shared store: people and their roles, teams, invitations, tokens, and talk about disputed memories.

Whoever opens the store by itself, a file or an address with its password, keeps it and may do everything here. A member
may do what their role says. Everything that is done is noted in the log, in the same write.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

from recollect.core.errors import InvalidField, InvitationRefused, PersonNotFound, RoleMissing, TokenNotFound
from recollect.core.people import Invitation, Member, Person, Role, TeamToken, read_name
from recollect.core.scope import choose
from recollect.core.text import require_storable
from recollect.team.welcome import Welcomed, choose_welcome

if TYPE_CHECKING:
    from recollect.core.log import Entry
    from recollect.recall.reader import Reader
    from recollect.remember.writer import Writer
    from recollect.store.people import People

TOKEN_MARK = "rct_"  # tells people, secret scanners and the server what they have found
SCOPES = ("read", "write", "admin")  # each includes those before it
TOKEN_DAYS, INVITATION_DAYS, MOST_DAYS = 90, 7, 366
_MOST_WORDS = 10_000  # characters of a comment


@dataclass(frozen=True, slots=True)
class Joined:
    """Somebody came in: who they are now, and the token that says so. It is shown once."""

    person: Person
    token: str
    until: datetime


@dataclass(frozen=True, slots=True)
class TeamStatus:
    """How a shared store stands."""

    teams: tuple[tuple[str, tuple[str, ...]], ...]  # each with the projects it works on
    people: tuple[Person, ...]
    invitations: tuple[Invitation, ...]
    disputed: int
    me: Member | None


@dataclass(frozen=True, slots=True)
class Comment:
    """What somebody said about a memory."""

    actor: str
    at: datetime
    words: str
    action: str  # comment, or the act it was the reason of: dispute, confirm, reject


class Team:
    """What `recollect team` and the team routes do."""

    def __init__(
        self, people: People, reader: Reader, writer: Writer, *, project: str, member: Member | None = None
    ) -> None:
        self._people = people
        self._reader = reader
        self._writer = writer
        self._project = project
        self._member = member

    @property
    def is_shared(self) -> bool:
        """Does anybody but its keeper come in?"""
        return self._people.has_any()

    # --- teams and people -------------------------------------------------------------------------------------------

    def init(self, team: str, *, admin: str | None = None) -> Joined | None:
        """Make a team that works on this project. The first one needs an admin, who gets a token; a later one may have
        somebody who is in already."""
        self._require(Role.ADMIN, "make a team")
        name = read_name(team, "team")
        with self._changing(f"made the team {name}"):
            if name in self._people.teams():
                self._people.work_on(name, self._project)
                return None
            known = None if admin is None else self._people.member(read_name(admin, "name"))
            if admin is None and not self._people.has_any():
                raise InvalidField("name", "the first team needs an admin", hint="Name yourself: --admin NAME.")
            self._people.add_team(name, self._writer.now())
            self._people.work_on(name, self._project)
            if known is not None:
                self._people.join_team(name, known.id)
                return None
            return None if admin is None else self._let_in(admin, Role.ADMIN, name)

    def invite(self, team: str | None = None, *, role: str = Role.MEMBER, days: int = INVITATION_DAYS) -> str:
        """A code that lets one person into a team, once. It is shown once."""
        wanted = choose(Role, role, "role")
        self._require(Role.ADMIN, "invite somebody")
        name = self._team(team)
        code = secrets.token_urlsafe(24)
        until = self._writer.now() + timedelta(days=_days(days))
        with self._changing(f"invited a {wanted} to {name}"):
            self._people.invite(digest_secret(code), Invitation(name, wanted, self._writer.actor, until))
        return code

    def join(self, code: str, name: str) -> Joined:
        """Come in with a code. A wrong one and a used one are refused alike."""
        person = read_name(name, "name")
        with self._changing(f"{person} joined"):
            found = self._people.take_invitation(digest_secret(code), person, self._writer.now())
            if found is None:
                raise InvitationRefused
            return self._let_in(person, found.role, found.team)

    def members(self) -> Sequence[Person]:
        """Everybody who is in; for a member, those they share a team with and the admins."""
        everybody = self._people.all()
        mine = self._member
        if mine is None or mine.role is Role.ADMIN:
            return everybody
        return [one for one in everybody if one.role is Role.ADMIN or mine.teams & set(one.teams)]

    def set_role(self, name: str, role: str) -> Person:
        """Give somebody another role. The last admin stays one."""
        wanted = choose(Role, role, "role")
        self._require(Role.ADMIN, "change a role")
        with self._changing(f"made {name} a {wanted}"):
            person = self._person(name)
            self._keep_an_admin(person, leaves=wanted is not Role.ADMIN)
            self._people.set_role(person.id, wanted)
            return self._person(name)

    def remove(self, name: str) -> None:
        """Take somebody out. Their tokens end at once; what they wrote stays."""
        self._require(Role.ADMIN, "remove somebody")
        with self._changing(f"removed {name}"):
            person = self._person(name)
            self._keep_an_admin(person, leaves=True)
            self._people.remove(person.id, self._writer.now())

    def assign(self, name: str, team: str, *, leaves: bool = False) -> Person:
        """Put somebody into a team, or take them out of it."""
        self._require(Role.ADMIN, "change a team")
        with self._changing(f"{'took' if leaves else 'put'} {name} {'out of' if leaves else 'into'} {team}"):
            person, known = self._person(name), self._team(team)
            (self._people.leave_team if leaves else self._people.join_team)(known, person.id)
            return self._person(name)

    # --- tokens -----------------------------------------------------------------------------------------------------

    def make_token(
        self,
        name: str,
        *,
        scope: str = "write",
        days: int = TOKEN_DAYS,
        for_person: bool = False,
        whose: str | None = None,
    ) -> str:
        """A token for a program of yours; the store's keeper names whose it is. It is shown once."""
        label = read_name(name, "name")
        if scope not in SCOPES:
            raise InvalidField("scope", f"{scope[:40]!r} is none", hint=f"Use {', '.join(SCOPES)}.")
        person = self._own(whose)
        with self._changing(f"made the token {label} for {person.name}"):
            return self._add_token(person, label, scope, days=_days(days), for_person=for_person)[0]

    def tokens(self, whose: str | None = None) -> Sequence[TeamToken]:
        """A person's tokens; everybody's for the store's keeper and admins who name nobody."""
        everybodys = self._member is None or self._member.role is Role.ADMIN
        return self._people.tokens(None if whose is None and everybodys else self._own(whose).id)

    def revoke_token(self, name: str, *, whose: str | None = None) -> None:
        """End a token. Requests that carry it are refused from now on."""
        person = self._own(whose)
        with self._changing(f"revoked the token {name} of {person.name}"):
            if not self._people.revoke(person.id, name):
                raise TokenNotFound(name)

    def by_token(self, token: str) -> tuple[Member, TeamToken] | None:
        """The member a token stands for, while it holds."""
        return self._people.by_token(digest_secret(token), self._writer.now()) if token.startswith(TOKEN_MARK) else None

    def status(self) -> TeamStatus:
        """Teams with their projects, people, open invitations, and how much is disputed."""
        from recollect.core.query import ANY_USER, Filter
        from recollect.core.scope import Status

        mine = self._member
        seen = [one for one in self._people.teams() if mine is None or mine.role is Role.ADMIN or one in mine.teams]
        may_invite = mine is None or mine.is_at_least(Role.ADMIN)
        return TeamStatus(
            tuple((team, tuple(self._people.projects(team))) for team in seen),
            tuple(self.members()),
            tuple(self._people.invitations(self._writer.now())) if may_invite else (),
            self._reader.count(Filter(statuses=Status.DISPUTED, user=ANY_USER)),
            mine,
        )

    # --- disputes ---------------------------------------------------------------------------------------------------

    def comment(self, id: str, words: str) -> Comment:
        """Say something about a memory, for everybody who sees it."""
        said = require_storable(words, "comment").strip()
        if not said or len(said) > _MOST_WORDS:
            raise InvalidField("comment", f"it takes 1 to {_MOST_WORDS:,} characters")
        memory = self._reader.get(id)
        self._writer.note("comment", said, subject=memory.id)
        return self.thread(memory.id)[-1]

    def thread(self, id: str) -> Sequence[Comment]:
        """What was said about a memory, oldest first: the reasons of those who disputed or decided, and comments."""
        memory = self._reader.get(id)
        return [_comment(entry) for entry in self._reader.history(memory.id, limit=500) if _is_said(entry)]

    # --- onboarding -------------------------------------------------------------------------------------------------

    def welcome(self) -> Sequence[Welcomed]:
        """The memories that whoever joins should know first."""
        return choose_welcome(self._reader)

    # --- inside -----------------------------------------------------------------------------------------------------

    @contextmanager
    def _changing(self, what: str) -> Iterator[None]:
        with self._writer.transaction():
            yield
            self._writer.note("team", what)

    def _require(self, role: Role, what: str) -> None:
        if self._member is not None and not self._member.is_at_least(role):
            raise RoleMissing(what, needed=role, held=self._member.role)

    def _let_in(self, name: str, role: Role, team: str) -> Joined:
        if self._people.knows(name):
            raise InvalidField("name", f"{name!r} is taken", hint="The log names people, so choose another name.")
        now = self._writer.now()
        self._people.add(self._writer.identity("usr", now), name, role, now)
        person = self._person(name)
        self._people.join_team(team, person.id)
        scope = "admin" if role is Role.ADMIN else "write"
        token, until = self._add_token(person, "first", scope, days=TOKEN_DAYS, for_person=True)
        return Joined(self._person(name), token, until)

    def _add_token(self, person: Person, name: str, scope: str, *, days: int, for_person: bool) -> tuple[str, datetime]:
        if scope == "admin" and person.role is not Role.ADMIN:
            raise RoleMissing("have the scope admin", needed=Role.ADMIN, held=person.role)
        if any(one.name == name for one in self._people.tokens(person.id)):
            raise InvalidField("name", f"there is a token {name!r} already", hint="Revoke it, or name another.")
        token, now = TOKEN_MARK + secrets.token_urlsafe(32), self._writer.now()
        until = now + timedelta(days=days)
        self._people.add_token(
            digest_secret(token), person.id, TeamToken(name, person.name, scope, for_person, now, until)
        )  # fmt: skip
        return token, until

    def _own(self, whose: str | None) -> Person:
        """Whose tokens are meant: one's own, or another's for those who manage people."""
        if whose is None and self._member is None:
            raise InvalidField("person", "name whose token it is", hint="Add --for NAME.")
        name = whose or (self._member.name if self._member else "")
        if self._member is not None and name != self._member.name:
            self._require(Role.ADMIN, "manage another's tokens")
        return self._person(name)

    def _person(self, name: str) -> Person:
        for one in self._people.all():
            if one.name == name:
                return one
        raise PersonNotFound(name)

    def _team(self, name: str | None) -> str:
        known = self._people.teams()
        if name is None and len(known) == 1:
            return known[0]
        if name is None or name not in known:
            told = ", ".join(known) or "none yet; `recollect team init NAME --admin YOU` makes one"
            raise InvalidField("team", "name one of the teams", hint=f"There are: {told}.")
        return name

    def _keep_an_admin(self, person: Person, *, leaves: bool) -> None:
        admins = [one for one in self._people.all() if one.role is Role.ADMIN]
        if leaves and [one.id for one in admins] == [person.id]:
            raise InvalidField("role", f"{person.name} is the only admin", hint="Make somebody else an admin first.")


def _days(days: int) -> int:
    if not 1 <= days <= MOST_DAYS:
        raise InvalidField("days", f"it takes 1 to {MOST_DAYS}")
    return days


def digest_secret(secret: str) -> str:
    """What is kept of a code or a token: enough to know it again."""
    return sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _is_said(entry: Entry) -> bool:
    return bool(entry.change.why) and entry.change.action in ("comment", "dispute", "confirm", "reject")


def _comment(entry: Entry) -> Comment:
    return Comment(entry.actor, entry.at, entry.change.why, entry.change.action)
