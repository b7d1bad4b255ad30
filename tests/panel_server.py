"""A served memory with something of everything in it, and a real browser that is logged in to it."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn
from playwright.sync_api import Page

import recollect
from observer_session import Session
from recollect.app import Recollect
from recollect.interfaces.http.access import AccessFile
from recollect.interfaces.http.app import PANEL_FOLDER, Application
from recollect.interfaces.http.stores import ServedStores

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
)
KEY = "panel"
_FIRST = ("Wooden", "Copper", "Woollen", "Paper", "Leather", "Glass", "Linen", "Silver", "Clay", "Bamboo")
_SECOND = ("spoons", "lamps", "mirrors", "baskets", "kettles", "boxes")
VIEWS = {
    "home": "/",
    "memories": "/memories",
    "card": "/memories/{first}",
    "search": "/memories?q=release",
    "ask": "/ask?q=release",
    "review": "/review",
    "map": "/map",
    "table": "/map?as=table",
    "impact": "/map?target=shop/till.py",
    "sessions": "/sessions",
    "session": "/sessions/s1",
    "told": "/sessions?tab=told",
    "talks": "/sessions?tab=talks",
    "talk": "/sessions/monday?tab=talks",
    "entities": "/sessions?tab=entities",
    "documents": "/documents",
    "document": "/documents?path=docs/guide.md",
    "trust": "/settings/trust",
    "hosts": "/settings/hosts",
    "jobs": "/settings/jobs",
    "models": "/settings/models",
    "stores": "/settings/stores",
    "backups": "/settings/backups",
    "data": "/settings/data",
    "values": "/settings/values",
}


@dataclass
class PanelServer:
    """Where the server is, who may come in, and the memory behind it."""

    url: str
    access: AccessFile
    memory: Recollect
    first: str

    def open(self, page: Page, path: str = "/") -> None:
        """Log a browser in with a one-time code, as `recollect panel` does."""
        page.goto(f"{self.url}{path}#code={self.access.make_code(KEY)}")
        settle(page)

    def address(self, view: str) -> str:
        return self.url + VIEWS[view].format(first=self.first)


def settle(page: Page) -> None:
    """Wait until a view is there and nothing of it is loading."""
    page.wait_for_selector("main > *:not(.skeleton)")
    page.wait_for_selector(".skeleton", state="detached")


@contextmanager
def serving(folder: Path, *, port: int = 0, fill: bool = True) -> Iterator[PanelServer]:
    """A server on a real port, in a thread of its own."""
    project = folder / "project"
    project.mkdir(parents=True, exist_ok=True)
    if fill:
        write_files(project)
    memory = recollect.open(project / ".recollect" / "memory.db", project="shop", actor="anna", door="panel")
    first = fill_memory(memory, project) if fill else ""
    stores = ServedStores(memory, lambda: recollect.open(folder / "personal.db", actor="anna", door="panel"))
    access = AccessFile(str(folder / "access"))
    listening = socket.create_server(("127.0.0.1", port))
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    application = Application(stores, access, key=KEY, hosts=[host], panel=PANEL_FOLDER)
    config = uvicorn.Config(
        application.asgi(), log_level="error", ws="none", lifespan="on", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield PanelServer(f"http://{host}", access, memory, first)
    finally:
        application.stopping.set()
        server.should_exit = True
        thread.join(10)
        listening.close()
        stores.close()


def write_files(project: Path) -> None:
    """A small program and its documentation."""
    (project / "shop").mkdir()
    (project / "tests").mkdir()
    (project / "docs").mkdir()
    (project / "shop" / "money.py").write_text("def rounded(amount):\n    return round(amount, 2)\n", encoding="utf-8")
    (project / "shop" / "till.py").write_text(
        "from shop.money import rounded\n\n\ndef total(prices):\n    return rounded(sum(prices))\n", encoding="utf-8"
    )
    (project / "shop" / "order.py").write_text(
        "from shop.till import total\n\n\ndef place(order):\n    return total(order)\n", encoding="utf-8"
    )
    (project / "tests" / "test_till.py").write_text(
        "from shop.till import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n", encoding="utf-8"
    )
    (project / "docs" / "guide.md").write_text(
        "# Guide\n\nHow to make a release: see [the release page](release.md).\n", encoding="utf-8"
    )
    (project / "docs" / "release.md").write_text(
        "# Release\n\nRun `make release` on a clean branch. Back to the [guide](guide.md).\n", encoding="utf-8"
    )
    text = (project / "docs" / "guide.md").read_text(encoding="utf-8")
    (project / "docs" / "guide-copy.md").write_text(text, encoding="utf-8")


def fill_memory(memory: Recollect, project: Path) -> str:
    """Something of everything the panel shows. The id of the first memory is returned."""
    first = memory.remember(
        "Make a release only from a clean branch.", kind="decision", tags=["release"], files=["docs/release.md"]
    ).id
    memory.remember("The till rounds to two digits.", kind="fact", files=["shop/money.py"])
    told = memory.remember(
        "Parsing prices with a regular expression led nowhere.", kind="dead_end", files=["shop/till.py"]
    ).id
    for first_word in _FIRST:
        for second in _SECOND:
            memory.remember(f"{first_word} {second} are kept behind the counter until release.", kind="pattern")
    for one in _FIRST[:8]:
        memory.remember(
            f"Somebody said that {one.lower()} wares sell best in spring.",
            kind="gotcha",
            source="agent_explicit",
            status="candidate",
            needs_review=True,
            confidence=0.6,
        )
    memory.docs.index([project / "docs"])
    memory.code.index(project)
    for name in ("s2", "s1"):  # the second time a command puts another right, it is a lesson
        watch = memory.observer.watch(name, host="claude-code")
        session = Session(name).user("Make the till faster").read("shop/till.py").edit("shop/till.py")
        session.run("npm run lint", "error: script lint exited with code 1", error=True)
        session.run("npm run lint:fix").run("npm run lint")
        for event in session.events:
            watch.feed(event)
        memory.observer.finish(watch)
    memory.agent_context.injections.record_session(
        "s1",
        host="claude-code",
        arm="full",
        began=memory.writer.now(),
        told=[(told, "prompt", 90_000_000), (first, "first_message", 90_000_000)],
        outcome=None,
    )
    said = datetime(2026, 1, 5, tzinfo=UTC)
    for number, words in enumerate(("Hi, I'm Ada and I live in Lisbon.", "I work at Acme Corp now.")):
        memory.sessions.capture(words, session="monday", role="user", at=said + timedelta(minutes=number))
    memory.tend(job="consolidate")
    return first
