"""What a member sees of each table, as conditions, and statements rewritten so that they read nothing else.

One place for every read: a statement that reads a table below reads only the rows the condition lets through, whoever
wrote the statement. A table that stands in neither list is an error, so a new one cannot be forgotten. Statements that
must see every row to keep the store whole, such as the one that finds the end of the log, say `/* whole */`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from recollect.core.people import Member
from recollect.store.migrations.m0015_people import SEEN_MEMORY
from recollect.store.port import Value

_MEMORY = SEEN_MEMORY.format(t="s")


def _about_memory(column: str) -> str:
    return f"exists (select 1 from memories s where s.id = {{t}}.{column} and {_MEMORY})"


def _mentioned(column: str) -> str:
    """An entity that a memory in sight mentions, by itself or under the one it was merged into."""
    return (
        "exists (select 1 from facets f join memories s on s.seq = f.seq "
        f"where f.project = {{t}}.project and f.facet = 'entity' and f.value = {{t}}.{column} and {_MEMORY})"
    )


_OF_PROJECT = "{t}.project = any(:seen_projects)"
_IN_LOG = (
    f"(({{t}}.about = 'memory' and {_about_memory('subject')}) or ({_OF_PROJECT} and {{t}}.about = 'passages') "
    "or ({t}.action = 'team' and :seen_audit = 1))"
)
SEEN_ROWS = {
    "memories": SEEN_MEMORY,
    "facets": f"exists (select 1 from memories s where s.seq = {{t}}.seq and {_MEMORY})",
    "links": f"{_about_memory('source')} and ({{t}}.is_file = 1 or {_about_memory('target')})",
    "log": _IN_LOG,
    "injections": _about_memory("memory"),
    "enriched": _about_memory("memory"),
    "observed_promotions": _about_memory("memory"),
    "observed_syntheses": "1 = 0",  # lists ids; only our own chores read it
    "entities": _mentioned("id"),
    "entity_names": _mentioned("entity"),
    **dict.fromkeys(
        (
            "documents", "document_pairs", "document_links", "document_ranks", "tombstones", "sessions", "turns",
            "turn_calls", "working_memory", "agent_sessions", "observed_sessions", "observed_files", "observed_pairs",
            "observed_errors", "observed_calls", "observed_sequences", "observed_signals", "observed_traits", "spend",
            "jobs", "code_files", "code_nodes", "code_edges", "code_wants", "code_cochange", "code_churn",
        ),
        _OF_PROJECT,
    ),
}  # fmt: skip
# Read whole: facts about the store, indexes whose rows mean nothing without their memory, answers that are found by a
# secret only, and who is in which team,
# which the room asks for in its own words.
READ_WHOLE = frozenset(
    "meta embedding_cache spaces vectors grids cells keywords keyword_counts keyword_terms keyword_source about "
    "tenants replies synced people teams team_people team_projects access_tokens invitations".split()
)
WHOLE = "/* whole */"
_AFTER = "where|on|join|left|cross|inner|order|group|limit|union|using|as|for|set|and|or|not|returning"
_READ = re.compile(
    rf"(?<!delete )\b(from|join)\s+({'|'.join(SEEN_ROWS)})\b(?!\()"
    rf"(?:\s+(?:as\s+)?(?!(?:{_AFTER})\b)([a-z_]\w{{0,40}}))?"
    r"(\s*/\* not indexed \*/)?"
)


@lru_cache(maxsize=4_096)
def rewrite(sql: str) -> str:
    """A portable statement that reads only what a member sees."""
    return sql if WHOLE in sql else _READ.sub(_only_seen, sql)


def _only_seen(found: re.Match[str]) -> str:
    verb, table, alias, hint = found.groups()
    row = f"{table}_row"
    seen = SEEN_ROWS[table].format(t=row)
    return f"{verb} (select {row}.* from {table} {row}{hint or ''} where {seen}) {alias or table}"


def sight_of(member: Member) -> dict[str, Value]:
    """What the conditions compare with. No list is empty: an engine must know its type."""
    return {
        "seen_teams": sorted(member.teams) or [""],
        "seen_projects": sorted(member.projects) or [""],
        "seen_audit": int(member.role != "member"),
    }
