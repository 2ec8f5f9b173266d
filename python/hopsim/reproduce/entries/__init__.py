"""The registry: one row per entry."""

from hopsim.reproduce.entries import (
    thesis_figure_3_5,
    thesis_figure_3_9,
    thesis_figure_3_12,
    thesis_table_3_1,
    thesis_table_3_2,
    thesis_table_3_3,
)
from hopsim.reproduce.model import Entry

ENTRIES: tuple[Entry, ...] = (
    thesis_table_3_1.ENTRY,
    thesis_table_3_2.ENTRY,
    thesis_table_3_3.ENTRY,
    thesis_figure_3_5.ENTRY,
    thesis_figure_3_9.ENTRY,
    thesis_figure_3_12.ENTRY,
)
