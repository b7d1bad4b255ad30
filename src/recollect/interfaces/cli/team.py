"""`recollect team`: share a store with others, or take part in one that somebody shares.

Whoever keeps the store works on it directly. Somebody who joined a server works through it, with the token that
joining left in their state folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from recollect.core.errors import NotInTeam, StoreMissing
from recollect.core.people import Role
from recollect.core.text import excerpt
from recollect.interfaces.cli.console import FINE, Console, open_from, require_person
from recollect.interfaces.http import SCOPES, WRITE
from recollect.interfaces.payloads.team import (
    comment_json,
    joined_json,
    person_json,
    team_status_json,
    team_token_json,
    welcome_json,
)
from recollect.team.api import INVITATION_DAYS, TOKEN_DAYS

if TYPE_CHECKING:
    from recollect.app import Recollect
    from recollect.team.remote import RemoteTeam

_SHOWN = 100  # characters of a memory
_ROLES = [str(role) for role in Role]


def arguments_team(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="team_command", metavar="COMMAND", required=True)
    init = commands.add_parser("init", help="share this store with a team")
    init.add_argument("team", help="the team's name")
    init.add_argument("--admin", metavar="NAME", help="who manages it; needed for the first team")
    invite = commands.add_parser("invite", help="a code that lets one person in, once")
    invite.add_argument("--team", metavar="NAME", help="which team (default: the only one)")
    invite.add_argument("--role", choices=_ROLES, default=str(Role.MEMBER), help="what they may do (default: member)")
    invite.add_argument("--days", type=int, default=INVITATION_DAYS, metavar="N", help="until it ends (default 7)")
    join = commands.add_parser("join", help="come in with a code")
    join.add_argument("url", help="the server, like https://memory.example.org:7737/")
    join.add_argument("code")
    join.add_argument("--name", required=True, help="what the team and the log call you")
    commands.add_parser("members", help="who is in")
    role = commands.add_parser("role", help="give somebody another role")
    role.add_argument("name")
    role.add_argument("role", choices=_ROLES)
    assign = commands.add_parser("assign", help="put somebody into a team, or take them out")
    assign.add_argument("name")
    assign.add_argument("team")
    assign.add_argument("--leave", action="store_true", help="take them out of it")
    remove = commands.add_parser("remove", help="take somebody out; their tokens end at once")
    remove.add_argument("name")
    _token_arguments(commands.add_parser("token", help="tokens of people: make, list, revoke"))
    commands.add_parser("status", help="teams, people, open invitations, what is disputed")
    comment = commands.add_parser("comment", help="say something about a memory; without words, read what was said")
    comment.add_argument("id")
    comment.add_argument("words", nargs="?")
    commands.add_parser("welcome", help="the memories that whoever joins should know first")


def _token_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="what the token is called; none lists them")
    parser.add_argument("--for", dest="whose", metavar="PERSON", help="whose it is; needed where you keep the store")
    parser.add_argument("--scope", choices=SCOPES, default=WRITE, help=f"how much it may do (default: {WRITE})")
    parser.add_argument(
        "--days", type=int, default=TOKEN_DAYS, metavar="N", help=f"until it ends (default {TOKEN_DAYS})"
    )
    parser.add_argument("--for-person", action="store_true", help="what it does is a person's word, not an agent's")
    parser.add_argument("--revoke", action="store_true", help="end it")


def run_team(args: argparse.Namespace, console: Console) -> int:
    command = args.team_command
    if command in _CHANGES:
        require_person(args, _CHANGES[command])
    if command == "token" and args.name:
        require_person(args, "make or end a token")
    if command == "join":
        return _join(args, console)
    remote = None if args.store or command == "init" else _joined()
    if remote is not None:
        told = _REMOTELY[command](remote, args)
    else:
        with _open_shared(args) as memory:
            if command != "init" and not memory.team.is_shared:
                raise NotInTeam
            told = _HERE[command](memory, args)
    if console.json:
        console.value(told)
    else:
        for line in _LINES[command](told):
            console.line(line)
    return FINE


def _open_shared(args: argparse.Namespace) -> Recollect:
    try:
        return open_from(args)
    except StoreMissing:
        if args.store is None and args.team_command != "init":
            raise NotInTeam from None
        raise


_CHANGES = {
    "init": "share a store",
    "invite": "invite somebody",
    "join": "join a team",
    "role": "change a role",
    "assign": "change a team",
    "remove": "remove somebody",
}


def _joined() -> RemoteTeam | None:
    from recollect.files.team_file import read_team_server
    from recollect.team.remote import RemoteTeam

    server = read_team_server()
    return None if server is None else RemoteTeam(server)


def _join(args: argparse.Namespace, console: Console) -> int:
    from recollect.files.team_file import read_team_server
    from recollect.team.remote import RemoteTeam, join_server

    told = dict(join_server(args.url, args.code, args.name))
    server = read_team_server()
    first = [] if server is None else RemoteTeam(server).get("team", "welcome")["memories"]
    if console.json:
        console.value({**told, "welcome": first})
        return FINE
    person = told["person"]
    console.line(f"You are in as {person['name']}, a {person['role']} of {', '.join(person['teams'])}.")
    console.line(f"Your token is kept for you and holds until {str(told['until'])[:10]}.")
    for line in _welcome_lines({"memories": first}):
        console.line(line)
    return FINE


# --- on one's own store ----------------------------------------------------------------------------------------------


def _init(memory: Recollect, args: argparse.Namespace) -> Any:
    joined = memory.team.init(args.team, admin=args.admin)
    told: dict[str, Any] = {"team": args.team, "project": memory.project}
    return told if joined is None else {**told, **joined_json(joined, project=memory.project)}


def _token(memory: Recollect, args: argparse.Namespace) -> Any:
    team = memory.team
    if args.name is None:
        return {"tokens": [team_token_json(one) for one in team.tokens(args.whose)]}
    if args.revoke:
        team.revoke_token(args.name, whose=args.whose)
        return {"revoked": args.name}
    token = team.make_token(
        args.name, scope=args.scope, days=args.days, for_person=args.for_person, whose=args.whose
    )  # fmt: skip
    return {"name": args.name, "token": token}


def _comment(memory: Recollect, args: argparse.Namespace) -> Any:
    if args.words:
        memory.team.comment(args.id, args.words)
    return {"comments": [comment_json(one) for one in memory.team.thread(args.id)]}


def _remove(memory: Recollect, args: argparse.Namespace) -> Any:
    memory.team.remove(args.name)
    return {"removed": args.name}


_HERE: dict[str, Callable[[Recollect, argparse.Namespace], Any]] = {
    "init": _init,
    "invite": lambda memory, args: {"code": memory.team.invite(args.team, role=args.role, days=args.days)},
    "members": lambda memory, args: {"people": [person_json(one) for one in memory.team.members()]},
    "role": lambda memory, args: person_json(memory.team.set_role(args.name, args.role)),
    "assign": lambda memory, args: person_json(memory.team.assign(args.name, args.team, leaves=args.leave)),
    "remove": _remove,
    "token": _token,
    "status": lambda memory, args: team_status_json(memory.team.status()),
    "comment": _comment,
    "welcome": lambda memory, args: {"memories": [welcome_json(one) for one in memory.team.welcome()]},
}


# --- on a server that was joined --------------------------------------------------------------------------------------


def _remote_token(team: RemoteTeam, args: argparse.Namespace) -> Any:
    if args.name is None:
        return team.get("team", "tokens")
    if args.revoke:
        return team.post("team", "tokens", "revoke", body={"name": args.name, "whose": args.whose})
    wanted = {"name": args.name, "scope": args.scope, "days": args.days, "for_person": args.for_person}
    return team.post("team", "tokens", body=wanted)


def _remote_comment(team: RemoteTeam, args: argparse.Namespace) -> Any:
    if args.words:
        team.post("memories", args.id, "comments", body={"words": args.words})
    return team.get("memories", args.id, "comments")


_REMOTELY: dict[str, Callable[[RemoteTeam, argparse.Namespace], Any]] = {
    "invite": lambda team, args: team.post(
        "team", "invite", body={"team": args.team, "role": args.role, "days": args.days}
    ),
    "members": lambda team, args: team.get("team", "people"),
    "role": lambda team, args: team.post("team", "people", args.name, "role", body={"role": args.role}),
    "assign": lambda team, args: team.post(
        "team", "people", args.name, "team", body={"team": args.team, "leaves": args.leave}
    ),
    "remove": lambda team, args: team.post("team", "people", args.name, "remove"),
    "token": _remote_token,
    "status": lambda team, args: team.get("team"),
    "comment": _remote_comment,
    "welcome": lambda team, args: team.get("team", "welcome"),
}


# --- in words ---------------------------------------------------------------------------------------------------------


def _init_lines(told: Mapping[str, Any]) -> Sequence[str]:
    lines = [f"{told['team']} works on {told['project']}."]
    if "token" in told:
        lines.append(f"{told['person']['name']} is its admin. Their token, shown once: {told['token']}")
    return [*lines, "`recollect team invite` makes a code for the next person; `recollect serve` lets them in."]


def _invite_lines(told: Mapping[str, Any]) -> Sequence[str]:
    return [str(told["code"]), "It lets one person in: `recollect team join URL CODE --name NAME`."]


def _person_line(person: Mapping[str, Any]) -> str:
    return f"{person['name']} · {person['role']} · {', '.join(person['teams']) or 'in no team'}"


def _token_lines(told: Mapping[str, Any]) -> Sequence[str]:
    if "revoked" in told:
        return [f"{told['revoked']} is revoked."]
    if "token" in told:
        return [str(told["token"]), "It is not shown again. Send it as `Authorization: Bearer TOKEN`."]
    lines = [f"{one['person']} · {one['name']} · {one['scope']} · until {one['until'][:10]}" for one in told["tokens"]]
    return lines or ["There are no tokens."]


def _status_lines(told: Mapping[str, Any]) -> Sequence[str]:
    lines = [f"{team['name']} works on {', '.join(team['projects']) or 'nothing yet'}" for team in told["teams"]]
    lines += [_person_line(one) for one in told["people"]]
    lines += [
        f"open invitation: {one['role']} of {one['team']}, until {one['until'][:10]}" for one in told["invitations"]
    ]
    if told["disputed"]:
        lines.append(f"{told['disputed']} disputed: run `recollect review`")
    return lines


def _comment_lines(told: Mapping[str, Any]) -> Sequence[str]:
    said = [f"{one['at'][:16]} {one['actor']} ({one['action']}): {one['words']}" for one in told["comments"]]
    return said or ["Nobody has said anything about it."]


def _welcome_lines(told: Mapping[str, Any]) -> Sequence[str]:
    if not told["memories"]:
        return ["The team shares no memories yet."]
    shown = [f"  {excerpt(one['memory']['content'], _SHOWN)}" for one in told["memories"]]
    return ["What the team relies on most:", *shown]


_LINES: dict[str, Callable[[Any], Sequence[str]]] = {
    "init": _init_lines,
    "invite": _invite_lines,
    "members": lambda told: [_person_line(one) for one in told["people"]],
    "role": lambda told: [_person_line(told)],
    "assign": lambda told: [_person_line(told)],
    "remove": lambda told: [f"{told['removed']} is out."],
    "token": _token_lines,
    "status": _status_lines,
    "comment": _comment_lines,
    "welcome": _welcome_lines,
}
