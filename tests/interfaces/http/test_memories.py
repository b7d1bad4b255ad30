"""Memories over HTTP: what is found, read, added and changed, by whom, and what bad requests are told."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.http.conftest import Served, code_of

GRANITE = {"content": "Granite is hard.", "kind": "fact", "tags": ["stone"], "files": ["src/stone.py"]}


def add(served: Served, headers: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
    answer = served.client.post("/v1/memories", json={**GRANITE, **fields}, headers=headers)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def test_what_the_panel_says_is_a_persons_word_and_what_a_token_says_an_agents(served: Served) -> None:
    served.log_in()
    persons = add(served)["memory"]
    assert (persons["source"], persons["confidence"]) == ("user_taught", 0.9)
    agents = add(served, served.token(), content="Basalt is dark and rather heavy.")["memory"]
    assert (agents["source"], agents["confidence"]) == ("agent_explicit", 0.8)
    again = add(served, served.token(person=True), content="Chalk is soft.")["memory"]
    assert again["source"] == "user_taught"
    entries = served.client.get("/v1/changes").json()["entries"]
    told = {entry["memory"]: (entry["actor"], entry["door"]) for entry in entries if entry["action"] == "add"}
    assert told[persons["id"]] == ("anna", "panel")
    assert told[agents["id"]] == ("write 0", "http")
    assert told[again["id"]] == ("write 1", "panel")


def test_an_agents_token_raises_nothing(served: Served) -> None:
    served.log_in()
    memory = add(served)["memory"]
    agent = served.token("admin")
    path = f"/v1/memories/{memory['id']}"
    edit = served.client.patch(path, json={"content": "Granite is soft."}, headers={**agent, "If-Match": '"1"'})
    assert (edit.status_code, code_of(edit)) == (403, "persons-memory")
    assert code_of(served.client.post(f"{path}/pin", headers=agent)) == "person-only"
    assert code_of(served.client.delete(path, headers=agent)) == "persons-memory"
    said = add(served, agent, content="Slate splits well along its planes.")["memory"]
    for answer in (
        served.client.post(f"/v1/memories/{said['id']}/confirm", headers=agent),
        served.client.post(f"/v1/review/{said['id']}/decide", headers=agent, json={"decision": "confirm"}),
    ):
        assert (answer.status_code, code_of(answer)) == (403, "person-only")
        assert "--for-person" in answer.json()["hint"]
    [batch] = served.client.post(
        "/v1/memories/batch", headers=agent, json={"act": "confirm", "ids": [said["id"]]}
    ).json()["results"]
    assert (batch["ok"], batch["code"]) == (False, "person-only")
    assert "verified" not in served.client.get(f"/v1/memories/{said['id']}").json()


def test_a_token_removes_for_good_only_what_was_written_with_it(served: Served) -> None:
    served.log_in()
    one, other = served.token(), served.token("admin")
    said = add(served, one, content="Slate splits well along its planes.")["memory"]["id"]
    refused = served.client.delete(f"/v1/memories/{said}", headers=other)
    assert (refused.status_code, code_of(refused)) == (403, "others-memory")
    assert served.client.delete(f"/v1/memories/{said}", headers=one).status_code == 200
    again = add(served, one, content="Basalt is dark and rather heavy.")["memory"]["id"]
    assert served.client.delete(f"/v1/memories/{again}").status_code == 200


def test_two_editors_never_overwrite_each_other(served: Served) -> None:
    served.log_in()
    path = f"/v1/memories/{add(served)['id']}"
    seen = served.client.get(path)
    assert seen.headers["etag"] == '"1"'
    first = served.client.patch(path, json={"tags": ["rock"]}, headers={"If-Match": seen.headers["etag"]})
    assert (first.status_code, first.headers["etag"]) == (200, '"2"')
    second = served.client.patch(path, json={"tags": ["igneous"]}, headers={"If-Match": seen.headers["etag"]})
    assert (second.status_code, code_of(second)) == (412, "stale-edit")
    assert served.client.get(path).json()["tags"] == ["rock"]
    assert served.client.patch(path, json={"tags": []}).status_code == 428
    for etag in ("x", '"x"', "1", 'W/"1"', "*", '""', '"99999999999999999999"'):
        assert served.client.patch(path, json={"tags": []}, headers={"If-Match": etag}).status_code == 400


@pytest.mark.parametrize("act", ["confirm", "reject", "dispute", "pin", "correct"])
def test_an_act_on_words_that_changed_since_is_refused(served: Served, act: str) -> None:
    served.log_in()
    path = f"/v1/memories/{add(served)['id']}"
    served.client.patch(path, json={"content": "Granite is very hard."}, headers={"If-Match": '"1"'})
    body = {"content": "Granite is quite hard."} if act == "correct" else {}
    late = served.client.post(f"{path}/{act}", json=body, headers={"If-Match": '"1"'})
    assert code_of(late) == "stale-edit"
    assert served.client.post(f"{path}/{act}", json=body, headers={"If-Match": '"2"'}).status_code == 200


def test_forgetting_words_that_changed_since_is_refused(served: Served) -> None:
    served.log_in()
    path = f"/v1/memories/{add(served)['id']}"
    served.client.patch(path, json={"tags": []}, headers={"If-Match": '"1"'})
    assert code_of(served.client.delete(path, headers={"If-Match": '"1"'})) == "stale-edit"
    assert served.client.delete(f"{path}?why=done", headers={"If-Match": '"2"'}).status_code == 200
    assert code_of(served.client.get(path)) == "memory-not-found"
    assert served.client.get(f"{path}/history").json()["entries"][-1]["action"] == "forget"


def test_acts_change_what_they_say_and_undo_takes_them_back(served: Served) -> None:
    served.log_in()
    path = f"/v1/memories/{add(served)['id']}"
    assert served.client.post(f"{path}/confirm").json()["verified"] is True
    assert served.client.post(f"{path}/pin").json()["pinned"] is True
    assert "pinned" not in served.client.post(f"{path}/unpin").json()
    assert served.client.post(f"{path}/dispute", json={"why": "heard otherwise"}).json()["status"] == "disputed"
    late = served.client.post("/v1/undo", json={"memory": path.rpartition("/")[2]}, headers={"If-Match": '"1"'})
    assert (late.status_code, served.client.get(path).json()["status"]) == (412, "disputed")
    undone = served.client.post("/v1/undo", json={})
    assert undone.json()["actions"] == ["dispute"]
    assert served.client.get(path).json()["status"] == "active"
    better = served.client.post(f"{path}/correct", json={"content": "Granite is hard and heavy."}).json()
    assert better["verdict"] == "supersedes"
    assert served.client.get(path).json()["superseded_by"] == better["id"]
    account = served.client.get(f"{path}/why").json()
    assert account["history"][0]["action"] == "add"
    assert served.client.post(f"/v1/memories/{better['id']}/reject").json()["status"] == "rejected"
    assert code_of(served.client.post(f"/v1/memories/{better['id']}/reject")) == "memory-not-open"


def test_a_correction_says_which_of_four_things_is_wrong(served: Served) -> None:
    served.log_in()
    path = f"/v1/memories/{add(served)['id']}"
    other = add(served, content="The build needs Java 21.", files=[])["id"]
    gone = served.client.post(f"/v1/memories/{other}/correct", json={"reason": "outdated"})
    assert gone.status_code == 200, gone.text
    assert served.client.get(f"/v1/memories/{other}").json()["status"] != "active"
    assert served.client.post(f"{path}/correct", json={"reason": "ugly"}).status_code == 422
    assert served.client.post(f"{path}/correct", json={"reason": "duplicate"}).status_code == 422


def test_one_act_on_many_says_what_became_of_each(served: Served) -> None:
    served.log_in()
    said = ("Chalk is soft.", "The build needs Java 21.", "Deploys happen on Tuesdays.")
    ids = [add(served, content=content, files=[])["id"] for content in said]
    told = served.client.post("/v1/memories/batch", json={"act": "confirm", "ids": [*ids, "nothing"]}).json()["results"]
    assert [one["ok"] for one in told] == [True, True, True, False]
    assert told[-1]["code"] == "memory-not-found"
    assert [one["revision"] for one in told[:3]] == [
        served.client.get(f"/v1/memories/{id}").json()["revision"] for id in ids
    ]
    assert served.client.post("/v1/memories/batch", json={"act": "explode", "ids": ids}).status_code == 422


def test_pages_follow_each_other_by_cursor_without_gap_or_repeat_while_others_write(served: Served) -> None:
    served.log_in()
    for number in range(25):
        served.memory.remember(f"Stone number {number} lies in field {number * 7}.")
    for order in ("newest", "oldest", "confidence", "accessed"):
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            query = {"order": order, "limit": "7", **({"cursor": cursor} if cursor else {})}
            page = served.client.get("/v1/memories", params=query).json()
            seen += [memory["id"] for memory in page["memories"]]
            cursor = page["cursor"]
            served.memory.remember(f"A stone that came in between, when {len(seen)} of {order} were seen.")
        assert len(seen) == len(set(seen)) >= 25


@pytest.mark.parametrize("cursor", ["x", "W10", "%00", "bnVsbA", "WyJuZXdlc3QiLDFlOTksIngiXQ", "é" * 50, "A" * 999])
def test_a_cursor_nobody_gave_out_is_an_error(served: Served, cursor: str) -> None:
    answer = served.client.get(f"/v1/memories?cursor={cursor}", headers=served.token("read"))
    assert (answer.status_code, code_of(answer)) == (422, "invalid-field")


def test_a_cursor_of_another_order_is_an_error(served: Served) -> None:
    for number in range(3):
        served.memory.remember(f"Stone number {number} lies in field {number * 7}.")
    headers = served.token("read")
    page = served.client.get("/v1/memories?limit=1", headers=headers).json()
    answer = served.client.get(f"/v1/memories?order=oldest&cursor={page['cursor']}", headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize(
    "query",
    [
        "limit=0", "limit=501", "limit=1e9", "limit=x", "limit=", "limt=5", "limit=1&limit=2", "skip=-1", "order=up",
        "status=gone", "source=god", "needs_review=1", "since=yesterday", "since=1700000000", "min_confidence=2",
        "min_confidence=nan", "cursor=x&skip=1", "store=other", "user=%20", "user=" + "x" * 2_000,
    ],
)  # fmt: skip
def test_a_query_that_says_nothing_sensible_is_told_so(served: Served, query: str) -> None:
    served.log_in()
    answer = served.client.get(f"/v1/memories?{query}")
    assert answer.status_code == 422
    assert code_of(answer) in ("invalid-field", "request-refused")


@pytest.mark.parametrize(
    ("content", "media", "status"),
    [
        (b"{", "application/json", 422), (b"\xff\xfe", "application/json", 400), (b"[]", "application/json", 422),
        (b"null", "application/json", 422), (b"", "application/json", 422), (b'{"content":"x"}', "text/plain", 415),
        (b'{"content":"x"}', "", 415), (b'{"content":"x","sauce":1}', "application/json", 422),
        (b'{"content":1}', "application/json", 422), (b'{"content":""}', "application/json", 422),
        (b'{"content":"x","confidence":"0.5"}', "application/json", 422), (b"[" * 100_000, "application/json", 422),
        (b'{"content":"a\\u0000b"}', "application/json", 422),
        (b'{"content":"x","confidence":NaN}', "application/json", 422),
        (b'{"content":"x","event_at":5}', "application/json", 422), (b'{"content":"\\ud800"}', "application/json", 422),
        (b'{"content":"x","source":"user_taught"}', "application/json", 422),
    ],
)  # fmt: skip
def test_a_body_that_cannot_be_taken_is_told_so_and_changes_nothing(
    served: Served, content: bytes, media: str, status: int
) -> None:
    headers = {**served.token(), **({"Content-Type": media} if media else {})}
    answer = served.client.post("/v1/memories", content=content, headers=headers)
    assert answer.status_code == status, answer.text
    assert code_of(answer)
    assert served.memory.count() == 0


def test_a_wrong_method_and_an_unknown_path_are_told_so(served: Served) -> None:
    headers = served.token("admin")
    wrong = served.client.put("/v1/memories", headers=headers)
    assert (wrong.status_code, code_of(wrong)) == (405, "request-refused")
    assert code_of(served.client.get("/v1/nothing", headers=headers)) == "route-not-found"
    assert served.client.get("/v1/memories/", headers=headers).status_code in (404, 422)


def test_a_request_sent_again_with_its_key_is_done_once(served: Served) -> None:
    headers = {**served.token(), "Idempotency-Key": "once"}
    first = served.client.post("/v1/memories", json=GRANITE, headers=headers)
    again = served.client.post("/v1/memories", json=GRANITE, headers=headers)
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert len(served.memory.history()) == 1
    other = served.client.post("/v1/memories", json={"content": "Chalk is soft."}, headers=headers)
    assert other.status_code == 422
    stranger = {**served.token(), "Idempotency-Key": "once"}
    assert served.client.post("/v1/memories", json={"content": "Chalk is soft."}, headers=stranger).status_code == 201
    assert (
        served.client.post("/v1/memories", json=GRANITE, headers={**headers, "Idempotency-Key": ""}).status_code == 400
    )


def test_search_says_what_ranked_each_memory_and_looking_is_not_using(served: Served) -> None:
    served.log_in()
    id = add(served)["id"]
    found = served.client.get("/v1/memories/search?q=how hard is granite").json()
    assert [hit["id"] for hit in found["hits"]] == [id]
    assert found["hits"][0]["factors"]
    assert served.memory.get(id).access_count == 0
    served.client.get("/v1/memories/search?q=granite", headers=served.token("read"))
    assert served.memory.get(id).access_count == 1


def test_an_agent_sees_no_users_memories_and_the_owner_sees_all(served: Served) -> None:
    served.log_in()
    mine = add(served, user="ben")["id"]
    agent = served.token()
    assert len(served.client.get("/v1/memories").json()["memories"]) == 1
    assert served.client.get("/v1/memories", headers=agent).json()["memories"] == []
    assert code_of(served.client.get(f"/v1/memories/{mine}", headers=agent)) == "memory-not-found"
    assert served.client.get("/v1/memories?user=*", headers=agent).status_code == 422
    assert len(served.client.get("/v1/memories?user=ben", headers=agent).json()["memories"]) == 1


def test_the_personal_store_is_for_the_person_only(served: Served) -> None:
    served.log_in()
    answer = served.client.post("/v1/memories?store=personal", json={"content": "I prefer tabs."})
    assert answer.status_code == 201
    assert served.client.get("/v1/memories?store=personal").json()["memories"][0]["content"] == "I prefer tabs."
    assert served.client.get("/v1/memories").json()["memories"] == []
    refused = served.client.get("/v1/memories?store=personal", headers=served.token("admin"))
    assert code_of(refused) == "person-only"


def test_facets_count_what_the_filter_lets_through(served: Served) -> None:
    served.log_in()
    add(served)
    add(served, content="Deploys to staging happen on Tuesdays.", kind="workflow", tags=["ops"], files=[])
    found = served.client.get("/v1/memories/facets").json()
    assert found["total"] == 2
    assert {one["value"]: one["count"] for one in found["facets"]["tag"]} == {"ops": 1, "stone": 1}
    narrowed = served.client.get("/v1/memories/facets?tag=stone").json()
    assert narrowed["facets"]["kind"] == [{"value": "fact", "count": 1}]
    assert narrowed["facets"]["file"] == [{"value": "src/stone.py", "count": 1}]


def test_an_agents_token_is_shown_nothing_personal(served: Served) -> None:
    served.log_in()
    own = add(served, content="My own granite stays at home.", visibility="personal")["memory"]["id"]
    shared = add(served, content="Our granite is grey and shared.")["memory"]["id"]
    agent, person = served.token("admin"), served.token("read", person=True)
    for headers, ids in ((agent, {shared}), (person, {shared, own})):
        found = served.client.get("/v1/memories/search?q=granite", headers=headers).json()["hits"]
        assert {hit["id"] for hit in found} == ids
        assert served.client.get(f"/v1/memories/{own}", headers=headers).status_code == (200 if own in ids else 404)
        for path in ("/v1/memories", "/v1/changes", "/v1/review"):
            assert ("at home" in served.client.get(path, headers=headers).text) == (own in ids and "review" not in path)
    asked = served.client.get("/v1/memories?visibility=personal", headers=agent)
    assert (asked.status_code, code_of(asked)) == (403, "person-only")
