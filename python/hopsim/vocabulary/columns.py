"""What every column of the results means, as the simulator tells it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from hopsim import _core

SUMMARY = "summary"
FOUND = {"saturation": "saturate", "interference": "interference"}
"""Tables of what several runs together show -> the command that runs them."""

TEXTS = frozenset(
    {"job", "name", "verdict", "stop", "warmup_found", "port_class", "peer", "from", "to", "role", "activity"}
)
"""Names of the columns that hold texts, in all tables; the others hold numbers."""


@dataclass(frozen=True)
class ResultColumn:
    """A column of the results.

    Attributes:
        table: `summary`, one of `FOUND`, or the name of a table that a run records.
        name: its name there.
        unit: its unit; empty for names, numbers of things and ratios.
        meaning: what it says.
    """

    table: str
    name: str
    unit: str
    meaning: str

    @property
    def place(self) -> str:
        """Where it is found in a results directory, in a JSON line and in Python."""
        if self.table == SUMMARY:
            return (
                'summary.parquet, "result" of a JSON line, result.summary; '
                "of each of several jobs jobs.parquet, result.jobs"
            )
        if self.table in FOUND:
            return (
                f"{self.table}.csv and {self.table}.parquet of `hopsim {FOUND[self.table]}`, result.summary"
            )
        return f"streams/{self.table}.parquet, result.{self.table}"


@cache
def result_columns() -> tuple[ResultColumn, ...]:
    """All of them, the summary first, then table by table in their order."""
    return tuple(ResultColumn(**fields) for fields in json.loads(_core.columns()))


@cache
def streams() -> tuple[str, ...]:
    """Names of the tables that a simulation can record, in the order of their columns."""
    return tuple(dict.fromkeys(column.table for column in result_columns() if column.table != SUMMARY))


def find(name: str, known: Sequence[ResultColumn] | None = None) -> list[ResultColumn]:
    """Columns called `name` or `<table>.<name>`, or those of the table `name`; in any case.

    They are among those known, or the simulator's own.
    """
    wanted = name.strip().lower()

    def called(column: ResultColumn) -> bool:
        whole = column.table == wanted and wanted != SUMMARY
        return whole or wanted in (column.name, f"{column.table}.{column.name}")

    return [column for column in known or result_columns() if called(column)]
