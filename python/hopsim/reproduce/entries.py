"""The registry: a family of tables or figures is a module with `entries()` and a row here."""

from __future__ import annotations

import re

from hopsim.reproduce.model import Entry
from hopsim.reproduce.thesis import (
    breakdown,
    contention,
    curves,
    flexvc_oblivious,
    flexvc_requests,
    per_router,
    sizes,
    tables,
    transients,
    vc_tables,
)

FAMILIES = (
    tables,
    curves,
    breakdown,
    per_router,
    sizes,
    contention,
    transients,
    flexvc_oblivious,
    flexvc_requests,
    vc_tables,
)


def _place(entry: Entry) -> tuple[list[int], str]:
    """By chapter and number."""
    return [int(digits) for digits in re.findall(r"\d+", entry.name)], entry.name


ENTRIES: tuple[Entry, ...] = tuple(
    sorted((entry for family in FAMILIES for entry in family.entries()), key=_place)
)
