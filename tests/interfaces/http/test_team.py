"""A shared store over HTTP: coming in, what roles allow, what members never see, and how it ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interfaces.http.conftest import Served, code_of
from recollect.team.api import digest_secret

API = "/v1"


@pytest.fixture
def admin(served: Served) -> dict[str, str]:
    """The header of the team's admin."""
    joined = served.memory.team.init("red", admin="ann")
    assert joined is not None
    return bearer(joined.token)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def join(served: Served, name: str, *, role: str = "member", team: str = "red") -> dict[str, str]:
    code = served.memory.team.invite(team, role=role)
    answer = served.client.post(f"{API}/team/join?name={name}", headers={"Authorization": f"Code {code}"})
    assert answer.status_code == 201, answer.text
    return bearer(answer.json()["token"])


def remember(served: Served, who: dict[str, str], content: str, **fields: Any) -> Any:
    return served.client.post(f"{API}/memories", headers=who, json={"content": content, **fields})


def test_a_code_lets_one_person_in_once(served: Served, admin: dict[str, str]) -> None:
    code = served.client.post(f"{API}/team/invite", headers=admin, json={"role": "steward"}).json()["code"]
    header = {"Authorization": f"Code {code}"}
    first = served.client.post(f"{API}/team/join?name=ben", headers=header)
    assert first.json()["person"]["role"] == "steward"
    again = served.client.post(f"{API}/team/join?name=cyd", headers=header)
    wrong = served.client.post(f"{API}/team/join?name=cyd", headers={"Authorization": "Code nonsense"})
    assert (code_of(again), code_of(wrong)) == ("invitation-refused", "invitation-refused")
    assert again.json()["detail"] == wrong.json()["detail"]
    assert [one.name for one in served.memory.team.members()] == ["ann", "ben"]


def test_a_name_is_given_once_and_a_refused_joining_leaves_the_code_good(served: Served, admin: dict[str, str]) -> None:
    code = served.memory.team.invite()
    header = {"Authorization": f"Code {code}"}
    assert code_of(served.client.post(f"{API}/team/join?name=ann", headers=header)) == "invalid-field"
    assert served.client.post(f"{API}/team/join?name=ben", headers=header).status_code == 201


def test_secrets_are_kept_as_digests(served: Served, admin: dict[str, str]) -> None:
    code = served.memory.team.invite()
    token = admin["Authorization"].removeprefix("Bearer ")
    held = repr([served.memory.store.engine.rows(f"select * from {one}") for one in ("access_tokens", "invitations")])
    assert token not in held
    assert code not in held
    told = repr(served.memory.history(limit=50))
    assert token not in told
    assert code not in told


def test_a_token_ends_with_its_day_with_its_person_and_when_it_is_revoked(
    served: Served, admin: dict[str, str]
) -> None:
    ben = join(served, "ben")
    assert served.client.get(f"{API}/team", headers=ben).status_code == 200
    people = served.memory.store.people
    late = datetime.now(UTC) + timedelta(days=91)
    token = ben["Authorization"].removeprefix("Bearer ")

    assert people.by_token(digest_secret(token), late) is None
    served.client.post(f"{API}/team/tokens/revoke", headers=ben, json={"name": "first"})
    assert served.client.get(f"{API}/team", headers=ben).status_code == 401
    cyd = join(served, "cyd")
    served.client.post(f"{API}/team/people/cyd/remove", headers=admin)
    assert served.client.get(f"{API}/team", headers=cyd).status_code == 401


def test_members_see_their_teams_and_nothing_personal(served: Served, admin: dict[str, str]) -> None:
    served.memory.team.init("blue", admin="eve")
    ben, eve = join(served, "ben"), join(served, "flo", team="blue")
    mine = served.memory.remember("My own shortcut is control-j", visibility="personal").id
    red = remember(served, ben, "Staging is rebuilt at night", visibility="team").json()["memory"]["id"]
    listed = served.client.get(f"{API}/memories", headers=eve).json()["memories"]
    assert {one["id"] for one in listed} & {mine, red} == set()
    for id in (mine, red):
        assert code_of(served.client.get(f"{API}/memories/{id}", headers=eve)) == "memory-not-found"
    assert served.client.get(f"{API}/memories/{red}", headers=ben).status_code == 200
    assert code_of(served.client.get(f"{API}/memories/{mine}", headers=ben)) == "memory-not-found"
    assert code_of(served.client.get(f"{API}/memories?store=personal", headers=ben)) == "personal-stays-here"
    assert code_of(remember(served, ben, "My key is next to the door", visibility="personal")) == "personal-stays-here"


