"""Pictures of the panel: the real server on a store, and a Chromium of this machine that is driven through its
debugging pipe. Needs no package of its own, so an installed wheel can take them too."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Self

from recollect.core.errors import PictureFailed
from recollect.interfaces.http.app import PANEL_FOLDER

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SIZE = (1280, 800)
_WAIT_SECONDS = 60.0  # for a view to have loaded, on a machine with other things to do
_LOOK_SECONDS = 0.1  # between two looks at whether it has
_READ_FD, _WRITE_FD = 3, 4  # where Chromium expects the two ends of its pipe
_FREE_FD = 16  # beyond those, so that moving one end never closes the other
_IS_THERE = "!!document.querySelector('main > *:not(.skeleton)') && !document.querySelector('.skeleton')"


def why_not() -> str:
    """What is missing to take pictures; empty when nothing is."""
    if os.name != "posix":
        return "Pictures can only be taken on Linux and macOS."
    if find_browser() is None:
        return "There is no Chromium or Chrome to take pictures with."
    if not (PANEL_FOLDER / "index.html").is_file():
        return "The panel is not part of this installation: `make panel` builds it."
    return ""


def find_browser() -> str | None:
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def serving(store: Path, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """The real server on a store, and the address that opens its panel once."""
    words = ["serve", "--store", str(store), "--port", "0", "--as-person", "--no-tend", "--json"]
    command = [sys.executable, "-P", "-m", "recollect", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise PictureFailed("the server did not start")
        yield str(json.loads(line)["panel"])
    finally:
        process.terminate()
        process.wait(20)


def take(store: Path, out: Path, views: Mapping[str, str], env: Mapping[str, str] | None = None) -> list[Path]:
    """Start the server, take one picture of each view, stop it."""
    out.mkdir(parents=True, exist_ok=True)
    with serving(store, env) as link, Chromium() as browser:
        return photograph(browser, link, out, views)


def photograph(browser: Chromium, link: str, out: Path, views: Mapping[str, str]) -> list[Path]:
    """Log in with a link that works once, then take one picture of each view."""
    browser.open(link)
    root = re.sub(r"/#.*", "", link)
    made: list[Path] = []
    for name, path in views.items():
        browser.open(root + path)
        made.append(out / f"{name}.png")
        made[-1].write_bytes(browser.picture())
    return made


class Chromium:
    """A browser without a window, with one page. Its profile is new and goes with it."""

    def __init__(self) -> None:
        program = find_browser()
        if program is None:
            raise PictureFailed("there is no Chromium or Chrome")
        self._profile = tempfile.mkdtemp(prefix="recollect-browser-")
        reads, self._to = _pipe()
        self._from, writes = _pipe()
        words = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--lang=en-GB", "--remote-debugging-pipe", f"--user-data-dir={self._profile}",
            f"--window-size={_SIZE[0]},{_SIZE[1]}", "about:blank",
        ]  # fmt: skip
        moved = [(os.POSIX_SPAWN_DUP2, reads, _READ_FD), (os.POSIX_SPAWN_DUP2, writes, _WRITE_FD)]
        silent = [(os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0)]
        self._pid = os.posix_spawn(program, words, os.environ, file_actions=[*silent, *moved], setpgroup=0)
        os.close(reads)
        os.close(writes)
        self._answers: BinaryIO = os.fdopen(self._from, "rb")
        self._last = 0
        self._page = ""

    def __enter__(self) -> Self:
        width, height = _SIZE
        found = self._ask("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in found if one["type"] == "page")
        self._page = self._ask("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self._ask("Page.enable")
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        calm = [
            {"name": "prefers-color-scheme", "value": "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self._ask("Emulation.setEmulatedMedia", features=calm)
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._to)
        self._answers.close()
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, address: str) -> None:
        """Go to an address and wait until the view is there and nothing of it is loading."""
        self._ask("Page.navigate", url=address)
        ends = time.monotonic() + _WAIT_SECONDS
        while not self._is_true(_IS_THERE):
            if time.monotonic() > ends:
                raise PictureFailed(f"{address.partition('#')[0]} did not load")
            time.sleep(_LOOK_SECONDS)

    def picture(self) -> bytes:
        return base64.b64decode(self._ask("Page.captureScreenshot", format="png")["data"])

    def _is_true(self, expression: str) -> bool:
        found = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        return bool(found.get("result", {}).get("value"))

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the DevTools protocol and its answer; events in between are passed over."""
        self._last += 1
        told = {"id": self._last, "method": method, "params": params}
        if self._page:
            told["sessionId"] = self._page
        os.write(self._to, json.dumps(told).encode() + b"\0")
        while True:
            answer = json.loads(self._read())
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise PictureFailed(f"{method}: {answer['error'].get('message', '')}")
                return dict(answer["result"])

    def _read(self) -> bytes:
        """The next message, without the zero that ends it."""
        found = bytearray()
        while (one := self._answers.read(1)) != b"\0":
            if not one:
                raise PictureFailed("the browser ended")
            found += one
        return bytes(found)


def _pipe() -> tuple[int, int]:
    """A pipe whose ends are beyond those that Chromium expects, so that neither closes the other."""
    import fcntl  # not there on Windows, where no pictures are taken

    ends = os.pipe()
    moved = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _FREE_FD) for end in ends)
    for end in ends:
        os.close(end)
    return moved[0], moved[1]
