"""Recorded tables of a curve's point, a column at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from hopsim.metrics.series import Series
from hopsim.metrics.stats import Estimate, over_runs


def column_of(series: Series, stream: str, column: str) -> list[np.ndarray]:
    """A column of a recorded table at the first point, for each seed that has it; null is NaN."""
    return [table.column(column).to_numpy() for table in tables_of(series, stream)]


def tables_of(series: Series, stream: str) -> list[pa.Table]:
    """A recorded table at the first point, for each seed that has it."""
    return [result.tables[stream] for result in series.groups[0].results if stream in result.tables]


def first_table(series: Series, stream: str) -> pa.Table | None:
    """That of the first seed; None if it was not recorded."""
    return next(iter(tables_of(series, stream)), None)


def cycles(series: Series, stream: str) -> np.ndarray:
    """The column `cycle` of a stream; empty if it was not recorded."""
    columns = column_of(series, stream, "cycle")
    return columns[0] if columns else np.empty(0)


def is_recorded(series: Series, stream: str) -> bool:
    """Whether a stream has rows."""
    return any(table.num_rows for table in tables_of(series, stream))


def mean_of_rows(columns: Sequence[np.ndarray]) -> list[Estimate]:
    """Row by row, the mean of a column over seeds."""
    return [_mean(row) for row in zip(*columns, strict=True)]


def _mean(row: Sequence[float]) -> Estimate:
    present = [float(value) for value in row if not np.isnan(value)]
    return over_runs(present) if present else Estimate(None)
