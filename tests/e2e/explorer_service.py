"""A real `foretime serve` and a real Chromium, for the tests of the page and for its screenshots."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = os.environ.get("FORETIME_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--password-store=basic",
    "--lang=en-GB",
]
SECONDS_TO_LOAD = 300
WAIT = 60_000
"""Milliseconds that anything may take to appear, on a busy machine."""
WATCH_JUMPS = """
window.moved = 0;
new PerformanceObserver((list) => { for (const one of list.getEntries()) window.moved += one.value; })
  .observe({type: "layout-shift", buffered: true});
"""


@contextmanager
def served(*runs: Path, **environment: str) -> Iterator[str]:
    """Serve runs in a process of its own for as long as the block lasts; gives its address."""
    command = [sys.executable, "-m", "foretime", "serve", *map(str, runs), "--port", "0", "--threads", "1"]
    own = {key: value for key, value in os.environ.items() if key != "FORETIME_TOKEN"} | environment
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=own)
    try:
        url = _address(process)
        _wait_until_ready(url)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium for as long as the block lasts."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS + QUIET)
        try:
            yield browser
        finally:
            browser.close()


class Explorer:
    """A tab of the browser that knows the service, and notes everything that a page should never do."""

    def __init__(self, page: Any, url: str, pictures: Path) -> None:
        self.page, self.url, self.pictures = page, url, pictures
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        page.set_default_timeout(WAIT)
        page.add_init_script(WATCH_JUMPS)
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._watch)

    def _listen(self, message: Any) -> None:
        # the browser reports a refused question too, which is no fault of the page
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def _watch(self, request: Any) -> None:
        if not request.url.startswith((self.url, "data:", "blob:")):
            self.elsewhere.append(request.url)

    def open(self, path: str, **parameters: str) -> Any:
        """Go to a view and wait until all of it is there."""
        self.page.goto(self.url + path + (f"?{urlencode(parameters)}" if parameters else ""))
        return self.settle()

    def settle(self) -> Any:
        """Wait until nothing on the page is being loaded, and what draws itself for its width has done so."""
        self.page.wait_for_selector("main h1, main .state")
        self.page.wait_for_selector("[aria-busy]", state="detached")
        # sizes are reported between one frame and the next
        self.page.evaluate("() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => go())))")
        return self.page

    def picture(self, name: str) -> None:
        """Keep a screenshot of the whole page."""
        self.page.screenshot(path=str(self.pictures / f"{name}.png"), full_page=True)

    def json(self, path: str, **parameters: str) -> Any:
        """Return what the API says under the path of a view."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        with urllib.request.urlopen(f"{self.url}/api/v1{path}{query}") as response:
            return json.load(response)

    def alter(self, path: str, change: Callable[[Any], Any]) -> None:
        """Let the page see something else under a path of the API, made from what the service says."""

        def answer(route: Any) -> None:
            response = route.fetch()
            route.fulfill(response=response, json=change(response.json()))

        self.page.route(f"**/api/v1{path}", answer)

    def alter_run(self, **changes: Any) -> None:
        """Let the page see a run with other values."""
        self.alter("/runs", lambda found: found | {"runs": [one | changes for one in found["runs"]]})

    def moved(self) -> float:
        """Return how far things have jumped since the page was opened, as browsers count it."""
        return float(self.page.evaluate("() => window.moved"))

    def twin(self) -> Any:
        """Return what the JSON link of the view leads to."""
        with urllib.request.urlopen(self.url + self.page.get_attribute(".view-head .json", "href")) as response:
            return json.load(response)

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(self.page.evaluate("() => document.documentElement.scrollWidth - innerWidth"))


def _address(process: subprocess.Popen[str]) -> str:
    """Return where the process listens; what it says later is read and dropped, so that it never waits for us."""
    said = []
    assert process.stdout is not None
    for line in process.stdout:
        if "listens on" in line:
            threading.Thread(target=lambda: list(process.stdout or ()), daemon=True).start()
            return line.split()[-1]
        said.append(line)
    raise RuntimeError("foretime serve has ended:\n" + "".join(said))


def _wait_until_ready(url: str) -> None:
    until = time.monotonic() + SECONDS_TO_LOAD
    while True:
        try:
            with urllib.request.urlopen(f"{url}/readyz") as response:
                if response.status == 200:
                    return
        except urllib.error.URLError as error:
            if time.monotonic() > until:
                raise RuntimeError(f"no run was loaded within {SECONDS_TO_LOAD} s") from error
        time.sleep(0.1)
