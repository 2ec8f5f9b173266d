"""Verdicts: what the terminal and the figures make of them, and that of a run that stands in the results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from matplotlib.markers import MarkerStyle

import hopsim as hs
from hopsim.metrics.series import over_seeds
from hopsim.metrics.summary_table import summary_table
from hopsim.metrics.verdict import advice, cell, worst
from hopsim.plot import KINDS, View
from hopsim.plot.unsteady import NOTE

STARVED = """
topology.mesh.sides = [4]
jobs = [{ traffic = { pattern = { hotspot = { node = 0, fraction = 1.0 } }, packet_length = 4 } }]
measure = { warmup = 1000, cycles = 5000, streams = ["nodes"] }
"""
"""Three nodes send to the first one, which takes a phit per cycle."""


def results(*points: tuple[float, int, str | None], missing: float | None = 0.0) -> hs.Results:
    """Points by load and seed with a verdict."""

    def result(load: float, seed: int, verdict: str | None) -> hs.Result:
        figures = {"offered_load": load, "accepted_load": load, "packet_latency_mean": 100 + load}
        told = {"verdict": verdict, "missing_cycles": missing, "seed": seed}
        summary: dict[str, Any] = {**figures, **told}
        return hs.Result({"config": {}, "result": summary}, {"load": load, "measure.seed": seed}, {})

    return hs.Results({number: result(*point) for number, point in enumerate(points)})


def test_seeds_that_disagree_are_as_good_as_the_worst() -> None:
    points = results(
        (0.1, 1, "steady"),
        (0.1, 2, "steady"),
        (0.2, 1, "too few samples"),
        (0.2, 2, "not converged"),
        (0.3, 1, "saturated"),
        (0.3, 2, "not converged"),
        (0.4, 1, None),
    )
    assert [cell(group) for group in over_seeds(points)] == [
        "steady",
        "not converged (1 of 2)",
        "saturated (1 of 2)",
        "–",
    ]
    assert [worst(group) for group in over_seeds(points)] == ["steady", "not converged", "saturated", None]


def test_the_line_below_the_table_says_what_is_missing() -> None:
    assert advice(results((0.1, 1, "steady"), (0.2, 1, "steady"))) == ""
    assert advice(results((0.1, 1, None))) == ""
    assert advice(results((0.1, 1, "steady"), (0.2, 1, "saturated"), missing=None)) == (
        "Verdict: 1 saturated; 1 steady"
    )
    told = advice(results((0.1, 1, "too few samples"), (0.2, 1, "not converged"), missing=1234.0))
    assert told == (
        "Verdict: 1 not converged (warm-up about 1,234 cycles too short); "
        "1 too few samples (window about 1,234 cycles too short)"
    )


FABRIC = """
topology.fat_tree = { k = 4, levels = 1 }
router = "infiniband"
jobs = [{ messages = { pattern = { hotspot = { node = 0, fraction = 1.0 } }, rate = "1 Gb/s" } }]
measure.time = { warmup = "1 ms", window = "4 ms" }
"""
"""Three nodes send to the first one, which takes 13 Gb/s."""


def test_fabrics_have_verdicts_on_the_screen_and_in_figures() -> None:
    rates = ["2.2 Gb/s", "6.5 Gb/s"]
    points = hs.sweep(FABRIC, product={"jobs.0.messages.rate": rates}, progress=False)
    assert [result.summary["verdict"] for result in points] == ["steady", "saturated"]
    assert advice(points) == "Verdict: 1 saturated; 1 steady"
    assert [column.header for column in summary_table(points).columns][-1] == "verdict"
    for kind in ("latency_load", "accepted_load"):
        ((_, figure),) = KINDS[kind].draw(points, View()).items()
        # In front of it the figure of latencies says which are above the axis.
        assert " ".join(figure.get_supxlabel().split()).endswith(NOTE)
    short = hs.sweep(FABRIC, {"measure.time.window": "40 us"}, progress=False)
    (result,) = short
    missing = result.summary["missing_s"]
    told = f"Verdict: 1 too few samples (window about {1e6 * missing:.3g} us too short)"
    assert advice(short) == told
    assert missing > 0


@pytest.mark.parametrize("kind", ["latency_load", "accepted_load"])
def test_markers_are_hollow_where_a_longer_run_has_other_means(kind: str) -> None:
    points = results((0.1, 1, "steady"), (0.2, 1, "not converged"), (0.3, 1, "saturated"), (0.4, 1, "steady"))
    ((_, figure),) = KINDS[kind].draw(points, View()).items()
    (axes,) = figure.axes
    hollow = [
        line for line in axes.lines if line.get_markerfacecolor() == "white" and np.size(line.get_xdata())
    ]
    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[0.2, 0.3]]
    assert MarkerStyle(hollow[0].get_marker()).is_filled()
    assert figure.get_supxlabel() == NOTE
    ((_, figure),) = KINDS[kind].draw(results((0.1, 1, "steady"), (0.2, 1, "steady")), View()).items()
    assert figure.get_supxlabel() == ""


def test_bars_are_hollow_likewise_and_figures_without_markers_name_the_curves() -> None:
    measure = {"warmup": 100, "cycles": 400, "streams": ["routers", "latency_histogram"]}
    document = {"topology": {"dragonfly": {"p": 1, "a": 2, "h": 1}}, "load": 0.2, "measure": measure}
    points = hs.sweep(document, product={"routing": ["minimal", "valiant"]}, progress=False)
    unsteady = {"valiant": "saturated", "minimal": "steady"}
    told = hs.Results(
        {
            number: hs.Result(
                {
                    "config": result.config,
                    "result": result.summary | {"verdict": unsteady[result.axes["routing"]]},
                },
                result.axes,
                result.tables,
            )
            for number, result in enumerate(points)
        }
    )
    for view in (View(), View(x="routing")):
        ((_, figure),) = KINDS["accepted_load"].draw(told, view).items()
        colours = [bar.get_facecolor() for bar in figure.axes[0].patches]
        assert [colour == (1, 1, 1, 1) for colour in colours] == [False, True]
        assert figure.get_supxlabel() == NOTE
    for kind in ("cdf", "injection", "breakdown"):
        for figure in KINDS[kind].draw(told, View()).values():
            assert figure.get_supxlabel() == "saturated or not converged: valiant"


def test_a_starved_row_is_saturated_and_says_which_nodes_fall_behind() -> None:
    calm, full = (hs.run(STARVED, load=load) for load in (0.2, 0.6))
    assert (calm.summary["verdict"], calm.summary["nodes_falling_behind"]) == ("steady", 0)
    assert not np.any(calm.nodes["falls_behind"].to_numpy())
    assert full.summary["verdict"] == "saturated"
    behind = full.nodes["falls_behind"].to_numpy()
    assert behind[0] == 0
    assert np.sum(behind) == full.summary["nodes_falling_behind"] > 0
    packets = float(np.sum(full.nodes["backlog_growth"].to_numpy()))
    assert full.summary["backlog_growth"] == pytest.approx(4 * packets / (4 * 5000))


def test_the_verdict_does_not_depend_on_the_batches() -> None:
    keys = ("verdict", "backlog_growth", "packet_latency_effective_samples", "missing_cycles")
    found = [hs.run(STARVED, {"measure.batches": batches}, load=0.25).summary for batches in (1, 10, 77)]
    assert len({tuple(summary[key] for key in keys) for summary in found}) == 1


def test_programs_have_no_verdict() -> None:
    units = 'units = { cycle = "1 ns", phit = "4 B" }\n'
    barrier = '[[jobs]]\nprogram.collective = { kind = "barrier" }\n'
    summary = hs.run(f"{units}topology.torus.sides = [2, 2]\n{barrier}").summary
    assert (summary["verdict"], summary["backlog_growth"]) == (None, None)


def lacking(verdict: str, **missing: float | None) -> hs.Results:
    summary = {"offered_load": 0.1, "seed": 1, "verdict": verdict, **missing}
    return hs.Results({0: hs.Result({"config": {"jobs": []}, "result": summary}, {}, {})})


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.5, "2.5 s"),
        (1.0, "1 s"),
        (0.25, "250 ms"),
        (1e-3, "1 ms"),
        (1.5e-5, "15 us"),
        (2e-9, "2 ns"),
        (2.5e-10, "0.25 ns"),
    ],
)
def test_a_time_that_is_missing_has_a_unit_that_leaves_few_zeros(seconds: float, text: str) -> None:
    told = advice(lacking("not converged", missing_s=seconds))
    assert told == f"Verdict: 1 not converged (warm-up about {text} too short)"


def test_cycles_and_seconds_that_are_missing_are_both_told() -> None:
    told = advice(lacking("too few samples", missing_cycles=12345.0, missing_s=0.5))
    assert told == "Verdict: 1 too few samples (window about 12,345 cycles or 500 ms too short)"


def test_of_saturated_points_no_length_is_told() -> None:
    assert advice(lacking("saturated", missing_cycles=500.0)) == "Verdict: 1 saturated"
    assert advice(lacking("not converged", missing_cycles=None)) == "Verdict: 1 not converged"
