"""The documentation site, as it is built: links lead somewhere, and a browser needs its folder alone."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from docs import pages
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from verify.browser import browser, lacking, requests, wait_for

import hopsim as hs
from conftest import ROOT

pytest.importorskip("sphinx", reason="needs what the extra `docs` installs")

ELSEWHERE = "rust/"
"""Made by cargo when the whole site is built."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run([sys.executable, "-m", "docs.build", out], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


@pytest.fixture(scope="module")
def texts(site: Path) -> dict[Path, str]:
    return {page: page.read_text("utf-8") for page in site.rglob("*.html")}


def _targets(text: str) -> Iterator[str]:
    """What elements of a page link to or load."""
    for target in re.findall(r'\s(?:href|src)="([^"]*)"', text):
        yield unquote(html.unescape(target))


def test_every_link_of_the_site_leads_somewhere(site: Path, texts: dict[Path, str]) -> None:
    anchors = {page: {"", *re.findall(r'\sid="([^"]+)"', text)} for page, text in texts.items()}
    count = 0
    for page, text in texts.items():
        for target in _targets(text):
            file, _, anchor = target.partition("#")
            if "://" in file or file.startswith(("mailto:", "data:")):
                continue
            there = (page.parent / file.partition("?")[0]).resolve() if file else page
            if there.is_relative_to(site / ELSEWHERE):
                continue
            assert there.is_file(), f"{page.relative_to(site)}: {target}"
            assert anchor in anchors.get(there, {anchor}), f"{page.relative_to(site)}: {target}"
            count += 1
    assert count > 10_000


def test_pages_load_nothing_from_elsewhere(site: Path, texts: dict[Path, str]) -> None:
    for page, text in texts.items():
        loaded = re.findall(r"<(?:link|script|img|iframe|source)\b[^>]*", text)
        assert not [tag for tag in loaded if re.search(r'="(?:https?:)?//', tag)], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\(['\"]?(?:https?:)?//", sheet.read_text("utf-8")), sheet


def test_every_page_is_in_the_site_and_says_its_version(site: Path, texts: dict[Path, str]) -> None:
    for name, _ in pages.generated():
        assert site / f"{name}.html" in texts, name
    version = hs.__version__.partition("+")[0]
    for page, text in texts.items():
        assert f"hopsim {version}" in text, page


@pytest.mark.skipif(bool(lacking()), reason=lacking() or "a browser is there")
def test_search_and_themes_work_from_a_folder(site: Path) -> None:
    with browser() as driver:
        driver.get((site / "index.html").as_uri())
        _search(driver, "contention counters")
        # Results appear one by one.
        link = "#search-results a[href*='mechanisms/trigger-contention.html']"
        wait_for(driver, f'return document.querySelector("{link}") !== null')
        driver.get(str(driver.find_element(By.CSS_SELECTOR, link).get_attribute("href")))
        grounds = set[str]()
        for _ in range(3):
            grounds.add(str(driver.execute_script("return getComputedStyle(document.body).backgroundColor")))
            driver.execute_script("document.querySelector('.theme-toggle').click()")
        assert len(grounds) == 2
        assert not [entry for entry in driver.get_log("browser") if entry["level"] != "INFO"]
        assert [url for url in requests(driver) if not url.startswith(site.as_uri())] == []


def _search(driver: Chrome, words: str) -> None:
    field = driver.find_element(By.CSS_SELECTOR, "input.sidebar-search")
    field.send_keys(words)
    field.submit()
