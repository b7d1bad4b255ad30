"""Plain JSONL: one row per event, `k` says which (user, assistant, tool), `s` the session, `ts` the moment.

A tool row holds its call and, when it came back, its result: `tool`, `args`, `result`, `error`, `side`, `end`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from recollect.observer.events import Event, Outcome
from recollect.observer.readers.lines import Json, Maker, Tally, objects, prose, seconds, table, word


def read(lines: Iterable[str], *, tally: Tally, root: str | None = None) -> Iterator[Event]:
    """The events of every session in the file; sessions may be interleaved. A tool row is a step,
    and a path that is not relative lies outside the project unless `root` says where that is."""
    makers: dict[str, Maker] = {}
    for row in objects(lines, tally):
        session = word(row.get("s")) or "session"
        maker = makers.setdefault(session, Maker(session, tally, root or "."))
        yield from _one(row, maker)
    for maker in makers.values():
        yield maker.done()


def _one(row: Json, maker: Maker) -> Iterator[Event]:
    kind, at = row.get("k"), seconds(row.get("ts"))
    if kind == "user":
        yield from maker.user("", prose(row.get("text")), at=at)
    elif kind == "assistant":
        yield from maker.reasoning("", prose(row.get("text")), at=at)
    elif kind == "tool":
        yield from _tool(row, maker, at)
    elif kind == "outcome":
        ended = word(row.get("outcome"))
        yield maker.done(Outcome(ended) if ended in list(Outcome) else Outcome.UNKNOWN, at=at)
    else:
        maker.tally.skip(kind)


def _tool(row: Json, maker: Maker, at: float | None) -> Iterator[Event]:
    agent = "side" if row.get("side") is True else word(row.get("agent"))
    key = word(row.get("id")) or f"step {maker.step}"
    maker.step += 1
    yield maker.call(key, word(row.get("tool")), table(row.get("args")), at=at, agent=agent)
    if "result" in row or "error" in row:
        size = row.get("result_len")
        yield maker.result(
            key,
            prose(row.get("result")),
            error=row.get("error") is True,
            at=seconds(row.get("end")) or at,
            agent=agent,
            size=size if isinstance(size, int) and size >= 0 else None,
        )
    yield maker.stepped(at=at)
