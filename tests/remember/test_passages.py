from __future__ import annotations

import pytest

from recollect import Draft
from recollect.app import Recollect
from recollect.core.errors import InvalidField, NothingToUndo
from recollect.core.ids import new_id
from recollect.core.query import Filter
from recollect.core.records import Span
from recollect.remember.passages import DocumentChunks, Kept, replace_passages
from recollect.store.check import check


def test_a_second_cut_replaces_the_first_and_only_what_changed(memory: Recollect) -> None:
    first = _keep(memory, "guide", "Install it with pip.", "Run the server.")
    second = _keep(memory, "guide", "A new opening line.", "Install it with pip.", "Run the daemon.")
    assert (second.added, second.removed) == (2, 1)
    assert second.passages[1] == first.passages[0]
    assert _texts(memory) == ["A new opening line.", "Install it with pip.", "Run the daemon."]


def test_a_passage_that_only_moved_keeps_its_row_and_learns_its_new_place(memory: Recollect) -> None:
    first = _keep(memory, "guide", "Install it with pip.")
    _keep(memory, "guide", "Something above.", "Install it with pip.")
    moved = memory.get(first.passages[0])
    assert moved.span is not None
    assert moved.span.start == 1000
    assert moved.revision == 2
    assert check(memory.store).ok


def test_an_empty_cut_takes_the_document_out_of_every_index(memory: Recollect) -> None:
    _keep(memory, "guide", "Install it with pip.")
    _keep(memory, "other", "Something else about pip.")
    assert _keep(memory, "guide").removed == 1
    assert [hit.memory.content for hit in memory.recall("pip")] == ["Something else about pip."]
    assert check(memory.store).ok


def test_documents_do_not_touch_each_other(memory: Recollect) -> None:
    _keep(memory, "one", "The same words.")
    kept = _keep(memory, "two", "The same words.")
    assert (kept.added, kept.removed) == (1, 0)
    assert memory.count() == 2


def test_words_said_twice_in_a_document_are_two_passages_and_stay_so(memory: Recollect) -> None:
    first = _keep(memory, "guide", "Same.", "Same.")
    assert _keep(memory, "guide", "Same.", "Same.") == Kept("guide", first.passages, 0, 0, 0)


def test_a_rejected_passage_does_not_come_back_with_the_next_cut(memory: Recollect) -> None:
    first = _keep(memory, "guide", "The moon is made of cheese.", "Water is wet.")
    memory.reject(first.passages[0])
    again = _keep(memory, "guide", "The moon is made of cheese.", "Water is wet.", "More.")
    assert again.withheld == 1
    assert len(again.passages) == 2
    assert [hit.memory.content for hit in memory.recall("moon cheese")] == []
    assert memory.get(first.passages[0]).status == "rejected"


def test_a_secret_in_a_file_is_redacted_before_it_is_stored(memory: Recollect) -> None:
    kept = _keep(memory, "guide", "Use the key AKIA" + "QZ7RTNM4KXWPB3DV to deploy.")
    assert kept.redacted
    assert "QZ7RTNM4KXWPB3DV" not in memory.get(kept.passages[0]).content


def test_a_bad_draft_leaves_every_document_as_it_was(memory: Recollect) -> None:
    _keep(memory, "guide", "Install it with pip.")
    bad = DocumentChunks("other", (Draft("not a passage", kind="fact"),))
    with pytest.raises(InvalidField):
        replace_passages([DocumentChunks("guide", ()), bad], memory.store, memory.writer.act(), identity=new_id)
    assert _texts(memory) == ["Install it with pip."]


def test_indexing_is_told_in_the_log_once_a_document_and_is_not_undone_by_undo(memory: Recollect) -> None:
    _keep(memory, "guide", "One.", "Two.", "Three.")
    (entry,) = memory.history()
    assert (entry.change.action, entry.change.why, entry.change.after) == (
        "index",
        "guide",
        {"added": 3, "kept": 0, "removed": 0},
    )
    with pytest.raises(NothingToUndo):
        memory.undo()


def test_passages_can_be_asked_for_by_document(memory: Recollect) -> None:
    _keep(memory, "one", "The cache is warm.")
    _keep(memory, "two", "The cache is cold.")
    hits = memory.recall("cache", filter=Filter(documents=frozenset({"two"})))
    assert [hit.memory.content for hit in hits] == ["The cache is cold."]


def _keep(memory: Recollect, document: str, *texts: str) -> Kept:
    drafts = tuple(
        Draft(text, kind="passage", span=Span("prose", index * 1000, index * 1000 + len(text), "Guide", None))
        for index, text in enumerate(texts)
    )
    (kept,) = replace_passages([DocumentChunks(document, drafts)], memory.store, memory.writer.act(), identity=new_id)
    return kept


def _texts(memory: Recollect) -> list[str]:
    return sorted(memory.content for memory in memory.list().memories)
