"""The tables of what was observed: one session's rows, replaced as a whole. What they add up to is in `patterns`.

Methods that change rows run inside `engine.write()`. Values in, values out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import Field, fields
from typing import Any, Generic, TypeVar

from recollect.core.digest import checksum
from recollect.core.observed import (
    CallsSeen,
    Contribution,
    ErrorSeen,
    FeatureSeen,
    FileSeen,
    ObservedTally,
    PairSeen,
    Promotion,
    SequenceSeen,
    SessionSeen,
    SignalSeen,
    Synthesis,
)
from recollect.store.patterns import Patterns
from recollect.store.port import Params, Row, Value

V = TypeVar("V")
_MOMENTS = frozenset({"started", "ended", "at"})  # seconds in a value, milliseconds in a column


_OWN = "select {columns} from {table} where project = :project and session = :session order by number"
_EVERY = "select {columns} from {table} order by {order}"
_INSERT = "insert into {table} ({columns}) values ({marks})"


class Table(Generic[V]):
    """A table whose columns are its owner, the fields of a value by name, and a checksum."""

    def __init__(self, name: str, made: type[V], owner: tuple[str, ...], *, key: tuple[str, ...] = ()) -> None:
        self.name = name
        self._made = made
        self._fields: tuple[Field[Any], ...] = fields(made)  # type: ignore[arg-type]
        own = tuple(field.name for field in self._fields)
        self.columns = ", ".join(own)
        every = (*owner, *own, "checksum")
        replaced = ", ".join(f"{one} = excluded.{one}" for one in every if one not in key)
        self.own = _OWN.format(columns=self.columns, table=name)
        self.every = _EVERY.format(columns=", ".join(every), table=name, order=", ".join((*owner, own[0])))
        self.insert = _INSERT.format(columns=", ".join(every), table=name, marks=", ".join("?" * len(every))) + (
            f" on conflict ({', '.join(key)}) do update set {replaced}" if key else ""
        )

    def rows(self, owner: tuple[str, ...], values: Sequence[V]) -> list[tuple[Value, ...]]:
        """The rows of some values of one owner."""
        plain = [(*owner, *(_stored(field, getattr(value, field.name)) for field in self._fields)) for value in values]
        return [(*row, checksum(row)) for row in plain]

    def value(self, row: Row) -> V:
        """The value whose columns these are, in the order of `columns`."""
        return self._made(
            **{one.name: _known(one, stored) for one, stored in zip(self._fields, row, strict=True)}
        )  # fmt: skip


def _stored(field: Field[Any], value: Any) -> Value:
    if field.name in _MOMENTS:
        return None if value is None else round(value * 1000)
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return float(value) if field.type == "float" else value


def _known(field: Field[Any], stored: Value) -> Any:
    if field.name in _MOMENTS:
        return None if stored is None else stored / 1000
    return tuple(json.loads(stored)) if str(field.type).startswith("tuple") else stored


_SESSION = ("project", "session")
_SESSIONS = Table("observed_sessions", SessionSeen, ("project",))
_FILES = Table("observed_files", FileSeen, _SESSION)
_PAIRS = Table("observed_pairs", PairSeen, _SESSION)
_ERRORS = Table("observed_errors", ErrorSeen, _SESSION)
_CALLS = Table("observed_calls", CallsSeen, _SESSION)
_SEQUENCES = Table("observed_sequences", SequenceSeen, _SESSION)
_SIGNALS = Table("observed_signals", SignalSeen, _SESSION)
_FEATURES = Table("observed_traits", FeatureSeen, _SESSION)
_PROMOTIONS = Table("observed_promotions", Promotion, ("project",), key=("project", "key"))
_SYNTHESES = Table("observed_syntheses", Synthesis, ("project",), key=("project", "subject", "stage"))
_PARTS: tuple[Table[Any], ...] = (_FILES, _PAIRS, _ERRORS, _CALLS, _SEQUENCES, _SIGNALS, _FEATURES)
EVERY_ROW = {table.name: table.every for table in (_SESSIONS, *_PARTS, _PROMOTIONS, _SYNTHESES)}
TABLES = tuple(EVERY_ROW)
IN_ORDER = tuple(table.name for table in _PARTS)  # rows are numbered as they come


class Observed(Patterns):
    """What was observed of a project, session by session; `Patterns` adds it up."""

    # --- one session ------------------------------------------------------------------------------------------------

    _KNOWN = "select events from observed_sessions where project = :project and id = :id"

    def put(self, seen: Contribution) -> bool:
        """Replace what this session contributed. False when more of it is known already, which stays."""
        known = self._engine.row(self._KNOWN, {"project": self._project, "id": seen.session.id})
        if known is not None and known[0] > seen.session.events:
            return False
        self.drop(seen.session.id)
        owner = (self._project, seen.session.id)
        self._add(_SESSIONS, (self._project,), (seen.session,))
        self._add(_FILES, owner, seen.files)
        self._add(_PAIRS, owner, seen.pairs)
        self._add(_ERRORS, owner, seen.errors)
        self._add(_CALLS, owner, seen.calls)
        self._add(_SEQUENCES, owner, seen.sequences)
        self._add(_SIGNALS, owner, seen.signals)
        self._add(_FEATURES, owner, seen.features)
        return True

    _DROP = (
        "delete from observed_sessions where project = :project and id = :session",
        *(f"delete from {table.name} where project = :project and session = :session" for table in _PARTS),
    )

    def drop(self, session: str) -> None:
        """Remove what a session contributed; what was promoted from it stays known."""
        for statement in self._DROP:
            self._engine.execute(statement, {"project": self._project, "session": session})

    _ERASE = "delete from observed_signals where project = :project and session = :session and name = :name"
    _ERASE_TROUBLE = "delete from observed_errors where project = :project and fingerprint = :fingerprint"

    # A projection: rewritten with the next session.
    _ERASE_OUTLOOK = "delete from meta where project = :project and name = 'outlook'"

    def erase(self, signal: str, sessions: Iterable[str], fingerprint: str) -> None:
        """Remove what a forgotten memory was drawn from: a person's words must not linger in the statistics."""
        for session in sessions:
            self._engine.execute(self._ERASE, {"project": self._project, "session": session, "name": signal})
        if fingerprint:
            self._engine.execute(self._ERASE_TROUBLE, {"project": self._project, "fingerprint": fingerprint})
            self._engine.execute(self._ERASE_OUTLOOK, {"project": self._project})

    _TROUBLED = "select count(*) from observed_errors where project = :project"

    def troubled(self) -> int:
        """How many troubles of sessions are kept: fewer than before means that some were erased."""
        row = self._engine.row(self._TROUBLED, {"project": self._project})
        return int(row[0]) if row else 0

    _ONE = f"select {_SESSIONS.columns} from observed_sessions where project = :project and id = :session"

    def get(self, session: str) -> Contribution | None:
        """Everything a session contributed, or nothing when it was never observed."""
        with self._engine.read():
            row = self._engine.row(self._ONE, {"project": self._project, "session": session})
            if row is None:
                return None
            owner = (self._project, session)
            return Contribution(
                session=_SESSIONS.value(row),
                files=self._own(_FILES, owner),
                pairs=self._own(_PAIRS, owner),
                errors=self._own(_ERRORS, owner),
                calls=self._own(_CALLS, owner),
                sequences=self._own(_SEQUENCES, owner),
                signals=self._own(_SIGNALS, owner),
                features=self._own(_FEATURES, owner),
            )

    def session(self, id: str) -> SessionSeen | None:
        """One observed session, or nothing."""
        row = self._engine.row(self._ONE, {"project": self._project, "session": id})
        return None if row is None else _SESSIONS.value(row)

    _EVERY = f"""
        select {_SESSIONS.columns} from observed_sessions where project = :project
         order by coalesce(started, 0), id
    """

    def sessions(self) -> list[SessionSeen]:
        """Every observed session, the one that began first leading; those without a moment lead all."""
        return [_SESSIONS.value(row) for row in self._engine.rows(self._EVERY, {"project": self._project})]

    _IDS = "select id from observed_sessions where project = :project order by coalesce(started, 0), id"

    def ids(self) -> list[str]:
        """The ids of every observed session, in the same order."""
        return [row[0] for row in self._engine.rows(self._IDS, {"project": self._project})]

    _USED = f"""
        select session, {_FILES.columns} from observed_files where project = :project
         order by session, first_step, path
    """

    def histories(self) -> list[tuple[SessionSeen, tuple[FileSeen, ...]]]:
        """Every session with the files it used, in the order it first used them; sessions in time order."""
        with self._engine.read():
            sessions = self.sessions()
            rows = self._engine.rows(self._USED, {"project": self._project})
        files: dict[str, list[FileSeen]] = {}
        for session, *row in rows:
            files.setdefault(session, []).append(_FILES.value(tuple(row)))
        return [(session, tuple(files.get(session.id, ()))) for session in sessions]

    _SIGHTINGS = f"""
        select s.session, {", ".join(f"s.{name}" for name in _SIGNALS.columns.split(", "))} from observed_signals s
          join observed_sessions o on o.project = s.project and o.id = s.session
         where s.project = :project and s.name = :name and s.subject = any(:subjects)
         order by coalesce(o.started, 0), o.id, s.subject
    """

    def signals(self, name: str, subjects: Iterable[str]) -> list[tuple[str, SignalSeen]]:
        """The sessions that had a signal about some subjects, in the order they began, with what each saw of it."""
        asked = {"project": self._project, "name": name, "subjects": sorted(set(subjects))}
        rows = self._engine.rows(self._SIGHTINGS, asked)
        return [(session, _SIGNALS.value(tuple(row))) for session, *row in rows]

    _NAMED_SIGNALS = f"""
        select s.session, {", ".join(f"s.{name}" for name in _SIGNALS.columns.split(", "))} from observed_signals s
          join observed_sessions o on o.project = s.project and o.id = s.session
         where s.project = :project and s.name = :name order by coalesce(o.started, 0), o.id, s.subject
    """

    def signals_named(self, name: str) -> list[tuple[str, SignalSeen]]:
        """Every sighting of a signal, whatever it was about."""
        rows = self._engine.rows(self._NAMED_SIGNALS, {"project": self._project, "name": name})
        return [(session, _SIGNALS.value(tuple(row))) for session, *row in rows]

    _TROUBLE = f"""
        select t.session, {", ".join(f"t.{name}" for name in _ERRORS.columns.split(", "))} from observed_errors t
          join observed_sessions o on o.project = t.project and o.id = t.session
         where t.project = :project and t.fingerprint = any(:keys)
         order by coalesce(o.started, 0), o.id, t.tool, t.words, t.fingerprint
    """

    def troubles(self, fingerprints: Iterable[str]) -> list[tuple[str, ErrorSeen]]:
        """The sessions that had some troubles, in the order they began."""
        rows = self._engine.rows(self._TROUBLE, {"project": self._project, "keys": sorted(set(fingerprints))})
        return [(session, _ERRORS.value(tuple(row))) for session, *row in rows]

    _TROUBLE_ABOUT = f"""
        select t.session, {", ".join(f"t.{name}" for name in _ERRORS.columns.split(", "))} from observed_errors t
          join observed_sessions o on o.project = t.project and o.id = t.session
         where t.project = :project order by coalesce(o.started, 0), o.id, t.tool, t.words, t.fingerprint
    """

    def troubles_about(self, paths: Iterable[str]) -> list[tuple[str, ErrorSeen]]:
        """The sessions that had any trouble with some files, in the order they began."""
        wanted = set(paths)
        rows = self._engine.rows(self._TROUBLE_ABOUT, {"project": self._project})
        seen = [(session, _ERRORS.value(tuple(row))) for session, *row in rows]
        return [(session, trouble) for session, trouble in seen if wanted & set(trouble.files)]

    _TOGETHER = """
        select p.one, p.other, p.session from observed_pairs p
          join observed_files f on f.project = p.project and f.session = p.session and f.path = p.one
          join observed_files g on g.project = p.project and g.session = p.session and g.path = p.other
         where p.project = :project and f.edits > 0 and g.edits > 0
           and p.one = any(:paths) and p.other = any(:paths)
         order by p.one, p.other, p.session
    """

    def changed_together(self, paths: Iterable[str]) -> dict[tuple[str, str], tuple[str, ...]]:
        """The sessions in which two of these files were changed close to each other."""
        found: dict[tuple[str, str], list[str]] = {}
        for one, other, session in self._engine.rows(
            self._TOGETHER, {"project": self._project, "paths": sorted(set(paths))}
        ):
            found.setdefault((one, other), []).append(session)
        return {pair: tuple(sessions) for pair, sessions in found.items()}

    _FILES_OF = f"""
        select session, {_FILES.columns} from observed_files
         where project = :project and session = any(:sessions)
         order by session, first_step, path
    """

    def files_of(self, sessions: Iterable[str]) -> dict[str, tuple[FileSeen, ...]]:
        """The files some sessions used, each in the order of first use."""
        found: dict[str, list[FileSeen]] = {}
        asked = {"project": self._project, "sessions": sorted(set(sessions))}
        for session, *row in self._engine.rows(self._FILES_OF, asked):
            found.setdefault(session, []).append(_FILES.value(tuple(row)))
        return {session: tuple(files) for session, files in found.items()}

    _IN_MODULE = """
        select o.id from observed_sessions o
         where o.project = :project
           and o.id in (select session from observed_files where project = :project and module = :module)
         order by coalesce(o.started, 0), o.id
    """

    def sessions_in(self, module: str) -> list[str]:
        """The sessions that worked in a folder, in the order they began."""
        return [row[0] for row in self._engine.rows(self._IN_MODULE, {"project": self._project, "module": module})]

    _USED_IN = """
        select path, count(*) from observed_files
         where project = :project and session = any(:sessions)
         group by path having count(*) >= :least order by path
    """

    def used_in(self, sessions: Iterable[str], *, least: int = 1) -> dict[str, int]:
        """How many of some sessions used each file, for files that at least so many did."""
        asked = {"project": self._project, "sessions": sorted(set(sessions)), "least": least}
        return dict(self._engine.rows(self._USED_IN, asked))

    _CHANGED = """
        select 1 from observed_files
         where project = :project and edits > 0 and (path = :path or substr(path, 1, :length) = :folder) limit 1
    """

    def was_changed(self, path: str) -> bool:
        """Was a file, or one below a folder, changed in any session?"""
        asked = {"project": self._project, "path": path, "folder": f"{path}/", "length": len(path) + 1}
        return self._engine.row(self._CHANGED, asked) is not None

    _CHANGING = """
        select count(distinct session) from observed_files
         where project = :project and edits > 0 and session <> :besides
    """

    def changing_sessions(self, *, besides: str) -> int:
        """How many sessions changed any file, one left out."""
        row = self._engine.row(self._CHANGING, {"project": self._project, "besides": besides})
        return int(row[0]) if row else 0

    _BEGAN = "select id, started from observed_sessions where project = :project order by coalesce(started, 0), id"

    def began(self) -> dict[str, float | None]:
        """When each session began, where that is known, the one that began first leading."""
        rows = self._engine.rows(self._BEGAN, {"project": self._project})
        return {id: None if at is None else at / 1000 for id, at in rows}

    _OUTSIDE = "select id, outside, taint from observed_sessions where project = :project and outside is not null"

    def outside(self) -> dict[str, tuple[int, str]]:
        """The sessions that reached outside: from which step on, and where to."""
        return {id: (step, taint) for id, step, taint in self._engine.rows(self._OUTSIDE, {"project": self._project})}

    _LOOKED = f"""
        select session, {_FEATURES.columns} from observed_traits
         where project = :project and session = any(:sessions) order by number
    """

    def features(self, sessions: Sequence[str]) -> list[tuple[FeatureSeen, ...]]:
        """How the calls of some sessions looked: one entry for each session, in the order asked."""
        rows = self._engine.rows(self._LOOKED, {"project": self._project, "sessions": list(sessions)})
        grouped: dict[str, list[FeatureSeen]] = {session: [] for session in sessions}
        for session, *row in rows:
            grouped[session].append(_FEATURES.value(tuple(row)))
        return [tuple(grouped[session]) for session in sessions]

    # --- what became of it ------------------------------------------------------------------------------------------

    _PROMOTED = f"""
        select {_PROMOTIONS.columns} from observed_promotions
         where project = :project and key = any(:keys)
    """

    def promoted(self, keys: Iterable[str]) -> dict[str, Promotion]:
        """Which of these became memories before, whatever became of those."""
        rows = self._engine.rows(self._PROMOTED, {"project": self._project, "keys": sorted(set(keys))})
        return {found.key: found for found in map(_PROMOTIONS.value, rows)}

    _PROMOTIONS_OF = "select count(*) from observed_promotions where project = :project and session = :session"

    def promotions_of(self, session: str) -> int:
        """How many memories a session has led to."""
        row = self._engine.row(self._PROMOTIONS_OF, {"project": self._project, "session": session})
        return int(row[0]) if row else 0

    def note_promotions(self, promotions: Sequence[Promotion]) -> None:
        """Remember what became a memory. One noted before is noted again."""
        self._add(_PROMOTIONS, (self._project,), promotions)

    _SYNTHESISED = f"""
        select {_SYNTHESES.columns} from observed_syntheses
         where project = :project and (cast(:subject as text) is null or subject = :subject) order by at, subject, stage
    """

    def syntheses(self, *, subject: str | None = None) -> list[Synthesis]:
        """What was synthesised, of one subject or of all, the oldest first."""
        rows = self._engine.rows(self._SYNTHESISED, {"project": self._project, "subject": subject})
        return [_SYNTHESES.value(row) for row in rows]

    def note_synthesis(self, done: Synthesis) -> None:
        """Remember that a subject was synthesised at a stage, so that it never is again."""
        self._add(_SYNTHESES, (self._project,), (done,))

    # --- how much ---------------------------------------------------------------------------------------------------

    _TALLY = """
        select count(*), coalesce(sum(calls), 0), coalesce(sum(errors), 0), coalesce(sum(events), 0),
               coalesce(sum(slow), 0), coalesce(sum(case when taint <> '' then 1 else 0 end), 0), max(started),
               (select count(*) from observed_promotions where project = :project)
          from observed_sessions where project = :project
    """

    def tally(self) -> ObservedTally:
        """How much was observed of a project."""
        row = self._engine.row(self._TALLY, {"project": self._project})
        if row is None:
            return ObservedTally()
        sessions, calls, errors, events, slow, tainted, last, promotions = row
        return ObservedTally(sessions=sessions, calls=calls, errors=errors, events=events, slow=slow,
                             tainted=tainted, promotions=promotions,
                             last=None if last is None else last / 1000)  # fmt: skip

    def damaged(self) -> list[str]:
        """The rows that do not match their checksum, named by table and by session, key or subject."""
        return [
            f"{table.removeprefix('observed_')} of {row[1]}"
            for table, every in EVERY_ROW.items()
            for row in self._engine.rows(every)
            if checksum(row[:-1]) != row[-1]
        ]

    def _asked_for(self, **sets: Iterable[str]) -> Params:
        return {"project": self._project, **{name: sorted(set(some)) for name, some in sets.items()}}

    def _add(self, table: Table[V], owner: tuple[str, ...], values: Sequence[V]) -> None:
        if values:
            self._engine.execute_many(table.insert, table.rows(owner, values))

    def _own(self, table: Table[V], owner: tuple[str, str]) -> tuple[V, ...]:
        found = self._engine.rows(table.own, {"project": owner[0], "session": owner[1]})
        return tuple(map(table.value, found))
