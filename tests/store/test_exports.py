"""Exports are known by where they were written, once each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from recollect import Recollect

AT = datetime(2026, 3, 1, tzinfo=UTC)


def test_an_export_is_known_by_its_path_until_it_is_gone(memory: Recollect) -> None:
    exports = memory.store.exports
    with memory.store.engine.write():
        exports.note("/a/one.jsonl", format="jsonl", at=AT)
        exports.note("/a/vault", format="markdown", at=AT)
        exports.note("/a/one.jsonl", format="jsonl", at=AT + timedelta(days=1))
    assert [(one.path, one.format, one.at.day) for one in exports.every()] == [
        ("/a/vault", "markdown", 1),
        ("/a/one.jsonl", "jsonl", 2),
    ]
    with memory.store.engine.write():
        exports.drop(["/a/vault"])
    assert [one.path for one in exports.every()] == ["/a/one.jsonl"]
