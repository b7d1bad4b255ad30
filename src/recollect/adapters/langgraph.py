"""LangGraph's store on a memory: the extra `langgraph`. Items live under namespaces and keys, search is recall.

Reads of a batch see what was there before it; then its writes happen. What is past its time to live is not there any
more, and `sweep_ttl` forgets it for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from recollect.adapters.records import Key, Record, RecordStore
from recollect.app import Recollect
from recollect.core.errors import ExtraMissing

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
    )
except ImportError as error:
    raise ExtraMissing("LangGraph's store", package="langgraph", extra="langgraph") from error


class RecollectStore(BaseStore):
    """A LangGraph store. `fields` are the paths of a value that recall looks at; by default all its texts.

    `ttl` is LangGraph's own configuration; an expired item is never shown, whatever it says.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: Recollect,
        *,
        fields: Sequence[str] = (),
        ttl: TTLConfig | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._records = RecordStore(memory, "langgraph")
        self._fields = tuple(fields)
        self._clock = clock
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        asked = list(ops)
        results = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        last = {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}
        for op in last.values():
            self._write(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Forget what is past its time for good; how many that were."""
        return self._records.clear(one for one in self._records.under() if self._expired(one))

    # --- inside --------------------------------------------------------------------------------------------------

    def _read(self, op: Op) -> Result:
        match op:
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._namespaces(op)
            case _:
                raise ValueError(f"Unknown operation type: {type(op)}")

    def _write(self, op: PutOp) -> None:
        key = (*op.namespace, op.key)
        if op.value is None:
            self._records.drop(key)
            return
        ttl = op.ttl if op.ttl is not None else (self.ttl_config or {}).get("default_ttl")
        self._records.put(
            key,
            {"value": dict(op.value), "ttl": ttl},
            text=self._words(op),
            marks=_prefixes(op.namespace),
            until=self._until(ttl),
            shown=op.index is not False,
        )

    def _words(self, op: PutOp) -> str:
        paths = self._fields if op.index in (None, False) else op.index
        if not paths or "$" in paths:
            return "\n".join(_leaves(op.value))
        return "\n".join(text for path in paths for text in get_text_at_path(op.value, path))

    def _get(self, op: GetOp) -> Item | None:
        found = self._records.get((*op.namespace, op.key))
        if found is None or self._expired(found):
            return None
        self._refresh([found], op.refresh_ttl)
        return Item(**_fields(found))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        most, mark = op.offset + op.limit, _mark(op.namespace_prefix)

        def keep(one: Record) -> bool:
            return not self._expired(one) and _matches(one.value["value"], op.filter or {})

        found: Iterable[tuple[Record, float | None]]
        if op.query:
            found = self._records.search(op.query, k=most, mark=mark, keep=keep)
        else:
            found = ((one, None) for one in self._records.under(*mark) if keep(one))
        kept = list(islice(found, op.offset, most))
        self._refresh([one for one, _ in kept], op.refresh_ttl)
        return [SearchItem(**_fields(one), score=score) for one, score in kept]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        all_of_them = {one.key[:-1] for one in self._records.under() if not self._expired(one)}
        matching = {one for one in all_of_them if all(_fits(one, asked) for asked in op.match_conditions or ())}
        cut = {one if op.max_depth is None else one[: op.max_depth] for one in matching}
        return sorted(cut)[op.offset : op.offset + op.limit]

    def _until(self, ttl: float | None) -> datetime | None:
        return None if ttl is None else self._clock() + timedelta(minutes=ttl)

    def _expired(self, record: Record) -> bool:
        until = record.memory.valid_until
        return until is not None and until <= self._clock()

    def _refresh(self, records: Sequence[Record], asked: bool) -> None:
        """Reading lets an item live on, unless it was read without wanting that."""
        for record in records:
            if asked and record.value["ttl"] is not None:
                self._records.memory.edit(record.memory.id, valid_until=self._until(record.value["ttl"]))


def _mark(namespace: tuple[str, ...]) -> Key:
    return ("namespace", *namespace) if namespace else ()


def _prefixes(namespace: tuple[str, ...]) -> list[Key]:
    return [_mark(namespace[:length]) for length in range(1, len(namespace) + 1)]


def _fields(record: Record) -> dict[str, Any]:
    return {
        "namespace": record.key[:-1],
        "key": record.key[-1],
        "value": dict(record.value["value"]),
        "created_at": record.memory.created_at,
        "updated_at": record.memory.updated_at,
    }


def _leaves(value: Any) -> list[str]:
    """Every text in a value, in order; numbers and flags say little without their names, so those come along."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [
            text if isinstance(one, str | Mapping | list) else f"{name}: {text}"
            for name, one in value.items()
            for text in _leaves(one)
        ]
    if isinstance(value, list | tuple):
        return [text for one in value for text in _leaves(one)]
    return [] if value is None else [str(value)]


def _fits(namespace: tuple[str, ...], asked: MatchCondition) -> bool:
    if asked.match_type not in ("prefix", "suffix"):
        raise ValueError(f"Unsupported match type: {asked.match_type}")
    if len(namespace) < len(asked.path):
        return False
    start = 0 if asked.match_type == "prefix" else len(namespace) - len(asked.path)
    part = namespace[start : start + len(asked.path)]
    return all(want in ("*", have) for want, have in zip(asked.path, part, strict=True))


def _matches(value: Any, asked: Any) -> bool:
    """Does a value have what a filter asks for: equal, nested, or compared by `$gt` and its kin?"""
    if isinstance(asked, Mapping):
        if any(str(name).startswith("$") for name in asked):
            return all(_compared(value, str(operator), bound) for operator, bound in asked.items())
        return isinstance(value, Mapping) and all(_matches(value.get(name), one) for name, one in asked.items())
    if isinstance(asked, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(asked)
            and all(_matches(have, want) for have, want in zip(value, asked, strict=True))
        )
    return bool(value == asked)


_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": lambda have, bound: have > bound,
    "$gte": lambda have, bound: have >= bound,
    "$lt": lambda have, bound: have < bound,
    "$lte": lambda have, bound: have <= bound,
}


def _compared(value: Any, operator: str, bound: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return bool((value == bound) is (operator == "$eq"))
    if operator not in _ORDER:
        raise ValueError(f"Unsupported operator: {operator}")
    try:
        return _ORDER[operator](float(value), float(bound))
    except (TypeError, ValueError):  # not numbers: texts compare as texts, and what cannot be compared does not match
        return isinstance(value, str) and isinstance(bound, str) and _ORDER[operator](value, bound)
