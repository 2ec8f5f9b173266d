"""The page: template, styles, scripts and data put together."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from matplotlib.colors import to_hex

from hopsim import _core
from hopsim.errors import ConfigError
from hopsim.insight import limit_note
from hopsim.metrics import verdict
from hopsim.metrics.series import has_programs
from hopsim.plot import gantt, style
from hopsim.report import network, overview, ranks, trees
from hopsim.report.curves import figures_of
from hopsim.report.payload import compressed

if TYPE_CHECKING:
    from hopsim.results.result import Results

SCRIPTS = ("base", "tables", "curves", "canvas", "drawing", "groups", "network", "ranks", "trees", "main")
"""The scripts of `assets/`, in the order in which they need each other."""
RAMPS = {"light": ("YlOrRd", 0.12, 1.0), "dark": ("inferno", 0.18, 0.98)}
"""Theme -> colour map of loads and which part of it: on paper from light to dark, on black the other way."""
STEPS = 48
"""Colours of a ramp."""


def page_of(results: Results, warnings: Sequence[str]) -> str:
    """The page of results; `warnings`: what else it says is missing."""
    net, gantts = network.network_of(results), ranks.ranks_of(results)
    figures, grown = figures_of(results), trees.trees_of(results)
    document, file_name, command = overview.document_of(results)
    data = {
        "figures": figures,
        "network": {
            "networks": net.networks,
            "points": net.points,
            "first": net.first,
            "scale": network.SCALE,
            "quantities": {name: text for name, (text, _) in network.QUANTITIES.items()},
        },
        "ranks": {"charts": gantts.charts, "activities": list(gantt.ACTIVITIES.values())},
        "trees": {"points": grown.points, "first": grown.first},
        "palette": style.PALETTE,
        "ramps": {theme: _ramp(*part) for theme, part in RAMPS.items()},
    }
    return _template().render(
        title=Path(results.origin.experiment).name if results.origin else "Results",
        version=_core.version(),
        facts=overview.facts(results),
        lacking=overview.lacking(results, list(warnings)),
        advice=verdict.advice(results),
        limited=limit_note.note(results),
        not_shown=overview.not_shown(results, has_network=bool(net.points)),
        points=overview.points_table(results),
        figures=figures,
        network=net,
        network_needs=network.NEEDS,
        ranks=gantts,
        trees=grown,
        has_programs=has_programs(results),
        activities=[each for each in gantt.ACTIVITIES.values() if each[0] in _activities(gantts)],
        version_of_results=results.origin.version if results.origin else _core.version(),
        document=document,
        document_base64=base64.b64encode(document.encode()).decode(),
        file_name=file_name,
        command=command,
        style=Markup(_asset("report.css")),
        scripts=Markup("\n".join(_asset(f"{name}.js") for name in SCRIPTS)),
        data=Markup(_json(data)),
        plotly=Markup(_plotly()),
    )


def _activities(gantts: ranks.Ranks) -> set[str]:
    """Names of the activities that occur."""
    return {share[0] for chart in gantts.charts for share in chart["shares"]}


@cache
def _plotly() -> str:
    """The script of the plotting library: that of the package, or in a checkout that of plotly's own."""
    script = resources.files("hopsim.report") / "assets" / "plotly.min.js"
    if script.is_file():
        return compressed(script.read_bytes())
    try:
        from plotly.offline import get_plotlyjs  # pyright: ignore[reportMissingTypeStubs] (it has none)
    except ModuleNotFoundError:
        raise ConfigError(
            "this copy of hopsim was made without the script that draws the figures of reports; "
            "valid: with plotly beside it (pip install 'hopsim[report]')"
        ) from None
    return compressed(get_plotlyjs().encode())


def _json(value: Any) -> str:
    """JSON that may stand in a script element: no `<` in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _ramp(name: str, low: float, high: float) -> list[str]:
    colours = mpl.colormaps[name](np.linspace(low, high, STEPS))
    return [to_hex(colour) for colour in colours]


def _asset(name: str) -> str:
    return (resources.files("hopsim.report") / "assets" / name).read_text("utf-8")


@cache
def _template() -> Any:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2")
