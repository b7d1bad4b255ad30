"""Who may come in: people, their teams and what those work on, tokens and invitations. Secrets are kept as digests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from recollect.core.people import Invitation, Member, Person, Role, TeamToken
from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine, Row, Value


class People:
    """The tables of a shared store's people. Whoever changes them notes it in the log, in the same write."""

    def __init__(self, engine: Engine, tenant: str = "") -> None:
        self._engine = engine
        self._tenant = tenant

    # --- people -----------------------------------------------------------------------------------------------------

    _ANY = "select 1 from people limit 1"

    def has_any(self) -> bool:
        """Is the store shared at all?"""
        return self._engine.row(self._ANY) is not None

    _ADD = "insert into people (id, name, role, joined_at) values (:id, :name, :role, :at)"

    def add(self, id: str, name: str, role: Role, at: datetime) -> None:
        self._engine.execute(self._ADD, {"id": id, "name": name, "role": str(role), "at": to_ms(at)})

    _ALL = "select id, name, role, joined_at from people where left_at is null order by name"
    _IN_TEAMS = "select person, team from team_people order by person, team"

    def all(self) -> list[Person]:
        """Everybody who is in, by name."""
        teams: dict[str, list[str]] = {}
        for person, team in self._engine.rows(self._IN_TEAMS):
            teams.setdefault(person, []).append(team)
        return [
            Person(id, name, Role(role), tuple(teams.get(id, ())), from_ms(at))
            for id, name, role, at in self._engine.rows(self._ALL)
        ]

    _NAMED = "select id from people where name = :name"

    def knows(self, name: str) -> bool:
        """Was anybody ever in by this name? The log names people, so a name is never given twice."""
        return self._engine.row(self._NAMED, {"name": name}) is not None

    _SET_ROLE = "update people set role = :role where id = :id"

    def set_role(self, id: str, role: Role) -> None:
        self._engine.execute(self._SET_ROLE, {"id": id, "role": str(role)})

    _LEAVE = "update people set left_at = :at where id = :id"
    _NO_TOKENS = "delete from access_tokens where person = :id"
    _NO_TEAMS = "delete from team_people where person = :id"

    def remove(self, id: str, at: datetime) -> None:
        """Somebody leaves: their tokens open nothing any more. Their name stays theirs."""
        self._engine.execute(self._LEAVE, {"id": id, "at": to_ms(at)})
        self._engine.execute(self._NO_TOKENS, {"id": id})
        self._engine.execute(self._NO_TEAMS, {"id": id})

    # --- teams ------------------------------------------------------------------------------------------------------

    _TEAMS = "select name from teams order by name"

    def teams(self) -> list[str]:
        return [row[0] for row in self._engine.rows(self._TEAMS)]

    _ADD_TEAM = "insert into teams (name, made_at) values (:name, :at) on conflict (name) do nothing"

    def add_team(self, name: str, at: datetime) -> None:
        self._engine.execute(self._ADD_TEAM, {"name": name, "at": to_ms(at)})

    _JOIN = "insert into team_people (team, person) values (:team, :person) on conflict (team, person) do nothing"

    def join_team(self, team: str, person: str) -> None:
        self._engine.execute(self._JOIN, {"team": team, "person": person})

    _LEAVE_TEAM = "delete from team_people where team = :team and person = :person"

    def leave_team(self, team: str, person: str) -> None:
        self._engine.execute(self._LEAVE_TEAM, {"team": team, "person": person})

    _WORK_ON = """
        insert into team_projects (team, project) values (:team, :project) on conflict (team, project) do nothing
    """
    _PROJECTS = "select project from team_projects where team = :team order by project"

    def work_on(self, team: str, project: str) -> None:
        """A team works on a project: its people see what the project's people see."""
        self._engine.execute(self._WORK_ON, {"team": team, "project": project})

    def projects(self, team: str) -> list[str]:
        return [row[0] for row in self._engine.rows(self._PROJECTS, {"team": team})]

    # --- members ----------------------------------------------------------------------------------------------------

    _OF_TOKEN = """
        select p.id, p.name, p.role, t.name, t.scope, t.is_persons, t.made_at, t.until
          from access_tokens t join people p on p.id = t.person
         where t.digest = :digest and p.left_at is null
    """
    _OWN_TEAMS = "select team from team_people where person = :person"
    _OWN_PROJECTS = """
        select distinct w.project from team_people m join team_projects w on w.team = m.team where m.person = :person
    """

    def by_token(self, digest: str, now: datetime) -> tuple[Member, TeamToken] | None:
        """The member whose token has this digest, while it holds."""
        row = self._engine.row(self._OF_TOKEN, {"digest": digest})
        if row is None or from_ms(row[7]) <= now:
            return None
        id, name, role, *token = row
        return self._member(id, name, role), _token([name, *token])

    _ONE = "select id, name, role from people where name = :name and left_at is null"

    def member(self, name: str) -> Member | None:
        """Somebody who is in, by name."""
        row = self._engine.row(self._ONE, {"name": name})
        return None if row is None else self._member(*row)

    def _member(self, id: str, name: str, role: str) -> Member:
        teams = frozenset(row[0] for row in self._engine.rows(self._OWN_TEAMS, {"person": id}))
        projects = frozenset(row[0] for row in self._engine.rows(self._OWN_PROJECTS, {"person": id}))
        return Member(id, name, Role(role), teams, projects, self._tenant)

    # --- tokens -----------------------------------------------------------------------------------------------------

    _ADD_TOKEN = """
        insert into access_tokens (digest, person, name, scope, is_persons, made_at, until)
        values (:digest, :person, :name, :scope, :is_persons, :made_at, :until)
    """

    def add_token(self, digest: str, person: str, token: TeamToken) -> None:
        self._engine.execute(
            self._ADD_TOKEN,
            {
                "digest": digest, "person": person, "name": token.name, "scope": token.scope,
                "is_persons": int(token.is_persons), "made_at": to_ms(token.made_at), "until": to_ms(token.until),
            },
        )  # fmt: skip

    _TOKENS = """
        select p.name, t.name, t.scope, t.is_persons, t.made_at, t.until from access_tokens t
          join people p on p.id = t.person where cast(:person as text) is null or t.person = :person
         order by p.name, t.name
    """

    def tokens(self, person: str | None = None) -> list[TeamToken]:
        """The tokens of one person, or of all."""
        return [_token(row) for row in self._engine.rows(self._TOKENS, {"person": person})]

    _REVOKE = "delete from access_tokens where person = :person and name = :name"

    def revoke(self, person: str, name: str) -> bool:
        """End a token; False when there is none of that name."""
        return self._engine.execute(self._REVOKE, {"person": person, "name": name}) > 0

    # --- invitations ------------------------------------------------------------------------------------------------

    _INVITE = """
        insert into invitations (digest, team, role, made_by, until) values (:digest, :team, :role, :made_by, :until)
    """

    def invite(self, digest: str, invitation: Invitation) -> None:
        self._engine.execute(
            self._INVITE,
            {
                "digest": digest, "team": invitation.team, "role": str(invitation.role),
                "made_by": invitation.made_by, "until": to_ms(invitation.until),
            },
        )  # fmt: skip

    _TAKE = """
        update invitations set used_at = :at, used_by = :person
         where digest = :digest and used_at is null and until > :at
    """
    _TAKEN = "select team, role, made_by, until from invitations where digest = :digest"

    def take_invitation(self, digest: str, person: str, at: datetime) -> Invitation | None:
        """Use a code, inside the current write; nothing when it is unknown, used or too old. Of two who come with the
        same code, one is let in."""
        if self._engine.execute(self._TAKE, {"digest": digest, "person": person, "at": to_ms(at)}) != 1:
            return None
        row = self._engine.row(self._TAKEN, {"digest": digest})
        return None if row is None else _invitation(row)

    _WAITING = """
        select team, role, made_by, until from invitations where used_at is null and until > :at order by until, digest
    """

    def invitations(self, at: datetime) -> list[Invitation]:
        """Those that can still be used."""
        return [_invitation(row) for row in self._engine.rows(self._WAITING, {"at": to_ms(at)})]


def _token(row: Sequence[Value]) -> TeamToken:
    person, name, scope, is_persons, made_at, until = row
    return TeamToken(str(name), str(person), str(scope), bool(is_persons), from_ms(made_at), from_ms(until))


def _invitation(row: Row) -> Invitation:
    team, role, made_by, until = row
    return Invitation(team, Role(role), made_by, from_ms(until))
