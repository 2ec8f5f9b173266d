"""A headless browser that opens a report, and what it complains of."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
DRIVER = "chromedriver"
LONGEST_S = 60
"""How long a page may take until everything is drawn [s]."""


def lacking() -> str:
    """What is not installed that a browser needs; empty if all is there."""
    if not any(map(shutil.which, BROWSERS)):
        return f"no browser: {' or '.join(BROWSERS)}"
    return "" if shutil.which(DRIVER) else f"no {DRIVER}"


@contextmanager
def browser(*, dark: bool = False) -> Generator[Chrome]:
    """A browser with a window of 1280 x 900 pixels, for people who like it dark or not."""
    options = ChromeOptions()
    options.binary_location = next(path for path in map(shutil.which, BROWSERS) if path)
    for argument in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "window-size=1280,900"):
        options.add_argument(f"--{argument}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which(DRIVER)))
    wishes = {"prefers-color-scheme": "dark" if dark else "light", "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wishes.items()]
    try:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        yield driver
    finally:
        driver.quit()


def show(driver: Chrome, path: Path) -> float:
    """Open a report and wait until everything is drawn; returns how long that took [s]."""
    begin = time.monotonic()
    driver.get(path.resolve().as_uri())
    wait_for(driver, "return document.body.dataset.ready !== undefined || !byId('trouble').hidden")
    return time.monotonic() - begin


def wait_for(driver: Chrome, script: str) -> None:
    """Wait until a script returns something true. Raises `TimeoutError`."""
    end = time.monotonic() + LONGEST_S
    while not driver.execute_script(script):
        if time.monotonic() > end:
            raise TimeoutError(script)
        time.sleep(0.02)


def complaints(driver: Chrome) -> list[str]:
    """What the console says since the last time, what the page says of trouble, and what it has asked for."""
    found = [entry["message"] for entry in driver.get_log("browser")]
    trouble = driver.execute_script("return byId('trouble').textContent")
    return [*found, *([trouble] if trouble else []), *requests(driver)]


def requests(driver: Chrome) -> list[str]:
    """The addresses that pages have asked for."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent: list[dict[str, Any]] = [
        event["params"] for event in events if event["method"] == "Network.requestWillBeSent"
    ]
    # The pages themselves are documents; what is in them has no address elsewhere.
    urls = [each["request"]["url"] for each in sent if each.get("type") != "Document"]
    return [url[:200] for url in urls if not url.startswith(("data:", "blob:"))]
