"""How much every link of a network carries, as a map that has the form of the network."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from hopsim.metrics.series import Series
from hopsim.metrics.tables import peers
from hopsim.plot import link_forms, options
from hopsim.plot.canvas import Canvas
from hopsim.plot.link_forms import COLOURS, Links
from hopsim.plot.records import tables_of
from hopsim.plot.view import Shown, View, at_one_load, caption

if TYPE_CHECKING:
    from hopsim.results.result import Results

TITLE = "utilisation of every link in the form of the network: groups, grid, levels, or routers and ports"
NEEDS = 'measure.streams = ["links"] and a network that is no fabric'
TAKES = options.AT_ONE_LOAD
STREAM = "links"
UTILISATION = "Utilisation of a link [phits/cycle]"
PER_FILE = 4
"""Curves of a file."""
TITLE_WIDTH = 60
"""Letters of a line above a panel."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """The panels of each curve beside one another, curve below curve; mean over seeds.

    Curves of the same network share a scale of colours; those of another network have their own.
    """
    everything = at_one_load(results, view, _is_recorded, "table of links with routers", per_file=PER_FILE)
    return {f"link_map{shown.suffix}": _figure(shown, canvas) for shown in everything}


def _is_recorded(series: Series) -> bool:
    return any("router" in table.column_names for table in tables_of(series, STREAM))


def _figure(shown: Shown, canvas: Canvas) -> Figure:
    panels = [(series, form) for series in shown.curves for form in _forms(series)]
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    width, height = np.max([form.size for _, form in panels], axis=0)
    size = (width * columns + 0.8, height * rows + 0.4)
    figure, grid = canvas.grid(rows, columns, size, count=len(panels))
    networks = [json.dumps(_topology(series), sort_keys=True) for series, _ in panels]
    for network in dict.fromkeys(networks):
        own = [number for number, name in enumerate(networks) if name == network]
        norm = Normalize(0, max(_busiest(panels[number][1]) for number in own) or 1.0)
        for number in own:
            panels[number][1].draw(grid[number], norm)
        room = [grid[number] for number in own]
        shrink = min(1, 1.6 / -(-len(own) // columns))
        figure.colorbar(ScalarMappable(norm, COLOURS), ax=room, label=UTILISATION, shrink=shrink)
    for axes, (series, form) in zip(grid, panels, strict=True):
        axes.set_title(textwrap.fill(caption(series.label, form.title), TITLE_WIDTH), fontsize="medium")
    has_grid = any(isinstance(form, link_forms.Grid) for _, form in panels)
    hint = "the half of a line at a router: the link that leaves it" if has_grid else ""
    apart = "each network with a scale of its own" if len(set(networks)) > 1 else ""
    canvas.finish(figure, [], replace(shown, title=caption("Utilisation of links", shown.title, hint, apart)))
    return figure


def _busiest(form: link_forms.Form) -> float:
    values = form.cells if isinstance(form, link_forms.Matrix) else form.used
    return float(np.nanmax(values, initial=0.0))


def _forms(series: Series) -> list[link_forms.Form]:
    """The panels of a curve."""
    links = links_of(series)
    return link_forms.forms(_topology(series), links, int(links.router.max()) + 1)


def _topology(series: Series) -> Mapping[str, Any]:
    """The section of the resolved document."""
    return series.groups[0].results[0].config["topology"]


def links_of(series: Series) -> Links:
    """Its links with all VCs together, mean over seeds."""
    tables = [table for table in tables_of(series, STREAM) if "router" in table.column_names]
    columns = [
        np.stack([table.column("router").to_numpy(), table.column("port").to_numpy(), peers(table)])
        for table in tables
    ]
    ids, first, number = np.unique(columns[0][:2], axis=1, return_index=True, return_inverse=True)
    used = np.mean([np.bincount(number, table.column("utilisation").to_numpy()) for table in tables], axis=0)
    return Links(ids[0], ids[1], columns[0][2][first], used)
