"""The page follows the store, and says so when it cannot."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from panel_server import PanelServer, serving, settle

_LONG_MS = 30_000  # a page waits up to 8 s between two tries


def test_what_others_change_shows_without_a_reload(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/memories?kind=preference")
    settle(page)
    server.memory.remember("Receipts are printed on recycled paper.", kind="preference")
    expect(page.locator(".row-text", has_text="recycled paper")).to_be_visible(timeout=_LONG_MS)


def test_a_page_without_a_session_says_how_to_get_one(browser: Browser, server: PanelServer) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{server.url}/memories#code=wrong")
    expect(page.get_by_role("heading", name="Open the panel from your terminal")).to_be_visible(timeout=_LONG_MS)
    assert "wrong" not in page.url
    context.close()


def test_a_one_time_code_works_once(browser: Browser, server: PanelServer) -> None:
    link = f"{server.url}/#code={server.access.make_code('panel')}"
    first, second = browser.new_context(), browser.new_context()
    page = first.new_page()
    page.goto(link)
    settle(page)
    other = second.new_page()
    other.goto(link)
    expect(other.get_by_role("heading", name="Open the panel from your terminal")).to_be_visible(timeout=_LONG_MS)
    first.close()
    second.close()


def test_an_empty_store_tells_the_next_step_in_every_view(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    with serving(tmp_path, fill=False) as server:
        server.open(page)
        for path, words in (
            ("/", "Nothing is remembered yet"),
            ("/memories", "No memories yet"),
            ("/ask?q=anything", "Nothing is known about that"),
            ("/review", "Nothing to review"),
            ("/map", "recollect code index"),
            ("/sessions", "recollect install"),
            ("/sessions?tab=told", "Nothing was told yet"),
            ("/sessions?tab=talks", "recollect import"),
            ("/documents", "recollect docs index"),
        ):
            page.goto(server.url + path)
            settle(page)
            expect(page.locator("main .empty")).to_contain_text(words)
            assert page.locator(".halo.bad").count() == 0, path
        context.close()


def test_a_server_that_stops_and_starts_again_is_found_again(browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    with serving(tmp_path, fill=False) as server:
        server.memory.remember("The shop opens at eight.", kind="fact")
        server.open(page, "/memories")
        port = int(server.url.rsplit(":", 1)[1])
    expect(page.get_by_role("alert")).to_contain_text("The server is not responding", timeout=_LONG_MS)
    assert "The shop opens at eight." in page.locator(".row-text").first.inner_text()  # what was loaded stays
    with serving(tmp_path, port=port, fill=False) as server:
        server.memory.remember("The shop closes at six.", kind="fact")
        expect(page.locator(".row-text", has_text="closes at six")).to_be_visible(timeout=_LONG_MS)
        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.locator(".connection.live")).to_be_visible()
        context.close()


@pytest.mark.parametrize("harm", ["replaced", "removed"])
def test_a_store_that_goes_wrong_under_the_panel_is_told(browser: Browser, tmp_path: Path, harm: str) -> None:
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    with serving(tmp_path, fill=False) as server:
        server.memory.remember("The shop opens at eight.", kind="fact")
        server.open(page, "/memories")
        file = tmp_path / "project" / ".recollect" / "memory.db"
        file.rename(file.with_suffix(".away"))
        if harm == "replaced":
            file.write_bytes(b"")
        page.get_by_role("button", name="Teach").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Text", exact=True).fill("The shop is closed on Sundays.")
        dialog.get_by_role("button", name="Remember").click()
        expect(page.locator(".toast.bad, .banner.bad").first).to_be_visible(timeout=_LONG_MS)
        expect(dialog.get_by_label("Text", exact=True)).to_have_value(re.compile("Sundays"))  # nothing typed is lost
        context.close()
        file.with_suffix(".away").replace(file)  # so that closing finds what it opened


def test_a_server_that_takes_its_time_is_told_and_then_forgotten(page: Page, server: PanelServer) -> None:
    held: list[Route] = []
    page.route("**/v1/told*", lambda route: held.append(route))
    page.goto(f"{server.url}/sessions?tab=told")
    expect(page.locator(".connection.waiting")).to_have_text("Waiting…")
    for route in held:
        route.continue_()
    page.unroute("**/v1/told*")
    expect(page.locator(".connection.live")).to_be_visible()
    expect(page.locator("main")).to_contain_text("led nowhere")


def test_a_session_that_ended_leads_back_to_the_terminal(browser: Browser, server: PanelServer) -> None:
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    server.open(page, "/memories")
    context.clear_cookies()
    page.locator(".row-link").first.click()
    expect(page.get_by_role("heading", name="Open the panel from your terminal")).to_be_visible(timeout=_LONG_MS)
    server.open(page, "/memories")
    expect(page.locator(".row-link").first).to_be_visible()
    context.close()


def test_a_store_that_is_locked_is_waited_for_and_nothing_is_lost(page: Page, server: PanelServer) -> None:
    id = server.memory.remember("The back door sticks.", kind="fact").id
    page.goto(f"{server.url}/memories/{id}")
    with server.memory.store.engine.write():
        page.get_by_role("button", name="Pin", exact=True).click()
        expect(page.locator(".connection.waiting")).to_be_visible()
    expect(page.locator("article.memory .badge", has_text="Pinned")).to_be_visible(timeout=_LONG_MS)
    assert server.memory.get(id).pinned
