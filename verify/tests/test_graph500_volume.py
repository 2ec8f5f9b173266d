"""The second model of what a search of Graph500 sends, and the tables that it made."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from verify.graph500_volume import Search, row, shares
from verify.rows import DIRECTORY

TABLE = DIRECTORY / "applications" / "graph500-volume.csv"


def test_what_is_left_is_dealt_out_by_what_ranks_want() -> None:
    # Sums 3, 4, 4, 8 times 5 / 8: 1, 2, 2, 5.
    assert shares(np.array([3, 1, 0, 4]), 5).tolist() == [1, 1, 0, 3]


def test_the_table_is_what_the_model_makes() -> None:
    with TABLE.open(newline="") as text:
        written = list(csv.reader(text))[1]
    search = Search(17, 72, 20, "thesis")
    assert search.bound == 2**18 * 16 * 71 // 72
    # Random numbers of NumPy may differ from version to version.
    for made, stored in zip(row(search)[7:11], written[7:11], strict=True):
        assert float(made) == pytest.approx(float(stored), rel=0.1)


def test_the_tests_of_the_engine_read_the_same_table() -> None:
    root = Path(__file__).resolve().parents[2]
    data = root / "crates" / "hopsim-programs" / "tests" / "data" / TABLE.name
    assert data.read_bytes() == TABLE.read_bytes()
