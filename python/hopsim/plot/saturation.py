"""Where configurations saturate, and what they accept beyond: what `hopsim saturate` has found."""

from __future__ import annotations

from matplotlib.figure import Figure

from hopsim.plot import style
from hopsim.plot.canvas import Canvas
from hopsim.plot.view import View, figures
from hopsim.results import Results

KEYS = {
    "saturation_load": "sources keep up to this offered load",
    "accepted_load_max": "greatest accepted load",
    "accepted_load_full": "accepted at an offer of {:g}",
}
"""Metric -> what the legend says, with the greatest load tried."""


def draw(results: Results) -> dict[str, Figure]:
    """Bars for each configuration, with the interval over its seeds."""
    view = View()
    canvas = Canvas(view)
    drawn: dict[str, Figure] = {}
    highest = results[0].summary["load_full"]
    thick, offsets = style.side_by_side(len(KEYS))
    for shown in figures(results, view):
        bars = [(series.label, group) for series in shown.curves for group in series.groups]
        figure, axes = canvas.rows([label or "all runs" for label, _ in bars])
        for index, (key, name) in enumerate(KEYS.items()):
            values = [group.estimate(key) for _, group in bars]
            axes.barh(
                [place + offsets[index] for place in range(len(bars))],
                [value.mean or 0.0 for value in values],
                thick,
                xerr=style.half_widths(values),
                error_kw=style.ERROR,
                color=style.look(index)["color"],
                label=name.format(highest),
            )
        axes.set_xlim(left=0)
        axes.set_xlabel("Load [phits/(node·cycle)]")
        canvas.finish(figure, [axes], shown)
        drawn[f"saturation{shown.suffix}"] = figure
    return drawn
