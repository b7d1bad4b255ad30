"""The web panel at 100,000 memories, in a real Chromium: cold load, list, filter, search and scrolling, from the hand
of the person to the frame that shows the answer; beside it, how long the server took for the same request.

    python benchmarks/panel.py [--memories 100000] [--n 60] [--folder DIR]
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from http_api import NOUNS, VERBS, fill, quantile
from playwright.sync_api import Browser, Page, sync_playwright

from recollect.interfaces.http.pictures import find_browser, serving

# Acts on the page and waits for the frame in which other rows are shown. One frame is 16.7 ms.
_MEASURE = """async ([act, value]) => {
  const seen = () => [...document.querySelectorAll('.row-text')].slice(0, 8).map((row) => row.textContent).join();
  const frame = () => new Promise(requestAnimationFrame);
  const facet = () => [...document.querySelectorAll('.facets label')].find((one) => one.textContent.startsWith(value));
  while (act === 'filter' && !facet()) await frame();
  const before = seen();
  performance.clearResourceTimings();
  const began = performance.now();
  if (act === 'search') {
    const field = document.querySelector('.search input');
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  } else if (act === 'order') {
    const field = document.querySelector('.order select');
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  } else {
    facet().click();
  }
  while (seen() === before || seen() === '') {
    if (performance.now() - began > 20000) throw new Error(`${act} ${value}: nothing changed`);
    await frame();
  }
  const all = performance.now() - began;
  const asked = performance.getEntriesByType('resource').filter((one) => /memories(\\/search)?\\?/.test(one.name));
  return [all, asked.at(-1)?.duration ?? 0];
}"""
# Scrolls as a wheel does, and counts the frames that came late.
_SCROLL = """async () => {
  const list = document.querySelector('.virtual');
  const frame = () => new Promise(requestAnimationFrame);
  const gaps = [];
  list.scrollTop = 0;
  let last = await frame();
  for (let step = 0; step < 240; step += 1) {
    list.scrollTop += 40;
    const now = await frame();
    gaps.push(now - last);
    last = now;
  }
  return gaps;
}"""
_JUMP = """async (share) => {
  const list = document.querySelector('.virtual');
  const began = performance.now();
  list.scrollTop = share * (list.scrollHeight - list.clientHeight);
  await new Promise(requestAnimationFrame);
  await new Promise(requestAnimationFrame);
  while (!document.querySelector('.row-text') || document.querySelector('.virtual .skeleton')) {
    if (performance.now() - began > 20000) throw new Error('no rows');
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - began;
}"""
_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_BYTES = """() => [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  .filter((one) => !one.name.includes('/v1/')).reduce((sum, one) => sum + one.transferSize, 0)"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the panel in a browser.")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--n", type=int, default=60)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp(prefix="recollect-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        os.environ[name] = str(folder / name.lower())
    fill(folder / "memory.db", args.memories)
    with serving(folder / "memory.db") as link, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        state = cold_loads(browser, link)
        context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", storage_state=state)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(re.sub(r"/#.*", "/memories", link))
        page.wait_for_selector(".row-text")
        page.wait_for_selector(".facets fieldset")
        measure(page, args.n)
        browser.close()
    if args.folder is None:
        shutil.rmtree(folder)


def cold_loads(browser: Browser, link: str) -> Any:
    """Five first visits without a cache; the first one logs in."""
    paints: list[float] = []
    sizes: list[float] = []
    state = None
    for _ in range(5):
        context = browser.new_context(locale="en-GB", storage_state=state)
        page = context.new_page()
        page.goto(link if state is None else re.sub(r"/#.*", "/", link))
        page.wait_for_selector("main .card")
        paints.append(page.evaluate(_PAINT))
        sizes.append(page.evaluate(_BYTES))
        state = state or context.storage_state()
        context.close()
    told("first contentful paint, cold", paints, "1,000")
    print(f"| bytes of a cold load | {len(sizes)} | {max(sizes):,.0f} | | | 300,000 |")
    return state


def measure(page: Page, n: int) -> None:
    chance = random.Random(5)
    filters = ["Gotcha", "Decision", "Preference", "Pattern"]
    taken = [page.evaluate(_MEASURE, ["filter", filters[(at // 2) % len(filters)]]) for at in range(n)]
    told_both("filter by kind, on and off", taken, "150")
    orders = ("oldest", "confidence", "newest")
    told_both("list in another order", [page.evaluate(_MEASURE, ["order", orders[at % 3]]) for at in range(n)], "150")
    gaps = page.evaluate(_SCROLL)
    late = sum(gap > 50 for gap in gaps)
    print(f"| scrolling 9,600 px in 240 steps: frames over 50 ms | {len(gaps)} | {late} | | | 0 |")
    jumps = [page.evaluate(_JUMP, chance.random()) for _ in range(max(5, n // 3))]
    told("jump anywhere in the list", jumps, "none")
    words = [f"{chance.choice(NOUNS)} {chance.choice(VERBS)} service {chance.randrange(997)}" for _ in range(n)]
    told_both("search", [page.evaluate(_MEASURE, ["search", one]) for one in words], "150")


def told(name: str, values: Sequence[float], goal: str, server: Sequence[float] = ()) -> None:
    p50, p95 = statistics.median(values), quantile(values, 0.95)
    asked = f"{statistics.median(server):,.0f} / {quantile(server, 0.95):,.0f}" if server else ""
    print(f"| {name} | {len(values)} | {p50:,.0f} | {p95:,.0f} | {asked} | {goal} |", flush=True)


def told_both(name: str, values: Sequence[Sequence[float]], goal: str) -> None:
    told(name, [all for all, _ in values], goal, [server for _, server in values])


if __name__ == "__main__":
    main()
