"""People, their teams and tokens, and the team that a memory belongs to; and walls around what each may see."""

from __future__ import annotations

from recollect.core.fields import FIELDS, column_ddl
from recollect.store.port import Engine

TABLES = ("people", "teams", "team_people", "team_projects", "access_tokens", "invitations")
_MAKE = """
    create table people (
        id         text primary key,
        name       text not null unique,
        role       text not null,
        joined_at  bigint not null,
        left_at    bigint
    );
    create table teams (name text primary key, made_at bigint not null);
    create table team_people (
        team    text not null,
        person  text not null,
        primary key (team, person)
    ) /* clustered */;
    create table team_projects (
        team     text not null,
        project  text not null,
        primary key (team, project)
    ) /* clustered */;
    create table access_tokens (
        digest      text primary key,
        person      text not null,
        name        text not null,
        scope       text not null,
        is_persons  bigint not null,
        made_at     bigint not null,
        until       bigint not null,
        unique (person, name)
    );
    create table invitations (
        digest   text primary key,
        team     text not null,
        role     text not null,
        made_by  text not null,
        until    bigint not null,
        used_at  bigint,
        used_by  text
    )
"""
_SEEN_ROWS = """
    {t}.visibility = 'organization'
    or ({t}.visibility = 'team' and {t}.team = any(:seen_teams))
    or ({t}.project = any(:seen_projects)
        and ({t}.visibility = 'project' or ({t}.visibility = 'team' and {t}.team is null)))
"""
SEEN_MEMORY = f"({{t}}.flagged = 0 and ({_SEEN_ROWS}))"
_SOURCE = "exists (select 1 from memories s where s.id = {t}.source)"
_TARGET = "({t}.is_file = 1 or exists (select 1 from memories s where s.id = {t}.target))"
_LOGGED = "{t}.about = 'memory' and exists (select 1 from memories s where s.id = {t}.subject)"
_OF_PROJECT = "{t}.project = any(:seen_projects)"
# Which rows the database itself shows to a member, whatever a statement asks for. Where a wall names memories, it
# sees those of its reader only.
WALLS = {
    "memories": SEEN_MEMORY,
    "links": f"{_SOURCE} and {_TARGET}",
    "injections": "exists (select 1 from memories s where s.id = {t}.memory)",
    "log": f"({_LOGGED}) or ({_OF_PROJECT} and {{t}}.about not in ('memory', 'link'))",
    "documents": _OF_PROJECT,
    "turns": _OF_PROJECT,
}


def people(engine: Engine) -> None:
    for field in FIELDS:
        if field.since == 15:
            engine.execute(f"alter table memories add column {column_ddl(field)}")
    for statement in _MAKE.split(";"):
        engine.execute(statement)
    for table, condition in WALLS.items():
        engine.wall(table, condition)
