"""Copies and a server in real stores: what travels, what stays, what is merged, what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from conftest import HandClock
from recollect.app import Recollect
from recollect.core.errors import PersonOnly
from recollect.core.sync_errors import SyncMassDeletion, SyncNotLinked, SyncNotSet, SyncOffline
from recollect.sync.wire import RecordResult, SyncRecord
from sync.conftest import Copy, Team

pytestmark = pytest.mark.both_engines
SECRET = "ghp_" + "a1B2c3D4" * 4 + "e5F6"


def test_what_one_remembers_the_other_recalls_under_the_same_id(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    id = anna.memory.remember("Granite is hard.", tags=["stone"], files=["a.py"]).id
    assert (anna.sync().sent, ben.sync().fetched) == (1, 1)
    found = ben.memory.get(id)
    assert (found.content, found.tags, found.files) == ("Granite is hard.", ("stone",), ("a.py",))
    assert anna.sync().sent == ben.sync().sent == 0
    assert "Granite" in str(ben.memory.recall("how hard is granite?"))


def test_every_copy_and_the_server_stay_sound_and_replayable(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    first = anna.memory.remember("Granite is hard.").id
    second = anna.memory.remember("Slate splits.", derived_from=[first]).id
    anna.sync()
    ben.sync()
    ben.memory.edit(first, content="Granite is very hard.")
    ben.memory.forget(second)
    ben.sync()
    anna.sync()
    for one in (anna.memory, ben.memory, team.server):
        assert [finding.problem for finding in one.maintenance.check().findings] == []


def test_personal_memories_secrets_and_talk_stay(team: Team) -> None:
    anna = team.open_copy("anna")
    private = anna.memory.remember("I hum while I work.", visibility="personal").id
    anna.memory.remember("Humming helps.", derived_from=[private])
    anna.memory.remember(f"The key is {SECRET}.")
    anna.memory.remember("Ben's own.", user="ben")
    anna.memory.remember("Granite is hard.")
    report = anna.sync()
    assert team.said() == {"Granite is hard."}
    assert dict(report.stayed) == {
        "personal": 1, "drawn from what stays here": 1, "held a secret": 1, "belongs to one user": 1
    }  # fmt: skip
    assert "I hum" not in str(anna.remote.sent)


def test_a_memory_that_becomes_personal_no_longer_travels(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    id = anna.memory.remember("Granite is hard.").id
    anna.sync()
    ben.sync()
    anna.memory.edit(id, visibility="personal", content="Granite bores me.")
    ben.memory.edit(id, content="Granite is very hard.")
    anna.sync()
    ben.sync()
    anna.sync()
    assert anna.memory.get(id).content == "Granite bores me."
    assert team.server.get(id).content == "Granite is very hard."


def test_links_follow_their_memories(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    first = anna.memory.remember("Granite is hard.").id
    second = anna.memory.remember("So it lasts.", derived_from=[first]).id
    anna.sync()
    ben.sync()
    assert [link.target for link in ben.memory.why(second).points_at] == [first]


def test_what_both_edited_is_kept_both_and_asked_in_review(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    id = anna.memory.remember("Granite is hard.").id
    anna.sync()
    ben.sync()
    anna.memory.edit(id, content="Granite is very hard.")
    ben.memory.edit(id, content="Granite is brittle.")
    anna.sync()
    report = ben.sync()
    (fork,) = report.conflicts
    for one in (ben.memory, team.server):
        (item,) = one.review.list().items
        assert (item.question, item.id, [rival.id for rival in item.rivals]) == ("contradiction", fork, [id])
    anna.sync()
    assert anna.said() == ben.said() == team.said() == {"Granite is very hard.", "Granite is brittle."}
    anna.memory.review.decide(fork, "confirm")
    anna.sync()
    ben.sync()
    assert ben.memory.review.count() == 0


def test_the_same_statement_from_two_copies_becomes_one(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    first = anna.memory.remember("Granite is hard.", tags=["a"]).id
    second = ben.memory.remember("Granite is hard.", tags=["b"]).id
    anna.sync()
    ben.sync()
    anna.sync()
    assert [one.id for one in anna.memory.list().memories] == [one.id for one in ben.memory.list().memories] == [first]
    assert set(anna.memory.get(first).tags) == {"a", "b"}
    assert anna.memory.get(second).superseded_by == first


def test_forgetting_travels_and_is_final(team: Team, tmp_path: Path) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    words = "Quartzite polishes beautifully under water."
    id = anna.memory.remember(words).id
    anna.sync()
    ben.sync()
    ben.memory.edit(id, tags=["kept"])  # without knowing
    anna.memory.forget(id)
    anna.sync()
    ben.sync()
    anna.sync()
    assert team.said() == anna.said() == ben.said() == set()
    for file in tmp_path.glob("*.db*"):
        assert words.encode() not in file.read_bytes()
    with pytest.raises(Exception, match="forgotten"):
        ben.memory.remember(words)


def test_said_again_on_purpose_comes_back_everywhere(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    id = anna.memory.remember("Granite is hard.").id
    anna.sync()
    ben.sync()
    anna.memory.forget(id)
    anna.sync()
    ben.sync()
    again = anna.memory.remember("Granite is hard.", again=True).id
    anna.sync()
    ben.sync()
    assert again != id
    assert [one.id for one in ben.memory.list().memories] == [again]


def test_a_rejection_travels_with_its_tombstone(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    id = anna.memory.remember("Granite is soft.").id
    anna.sync()
    ben.sync()
    anna.memory.reject(id)
    anna.sync()
    ben.sync()
    assert ben.memory.get(id).status == "rejected"
    with pytest.raises(Exception, match="rejected"):
        ben.memory.remember("Granite is soft.")


def test_an_erasure_on_the_server_reaches_what_a_copy_has_not_sent_yet(team: Team) -> None:
    anna = team.open_copy("anna")
    anna.memory.remember("Marguerite Duval prefers tea.")
    anna.sync()
    anna.memory.remember("Ask Marguerite Duval about the kiln.")
    team.server.erase(subject="Marguerite Duval")
    anna.sync()
    assert anna.said() == team.said() == set()


def test_counts_of_reading_add_up(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    id = anna.memory.remember("Granite is hard.").id
    anna.sync()
    ben.sync()
    for copy in (anna, ben, ben):
        copy.memory.recall("how hard is granite?")
    ben.sync()
    anna.sync()
    ben.sync()
    assert [one.get(id).access_count for one in (anna.memory, ben.memory, team.server)] == [3, 3, 3]


def test_a_mass_deletion_stops_and_asks_in_both_directions(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    ids = [anna.memory.remember(f"Stone number {number}.").id for number in range(10)]
    anna.sync()
    ben.sync()
    anna.memory.forget_all(ids[:3])
    with pytest.raises(SyncMassDeletion, match="3 of 10"):
        anna.sync()
    assert len(team.said()) == 10
    anna.sync(allow_deletions=True)
    assert len(team.said()) == 7
    with pytest.raises(SyncMassDeletion, match="3 of 10"):
        ben.sync()
    assert (len(ben.said()), ben.room.status().held_deletions) == (10, 3)
    ben.memory.remember("One more.")
    with pytest.raises(SyncMassDeletion):
        ben.sync()
    assert "One more." in team.said(), "everything else goes on"
    ben.sync(allow_deletions=True)
    assert len(ben.said()) == 8


def test_offline_nothing_is_lost_and_the_next_sync_goes_on(team: Team) -> None:
    anna = team.open_copy("anna")
    anna.memory.remember("Granite is hard.")
    anna.sync()
    anna.remote.is_away = True
    anna.memory.remember("Slate splits.")
    with pytest.raises(SyncOffline):
        anna.sync()
    assert anna.room.status().waiting == 1
    assert "did not answer" in anna.room.status().trouble
    anna.remote.is_away = False
    assert anna.sync().sent == 1
    assert (anna.room.status().waiting, anna.room.status().trouble) == (0, "")


def test_an_answer_that_got_lost_is_asked_for_and_nothing_is_applied_twice(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = team.open_copy("anna")
    id = anna.memory.remember("Granite is hard.").id
    real = anna.remote.push

    def lost(batch: str, records: Sequence[SyncRecord], *, confirmed: bool) -> list[RecordResult]:
        real(batch, records, confirmed=confirmed)
        raise SyncOffline("server", "the answer was lost")

    with monkeypatch.context() as patch:
        patch.setattr(anna.remote, "push", lost)
        with pytest.raises(SyncOffline):
            anna.sync()
    team.server.edit(id, content="Granite is very hard.")  # somebody goes on from there
    anna.memory.edit(id, tags=["stone"])
    report = anna.sync()
    assert report.conflicts == []
    assert (team.server.get(id).content, team.server.get(id).tags) == ("Granite is very hard.", ("stone",))
    ((batch, records), *_) = anna.remote.sent
    before = team.server.get(id)
    assert [one.verdict for one in anna.remote.push(batch, records, confirmed=False)] == ["applied"]
    assert team.server.get(id) == before


def test_everything_erased_on_the_server_goes_from_copies_when_a_person_agrees(team: Team) -> None:
    anna = team.open_copy("anna")
    for number in range(6):
        anna.memory.remember(f"Stone number {number}.")
    anna.sync()
    team.server.erase(everything=True)  # leaves another log
    anna.memory.remember("Said later.")
    with pytest.raises(SyncMassDeletion):
        anna.sync()
    anna.sync(allow_deletions=True)
    assert anna.said() == team.said() == {"Said later."}


def test_clocks_that_are_wrong_do_no_harm(team: Team, clock: HandClock) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    here = clock.now
    clock.pass_(days=400)
    id = anna.memory.remember("Granite is hard.").id
    clock.now = here
    anna.sync()
    ben.sync()
    assert ben.memory.get(id).created_at <= here + timedelta(minutes=1)
    assert anna.memory.get(id).created_at == ben.memory.get(id).created_at


def test_another_project_has_to_be_linked_by_a_person(team: Team, tmp_path: Path) -> None:
    import recollect

    with recollect.open(tmp_path / "other.db", project="other", actor="anna") as memory:
        copy = Copy(memory, team.open_copy("anna").remote)
        memory.remember("Granite is hard.")
        with pytest.raises(SyncNotLinked, match=r"'other'.*'team'"):
            copy.sync()
        assert team.said() == set()
        with pytest.raises(PersonOnly):
            Copy(memory.through("mcp"), copy.remote).sync(link=True)
        assert copy.sync(link=True).sent == 1
        assert memory.list().memories[0].project == "other"
    assert team.server.list().memories[0].project == "team"


def test_in_the_mode_vectors_no_word_leaves(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    anna.mode = "vectors"
    id = anna.memory.remember("Granite is hard.", tags=["stone"], files=["quarry.py"]).id
    views = np.eye(1, 8, dtype=np.float32)
    for one in (anna.memory, team.server):
        space = one.store.vectors.activate(one.store.vectors.begin("model", 8, one.writer.now()))
        if one is anna.memory:
            one.store.vectors.put(space, [(id, views, "stamp")])
    anna.sync()
    assert not any(word in str(anna.remote.sent) for word in ("Granite", "stone", "quarry"))
    active = team.server.store.vectors.active()
    assert active is not None
    assert [found for found, _ in team.server.store.vectors.search(active, views[0], limit=3)] == [id]
    ben.sync()
    assert ben.said() == set()
    assert anna.sync().sent == 0
    anna.memory.edit(id, content="Granite is very hard.")
    assert anna.sync().sent == 1


def test_the_chore_syncs_what_is_linked_and_takes_an_absent_server_for_no_failure(team: Team) -> None:
    anna = team.open_copy("anna")
    room = anna.room
    now = anna.memory.writer.now()
    assert not room.chore().plan(now, due=True)
    anna.sync()
    anna.memory.remember("Granite is hard.")
    chore = anna.room.chore()
    from recollect.core.chores import WorkBudget

    assert chore.apply(chore.plan(now, due=True), WorkBudget()).done == 1
    anna.remote.is_away = True
    away = chore.apply(chore.plan(now, due=True), WorkBudget())
    assert (away.failed, away.waiting) == (False, 1)


def test_a_dry_run_tells_and_changes_nothing(team: Team) -> None:
    anna, ben = team.open_copy("anna"), team.open_copy("ben")
    anna.memory.remember("Granite is hard.")
    anna.sync()
    ben.memory.remember("Slate splits.")
    plan = ben.room.preview()
    assert (plan.fetched, plan.sent) == (1, 1)
    assert (ben.said(), team.said()) == ({"Slate splits."}, {"Granite is hard."})


def test_without_a_server_it_says_what_to_set(memory: Recollect) -> None:
    with pytest.raises(SyncNotSet, match="No server"):
        memory.sync.run()
