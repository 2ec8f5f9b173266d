"""The pages of the documentation that are written from what hopsim knows: what they must say."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from docs import example_figures, pages

from conftest import ROOT
from hopsim.cli.explain import found_by_several_runs
from hopsim.kinds import is_list, is_table
from hopsim.plot import KINDS
from hopsim.vocabulary.catalogue import Catalogue
from hopsim.vocabulary.columns import FOUND, result_columns, streams
from hopsim_reproduce.entries import BY_NAME

CATALOGUE = Catalogue()
PAGES = dict(pages.generated())
FIGURES = pages.figures()
EXAMPLES = [path.stem for path in sorted((ROOT / "experiments").glob("*.toml"))]
MOST_OF_A_FIGURE = 60_000
MOST_OF_ALL_FIGURES = 2_000_000
"""Bytes, so that pictures do not make the repository large."""


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


def test_every_mechanism_has_a_page_with_its_text_and_parameters() -> None:
    for kind in pages.KINDS | pages.KEYS:
        for node in pages.nodes(CATALOGUE, kind):
            page = PAGES[f"mechanisms/{kind}-{node.name}"]
            assert f"`{node.path}`" in page
            assert node.paragraphs[0] in page
            assert all(f"| `{row.name}` |" in page for row in CATALOGUE.parameters(node))
            assert ("## Must reproduce" in page) == (kind in FIGURES)
            assert f"[{node.name}]({kind}-{node.name}.md)" in PAGES[f"mechanisms/{kind}"]


def test_a_mechanism_has_what_is_published_beside_what_was_found() -> None:
    lines = PAGES["mechanisms/trigger-contention"].splitlines()
    held = pages.card()["thesis-figure-4.5"].held("published")
    assert f"- of what the publication says: **{held}** held" in lines
    assert any(line.startswith("`hopsim reproduce thesis-figure-4.5` (") for line in lines)
    section = (
        (ROOT / "docs/papers/thesis.md").read_text("utf-8").split("hopsim reproduce thesis-figure-4.5")[1]
    )
    rows = [row for row in section.split("###")[0].splitlines() if row.startswith("| ")]
    assert len(rows) > 2
    assert set(rows) <= set(lines)


@pytest.mark.parametrize("kind", FIGURES)
def test_every_mechanism_has_a_figure_to_reproduce_or_a_reason_why_not(kind: str) -> None:
    assert FIGURES[kind].keys() == {node.name for node in pages.nodes(CATALOGUE, kind)}
    for name, figure in FIGURES[kind].items():
        entry = BY_NAME.get(figure)
        if entry is None:
            assert figure.startswith("No entry: "), figure
            continue
        # Increasing VCs are the default, and no document names them.
        documents = [experiment.document for experiment in entry.experiments("full", 1)]
        assert name == "increasing" or name in set(_names(documents)), f"{figure} does not run {name}"


def test_the_page_of_columns_has_each_in_the_section_of_its_table() -> None:
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", PAGES["results"], re.DOTALL | re.MULTILINE))
    assert sections.keys() == {"summary", *streams(), *FOUND}
    for column in (*result_columns(), *found_by_several_runs()):
        assert f"| `{column.name}` | {column.unit} |" in sections[column.table], column


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_a_page_with_its_words_its_document_and_its_figure(name: str) -> None:
    page = PAGES[f"experiments/{name}"]
    text = (ROOT / "experiments" / f"{name}.toml").read_text("utf-8")
    comment, _, document = text.partition("\n\n")
    assert [word for word in comment.replace("#", "").split() if word not in page] == []
    assert f"```toml\n{document.strip()}\n```" in page
    assert f"](../docs/images/examples/{name}.png)" in page
    assert f"{name}.md" in PAGES["experiments/index"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_figure_of_an_example_is_of_its_present_document(name: str) -> None:
    again = f"python -m docs.example_figures DIR {name} draws it"
    assert (example_figures.FIGURES / f"{name}.png").stat().st_size < MOST_OF_A_FIGURE, again
    assert example_figures.drawn().get(name) == example_figures.digest(name), again


def test_there_are_no_figures_of_other_examples_and_all_are_small() -> None:
    figures = list(example_figures.FIGURES.glob("*.png"))
    assert sorted(path.stem for path in figures) == EXAMPLES == sorted(example_figures.drawn())
    assert sum(path.stat().st_size for path in figures) < MOST_OF_ALL_FIGURES


def test_every_kind_of_figure_is_told_how_to_be_read() -> None:
    text = (ROOT / "docs" / "reading-results.md").read_text("utf-8")
    section = text.split("## The figures")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == sorted(KINDS)
