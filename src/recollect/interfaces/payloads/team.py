"""People, tokens and talk about memories as plain JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.forms import iso
from recollect.interfaces.payloads.base import Json
from recollect.interfaces.payloads.memories import memory_json

if TYPE_CHECKING:
    from recollect.core.people import Invitation, Person, TeamToken
    from recollect.team.api import Comment, Joined, TeamStatus
    from recollect.team.welcome import Welcomed


def person_json(person: Person) -> Json:
    return {
        "id": person.id,
        "name": person.name,
        "role": str(person.role),
        "teams": list(person.teams),
        "joined_at": iso(person.joined_at),
    }


def team_token_json(token: TeamToken) -> Json:
    """What is known of a token. The token itself was shown once."""
    return {
        "name": token.name,
        "person": token.person,
        "scope": token.scope,
        "for_person": token.is_persons,
        "made_at": iso(token.made_at),
        "until": iso(token.until),
    }


def invitation_json(invitation: Invitation) -> Json:
    return {
        "team": invitation.team,
        "role": str(invitation.role),
        "made_by": invitation.made_by,
        "until": iso(invitation.until),
    }


def joined_json(joined: Joined, *, project: str) -> Json:
    return {
        "person": person_json(joined.person),
        "token": joined.token,
        "until": iso(joined.until),
        "project": project,
    }


def team_status_json(status: TeamStatus) -> Json:
    return {
        "teams": [{"name": name, "projects": list(projects)} for name, projects in status.teams],
        "people": [person_json(person) for person in status.people],
        "invitations": [invitation_json(one) for one in status.invitations],
        "disputed": status.disputed,
        "me": None if status.me is None else status.me.name,
    }


def comment_json(comment: Comment) -> Json:
    return {"actor": comment.actor, "at": iso(comment.at), "words": comment.words, "action": comment.action}


def welcome_json(welcomed: Welcomed) -> Json:
    return {"memory": memory_json(welcomed.memory), "weight": round(welcomed.weight, 4)}
