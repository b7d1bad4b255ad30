from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect.app import Recollect
from recollect.config import Settings
from recollect.core.errors import RootNotFound
from recollect.documents.index import Summary
from recollect.store.check import check


def put(root: Path, name: str, text: str) -> Path:
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(10**18, 10**18))  # long before the run: its time stamp can be trusted
    return file


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    put(root, "README.md", "# Project\n\nSee [the guide](docs/guide.md).\n")
    put(root, "docs/guide.md", "# Guide\n\nHow to install.\n\n## Install\n\nUse pip to install the wheel.\n")
    put(root, "docs/api.md", "# API\n\nCall `open`. Back to the [guide](guide.md).\n")
    return root


@pytest.fixture
def memory(root: Path, clock: Any) -> Iterator[Recollect]:
    with recollect.open(root, project="test", clock=clock, settings=Settings(embedder="none")) as opened:
        yield opened


def counts(summary: Summary) -> tuple[int, int, int, int]:
    return summary.added, summary.updated, summary.removed, summary.unchanged


def texts(memory: Recollect, question: str, **options: Any) -> list[str]:
    return [match.document.path for match in memory.docs.search(question, track=False, **options).matches]


def test_a_first_run_adds_and_words_find_at_once(memory: Recollect) -> None:
    assert counts(memory.docs.index()) == (3, 0, 0, 0)
    assert texts(memory, "install the wheel")[0] == "docs/guide.md"
    found = memory.docs.search("install the wheel").matches[0]
    assert found.passage.span is not None
    assert found.passage.span.context == "Guide › Install"
    assert found.passage.attributes["lines"] == [5, 7]
    assert check(memory.store).ok


def test_a_second_run_over_unchanged_files_writes_nothing(memory: Recollect) -> None:
    memory.docs.index()
    before = memory.history(limit=500)
    assert counts(memory.docs.index()) == (0, 0, 0, 3)
    assert memory.history(limit=500) == before


