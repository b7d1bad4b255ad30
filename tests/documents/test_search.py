from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.errors import DocumentNotFound, InvalidField, UnknownChoice
from recollect.documents.context import DocumentsContext
from recollect.documents.search import blend, effective_confidence, raise_confidence, search
from recollect.recall.channels.keyword import KeywordChannel
from recollect.recall.reader import Reader, RetrievalContext
from recollect.recall.recipes import DEFAULT
from recollect.store.meta import Meta
from recollect.store.pair import StorePair
from recollect.testing.fakes import FunctionReranker, WordEmbedder


@pytest.fixture
def memory(tmp_path: Path, clock: Any) -> Iterator[Recollect]:
    files = {
        "docs/heron.md": "# Heron\n\nThe heron fishes.\n\n## Nest\n\nThe heron nests.\n\n## Flight\n\nA heron flies.\n",
        "docs/stork.md": "# Stork\n\nThe stork nests on roofs, not like the [heron](heron.md).\n",
        "specs/birds/spec.md": "# Birds\n\nEvery bird has a nest. Refs: heron\n",
        "CONTRIBUTING.md": "# Contributing\n\nReport a nest you found.\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    with recollect.open(tmp_path, project="test", clock=clock, settings=Settings(embedder="none")) as opened:
        opened.docs.index()
        yield opened


def paths(memory: Recollect, question: str, **options: Any) -> list[str]:
    return [match.document.path for match in memory.docs.search(question, track=False, **options).matches]


def test_each_document_answers_once_unless_more_is_asked_for(memory: Recollect) -> None:
    assert paths(memory, "heron").count("docs/heron.md") == 1
    assert paths(memory, "heron", max_per_document=2).count("docs/heron.md") == 2
    assert paths(memory, "heron", max_per_document=None).count("docs/heron.md") == 3


def test_labels_and_types_narrow_the_search(memory: Recollect) -> None:
    assert paths(memory, "nest", label="spec") == ["specs/birds/spec.md"]
    assert paths(memory, "nest", type="procedural") == ["CONTRIBUTING.md"]
    assert paths(memory, "nest", label="spec", type="procedural") == []
    assert "no document is" in memory.docs.search("nest", label="nothing").notes[0]


def test_recall_can_be_narrowed_to_documents_of_a_label_or_a_type(memory: Recollect) -> None:
    memory.remember("A nest is a home.")

    def recalled(**filters: Any) -> list[str]:
        hits = memory.recall("nest", filter=recollect.Filter(**filters), track=False)
        return sorted(hit.memory.content for hit in hits)

    assert recalled(labels=frozenset({"spec"})) == ["# Birds\n\nEvery bird has a nest. Refs: heron"]
    assert recalled(types=frozenset({"procedural"})) == ["# Contributing\n\nReport a nest you found."]
    assert recalled(labels=frozenset({"spec"}), types=frozenset({"procedural"})) == []
    assert len(recalled(labels=frozenset({"spec", "workflow"}))) == 2
    assert "A nest is a home." in recalled()


def test_words_fall_back_to_substrings_and_vectors_to_words(memory: Recollect) -> None:
    assert paths(memory, "ero", mode="keyword")[:1] == ["docs/heron.md"]
    answered = memory.docs.search("heron", mode="vector")
    assert answered.matches
    assert any("keyword" in note for note in answered.notes)


def test_the_limit_is_kept_and_a_wrong_one_is_an_error(memory: Recollect) -> None:
    assert len(paths(memory, "nest", limit=2)) == 2
    with pytest.raises(InvalidField):
        memory.docs.search("nest", limit=0)
    with pytest.raises(InvalidField):
        memory.docs.search("nest", max_per_document=0)
    with pytest.raises(UnknownChoice, match="mode"):
        memory.docs.search("nest", mode="telepathy")


def test_memories_that_are_no_passages_are_never_answered(memory: Recollect) -> None:
    memory.remember("The heron is my favourite bird.")
    assert all(match.passage.kind == "passage" for match in memory.docs.search("favourite heron").matches)


def test_trust_fades_by_the_hour_and_rises_when_found(memory: Recollect, clock: Any) -> None:
    one = memory.docs.list()[0]
    assert memory.docs.confidence(one) == pytest.approx(0.8, abs=1e-3)
    clock.pass_(hours=24)
    assert memory.docs.confidence(one) == pytest.approx(0.8 * 0.995**24, abs=1e-3)
    clock.pass_(days=300)
    assert memory.docs.confidence(one) == 0.1
    memory.docs.search("contributing report")
    after = next(d for d in memory.docs.list() if d.path == "CONTRIBUTING.md")
    assert (after.confidence, after.access_count) == (pytest.approx(0.824), 1)
    assert memory.docs.confidence(after) == pytest.approx(0.824, abs=1e-3)


def test_not_tracking_counts_nothing(memory: Recollect) -> None:
    memory.docs.search("heron nest stork", track=False)
    assert {document.access_count for document in memory.docs.list()} == {0}
    assert memory.docs.related("docs/heron.md") == []


def test_what_is_found_together_is_related_most_frequent_first(memory: Recollect) -> None:
    memory.docs.search("heron stork")
    memory.docs.search("nest", label="doc")
    memory.docs.search("heron nest")
    related = memory.docs.related("docs/heron.md")
    assert related[0].document.path == "docs/stork.md"
    assert related[0].count == 3
    assert [one.count for one in related] == sorted((one.count for one in related), reverse=True)
    assert len(memory.docs.related("docs/heron.md", limit=1)) == 1
    with pytest.raises(DocumentNotFound):
        memory.docs.related("docs/nothing.md")


def test_trust_and_rank_settle_what_is_about_as_relevant_and_nothing_else() -> None:
    assert blend(0.5, confidence=1.0, rank=1.0) == pytest.approx(0.5)
    assert (
        blend(0.5, confidence=0.0, rank=0.0) < blend(0.5, confidence=1.0, rank=0.0) < blend(0.5, confidence=1, rank=1)
    )
    assert blend(0.999, confidence=0.0, rank=0.0) > blend(0.99, confidence=1.0, rank=1.0)
    assert raise_confidence(0.99) == 1.0


def test_a_clock_that_ran_back_adds_no_trust(memory: Recollect) -> None:
    document = memory.docs.list()[0]
    assert effective_confidence(document, document.last_used - timedelta(hours=5)) == document.confidence
    assert effective_confidence(document, document.last_used + timedelta(hours=1)) == document.confidence * 0.995


def test_a_document_others_refer_to_wins_over_its_equal(tmp_path: Path, clock: Any) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"# Page\n\nThe granite lies here{' ' * (name == 'b')}.\n")
    (tmp_path / "c.md").write_text("# Pointer\n\n[b](b.md)\n")
    (tmp_path / "d.md").write_text("# Pointer too\n\n[b](b.md)\n")
    with recollect.open(tmp_path, project="test", clock=clock, settings=Settings(embedder="none")) as memory:
        memory.docs.index()
        assert paths(memory, "granite")[0] == "b.md"


