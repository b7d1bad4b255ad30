"""A server in this process, and clients of it with the token or the cookie they should have."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import pytest
from starlette.testclient import TestClient

import recollect
from recollect.app import Recollect
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.app import Application
from recollect.interfaces.http.server import StoppableServer, make_config
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


@dataclass
class Live:
    """The same behind a real socket."""

    url: str
    memory: Recollect
    access: AccessFile
    store: Path

    def token(self, scope: str = "write", *, person: bool = False) -> dict[str, str]:
        name = f"{scope} {len(self.access.tokens())}"
        return {"Authorization": f"Bearer {self.access.make_token(name, scope=scope, is_persons=person)}"}


@contextmanager
def serving(store: Path, access: AccessFile, port: int = 0) -> Iterator[Live]:
    """A server on a thread of this process, ended and closed when the block ends."""
    memory = recollect.open(store, project="test", actor="anna", door="panel")
    stores = ServedStores(memory, lambda: recollect.open(":memory:", door="panel"))
    with socket.create_server(("127.0.0.1", port)) as listening:
        host = f"127.0.0.1:{listening.getsockname()[1]}"
        application = Application(stores, access, key="key", hosts=[host])
        server = StoppableServer(make_config(application), application)
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            sleep(0.01)
        try:
            yield Live(f"http://{host}", memory, access, store)
        finally:
            server.should_exit = True
            thread.join(30)
            stores.close()
        assert not thread.is_alive()


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    with serving(tmp_path / "memory.db", AccessFile(str(tmp_path / "access"))) as running:
        yield running
