"""The worst case of §V: switches in a line, of which each passes on what it has multiplied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from hopsim.results.result import Result
from hopsim_reproduce.gran.system import GRAN, fabric, seconds
from hopsim_reproduce.model import (
    Comparison,
    Document,
    Entry,
    Experiment,
    Measured,
    Outcome,
    Results,
    Scale,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PORTS = (4, 6)
"""Of the switches: N."""
DIAMETERS = (2, 3, 4)
"""Of the networks, in links from host to host: D, one more than there are switches."""
ALLOWED = 0.05
"""Relative difference from the closed form that agrees: the slowest flow sends some tens of packets."""
WINDOW: Mapping[Scale, float] = {"quick": 0.05, "full": 0.5}
"""Measured [s]."""


def _hosts(ports: int, diameter: int) -> list[int]:
    """How many hosts each switch has: all inputs carry packets to the last host of the last switch."""
    switches = diameter - 1
    return [ports - (at > 0) - (at < switches - 1) for at in range(switches)]


def _document(ports: int, diameter: int, scale: Scale) -> Document:
    hosts = _hosts(ports, diameter)
    destination = sum(hosts) - 1
    topology: Document = {
        "nodes": hosts,
        "edges": [{"between": [at, at + 1]} for at in range(len(hosts) - 1)],
    }
    return {
        "topology": {"graph": topology} if len(hosts) > 1 else {"fat_tree": {"k": ports, "levels": 1}},
        "router": fabric(None),
        "jobs": [{"flows": [{"source": node, "destination": destination} for node in range(destination)]}],
        "measure": {
            "time": {"warmup": seconds(WINDOW[scale] / 5), "window": seconds(WINDOW[scale])},
            "streams": ["flows"],
        },
    }


def _name(ports: int, diameter: int) -> str:
    return f"ports-{ports}-diameter-{diameter}"


CASES = tuple((ports, diameter) for ports in PORTS for diameter in DIAMETERS)


def _experiments(scale: Scale, seeds: int) -> list[Experiment]:
    return [Experiment(_name(*case), _document(*case, scale), (), seeds) for case in CASES]


def _ratio(result: Result) -> float:
    """Throughput of the fastest flow over that of the slowest."""
    rates = result.flows.column("throughput_gbps").to_numpy()
    return float(rates.max() / rates.min())


def _comparisons(results: Results) -> Iterator[Comparison]:
    for ports, diameter in CASES:
        ours = Measured.of([_ratio(result) for result in results[_name(ports, diameter)]])
        worst = float((ports - 1) ** (diameter - 2))
        row = f"switches of {ports} ports, diameter {diameter}"
        yield Comparison(row, "fastest flow over slowest", ours, worst, 2, allowed=ALLOWED * worst)


def _conclude(_scale: Scale, results: Results) -> Outcome:
    return Outcome(list(_comparisons(results)))


def _draw(_scale: Scale, results: Results) -> Figure:
    from hopsim_reproduce import drawing

    comparisons = list(_comparisons(results))
    return drawing.beside(
        "Worst case of round robin in a line of switches", comparisons, [comparisons[0].quantity]
    )


def _notes(_scale: Scale) -> list[str]:
    return [
        "Switches in a line, no congestion control. All hosts send to the last host of the last switch, so "
        "that all inputs of each switch carry packets to one output. The paper derives the formula and shows "
        "no simulation of it.",
    ]


def entries() -> list[Entry]:
    """The worst case."""
    return [
        Entry(
            name="gran-worst-case",
            title="Unfairness of round robin in a line of switches, (N - 1)^(D - 2)",
            source=f"{GRAN}, §V",
            notes=_notes,
            seeds={"quick": 2, "full": 4},
            experiments=_experiments,
            conclude=_conclude,
            draw=_draw,
        )
    ]
