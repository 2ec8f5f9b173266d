"""What figures show of a sweep: every curve, at a load that is there, by names that tell them apart."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import hopsim as hs
from conftest import Command
from hopsim.metrics.series import by_job, curves
from hopsim.plot import KINDS, View, draw_all, style
from hopsim.plot.breakdown import COMPONENTS, RAILS

MEASURE = {
    "warmup": 100,
    "cycles": 300,
    "interval": 100,
    "streams": ["nodes", "routers", "latency_histogram", "generation"],
}
DRAGONFLY = {"dragonfly": {"p": 1, "a": 2, "h": 1}}
TORUS = {"torus": {"sides": [3, 3]}}
LATENCY, ACCEPTED = "packet_latency_mean", "accepted_load"


def swept(product: dict[str, list[Any]], **document: Any) -> hs.Results:
    """Short runs of a small dragonfly."""
    base = {"topology": DRAGONFLY, "measure": MEASURE} | document
    with warnings.catch_warnings():
        # The networks that are compared here need not have links of the same latency.
        warnings.simplefilter("ignore", hs.HopsimWarning)
        return hs.sweep({**base, "sweep": {"product": product}}, progress=False)


MANY = swept({"links.local.latency": list(range(1, 31))}, load=0.3)
UNLIKE = swept({"topology": [TORUS, DRAGONFLY], "load": [0.1, 0.4]})
JOBS = [
    {"name": name, "placement": {"nodes": {"first": first, "count": 3}}}
    for name, first in (("victim", 0), ("aggressor", 3))
]
FIRST, SECOND = (f"jobs.{number}.traffic.process.bernoulli.load" for number in (0, 1))
TWO_JOBS = swept({FIRST: [0.2], SECOND: [0.1, 0.4]}, jobs=JOBS)
PACKETS = "jobs.0.traffic.process.synchronised_bursts.packets"
IN_STEP = [{"traffic": {"process": {"synchronised_bursts": {"packets": 2}}}}]
BURSTS = swept({"routing": ["minimal", "valiant"], PACKETS: [2, 5]}, jobs=IN_STEP)


def draw(kind: str, results: hs.Results, view: View | None = None) -> dict[str, Figure]:
    return KINDS[kind].draw(results, view or View())


def names(figure: Figure) -> list[str]:
    """What tells the curves of a figure apart: legends, names of bars, titles of panels."""
    legends = [axes.get_legend() for axes in figure.axes]
    texts = [text.get_text() for legend in legends if legend is not None for text in legend.get_texts()]
    rows = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    titles = [axes.get_title() for axes in figure.axes]
    return [text.replace("\n", " ") for text in (*texts, *rows, *titles)]


def points(axes: Axes, line: int = 0) -> list[tuple[float, float]]:
    drawn = axes.lines[line]
    return list(
        zip(np.asarray(drawn.get_xdata()).tolist(), np.asarray(drawn.get_ydata()).tolist(), strict=True)
    )


def bars(axes: Axes) -> list[Rectangle]:
    return [patch for patch in axes.patches if isinstance(patch, Rectangle)]


def values(results: hs.Results, key: str) -> list[float]:
    return [result.summary[key] for result in results]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("node_map", "bursts")])
def test_every_curve_of_many_is_drawn(kind: str) -> None:
    figures = draw(kind, MANY)
    stems = {stem.removesuffix("-part1").removesuffix("-part2") for stem in figures}
    assert len(figures) == 2 * len(stems)
    for stem in stems:
        shown = [name for part in (1, 2) for name in names(figures[f"{stem}-part{part}"]) if name]
        curves_shown = [name for name in shown if name.startswith("latency = ")]
        assert curves_shown == [f"latency = {latency}" for latency in range(1, 31)]


def test_the_node_map_has_a_panel_for_each_of_many_curves() -> None:
    results = swept({"links.network.latency": list(range(1, 12))}, topology=TORUS, load=0.3)
    (figure, _) = draw("node_map", results).values()
    assert len([axes for axes in figure.axes if axes.images]) == 11


def test_a_panel_holds_no_more_curves_than_can_be_told_apart() -> None:
    for stem, figure in draw("timeseries", MANY).items():
        lines = [len(axes.lines) for axes in figure.axes]
        assert max(lines) <= len(style.PALETTE), stem
        assert figure.get_suptitle().endswith(f"part {stem[-1]} of 2")


def test_a_curve_without_values_is_named_in_the_legend() -> None:
    results = swept({"measure.warmup": [0, 10], "load": [0, 0.5]}).labelled({"warmup": ["a", "b"]})
    idle = [
        result for result in results if result.axes["load"] == 0 or result.labels["measure.warmup"] == "b"
    ]
    (axes,) = draw("latency_load", hs.Results(dict(enumerate(idle[:1] + idle[1:]))))["latency_load"].axes
    assert f"a ({style.NOTHING})" in [line.get_label() for line in axes.lines]


def test_one_load_gives_bars_of_the_metric() -> None:
    results = swept({"routing": ["minimal", "valiant"]}, load=0.3)
    for kind, key in (("latency_load", LATENCY), ("accepted_load", ACCEPTED)):
        figure = draw(kind, results)[kind]
        (axes,) = figure.axes
        assert [bar.get_width() for bar in bars(axes)] == values(results, key)
        assert [label.get_text() for label in axes.get_yticklabels()] == ["minimal", "valiant"]
        assert figure.get_suptitle() == "offered load 0.3"
    (axes,) = draw("breakdown", results)["breakdown"].axes
    ends = {round(bar.get_y(), 3): bar.get_x() + bar.get_width() for bar in bars(axes)}
    assert list(ends.values()) == pytest.approx(values(results, LATENCY))


def test_bursts_have_an_axis_of_their_own_name() -> None:
    for kind in ("latency_load", "accepted_load", "bursts"):
        (axes,) = draw(kind, BURSTS)[kind].axes
        assert axes.get_xlabel() == "Burst size [packets/node]"
    durations = values(BURSTS, "cycles_per_burst")
    assert points(axes) == list(zip([2, 5], durations[:2], strict=True))
    assert axes.get_ylabel() == "Duration of a burst [cycles]"
    assert draw("histogram", BURSTS)["histogram"].get_suptitle() == "burst size 5"


def test_bursts_of_one_size_are_bars_and_none_completed_is_said() -> None:
    (axes,) = draw("bursts", hs.Results({0: BURSTS[1], 1: BURSTS[3]}))["bursts"].axes
    durations = values(BURSTS, "cycles_per_burst")[1::2]
    assert [bar.get_width() for bar in bars(axes)] == [durations[0], 0]
    assert durations[1] is None
    assert [text.get_text().strip() for text in axes.texts] == [f"{durations[0]:.4g}", "no burst completed"]


def test_bursts_and_loads_have_figures_of_their_own() -> None:
    processes = [{"bernoulli": {"load": 0.2}}, {"synchronised_bursts": {"packets": 3}}]
    results = swept({"jobs.0.traffic.process": processes, "measure.seed": [1, 2]})
    assert list(draw("latency_load", results)) == ["latency_load", "latency_load-bursts"]
    assert list(draw("bursts", results)) == ["bursts"]
    assert list(draw("timeseries", results)) == ["timeseries", "timeseries-bursts"]


def test_unlike_networks_share_a_figure_that_shows_each() -> None:
    (axes,) = draw("latency_load", UNLIKE)["latency_load"].axes
    assert axes.get_ylim()[1] > values(UNLIKE, LATENCY)[2] > 6 * values(UNLIKE, LATENCY)[0]
    breakdown = draw("breakdown", UNLIKE)["breakdown"]
    (legend,) = breakdown.legends
    known = [text.get_text() for text in legend.get_texts()]
    assert {"network queues", "local queues", "global queues"} < set(known)
    for panel in breakdown.axes:
        for area in panel.collections:
            others = [each for each in COMPONENTS.values() if each != RAILS]
            place = others.index(str(area.get_label()))
            assert to_hex(tuple(np.asarray(area.get_facecolor())[0])).upper() == style.PALETTE[place]
    group = draw("injection", UNLIKE)["injection_group"]
    assert [axes.get_xlabel() for axes in group.axes] == ["Router", "Router of group 0"]
    assert [len(axes.patches) for axes in group.axes] == [9, 2]


def test_a_figure_says_which_curves_it_does_not_show() -> None:
    figure = draw("node_map", UNLIKE)["node_map_injected"]
    assert "dragonfly" in figure.get_supxlabel()
    unequal = hs.Results({number: UNLIKE[number] for number in (0, 1, 2)})
    figure = draw("timeseries", unequal, View(load=0.4))["timeseries"]
    assert figure.get_supxlabel().startswith("not shown (no such load): dragonfly")
    group = draw("injection", UNLIKE, View(group=2))["injection_group"]
    assert group.get_supxlabel().startswith("not shown (no group 2): torus")


@pytest.mark.parametrize("load", [0.35, math.nan, math.inf, -1])
def test_a_load_that_is_not_there_is_refused_with_those_that_are(load: float) -> None:
    with pytest.raises(
        hs.ConfigError, match=rf"--load {load:g}: no point .*; loads in the results: 0\.1, 0\.4$"
    ):
        draw("timeseries", UNLIKE, View(load=load))


def test_a_load_is_found_as_figures_write_it() -> None:
    results = swept({"load": [1 / 3, 0.5]})
    figure = draw("histogram", results, View(load=0.333))["histogram"]
    assert figure.get_suptitle() == "offered load 0.333"


def test_a_group_that_is_not_there_is_refused() -> None:
    with pytest.raises(hs.ConfigError, match=r"--group 99: no network has this group; valid: 0 … 2$"):
        draw("injection", UNLIKE, View(group=99))


def test_what_no_figure_shows_is_refused(tmp_path: Path) -> None:
    bare = hs.sweep({"topology": DRAGONFLY, "measure": {"warmup": 10, "cycles": 100}}, load=[0.1, 0.2])
    for view, kinds, message in (
        (View(group=0), None, r"--group 0: no figure drawn takes it; .*measure.streams = \[\"routers\"\]"),
        (View(load=0.1), None, r"--load 0.1: no figure drawn takes it; those that do: injection, "),
        (View(), ["injection"], r"--kind: .* injection needs measure.streams = \[\"routers\"\]"),
    ):
        with pytest.raises(hs.ConfigError, match=message):
            draw_all(bare, tmp_path, view, kinds=kinds)


def test_jobs_are_curves_over_the_load_that_is_varied() -> None:
    for kind, key in (("latency_load", LATENCY), ("accepted_load", ACCEPTED)):
        figure = draw(kind, TWO_JOBS)[kind]
        (axes,) = figure.axes
        assert axes.get_xlabel() == "Offered load of aggressor [phits/(node·cycle)]"
        assert names(figure)[:2] == ["victim", "aggressor"]
        for number, job in enumerate(("victim", "aggressor")):
            own = [record[key] for result in TWO_JOBS for record in result.jobs if record["job"] == job]
            assert points(axes, number) == list(zip([0.1, 0.4], own, strict=True))
    assert names(draw("histogram", TWO_JOBS)["histogram"])[:2] == ["victim", "aggressor"]
    assert draw("timeseries", TWO_JOBS)["timeseries"].get_suptitle() == "all jobs"


def test_the_histogram_of_a_job_holds_its_packets_only() -> None:
    for result in by_job(TWO_JOBS):
        packets = result.tables["latency_histogram"].column("packets").to_numpy()
        assert packets.sum() == result.summary["packets_delivered"]


def test_loads_that_vary_independently_are_different_curves() -> None:
    results = swept({FIRST: [0.1, 0.2], SECOND: [0.1, 0.2, 0.3]}, jobs=JOBS)
    found = curves(by_job(results))
    assert [series.label for series in found] == [
        f"load of victim = {load}, {job}" for load in (0.1, 0.2) for job in ("victim", "aggressor")
    ]
    assert [series.places() for series in found] == [[0.1, 0.2, 0.3]] * 4


def test_loads_that_vary_together_are_one_curve() -> None:
    document = {"topology": DRAGONFLY, "jobs": JOBS, "measure": MEASURE}
    results = hs.sweep({**document, "sweep": {"zip": {FIRST: [0.1, 0.2], SECOND: [0.2, 0.4]}}})
    assert [series.label for series in curves(by_job(results))] == ["victim", "aggressor"]


def test_the_line_of_everything_accepted_is_drawn_where_the_axis_is_the_load_of_the_curve() -> None:
    def has_line(results: hs.Results) -> bool:
        return "accepted = offered" in names(draw("accepted_load", results)["accepted_load"])

    assert has_line(UNLIKE)
    assert has_line(swept({"load": [0.1, 0.2]}, jobs=JOBS))
    assert not has_line(TWO_JOBS)
    assert not has_line(BURSTS)


def test_names_of_values_make_the_labels_and_empty_ones_are_left_out() -> None:
    axes = {"routing": ["minimal", "valiant"], "router.cioq.allocator.transit_priority": [False, True]}
    results = swept(axes, load=0.2)
    assert [series.label for series in curves(results)][1] == "minimal, transit_priority = true"
    named = results.labelled({"routing": ["MIN", "VAL"], "transit_priority": ["", "priority"]})
    assert [series.label for series in curves(named)] == ["MIN", "MIN, priority", "VAL", "VAL, priority"]


def test_texts_that_two_axes_share_come_with_the_name_of_the_axis() -> None:
    arbiter = "router.cioq.allocator.{}_arbiter"
    results = swept({arbiter.format(side): ["age", "round_robin"] for side in ("input", "output")}, load=0.2)
    assert [series.label for series in curves(results)][
        1
    ] == "input_arbiter = age, output_arbiter = round_robin"


def test_plot_takes_names_from_the_command_line(hopsim: Command, sweep: Path) -> None:
    hopsim("run", sweep, "--out", "d")
    for names_given in ("MIN,VAL", '["MIN", "VAL"]'):
        arguments = [
            "plot",
            "d",
            "--kind",
            "latency_load",
            "--format",
            "svg",
            "--label",
            f"routing={names_given}",
        ]
        hopsim(*arguments)
        text = (sweep.parent / "d" / "plots" / "latency_load.svg").read_text("utf-8")
        assert ">MIN<" in text
        assert ">VAL<" in text
        assert "minimal" not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--label", "routing=A"],
            "--label routing=A: must be 2 different names, for the values minimal, valiant",
        ),
        (["--label", "routing"], "--label routing: must be path=A,B,…, for example --label routing=MIN,VAL"),
        (
            ["--label", "routing=[1, 2]"],
            '--label routing=[1, 2]: a name must be a string; valid: routing=["A", "B"]',
        ),
        (["--label", "routing=[1"], "--label routing=[1: not a TOML list"),
        (["--label", "rooting=A,B"], "--label rooting: is not an axis of the sweep; axes: routing, load, "),
        (["--load", "0.35"], "--load 0.35: no point has this load; loads in the results: 0.1, 0.3, 0.5"),
        (["--load", "nan"], "--load nan: no point has this load; loads in the results: 0.1, 0.3, 0.5"),
        (["--group", "99"], "--group 99: no network has this group; valid: 0 … 2"),
        (["--group-by", "measure.seed"], "points that differ in the seed only are one point of a curve"),
        (
            ["--kind", "generation"],
            'generation needs measure.streams = ["generation"] and measure.interval > 0',
        ),
    ],
)
def test_plot_refuses_what_the_results_do_not_have(
    results_directory: Path, arguments: list[str], message: str, hopsim: Command
) -> None:
    assert message in hopsim("plot", results_directory, *arguments, status=2).stderr


@pytest.fixture(scope="module")
def results_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "d"
    product = {"routing": ["minimal", "valiant"], "load": [0.1, 0.3, 0.5], "measure.seed": [1, 2]}
    measure = {"warmup": 100, "cycles": 400, "interval": 50, "streams": ["routers"]}
    hs.sweep({"topology": DRAGONFLY, "measure": measure, "sweep": {"product": product}}, out=folder)
    return folder
