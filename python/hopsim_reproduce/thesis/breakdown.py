"""The components of latency of In-Trns-MM under ADVc, with in-transit priority: figure 3.4 of the thesis.

Figure 7 of the journal version is made by `latency_figure` too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hopsim.plot.breakdown import COMPONENTS
from hopsim_reproduce.claims import at_end, at_start, between, place_of_highest, ratio
from hopsim_reproduce.figure import Claim, Figure
from hopsim_reproduce.model import Entry, Scale
from hopsim_reproduce.panels import Panel, Points
from hopsim_reproduce.thesis import fairness
from hopsim_reproduce.thesis.lines import ADVERSARIAL_LOADS, over_load
from hopsim_reproduce.thesis.study import THESIS, Study
from hopsim_reproduce.thesis.system import PRIORITY, Arbitration
from hopsim_reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PANEL = "ADVc"
LINE = "In-Trns-MM"
INJECTION = "injection_latency_mean"
MISROUTING = "misrouting_latency_mean"


def _panels(study: Study, arbitration: Arbitration, scale: Scale) -> list[Panel]:
    system = fairness.systems(arbitration, injection=study.injection)[LINE]
    return [over_load(study.curves[scale], advc(), [system], ADVERSARIAL_LOADS[scale])]


def _notes(study: Study, arbitration: Arbitration, scale: Scale) -> list[str]:
    return [*study.notes(scale, study.curves[scale]), *fairness.explanation(arbitration)]


BELOW_SATURATION = 0.42
LONGEST_WAIT = place_of_highest(PANEL, LINE, INJECTION, BELOW_SATURATION)
"""Load of the longest wait for injection, below saturation."""
CLAIMS = (
    between(
        "the wait at injection peaks around 0.1, then diminishes until saturation", LONGEST_WAIT, 0.05, 0.2
    ),
    ratio(
        "misrouting costs more with the load until it stabilises",
        at_end(PANEL, LINE, MISROUTING),
        at_start(PANEL, LINE, MISROUTING),
        1.0,
    ),
)


def _draw(points: Points, title: str) -> Drawing:
    from hopsim_reproduce import drawing

    lines = {name: points.line(PANEL, LINE, key) for key, name in COMPONENTS.items()}
    columns = {name: line for name, line in lines.items() if line}
    loads = [float(place) for place in next(iter(columns.values()))]
    stacks = {name: [value.mean for value in column.values()] for name, column in columns.items()}
    return drawing.breakdown(title, {f"{LINE}, {PANEL}": (loads, stacks)})


def latency_figure(study: Study, label: str, arbitration: Arbitration, claims: Sequence[Claim]) -> Entry:
    """The entry of the figure."""
    return Figure(
        name=study.entry_name("figure", label),
        title=f"Components of the latency of {LINE} under {PANEL}, {arbitration.title}",
        source=study.place("figure", label),
        panels=partial(_panels, study, arbitration),
        notes=partial(_notes, study, arbitration),
        seeds=study.curves_seeds,
        claims=claims,
        drawing=_draw,
    ).entry()


def entries() -> list[Entry]:
    """The figure of the thesis."""
    return [latency_figure(THESIS, "3.4", PRIORITY, CLAIMS)]
