"""Each view's main journey, in a real browser against a real server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from panel_server import VIEWS, PanelServer, settle
from recollect import Filter


def test_every_view_opens_by_its_own_address(page: Page, server: PanelServer) -> None:
    for view in VIEWS:
        page.goto(server.address(view))
        settle(page)
        assert page.locator(".empty .halo.bad").count() == 0, view
        assert page.locator("main h1, main h2").count() > 0, view


def test_home_tells_health_and_what_needs_attention(page: Page) -> None:
    expect(page.get_by_role("img", name=re.compile(r"Health: \d+ of 100"))).to_be_visible()
    expect(page.get_by_text("memories need review")).to_be_visible()
    page.get_by_role("link", name="Review", exact=True).last.click()
    expect(page).to_have_url(re.compile("/review"))


def test_search_finds_as_one_types_and_facets_narrow(page: Page, server: PanelServer) -> None:
    page.keyboard.press("Control+Shift+KeyM")
    page.keyboard.type("rounds two digits")
    expect(page.locator(".row-text", has_text="The till rounds to two digits.").first).to_be_visible()
    expect(page.locator("mark").first).to_be_visible()
    page.goto(f"{server.url}/memories")
    page.locator(".facets").get_by_label("Dead end").check()
    expect(page.locator(".count")).to_have_text("One memory")
    assert "kind=dead_end" in page.url


def test_a_card_shows_where_a_memory_comes_from_and_how_it_fades(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/memories?kind=dead_end")
    page.locator(".row-link").first.click()
    card = page.locator("article.memory")
    expect(card).to_contain_text("led nowhere")
    expect(card.locator(".provenance").first).to_contain_text("Taught by you")
    expect(card.locator(".curve")).to_be_visible()
    expect(card.locator(".story")).to_contain_text("Added")


def test_what_is_done_to_a_memory_can_be_undone(page: Page, server: PanelServer) -> None:
    page.goto(server.address("card"))
    page.get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator("article.memory .badge", has_text="Pinned")).to_be_visible()
    assert server.memory.get(server.first).pinned
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator("article.memory .badge", has_text="Pinned")).to_have_count(0)
    assert not server.memory.get(server.first).pinned


def test_a_correction_takes_one_of_four_reasons(page: Page, server: PanelServer) -> None:
    old = server.memory.remember("The till closes at nine.", kind="fact").id
    page.goto(f"{server.url}/memories/{old}")
    page.get_by_role("button", name="Correct", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio")).to_have_count(4)
    dialog.get_by_role("textbox", name="Corrected text").fill("The till closes at ten.")
    dialog.get_by_role("button", name="Save correction").click()
    expect(page.locator(".toast")).to_contain_text("Corrected.")
    assert server.memory.get(old).status != "active"
    assert server.memory.recall("when does the till close", track=False).hits[0].memory.content.endswith("ten.")


@pytest.mark.parametrize("reason", ["Inaccurate", "Outdated", "Duplicate"])
def test_a_correction_can_be_undone_and_not_over_what_others_changed_since(
    page: Page, server: PanelServer, reason: str
) -> None:
    shelf = f"The shelf {reason[0]}"
    old = server.memory.remember(f"{shelf} is made of oak.", kind="fact").id
    server.memory.remember(f"Oak is what {shelf.lower()} was built from.", kind="fact")
    page.goto(f"{server.url}/memories/{old}")
    for is_changed in (False, True):
        page.get_by_role("button", name="Correct", exact=True).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("radio", name=re.compile(f"^{reason}")).check()
        if reason == "Inaccurate":
            dialog.get_by_role("textbox", name="Corrected text").fill(f"{shelf} is made of pine.")
        if reason == "Duplicate":
            dialog.get_by_role("radio", name=f"Oak is what {shelf.lower()}").check()
        dialog.get_by_role("button", name="Save correction").click()
        toast = page.locator(".toast", has_text="Corrected.").last
        expect(toast).to_be_visible()
        expect(page.locator("article.memory .badge", has_text="Active")).to_have_count(0)
        assert server.memory.get(old).status != "active"
        if is_changed:  # somebody else takes the correction back and goes on from there
            server.memory.undo(old)
            server.memory.edit(old, tags=["seen"])
        toast.get_by_role("button", name="Undo").click()
        if is_changed:
            expect(page.locator(".toast.bad")).to_contain_text("Not undone: the memory was changed again since.")
            assert (server.memory.get(old).tags, server.memory.get(old).status) == (("seen",), "active")
        else:
            expect(page.locator(".toast").last).to_contain_text("Undone.")
            expect(page.locator("article.memory .badge", has_text="Active")).to_be_visible()
            assert server.memory.get(old).status == "active"


def test_an_edit_is_previewed_and_never_overwrites_another(page: Page, server: PanelServer) -> None:
    id = server.memory.remember("The storeroom is in the cellar.", kind="fact").id
    page.goto(f"{server.url}/memories/{id}")
    page.locator(".actions").get_by_role("button", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text", exact=True).fill("The storeroom is in the attic.")
    expect(dialog.locator(".preview ins")).to_have_text("The storeroom is in the attic.")
    server.memory.edit(id, tags=["moved"])
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Somebody else changed this memory")
    assert server.memory.get(id).content == "The storeroom is in the cellar."


def test_forgetting_asks_first_and_then_removes(page: Page, server: PanelServer) -> None:
    id = server.memory.remember("The alarm code is written under the mat.", kind="fact").id
    page.goto(f"{server.url}/memories/{id}")
    page.locator(".actions").get_by_role("button", name="Forget").click()
    page.get_by_role("dialog").get_by_role("button", name="Forget for good").click()
    expect(page.locator(".toast")).to_contain_text("Forgotten.")
    assert server.memory.count() > 0
    with pytest.raises(Exception, match=id):
        server.memory.get(id)


def test_teaching_is_remembered_as_the_persons_word(page: Page, server: PanelServer) -> None:
    page.keyboard.press("n")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Text", exact=True).fill("Deliveries come on Tuesday mornings.")
    dialog.get_by_label("Kind").select_option("preference")
    dialog.get_by_role("button", name="Remember").click()
    expect(page.locator("article.memory")).to_contain_text("Deliveries come on Tuesday")
    found = server.memory.recall("when do deliveries come", track=False).hits[0].memory
    assert (found.source, found.kind) == ("user_taught", "preference")


def test_many_can_be_acted_on_at_once(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/memories?kind=pattern")
    settle(page)
    for box in page.locator(".row input").all()[:3]:
        box.check()
    bar = page.get_by_role("toolbar", name="Selected memories")
    bar.get_by_role("button", name="Pin").click()
    toast = page.locator(".toast", has_text="3 memories")
    expect(toast).to_be_visible()
    pinned = [one.id for one in server.memory.list(Filter(pinned=True)) if one.kind == "pattern"]
    assert len(pinned) == 3
    server.memory.edit(pinned[0], tags=["kept"])
    toast.get_by_role("button", name="Undo").click()
    expect(page.locator(".toast", has_text="Undone for 2 memories.")).to_be_visible()
    expect(page.locator(".toast.bad")).to_contain_text("One was changed again since")
    assert [server.memory.get(id).pinned for id in pinned] == [True, False, False]


def test_a_range_or_everything_is_selected_at_once(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/memories?kind=pattern")
    settle(page)
    boxes = page.locator(".row input")
    boxes.nth(1).click()
    boxes.nth(4).click(modifiers=["Shift"])
    bar = page.get_by_role("toolbar", name="Selected memories")
    expect(bar).to_contain_text("4 selected")
    bar.get_by_role("button", name="Select all").click()
    expect(bar).to_contain_text("60 selected")
    bar.get_by_role("button", name="Clear selection").click()
    expect(bar).to_have_count(0)


def test_an_answer_cites_what_it_stands_on(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/ask")
    page.get_by_role("searchbox", name=re.compile("Ask what is known")).fill("parsing prices regular expression")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_contain_text("led nowhere")
    expect(page.locator(".chip.bad").first).to_be_visible()


def test_the_queue_is_decided_by_keyboard_alone(page: Page, server: PanelServer) -> None:
    page.keyboard.press("g")
    page.keyboard.press("r")
    settle(page)
    before = server.memory.review.count()
    first = page.locator(".claim .memory-text").first.inner_text()
    page.keyboard.press("c")
    expect(page.locator(".claim .memory-text").first).not_to_have_text(first)
    assert server.memory.review.count() == before - 1
    page.keyboard.press("u")
    expect(page.locator(".queue-row")).to_have_count(before)
    page.keyboard.press("j")
    second = page.locator(".claim .memory-text").first.inner_text()
    page.keyboard.press("k")
    expect(page.locator(".claim .memory-text").first).not_to_have_text(second)
    page.keyboard.press("e")
    page.get_by_role("dialog").locator("textarea").press_sequentially(" Ask the owner first.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".toast").last).to_contain_text("Saved and confirmed.")
    expect(page.locator(".queue-row")).to_have_count(before - 1)
    page.keyboard.press("r")
    expect(page.locator(".queue-row")).to_have_count(before - 2)


def test_the_map_shows_modules_and_what_a_change_reaches(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/map")
    page.locator('[aria-label^="shop/:"]').click()
    expect(page.locator(".neighbourhood")).to_contain_text("Needed by")
    page.get_by_label("File or file:symbol").fill("shop/till.py")
    page.keyboard.press("Enter")
    expect(page.locator(".table-box")).to_contain_text("shop/order.py")
    assert page.locator(".rings .reached").count() >= 2


def test_a_session_tells_what_was_asked(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/sessions")
    page.get_by_role("link", name=re.compile("Make the till faster")).first.click()
    expect(page.locator(".timeline")).to_contain_text("Make the till faster")


def test_the_end_of_a_session_is_reviewed_where_it_is_told(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/sessions/s1")
    settle(page)
    told = page.locator("section.card", has=page.get_by_role("heading", name="What the agent was told"))
    expect(told.locator("li", has_text="led nowhere")).to_contain_text("Used: worked on shop/till.py")
    expect(told.locator("li", has_text="clean branch")).to_contain_text("No sign that it was used")
    learned = page.locator("section.card", has=page.get_by_role("heading", name="What was learned"))
    lesson = learned.locator("li", has_text="When `npm run lint` fails, run `npm run lint:fix`")
    lesson.get_by_role("button", name="Confirm").click()
    expect(lesson.locator(".badge", has_text="Active")).to_be_visible()
    expect(lesson.get_by_role("button")).to_have_count(0)
    assert server.memory.recall("npm run lint fails", track=False).hits[0].memory.verified
    page.goto(f"{server.url}/sessions?tab=told")
    expect(page.locator("main")).to_contain_text("Parsing prices with a regular expression led nowhere.")


def test_a_document_shows_its_place(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/documents")
    expect(page.locator(".docs-side")).to_contain_text("same text as docs/guide")
    page.get_by_role("link", name=re.compile("Release")).first.click()
    expect(page.locator(".docs-side")).to_contain_text("docs/release.md")


def test_the_level_of_trust_is_chosen_here(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/settings/trust")
    page.get_by_role("radio", name=re.compile("Standard")).check()
    expect(page.locator(".toast")).to_contain_text("Standard")
    assert server.memory.trust().level == "standard"


def test_data_is_downloaded_and_erased_only_after_a_look_and_a_typed_word(page: Page, server: PanelServer) -> None:
    kept = server.memory.remember("Zelda Quince prefers the east door.", kind="fact").id
    page.goto(f"{server.url}/settings/data")
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert "Zelda Quince" in download.value.path().read_text(encoding="utf-8")
    page.get_by_label("Name, alias or email address").fill("Zelda Quince")
    page.get_by_role("button", name="Show what would be erased").click()
    expect(page.locator(".erase-plan")).to_contain_text("Zelda Quince prefers the east door.")
    erase = page.get_by_role("button", name="Erase for good")
    expect(erase).to_be_disabled()
    assert server.memory.get(kept).content
    page.get_by_label("To erase for good, type: Zelda Quince").fill("Zelda Quince")
    erase.click()
    expect(page.locator("#main .badge", has_text="Erased")).to_be_visible()
    with pytest.raises(Exception, match=kept):
        server.memory.get(kept)


def test_a_level_of_trust_shows_what_it_would_have_told(page: Page, server: PanelServer) -> None:
    page.goto(f"{server.url}/settings/trust")
    settle(page)
    expect(page.locator(".would").first).to_contain_text("days")
