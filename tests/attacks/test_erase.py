"""What is erased is in no byte of any file, in no answer, in no rewritten backup, and no old backup brings it back.

Names made while the test runs are put into every kind of place; their bytes are looked for by the test itself.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import recollect
from attacks.erasure_places import HOOK_SESSION, Places, canaries, files_with, told_by_every_reader
from faults.fault_tools import base_seed, environment, report, size
from recollect import Filter, Recollect
from recollect.config import Settings
from recollect.core.digest import checksum
from recollect.core.errors import InvalidField, PersonOnly
from recollect.dialogue.episodes import Message
from recollect.store.check import check
from recollect.store.texts import StoredTexts
from recollect.tend.maintenance import restore_backup

QUIET = Settings(embedder="none")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def opened(project: Path) -> Recollect:
    return recollect.open(project, settings=QUIET)


def test_a_thousand_names_in_every_kind_of_place_leave_no_byte_no_answer_and_do_not_come_back(
    project: Path, tmp_path: Path
) -> None:
    names = canaries(size(76, 1_000), base_seed())
    kept = tmp_path / "kept.db"
    with opened(project) as memory:
        places = Places(memory, project)
        places.fill(names)
        backup = memory.maintenance.backup()
        memory.maintenance.backup(kept)
        places.remove_own_files()
        assert backup is not None
        written = files_with(names, project, tmp_path / "home")
        assert {places.put[name] for name in names if name not in written} == {"forgotten_words"}, "all were written"
        shutil.copyfile(kept, tmp_path.parent / f"{tmp_path.name}-old.db")
        done = memory.erase(subject=names[0], also=names[1:], backups="rewrite")
        assert done.remaining == []
        assert sum(one.found for one in done.searched) == 0
        told = told_by_every_reader(memory, names).casefold()
        assert [name for name in names if name.casefold() in told] == []
        assert check(memory.store).ok, check(memory.store).findings
        assert memory.count() >= 60
    old = tmp_path.parent / f"{tmp_path.name}-old.db"
    try:
        assert files_with(names, project, tmp_path / "home", tmp_path) == {}
        restored = restore_backup(project / ".recollect" / "memory.db", old)
    finally:
        old.unlink()
    assert restored.reapplied.erased > 0
    assert files_with(names, project) == {}
    with opened(project) as memory:
        told = told_by_every_reader(memory, names).casefold()
        assert [name for name in names if name.casefold() in told] == []
        assert check(memory.store).ok, check(memory.store).findings
    kinds = len(set(places.put.values()))
    report(f"names: {len(names)}, kinds of places: {kinds}, on disk: 0, in answers: 0, in backups: 0, after restore: 0")


@pytest.mark.parametrize("scope", ["project", "everything"])
def test_a_whole_project_leaves_nothing_and_does_not_come_back_with_a_backup(
    project: Path, tmp_path: Path, scope: str
) -> None:
    names = canaries(76, 3)
    old = tmp_path.parent / f"{tmp_path.name}-{scope}.db"
    with opened(project) as memory:
        places = Places(memory, project)
        places.fill(names)
        made = memory.maintenance.backup()
        assert made is not None
        shutil.copyfile(made, old)
        places.remove_own_files()
        done = memory.erase(project=scope == "project", everything=scope == "everything", backups="delete")
        assert done.remaining == []
        assert memory.count() == 0
        assert check(memory.store).ok, check(memory.store).findings
        memory.remember("A first new statement after all that.")
        assert check(memory.store).ok
    allowed = set() if scope == "everything" else {name for name, kind in places.put.items() if kind == "hook_log"}
    try:
        left = files_with(names, project) | (files_with(names, tmp_path / "home") if scope == "everything" else {})
        assert set(left) <= allowed
        restore_backup(project / ".recollect" / "memory.db", old)
    finally:
        old.unlink()
    assert set(files_with(names, project)) <= allowed
    with opened(project) as memory:
        assert memory.count() == 0
        assert check(memory.store).ok, check(memory.store).findings


_IN_ROWS = (
    "content", "tag", "file", "module", "citation", "session_name", "attribute", "attribute_key", "payload", "reason",
    "old_words", "corrected_words", "rejected_words", "link", "entity", "alias", "summary", "actor", "episode", "turn",
    "working_memory",
)  # fmt: skip


@pytest.mark.parametrize("everything", [False, True])
def test_a_store_on_a_server_loses_its_rows_as_a_file_does(tenant_dsn: str, tmp_path: Path, everything: bool) -> None:
    names = canaries(2 * len(_IN_ROWS), 5)
    with recollect.open(tenant_dsn, project="p", settings=QUIET) as memory:
        places = Places(memory, tmp_path)
        for number, name in enumerate(names):
            places.kinds[_IN_ROWS[number % len(_IN_ROWS)]](name)
        memory.remember("Something else stays.")
        done = memory.erase(everything=True) if everything else memory.erase(subject=names[0], also=names[1:])
        assert done.remaining == []
        assert any("has no files of ours" in note for note in done.notes)
        assert check(memory.store).ok, check(memory.store).findings
        texts = " ".join(held.text for held in StoredTexts(memory.store.engine).every()).casefold()
        assert [name for name in names if name.casefold() in texts] == []
        assert (memory.count() == 0) is everything


def test_texts_that_were_different_keys_stay_different_when_they_are_blanked(project: Path) -> None:
    with opened(project) as memory:
        rows = [(memory.project, "s", json.dumps(["Bash", f"ask Anna Berg {n}"]), 1) for n in range(3)]
        with memory.store.engine.write():
            memory.store.engine.execute_many(
                "insert into observed_sequences (project, session, tools, times, checksum) values (?, ?, ?, ?, ?)",
                [(*row, checksum(row)) for row in rows],
            )
        memory.erase(subject="Anna Berg")
        kept = memory.store.engine.rows("select tools from observed_sequences")
        assert len(set(kept)) == 3
        assert not any("Anna" in tools for (tools,) in kept)
        assert check(memory.store).ok, check(memory.store).findings


# --- sessions, users, filters -----------------------------------------------------------------------------------------


def test_a_session_goes_with_all_that_was_drawn_from_it_alone(project: Path, tmp_path: Path) -> None:
    with opened(project) as memory:
        gone = memory.remember("The zircon crane is parked in dock nine.", session="monday").id
        drawn = memory.remember("Dock nine has a crane of zircon.", derived_from=[gone]).id
        other = memory.remember("Dock four has a crane.", session="tuesday").id
        both = memory.remember("Docks have cranes.", derived_from=[gone, other]).id
        memory.sessions.capture("My zircon is on the table.", session="monday")
        memory.sessions.capture("The weather is fine.", session="tuesday")
        places = Places(memory, project)
        places.in_spool("zirconium")
        memory.maintenance.backup()
        plan = memory.erase(session="monday", dry_run=True)
        assert {gone, drawn} <= {one.id for one in plan.memories}
        assert memory.get(gone).content
        done = memory.erase(session="monday", backups="rewrite")
        assert done.remaining == []
        assert {one.id for one in memory.list(Filter(statuses="active"), limit=99)} >= {other, both}
        assert [one.id for one in memory.sessions.list()] == ["tuesday"]
        assert check(memory.store).ok, check(memory.store).findings
        memory.erase(session=HOOK_SESSION, backups="rewrite")
    assert files_with(["zircon"], project) == {}


def test_a_user_goes_and_the_words_of_others_stay(project: Path) -> None:
    with opened(project) as memory:
        for user in ("ann", "bob"):
            memory.remember(f"The {user}stone lies under the mat of {user}.", user=user)
            memory.sessions.capture_all([Message(f"I hid the {user}stone well.", f"talk of {user}", "user", user=user)])
        memory.sessions.capture_all(
            [
                Message("Both annstone and stone.", "shared", "user", user="ann"),
                Message("Yes.", "shared", "user", user="bob"),
            ]
        )
        memory.maintenance.backup()
        done = memory.erase(user="ann", backups="rewrite")
        assert done.remaining == []
        assert memory.count(user="ann") == 0
        assert memory.count(user="bob") > 0
        assert {one.id for one in memory.store.sessions.page(limit=9)} == {"talk of bob", "shared"}
        assert check(memory.store).ok
    assert files_with(["annstone"], project) == {}
    assert files_with(["bobstone"], project) != {}


def test_what_a_filter_lets_through_goes_from_chats_and_session_files_too(project: Path) -> None:
    text = "The pearl is kept behind the third brick of the well."
    with opened(project) as memory:
        memory.remember(text, tags=["old"])
        memory.remember("The well is deep and dark and cold.")
        places = Places(memory, project)
        places.in_spool(text)
        places.in_turn(text)
        memory.maintenance.backup()
        done = memory.erase(filter=Filter(tags="old"), backups="rewrite")
        assert done.remaining == []
        assert memory.count() == 1
        assert memory.find_subject("well").names == ("well",)
    assert files_with(["behind the third brick"], project) == {}


# --- who is meant -----------------------------------------------------------------------------------------------------


def test_near_misses_are_shown_and_never_erased_unchosen(project: Path) -> None:
    with opened(project) as memory:
        for text in (
            "Anna Berg lives in Oslo.",
            "Ana Berg lives in Bergen.",
            "Mail anna.berg@example.org about it.",
            "Annaberg is a town.",
        ):
            memory.sessions.capture(text, session="talk")
        memory.remember("Annika keeps the books.", user="anna berg")
        found = memory.find_subject("anna berg")
        assert found.names == ("anna berg",)
        near = {miss.name for miss in found.near}
        assert {"Ana Berg", "anna.berg@example.org", "anna berg"} <= near
        memory.erase(subject="Anna Berg")
        left = {one.content for one in memory.list(Filter(user="*"), limit=99)}
        assert "Ana Berg lives in Bergen." in left
        assert not any("Anna Berg" in text for text in left)


@pytest.mark.parametrize(("known", "given"), [("Bjørn Ødegård", "bjorn odegard"), ("Zoe Müller", "Zoé Muller")])
def test_a_name_with_other_accents_is_a_near_miss(project: Path, known: str, given: str) -> None:
    with opened(project) as memory:
        memory.sessions.capture(f"{known} plays the trumpet.", session="talk")
        found = memory.find_subject(given)
        assert found.entities == ()
        assert [miss.name for miss in found.near] == [known]


def test_aliases_belong_to_the_subject_unless_they_are_left_out(project: Path) -> None:
    with opened(project) as memory:
        memory.sessions.capture("Peter Holm met Lotta Lund.", session="talk")
        memory.sessions.capture("Lotta Lund was late.", session="talk")
        memory.sessions.merge_entities("Peter Holm", "Lotta Lund")
        assert set(memory.find_subject("Lotta Lund").names) == {"Lotta Lund", "Peter Holm"}
        plan = memory.erase(subject="Peter Holm", except_names=["Lotta Lund"], dry_run=True)
        assert [one.content for one in plan.memories] == ["Peter Holm met Lotta Lund."]
        plan = memory.erase(subject="Peter Holm", dry_run=True)
        assert len(plan.memories) == 2


@pytest.mark.parametrize(
    "asked",
    [
        {"subject": "a"},
        {"subject": " . "},
        {"subject": "Anna", "everything": True},
        {"session": " "},
        {"user": "*"},
        {"everything": True, "also": ["x"]},
        {"everything": True, "backups": "burn"},
    ],
)
def test_a_wrong_request_erases_nothing(project: Path, asked: dict[str, object]) -> None:
    with opened(project) as memory:
        memory.remember("Anna is here.")
        with pytest.raises(InvalidField):
            memory.erase(**asked)  # type: ignore[arg-type]
        assert memory.count() == 1


def test_no_agent_can_erase(project: Path) -> None:
    with opened(project) as memory:
        memory.remember("Anna is here.")
        for door in ("mcp", "adapter", "cli", "hook", "chat"):
            with pytest.raises(PersonOnly):
                memory.through(door).erase(subject="Anna")
        assert memory.count() == 1


def test_an_erasure_is_in_the_history_and_says_nothing_of_what_went(project: Path) -> None:
    with opened(project) as memory:
        memory.remember("Anna is here.")
        memory.erase(subject="Anna")
        last = memory.history(limit=1)[0].change
        assert (last.action, last.subject) == ("erase", None)
        assert last.after == {"entities": 0} or last.after is not None
        assert "anna" not in repr(memory.history(limit=99)).casefold()
        memory.remember("Anna is back.")
        assert memory.count() == 1


# --- copies -----------------------------------------------------------------------------------------------------------


def test_copies_that_hold_it_are_listed_with_paths_until_they_are_rewritten_or_deleted(project: Path) -> None:
    with opened(project) as memory:
        memory.remember("The harbour is closed in winter.")
        clean = memory.maintenance.backup()
        memory.remember("Anna Berg paints boats.")
        full = memory.maintenance.backup()
        export = project / "out.jsonl"
        export.write_text('{"content": "Anna Berg paints boats."}\n')
        with memory.store.engine.write():
            memory.store.exports.note(str(export), format="jsonl", at=memory.writer.now())
        done = memory.erase(subject="Anna Berg")
        assert {(one.sort, one.where) for one in done.remaining} == {("backup", str(full)), ("export", str(export))}
        before = clean.read_bytes() if clean else b""
        done = memory.erase(subject="Anna Berg", backups="rewrite", exports=True)
        assert done.remaining == []
        assert clean is not None
        assert clean.read_bytes() == before, "a copy without it is left alone"
        assert full is not None
        assert b"Anna" not in full.read_bytes()
        assert not export.exists()
        assert memory.store.exports.every() == []
    with recollect.open(full, read_only=True, settings=QUIET) as copy:
        assert [one.content for one in copy.list()] == ["The harbour is closed in winter."]


def test_what_is_said_after_an_erasure_survives_a_restore(project: Path) -> None:
    with opened(project) as memory:
        memory.remember("Anna Berg paints boats.")
        memory.erase(subject="Anna Berg")
        memory.remember("Anna Berg is back with new paint.")
        later = memory.maintenance.backup()
        memory.remember("Something else entirely.")
    restore_backup(project / ".recollect" / "memory.db", later)
    with opened(project) as memory:
        assert [one.content for one in memory.list()] == ["Anna Berg is back with new paint."]


# --- others at work, interruptions ------------------------------------------------------------------------------------

_READER = """
import sys, recollect
with recollect.open(sys.argv[1], read_only=True) as memory, memory.store.engine.read():
    memory.store.engine.rows("select content from memories")
    print("reading", flush=True)
    sys.stdin.readline()
