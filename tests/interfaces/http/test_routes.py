"""The routes beside memories: what they answer, and who may ask."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import recollect
from interfaces.http.conftest import Served, code_of
from recollect.interfaces.http.app import ENDPOINTS
from recollect.store.codec import to_ms
from recollect.tend.overview import Position
from recollect.testing.fakes import ScriptedModel

PLAIN = [
    endpoint
    for endpoint in ENDPOINTS
    if endpoint.method == "GET"
    and "{" not in endpoint.path
    and not any(one.is_required() for one in (endpoint.query.model_fields.values() if endpoint.query else ()))
]


@pytest.mark.parametrize("path", [endpoint.path for endpoint in PLAIN])
def test_what_needs_no_parameter_answers_on_an_empty_store(served: Served, path: str) -> None:
    served.log_in()
    answer = served.client.get(f"/v1{path}")
    if path == "/code/map":
        assert code_of(answer) == "code-not-indexed"
    else:
        assert answer.status_code == 200, answer.text


def test_health_says_what_costs_points_and_what_helps(served: Served) -> None:
    served.log_in()
    assert served.client.get("/v1/health").json()["score"] == 100
    served.memory.remember("Granite is hard.")
    served.memory.remember("Chalk is soft.", needs_review=True)
    told = served.client.get("/v1/health").json()
    assert told["score"] == 75
    assert [(one["code"], one["points"], one["count"]) for one in told["reasons"]] == [("review", 25, 1)]
    assert (told["total"], told["to_review"]) == (2, 1)


def test_a_decision_in_the_review_queue_holds_for_the_words_that_were_shown(served: Served) -> None:
    served.log_in()
    id = served.memory.remember("Chalk is soft.", needs_review=True).id
    (item,) = served.client.get("/v1/review").json()["items"]
    assert item["id"] == id
    assert served.client.get(f"/v1/review/{id}/evidence").json()["item"]["id"] == id
    served.memory.edit(id, content="Chalk is very soft.")
    late = served.client.post(f"/v1/review/{id}/decide", json={"decision": "confirm", "seen": item["revisions"]})
    assert late.status_code == 412
    (item,) = served.client.get("/v1/review").json()["items"]
    done = served.client.post(f"/v1/review/{id}/decide", json={"decision": "confirm", "seen": item["revisions"]})
    assert done.json()["waiting"] == 0
    assert done.json()["memory"]["verified"] is True
    assert served.client.post("/v1/undo", json={"act": done.json()["act"]}).json()["actions"] == ["confirm"]
    again = served.client.post("/v1/undo", json={"act": done.json()["act"]})
    assert (again.status_code, again.json()["code"]) == (409, "already-undone")
    assert served.client.get("/v1/review").json()["total"] == 1


def test_an_answer_shows_where_the_words_of_the_question_stand(served: Served) -> None:
    served.log_in()
    served.memory.remember("Deploys to staging happen on Tuesdays.")
    told = served.client.post("/v1/ask", json={"question": "When do we deploy?"}).json()
    assert told["sentences"] == []
    content = told["hits"][0]["memory"]["content"]
    assert [content[begin:end] for begin, end in told["hits"][0]["highlights"]] == ["Deploys"]


def test_jobs_tell_their_next_run_and_run_when_asked(served: Served) -> None:
    served.log_in()
    jobs = {job["name"]: job for job in served.client.get("/v1/jobs").json()["jobs"]}
    assert jobs["evict"]["always"] is True
    assert jobs["prune"]["next_at"]
    planned = served.client.post("/v1/jobs/prune/run?dry_run=true").json()
    assert planned["plans"][0]["job"] == "prune"
    assert served.client.post("/v1/jobs/prune/run").json()["reports"][0]["failed"] is False
    assert code_of(served.client.post("/v1/jobs/nothing/run")) == "unknown-choice"
    assert code_of(served.client.post("/v1/jobs/prune/run", headers=served.token("write"))) == "scope-missing"


def test_only_a_person_lets_agents_be_told_more(served: Served) -> None:
    agent = served.token("admin")
    assert code_of(served.client.put("/v1/settings/trust", json={"level": "confident"}, headers=agent)) == "person-only"
    served.log_in()
    chosen = served.client.put("/v1/settings/trust", json={"level": "confident"})
    assert chosen.json()["level"] == "confident"
    assert served.client.get("/v1/settings").json()["trust"]["level"] == "confident"


def test_settings_never_show_a_secret(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.log_in()
    secret = "sk-proj-" + "a1B2c3D4e5" * 5
    monkeypatch.setenv("RECOLLECT_MODEL", f"https://user:{secret}@models.example/v1#big")
    for path in ("/v1/settings", "/v1/models"):
        assert secret not in served.client.get(path).text


def test_only_a_person_adopts_a_store(served: Served) -> None:
    refused = served.client.post("/v1/stores/adopt", json={"state": "x"}, headers=served.token("admin"))
    assert code_of(refused) == "person-only"


def test_a_backup_is_made_and_listed(served: Served) -> None:
    served.log_in()
    served.memory.remember("Granite is hard.")
    made = served.client.post("/v1/stores/backup").json()["path"]
    assert Path(made).exists()
    listed = served.client.get("/v1/stores").json()["stores"][0]["backups"]
    assert [one["path"] for one in listed] == [made]
    assert served.client.get("/v1/stores/check").json()["ok"] is True


def test_conversations_facts_and_entities_are_read(served: Served) -> None:
    served.log_in()
    served.memory.sessions.capture("Anna Smith works at Initech in Berlin.", session="talk/1")
    served.memory.sessions.consolidate("talk/1")
    assert served.client.get("/v1/sessions").json()["sessions"][0]["id"] == "talk/1"
    said = served.client.get("/v1/sessions/episodes", params={"session": "talk/1"}).json()["memories"]
    assert said[0]["kind"] == "episode"
    assert served.client.get("/v1/sessions/facts", params={"session": "talk/1"}).status_code == 200
    for entity in served.client.get("/v1/entities").json()["entities"]:
        profile = served.client.get("/v1/entities/profile", params={"name": entity["id"]})
        assert profile.json()["entity"]["id"] == entity["id"]
    assert code_of(served.client.get("/v1/sessions/episodes?session=nobody")) == "session-not-found"
    assert code_of(served.client.get("/v1/observer/session?session=nobody")) == "session-not-found"


def test_the_code_is_asked_for_what_a_change_reaches(served: Served, tmp_path: Path) -> None:
    served.log_in()
    (tmp_path / "project" / "stone.py").write_text("def weigh() -> int:\n    return 1\n")
    (tmp_path / "project" / "wall.py").write_text(
        "from stone import weigh\n\n\ndef build() -> int:\n    return weigh()\n"
    )
    served.memory.code.index(tmp_path / "project")
    reached = served.client.get("/v1/code/impact?target=stone.py").json()
    assert [one["file"] for one in reached["files"]] == ["wall.py"]
    assert served.client.get("/v1/code/deps?target=wall.py").json()["nodes"]
    assert served.client.get("/v1/code/trace?target=wall.py").status_code == 200
    assert served.client.get("/v1/code/map").json()["files"] == 2
    assert served.client.get("/v1/code/search?q=build").json()["hits"]
    assert code_of(served.client.get("/v1/code/impact?target=nothing.py")) == "node-not-found"


def test_documents_are_listed_searched_and_checked(served: Served, tmp_path: Path) -> None:
    served.log_in()
    (tmp_path / "project" / "guide.md").write_text("# Deploying\n\nDeploys to staging happen on Tuesdays.\n")
    served.memory.docs.index()
    assert [one["path"] for one in served.client.get("/v1/docs").json()["documents"]] == ["guide.md"]
    assert served.client.get("/v1/docs/search?q=staging").json()["matches"]
    assert served.client.get("/v1/docs/related?path=guide.md").json() == {"related": []}
    assert served.client.get("/v1/docs/check").json()["ok"] is True


# --- the library behind them -----------------------------------------------------------------------------------------


def test_events_go_on_after_a_position_and_say_when_all_must_be_read_again(memory: recollect.Recollect) -> None:
    start = memory.overview.position()
    first = memory.remember("Granite is hard.").id
    memory.dispute(first)
    found = memory.overview.events(start)
    assert [(event.name, event.action, event.memory) for event in found.events] == [
        ("memory", "add", first),
        ("memory", "dispute", first),
    ]
    assert memory.overview.events(found.position).events == ()
    middle = found.events[0].position
    assert [event.action for event in memory.overview.events(middle).events] == ["dispute"]
    assert memory.overview.events(Position(10_000, 0)).is_reset
    assert memory.overview.events(start, limit=1).is_reset


def test_a_written_answer_keeps_only_sentences_that_rest_on_memories(tmp_path: Path) -> None:
    told = [("Deploys are on Tuesdays.", [1]), ("The moon is cheese.", []), ("So they say.", [99])]
    model = ScriptedModel({"sentences": [{"text": text, "notes": notes} for text, notes in told]})
    with recollect.open(tmp_path / "m.db", model=model) as memory:
        id = memory.remember("Deploys to staging happen on Tuesdays.").id
        answer = memory.ask("When do we deploy?")
    assert [(one.text, one.memories) for one in answer.sentences] == [("Deploys are on Tuesdays.", (id,))]
    assert "2 sentence(s)" in answer.notes[-1]
    assert "1. Deploys to staging" in model.asked[0]


def test_every_level_of_trust_says_what_it_would_have_told_lately(served: Served) -> None:
    memory, now = served.memory, datetime.now(UTC)
    sure = memory.remember("Granite is hard.").id
    fair = memory.remember("Chalk is soft.", confidence=0.5).id
    told = [(id, "prompt", to_ms(now)) for id in (sure, fair)]
    memory._rooms.injections().record_session("s1", host="codex", arm="full", began=now, told=told, outcome="")
    served.log_in()
    levels = {one["level"]: one for one in served.client.get("/v1/settings/trust").json()["levels"]}
    assert [one["lately"] for one in levels.values()] == [1, 1, 1, 2]
    assert [one["content"] for one in levels["cautious"]["examples"]] == ["Chalk is soft."]


def test_a_person_sees_their_projects_and_an_agent_does_not(served: Served) -> None:
    served.memory.remember("Granite is hard.")
    assert code_of(served.client.get("/v1/projects", headers=served.token("admin"))) == "person-only"
    served.log_in()
    found = served.client.get("/v1/projects").json()["projects"]
    assert [(one["project"], one["memories"]) for one in found if not one["personal"]] == [("test", 1)]


def test_a_path_that_no_file_can_have_is_not_found(served: Served) -> None:
    served.log_in()
    assert code_of(served.client.get("/v1/docs/links?path=%00")) == "document-not-found"