def test_a_member_changes_what_is_theirs_and_a_steward_what_they_see(served: Served, admin: dict[str, str]) -> None:
    ben, cyd = join(served, "ben"), join(served, "cyd")
    steward = join(served, "sue", role="steward")
    made = remember(served, ben, "Deploys wait for the smoke test")
    id = made.json()["memory"]["id"]
    refused = served.client.post(f"{API}/memories/{id}/reject", headers=cyd, json={"why": "no"})
    assert code_of(refused) == "role-missing"
    assert served.client.post(f"{API}/memories/{id}/dispute", headers=cyd, json={"why": "is it?"}).status_code == 200
    assert served.client.post(f"{API}/memories/{id}/confirm", headers=steward, json={}).status_code == 200
    assert code_of(remember(served, ben, "Everybody locks the door", visibility="organization")) == "role-missing"
    assert remember(served, steward, "Everybody locks the door", visibility="organization").status_code == 201
    assert code_of(remember(served, ben, "Ours alone is green", visibility="team", team="green")) == "invalid-field"


def test_a_dispute_has_a_thread_and_waits_for_a_steward(served: Served, admin: dict[str, str]) -> None:
    ben, cyd = join(served, "ben"), join(served, "cyd")
    steward = join(served, "sue", role="steward")
    id = remember(served, ben, "The cache is emptied at noon").json()["memory"]["id"]
    before = served.memory.reader.confidence(served.memory.get(id))
    served.client.post(f"{API}/memories/{id}/dispute", headers=cyd, json={"why": "It was midnight yesterday"})
    served.client.post(f"{API}/memories/{id}/comments", headers=ben, json={"words": "Then the job moved"})
    told = served.client.get(f"{API}/memories/{id}/comments", headers=steward).json()["comments"]
    assert [(one["actor"], one["action"], one["words"]) for one in told] == [
        ("cyd", "dispute", "It was midnight yesterday"),
        ("ben", "comment", "Then the job moved"),
    ]
    waiting = served.client.get(f"{API}/review", headers=steward).json()["items"]
    assert [(one["memory"]["id"], one["question"]) for one in waiting] == [(id, "dispute")]
    doubted = served.memory.get(id)
    assert (doubted.status, doubted.needs_review) == ("disputed", True)
    assert served.memory.reader.confidence(doubted) == pytest.approx(before * 0.8)
    served.client.post(f"{API}/memories/{id}/confirm", headers=steward, json={"why": "Looked it up"})
    assert served.memory.reader.confidence(served.memory.get(id)) >= before


def test_whoever_joins_is_shown_what_the_team_relies_on(served: Served, admin: dict[str, str]) -> None:
    for what in ("Staging sleeps at night", "Invoices leave at six", "Queues drain on exit", "Ids sort by time",
                 "Retries grow by half", "Schemas carry a number", "Caches hold a day"):  # fmt: skip
        served.memory.remember(what, visibility="team", team="red", confidence=0.5)
    best = served.memory.remember("Never deploy on Friday", visibility="team", team="red", pinned=True, confidence=0.9)
    other = served.memory.remember("Blue paints its own doors", visibility="team", team="blue", pinned=True)
    ben = join(served, "ben")
    shown = [one["memory"]["id"] for one in served.client.get(f"{API}/team/welcome", headers=ben).json()["memories"]]
    assert shown[0] == best.id
    assert len(shown) == 5
    assert other.id not in shown


def test_an_agents_token_makes_no_tokens_and_members_have_no_business_with_the_machine(
    served: Served, admin: dict[str, str]
) -> None:
    agents = served.client.post(f"{API}/team/tokens", headers=admin, json={"name": "ci", "scope": "write"}).json()
    told = served.client.post(f"{API}/team/tokens", headers=bearer(agents["token"]), json={"name": "more"})
    assert code_of(told) == "person-only"
    for path in ("settings", "stores", "hosts", "stores/check", "export?format=jsonl"):
        assert code_of(served.client.get(f"{API}/{path}", headers=admin)) == "keeper-only"
    assert code_of(served.client.post(f"{API}/erase", headers=admin, json={"everything": True})) == "keeper-only"
    ben = join(served, "ben")
    wide = served.client.post(f"{API}/team/tokens", headers=ben, json={"name": "x", "scope": "admin"})
    assert code_of(wide) == "role-missing"


def test_what_is_done_to_the_team_is_in_the_log_for_those_who_manage_it(served: Served, admin: dict[str, str]) -> None:
    ben = join(served, "ben")
    served.client.post(f"{API}/team/people/ben/role", headers=admin, json={"role": "steward"})
    seen = served.client.get(f"{API}/changes", headers=admin).json()["entries"]
    said = [one["why"] for one in seen if one["action"] == "team"]
    assert "made ben a steward" in said
    assert "ben joined" in said
    served.memory.team.set_role("ben", "member")
    member = served.client.get(f"{API}/changes", headers=ben).json()["entries"]
    assert [one for one in member if one["action"] == "team"] == []


def test_the_last_admin_stays(served: Served, admin: dict[str, str]) -> None:
    for path, body in (("role", {"role": "member"}), ("remove", {})):
        told = served.client.post(f"{API}/team/people/ann/{path}", headers=admin, json=body)
        assert code_of(told) == "invalid-field"


def test_a_secret_is_refused_where_others_read(served: Served, admin: dict[str, str]) -> None:
    ben = join(served, "ben")
    told = remember(served, ben, "The key is ghp_" + "a1B2" * 9)
    assert code_of(told) == "secret-stays-here"
    assert served.memory.count() == 0
