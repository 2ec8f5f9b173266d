"""What was run, how far it got, and the main metrics of all points."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from hopsim import _core
from hopsim.document.estimate import nodes_cut_off
from hopsim.metrics import stopping
from hopsim.metrics.series import SEED, axis_names
from hopsim.metrics.summary_table import summary_table
from hopsim.plot import KINDS

if TYPE_CHECKING:
    from hopsim.results.result import Results

OF_NETWORK = ("links", "link_series")
DRAWN = ("operations", "congestion_trees")
"""Streams that sections of the report show; the former where the network is drawn."""
MOST_LISTED = 20
"""Numbers of points that a sentence names."""


@dataclass(frozen=True)
class Cells:
    """A table: headings, whether each column is of numbers, and rows of texts."""

    headings: list[str]
    numeric: list[bool]
    rows: list[list[str]]
    caption: str = ""


def points_table(results: Results) -> Cells:
    """The table that `hopsim run` shows on the terminal."""
    return _cells(summary_table(results))


def facts(results: Results) -> list[tuple[str, str]]:
    """What was run, as names and texts."""
    config = results[0].config
    origin = results.origin
    seeds = sorted({result.summary["seed"] for result in results})
    axes = axis_names(results, [path for path in results.axes if path != SEED])
    found = [
        ("Network", _networks(results)),
        ("Parts", _parts(results)),
        ("Points", _finished(results)),
        ("Varied", ", ".join(axes) or "nothing"),
        ("Seeds", ", ".join(map(str, seeds))),
        ("Measured", _window(config["measure"])),
        ("hopsim", origin.version if origin else _core.version()),
    ]
    if origin:
        found += [
            ("Directory", str(origin.root)),
            ("Written", origin.written),
            ("Run time", f"{origin.wall_time_s:,.1f} s"),
            ("Ran on", origin.platform),
        ]
    return [(name, text) for name, text in found if text]


def lacking(results: Results, warnings: list[str]) -> list[str]:
    """What of the run is not in the results, in sentences."""
    origin = results.origin
    if origin is None:
        return warnings
    found = list(warnings)
    open_points = [point for point in origin.unfinished if point not in origin.failures]
    if open_points:
        found.append(
            f"The run is not complete: {len(results)} of {origin.total} points are here; the command that "
            f"has begun it goes on with it. Missing: {_listed(open_points)}."
        )
    found += [f"Point {point} failed: {text}" for point, text in sorted(origin.failures.items())]
    return found


def not_shown(results: Results, *, has_network: bool) -> str:
    """Which recorded streams no section shows, where they are and what draws them; empty without any."""
    shown = DRAWN + OF_NETWORK if has_network else DRAWN
    names = [name for name in results.recorded if name not in shown]
    if not names:
        return ""
    kinds = {name: [kind.name for kind in KINDS.values() if kind.stream == name] for name in names}
    listed = [f"{name} ({' and '.join(kinds[name])})" if kinds[name] else name for name in names]
    drawn = "; in brackets the kinds of figures of hopsim plot that draw them" if any(kinds.values()) else ""
    where = f"They are in streams/ of the results directory{drawn}."
    return f"Recorded and not shown here: {', '.join(listed)}. {where}"


def document_of(results: Results) -> tuple[str, str, str]:
    """The document, a name for its file and the command that runs it.

    Results that were not read from a directory have no document; then it is the configuration of their first
    point.
    """
    origin = results.origin
    if origin is not None:
        return origin.document, origin.file_name, origin.command
    return json.dumps(results[0].config, indent=2), "configuration.json", ""


def _networks(results: Results) -> str:
    """The topologies with their parameters, each once."""
    texts = dict.fromkeys(_network(result.config["topology"]) for result in results)
    shown = list(texts)[:4]
    more = f" and {len(texts) - len(shown)} more" if len(texts) > len(shown) else ""
    return "; ".join(shown) + more


def _parts(results: Results) -> str:
    """Which nodes cannot reach the others, and when, each once."""
    found = (nodes_cut_off(json.dumps(result.config)) for result in results)
    return "; ".join(dict.fromkeys(sentence for sentences in found for sentence in sentences))


def _network(topology: dict[str, Any]) -> str:
    ((name, parameters),) = topology.items()
    given = {
        key: value for key, value in parameters.items() if isinstance(value, int | str) or key == "sides"
    }
    listed = ", ".join(f"{key} = {value}" for key, value in given.items())
    return f"{name.replace('_', ' ')}" + (f" ({listed})" if listed else "")


def _finished(results: Results) -> str:
    if results.origin is None or len(results) == results.origin.total:
        return f"{len(results)}, all finished" if results.origin else str(len(results))
    return f"{len(results)} of {results.origin.total} finished"


def _window(measure: dict[str, Any]) -> str:
    """Warm-up and window, as the document has them."""
    if "time" in measure:
        return ", ".join(f"{key} {value}" for key, value in measure["time"].items() if isinstance(value, str))
    if "cycles" in measure:
        return stopping.window_text(measure)
    return "until the programs end"


def _listed(numbers: list[int]) -> str:
    more = f" and {len(numbers) - MOST_LISTED} more" if len(numbers) > MOST_LISTED else ""
    return f"point {', '.join(map(str, numbers[:MOST_LISTED]))}{more}"


def _cells(table: Table) -> Cells:
    columns = [[_plain(cell) for cell in column.cells] for column in table.columns]
    return Cells(
        headings=[_plain(column.header) for column in table.columns],
        numeric=[column.justify == "right" for column in table.columns],
        rows=[list(row) for row in zip(*columns, strict=True)],
        caption=_plain(table.caption),
    )


def _plain(cell: Any) -> str:
    """The text of a cell without its markup."""
    return cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain
