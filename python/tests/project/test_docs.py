"""The documentation site: a page per mechanism, and links that lead somewhere."""

from __future__ import annotations

import html
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from conftest import ROOT
from hopsim.cli.explain import found_by_several_runs
from hopsim.kinds import is_list, is_table
from hopsim.plot import KINDS
from hopsim.vocabulary.catalogue import Catalogue
from hopsim.vocabulary.columns import FOUND, result_columns, streams
from hopsim_reproduce.entries import BY_NAME

# Made by other tools when the whole site is built.
ELSEWHERE = ("python/", "rust/")
CATALOGUE = Catalogue()


def _builder() -> ModuleType:
    specification = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


BUILDER = _builder()
FIGURES: dict[str, dict[str, str]] = BUILDER.figures()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    BUILDER.build(out)
    return out


def _names(document: object) -> Iterator[str]:
    """Every key and text in a document."""
    if isinstance(document, str):
        yield document
    elif is_list(document):
        for item in document:
            yield from _names(item)
    elif is_table(document):
        for key, value in document.items():
            yield key
            yield from _names(value)


def test_every_mechanism_has_a_page_with_its_text_and_parameters(site: Path) -> None:
    for kind in BUILDER.KINDS | BUILDER.KEYS:
        for node in BUILDER.nodes(CATALOGUE, kind):
            page = (site / "mechanisms" / f"{kind}-{node.name}.html").read_text("utf-8")
            assert f"<code>{node.path}</code>" in page
            assert all(f"<code>{row.name}</code>" in page for row in CATALOGUE.parameters(node))
            assert ("Must reproduce" in page) == (kind in FIGURES)


@pytest.mark.parametrize("kind", FIGURES)
def test_every_mechanism_has_a_figure_to_reproduce_or_a_reason_why_not(kind: str) -> None:
    assert FIGURES[kind].keys() == {node.name for node in BUILDER.nodes(CATALOGUE, kind)}
    for name, figure in FIGURES[kind].items():
        entry = BY_NAME.get(figure)
        if entry is None:
            assert figure.startswith("No entry: "), figure
            continue
        # Increasing VCs are the default, and no document names them.
        documents = [experiment.document for experiment in entry.experiments("full", 1)]
        assert name == "increasing" or name in set(_names(documents)), f"{figure} does not run {name}"


def test_the_page_of_columns_has_each_in_the_section_of_its_table(site: Path) -> None:
    page = (site / "results.html").read_text("utf-8")
    sections = dict(re.findall(r"<h2[^>]*>([^<]+)</h2>(.*?)(?=<h2|</main>)", page, re.DOTALL))
    assert sections.keys() == {"summary", *streams(), *FOUND}
    for column in (*result_columns(), *found_by_several_runs()):
        cells = f"<td><code>{column.name}</code></td>\n<td>{html.escape(column.unit, quote=False)}</td>"
        assert cells in sections[column.table], column


def test_every_kind_of_figure_is_told_how_to_be_read() -> None:
    text = (ROOT / "docs" / "reading-results.md").read_text("utf-8")
    section = text.split("## The figures")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(KINDS)


def test_every_link_of_the_site_leads_somewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        for target in re.findall(r'(?:href|src)="([^"#]+)', page.read_text("utf-8")):
            if "://" in target or target.removeprefix("../").startswith(ELSEWHERE):
                continue
            assert (page.parent / target).exists(), f"{page.name}: {target}"