def test_meaning_finds_what_words_do_not(tmp_path: Path, clock: Any) -> None:
    (tmp_path / "a.md").write_text("# Granite\n\nGranite is hard.\n")
    with recollect.open(tmp_path, project="test", clock=clock, embedder=WordEmbedder()) as memory:
        memory.docs.index()
        memory.tend()
        assert paths(memory, "granite", mode="vector") == ["a.md"]
        assert paths(memory, "granite", mode="hybrid") == ["a.md"]


def test_a_read_only_memory_still_answers(memory: Recollect, tmp_path: Path) -> None:
    with recollect.open(tmp_path, read_only=True, settings=Settings(embedder="none")) as reader:
        assert reader.docs.search("heron").matches


def test_a_long_document_does_not_crowd_out_what_somebody_said(tmp_path: Path, clock: Any) -> None:
    sections = "".join(f"## Part {n}\n\nThe granite number{n} lies in field {n} of many.\n\n" for n in range(20))
    (tmp_path / "long.md").write_text(f"# Long\n\n{sections}")
    with recollect.open(tmp_path, project="test", clock=clock, settings=Settings(embedder="none")) as memory:
        memory.docs.index()
        memory.remember("Somebody said that granite is grey.")
        hits = memory.recall("granite", k=5).hits
        assert sum(hit.memory.kind == "passage" for hit in hits) == 2
        assert any(hit.memory.kind == "fact" for hit in hits)
        only = recollect.Filter(kinds=frozenset({"passage"}))
        assert len(memory.recall("granite", k=5, filter=only)) == 5


def test_what_a_reranker_read_comes_before_what_it_did_not(memory: Recollect) -> None:
    def prefers_storks(question: str, text: str) -> float:
        return 0.9 if "Stork" in text else 0.1

    context = RetrievalContext(
        channels=[KeywordChannel(memory.store, DEFAULT)],
        kinds=memory.store.kinds,
        recipe=DEFAULT,
        store=memory.store,
        reranker=FunctionReranker(prefers_storks),
    )
    reader = Reader(StorePair(memory.store), lambda: context, clock=memory.writer.clock)
    room = DocumentsContext(
        reader, memory.writer, memory.store.documents, Meta(memory.store.engine, memory.store.project)
    )
    found = search("heron", room, now=memory.writer.clock())
    assert found.matches[0].document.path == "docs/stork.md"
    assert found.matches[0].relevance == 0.9
