"""Figures that can be read: what differs looks different, and no axis shows what cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

import hopsim as hs
from conftest import Command
from hopsim.metrics.stats import Estimate
from hopsim.plot import KINDS, View, draw_all, saturation
from hopsim.plot.canvas import Canvas
from hopsim.plot.style import NUMBER, half_widths
from hopsim.plot.view import Shown
from hopsim.vocabulary.labels import labels_of
from hopsim.vocabulary.units import range_of_column

DRAGONFLY = {"dragonfly": {"p": 1, "a": 2, "h": 1}}
MEASURE = {"warmup": 100, "cycles": 400}


def result(
    summary: dict[str, Any], axes: dict[str, Any], config: dict[str, Any] | None = None, **tables: Any
):
    record = {"config": config or {"jobs": []}, "result": {"seed": 1, "verdict": "steady", **summary}}
    return hs.Result(record, axes, tables)


def together(points: list[hs.Result]) -> hs.Results:
    return hs.Results(dict(enumerate(points)))


def numbers(axes: Axes) -> list[str]:
    return [text.get_text().strip() for text in axes.texts if text.get_gid() == NUMBER]


def found(load: float, high: float | None, seed: int) -> dict[str, Any]:
    return {
        "saturation_load": load,
        "saturation_load_low": load - 0.01,
        "saturation_load_high": high,
        "accepted_load_max": load,
        "load_full": 1.0,
        "accepted_load_full": load - 0.02,
        "seed": seed,
    }


def searches(seeds: int) -> hs.Results:
    loads = {"a": 0.95, "b": 0.96, "c": 0.97}
    points = [
        result(
            found(load + seed / 500, load + seed / 500 + 0.01, seed), {"routing": name, "measure.seed": seed}
        )
        for name, load in loads.items()
        for seed in range(seeds)
    ]
    return together(points)


def test_saturation_shows_the_loads_that_were_found_and_not_those_down_to_zero() -> None:
    (figure,) = saturation.draw(searches(3)).values()
    (axes,) = figure.axes
    low, high = axes.get_xlim()
    assert low > 0.9
    # What differs by a hundredth stands apart by a tenth of the axis or more.
    assert 0.01 / (high - low) > 0.1


def test_saturation_has_the_interval_of_seeds_and_the_loads_between_which_was_searched() -> None:
    (axes,) = saturation.draw(searches(3))["saturation"].axes
    bars = [each for each in axes.containers if isinstance(each, ErrorbarContainer)]
    assert len(bars) == 3
    # The means of three seeds, 0.002 apart.
    means = np.asarray(bars[0].lines[0].get_xdata()).tolist()
    assert means == pytest.approx([load + 0.002 for load in (0.95, 0.96, 0.97)])
    spans = [np.asarray(line.get_xdata()).tolist() for line in axes.lines if line.get_alpha() == 0.25]
    assert spans == [pytest.approx([load - 0.01, load + 0.014]) for load in (0.95, 0.96, 0.97)]
    assert len(numbers(axes)) == 9


def test_saturation_of_one_seed_claims_no_interval_of_batches() -> None:
    (axes,) = saturation.draw(searches(1))["saturation"].axes
    legend = axes.get_legend()
    assert legend is not None
    texts = [text.get_text() for text in legend.get_texts()]
    assert saturation.SEARCHED in texts
    assert not [text for text in texts if "CI" in text]


def test_saturation_beyond_all_that_was_tried_reaches_the_greatest_load() -> None:
    (axes,) = saturation.draw(together([result(found(0.9, None, 1), {"measure.seed": 1})]))["saturation"].axes
    (span,) = [line for line in axes.lines if line.get_alpha() == 0.25]
    assert np.asarray(span.get_xdata()).tolist() == pytest.approx([0.89, 1.0])


def flows(count: int) -> hs.Results:
    """Flow i gets i Gb/s; flow 20 is throttled most."""
    names = [f"f{number}" for number in range(count)]
    columns = {"job": ["all"] * count, "name": names, "throughput_gbps": np.arange(count, dtype=float)}
    ccti = [100 if number == 20 else number % 3 for number in range(count)]
    steps = [pa.table({**columns, "ccti": ccti, "time_s": [time] * count}) for time in (1e-3, 2e-3)]
    return together([result({"throughput_gbps": 1.0}, {}, flow_series=pa.concat_tables(steps))])


def texts(legend: Legend) -> list[str]:
    return [text.get_text() for text in legend.get_texts()]


def test_of_many_flows_those_are_named_that_get_most_and_least_and_are_throttled_most() -> None:
    (figure,) = KINDS["flows"].draw(flows(40), View()).values()
    rate, stack, index = figure.axes
    (legend,) = figure.legends
    names = ["f0", "f1", "f2", "f20", "f37", "f38", "f39"]
    assert set(names) < set(texts(legend))
    assert len(texts(legend)) == 8
    for axes in (rate, index):
        named = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
        assert len({str(line.get_color()) for line in named}) == len(named) == 8
        assert len(axes.lines) == 40
    assert len({to_hex(tuple(np.asarray(each.get_facecolor())[0])) for each in stack.collections}) == 9
    assert np.asarray(stack.collections[-1].get_paths()[0].vertices)[:, 1].max() == sum(range(40))
    assert figure.get_supxlabel().startswith("grey: 32 other flows of 3 to 36 Gb/s")


def mark_places(line: Line2D) -> tuple[int, int]:
    """The first point of a line that has a marker, and how many further on the next one is."""
    found: Any = line.get_markevery()
    return found


def test_lines_that_lie_on_one_another_have_markers_at_different_places() -> None:
    (figure,) = KINDS["flows"].draw(flows(8), View()).values()
    assert [mark_places(line) for line in figure.axes[0].lines] == [(0, 1)] * 8
    many = pa.concat_tables(
        pa.table(
            {
                "job": ["all"] * 8,
                "name": [f"f{n}" for n in range(8)],
                "throughput_gbps": [5.0] * 8,
                "ccti": [0] * 8,
                "time_s": [time / 1e4] * 8,
            }
        )
        for time in range(100)
    )
    (figure,) = (
        KINDS["flows"]
        .draw(together([result({"throughput_gbps": 1.0}, {}, flow_series=many)]), View())
        .values()
    )
    marked: list[int] = []
    for line in figure.axes[0].lines:
        start, every = mark_places(line)
        marked += range(start, 100, every)
    assert len(marked) == len(set(marked)) >= 64


def curves_of(count: int) -> hs.Results:
    points = [
        result(
            {
                "offered_load": load,
                "packet_latency_mean": 10.0,
                "packet_latency_mean_ci95": 1.0,
                "accepted_load": load,
            },
            {"links.network.latency": latency, "load": load},
        )
        for latency in range(count)
        for load in (0.1, 0.2)
    ]
    return together(points)


@pytest.mark.parametrize("kind", ["latency_load", "accepted_load"])
def test_a_legend_of_seven_short_names_has_several_columns(kind: str) -> None:
    (figure,) = KINDS[kind].draw(curves_of(7), View()).values()
    legend = figure.axes[0].get_legend()
    assert legend is not None
    figure.draw_without_rendering()
    # Entries stand in so many columns.
    assert len({round(text.get_window_extent().x0) for text in legend.get_texts()}) >= 2
    assert legend.get_window_extent().x1 <= figure.bbox.x1


def test_an_interval_ends_where_a_share_ends() -> None:
    value = Estimate(0.95, 0.3)
    assert half_widths([value], range_of_column("jain_index")) == pytest.approx(np.array([[0.3], [0.05]]))
    share = half_widths([Estimate(0.1, 0.3)], range_of_column("misrouted_fraction"))
    assert share == pytest.approx(np.array([[0.1], [0.3]]))
    assert half_widths([value], range_of_column("accepted_load")) == pytest.approx(np.array([[0.3], [0.3]]))


def jain(loads: tuple[float, ...]) -> hs.Results:
    axes = [(load, seed) for load in loads for seed in (1, 2)]
    return together(
        [
            result(
                {"offered_load": load, "jain_index": 0.9 + 0.05 * seed, "seed": seed},
                {"load": load, "measure.seed": seed},
            )
            for load, seed in axes
        ]
    )


def test_no_figure_of_jains_index_goes_beyond_one() -> None:
    (figure,) = KINDS["metric"].draw(jain((0.1, 0.2)), View(y="jain_index")).values()
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    assert np.asarray(band)[:, 1].max() == 1.0
    assert figure.axes[0].get_ylim()[1] < 1.1
    bars = KINDS["metric"].draw(jain((0.1,)), View(y="jain_index"))["metric_jain_index"].axes[0]
    ends = [path.vertices for each in bars.collections for path in each.get_paths()]
    assert max(float(np.asarray(end)[:, 0].max()) for end in ends) == 1.0


def placed() -> hs.Results:
    times = {"linear": 100.0, "random": 150.0}
    return together(
        [
            result(
                {"execution_time": time + 10 * number}, {"jobs.0.placement": placement, "routing": routing}
            )
            for placement, time in times.items()
            for number, routing in enumerate(("minimal", "valiant"))
        ]
    )


def bars_of(axes: Axes) -> list[Rectangle]:
    return [bar for bar in axes.patches if isinstance(bar, Rectangle)]


def test_bars_of_a_placement_have_its_colour_and_their_number() -> None:
    (axes,) = KINDS["execution_time"].draw(placed(), View())["execution_time"].axes
    colours = [to_hex(bar.get_facecolor()) for bar in bars_of(axes)]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert numbers(axes) == ["100", "110", "150", "160"]


def test_bars_over_names_have_their_number() -> None:
    (axes,) = KINDS["execution_time"].draw(placed(), View(x="jobs.0.placement"))["execution_time"].axes
    assert numbers(axes) == ["100", "150", "110", "160"]


@pytest.mark.parametrize(("width", "is_room"), [(16.0, True), (2.6, False)])
def test_the_numbers_of_bars_give_way_where_there_is_no_room(width: float, is_room: bool) -> None:
    results = together(
        [
            result({"execution_time": 100.0}, {"jobs.0.placement": placement, "routing": routing})
            for placement in "abcdefgh"
            for routing in ("minimal", "valiant", "olm", "ugal", "par")
        ]
    )
    view = View(x="jobs.0.placement", size=(width, 2.5))
    (figure,) = KINDS["execution_time"].draw(results, view).values()
    assert [text.get_visible() for text in figure.axes[0].texts] == [is_room] * 40


def test_unlike_networks_have_a_scale_of_colours_each() -> None:
    measure = {**MEASURE, "streams": ["links"]}
    topologies = [DRAGONFLY, {"mesh": {"sides": [3, 3]}}]
    with pytest.warns(hs.HopsimWarning):
        results = hs.sweep(
            {"measure": measure, "load": 0.3, "sweep": {"product": {"topology": topologies}}},
            progress=False,
        )
    (figure,) = KINDS["link_map"].draw(results, View()).values()
    scales = [axes.images[0].norm.vmax for axes in figure.axes if axes.images]
    (lines,) = [
        each.norm.vmax
        for axes in figure.axes
        for each in axes.collections
        if each.get_array() is not None and axes.get_ylabel() == "y"
    ]
    assert scales[0] == scales[1] != lines
    assert len([axes for axes in figure.axes if axes.get_ylabel().startswith("Utilisation")]) == 2
    assert "a scale of its own" in " ".join(figure.get_suptitle().split())


def test_the_same_network_has_one_scale_of_colours() -> None:
    document = {"topology": DRAGONFLY, "load": 0.3, "measure": {**MEASURE, "streams": ["links"]}}
    results = hs.sweep(
        {**document, "sweep": {"product": {"routing": ["minimal", "valiant"]}}}, progress=False
    )
    (figure,) = KINDS["link_map"].draw(results, View()).values()
    assert len({axes.images[0].norm.vmax for axes in figure.axes if axes.images}) == 1
    assert "scale of its own" not in figure.get_suptitle()


def gantt() -> hs.Results:
    document = {
        "topology": DRAGONFLY,
        "units": {"cycle": "1 ns", "phit": "4 B"},
        "jobs": [{"program": {"collective": {"kind": "alltoall", "bytes": 64}}}],
        "measure": {"streams": ["operations"]},
    }
    return hs.sweep(document, progress=False)


def test_a_size_that_is_too_small_is_refused_with_one_that_fits() -> None:
    results = gantt()
    with pytest.raises(
        hs.ConfigError, match=r"^--size 2x0.6: too small for gantt .*; valid: for example"
    ) as told:
        KINDS["gantt"].draw(results, View(size=(2.0, 0.6)))
    width, height = map(float, str(told.value).rpartition("for example ")[2].partition(",")[0].split("x"))
    assert isinstance(KINDS["gantt"].draw(results, View(size=(width, height)))["gantt"], Figure)


def test_a_side_that_is_large_enough_stays_in_the_size_that_fits() -> None:
    with pytest.raises(hs.ConfigError, match=r"valid: for example 20x"):
        KINDS["gantt"].draw(gantt(), View(size=(20.0, 0.4)))


def test_traffic_patterns_have_the_names_of_the_papers() -> None:
    values: list[Any] = [
        "uniform",
        "adversarial_consecutive",
        {"adversarial_local": {"offset": 1}},
        {"adversarial_consecutive": {"groups": 2}},
    ]
    labels = labels_of("jobs.0.traffic.pattern", values)
    assert labels == ["uniform", "ADVc", "ADV-local (offset=1)", "ADVc (groups=2)"]
    # Names of other things stay, and so do those that no paper has.
    assert labels_of("name", ["adversarial_consecutive"]) == ["adversarial_consecutive"]
    assert labels_of("traffic.pattern", ["hot_region", {}]) == ["hot_region", "default"]


def hollow() -> hs.Results:
    points = [
        result({"offered_load": load, "packet_latency_mean": 10.0, "verdict": verdict}, {"load": load})
        for load, verdict in ((0.1, "steady"), (0.9, "saturated"))
    ]
    return together(points)


def test_the_note_of_hollow_points_can_be_switched_off_and_is_told_all_the_same(tmp_path: Path) -> None:
    told: list[str] = []
    for notes in (True, False):
        view = View(notes=notes)
        (figure,) = KINDS["latency_load"].draw(hollow(), view).values()
        assert figure.get_supxlabel() == "hollow: saturated or not converged"
        (note,) = [text for text in figure.texts if text.get_text().startswith("hollow")]
        assert note.get_visible() is notes
        (file,) = draw_all(
            hollow(), tmp_path, view, kinds=["latency_load"], formats=("svg",), tell=told.append
        )
        assert ("hollow: saturated" in file.read_text("utf-8")) is notes
    assert told == ["latency_load: hollow: saturated or not converged"] * 2


def test_axes_of_the_user_have_no_note_if_none_is_wanted() -> None:
    from matplotlib import pyplot

    for notes in (True, False):
        figure, axes = pyplot.subplots()
        hollow().plot.latency_load(ax=axes, notes=notes)
        assert ("hollow" in axes.get_title()) is notes
        pyplot.close(figure)


def test_plot_takes_no_notes_from_the_command_line(hopsim: Command, sweep: Path) -> None:
    hopsim("run", sweep, "--out", "d")
    hopsim("plot", "d", "--kind", "histogram", "--no-notes", "--format", "svg")
    text = (sweep.parent / "d" / "plots" / "histogram.svg").read_text("utf-8")
    assert "saturated or not converged" not in text


def test_the_number_of_a_bar_beyond_the_limits_is_not_drawn_outside_of_the_panel() -> None:
    (figure,) = KINDS["execution_time"].draw(placed(), View(ylim=(0.0, 120.0))).values()
    (axes,) = figure.axes
    figure.draw_without_rendering()
    assert axes.get_window_extent().width > 0.6 * figure.bbox.width
    assert all(text.get_clip_on() for text in axes.texts)


def test_a_label_that_is_longer_than_its_axis_has_several_lines() -> None:
    canvas = Canvas(View(), None, Figure)
    figure, (axes,) = canvas.grid_of(1)
    for label, lines in (("Accepted load", 1), ("Accepted load [of what the links to the nodes carry]", 2)):
        axes.set_ylabel(label)
        canvas.finish(figure, [axes], Shown("", "", []))
        figure.draw_without_rendering()
        assert axes.get_ylabel().split() == label.split()
        assert axes.get_ylabel().count("\n") == lines - 1
        box = axes.yaxis.label.get_window_extent()
        assert box.y0 >= 0
        assert box.y1 <= figure.bbox.y1
