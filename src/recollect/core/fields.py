"""The one list of a Memory's fields: what each is called, how it is kept, who may set it, where it is shown.

From this table follow the columns of `memories` and their types, the row codec, the JSON of every door, the checks of
`shape`, what `edit` accepts, the options of `recollect remember` and `recollect edit`, and the MCP schema. The
dataclasses Memory and Draft and the typed signatures spell the names once more for the type checker;
`tests/house/test_fields_once.py` holds them to this table. Plain data, so that the hook process can load it: a reader
of a few columns asks `column_names("id", "kind", …)` for them instead of spelling the columns again.
"""

from __future__ import annotations

# How a field's values are spelt as a Python value, in a column and in JSON. `store.codec` and `core.forms` know how.
STORED = {
    "text": "text",
    "name": "text",  # one short line, cleaned
    "choice": "text",  # a word out of a closed list
    "labels": "text",  # short lines as a JSON list; none at all is null
    "real": "double precision",
    "count": "bigint",
    "flag": "smallint",
    "moment": "bigint",  # milliseconds since 1970 in UTC
    "decay": "text",
    "work_unit": "text",
    "span": "text",
    "payload": "text",
    "object": "text",
}

# The sections of a memory as JSON, in order. A field without one is nobody's business outside.
WHAT, STANDING, WHEN, MORE = range(4)


class Field:
    """One field of a Memory, or one thing only a Draft carries (`column` is empty)."""

    __slots__ = (
        "about", "choices", "column", "draft", "edit", "form", "metavar", "name", "option", "optional", "promised",
        "section", "since", "usage",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        form: str,
        about: str = "",
        *,
        optional: bool = False,
        choices: str = "",
        column: str | None = None,
        draft: bool = False,
        edit: bool = False,
        section: int | None = MORE,
        option: str = "",
        metavar: str | None = None,
        promised: bool | None = None,
        usage: bool = False,
        since: int = 1,
    ) -> None:
        self.name = name
        self.form = form
        self.about = about  # for people, in help and schemas
        self.optional = optional  # it may be None
        self.choices = choices  # the enumeration in `core.scope` it is taken from
        self.column = name if column is None else column
        self.draft = draft  # a Draft may set it
        self.edit = edit  # `edit` may change it
        self.section = section  # of the JSON; None: not shown
        self.option = option  # of `recollect remember`, and of `recollect edit` when it may be edited
        self.metavar = metavar
        self.promised = promised  # MCP clients may rely on it: always (True) or unless it is empty (False)
        self.usage = usage  # counts being read; moves without being a change, and the log does not replay it
        self.since = since  # the schema that added it; a row from before has null there


