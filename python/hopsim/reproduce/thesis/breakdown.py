"""Figure 3.4: the components of latency of In-Trns-MM under ADVc, with in-transit priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hopsim.plot.breakdown import COMPONENTS
from hopsim.reproduce.claims import Value, at_end, at_start, between, ratio
from hopsim.reproduce.figure import Panel, Place, Points
from hopsim.reproduce.model import Entry, Measured, Scale
from hopsim.reproduce.thesis import fairness
from hopsim.reproduce.thesis.lines import ADVERSARIAL_LOADS, figure, over_load
from hopsim.reproduce.thesis.network import CURVES, notes
from hopsim.reproduce.thesis.system import PRIORITY
from hopsim.reproduce.thesis.traffic import advc

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PANEL = "ADVc"
LINE = "In-Trns-MM"
INJECTION = "injection_latency_mean"
MISROUTING = "misrouting_latency_mean"


def _panels(scale: Scale) -> list[Panel]:
    system = fairness.systems(PRIORITY)[LINE]
    return [over_load(CURVES[scale], advc(), [system], ADVERSARIAL_LOADS[scale])]


def _notes(scale: Scale) -> list[str]:
    return [*notes(scale, CURVES[scale]), *fairness.explanation(PRIORITY)]


def _load_of_peak(points: Points) -> Measured | None:
    """The load below saturation at which packets wait longest for injection."""
    values = points.line(PANEL, LINE, INJECTION)
    below: dict[Place, Measured] = {place: value for place, value in values.items() if float(place) < 0.45}
    if not below:
        return None
    return Measured.exactly(float(max(below, key=lambda place: below[place].mean)))


CLAIMS = (
    between(
        "the wait at injection peaks around 0.1, then diminishes until saturation",
        Value("load of the longest wait below saturation", _load_of_peak),
        0.05,
        0.2,
    ),
    ratio(
        "misrouting costs more with the load until it stabilises",
        at_end(PANEL, LINE, MISROUTING),
        at_start(PANEL, LINE, MISROUTING),
        1.0,
    ),
)


def _draw(points: Points, title: str) -> Drawing:
    from hopsim.reproduce import drawing

    lines = {name: points.line(PANEL, LINE, key) for key, name in COMPONENTS.items()}
    columns = {name: line for name, line in lines.items() if line}
    loads = [float(place) for place in next(iter(columns.values()))]
    stacks = {name: [value.mean for value in column.values()] for name, column in columns.items()}
    return drawing.breakdown(title, {f"{LINE}, {PANEL}": (loads, stacks)})


def entries() -> list[Entry]:
    """The figure."""
    return [
        figure(
            "3.4",
            f"Components of the latency of {LINE} under {PANEL}, {PRIORITY.title}",
            _panels,
            _notes,
            CLAIMS,
            drawing=_draw,
        )
    ]
