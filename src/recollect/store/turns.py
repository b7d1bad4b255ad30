"""What agents did and keep in mind: turns with their calls, whichever provider remembers them, and working memory.

A turn is written when it begins, each call when it has returned, and the answer at the end, so that a kill at any
point costs what nobody had yet been told. Every method that changes rows opens its own durable write.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial

from recollect.core.conversations import Call, Turn
from recollect.core.digest import checksum
from recollect.core.errors import StoreDamaged
from recollect.store.codec import from_ms, to_ms
from recollect.store.port import Engine, Params, Row, Value

_COLUMNS = (
    "id", "project", "session", "thread", "provider", "model", "at", "input", "output", "state", "note",
    "ended_at", "tokens_in", "tokens_out",
)  # fmt: skip
_NAMES = ", ".join(_COLUMNS)
_CALL_COLUMNS = ("project", "turn", "position", "call", "name", "arguments", "result", "failed", "step", "said", "ms")
_CALL_NAMES = ", ".join(_CALL_COLUMNS)
_TEXTS = ("input", "output", "note")
_CALL_TEXTS = ("arguments", "result", "said")
GONE = "[forgotten]"
_TELLING = 12  # characters: a shorter text is only recognised when it is all there is


class Turns:
    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    # --- writing --------------------------------------------------------------------------------------------------

    _PUT = f"""
        insert into turns ({_NAMES}, checksum) values ({", ".join("?" * (len(_COLUMNS) + 1))})
            on conflict (id) do update set
            {", ".join(f"{name} = excluded.{name}" for name in (*_COLUMNS[1:], "checksum"))}
    """

    def put(self, turn: Turn) -> None:
        """Add a turn, or bring a known one up to date. Its calls are written by `put_call`."""
        row = _row(turn, self._project)
        with self._engine.write():
            self._engine.execute_many(self._PUT, [(*row, checksum(row))])

    _PUT_CALL = f"""
        insert into turn_calls ({_CALL_NAMES}, checksum) values ({", ".join("?" * (len(_CALL_COLUMNS) + 1))})
            on conflict (turn, position) do update set
            {", ".join(f"{name} = excluded.{name}" for name in (*_CALL_COLUMNS[3:], "checksum"))}
    """

    def put_call(self, turn: str, position: int, call: Call) -> None:
        """One call that has returned."""
        row = _call_row(self._project, turn, position, call)
        with self._engine.write():
            self._engine.execute_many(self._PUT_CALL, [(*row, checksum(row))])

    _LEFT_OPEN = f"""
        select {_NAMES}, checksum from turns
         where project = :project and session = :session and thread <> :thread and state = 'open' order by number
    """

    def close_open(self, session: str, *, thread: str, at: datetime) -> int:
        """Turns that another waking left open were interrupted; how many. One that is still at work says so later."""
        with self._engine.write():
            key = {"project": self._project, "session": session, "thread": thread}
            left = self._whole(self._engine.rows(self._LEFT_OPEN, key))
            for turn in left:
                note = "the process ended before the answer"
                self.put(turn.having(state="interrupted", note=note, ended_at=at))
        return len(left)

    # --- reading --------------------------------------------------------------------------------------------------

    _RECENT = """
        select {names}, checksum from turns
         where project = :project {of} and (:any = 1 or state <> 'open') order by number desc limit :limit
    """

    def recent(self, *, session: str | None = None, limit: int, ended: bool = False) -> list[Turn]:
        """The last turns, of one session when it is named, only those that ended if asked, oldest of them first."""
        params = {"project": self._project, "limit": max(0, limit), "any": int(not ended), **_of(session)}
        sql = self._RECENT.format(names=_NAMES, of=_AND[session is not None])
        return self._whole(self._engine.rows(sql, params)[::-1])

    _COUNT = "select count(*) from turns where project = :project {of}"

    def count(self, *, session: str | None = None) -> int:
        sql = self._COUNT.format(of=_AND[session is not None])
        row = self._engine.row(sql, {"project": self._project, **_of(session)})
        return int(row[0]) if row else 0

    _TALLY = "select {by}, count(*) from turns where project = :project group by {by} order by {by}"

    def by_state(self) -> dict[str, int]:
        return dict(self._engine.rows(self._TALLY.format(by="state"), {"project": self._project}))

    def by_provider(self) -> dict[str, int]:
        return dict(self._engine.rows(self._TALLY.format(by="provider"), {"project": self._project}))

    _THREADS = """
        select thread from turns where project = :project and session = :session group by thread order by min(number)
    """

    def threads(self, session: str) -> list[str]:
        """Every waking of a session in which something was said, oldest first."""
        return [row[0] for row in self._engine.rows(self._THREADS, {"project": self._project, "session": session})]

    _LAST_SESSION = "select session from turns where project = :project order by number desc limit 1"

    def last_session(self) -> str | None:
        row = self._engine.row(self._LAST_SESSION, {"project": self._project})
        return None if row is None else str(row[0])

    _CALLS = f"""
        select {_CALL_NAMES}, checksum from turn_calls
         where project = :project and turn = any(:turns) order by turn, position
    """

    def _whole(self, rows: Sequence[Row]) -> list[Turn]:
        """The sound ones with their calls. What is damaged is left out here; `check` names it."""
        calls: dict[str, list[Call]] = {}
        for row in self._engine.rows(self._CALLS, {"turns": [row[0] for row in rows], "project": self._project}):
            if _is_sound(row):
                calls.setdefault(row[1], []).append(_call(row[:-1]))
        return [_turn(row[:-1], calls.get(row[0], ())) for row in rows if _is_sound(row)]

    # --- care -----------------------------------------------------------------------------------------------------

    _HOLDING = f"select {_NAMES}, checksum from turns where {{where}}"
    _HOLDING_CALL = f"select {_CALL_NAMES}, checksum from turn_calls where {{where}}"

    def forget(self, texts: Iterable[str]) -> int:
        """Blank some texts wherever a turn holds them; how many rows that changed. Joins the caller's write."""
        changed = 0
        for text in {text.strip() for text in texts} - {""}:
            told, called = _holds(_TEXTS, text), _holds(_CALL_TEXTS, text)
            changed += self._rewrite(told, called, {"text": text}, partial(_blank, text=text))
        return changed

    def reword(self, turn: str, change: Callable[[str], str]) -> None:
        """Put every text of a turn through a change, such as taking a secret out."""
        self._rewrite(
            "id = :turn and project = :project", "turn = :turn and project = :project", {"turn": turn}, change
        )

    def _rewrite(self, told: str, called: str, params: Params, change: Callable[[str], str]) -> int:
        changed = 0
        with self._engine.write():
            for sql, names, texts, put in (
                (self._HOLDING.format(where=told), _COLUMNS, _TEXTS, self._PUT),
                (self._HOLDING_CALL.format(where=called), _CALL_COLUMNS, _CALL_TEXTS, self._PUT_CALL),
            ):
                rows = [
                    tuple(change(value) if name in texts else value for name, value in zip(names, row, strict=False))
                    for row in self._engine.rows(sql, {**params, "project": self._project})
                ]
                self._engine.execute_many(put, [(*row, checksum(row)) for row in rows])
                changed += len(rows)
        return changed

    def every_text(self) -> Iterator[tuple[str, str]]:
        """Each text that a turn holds, with the turn's id."""
        places = [_COLUMNS.index(name) for name in _TEXTS]
        for row in self._engine.rows(self._EVERY):
            yield from ((str(row[0]), str(row[place])) for place in places)
        places = [_CALL_COLUMNS.index(name) for name in _CALL_TEXTS]
        for row in self._engine.rows(self._EVERY_CALL):
            yield from ((str(row[1]), str(row[place])) for place in places)

    _EVERY = f"select {_NAMES}, checksum from turns order by number"
    _EVERY_CALL = f"select {_CALL_NAMES}, checksum from turn_calls order by turn, position"

    def damaged(self) -> list[str]:
        """What does not match its checksum."""
        turns = [f"turn {row[0]}" for row in self._engine.rows(self._EVERY) if not _is_sound(row)]
        calls = [f"call {row[2]} of {row[1]}" for row in self._engine.rows(self._EVERY_CALL) if not _is_sound(row)]
        return [*turns, *calls]