# In the order of the columns, which a row's checksum covers: new fields are added at the end, with `since`, and may be
# null. The checksum of a row leaves out trailing nulls of later schemas, so older rows stay valid.
FIELDS = (
    Field("id", "text", section=WHAT, promised=True),
    Field("project", "text", section=WHAT),
    Field("kind", "text", "gotcha, decision, preference, pattern … (default: fact)", draft=True, edit=True,
          section=WHAT, option="--kind", promised=True),
    Field("content", "text", draft=True, edit=True, section=WHAT, promised=True),
    Field("confidence", "real", "how sure it is", draft=True, edit=True, section=STANDING, option="--confidence",
          metavar="0-1", promised=True),
    Field("created_at", "moment", draft=True, section=WHEN, promised=True),
    Field("updated_at", "moment", section=WHEN),
    Field("accessed_at", "moment", usage=True),
    Field("source", "choice", "who says so (agents: agent_explicit)", choices="Source", draft=True, section=STANDING,
          option="--source", promised=True),
    Field("scope", "choice", "global, module, work_unit or session", choices="Scope", draft=True, edit=True,
          section=STANDING, option="--scope"),
    Field("visibility", "choice", "personal, project, team or organization (default: project)", choices="Visibility",
          draft=True, edit=True, section=STANDING, option="--visibility"),
    Field("status", "choice", choices="Status", draft=True, edit=True, section=WHAT, promised=True),
    Field("fingerprint", "text", section=None),
    Field("tags", "labels", "repeatable", draft=True, edit=True, section=STANDING, option="--tag", metavar="NAME",
          promised=False),
    Field("files", "labels", "a file it is about; repeatable", draft=True, edit=True, section=STANDING, option="--file",
          metavar="PATH", promised=False),
    Field("modules", "labels", "a module it is about", draft=True, edit=True, section=STANDING, option="--module",
          metavar="NAME"),
    Field("event_at", "moment", "when it happened, if not now", optional=True, draft=True, edit=True, section=WHEN,
          option="--when", metavar="DATE"),
    Field("access_count", "count", usage=True),
    Field("streak", "count", "accesses since the last correction or dispute", section=None, usage=True),
    Field("session", "name", "the session it was learnt in", optional=True, draft=True, option="--session"),
    Field("commit", "name", "the commit it was true at", optional=True, column="commit_sha", draft=True, edit=True,
          option="--commit"),
    Field("work_unit", "work_unit", optional=True, draft=True, edit=True),
    Field("source_role", "name", optional=True, draft=True),
    Field("provenance", "labels", "sessions that taught or confirmed it", draft=True),
    Field("node", "name", optional=True, draft=True, edit=True),
    Field("impacted", "labels", draft=True, edit=True),
    Field("entities", "labels", draft=True, edit=True),
    Field("citation", "name", "at most 40 characters, for chips", optional=True, draft=True, edit=True,
          option="--citation"),
    Field("needs_review", "flag", draft=True, edit=True),
    Field("verified", "flag", draft=True),
    Field("pinned", "flag", "never fades", draft=True, option="--pin"),
    Field("flagged", "flag", "the secret scanner redacted something: stays on this machine"),
    Field("stale_at", "moment", optional=True, draft=True, edit=True),
    Field("valid_until", "moment", optional=True, draft=True, edit=True),
    Field("superseded_by", "text", optional=True),
    Field("decay", "decay", optional=True, draft=True, edit=True),
    Field("span", "span", optional=True, draft=True),
    Field("embedding_model", "name", optional=True, section=None),
    Field("payload", "payload", "the structured part of recipes, dead ends …", optional=True, draft=True, edit=True,
          option="--payload", metavar="JSON"),
    Field("attributes", "object", draft=True, edit=True),
    Field("revision", "count", promised=False),
    Field("user", "name", "the one user of an assistant it belongs to (default: nobody in particular)", optional=True,
          column="user_id", draft=True, option="--user", metavar="ID", since=12),
    Field("team", "name", "the team that sees it, with --visibility team (default: yours)", optional=True, draft=True,
          edit=True, option="--team", metavar="NAME", since=15),
)  # fmt: skip

# What a Draft says about how it is to be remembered; none of it is kept as a field.
DRAFT_ONLY = (
    Field("supersedes", "name", "the memory this replaces", optional=True, column="", draft=True, option="--supersedes",
          metavar="ID"),
    Field("derived_from", "labels", "a memory it was drawn from; repeatable", column="", draft=True,
          option="--derived-from", metavar="ID"),
    Field("corrects", "flag", "what it supersedes was wrong, not just outdated: it must not come back", column="",
          draft=True),
    Field("why", "text", "the reason, for the log", column="", draft=True),
    Field("skip_conflict_check", "flag", "the caller has settled how it stands to what is known", column="",
          draft=True),
    Field("override_tombstone", "flag", "even if it was rejected or forgotten before", column="", draft=True,
          option="--again"),
)  # fmt: skip

BY_NAME = {field.name: field for field in FIELDS}
COLUMNS = tuple(field.column for field in FIELDS)
FIRST_COLUMNS = sum(field.since == 1 for field in FIELDS)  # those of the first schema lead
BY_COLUMN = {field.column: field for field in FIELDS}
EDITABLE = tuple(field.name for field in FIELDS if field.edit)
DRAFTED = (*(field for field in FIELDS if field.draft), *DRAFT_ONLY)
SHOWN = tuple(sorted((field for field in FIELDS if field.section is not None), key=lambda field: field.section or 0))


def column_names(*names: str, prefix: str = "") -> str:
    """The columns of some fields (none named: of all) for a statement, in the order given."""
    return ", ".join(prefix + BY_NAME[name].column for name in names or tuple(BY_NAME))


def column_ddl(field: Field) -> str:
    """The column of a field as portable SQL."""
    may_be_null = field.optional or field.form in ("labels", "object") or field.since > 1
    return f"{field.column} {STORED[field.form]}{'' if may_be_null else ' not null'}"
