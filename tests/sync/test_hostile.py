"""A copy that lies: whoever it claims to be, whatever it sends again, postdates, names or inflates, it is refused in
clear words and nothing changes. Over HTTP, as a stranger would come."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest

from interfaces.http.conftest import Served, code_of, served  # noqa: F401
from recollect.core.forms import iso
from recollect.sync.states import State, travelling_state
from recollect.sync.wire import MAX_COMPRESSED, MAX_INFLATED, deflate

BATCH = "act_" + "0" * 23
ID = "fact_" + "1" * 23


@pytest.fixture
def person(served: Served) -> dict[str, str]:  # noqa: F811
    return served.token("write", person=True)


@pytest.fixture
def state(served: Served) -> State:  # noqa: F811
    """What an honest copy would send."""
    memory = served.memory.remember("Marble is soft.").memory
    told = travelling_state(memory, ())
    served.memory.forget(memory.id)
    return {**told, "content": "Granite is hard."}


@pytest.fixture(autouse=True)
def _nothing_changes(served: Served, state: State) -> Iterator[None]:  # noqa: F811
    """Unless a test says otherwise, the store holds after it what it held before."""
    before = served.memory.store.digest()
    yield
    assert served.memory.store.digest() == before or getattr(served, "changed", False)


def push(served: Served, who: dict[str, str], *records: Any, batch: str = BATCH, **more: Any) -> Any:  # noqa: F811
    body = {"version": 1, "batch": batch, "records": list(records), **more}
    headers = {**who, "Content-Encoding": "gzip", "Content-Type": "application/json"}
    return served.client.post("/v1/sync/changes", content=deflate(body), headers=headers)


def verdict(answer: Any) -> tuple[str, str]:
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["results"]
    return result["verdict"], result.get("why", "")


def test_nobody_comes_in_without_a_persons_token(served: Served, state: State) -> None:  # noqa: F811
    assert push(served, {}, {"memory": ID, "state": state}).status_code == 401
    for scope, code in (("read", "scope-missing"), ("write", "person-only")):
        answer = push(served, served.token(scope), {"memory": ID, "state": state})
        assert (answer.status_code, code_of(answer)) == (403, code)
    assert code_of(served.client.get("/v1/sync", headers=served.token("write"))) == "person-only"


def test_an_actor_cannot_be_forged(served: Served, person: dict[str, str], state: State) -> None:  # noqa: F811
    assert push(served, person, {"memory": ID, "state": state}, actor="root").status_code == 422
    assert push(served, person, {"memory": ID, "state": state, "actor": "root"}).status_code == 422
    assert push(served, person, {"memory": ID, "state": {**state, "user": "ben"}}).json()["results"][0]["why"]
    served.changed = True  # type: ignore[attr-defined]
    assert verdict(push(served, person, {"memory": ID, "state": state, "by": "root"}, batch="act_" + "2" * 23)) == (
        "applied", "",
    )  # fmt: skip
    assert {entry.actor for entry in served.memory.history(ID)} == {"write 0"}, "the log names who is logged in"


def test_a_batch_that_is_sent_again_is_not_applied_again(
    served: Served, person: dict[str, str], state: State  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]
    assert verdict(push(served, person, {"memory": ID, "state": state}))[0] == "applied"
    served.memory.edit(ID, content="Granite is very hard.")
    assert verdict(push(served, person, {"memory": ID, "state": state}))[0] == "applied"
    assert served.memory.get(ID).content == "Granite is very hard."
    assert verdict(push(served, person, {"memory": ID, "state": state}, batch="act_" + "3" * 23))[0] == "stale"
    assert served.memory.get(ID).content == "Granite is very hard."


def test_a_batch_under_the_name_of_anothers_act_is_refused(
    served: Served, person: dict[str, str], state: State  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]
    push(served, person, {"memory": ID, "state": state})
    other = served.token("write", person=True)
    assert code_of(push(served, other, {"memory": ID, "state": state})) == "sync-batch-taken"
    assert code_of(served.client.post(f"/v1/sync/batches/{BATCH}", headers=other)) == "sync-batch-taken"
    own = served.memory.history()[-1].act
    assert code_of(push(served, person, {"memory": ID, "state": state}, batch=own)) == "sync-batch-taken"


@pytest.mark.parametrize("name", ["created_at", "updated_at", "accessed_at"])
def test_what_is_dated_in_the_future_is_refused(
    served: Served, person: dict[str, str], state: State, name: str  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]  # that a batch came is noted
    later = {**state, name: "2400-01-01T00:00:00.000Z"}
    found, why = verdict(push(served, person, {"memory": ID, "state": later}))
    assert (found, "2400-01-01" in why and "clock" in why) == ("refused", True)
    assert served.memory.store.memories.existing([ID]) == []


def test_an_id_of_another_project_cannot_be_touched(
    served: Served, person: dict[str, str], state: State  # noqa: F811
) -> None:  # fmt: skip
    import recollect

    served.changed = True  # type: ignore[attr-defined]
    with recollect.open(served.memory.path, project="other") as other:
        id = other.remember("Not yours.").id
        for number, record in enumerate(({"state": state}, {"gone": "final"}, {"gone": "pruned", "version": 1})):
            answer = push(served, person, {"memory": id, **record}, batch=f"act_{number:023d}")
            assert verdict(answer) == ("refused", "this id cannot be used here")
        assert other.get(id).content == "Not yours."
    assert id not in str(served.client.get("/v1/sync/changes", headers=person).json())


def test_what_is_personal_on_the_server_is_neither_told_nor_touched(
    served: Served, person: dict[str, str], state: State  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]
    id = served.memory.remember("I hum.", visibility="personal").id
    assert "I hum" not in served.client.get("/v1/sync/changes", headers=person).text
    version = served.memory.store.engine.row("select max(number) from log")[0]  # type: ignore[index]
    for number, record in enumerate(({"state": state, "version": version}, {"gone": "final"})):
        assert verdict(push(served, person, {"memory": id, **record}, batch=f"act_{number:023d}"))[0] == "refused"
    assert served.memory.get(id).content == "I hum."


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"visibility": "personal"}, "personal"),
        ({"content": "The key is ghp_" + "a1B2c3D4" * 4 + "e5F6."}, "secret"),
        ({"attributes": {"password": "hunter2hunter2"}}, "secret"),
        ({"kind": "episode"}, "does not travel"),
        ({"kind": "nonsense"}, "nonsense"),
        ({"status": "perfect"}, "cannot be read"),
        ({"confidence": 7.5}, "confidence"),
        ({"links": [{"relation": "owns", "target": "mem_1"}]}, "cannot be read"),
        ({"id": "fact_x"}, "no field"),
        ({"fingerprint": "0" * 32}, "no field"),
        ({"project": "other"}, "no field"),
        ({"content": ""}, "visible text"),
        ({"content": "x" * 1_500_000}, "at most"),
    ],
)
def test_what_may_not_come_in_is_refused_with_its_reason(
    served: Served, person: dict[str, str], state: State, changes: State, why: str  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]
    found, said = verdict(push(served, person, {"memory": ID, "state": {**state, **changes}}))
    assert found == "refused"
    assert why in said
    assert served.memory.store.memories.existing([ID]) == []


@pytest.mark.parametrize(
    "record",
    [
        {}, {"memory": ID}, {"memory": 7, "gone": "final"}, {"memory": "../x", "gone": "final"},
        {"memory": ID, "tombstone": "0" * 32}, {"memory": ID, "gone": "maybe"}, {"memory": ID, "state": []},
        {"memory": ID, "state": {}}, {"memory": ID, "gone": "final", "version": -1},
        {"memory": ID, "gone": "final", "version": "7"}, {"tombstone": "0" * 32, "reason": "rejected"},
        {"tombstone": "0" * 32, "reason": "rejected", "at": "soon"}, {"memory": ID, "gone": "final", "sql": "drop"},
    ],
)  # fmt: skip
def test_a_malformed_record_refuses_the_batch(
    served: Served, person: dict[str, str], record: Any  # noqa: F811
) -> None:  # fmt: skip
    assert push(served, person, record).status_code == 422


@pytest.mark.parametrize(
    ("key", "reason"), [("0" * 32, "erased"), ("0" * 32, "because"), ("everything", "erased"), ("x", "rejected")]
)
def test_a_copy_cannot_plant_marks_of_erasures(
    served: Served, person: dict[str, str], key: str, reason: str  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]
    record = {"tombstone": key, "reason": reason, "at": iso(served.memory.writer.now())}
    assert verdict(push(served, person, record))[0] == "refused"
    assert served.memory.store.tombstones.find([key]) == {}


def test_a_mass_deletion_is_refused_until_a_person_agrees(
    served: Served, person: dict[str, str]  # noqa: F811
) -> None:  # fmt: skip
    served.changed = True  # type: ignore[attr-defined]
    ids = [served.memory.remember(f"Stone number {number}.").id for number in range(20)]
    many = [{"memory": id, "gone": "final"} for id in ids]
    answer = push(served, person, *many)
    assert (answer.status_code, code_of(answer)) == (409, "sync-mass-deletion")
    one_by_one = [push(served, person, one, batch=f"act_{n:023d}").status_code for n, one in enumerate(many)]
    assert one_by_one.count(200) <= 5, "deletions of the last hour count together"
    assert len(served.memory.store.memories.existing(ids)) >= 15
    assert push(served, person, *many, batch="act_" + "9" * 23, confirmed=True).status_code == 200
    assert served.memory.store.memories.existing(ids) == []


def test_a_version_nobody_speaks_is_refused(served: Served, person: dict[str, str], state: State) -> None:  # noqa: F811
    body = {"version": 99, "batch": BATCH, "records": []}
    answer = served.client.post("/v1/sync/changes", json=body, headers=person)
    assert (answer.status_code, code_of(answer)) == (422, "sync-version")
    assert code_of(served.client.get("/v1/sync/changes?version=0", headers=person)) == "sync-version"


def test_bodies_that_are_too_large_cut_off_or_no_gzip_are_refused(
    served: Served, person: dict[str, str]  # noqa: F811
) -> None:  # fmt: skip
    headers = {**person, "Content-Encoding": "gzip", "Content-Type": "application/json"}

    def send(data: bytes, more: dict[str, str] | None = None) -> Any:
        return served.client.post("/v1/sync/changes", content=data, headers={**headers, **(more or {})})

    bomb = gzip.compress(b'{"version":1,"batch":"' + b"x" * (MAX_INFLATED + 1) + b'"}')
    assert len(bomb) < MAX_COMPRESSED
    assert (send(bomb).status_code, code_of(send(bomb))) == (422, "sync-message-too-large")
    assert send(b"x" * (MAX_COMPRESSED + 1)).status_code == 413
    assert send(b"\x1f\x8b garbage").status_code == 422
    assert send(deflate({"version": 1})[:-6]).status_code == 422
    assert send(deflate({"version": 1, "batch": BATCH, "records": []}), {"Content-Encoding": "br"}).status_code == 415
    assert send(deflate([["["] * 9])).status_code == 422
    assert send(b"[" * 200_000, {"Content-Encoding": "identity"}).status_code == 422
    huge = {"Content-Length": str(2**30)}
    assert served.client.post("/v1/sync/changes", content=b"", headers={**person, **huge}).status_code in (400, 413)
    plain = {"content-encoding": "gzip", **person, "Content-Type": "application/json"}
    assert served.client.post("/v1/memories", content=deflate({"content": "x"}), headers=plain).status_code == 415


def test_too_many_records_and_the_same_thing_twice_are_refused(
    served: Served, person: dict[str, str]  # noqa: F811
) -> None:  # fmt: skip
    many = [{"memory": f"fact_{number:023d}", "gone": "pruned"} for number in range(1_001)]
    assert push(served, person, *many).status_code == 422
    assert push(served, person, many[0], many[0]).status_code == 422
    assert push(served, person, many[0], batch="no").status_code == 422


def test_a_position_of_another_log_begins_anew(served: Served, person: dict[str, str]) -> None:  # noqa: F811
    for asked in ("after=999999&anchor=x", "after=1&anchor=wrong"):
        told = served.client.get(f"/v1/sync/changes?{asked}", headers=person).json()
        assert told["reset"] is True
    assert served.client.get("/v1/sync/changes?after=-1", headers=person).status_code == 422


def test_answers_are_compressed_for_who_takes_it(served: Served, person: dict[str, str]) -> None:  # noqa: F811
    answer = served.client.get("/v1/sync/changes", headers={**person, "Accept-Encoding": "gzip"})
    assert answer.headers["content-encoding"] == "gzip"
    plain = served.client.get("/v1/sync/changes", headers={**person, "Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert json.loads(plain.content)["reset"] is False
