"""How axes of figures name columns of the results and keys of the document, with their units."""

from __future__ import annotations

import math
import re
from functools import cache

from hopsim.vocabulary import columns
from hopsim.vocabulary.catalogue import Catalogue, unit_and_range


def with_unit(name: str, unit: str) -> str:
    """What an axis of a figure says; the end of a path stays as it is."""
    shown = name if "." in name else f"{name[0].upper()}{name[1:]}"
    return f"{shown} [{unit}]" if unit else shown


def words(column: str) -> str:
    """The name of a column of the summary in words, without its unit: `packet latency p99`."""
    return re.sub(r"_(ns|gbps|s)$", "", column).replace("_", " ")


def unit_of_column(name: str) -> str:
    """The unit of a column of the summary; empty for ratios and numbers of things."""
    return next((each.unit for each in columns.find(f"{columns.SUMMARY}.{name}")), "")


ANYTHING = (-math.inf, math.inf)
"""The values of a column that may have any."""


def range_of_column(name: str) -> tuple[float, float]:
    """The least and the greatest value that a column of the summary can have, as far as its name tells."""
    is_share = name.endswith("_fraction") or name == "jain_index"
    return (0.0, 1.0) if is_share else ANYTHING


def unit_of_key(path: str) -> str:
    """The unit of a key of the document, or of the table that it stands in; empty if there is none."""
    plain = re.sub(r"\.\d+(?=\.|$)", "", path)
    nodes = [_catalogue().nodes.get(each) for each in (plain, plain.rpartition(".")[0])]
    return next((unit for node in nodes if node and (unit := _unit(node.doc))), "")


def abbreviation_of(path: str) -> str:
    """What papers call a choice of the document; empty if they have no short name for it."""
    node = _catalogue().nodes.get(path)
    return node.abbreviation if node else ""


def _unit(doc: str) -> str:
    """The unit that a text gives in brackets; a bound alone, as `at least 2` or `> 0`, is none."""
    unit = unit_and_range(doc)[1].partition(",")[0]
    return "" if re.match(r"at least|>|\d+$", unit) else unit


@cache
def _catalogue() -> Catalogue:
    return Catalogue()
