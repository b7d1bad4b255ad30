"""What the observed sessions of a project add up to: files, pairs, troubles, calls, sequences, modules.

Sums are made from the sessions' rows whenever they are asked for, so none can be out of step with them. `before` leaves
out sessions that began at that moment or later: what was known then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from recollect.core.observed import CallCount, ErrorCount, FileCount, ModuleCount, PairCount, SequenceCount
from recollect.store.port import Engine, Params

_KEPT = 12  # files and remedies of one trouble that are told
_FROM = """
    from {table} t join observed_sessions o on o.project = t.project and o.id = t.session
   where t.project = :project and (cast(:before as bigint) is null or coalesce(o.started, 0) < :before)
"""
_LAST = "max(o.started)"


class Patterns:
    """Read-only sums over the observed sessions."""

    def __init__(self, engine: Engine, project: str) -> None:
        self._engine = engine
        self._project = project

    _FILE_COUNTS = f"""
        select t.path, max(t.module), count(*) as sessions, sum(t.reads), sum(t.edits),
               sum(case when t.edits > 0 then 1 else 0 end), {_LAST}
        {_FROM.format(table="observed_files")} and (cast(:module as text) is null or t.module = :module)
          and (:every_path = 1 or t.path = any(:paths))
        group by t.path order by sessions desc, t.path
    """

    def files(
        self,
        *,
        module: str | None = None,
        paths: Iterable[str] | None = None,
        before: float | None = None,
    ) -> list[FileCount]:
        """Every file that was used, or those of a module or among some paths; those of most sessions first."""
        asked = {"module": module, "every_path": int(paths is None), "paths": sorted(set(paths or ()))}
        rows = self._engine.rows(self._FILE_COUNTS, {**self._asked(before), **asked})
        return [FileCount(path=path, module=folder, sessions=sessions, reads=reads, edits=edits,
                          edited=edited, last=_seconds(last))
                for path, folder, sessions, reads, edits, edited, last in rows]  # fmt: skip

    _PAIR_COUNTS = f"""
        select t.one, t.other, count(*) as sessions,
               sum(case when t.forward > t.backward then 1 else 0 end),
               sum(case when t.backward > t.forward then 1 else 0 end),
               avg(t.steps), avg(t.seconds), {_LAST}
        {_FROM.format(table="observed_pairs")}
          and (:every_path = 1 or t.one = any(:paths)
               or t.other = any(:paths))
        group by t.one, t.other having count(*) >= :least order by sessions desc, t.one, t.other
    """

    def pairs(
        self, *, touching: Iterable[str] | None = None, least: int = 1, before: float | None = None
    ) -> list[PairCount]:
        """Files used together in at least so many sessions, all or those that touch some files; most sessions first."""
        asked = {"every_path": int(touching is None), "paths": sorted(set(touching or ())), "least": least}
        rows = self._engine.rows(self._PAIR_COUNTS, {**self._asked(before), **asked})
        return [PairCount(one=one, other=other, sessions=sessions, led=led, followed=followed, steps=steps,
                          seconds=seconds, last=_seconds(last))
                for one, other, sessions, led, followed, steps, seconds, last in rows]  # fmt: skip

    _TROUBLES = f"""
        select t.tool, t.words, t.fingerprint, t.shape, t.example, t.files, t.times, t.resolution,
               o.started
        {_FROM.format(table="observed_errors")} and (cast(:tool as text) is null or t.tool = :tool)
        order by coalesce(o.started, 0), o.id, t.tool, t.words, t.fingerprint
    """

    def errors(self, *, tool: str | None = None, least: int = 1, before: float | None = None) -> list[ErrorCount]:
        """Troubles seen in at least so many sessions, those of most sessions first."""
        rows = self._engine.rows(self._TROUBLES, {**self._asked(before), "tool": tool})
        grouped: dict[tuple[str, str, str], list[tuple[str, str, str, int, str, float | None]]] = {}
        for tool_name, words, fingerprint, *rest in rows:
            grouped.setdefault((tool_name, words, fingerprint), []).append(tuple(rest))
        found = [_trouble(key, seen) for key, seen in grouped.items() if len(seen) >= least]
        return sorted(found, key=lambda one: (-one.sessions, -one.times, one.tool, one.words, one.fingerprint))

    _CALL_COUNTS = f"""
        select t.tool, t.words, count(*), sum(t.times) as times, sum(t.errors)
        {_FROM.format(table="observed_calls")}
        group by t.tool, t.words order by times desc, t.tool, t.words
    """

    def calls(self, *, before: float | None = None) -> list[CallCount]:
        """How often each tool and command was called and failed: what a warning is held against."""
        rows = self._engine.rows(self._CALL_COUNTS, self._asked(before))
        return [CallCount(tool=tool, words=words, sessions=sessions, times=times, errors=errors)
                for tool, words, sessions, times, errors in rows]  # fmt: skip

    _SEQUENCE_COUNTS = f"""
        select t.tools, count(*) as sessions, sum(t.times)
        {_FROM.format(table="observed_sequences")}
        group by t.tools having count(*) >= :least order by sessions desc, t.tools
    """

    def sequences(self, *, least: int = 1, before: float | None = None) -> list[SequenceCount]:
        """Orders of tools that at least so many sessions repeated."""
        rows = self._engine.rows(self._SEQUENCE_COUNTS, {**self._asked(before), "least": least})
        return [SequenceCount(tools=tools, sessions=sessions, times=times) for tools, sessions, times in rows]

    _MODULE_COUNTS = f"""
        select t.module, count(distinct t.session) as sessions, {_LAST}
        {_FROM.format(table="observed_files")}
        group by t.module having count(distinct t.session) >= :least order by sessions desc, t.module
    """

    def modules(self, *, least: int = 1, before: float | None = None) -> list[ModuleCount]:
        """Folders that at least so many sessions worked in."""
        rows = self._engine.rows(self._MODULE_COUNTS, {**self._asked(before), "least": least})
        return [ModuleCount(module=module, sessions=sessions, last=_seconds(last)) for module, sessions, last in rows]

    def _asked(self, before: float | None) -> Params:
        return {"project": self._project, "before": None if before is None else round(before * 1000)}


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000


def _trouble(
    key: tuple[str, str, str], seen: list[tuple[str, str, str, int, str, float | None]]
) -> ErrorCount:  # fmt: skip
    files = dict.fromkeys(path for one in reversed(seen) for path in json.loads(one[2]))
    remedies = Counter(one[4] for one in reversed(seen) if one[4])
    shape, example, *_ = seen[-1]
    return ErrorCount(
        tool=key[0],
        words=key[1],
        fingerprint=key[2],
        shape=shape,
        example=example,
        sessions=len(seen),
        times=sum(one[3] for one in seen),
        last=_seconds(seen[-1][5]),
        files=tuple(files)[:_KEPT],
        resolutions=tuple(remedies.most_common(_KEPT)),
    )
