"""What holds for every view: readable to everyone, nothing from outside, nothing executed, nothing cut off."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

from panel_server import VIEWS, PanelServer, serving, settle
from recollect.interfaces.http.app import PANEL_FOLDER

AXE = Path(__file__).resolve().parents[2] / "panel" / "node_modules" / "axe-core" / "axe.min.js"
_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_COLOUR_RULES = ["color-contrast", "link-in-text-block"]
_MAX_BYTES = 300_000  # of a cold load, compressed
_MARK = "recollect_was_here"  # what a payload would set if it ran
_SHAPES = (
    "<script>window.{mark}=1</script>",
    "<img src=x onerror=window.{mark}=1>",
    "<svg/onload=window.{mark}=1>",
    "</textarea><script>window.{mark}=1</script>",
    '"><script>window.{mark}=1</script>',
    "' onmouseover='window.{mark}=1' x='",
    "javascript:window.{mark}=1//",
    "{{{{constructor.constructor('window.{mark}=1')()}}}}",
    "${{window.{mark}=1}}",
    "<iframe srcdoc='<script>parent.{mark}=1</script>'></iframe>",
    "<a href='javascript:window.{mark}=1'>click</a>",
    "<style>@import 'http://leak.example/{n}'</style>",
    "<link rel=stylesheet href=http://leak.example/{n}>",
    "<img src=http://leak.example/{n}>",
    "<object data=http://leak.example/{n}></object>",
    "<base href=http://leak.example/>",
    "<meta http-equiv=refresh content='0;url=http://leak.example/{n}'>",
    "[click](javascript:window.{mark}=1) ![x](http://leak.example/{n})",
    "<math><mi xlink:href='javascript:window.{mark}=1'>x</mi></math>",
    "&lt;script&gt;window.{mark}=1&lt;/script&gt;",
    "a\u202eb\u2066c\u200bd<script>window.{mark}=1</script>",
    "Z\u0351\u0352\u0353\u0354a\u0315\u0316lgo <b onclick=window.{mark}=1>x</b>",
    "long" + "w" * 900 + "<script>window.{mark}=1</script>",
)


def payloads(count: int) -> list[str]:
    """Hostile texts, each different from the others."""
    made = [shape.format(mark=_MARK, n=number) for number, shape in enumerate(_SHAPES)]
    return [f"{made[number % len(made)]} note {number:05d}" for number in range(count)]


def test_a_cold_load_is_small_and_comes_from_here() -> None:
    if not (PANEL_FOLDER / "index.html").is_file():
        pytest.skip("the panel is not built; `make panel` does it")
    files = [file for file in PANEL_FOLDER.rglob("*") if file.is_file()]
    assert 20_000 < sum(len(gzip.compress(file.read_bytes())) for file in files) <= _MAX_BYTES
    index = (PANEL_FOLDER / "index.html").read_text(encoding="utf-8")
    assert "<style" not in index
    assert "http" not in index.replace("http-equiv", "")


@pytest.mark.parametrize("language", ["en-GB", "fr-FR"])
def test_no_view_breaks_an_accessibility_rule(browser: Browser, server: PanelServer, language: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make panel` does it")
    context = browser.new_context(color_scheme="light", locale=language, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(20_000)
    server.open(page)
    found: list[str] = []
    for view in VIEWS:
        page.emulate_media(color_scheme="light")
        page.goto(server.address(view))
        settle(page)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found += broken_rules(page, view, {"type": "tag", "values": _RULES})
        if language.startswith("en"):  # the dark changes colours and nothing else, whatever the language
            page.emulate_media(color_scheme="dark")
            found += broken_rules(page, f"{view} in the dark", {"type": "rule", "values": _COLOUR_RULES})
    context.close()
    assert found == []


def broken_rules(page: Page, view: str, only: dict[str, Any]) -> list[str]:
    result = page.evaluate("only => axe.run({runOnly: only, resultTypes: ['violations']})", only)
    return [f"{view}: {one['id']}: {node['html'][:160]}" for one in result["violations"] for node in one["nodes"][:3]]


def test_nothing_is_wider_than_the_screen(page: Page, server: PanelServer) -> None:
    wide: list[str] = []
    for view in VIEWS:
        page.goto(server.address(view))
        settle(page)
        for width in (320, 375, 768, 1024, 1280, 1920, 2560):
            page.set_viewport_size({"width": width, "height": 800})
            if page.evaluate(
                "() => { const main = document.querySelector('main');"
                " return document.documentElement.scrollWidth > innerWidth || main.scrollWidth > main.clientWidth }"
            ):
                wide.append(f"{view} at {width}")
    assert wide == []


def fill_with(server: PanelServer, hostile: list[str]) -> None:
    """Hostile text as memory, tag, file, module, session, speaker, question and name of a document."""
    memory = server.memory
    for number, text in enumerate(hostile):
        memory.remember(
            text,
            kind=("fact", "gotcha", "dead_end", "decision")[number % 4],
            tags=[text[:60].strip() or "x"],
            files=[f"src/{text[:80].replace('/', '_')}.py"],
            modules=[text[:40].replace("/", "_")],
            source="agent_explicit" if number % 3 == 0 else "user_taught",
            citation=text[:100],
            why=text[:100],
        )
    for number, text in enumerate(hostile[:40]):
        memory.sessions.capture(text, session=f"{text[:30]}{number}", role="user")


def test_hostile_text_is_shown_and_never_runs(browser: Browser, tmp_path: Path) -> None:
    count = 5_000 if os.environ.get("RECOLLECT_SOAK") else 230
    with serving(tmp_path, fill=False) as server:
        fill_with(server, payloads(count))
        context = browser.new_context(viewport={"width": 1280, "height": 3_000}, reduced_motion="reduce")
        page = context.new_page()
        page.set_default_timeout(60_000)
        left: list[str] = []
        reports: list[str] = []

        def watch(route: Route) -> None:
            if not route.request.url.startswith(server.url):
                left.append(route.request.url)
            route.continue_()

        page.route("**/*", watch)
        page.on("console", lambda message: reports.append(message.text) if "Content Security" in message.text else None)
        page.on("pageerror", lambda error: reports.append(str(error)))
        page.on("dialog", lambda dialog: reports.append(dialog.message))
        server.open(page)
        shown = 0
        ids = [one.id for one in server.memory.list(limit=count)]
        page.goto(f"{server.url}/memories")
        settle(page)
        for at in range(0, count, 30):
            page.locator(".virtual").evaluate("(list, row) => { list.scrollTop = row * 82 }", at)
            page.wait_for_selector(f'[aria-posinset="{at + 1}"] .row-text')
            shown += page.locator(".row-text").count()
        assert page.evaluate(f"() => window.{_MARK}") is None
        for path in ("/", "/ask?q=script+window", "/memories?q=onerror", "/review", "/map", "/sessions?tab=talks",
                     "/sessions?tab=entities", "/documents", "/settings/values",
                     *(f"/memories/{id}" for id in ids[:: max(1, count // 12)]),
                     *(f"/review/{id}" for id in ids[:5])):  # fmt: skip
            page.goto(server.url + path)
            settle(page)
            assert page.evaluate(f"() => window.{_MARK}") is None, path
        assert (
            page.locator("main script, main iframe, main object, main img, main [onerror], main [onload]").count() == 0
        )
        context.close()
    assert shown >= min(count, 200)
    assert (left, reports) == ([], [])
