"""Routes about the team: who is in, how others come in, tokens, talk about disputed memories, what to know first."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from recollect.core.errors import PersonOnly
from recollect.interfaces.http import ADMIN, READ, SCOPES, WRITE
from recollect.interfaces.http.endpoint import Body, Call, Endpoint, Json, Text
from recollect.interfaces.payloads.team import (
    comment_json,
    person_json,
    team_status_json,
    team_token_json,
    welcome_json,
)
from recollect.interfaces.shapes import team as shapes
from recollect.team.api import INVITATION_DAYS, TOKEN_DAYS

_TAG = "team"
Name = Annotated[str, Field(max_length=200)]


class InviteBody(Body):
    team: Name | None = None
    role: Name = "member"
    days: Annotated[int, Field(description="Until the code ends.")] = INVITATION_DAYS


class RoleBody(Body):
    role: Name


class AssignBody(Body):
    team: Name
    leaves: Annotated[bool, Field(description="Take them out of it.")] = False


class TokenBody(Body):
    name: Name
    scope: Annotated[str, Field(description=", ".join(SCOPES))] = WRITE
    days: int = TOKEN_DAYS
    for_person: Annotated[bool, Field(description="What it does is your word, not an agent's.")] = False


class RevokeBody(Body):
    name: Name
    whose: Name | None = None


class CommentBody(Body):
    words: Text


def read_team(call: Call) -> Json:
    """Teams with their projects, people, open invitations, and how much is disputed."""
    return team_status_json(call.memory.team.status())


def list_people(call: Call) -> Json:
    """Who is in: for a member, those they share a team with and the admins."""
    return {"people": [person_json(one) for one in call.memory.team.members()]}


def invite_person(call: Call) -> Json:
    """A code that lets one person in, once. It is shown once."""
    body = call.body
    return {"code": call.memory.team.invite(body.team, role=body.role, days=body.days)}


def change_role(call: Call) -> Json:
    """Give somebody another role."""
    return person_json(call.memory.team.set_role(call.path["name"], call.body.role))


def assign_person(call: Call) -> Json:
    """Put somebody into a team, or take them out of it."""
    return person_json(call.memory.team.assign(call.path["name"], call.body.team, leaves=call.body.leaves))


def remove_person(call: Call) -> Json:
    """Take somebody out. Their tokens end at once; what they wrote stays."""
    call.memory.team.remove(call.path["name"])
    return {"removed": call.path["name"]}


def list_team_tokens(call: Call) -> Json:
    """Your tokens; everybody's for an admin."""
    return {"tokens": [team_token_json(one) for one in call.memory.team.tokens()]}


def make_team_token(call: Call) -> Json:
    """A token for a program of yours. It is shown once. Only with a person's own token."""
    if not call.is_person:
        raise PersonOnly("make a token")
    body = call.body
    made = call.memory.team.make_token(body.name, scope=body.scope, days=body.days, for_person=body.for_person)
    return {"name": body.name, "token": made}


def revoke_team_token(call: Call) -> Json:
    """End a token."""
    call.memory.team.revoke_token(call.body.name, whose=call.body.whose)
    return {"revoked": call.body.name}


def read_thread(call: Call) -> Json:
    """What was said about a memory, oldest first: reasons of those who disputed or decided, and comments."""
    return {"comments": [comment_json(one) for one in call.memory.team.thread(call.id())]}


def add_comment(call: Call) -> Json:
    """Say something about a memory, for everybody who sees it."""
    return comment_json(call.memory.team.comment(call.id(), call.body.words))


def read_welcome(call: Call) -> Json:
    """The five memories that whoever joins should know first."""
    return {"memories": [welcome_json(one) for one in call.memory.team.welcome()]}


ENDPOINTS = (
    Endpoint("GET", "/team", read_team, READ, shapes.TeamStatusShape, _TAG),
    Endpoint("GET", "/team/people", list_people, READ, shapes.PeopleShape, _TAG),
    Endpoint("POST", "/team/invite", invite_person, ADMIN, shapes.InvitedShape, _TAG, body=InviteBody, status=201),
    Endpoint("POST", "/team/people/{name}/role", change_role, ADMIN, shapes.PersonShape, _TAG, body=RoleBody),
    Endpoint("POST", "/team/people/{name}/team", assign_person, ADMIN, shapes.PersonShape, _TAG, body=AssignBody),
    Endpoint("POST", "/team/people/{name}/remove", remove_person, ADMIN, shapes.RemovedShape, _TAG, body=Body),
    Endpoint("GET", "/team/tokens", list_team_tokens, READ, shapes.TeamTokensShape, _TAG),
    Endpoint("POST", "/team/tokens", make_team_token, WRITE, shapes.NewTeamTokenShape, _TAG, body=TokenBody,
             status=201),
    Endpoint("POST", "/team/tokens/revoke", revoke_team_token, WRITE, shapes.RevokedShape, _TAG, body=RevokeBody),
    Endpoint("GET", "/team/welcome", read_welcome, READ, shapes.WelcomeShape, _TAG),
    Endpoint("GET", "/memories/{id}/comments", read_thread, READ, shapes.ThreadShape, _TAG),
    Endpoint("POST", "/memories/{id}/comments", add_comment, WRITE, shapes.CommentShape, _TAG, body=CommentBody,
             status=201),
)  # fmt: skip