_AND = {False: "", True: "and session = :session"}  # two statements, so that each uses its index


def _of(session: str | None) -> dict[str, Value]:
    return {} if session is None else {"session": session}


def _is_sound(row: Row) -> bool:
    return bool(checksum(row[:-1]) == row[-1])


def _holds(fields: Sequence[str], text: str) -> str:
    test = "strpos({}, :text) > 0" if len(text) >= _TELLING else "trim({}) = :text"
    return " or ".join(test.format(field) for field in fields)


def _blank(value: str, *, text: str) -> str:
    if value.strip() == text:
        return GONE
    return value.replace(text, GONE) if len(text) >= _TELLING else value


def _row(turn: Turn, project: str) -> tuple[Value, ...]:
    return (
        turn.id,
        project,
        turn.session,
        turn.thread,
        turn.provider,
        turn.model,
        to_ms(turn.at),
        turn.input,
        turn.output,
        turn.state,
        turn.note,
        None if turn.ended_at is None else to_ms(turn.ended_at),
        turn.tokens_in,
        turn.tokens_out,
    )


def _turn(row: Row, calls: Sequence[Call]) -> Turn:
    (id, _, session, thread, provider, model, at, input, output, state, note, ended_at, tokens_in, tokens_out) = row
    return Turn(
        id=id,
        session=session,
        thread=thread,
        provider=provider,
        model=model,
        at=from_ms(at),
        input=input,
        output=output,
        calls=tuple(calls),
        state=state,
        note=note,
        ended_at=None if ended_at is None else from_ms(ended_at),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def _call_row(project: str, turn: str, position: int, call: Call) -> tuple[Value, ...]:
    return (
        project,
        turn,
        position,
        call.id,
        call.name,
        call.arguments,
        call.result,
        int(call.failed),
        call.step,
        call.said,
        call.ms,
    )


def _call(row: Row) -> Call:
    _, _, _, id, name, arguments, result, failed, step, said, ms = row
    return Call(id, name, arguments, result, bool(failed), step, said, ms)


class WorkingMemory:
    """The working memory of a project's agents: a few short lists under fixed names. Decides nothing."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _SECTIONS = "select project, section, items, updated_at, checksum from working_memory where project = :project"

    def sections(self) -> dict[str, tuple[str, ...]]:
        """What is kept in mind, by section."""
        found: dict[str, tuple[str, ...]] = {}
        for row in self._engine.rows(f"{self._SECTIONS} order by section", {"project": self._project}):
            if checksum(row[:-1]) != row[-1]:
                raise StoreDamaged(self._engine.location, f"the working memory ({row[1]}) does not match its checksum")
            found[row[1]] = tuple(json.loads(row[2]))
        return found

    _PUT = """
        insert into working_memory (project, section, items, updated_at, checksum) values (?, ?, ?, ?, ?)
            on conflict (project, section) do update set
            items = excluded.items, updated_at = excluded.updated_at, checksum = excluded.checksum
    """

    def put(self, section: str, items: Sequence[str], *, at: datetime) -> None:
        """Replace what one section holds. Durable when this returns."""
        row = (self._project, section, json.dumps(list(items), ensure_ascii=False), to_ms(at))
        with self._engine.write():
            self._engine.execute_many(self._PUT, [(*row, checksum(row))])

    _EVERY = "select project, section, items, updated_at, checksum from working_memory order by project, section"

    def damaged(self) -> list[str]:
        return [
            f"the working memory of {row[0]} ({row[1]})"
            for row in self._engine.rows(self._EVERY)
            if checksum(row[:-1]) != row[-1]
        ]

    def forget(self, texts: Sequence[str]) -> None:
        """Drop items that say one of some texts. Joins the caller's write."""
        gone = {text.strip() for text in texts}
        with self._engine.write():
            for project, section, items, at, _ in self._engine.rows(self._EVERY):
                known = json.loads(items)
                kept = [item for item in known if item.strip() not in gone]
                if kept != known:
                    row = (project, section, json.dumps(kept, ensure_ascii=False), at)
                    self._engine.execute_many(self._PUT, [(*row, checksum(row))])