"""


def test_a_reader_in_the_way_is_told_of_and_the_erasure_can_be_finished_later(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.tend.erase._TRIES", 1)
    with opened(project) as memory:
        memory.remember("Anna Berg paints boats.")
    with opened(project) as memory:
        reader = subprocess.Popen(
            [sys.executable, "-c", _READER, str(project)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip
        assert reader.stdout is not None
        assert reader.stdin is not None
        reader.stdout.readline()
        done = memory.erase(subject="Anna Berg")
        assert not done.is_complete
        assert any("reading" in one.why for one in done.remaining)
        assert memory.count() == 0
        reader.communicate("go\n")
        done = memory.erase()
        assert done.is_complete
        assert files_with(["Anna Berg"], project) == {}
        assert memory.erase().notes == [], "nothing was left to do"


_WRITER = """
import sys, recollect
with recollect.open(sys.argv[1]) as memory:
    for number in range(30):
        text = f"Barrel {sys.argv[2]} {number} was filled."
        memory.remember(text)
        print(text, flush=True)
"""


def test_writers_at_work_lose_nothing_while_somebody_is_erased(project: Path) -> None:
    with opened(project) as memory:
        memory.remember("Anna Berg has the key.")
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", _WRITER, str(project), name],
                stdout=subprocess.PIPE,
                text=True,
                env=environment(),
            )
            for name in ("one", "two")
        ]
        rounds = 0
        while any(writer.poll() is None for writer in writers):
            memory.remember(f"Anna Berg came by {rounds} times.")
            memory.erase(subject="Anna Berg")
            rounds += 1
        acknowledged = [line for writer in writers for line in writer.communicate()[0].splitlines()]
        done = memory.erase(subject="Anna Berg")
        assert done.is_complete, done.remaining
        kept = {one.content for one in memory.list(limit=10**6)}
        assert len(acknowledged) == 60
        assert set(acknowledged) <= kept
        assert not any("Anna" in text for text in kept)
        assert check(memory.store).ok, check(memory.store).findings
    assert files_with(["Anna Berg"], project) == {}
    report(f"erasures beside two writers: {rounds}, acknowledged: {len(acknowledged)}, lost: 0")


def test_a_subject_leaves_the_persons_own_store_too(project: Path, tmp_path: Path) -> None:
    with recollect.open(":personal:", settings=QUIET) as own:
        own.remember("Anna Berg is my sister.", visibility="personal")
    with recollect.open(project, settings=QUIET, personal=True) as memory:
        memory.remember("Anna Berg has the key.")
        plan = memory.erase(subject="Anna Berg", dry_run=True)
        assert len(plan.memories) == 2
        assert memory.erase(subject="Anna Berg").is_complete
    assert files_with(["Anna Berg"], project, tmp_path / "home") == {}
