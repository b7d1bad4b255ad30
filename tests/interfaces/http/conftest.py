"""A server in this process, and clients of it with the token or the cookie they should have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import recollect
from recollect.app import Recollect
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.app import Application
from recollect.interfaces.http.stores import ServedStores

HOST = "127.0.0.1:7737"


@dataclass
class Served:
    """A served memory: who may come in, and how requests are made."""

    memory: Recollect
    access: AccessFile
    application: Application
    client: TestClient

    def token(self, scope: str = "write", *, person: bool = False) -> dict[str, str]:
        """The header of a program with a new token."""
        name = f"{scope} {len(self.access.tokens())}"
        return {"Authorization": f"Bearer {self.access.make_token(name, scope=scope, is_persons=person)}"}

    def log_in(self) -> None:
        """From now on the client is the panel in a person's browser."""
        code = self.access.make_code("key")
        answer = self.client.post("/v1/session", headers={"Authorization": f"Code {code}", "Origin": f"http://{HOST}"})
        assert answer.status_code == 204
        self.client.headers["Origin"] = f"http://{HOST}"


Serve = Callable[[], Served]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    store = tmp_path / "project" / ".recollect" / "memory.db"
    store.parent.mkdir(parents=True)
    memory = recollect.open(store, project="test", actor="anna", door="panel", personal=True)

    def personal() -> Recollect:
        return recollect.open(recollect.wiring.PERSONAL, actor="anna", door="panel")

    stores = ServedStores(memory, personal)
    access = AccessFile(str(tmp_path / "access"))
    panel = tmp_path / "panel"
    application = Application(stores, access, key="key", hosts=[HOST], panel=panel)
    with TestClient(application.asgi(), base_url=f"http://{HOST}", raise_server_exceptions=False) as client:
        yield Served(memory, access, application, client)
    stores.close()


def code_of(answer: Any) -> str:
    """The stable code of a refusal, which is a problem in every respect."""
    told = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["status"] == answer.status_code
    assert told["type"] == f"urn:recollect:error:{told['code']}"
    assert told["detail"]
    return str(told["code"])