def test_only_what_changed_is_replaced_and_passages_keep_their_ids(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    found = memory.docs.search("how to install", max_per_document=None).matches
    kept = [match for match in found if match.passage.content.endswith("How to install.")]
    put(root, "docs/guide.md", "# Guide\n\nHow to install.\n\n## Install\n\nUse uv to install the wheel.\n")
    assert counts(memory.docs.index()) == (0, 1, 0, 2)
    assert texts(memory, "uv")[0] == "docs/guide.md"
    assert texts(memory, "pip") == []
    assert memory.get(kept[0].passage.id).content.endswith("How to install.")
    assert check(memory.store).ok


def test_a_change_of_the_same_size_and_time_is_found_by_a_full_run(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    put(root, "docs/api.md", "# API\n\nCall `shut`. Back to the [guide](guide.md).\n")
    assert memory.docs.index().updated == 0
    assert memory.docs.index(full=True).updated == 1


def test_a_file_written_just_before_the_run_is_not_trusted_by_its_time(
    memory: Recollect, root: Path, clock: Any
) -> None:
    file = put(root, "docs/api.md", "# API\n\none\n")
    now = int(clock.now.timestamp() * 1e9)
    os.utime(file, ns=(now, now))
    memory.docs.index()
    file.write_text("# API\n\ntwo\n", encoding="utf-8")
    os.utime(file, ns=(now, now))
    assert memory.docs.index().updated == 1


def test_a_deleted_file_is_gone_from_every_index(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    (root / "docs/guide.md").unlink()
    assert counts(memory.docs.index()) == (0, 0, 1, 2)
    assert texts(memory, "install the wheel") == []
    assert [document.path for document in memory.docs.list()] == ["README.md", "docs/api.md"]
    assert check(memory.store).ok


def test_a_moved_file_keeps_its_history_and_links_still_lead_to_it(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    memory.docs.search("install the wheel")
    before = next(one for one in memory.docs.list() if one.path == "docs/guide.md")
    (root / "docs/howto").mkdir()
    shutil.move(root / "docs/guide.md", root / "docs/howto/start.md")
    summary = memory.docs.index()
    assert summary.moved == [("docs/guide.md", "docs/howto/start.md")]
    assert counts(summary) == (0, 0, 0, 2)
    after = next(one for one in memory.docs.list() if one.path == "docs/howto/start.md")
    assert (after.id, after.access_count, after.former) == (before.id, 1, ("docs/guide.md",))
    assert {one.problem for one in memory.docs.check().broken} == {"moved"}


def test_a_file_moved_and_edited_is_recognised_by_its_passages(memory: Recollect, root: Path) -> None:
    sections = [f"## Part {n}\n\nThe {word} stands here.\n" for n, word in enumerate(["oak", "ash", "elm"])]
    put(root, "docs/trees.md", "# Trees\n\nOpening.\n\n" + "\n".join(sections))
    memory.docs.index()
    before = next(one for one in memory.docs.list() if one.path == "docs/trees.md")
    (root / "docs/trees.md").unlink()
    put(root, "docs/woods.md", "# Trees\n\nOpening.\n\n" + "\n".join(sections[:2]) + "\n## New\n\nA birch.\n")
    assert memory.docs.index().moved == [("docs/trees.md", "docs/woods.md")]
    assert next(one for one in memory.docs.list() if one.path == "docs/woods.md").id == before.id


def test_other_roots_are_left_alone(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    (root / "README.md").unlink()
    assert counts(memory.docs.index([root / "docs"])) == (0, 0, 0, 2)
    assert len(memory.docs.list()) == 3
    with pytest.raises(RootNotFound):
        memory.docs.index([root / "docs", root / "nothing"])
    assert len(memory.docs.list()) == 3


def test_a_root_outside_the_project_is_known_by_its_whole_path(memory: Recollect, tmp_path: Path) -> None:
    put(tmp_path / "handbook", "holidays.md", "# Holidays\n\nThirty days of leave.\n")
    memory.docs.index([tmp_path / "handbook"])
    assert texts(memory, "days of leave") == [(tmp_path / "handbook/holidays.md").resolve().as_posix()]


def test_ignored_files_and_changed_rules_are_honoured(root: Path, clock: Any) -> None:
    (root / ".gitignore").write_text("docs/api.md\n")
    with recollect.open(root, project="test", clock=clock, settings=Settings(embedder="none")) as memory:
        assert memory.docs.index().added == 2
    rules = {"rules": [{"path": "docs/**", "label": "handbook", "type": "procedural"}]}
    with recollect.open(root, clock=clock, settings=Settings(embedder="none", documents=rules)) as memory:
        summary = memory.docs.index()
        assert (summary.relabelled, summary.unchanged) == (1, 2)
        assert texts(memory, "install", label="handbook", type="procedural") == ["docs/guide.md"]


def test_bad_files_are_skipped_with_a_reason_and_the_rest_is_indexed(memory: Recollect, root: Path) -> None:
    docs = root / "docs"
    (docs / "binary.md").write_bytes(b"\x89PNG\0\0\x01" * 50)
    (docs / "latin.md").write_bytes("# Café\n\nnaïve".encode("latin-1"))
    with (docs / "huge.md").open("wb") as file:
        file.truncate(50_000_000)
    (docs / "headings.md").write_text("# h\n\nx\n\n" * 100_000)
    (docs / "loop").symlink_to(docs)
    (docs / "out.md").symlink_to("/etc/hostname")
    (docs / "empty.md").write_text("")
    (docs / "blank.md").write_text(" \n\u200b\n")
    summary = memory.docs.index()
    reasons = {one.relative: one.reason for one in summary.skipped}
    assert reasons == {
        "docs/binary.md": "binary",
        "docs/latin.md": "not UTF-8 (byte 5)",
        "docs/huge.md": "more than 5 MB",
        "docs/headings.md": "more than 20,000 sections",
        "docs/loop": "a loop of links",
        "docs/out.md": "a link out of the root",
    }
    assert summary.added == 5
    assert check(memory.store).ok


def test_files_that_vanish_during_the_run_are_named_and_the_rest_is_indexed(memory: Recollect, root: Path) -> None:
    for number in range(40):
        put(root, f"docs/z{number:02}.md", f"# Page {number}\n\nWords.\n")

    def disturb(done: int, total: int) -> None:
        for name in ("z38", "z39"):
            (root / f"docs/{name}.md").unlink(missing_ok=True)

    summary = memory.docs.index(progress=disturb)
    assert {one.relative: one.reason for one in summary.skipped} == {
        "docs/z38.md": "it vanished during the run",
        "docs/z39.md": "it vanished during the run",
    }
    assert summary.added == 41


def test_a_document_whose_directory_cannot_be_read_today_is_kept(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    for folder in (root, *root.parents):
        if str(folder).startswith(os.path.realpath("/tmp") + "/"):
            folder.chmod(0o755)
    for folder in root.rglob(".recollect"):
        folder.chmod(0o755)  # an open store looks at the name of its file
    (root / "docs").chmod(0)
    summary = Summary()
    try:
        with powerless():
            summary = memory.docs.index()
    finally:
        (root / "docs").chmod(0o755)
    assert {one.relative: one.reason for one in summary.skipped} == {"docs": "may not be read"}
    assert summary.removed == 0
    assert len(memory.docs.list()) == 3


@contextmanager
def powerless() -> Iterator[None]:
    """Without the rights of the superuser, whom no permission stops; the open store needs none."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_secrets_never_reach_the_store(memory: Recollect, root: Path) -> None:
    secret = "AKIA" + "Z7Q3X9W5T1R8V2N4"
    put(root, "docs/keys.md", f"# Keys\n\nThe access key is {secret} for now.\n")
    assert memory.docs.index().redacted == 1
    found = memory.docs.search("access key", max_per_document=None).matches
    assert found
    assert all(secret not in match.passage.content for match in found)


def test_ranks_follow_the_links_and_are_not_computed_without_need(memory: Recollect, root: Path) -> None:
    from recollect.documents.context import DocumentsContext
    from recollect.documents.links import relink
    from recollect.store.meta import Meta

    room = DocumentsContext(
        memory.reader, memory.writer, memory.store.documents, Meta(memory.store.engine, memory.store.project)
    )

    memory.docs.index()
    ids = {one.path: one.id for one in memory.docs.list()}
    ranks = memory.store.documents.ranks(ids.values())
    assert ranks[ids["docs/guide.md"]] == 1.0
    assert ranks[ids["README.md"]] < 1.0
    assert relink(room, "specs", everything=True) is False
    put(root, "docs/more.md", "# More\n\n[api](api.md)\n")
    memory.docs.index()
    assert relink(room, "specs", everything=True) is False


def test_a_link_is_resolved_once_its_target_comes(memory: Recollect, root: Path) -> None:
    put(root, "docs/early.md", "# Early\n\nSee [late](late.md).\n")
    memory.docs.index()
    assert [(one.path, one.target) for one in memory.docs.check().broken] == [("docs/early.md", "late.md")]
    put(root, "docs/late.md", "# Late\n\nHere.\n")
    memory.docs.index()
    assert memory.docs.check().broken == ()


def test_a_run_that_was_cut_short_is_linked_by_the_next(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    ids = {one.path: one.id for one in memory.docs.list()}
    with memory.store.engine.write():
        memory.store.documents.put_ranks({})
        memory.store.set_meta("documents.network", "nothing")
        memory.store.set_meta("documents.loose", "yes")
    assert memory.docs.index().unchanged == 3
    assert memory.store.documents.ranks(ids.values())[ids["docs/guide.md"]] == 1.0


def test_several_may_index_the_same_files_at_once(root: Path) -> None:
    for number in range(60):
        put(root, f"docs/many/{number}.md", f"# Page {number}\n\nWords of page {number}.\n")

    def run(_: int) -> int:
        with recollect.open(root, project="test", settings=Settings(embedder="none")) as memory:
            return memory.docs.index().added

    with ThreadPoolExecutor(4) as pool:
        added = list(pool.map(run, range(4)))
    assert sum(added) == 63
    with recollect.open(root, settings=Settings(embedder="none")) as memory:
        assert len(memory.docs.list()) == 63
        assert memory.docs.index().unchanged == 63
        assert check(memory.store).ok


def test_a_document_whose_file_became_a_link_out_is_gone(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    (root / "docs/api.md").unlink()
    (root / "docs/api.md").symlink_to("/etc/hostname")
    assert memory.docs.index().removed == 1


def test_use_counted_during_a_run_is_not_lost(memory: Recollect, root: Path) -> None:
    memory.docs.index()
    for number in range(25):
        put(root, f"docs/a{number:02}.md", f"# Page {number}\n\nWords.\n")
    put(root, "docs/guide.md", "# Guide\n\nUse uv to install the wheel now.\n")
    memory.docs.index(progress=lambda done, total: memory.docs.search("install wheel") and None)
    guide = next(one for one in memory.docs.list() if one.path == "docs/guide.md")
    assert guide.access_count >= 1
