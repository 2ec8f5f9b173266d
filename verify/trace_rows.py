"""What `hopsim trace` says of recorded programs against the table of those who recorded them.

Each row of `reference/applications/trace-rows.csv` must be said of its trace, digit by digit; the ideal time
is theirs by a replay of their own. Where a trace has come as Dimemas text too, a conversion must give the
same text, byte by byte.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

import hopsim
from hopsim import _core
from hopsim.files import program_file
from hopsim.files.program_file import Source
from hopsim.files.trace_info import TraceInfo
from verify.options import Options
from verify.rows import DIRECTORY

SHIPPED = Path(hopsim.__file__).parent / "experiments" / "traces"


def rows() -> list[Mapping[str, str]]:
    """The table."""
    with (DIRECTORY / "applications" / "trace-rows.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def find(name: str, folder: Path | None) -> Path | None:
    """The file of a trace."""
    places = [place / f"{name}.mpt.xz" for place in (folder, SHIPPED) if place is not None]
    return next((place for place in places if place.exists()), None)


def differences(row: Mapping[str, str], file: Path) -> list[str]:
    """What is said of a trace that its row does not say, and whether its Dimemas text is another one."""
    found = TraceInfo.of(Source(file)).row()
    wrong = [
        f"{column} is {value}, not {expected}"
        for (column, expected), value in zip(row.items(), found, strict=True)
        if value != expected
    ]
    other = file.with_name(f"{row['trace']}.dim.xz")
    if other.exists():
        text = _core.convert_program([program_file.contents(file)], ("dimemas", ""), [])
        wrong += [] if text == program_file.contents(other) else [f"{other.name} is another text"]
    return wrong


def check(options: Options) -> int:
    """Print how many traces are told as they should be, and each difference; how many fail."""
    verdicts: dict[str, Sequence[str]] = {}
    for row in rows():
        file = find(row["trace"], options.traces)
        if file is not None and options.selects(f"row of {row['trace']}"):
            verdicts[row["trace"]] = differences(row, file)
    failed = sum(1 for wrong in verdicts.values() if wrong)
    if verdicts:
        table = Table(title="Totals of traces", title_justify="left")
        for heading in ("traces", "told as they were recorded"):
            table.add_column(heading, justify="right")
        table.add_row(str(len(verdicts)), str(len(verdicts) - failed))
        options.console.print(table)
    for name, wrong in verdicts.items():
        for difference in wrong:
            options.console.print(f"FAILS: row of {name}: {difference}")
    return failed
