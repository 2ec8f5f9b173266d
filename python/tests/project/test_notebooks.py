"""The notebooks: every cell runs, and gives what it gave when the notebook was saved."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbclient import NotebookClient

import hopsim
from conftest import ROOT

BOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PACKAGES = Path(hopsim.__file__).parents[1]
"""Where the package that is tested lies."""
EXPECTED = "expected: "
"""How the line of `hopsim check` begins that depends on the machine."""


def _read(path: Path) -> Any:
    return cast("Any", nbformat.read(path, as_version=4))


def _code(book: Any) -> list[Any]:
    return [cell for cell in book.cells if cell.cell_type == "code"]


def _printed(cell: Any) -> list[str]:
    texts = [output.text for output in cell.outputs if output.output_type == "stream"]
    return [line for line in "".join(texts).splitlines() if not line.startswith(EXPECTED)]


def _images(cell: Any) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell.outputs)


def _results(cell: Any) -> list[Any]:
    """What a notebook shows of the last value of a cell, where that is a text or a table."""
    shown = [output.data for output in cell.outputs if output.output_type == "execute_result"]
    return [data for data in shown if "<img" not in "".join(data.get("text/html", ""))]


def test_there_are_the_notebooks_that_the_readme_names() -> None:
    named = (ROOT / "README.md").read_text("utf-8")
    assert len(BOOKS) == 5
    assert all(f"notebooks/{path.name}" in named for path in BOOKS)


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_was_saved_with(path: Path, tmp_path: Path) -> None:
    saved, run = _read(path), _read(path)
    for cell in _code(run):
        cell.outputs = []
    # The kernel is a process of its own, which finds the packages as the tests do.
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "IPYTHONDIR": str(tmp_path)}
    client = NotebookClient(run, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment)
    for before, now in zip(_code(saved), _code(run), strict=True):
        assert _printed(now) == _printed(before), now.source
        assert _results(now) == _results(before), now.source
        assert _images(now) == _images(before), now.source
        assert (_images(now) > 0) == (".plot." in now.source), now.source
