"""Tables as CSV files.

A text that begins like a formula gets an apostrophe before it, so that a spreadsheet shows it and does not
work it out: names of jobs, routers and files come from whoever wrote the document.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from hopsim.files import atomic

_FORMULA = re.compile("^[=+@\t\r-]")
"""How texts begin that spreadsheets take for formulas."""


def write(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a line with the names of the columns and a line per row; makes the directory."""
    lines = io.StringIO(newline="")
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    atomic.make_folder(path.parent)
    atomic.write_text(path, lines.getvalue())


def write_table(file: BinaryIO, table: pa.Table) -> None:
    """Write an Arrow table into a file."""
    fields: list[Any] = list(table.schema)
    for number, field in enumerate(fields):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            cells: Any = table.column(number)
            column: Any = compute.replace_substring_regex(cells, _FORMULA.pattern, r"'\0")
            table = table.set_column(number, field, column)
    arrow_csv.write_csv(table, file)


def _plain(cell: object) -> object:
    return _FORMULA.sub(r"'\g<0>", cell) if isinstance(cell, str) and not _is_number(cell) else cell


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
