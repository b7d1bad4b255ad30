"""Data that leaves over HTTP: exports as streams, and erasing in two steps."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import zipfile
from pathlib import Path
from typing import IO

import pytest

import recollect
from interfaces.http.conftest import Served, code_of
from recollect.core.errors import RecollectError
from recollect.interfaces.http import export
from recollect.interfaces.http.export import ExportStreams


def fill(served: Served) -> None:
    served.memory.remember("Granite is hard.", tags=["stone"])
    served.memory.remember("Chalk is soft.", kind="gotcha")
    served.memory.remember("I like slate.", visibility="personal")


def contents(answer: bytes) -> list[str]:
    records = [json.loads(line) for line in answer.splitlines()]
    return [one["content"] for one in records if one.get("record") == "memory"]


def test_an_export_over_http_makes_the_same_store_again(served: Served, tmp_path: Path) -> None:
    fill(served)
    served.log_in()
    answer = served.client.get("/v1/export?format=archive&personal=true")
    assert answer.headers["content-type"] == "application/zip"
    (tmp_path / "memories.zip").write_bytes(answer.content)
    with recollect.open(tmp_path / "other.db") as other:
        assert other.import_memories(tmp_path / "memories.zip").counts["new"] == 3
        assert {one.id for one in other.list()} == {one.id for one in served.memory.list()}


def test_personal_memories_leave_only_when_a_person_asks_for_them(served: Served) -> None:
    fill(served)
    agent = served.token("admin")
    assert contents(served.client.get("/v1/export", headers=agent).content) == ["Granite is hard.", "Chalk is soft."]
    assert code_of(served.client.get("/v1/export?personal=true", headers=agent)) == "person-only"
    assert code_of(served.client.get("/v1/export", headers=served.token("write"))) == "scope-missing"
    served.log_in()
    assert len(contents(served.client.get("/v1/export").content)) == 2
    assert len(contents(served.client.get("/v1/export?personal=true").content)) == 3


def test_a_filter_chooses_what_is_exported(served: Served) -> None:
    fill(served)
    served.log_in()
    assert contents(served.client.get("/v1/export?tag=stone").content) == ["Granite is hard."]
    assert served.client.get("/v1/export?format=claude").text.count("Granite is hard.") == 1
    packed = zipfile.ZipFile(io.BytesIO(served.client.get("/v1/export?format=markdown&kind=gotcha").content))
    assert packed.namelist() == ["gotcha.md"]
    assert code_of(served.client.get("/v1/export?format=pdf")) == "invalid-field"


def test_an_agent_exports_nothing_of_the_users_of_an_assistant(served: Served) -> None:
    served.memory.remember("Anna likes slate.", user="anna")
    assert contents(served.client.get("/v1/export", headers=served.token("admin")).content) == []


def run(streams: ExportStreams, write: object) -> list[bytes]:
    async def read() -> list[bytes]:
        return [part async for part in await streams.start(write)]  # type: ignore[arg-type]

    return asyncio.run(read())


def test_a_client_that_does_not_read_ends_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "STALL_SECONDS", 0.05)
    ended = threading.Event()

    def write(to: IO[bytes]) -> None:
        try:
            for _ in range(100):
                to.write(b"x" * export.PART_BYTES)
        except RecollectError:
            ended.set()
            raise

    async def read_one() -> None:
        parts = await ExportStreams().start(write)
        await anext(parts)
        await asyncio.to_thread(ended.wait, 30)
        await parts.aclose()  # type: ignore[attr-defined]

    asyncio.run(read_one())
    assert ended.is_set()


def test_trouble_before_the_first_part_is_an_answer_and_later_it_breaks_off() -> None:
    def fail(to: IO[bytes]) -> None:
        raise RecollectError("no")

    def fail_late(to: IO[bytes]) -> None:
        to.write(b"x" * export.PART_BYTES)
        raise RecollectError("late")

    streams = ExportStreams()
    for write in (fail, fail_late):
        with pytest.raises(RecollectError):
            run(streams, write)
    assert run(streams, lambda to: to.write(b"abc")) == [b"abc"]


def test_only_so_many_exports_run_at_a_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MOST_EXPORTS", 0)
    served.log_in()
    assert code_of(served.client.get("/v1/export")) == "server-busy"


ANNA = {"subject": "Anna Berg"}


def test_erasing_needs_the_digest_of_a_dry_run_that_still_holds(served: Served) -> None:
    served.memory.remember("Anna Berg likes granite.")
    served.memory.remember("Chalk is soft.")
    served.log_in()
    plan = served.client.post("/v1/erase", json=ANNA).json()
    assert [one["content"] for one in plan["shown"]] == ["Anna Berg likes granite."]
    assert served.memory.count() == 2
    bare = served.client.post("/v1/erase", json={**ANNA, "dry_run": False})
    assert bare.status_code == 428
    served.memory.remember("Anna Berg moved to Oslo.")
    late = served.client.post("/v1/erase", json={**ANNA, "dry_run": False, "digest": plan["digest"]})
    assert late.status_code == 409
    assert served.memory.count() == 3
    digest = served.client.post("/v1/erase", json=ANNA).json()["digest"]
    done = served.client.post("/v1/erase", json={**ANNA, "dry_run": False, "digest": digest})
    assert done.json()["complete"] is True
    assert [one.content for one in served.memory.list()] == ["Chalk is soft."]


def test_only_a_person_erases(served: Served) -> None:
    assert code_of(served.client.post("/v1/erase", json=ANNA, headers=served.token("admin"))) == "person-only"
    person = served.token("admin", person=True)
    assert served.client.post("/v1/erase", json=ANNA, headers=person).status_code == 200


@pytest.mark.parametrize(
    "body", [{}, {"subject": "Anna", "session": "s1"}, {"filter": {}}, {"filter": {"tags": []}}, {"project": False}]
)
def test_exactly_one_thing_is_erased_and_never_everything_by_an_empty_filter(
    served: Served, body: dict[str, object]
) -> None:
    served.log_in()
    assert code_of(served.client.post("/v1/erase", json=body)) == "invalid-field"


def test_some_memories_are_erased_by_a_filter(served: Served) -> None:
    fill(served)
    served.log_in()
    asked = {"filter": {"tags": ["stone"]}}
    digest = served.client.post("/v1/erase", json=asked).json()["digest"]
    served.client.post("/v1/erase", json={**asked, "dry_run": False, "digest": digest})
    assert {one.content for one in served.memory.list()} == {"Chalk is soft.", "I like slate."}
