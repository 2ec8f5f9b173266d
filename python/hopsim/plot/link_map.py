"""How much every link of a network carries, as a map that has the form of the network."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from hopsim.plot import link_forms, options
from hopsim.plot.canvas import Canvas
from hopsim.plot.link_forms import COLOURS, Links
from hopsim.plot.records import tables_of
from hopsim.plot.view import Shown, View, at_one_load, caption
from hopsim.results import Results
from hopsim.series import Series

TITLE = "utilisation of every link in the form of the network: groups, grid, levels, or routers and ports"
NEEDS = 'measure.streams = ["links"] and a network that is no InfiniBand fabric'
TAKES = options.AT_ONE_LOAD
STREAM = "links"
COLUMNS = ("router", "port", "peer_router")
UTILISATION = "Utilisation of a link [phits/cycle]"
PER_FILE = 4
"""Curves of a file."""
TITLE_WIDTH = 60
"""Letters of a line above a panel."""


def draw(results: Results, view: View, canvas: Canvas) -> dict[str, Figure]:
    """The panels of each curve beside one another, curve below curve; mean over seeds."""
    everything = at_one_load(results, view, _is_recorded, "table of links with routers", per_file=PER_FILE)
    return {f"link_map{shown.suffix}": _figure(shown, canvas) for shown in everything}


def _is_recorded(series: Series) -> bool:
    return any("router" in table.column_names for table in tables_of(series, STREAM))


def _figure(shown: Shown, canvas: Canvas) -> Figure:
    panels = [(series.label, form) for series in shown.curves for form in _forms(series)]
    norm = Normalize(0, max(_busiest(form) for _, form in panels) or 1.0)
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    width, height = np.max([form.size for _, form in panels], axis=0)
    size = (width * columns + 0.8, height * rows + 0.4)
    figure, grid = canvas.grid(rows, columns, size, count=len(panels))
    for axes, (label, form) in zip(grid, panels, strict=True):
        form.draw(axes, norm)
        axes.set_title(textwrap.fill(caption(label, form.title), TITLE_WIDTH), fontsize="medium")
    figure.colorbar(ScalarMappable(norm, COLOURS), ax=grid, label=UTILISATION, shrink=min(1, 1.6 / rows))
    has_grid = any(isinstance(form, link_forms.Grid) for _, form in panels)
    hint = "the half of a line at a router: the link that leaves it" if has_grid else ""
    canvas.finish(figure, [], replace(shown, title=caption("Utilisation of links", shown.title, hint)))
    return figure


def _busiest(form: link_forms.Form) -> float:
    values = form.cells if isinstance(form, link_forms.Matrix) else form.used
    return float(np.nanmax(values, initial=0.0))


def _forms(series: Series) -> list[link_forms.Form]:
    """The panels of a curve."""
    topology = series.groups[0].results[0].config["topology"]
    links = links_of(series)
    return link_forms.forms(topology, links, int(links.router.max()) + 1)


def links_of(series: Series) -> Links:
    """Its links with all VCs together, mean over seeds."""
    tables = [table for table in tables_of(series, STREAM) if "router" in table.column_names]
    columns = [np.stack([table.column(name).to_numpy() for name in COLUMNS]).astype(int) for table in tables]
    ids, first, number = np.unique(columns[0][:2], axis=1, return_index=True, return_inverse=True)
    used = np.mean([np.bincount(number, table.column("utilisation").to_numpy()) for table in tables], axis=0)
    return Links(ids[0], ids[1], columns[0][2][first], used)
