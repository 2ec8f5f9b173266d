"""The documentation site: a page per mechanism, and links that lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from conftest import ROOT
from hopsim.catalogue import KINDS, Catalogue

# Made by other tools when the whole site is built.
ELSEWHERE = ("python/", "rust/")


def _builder() -> ModuleType:
    specification = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    _builder().build(out)
    return out


def test_every_mechanism_has_a_page_with_its_text_and_parameters(site: Path) -> None:
    catalogue = Catalogue()
    for kind, path in KINDS.items():
        for node in catalogue.choices(path):
            page = (site / "mechanisms" / f"{kind}-{node.name}.html").read_text("utf-8")
            assert f"<code>{node.path}</code>" in page
            assert all(f"<code>{row.name}</code>" in page for row in catalogue.parameters(node))


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#]+)', page.read_text("utf-8")):
            if "://" in target or target.removeprefix("../").startswith(ELSEWHERE):
                continue
            assert (page.parent / target).exists(), f"{page.name}: {target}"
